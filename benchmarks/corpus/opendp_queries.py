"""Queries of OpenDP on frames of Polars, each with an open fault, or `sound`: asked in a way that avoids the fault.

The claim is the library's own, for neighbours that differ in one row, or in one person.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import opendp.prelude as dp
import polars as pl
from protocol import Made, serve

dp.enable_features("contrib")

ATOMS = {pl.Float64: {"T": float}, pl.Int64: {"T": "i64"}}
VALUE = pl.col("x")
FLOAT, TWO = {"x": pl.Float64}, {"n": pl.Int64, "m": pl.Int64}
LARGEST = 1e38
DISTANCE = dp.frame_distance(dp.symmetric_distance())


def cast_count(size: int, sound: bool) -> Made:
    return _count(FLOAT, size, VALUE.fill_null(0.0).cast(pl.Int64, strict=False), sound)


def cut_count(size: int, sound: bool) -> Made:
    return _count(FLOAT, size, VALUE.fill_null(0.0).cut([1.5]), sound)


def modulo_count(size: int, sound: bool) -> Made:
    return _count(TWO, size, pl.col("n").fill_null(0) % pl.col("m").fill_null(0), sound)


def narrow_sum(size: int, sound: bool) -> Made:
    """Return the sum of 32-bit or of 64-bit floats."""
    values = VALUE if sound else VALUE.cast(pl.Float32).fill_nan(0.0)
    return _sum(size, values.clip(-LARGEST, LARGEST).sum().dp.noise(scale=LARGEST))


def codes_sum(size: int, sound: bool) -> Made:
    """Return the number of large values, as the sum of the codes of two bins."""
    codes = (VALUE > 1.0).cast(pl.Int32) if sound else VALUE.cut([1.0]).to_physical()
    return _sum(size, codes.dp.sum((0, 1), scale=1.0))


def merged_groups(groups: int, scale: float, sound: bool) -> Made:
    """Merge all groups into one and return its count; rows are limited to one per person and group before or after merging."""
    schema, merged = {"user": pl.Int64, "g": pl.Int64}, pl.lit(0, dtype=pl.Int64)
    rows = pl.LazyFrame(schema=schema)
    rows = rows.with_columns(g=merged) if sound else rows
    rows = rows.filter(pl.int_range(pl.len()).over("user", "g") < 1)
    rows = rows.filter(pl.struct("g").rank("dense").over("user") < groups + 1)
    rows = rows if sound else rows.with_columns(g=merged)
    counts = rows.group_by("g").agg(dp.len(scale=scale, signed=True))
    query = pl.LazyFrame({"g": [0]}).join(counts, on="g", how="left")
    measurement = dp.m.make_private_lazyframe(
        _domain(schema, None), dp.symmetric_id_distance(pl.col("user")), dp.zero_concentrated_divergence(), query
    )
    return {
        "rho": measurement.map(1)
    }, lambda rows: measurement(pl.LazyFrame(rows, schema=schema)).collect()["len"].item()


def _count(schema: dict[str, Any], size: int, values: pl.Expr, sound: bool) -> Made:
    """Return the count of non-null values under substitution, a distance of two rows.

    Where the number of rows is public and no value can be null, the library adds no noise. Sound: that number is private.
    """
    query = pl.LazyFrame(schema=schema).select(values.count().dp.noise())
    margin = dp.polars.Margin(max_length=size, invariant=None if sound else "lengths")
    return _released(_domain(schema, margin, nullable=True), schema, query, 2)


def _sum(size: int, noisy: pl.Expr) -> Made:
    domain = _domain(FLOAT, dp.polars.Margin(max_length=size), nan=False)
    return _released(domain, FLOAT, pl.LazyFrame(schema=FLOAT).select(noisy), 1)


def _domain(schema: dict[str, Any], margin: Any, nullable: bool = False, **atom: Any) -> Any:
    atoms = {name: dp.atom_domain(**ATOMS[kind], **atom) for name, kind in schema.items()}
    columns = {name: dp.option_domain(column) if nullable else column for name, column in atoms.items()}
    domain = dp.lazyframe_domain([dp.series_domain(name, column) for name, column in columns.items()])
    return domain if margin is None else dp.with_margin(domain, margin)


def _released(domain: Any, schema: dict[str, Any], query: pl.LazyFrame, changed: int) -> Made:
    """Return the claim for ``changed`` rows added or removed, and the measurement."""
    measurement = dp.m.make_private_lazyframe(domain, DISTANCE, dp.max_divergence(), query, global_scale=1.0)
    epsilon = measurement.map([dp.polars.Bound(per_group=changed)])
    return {"epsilon": epsilon}, lambda rows: measurement(_frame(rows, schema)).collect().item()


def _frame(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.LazyFrame:
    """Return the frame; NaN and infinities come as text."""
    numbers = [{name: float(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows]
    return pl.LazyFrame(numbers, schema=schema)


serve(cast_count, cut_count, modulo_count, narrow_sum, codes_sum, merged_groups)
