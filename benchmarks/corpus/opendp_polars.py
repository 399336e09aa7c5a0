"""OpenDP on frames of Polars. The claim is the library's own, for one row added or removed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import opendp.prelude as dp
import polars as pl
from protocol import Made, serve

dp.enable_features("contrib", "honest-but-curious")


def counts_by_key(keys: list[str], most: int, scale: float) -> Made:
    """Return noisy counts of rows by their key, for keys that are public, in the order of the keys."""
    domain = dp.lazyframe_domain([dp.series_domain("key", dp.atom_domain(T="String"))])
    margin = {"by": ["key"], "max_partition_length": most}
    try:
        domain = dp.with_margin(domain, dp.polars.Margin(**margin))
    except TypeError:  # until 0.12
        domain = dp.with_margin(domain, **margin)
    public = pl.LazyFrame({"key": keys})
    query = _frame([]).group_by("key").agg(dp.len()).join(public, on="key", how="right")
    measurement = dp.m.make_private_lazyframe(
        domain, dp.symmetric_distance(), dp.max_divergence(), query, global_scale=scale
    )

    def released(dataset: list[str]) -> list[int]:
        answer = measurement(_frame(dataset)).collect()
        return [answer.filter(pl.col("key") == key)["len"].item() for key in keys]

    return {"epsilon": measurement.map(1)}, released


def _frame(keys: list[str]) -> pl.LazyFrame:
    return pl.LazyFrame({"key": keys}, schema={"key": pl.String})


serve(counts_by_key)
