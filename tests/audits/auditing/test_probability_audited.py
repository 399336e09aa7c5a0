"""Claims about the probability of an event, in whole audits: refuted, or confirmed on the worst data set."""

from typing import Any

import numpy as np
import pytest
from probabilities import ALPHA, N, audit, ended, exactly, outcome
from scipy.stats import binom

import auditor
from auditor.blackbox.sample import TRIAL
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
    refuted = np.array([found.verdict is Verdict.VIOLATION for found in outcomes])
    confirmed = np.array([found.event["confirmed"] for found in outcomes])
    assert not np.any(refuted & confirmed)
    truths = np.unique(np.concatenate([np.linspace(0, 1, 401), [p, np.nextafter(p, 0), np.nextafter(p, 1)]]))
    for truth in truths[(truths >= 0) & (truths <= 1)]:
        chance = binom.pmf(np.arange(N + 1), N, truth)
        holds = truth <= p if at_most else truth >= p
        wrong = refuted if holds else confirmed
        assert chance[wrong].sum() <= ALPHA * (1 + 1e-9), truth


def test_the_same_counts_can_be_judged_at_another_level() -> None:
    one = ended(exactly(62), auditor.Probability(0.5, at_most=True))
    found = one.result()
    assert found.verdict is Verdict.VIOLATION  # P[Bin(100, ½) ≥ 62] = 0.0105
    again = one.result(0.01)
    assert again.verdict is Verdict.NO_VIOLATION_FOUND
    assert again.event == found.event
    assert (again.alpha, again.bound.confidence) == (0.01, 0.99)


def test_one_case_in_many_refutes_a_certainty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.blackbox.sampling.PIECES", 1)  # the mechanism counts within a call
    monkeypatch.setattr("auditor.blackbox.sample.CALLS", 1)
    found = ended(
        exactly(999_999), auditor.Probability(1.0, at_least=True), samples=1_000_000, batch=1_000_000, isolate=False
    )
    assert found.result().verdict is Verdict.VIOLATION
    assert found.result(1e-9).verdict is Verdict.VIOLATION


# --- The worst data set ---


def rises(value: int, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < 0.1 + 0.08 * value


@pytest.mark.parametrize(("at_most", "worst"), [(True, 9), (False, 0)])
def test_the_worst_data_set_is_found(at_most: bool, worst: int) -> None:
    claim = auditor.Probability(0.5, at_most=at_most, at_least=not at_most)
    found = audit(rises, claim, auditor.Value(list(range(10))), samples=20_000, search=40_000)
    assert found.verdict is Verdict.VIOLATION
    assert (found.pair.left, found.pair.right, str(found.pair.relation)) == (worst, None, "alone")


def test_the_worst_data_set_may_be_the_smaller_or_the_larger_of_its_pair() -> None:
    def empty(records: Any, size: int) -> Any:
        return np.full(size, len(records) == 0)

    def full(records: Any, size: int) -> Any:
        return np.full(size, len(records) == 7)

    domain = auditor.Records((0.0, 1.0), size=(0, 7))
    for mechanism, n in ((empty, 0), (full, 7)):
        found = audit(mechanism, auditor.Probability(0.5, at_most=True), domain, search=50_000)
        assert (found.verdict, len(found.pair.left)) == (Verdict.VIOLATION, n)


def test_what_was_searched_does_not_count() -> None:
    """A mechanism that shows the event only during the search is not refuted."""
    drawn = 0

    def at_first(value: int, size: int) -> Any:
        nonlocal drawn
        drawn += size
        return np.full(size, drawn <= 2 * TRIAL + 100)

    claim = auditor.Probability(0.5, at_most=True)
    found = audit(at_first, claim, auditor.Value([0, 1, 2]), samples=1000, search=20_000)
    assert 100 < found.outputs.search <= 20_000
    assert found.verdict is Verdict.NO_VIOLATION_FOUND


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
    found = audit(lambda data, rng: output, auditor.Probability(0.5, at_most=True))
    assert found.event.counts.left == (N, N)
