"""Why an audit has no answer: every call fails, or all outputs are equal. The hints name likely mistakes."""

from collections.abc import Sequence

import numpy as np

from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.repeats import shown_keys
from auditor.blackbox.sample import SIDES, Sample
from auditor.errors import MechanismError
from auditor.foreign_code import message_of
from auditor.neighbours.frames import Frame
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records

# The advice for objects that show nothing in their text, such as a fitted model of scikit-learn.
ATTRIBUTES = "; if it returns an object that holds the result, look into it with `observe: [attributes]`"
# At most so many pairs are tried after one on which every call fails, or on which nothing differs.
PAIRS = 10


class NoAnswerError(Exception):
    """The outputs drawn so far give no answer, for a ``reason`` that shows on a ``pair``."""

    def __init__(self, reason: str, pair: Pair) -> None:
        super().__init__(reason)
        self.reason, self.pair = reason, pair


def always_fails(plan: Plan, pair: Pair, failure: str, pairs: int = 1) -> str:
    """Return why there is no answer if every output was an exception, on so many ``pairs``."""
    where = f", on both data sets of {pairs} pairs" if pairs > 1 else ""
    return f"the mechanism failed on every call{where}: {failure}{how_data_arrive(plan, pair)}"


def commonest(sample: Sample) -> float:
    """Return the share of the most frequent output if it is above one half, else some share below one half.

    The share is 0 if all outputs of a side are one exception.
    """
    keys = [shown_keys(side, side.size) for side in (sample.left, sample.right)]
    if not all(side.size for side in keys):
        return 0.0
    both = np.concatenate(keys)
    # A value that makes up more than half of all outputs is their median.
    median = np.partition(both, len(both) // 2)[len(both) // 2]
    return float(np.mean(both == median))


def all_alike(sample: Sample) -> str:
    """Return why there is no answer if all outputs are identical: an event is learned from differences."""
    if sample.left.column("type").atoms == ("NoneType",):
        return (
            f"all {sample.size:,} outputs that were drawn to learn an event are None on both data sets: check that the mechanism "
            "ends with `return`; if it prints its result, look into that with `observe: [stdout]`"
        )
    return (
        f"all {sample.size:,} outputs that were drawn to learn an event are identical on both data sets: check that the "
        f"mechanism returns its result, and that the neighbours contain data on which it varies{ATTRIBUTES}"
    )


def some_pairs(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Return at most PAIRS pairs, spread evenly over the list. The first pair stays the first."""
    return pairs[:: -(-len(pairs) // PAIRS)]


# --- How data sets are passed to a mechanism: one that raises may expect another form ---


def how_data_arrive(plan: Plan, pair: Pair) -> str:
    """Return ``data_arrive`` of a mechanism, or recall it: a replay does not know whether the mechanism is a program."""
    return plan.store.recall("arrive", lambda: data_arrive(plan, pair))


def data_arrive(plan: Plan, pair: Pair) -> str:
    """Return a clause on how data sets are passed to a Python mechanism; "" for a program.

    A mechanism that raises may expect another form.
    """
    if plan.source.is_program:
        return ""
    arrays, arrive = pair.form is not None, f"; data sets arrive as {pair.form or type(pair.left).__name__}"
    try:
        failures = _failures(plan, pair)
        works_else = isinstance(plan.domain, Records) and not _failures(plan, plan.domain.contained_otherwise(pair))
    except MechanismError:  # a hint must not cost the audit its verdict
        failures, works_else = [], False
    if any(isinstance(failure, OSError | ImportError) for failure in failures):  # of a file or import
        return ""
    if not isinstance(plan.domain, Records):
        is_rows = isinstance(plan.domain, Frame) and plan.domain.form == "rows"
        return arrive + (' (as data frames by `as: pandas`, in Python `form="pandas"`)' if is_rows else "")
    if arrays and any(map(_looks_for_columns, failures)):
        return f"{arrive}, and it looks for columns; for data frames write `domain: frame` with `as: pandas`"
    if works_else and failures:
        instead = "lists it works: write `container: list`" if arrays else "arrays it works: leave `container` out"
        return f"{arrive}, on which it fails; on {instead}"
    return f"{arrive}{' (as lists by `container: list`)' if arrays else ''}"


# Attributes of data frames that arrays lack.
_OF_FRAMES = (
    "groupby",
    "columns",
    "iloc",
    "loc",
    "merge",
    "query",
    "apply",
    "value_counts",
    "fillna",
    "dropna",
    "assign",
)


def _looks_for_columns(failure: BaseException) -> bool:
    """Whether an exception is typical of data-frame code that was given an array."""
    text = message_of(failure)
    if isinstance(failure, AttributeError):
        return any(f"no attribute '{name}'" in text for name in _OF_FRAMES)
    return isinstance(failure, IndexError) and "only integers, slices" in text  # data["column"]


def _failures(plan: Plan, pair: Pair) -> list[BaseException]:
    """Return the exceptions among an output of each side."""
    drawer, rng = plan.drawer(), rng_at(plan.settings.seed, Phase.CHECK, 3)
    outputs = [drawer.call_once(pair, side, rng) for side in SIDES]
    return [output for output in outputs if isinstance(output, BaseException)]
