"""PipelineDP's aggregations and additive mechanisms.

The parameters of an aggregation bound what a person may contribute. The library's own engine aggregates rows of a person,
a partition and a value. The parameters have no budget, so the user must state ``epsilon``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from auditor.adapters import Adapted
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import dp_claim, note_chosen_values
from auditor.libraries.pydp import from_pydp
from auditor.neighbours.frames import Frame

# At least one row, since PipelineDP's engine refuses empty data.
ROW_COUNTS, PARTITIONS = (1, 10), ("a", "b")


def from_pipeline_dp(
    thing: Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    partitions: Sequence[Any] = PARTITIONS,
    size: Sequence[int] | None = None,
) -> Adapted:
    """Adapt the parameters of an aggregation, or an additive mechanism.

    Args:
        thing: AggregateParams, or a mechanism that adds noise.
        epsilon: the budget of an aggregation.
        delta: the δ of an aggregation.
        partitions: the public partitions of an aggregation.
        size: [low, high], how many rows there are.

    Raises InvalidInputError for anything else of PipelineDP.
    """
    if hasattr(thing, "add_noise") and hasattr(thing, "sensitivity"):
        return from_pydp(thing._mechanism)
    if not hasattr(thing, "max_contributions_per_partition"):
        raise InvalidInputError(
            f"{type(thing).__name__} of PipelineDP is not an aggregation or a mechanism that adds noise"
        )
    chosen: dict[str, Any] = {"partitions": PARTITIONS} if partitions is PARTITIONS else {}
    size = chosen.setdefault("size", ROW_COUNTS) if size is None else size
    # A person may have one row more than are counted, which shows whether extra rows are dropped.
    rows = 1 + (thing.max_contributions_per_partition or 1) * (thing.max_partitions_contributed or 1)
    columns: dict[str, Any] = {"partition": {"type": "categorical", "choices": tuple(partitions)}}
    low, high = thing.min_value, thing.max_value
    if low is not None:
        columns["value"] = {"type": "number", "low": float(low), "high": float(high), "outside": True}
    domain = Frame(columns, size=size, id="person", rows_per_person=(1, rows))
    claim = None if epsilon is None else dp_claim(epsilon, delta)
    mechanism = Aggregation(thing, epsilon, delta, tuple(partitions))
    wanting = "an aggregation does not say its budget; say `epsilon`, and `delta` if it has one"
    return Adapted(mechanism, claim, domain, note_chosen_values("PipelineDP", chosen), wanting)


@dataclass(frozen=True, slots=True)
class Aggregation:
    """An aggregation by the local backend, as a function of the rows. Each call has the whole budget."""

    aggregation: Any
    epsilon: float | None
    delta: float
    partitions: tuple[Any, ...]

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[Any, Any]:
        library = import_module("pipeline_dp")
        budget = library.NaiveBudgetAccountant(total_epsilon=self.epsilon, total_delta=self.delta)
        extractors = library.DataExtractors(
            privacy_id_extractor=lambda row: row["person"],
            partition_extractor=lambda row: row["partition"],
            value_extractor=lambda row: row.get("value", 0),
        )
        engine = library.DPEngine(budget, library.LocalBackend())
        result = engine.aggregate(rows, self.aggregation, extractors, public_partitions=list(self.partitions))
        budget.compute_budgets()
        # Partitions are sorted, since a collection has no order.
        return {partition: metrics._asdict() for partition, metrics in sorted(result)}
