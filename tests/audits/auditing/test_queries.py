"""Claims about deterministic queries: a counterexample is found and shown, a sound query passes, anything else is an error."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.flow import carry_out
from auditor.auditing.outcome import settle
from auditor.auditing.plan import Plan, Settings
from auditor.auditing.query_flow import rows_changed
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import Execution
from auditor.report.phrases import finding
from auditor.verdict import Verdict

UNIT = auditor.Records((0.0, 1.0), size=(0, 20))
SIGNED = auditor.Records((-5, 5), integer=True, size=(0, 10))
MONOTONE = auditor.Monotone()


def audit(query: Callable[..., Any], claim: Any, domain: Any = UNIT, **options: Any) -> Any:
    return auditor.audit(
        query, claim, domain, **{"samples": 20_000, "seed": 5, "workers": 1, "isolate": False, **options}
    )


def mean(records: Any) -> float:
    return float(np.mean(records)) if len(records) else 0.0


def total(records: Any) -> Any:
    return records.sum()


# --- Sensitivity ---


def test_a_counterexample_is_found_and_shown() -> None:
    result = audit(total, auditor.Sensitivity(4), SIGNED)
    assert result.verdict is Verdict.VIOLATION
    left, right = (sum(side) for side in (result.pair.left, result.pair.right))
    assert (result.bound.value, abs(left - right)) == (5, 5)
    assert dict(result.event["values"]) == {"left": left, "right": right}
    assert f"answers {left} and {right}, which breaks the claim (sensitivity 4)" in finding(result)


@pytest.mark.parametrize(
    ("query", "claim", "domain", "largest"),
    [
        (mean, 1.0, UNIT, 1.0),
        (total, 5, SIGNED, 5),
        (len, 1, UNIT, 1),
        (lambda records: 3, 0, UNIT, 0),
        (lambda records: len(records) > 0, 1, UNIT, 1),
        (total, 10, auditor.Records((-5, 5), integer=True, size=(3, 3), relation="substitute"), 10),
        (total, 15, auditor.Records((-5, 5), integer=True, size=(0, 10), distance=3), 15),
        (total, 30, auditor.Records((-5, 5), integer=True, size=(5, 5), relation="substitute", distance=3), 30),
        (lambda totals: totals[0] - totals[1], 2, auditor.Totals([[1, -1], [0, 1]], (0, 50)), 2),
        (abs, 7, [(0, 7), (3, -7)], 7),
    ],
)
def test_a_sound_query_passes_and_its_largest_difference_is_found(
    query: Any, claim: float, domain: Any, largest: float
) -> None:
    result = audit(query, auditor.Sensitivity(claim), domain)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert result.bound.value == largest
    if largest:
        assert audit(query, auditor.Sensitivity(0.99 * claim), domain).verdict is Verdict.VIOLATION


@pytest.mark.parametrize(("norm", "length"), [("l1", 7.0), ("l2", 5.0), ("linf", 4.0)])
def test_vectors_move_in_the_norm_of_the_claim(norm: Any, length: float) -> None:
    def vector(records: Any) -> Any:
        return np.array([3 * len(records), -4 * len(records)])

    assert audit(vector, auditor.Sensitivity(length, norm)).bound.value == length
    assert audit(vector, auditor.Sensitivity(length, norm)).verdict is Verdict.NO_VIOLATION_FOUND
    assert audit(vector, auditor.Sensitivity(0.99 * length, norm)).verdict is Verdict.VIOLATION


def counts(rows: list[dict[str, Any]]) -> list[int]:
    return [sum(row["g"] == group for row in rows) for group in "ab"]


@pytest.mark.parametrize(("norm", "most"), [("l1", 3.0), ("l2", 3.0), ("linf", 3.0)])
def test_counts_by_group_move_as_far_as_one_person_has_rows(norm: Any, most: float) -> None:
    domain = auditor.Frame(FRAMES, size=(0, 8), id="user", rows_per_person=(1, 3))
    assert audit(counts, auditor.Sensitivity(most, norm), domain).bound.value == most
    assert audit(counts, auditor.Sensitivity(1, norm), domain).verdict is Verdict.VIOLATION


# --- Monotone ---


def test_a_fall_is_found_and_shown() -> None:
    result = audit(total, MONOTONE, SIGNED)
    assert (result.verdict, result.bound.value) == (Verdict.VIOLATION, 5)
    smaller, larger = sorted((result.pair.left, result.pair.right), key=len)
    assert sum(smaller) - sum(larger) == 5


@pytest.mark.parametrize(
    ("query", "domain", "falls"),
    [
        (total, UNIT, False),
        (lambda records: max(records, default=0.0), UNIT, False),
        (lambda records: -max(records, default=0.0), UNIT, True),
        (mean, UNIT, True),
        # Under group privacy there are pairs of which neither data set contains the other; they say nothing about monotonicity.
        (total, auditor.Records((0, 5), integer=True, size=(0, 9), distance=2), False),
        (total, auditor.Records((-1, 5), integer=True, size=(0, 9), distance=3), True),
        (lambda totals: totals[0], auditor.Totals([[1, 0], [0, -1]], (0, 50)), False),
        (lambda totals: totals[1], auditor.Totals([[1, 0], [0, -1]], (0, 50)), True),
        (sum, auditor.Pairs([([1, 2], [1, 2, 3])], "add_remove"), False),
        (sum, auditor.Pairs([([1, 2], [1, 2, -3])], "add_remove"), True),
        (sum, auditor.Pairs([([1, 2, -3], [1, 2])], "add_remove"), True),
    ],
)
def test_queries_that_fall_are_told_from_those_that_do_not(query: Any, domain: Any, falls: bool) -> None:
    verdict = Verdict.VIOLATION if falls else Verdict.NO_VIOLATION_FOUND
    assert audit(query, MONOTONE, domain).verdict is verdict


@pytest.mark.parametrize(
    "domain", [[(0, 1)], auditor.Value([0, 1]), auditor.Records((0.0, 1.0), size=(2, 2), relation="substitute")]
)
def test_monotone_means_nothing_where_no_data_set_is_part_of_its_neighbour(domain: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match="compares a data set with a subset"):
        audit(np.sum, MONOTONE, domain)


# --- Rounding ---


def test_what_rounding_does_is_no_counterexample() -> None:
    # 0.1 added and taken away again moves a sum by a little more than 0.1.
    domain = auditor.Records((0.0, 0.1), size=(0, 50))
    assert audit(total, auditor.Sensitivity(0.1), domain).verdict is Verdict.NO_VIOLATION_FOUND
    assert audit(total, auditor.Sensitivity(0.1 * (1 - 1e-6)), domain).verdict is Verdict.VIOLATION


def test_the_order_in_which_a_large_sum_is_added_up_is_no_fall() -> None:
    """Adding a zero regroups NumPy's sum, which then falls by 4e-6 in 2e10."""
    domain = auditor.Records((0.0, 1e9 / 3), size=(0, 200))
    assert audit(total, MONOTONE, domain, samples=1_000_000).verdict is Verdict.NO_VIOLATION_FOUND
    shrinking = audit(lambda records: total(records) - 100.0 * len(records), MONOTONE, domain)
    assert shrinking.verdict is Verdict.VIOLATION


# --- What is no query ---


class Counter:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, records: Any) -> int:
        self.calls += 1
        return self.calls


def refuses(records: Any) -> float:
    if len(records) == 1:
        raise ValueError("one record is too few")
    return 0.0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (Counter(), "answers 1 and then 2 on []"),
        (refuses, "raises ValueError: one record is too few on [0.0]"),
        (lambda records: "many" if len(records) > 0 else 0.0, "answers 'many' on [0.0]; a query answers with a number"),
        (lambda records: math.nan if len(records) > 0 else 0.0, "answers 0.0 on [] and nan on [0.0]"),
        (lambda records: None, "answers None on []"),
        (lambda records: math.inf, "answers inf on [] and inf on [0.0]; their difference is not a number"),
        (lambda records: records, "both must have the same shape"),
        (lambda records: np.zeros(1 + len(records)), "both must have the same shape"),
        (lambda records: [[1], [1, 2]], "a query answers with a number, or a vector of numbers"),
        (lambda records, rng: rng.random(), "takes size or rng; a claim of sensitivity 1 is about a deterministic"),
        (lambda records, size, rng: np.zeros(size), "takes size or rng"),
        (lambda records, size: np.zeros(size), "takes size or rng"),
    ],
)
def test_what_is_no_query_is_an_error_that_names_the_data_set(query: Any, message: str) -> None:
    with pytest.raises(auditor.MechanismError) as caught:
        audit(query, auditor.Sensitivity(1))
    assert message in str(caught.value)


def test_a_monotone_claim_is_about_one_number() -> None:
    with pytest.raises(auditor.MechanismError, match="about a single number"):
        audit(lambda records: np.zeros(2), MONOTONE)


# --- Budget ---


def test_queries_spend_neither_outputs_nor_error() -> None:
    result = audit(total, auditor.Sensitivity(4), SIGNED)
    assert (result.p_value, result.alpha, result.bound.confidence) == (None, None, 1.0)
    assert result.outputs.to_dict() == {"search": 0, "selection": 0, "bound": 0, "shrink": 0}
    assert result.reproducible


def test_a_file_settles_its_random_audits_as_if_there_were_no_queries() -> None:
    def plan(name: str, claim: Any, function: Any) -> Plan:
        settings = Settings(2000, execution=Execution(workers=1, isolate=False))
        return Plan(name, PythonSource(name, function=function), claim, auditor.Pairs([(0, 1)]), 0.01, settings)

    def response(bit: int, size: int, rng: np.random.Generator) -> Any:
        return bit ^ (rng.random(size) < 0.25)

    query = carry_out(plan("query", auditor.Sensitivity(0.5), abs))
    random = carry_out(plan("random", auditor.PureDP(0.5), response))
    alone = settle([random], 0.01, 1)
    [first, second] = settle([query, random], 0.01, 1)
    assert first == query.result()
    assert first.verdict is Verdict.VIOLATION
    assert (second.alpha, second.bound) == (alone[0].alpha, alone[0].bound)
    assert second.alpha == 0.01


# --- Functions that answer with a frame ---

FRAMES = {
    "x": {"type": "number", "low": 0, "high": 9, "null": True},
    "g": {"type": "categorical", "choices": ["a", "b"]},
}


def without_nulls(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["x"] is not None]


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "place": place} for place, row in enumerate(reversed(rows))]


def kept_twice(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return rows + rows


@pytest.mark.parametrize(
    ("function", "sensitivity", "verdict"),
    [
        (without_nulls, 1, "no_violation_found"),
        (numbered, 1, "violation"),
        (kept_twice, 1, "violation"),
        (kept_twice, 2, "no_violation_found"),
    ],
)
def test_the_sensitivity_of_a_frame_is_the_number_of_rows_that_change(
    function: Any, sensitivity: float, verdict: str
) -> None:
    domain = auditor.Frame(FRAMES, size=(0, 8))
    result = auditor.audit(function, auditor.Sensitivity(sensitivity), domain, samples=4000, workers=1, isolate=False)
    assert result.verdict == verdict
    assert function is not kept_twice or (result.bound is not None and result.bound.value == 2)


def test_frames_of_pandas_are_compared_by_rows() -> None:
    pytest.importorskip("pandas")
    domain = auditor.Frame(FRAMES, size=(0, 8), form="pandas")
    filled = auditor.audit(
        lambda df: df.fillna({"x": 0.0}), auditor.Sensitivity(1), domain, samples=1000, workers=1, isolate=False
    )
    assert filled.verdict == "no_violation_found"
    centred = auditor.audit(
        lambda df: df.assign(x=df["x"] - df["x"].mean()),
        auditor.Sensitivity(1),
        domain,
        samples=1000,
        workers=1,
        isolate=False,
    )
    assert centred.verdict == "violation"
    assert centred.smallest is not None
    assert len(centred.smallest.pair.left) + len(centred.smallest.pair.right) <= 5


def test_rows_have_no_norm() -> None:
    with pytest.raises(auditor.MechanismError, match="leave out `norm: l2`"):
        audit(
            lambda rows: rows,
            auditor.Sensitivity(1, "l2"),
            auditor.Frame(FRAMES, size=(0, 8)),
        )


def test_the_order_of_rows_is_no_change() -> None:
    assert rows_changed([{"x": 1}, {"x": 2}], [{"x": 2}, {"x": 1}]) == 0
    assert rows_changed([{"x": 1}], [{"x": math.nan}]) == 2
    assert rows_changed([{"x": math.nan}], [{"x": math.nan}]) == 0


def saturated(rows: list[dict[str, Any]]) -> int:
    total = 0
    for row in rows:
        total = max(-128, min(127, total + row["x"]))
    return total


def test_large_numbers_have_a_length_too() -> None:
    """The squares of these numbers exceed the largest double."""
    result = audit(lambda records: [1e300 * len(records)] * 2, auditor.Sensitivity(1.5e300, "l2"))
    assert (result.verdict, result.bound.value) == (Verdict.NO_VIOLATION_FOUND, pytest.approx(2**0.5 * 1e300))


def test_a_frame_at_a_distance_moves_further() -> None:
    """Under add_remove, two moves replace a row, so the counts of both groups move."""
    domain = auditor.Frame(FRAMES, size=(0, 8), distance=2)
    assert audit(counts, auditor.Sensitivity(2), domain).bound.value == 2
    assert audit(counts, auditor.Sensitivity(1, "linf"), domain).verdict is Verdict.VIOLATION
    assert audit(lambda rows: rows, auditor.Sensitivity(2), domain).bound.value == 2


def test_an_edge_off_the_corners_is_found() -> None:
    """The fault shows only on data sets of size 13, which is no corner."""

    def query(records: Any) -> float:
        return 9.0 if len(records) == 13 else 0.0

    assert audit(query, auditor.Sensitivity(1.0), samples=200_000).verdict is Verdict.VIOLATION


def test_a_sum_that_saturates_depends_on_the_order_of_rows() -> None:
    """OpenDP 0.4.0 added integers in this way. Alternating high and low values cancel; if all high values come first,
    they do not."""
    column = {"x": {"type": "integer", "low": -100, "high": 100, "dtype": "int8"}}
    kept, shuffled = (
        audit(
            saturated,
            auditor.Sensitivity(100),
            auditor.Frame(column, size=(0, 10), order=order),
            samples=4000,
        )
        for order in ("kept", "shuffled")
    )
    assert kept.verdict is Verdict.NO_VIOLATION_FOUND
    assert shuffled.verdict is Verdict.VIOLATION
    assert shuffled.bound.value > 200
