"""Tumult Core's measurements on numbers and on pandas series. Each has a domain, a metric and a privacy function.

Measurements on Spark frames and interactive measurements are not adapted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from auditor.adapters import Adapted
from auditor.claims import ZeroConcentratedDP
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.libraries.adapting import DEFAULT_CELLS, DEFAULT_REACH, DEFAULT_SIZE, dp_claim, note_chosen_values
from auditor.neighbours.numbers import Number
from auditor.neighbours.pair import Relation
from auditor.neighbours.records import Records
from auditor.neighbours.totals import OneNumber, Totals

RELATIONS_BY_METRIC = {"SymmetricDifference": Relation.ADD_REMOVE, "HammingDistance": Relation.SUBSTITUTE}
NORMS_BY_METRIC = {"SumOf": "l1", "RootSumOfSquared": "l2"}


def from_tmlt_core(
    thing: Any,
    *,
    d_in: Number | None = None,
    range: Sequence[Number] | None = None,
    size: Sequence[int] | None = None,
    cells: int | None = None,
) -> Adapted:
    """Adapt a measurement.

    Args:
        thing: the measurement.
        d_in: how far apart neighbours are, in its metric.
        range: [low, high], the numbers that are tried.
        size: [low, high], how many records there are.
        cells: how many numbers a vector has.

    Raises InvalidInputError for anything else of Tumult Core, for an interactive measurement, and for data of Spark.
    """
    if not hasattr(thing, "privacy_function"):
        raise InvalidInputError(f"{type(thing).__name__} of Tumult Core is not a measurement")
    if thing.is_interactive:
        raise InvalidInputError(f"{type(thing).__name__} is interactive; write a session that asks it")
    chosen = dict[str, Any]()
    d_in = chosen.setdefault("d_in", 1) if d_in is None else d_in
    low, high = chosen.setdefault("range", (-DEFAULT_REACH, DEFAULT_REACH)) if range is None else range
    domain, metric = thing.input_domain, thing.input_metric
    in_series, kind = hasattr(domain, "element_domain"), type(metric).__name__
    element = type(domain.element_domain if in_series else domain).__name__
    if element not in ("NumpyIntegerDomain", "NumpyFloatDomain"):
        raise InvalidInputError(f"{type(thing).__name__} takes {domain}, which is not supported; wrap it in a function")
    number = int if element == "NumpyIntegerDomain" else float
    ends = (number(low), number(high))
    neighbours: Domain
    if not in_series:
        neighbours = OneNumber(ends, number(d_in))
    elif kind in RELATIONS_BY_METRIC:
        size = chosen.setdefault("size", DEFAULT_SIZE) if size is None else size
        neighbours = Records(
            ends, size=size, integer=number is int, relation=RELATIONS_BY_METRIC[kind], distance=int(d_in)
        )
    elif kind in NORMS_BY_METRIC:
        cells = chosen.setdefault("cells", DEFAULT_CELLS) if cells is None else cells
        neighbours = Totals(cells=cells, values=ends, contribution={NORMS_BY_METRIC[kind]: d_in}, integer=number is int)
    else:
        raise InvalidInputError(
            f"{type(thing).__name__} has the metric {metric}, which is not supported; give `neighbours`"
        )
    distance = thing.privacy_function(d_in)
    distances = distance if isinstance(distance, tuple) else (distance,)
    epsilon, *delta = (part.to_float(round_up=True) for part in distances)
    is_rho = type(thing.output_measure).__name__ == "RhoZCDP"
    claim = ZeroConcentratedDP(epsilon) if is_rho else dp_claim(epsilon, *delta)
    return Adapted(
        MeasurementCall(thing, in_series, number), claim, neighbours, note_chosen_values("Tumult Core", chosen)
    )


@dataclass(frozen=True, slots=True)
class MeasurementCall:
    """A measurement as a function of a number, or of a series of numbers."""

    wrapped: Any
    in_series: bool
    number: type

    def __call__(self, data: Any) -> Any:
        if not self.in_series:
            return self.wrapped(self.number(data))
        answer = self.wrapped(import_module("pandas").Series(data, dtype="int64" if self.number is int else "float64"))
        return answer.tolist() if hasattr(answer, "tolist") else answer
