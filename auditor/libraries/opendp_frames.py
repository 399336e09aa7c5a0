"""The frames of OpenDP: a domain of lazy frames of polars, with what is known of its columns and its margin."""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from auditor.errors import InvalidInputError
from auditor.neighbours.columns import FLOATS, INTEGERS
from auditor.neighbours.domains import Domain
from auditor.neighbours.frames import Frame
from auditor.neighbours.numbers import Number

FRAMES = "FrameDomain"
# OpenDP's names of numbers: i32 is int32.
NUMBERS = {name[0] + re.sub(r"\D", "", name): name for name in (*FLOATS, *INTEGERS)}
DATE = {"low": "2024-01-01", "high": "2024-12-31"}
BY_ID = re.compile(r"identifier: col\(\"(?P<id>.*?)\"\)")

Ends = Callable[[Any], tuple[Number, Number]]


def frames_of(thing: Any, size: Sequence[int], ends: Ends, texts: Callable[[], list[Any]], distance: int) -> Domain:
    """Return the frames of a domain, as lazy frames.

    Args:
        thing: a measurement or a transformation.
        size: [low, high], how many rows a frame has; fewer if the margin says so.
        ends: returns the ends of the numbers of an atomic domain.
        texts: returns the texts to try.
        distance: how many rows, or persons, neighbours are apart.

    Raises InvalidInputError for a column of another type.
    """
    domain, metric = thing.input_domain, str(thing.input_metric)
    found = BY_ID.search(metric)
    owner = found["id"] if found else None
    columns = {}
    for name in domain.columns:
        series = domain.get_series_domain(name)
        if name != owner:
            columns[name] = _column(series, ends, texts) | ({"null": True} if series.nullable else {})
    whole = domain.get_margin([])
    most = getattr(whole, "max_length", None)
    low, high = size
    changed = "ChangeOne" in metric
    return Frame(
        columns,
        size=(min(low, most), min(high, most)) if most is not None else (low, high),
        id=owner,
        rows_per_person=(1, 3) if owner else None,
        relation="substitute" if changed else "add_remove",
        order="shuffled",
        distance=distance,
        form="lazy",
    )


def _column(series: Any, ends: Ends, texts: Callable[[], list[Any]]) -> dict[str, Any]:
    kind = str(series).rpartition(", ")[2].rstrip(")")
    atom = series.element_domain
    if kind in NUMBERS:
        low, high = ends(atom)
        dtype = NUMBERS[kind]
        return {"type": "number" if dtype in FLOATS else "integer", "low": low, "high": high, "dtype": dtype}
    if kind == "str":
        return {"type": "categorical", "choices": texts()}
    if kind == "bool":
        return {"type": "boolean"}
    if kind == "date":
        return {"type": "date", **DATE}
    raise InvalidInputError(f"OpenDP's column {series} has no counterpart here; give `neighbours`")


def as_bounds(distance: int) -> list[Any]:
    """Return a distance as FrameDistance takes it: rows, or persons, in all of the frame."""
    return [import_module("opendp.extras.polars").Bound(by=[], per_group=distance)]


def rows_in_all(bounds: Sequence[Any]) -> float:
    """Return how many rows change in all, by a distance of FrameDistance. Raises InvalidInputError if it does not say it."""
    for bound in bounds:
        if not bound.by and bound.per_group is not None:
            return float(bound.per_group)
    raise InvalidInputError("OpenDP bounds the rows of each group only; give a `claim`")
