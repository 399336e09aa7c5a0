"""Claims about the probability of an event: refuted, confirmed on the worst data set, or neither, at an exact level."""

from typing import Any

import numpy as np
import pytest
from probabilities import ALPHA, N, audit, ended, exactly, outcome
from scipy.stats import binom

import auditor
from auditor.blackbox.sample import TRIAL
from auditor.report.phrases import finding
from auditor.verdict import Verdict

CLAIMS = [0.0, 0.05, 0.5, 0.9, 1.0]


@pytest.fixture(autouse=True)
def one_call_for_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mechanisms here count within a call."""
    monkeypatch.setattr("auditor.blackbox.batches.CALLS_OF_BOUND", 1)


# --- By enumeration: every number of hits in N trials ---


@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("p", CLAIMS)
def test_the_level_is_exact_in_both_directions(p: float, at_most: bool) -> None:
    """Whatever the true probability, true claims are refuted and false claims confirmed with probability at most alpha."""
    outcomes = [outcome(hits, p, at_most) for hits in range(N + 1)]
    refuted = np.array([result.verdict is Verdict.VIOLATION for result in outcomes])
    confirmed = np.array([result.event["confirmed"] for result in outcomes])
    assert not np.any(refuted & confirmed)
    truths = np.unique(np.concatenate([np.linspace(0, 1, 401), [p, np.nextafter(p, 0), np.nextafter(p, 1)]]))
    for truth in truths[(truths >= 0) & (truths <= 1)]:
        chance = binom.pmf(np.arange(N + 1), N, truth)
        holds = truth <= p if at_most else truth >= p
        wrong = refuted if holds else confirmed
        assert chance[wrong].sum() <= ALPHA * (1 + 1e-9), truth


@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("p", [0.05, 0.5])
def test_what_would_have_been_caught_is_so_with_the_chance_that_is_stated(p: float, at_most: bool) -> None:
    outcomes = [outcome(hits, p, at_most) for hits in range(N + 1)]
    refuted = np.array([result.verdict is Verdict.VIOLATION for result in outcomes])
    power = outcomes[0].power
    if power is None:  # no number of hits refutes, so no true probability is refuted with probability 95 %
        best = binom.pmf(np.arange(N + 1), N, 1.0 if at_most else 0.0)
        assert best[refuted].sum() < 0.95
        return
    assert (p < power["80%"] < power["95%"]) if at_most else (p > power["80%"] > power["95%"])
    for name, chance in (("80%", 0.8), ("95%", 0.95)):
        assert binom.pmf(np.arange(N + 1), N, power[name])[refuted].sum() == pytest.approx(chance, abs=1e-6)


@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_no_outcome_more_could_be_called_at_that_level(p: float, at_most: bool) -> None:
    """The test is not needlessly conservative: with one more number of hits in its rejection region it would exceed its level."""
    hits = np.arange(N + 1)
    chance = binom.pmf(hits, N, p)
    for called in ("refuted", "confirmed"):
        is_called = np.array(
            [
                outcome(h, p, at_most).verdict is Verdict.VIOLATION
                if called == "refuted"
                else outcome(h, p, at_most).event["confirmed"]
                for h in hits
            ]
        )
        upper = at_most == (called == "refuted")  # confirmed or refuted if there are many hits
        assert list(is_called) == sorted(is_called, reverse=not upper)
        following = hits[~is_called][-1] if upper else hits[~is_called][0]
        assert chance[is_called].sum() <= ALPHA < chance[is_called].sum() + chance[following]


@pytest.mark.parametrize("at_most", [True, False])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_the_p_value_is_the_tail_of_the_binomial(p: float, at_most: bool) -> None:
    for hits in range(0, N + 1, 7):
        tail = binom.sf(hits - 1, N, p) if at_most else binom.cdf(hits, N, p)
        result = outcome(hits, p, at_most)
        if tail < 0.99:
            assert result.p_value == pytest.approx(tail, rel=1e-3)
        assert result.p_value >= tail * (1 - 1e-9)
        assert (result.p_value <= ALPHA) == (result.verdict is Verdict.VIOLATION)


def test_the_same_counts_can_be_judged_at_another_level() -> None:
    one = ended(exactly(62), auditor.Probability(0.5, at_most=True))
    result = one.result()
    assert result.verdict is Verdict.VIOLATION  # P[Bin(100, ½) ≥ 62] = 0.0105
    again = one.result(0.01)
    assert again.verdict is Verdict.NO_VIOLATION_FOUND
    assert again.event == result.event
    assert (again.alpha, again.bound.confidence) == (0.01, 0.99)


def test_one_case_in_many_refutes_a_certainty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.blackbox.sampling.PIECES", 1)  # the mechanism counts within a call
    monkeypatch.setattr("auditor.blackbox.sample.CALLS", 1)
    result = ended(
        exactly(999_999), auditor.Probability(1.0, at_least=True), samples=1_000_000, batch=1_000_000, isolate=False
    )
    assert result.result().verdict is Verdict.VIOLATION
    assert result.result(1e-9).verdict is Verdict.VIOLATION


# --- A probability of exactly 0 or 1 ---


@pytest.mark.parametrize(
    ("p", "at_most", "hits", "verdict", "confirmed"),
    [
        # A single counterexample refutes certainty, and no number of cases proves it.
        (1.0, False, N, Verdict.NO_VIOLATION_FOUND, False),
        (1.0, False, N - 1, Verdict.VIOLATION, False),
        (0.0, True, 0, Verdict.NO_VIOLATION_FOUND, False),
        (0.0, True, 1, Verdict.VIOLATION, False),
        # A claim that every probability satisfies is confirmed by any outputs.
        (1.0, True, N, Verdict.NO_VIOLATION_FOUND, True),
        (0.0, False, 0, Verdict.NO_VIOLATION_FOUND, True),
    ],
)
def test_certainties(p: float, at_most: bool, hits: int, verdict: Verdict, confirmed: bool) -> None:
    result = outcome(hits, p, at_most)
    assert (result.verdict, result.event["confirmed"]) == (verdict, confirmed)


# --- The worst data set ---


def rises(value: int, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < 0.1 + 0.08 * value


@pytest.mark.parametrize(("at_most", "worst"), [(True, 9), (False, 0)])
def test_the_worst_data_set_is_found(at_most: bool, worst: int) -> None:
    claim = auditor.Probability(0.5, at_most=at_most, at_least=not at_most)
    result = audit(rises, claim, auditor.Value(list(range(10))), samples=20_000, search=40_000)
    assert result.verdict is Verdict.VIOLATION
    assert (result.pair.left, result.pair.right, str(result.pair.relation)) == (worst, None, "alone")


def test_the_worst_data_set_may_be_the_smaller_or_the_larger_of_its_pair() -> None:
    def empty(records: Any, size: int) -> Any:
        return np.full(size, len(records) == 0)

    def full(records: Any, size: int) -> Any:
        return np.full(size, len(records) == 7)

    domain = auditor.Records((0.0, 1.0), size=(0, 7))
    for mechanism, n in ((empty, 0), (full, 7)):
        result = audit(mechanism, auditor.Probability(0.5, at_most=True), domain, search=50_000)
        assert (result.verdict, len(result.pair.left)) == (Verdict.VIOLATION, n)


def test_what_was_searched_does_not_count() -> None:
    """A mechanism that shows the event only during the search is not refuted."""
    drawn = 0

    def at_first(value: int, size: int) -> Any:
        nonlocal drawn
        drawn += size
        return np.full(size, drawn <= 2 * TRIAL + 100)

    claim = auditor.Probability(0.5, at_most=True)
    result = audit(at_first, claim, auditor.Value([0, 1, 2]), samples=1000, search=20_000)
    assert 100 < result.outputs.search <= 20_000
    assert result.verdict is Verdict.NO_VIOLATION_FOUND


# --- What is no event ---


@pytest.mark.parametrize("output", [0.5, 2, -1, "yes", None, float("nan"), [True], (True, False)], ids=repr)
def test_a_mechanism_must_return_whether_the_event_happened(output: Any) -> None:
    with pytest.raises(auditor.MechanismError, match="true or false"):
        audit(lambda data, rng: output, auditor.Probability(0.5, at_most=True))


def test_a_mechanism_that_raises_is_no_event() -> None:
    def raises(data: Any, rng: Any) -> bool:
        raise ValueError("no answer")

    with pytest.raises(auditor.MechanismError, match="true or false"):
        audit(raises, auditor.Probability(0.5, at_least=True))


@pytest.mark.parametrize("output", [True, np.True_, 1, 1.0])
def test_truths_may_be_written_in_several_ways(output: Any) -> None:
    result = audit(lambda data, rng: output, auditor.Probability(0.5, at_most=True))
    assert result.event.counts.left == (N, N)


# --- What is shown ---


@pytest.mark.parametrize(
    ("at_most", "hits", "words"),
    [
        (True, 80, ["probability ≥ 0.722", "the claim is probability ≤ 0.5"]),
        (True, 20, ["probability ≤ 0.278", "which confirms the claim there"]),
        (True, 52, ["probability ≤ 0.606", "which neither refutes nor confirms the claim"]),
        (False, 20, ["probability ≤ 0.278", "the claim is probability ≥ 0.5"]),
        (False, 80, ["probability ≥ 0.722", "which confirms the claim there"]),
        (False, 48, ["probability ≥ 0.394", "which neither refutes nor confirms the claim"]),
    ],
)
def test_the_limit_shown_is_the_one_that_decides(at_most: bool, hits: int, words: list[str]) -> None:
    """One-sided limits at 95 %, by bisection of the binomial's tail: 80 of 100 gives 0.7228, 20 of 100 0.2772."""
    result = outcome(hits, 0.5, at_most)
    assert result.event.counts.left == (hits, N)
    for part in words:
        assert part in finding(result)
    is_lower = "lower" in result.bound.method
    value = result.bound.value
    tail = binom.sf(hits - 1, N, value) if is_lower else binom.cdf(hits, N, value)
    assert tail == pytest.approx(ALPHA)
