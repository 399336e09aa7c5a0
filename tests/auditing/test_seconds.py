"""A run that must end, ends, with the bound it has: on a number of outputs that was fixed before any of them was drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import Plan, Settings
from auditor.auditing.deadline import sizes_in_time
from auditor.auditing.draw import Draw
from auditor.auditing.pair_search import find_pair
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sample import TRIAL
from auditor.blackbox.sampling import Execution
from auditor.neighbours.domains import Pairs

ENDLESS = 10**12


class Clock:
    """Time passes only where a mechanism takes some, so that no test depends on the load of the machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in ("auditing.draw", "auditing.deadline", "blackbox.batches"):
        monkeypatch.setattr(f"auditor.{module}.time", made)
    return made


def taking(mechanism: Callable[..., Any], clock: Clock, seconds: float = 1e-5) -> Callable[..., Any]:
    """Let an output of a mechanism take a time."""

    def timed(dataset: Any, size: int, rng: np.random.Generator) -> Any:
        clock.now += seconds * size
        return mechanism(dataset, size, rng)

    return timed


def noisy(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(dataset, 1.0, size)


def audit(mechanism: Any, **options: Any) -> auditor.AuditResult:
    """False-failure rate below 1e-6: the claim holds, and alpha is 1e-7."""
    options = {"samples": ENDLESS, "workers": 1, "isolate": False, "confidence": 1 - 1e-7, **options}
    return auditor.audit(mechanism, auditor.PureDP(1.0), [(0.0, 1.0)], **options)


def test_an_endless_audit_ends_with_the_bound_it_has(clock: Clock) -> None:
    result = audit(taking(noisy, clock), seconds=2)
    assert result.verdict == "no_violation_found"
    assert result.bound is not None
    assert result.bound.value > 0.5
    assert 50_000 < result.outputs.bound < 200_000
    assert result.seconds is not None
    assert 1 < result.seconds < 2
    counts = result.to_dict()["event"]["counts"]
    assert counts["left"][1] + counts["right"][1] == result.outputs.bound


def test_the_call_that_repeats_it_has_the_number_of_outputs_that_it_came_to(clock: Clock) -> None:
    def leaky(dataset: float, size: int, rng: np.random.Generator) -> Any:
        return rng.laplace(dataset, 0.5, size)

    result = audit(taking(leaky, clock), seconds=2)
    assert result.verdict == "violation"
    assert f"samples={result.outputs.bound}," in str(result.reproduce)


def test_the_methods_with_other_bounds_end_too(clock: Clock) -> None:
    for method, claim in (
        ("two-intervals", auditor.PureDP(1.0)),
        ("fixed", auditor.RenyiDP(2.0, 1.0)),
        ("fixed", auditor.Probability(0.6, at_most=True)),
    ):
        mechanism = (lambda dataset, size, rng: rng.random(size) < 0.5) if method == "fixed" else noisy
        result = auditor.audit(
            taking(mechanism, clock),
            claim,
            [(0.0, 1.0)],
            method=method,
            samples=ENDLESS,
            seconds=1,
            workers=1,
            isolate=False,
        )
        assert result.verdict == "no_violation_found"
        assert 20_000 < result.outputs.bound < 100_000


def test_an_audit_that_fits_is_not_cut() -> None:
    unlimited, limited = audit(noisy, samples=2_000), audit(noisy, samples=2_000, seconds=3_600)
    assert limited.event == unlimited.event
    assert limited.stop_reason == unlimited.stop_reason == "all 2,000 outputs drawn"


def test_where_it_becomes_slower_the_clock_ends_it_and_the_report_says_what_was_drawn(clock: Clock) -> None:
    drawn = 0

    def slower(dataset: float, size: int, rng: np.random.Generator) -> Any:
        nonlocal drawn
        drawn += size
        clock.now += 1e-5 * size if drawn < 50_000 else 0.3
        return noisy(dataset, size, rng)

    result = audit(slower, seconds=2)
    assert result.stop_reason.startswith("2 seconds were over: ")
    assert f"{result.outputs.bound:,} of " in result.stop_reason
    assert result.verdict == "no_violation_found"


def test_how_many_outputs_fit_is_measured_on_outputs_that_serve_for_nothing_else(clock: Clock) -> None:
    """The number depends on the clock alone: a mechanism whose outputs differ in all but their time gets as many."""
    asked: list[int] = []

    def mechanism(dataset: float, size: int, rng: np.random.Generator) -> Any:
        asked.append(size)
        clock.now += 1e-5 * size
        return rng.laplace(dataset, 1.0, size)

    plan = Plan(
        "a",
        PythonSource("m", function=mechanism),
        auditor.PureDP(1.0),
        Pairs([(0.0, 1.0)]),
        1e-3,
        Settings(ENDLESS, seconds=1.0, execution=Execution(workers=1, isolate=False)),
    )
    drawing = Draw(plan, lambda progress: None)
    assert 100 <= sizes_in_time(plan, drawing, find_pair).bound < ENDLESS
    assert asked
    assert drawing.spent.to_dict() == {"search": 0, "selection": 0, "bound": 0, "shrink": 0}


def test_the_time_of_a_first_call_does_not_count(clock: Clock) -> None:
    """It may compile, or import a library."""
    calls = 0

    def compiled_first(dataset: float, size: int, rng: np.random.Generator) -> Any:
        nonlocal calls
        calls += 1
        clock.now += 4.0 if calls == 1 else 1e-5 * size
        return noisy(dataset, size, rng)

    assert audit(compiled_first, seconds=30).outputs.bound > 500_000


def test_where_one_output_takes_a_second_the_pace_is_known_after_two(clock: Clock) -> None:
    result = audit(taking(noisy, clock, 1.0), seconds=400)
    assert result.seconds is not None
    assert result.seconds < 400
    assert 100 <= result.outputs.bound < 400


# --- Searches that have seconds ---

RECORDS = auditor.Records((0.0, 1.0), size=(0, 30))


def noisy_sum(records: Any, size: int, rng: np.random.Generator) -> Any:
    return records.sum() + rng.laplace(0.0, 1.0, size)


def is_large(records: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < 0.02 * len(records)


def total(records: Any) -> Any:
    return records.sum()


def test_what_measures_a_search_serves_for_nothing_else(clock: Clock) -> None:
    """Outputs that are drawn in the search's own place were not drawn before, and are all that it is said to have spent."""
    drawn = 0

    def counting(records: Any, size: int, rng: np.random.Generator) -> Any:
        nonlocal drawn
        drawn += size
        clock.now += 1e-5 * size
        return noisy_sum(records, size, rng)

    options = {"samples": 2_000, "workers": 1, "isolate": False, "seed": 5, "shrink": False, "seconds": 2}
    result = auditor.audit(counting, auditor.PureDP(1.0), RECORDS, **options)
    spent = sum(result.outputs.to_dict().values())
    assert result.outputs.search > 0
    assert drawn > spent + 2 * TRIAL, "and some to measure"


@pytest.mark.parametrize("seconds", [0.5, 2, 20])
def test_a_short_time_leaves_a_search_and_no_more_than_two_fifths_go_there(clock: Clock, seconds: float) -> None:
    options = {"samples": ENDLESS, "workers": 1, "isolate": False, "seconds": seconds}
    result = auditor.audit(taking(noisy_sum, clock, 1e-4), auditor.PureDP(1.0), RECORDS, **options)
    spent = result.outputs
    assert 0 < spent.search + spent.selection < 0.4 * (spent.search + spent.selection + spent.bound)
    assert result.tried.pairs > 1


@pytest.mark.parametrize("search", [{}, {"outputs": 5}, -1, 1.5, "5", True])
def test_what_a_search_may_spend_is_a_number_of_outputs(search: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match=r"^search is .* it must be an integer of at least 0"):
        auditor.audit(noisy_sum, auditor.PureDP(1.0), RECORDS, search=search)
