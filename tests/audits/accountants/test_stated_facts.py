"""What is said beside the verdict: contradictions, refusals and looseness, each with a twin that has none."""

import math
from dataclasses import replace
from typing import Any

import pytest
from stated_numbers import COMPOSED, DELTA, GAUSSIAN, SIGMA, STEPS, gaussian_epsilon

from auditor.accountants import Accountant, AccountantResult, Range, audit_accountant
from auditor.exact import Allocation, Gaussian, Process, epsilon_interval
from auditor.verdict import Verdict


def audited(states: Any, stated: Any, process: Any, points: int = 60, **parameters: Any) -> AccountantResult:
    asked = Accountant("asked", states, stated, process, parameters)
    return audit_accountant(asked, points=points, isolate=False, seconds=600)


def kinds(result: AccountantResult) -> set[str]:
    return {fact.kind for fact in result.facts}


def loose(sigma: float, delta: float) -> float:
    return 3 * gaussian_epsilon(1 / sigma, delta)


def test_an_order_that_matters_is_told_though_both_answers_are_sound() -> None:
    def stated(sigma: float, delta: float, order: str) -> float:
        return loose(sigma, delta) * (2 if order == "Laplace first" else 1)

    result = audited("epsilon", stated, GAUSSIAN, sigma=SIGMA, delta=DELTA, order=["Gaussian first", "Laplace first"])
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert "depends" in kinds(result)
    assert "order is no part of the process" in next(f.text for f in result.facts if f.kind == "depends")


def test_a_parameter_that_does_not_matter_is_not_told() -> None:
    def stated(sigma: float, delta: float, order: str) -> float:
        return loose(sigma, delta)

    assert "depends" not in kinds(audited("epsilon", stated, GAUSSIAN, sigma=SIGMA, delta=DELTA, order=["a", "b"]))


@pytest.mark.parametrize(("power", "expected"), [(1.0, False), (2.0, True)])
def test_other_units_of_noise_and_sensitivity(power: float, expected: bool) -> None:
    def stated(sigma: float, sensitivity: float, delta: float) -> float:
        return 1e6 * gaussian_epsilon(sensitivity**power / sigma, delta) + 1e3

    with_both = {**GAUSSIAN, "sensitivity": "sensitivity"}
    result = audited("epsilon", stated, with_both, sigma=Range(0.1, 100.0), sensitivity=Range(0.1, 100.0), delta=DELTA)
    assert ("units" in kinds(result)) == expected


def test_a_number_that_is_not_monotone_is_a_fact_if_all_are_sound() -> None:
    def stated(sigma: float, steps: int, delta: float) -> float:
        return gaussian_epsilon(math.sqrt(steps) / sigma, delta) * (1 if steps > 500 else 1e5)

    result = audited("epsilon", stated, COMPOSED, sigma=SIGMA, steps=STEPS, delta=DELTA)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert "not monotone" in kinds(result)


def test_noise_that_rises_with_its_target_is_a_fact() -> None:
    def stated(epsilon: float) -> float:
        return 10 / epsilon if epsilon < 1 else 30.0

    result = audited("noise", stated, {"noise": "laplace", "scale": "scale"}, epsilon=Range(0.1, 10.0))
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert "not monotone" in kinds(result)


def test_a_parameter_that_is_ignored() -> None:
    result = audited(
        "epsilon",
        lambda sigma, steps, delta: 1e9,
        COMPOSED,
        sigma=Range(1.0, 10.0),
        steps=Range(1, 10, integer=True),
        delta=DELTA,
    )
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    texts = [fact.text for fact in result.facts if fact.kind == "ignores"]
    assert len(texts) == 3
    assert any(text.startswith("steps does not change") for text in texts)


def test_an_answer_that_changes_when_it_is_asked_again() -> None:
    asked: list[float] = []

    def stated(sigma: float, delta: float) -> float:
        asked.append(sigma)
        return loose(sigma, delta) * (1 + len(asked) / 1000)

    result = audited("epsilon", stated, GAUSSIAN, sigma=SIGMA, delta=DELTA)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert "state" in kinds(result)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (lambda: math.nan, "no number"),
        (lambda: "1.0 or so", "no number"),
        (lambda: None, "no number"),
        (lambda: 1 / 0, "raises"),
        (lambda: {}, "no number"),
        (lambda: math.inf, "infinite"),
    ],
)
def test_what_gives_no_number_is_a_fact_and_is_not_compared(fault: Any, kind: str) -> None:
    def stated(sigma: float, delta: float) -> Any:
        return fault() if sigma > 30 else loose(sigma, delta)

    result = audited("epsilon", stated, GAUSSIAN, sigma=SIGMA, delta=DELTA)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert kind in kinds(result)
    assert (result.coverage.share < 1) == (kind != "infinite")


def test_a_negative_number_where_the_exact_one_is_zero_is_a_fact() -> None:
    def stated(sigma: float, delta: float) -> float:
        exact = gaussian_epsilon(1 / sigma, delta)
        return exact if exact > 0 else -0.5

    result = audited("epsilon", stated, GAUSSIAN, sigma=SIGMA, delta=Range(1e-9, 0.5))
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert "negative" in kinds(result)


def test_how_far_above_the_exact_number() -> None:
    result = audited("epsilon", loose, GAUSSIAN, sigma=Range(0.1, 1.0), delta=1e-5)
    [fact] = [fact for fact in result.facts if fact.kind == "loose"]
    assert "up to 3 times the exact number" in fact.text


def test_nothing_stated_and_nothing_to_compare_with_are_no_answer() -> None:
    refused = audited("epsilon", lambda sigma, delta: 1 / 0, GAUSSIAN, sigma=SIGMA, delta=DELTA)
    assert refused.verdict is Verdict.INCONCLUSIVE
    assert "ZeroDivisionError" in refused.reason
    outside = audited("epsilon", loose, {**GAUSSIAN, "rate": "sigma"}, sigma=SIGMA, delta=DELTA)
    assert outside.verdict is Verdict.INCONCLUSIVE
    assert "has no such number" in outside.reason


def test_an_interval_that_is_too_wide_is_no_answer() -> None:
    def process(sigma: float) -> Process:
        return Process(Gaussian(sigma), sampling=Allocation(1_000))

    def stated(sigma: float) -> float:
        interval = epsilon_interval(process(sigma), 1e-5)
        return (interval.low + interval.high) / 2

    result = audited("epsilon", stated, process, points=4, sigma=Range(0.8, 1.2), delta=1e-5)
    assert result.verdict is Verdict.INCONCLUSIVE, result
    assert "too wide" in result.reason


def test_settings_without_a_process_are_left_out() -> None:
    result = audited("epsilon", loose, GAUSSIAN, sigma=Range(-1.0, 1.0), delta=DELTA)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert result.coverage.outside > 0
    assert result.coverage.share == 1


def test_the_relation_that_a_number_fits() -> None:
    def stated(sigma: float, delta: float) -> float:
        return gaussian_epsilon(1 / sigma, delta)

    result = audited("epsilon", stated, {**GAUSSIAN, "relation": "substitute"}, sigma=SIGMA, delta=DELTA)
    assert result.verdict is Verdict.VIOLATION
    [fact] = [fact for fact in result.facts if fact.kind == "fits"]
    assert "under add_remove" in fact.text
    assert "the process is under substitute" in fact.text
    halved = audited("epsilon", lambda sigma, delta: stated(sigma, delta) / 4, GAUSSIAN, sigma=SIGMA, delta=DELTA)
    assert halved.verdict is Verdict.VIOLATION
    assert "fits" not in kinds(halved)


def test_a_result_has_no_truth() -> None:
    result = audited("epsilon", loose, GAUSSIAN, points=2, sigma=1.0, delta=1e-5)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(result)


def test_a_pass_on_few_settings_is_weak() -> None:
    few = audited("epsilon", loose, GAUSSIAN, points=5, sigma=SIGMA, delta=DELTA)
    assert (few.verdict, few.weak, few.passed) == (Verdict.NO_VIOLATION_FOUND, True, True)
    assert not replace(few, strict=True).passed
    assert "Weak: few settings were compared, " in str(few)
    assert not audited("epsilon", loose, GAUSSIAN, sigma=SIGMA, delta=DELTA).weak
    # All settings that there are.
    assert not audited("epsilon", loose, GAUSSIAN, points=9, sigma=[1.0, 2.0], delta=1e-5).weak
