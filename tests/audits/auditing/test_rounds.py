"""The rounds of an audit: their joint type I error, what they learn from, and where a limit of time or outputs ends them."""

import bisect
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import auditor
from auditor.auditing import ledger, planned
from auditor.auditing.flow import carry_out
from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit, settle
from auditor.auditing.plan import Plan, Settings
from auditor.auditing.rounds import Rounds
from auditor.auditing.sizes import Round, rounds_for
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.neighbours.domains import Pairs
from auditor.results.result import AuditResult

Rng = np.random.Generator
ENDLESS = 10**12


def noisy(dataset: float, size: int, rng: Rng) -> Any:
    return rng.laplace(dataset, 1.0, size)


def leaky(dataset: float, size: int, rng: Rng) -> Any:
    return rng.laplace(dataset, 0.25, size)


def plan_of(mechanism: Any = noisy, claim: Any = None, alpha: float = 1e-3, **settings: Any) -> Plan:
    settings = {"workers": 1, "isolate": False, **settings}
    source, pairs = PythonSource("m", function=mechanism), Pairs([(0.0, 1.0)])
    return Plan("a", source, claim or auditor.PureDP(1.0), pairs, alpha, Settings.of(settings))


def rounds_of(plan: Plan) -> Rounds:
    return Rounds(plan, Ledger(plan, lambda progress: None))


# --- What may err ---


def bound_of(plan: Plan, outputs: int, share: float, wins: int, guesses: int, level: float) -> float:
    """Return the bound of a round with this many outputs: a rule guessed on some of them, ``wins`` times correctly."""
    method = replace(plan, alpha=level).method(outputs, share=share)
    counts = GuessCounts(Counts(wins, guesses, 0, 0), Counts(guesses - wins, guesses, 0, 0))
    any_test: Any = None  # a bound on a pure loss depends on the counts alone
    return float(method.bound(any_test, counts))


def fewest_wins(plan: Plan, planned_round: Round, value: float, level: float) -> int:
    """Return the smallest number of correct guesses, without abstentions, with which the bound of a round exceeds a value."""

    def exceeds(wins: int) -> bool:
        return bound_of(plan, planned_round.bound, planned_round.share, wins, planned_round.bound, level) > value

    return bisect.bisect_left(range(planned_round.bound + 1), True, key=exceeds)


def test_the_bound_of_an_audit_is_that_of_its_counts_at_the_share_of_its_round() -> None:
    """This makes the enumerations below apply to what an audit reports."""
    plan = plan_of(samples=6_400, seed=3)
    result = carry_out(plan).result()
    rule = result.event
    assert result.bound and rule and rule.opposite
    wins = rule.counts.left[0] + rule.opposite.counts.right[0]
    guesses = wins + rule.counts.right[0] + rule.opposite.counts.left[0]
    outputs, share = rounds_for(6_400)[result.judgement.round].bound, result.judgement.share
    assert result.bound.value == bound_of(plan, outputs, share, wins, guesses, plan.alpha)


def error(plan: Plan, truth: float, level: float) -> float:
    """Return the probability that the bound of some round exceeds the true ε of randomised response, by its binomial counts."""
    rate = 1 / (1 + math.exp(-truth))

    def from_here(rounds: Rounds, *, refuted: bool) -> float:
        rounds = replace(rounds, done=[*rounds.done])
        planned_round = rounds.next(refuted=refuted, cheap=True)
        if planned_round is None:
            return 0.0
        errs = fewest_wins(plan, planned_round, truth, level)
        refutes = 0 if refuted else min(errs, fewest_wins(plan, planned_round, plan.claim.value, plan.alpha))
        *_, not_refuted, right = binom.cdf([refutes - 1, errs - 1], planned_round.bound, rate)
        chance = 1 - right
        if right > not_refuted:
            chance += (right - not_refuted) * from_here(rounds, refuted=True)
        if not_refuted > 0:
            chance += not_refuted * from_here(rounds, refuted=False)
        return float(chance)

    return from_here(rounds_of(plan), refuted=False)


@pytest.mark.parametrize("samples", [1_600, 6_400, 1_000_000])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize(("claimed", "truth"), [(1.0, 1.0), (0.8, 1.0), (1.0, 1.1), (0.5, 2.0), (2.0, 1.0)])
def test_a_bound_of_some_round_exceeds_the_truth_as_seldom_as_is_said(
    samples: int, alpha: float, claimed: float, truth: float
) -> None:
    """Exactly, over all numbers of correct guesses: the claim is refuted never, early or late, at any level."""
    plan = plan_of(claim=auditor.PureDP(claimed), alpha=alpha, samples=samples)
    for level in (alpha, alpha / 7, 3 * alpha):
        assert 0.02 * level < error(plan, truth, level) <= level


def most_of_the_level(plan: Plan, number: int, *, is_last: bool) -> float:
    """Return the largest share of the level that a round may have: the last round has all that the others leave."""
    planned_rounds = rounds_for(plan.settings.samples, plan.settings.search)
    before = sum(planned_round.share for planned_round in planned_rounds[:number])
    return planned_rounds[number].share if number < len(planned_rounds) and not is_last else 1 - before


@pytest.mark.parametrize("options", [{}, {"seconds": 2.0}, {"sharpen": True}], ids=str)
@pytest.mark.parametrize("samples", [100, 1_000, 30_000, ENDLESS])
@pytest.mark.parametrize("refuted_from", [0, 1, 3, 99])
@pytest.mark.parametrize("ended_at", [0, 2, 99])
def test_shares_add_up_to_one_at_most_however_the_audit_ends(
    options: dict[str, Any], samples: int, refuted_from: int, ended_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(**options, samples=samples)
    rounds, took = rounds_of(plan), [0.0]
    monkeypatch.setattr(Ledger, "elapsed", lambda _: took[0])
    while last := rounds.next(refuted=len(rounds.done) > refuted_from, cheap=refuted_from % 2 == 1):
        if last.number == ended_at:  # for example if most outputs fail
            last = rounds.ending_with(100)
        assert last == rounds.done[-1]
        assert last.share <= most_of_the_level(plan, last.number, is_last=rounds.ended)
        rounds.ledger.spend(Phase.BOUND, last.bound)
        took[0] += 1e-5 * last.bound
    assert [done.number for done in rounds.done] == [*range(len(rounds.done))]
    assert 0 < sum(done.share for done in rounds.done) <= 1 + 1e-12
    assert len(rounds.done) <= max(ended_at, 0) + 1
    assert rounds.ledger.spent.bound <= sum(done.bound for done in rounds_for(samples))


# --- What a round learns from ---


def test_a_round_learns_from_what_earlier_ones_counted_and_never_from_what_it_counts_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every output is a different number, so it can be traced into `Method.learn` and into the count of a frozen test."""
    plan = plan_of(samples=10_000, batch=500, seed=3, planted=0)
    method = type(plan.method(10_000))
    learn, counted = method.learn, ledger.count_in_parts
    rounds = list[tuple[set[float], set[float]]]()

    def values(sample: Sample) -> set[float]:
        return {value for side in (sample.left, sample.right) for value in side.column("output").numbers}

    def spied_learn(self: Any, sample: Sample) -> Any:
        rounds.append((values(sample), set()))
        return learn(self, sample)

    def spied_counted(test: Any, sample: Sample) -> Any:
        rounds[-1][1].update(values(sample))
        return counted(test, sample)

    monkeypatch.setattr(method, "learn", spied_learn)
    monkeypatch.setattr(ledger, "count_in_parts", spied_counted)
    carry_out(plan)
    assert [len(fresh) for _, fresh in rounds] == [planned_round.bound for planned_round in rounds_for(10_000)]
    for number, (training, fresh) in enumerate(rounds):
        earlier = set().union(*(counts for _, counts in rounds[:number]))
        assert training >= earlier
        assert not fresh & earlier.union(*(samples for samples, _ in rounds[: number + 1]))


# --- What is reported about the rounds ---

CLAIMS: list[tuple[Any, str]] = [
    (auditor.PureDP(0.5), "fixed"),
    (auditor.ApproximateDP(0.5, 0.01), "fixed"),
    (auditor.PureDP(0.5), "two-intervals"),
    (auditor.PrivacyProfile([(0.5, 0.1), (1.0, 0.01)]), "fixed"),
    (auditor.GaussianDP(0.5), "fixed"),
    (auditor.ZeroConcentratedDP(0.1), "fixed"),
    (auditor.Probability(0.9, at_most=True), "fixed"),
    (auditor.Probability(0.9, at_least=True), "fixed"),
]


def is_positive(dataset: float, size: int, rng: Rng) -> Any:
    return rng.laplace(dataset, 1.0, size) > 0


def ended(claim: Any, method: str = "fixed", batch: int = 700) -> Audit:
    mechanism = is_positive if isinstance(claim, auditor.Probability) else noisy
    return carry_out(
        planned(mechanism, claim, [(0, 1)], method=method, samples=7_000, seed=1, workers=1, batch=batch, isolate=False)
    )


@pytest.mark.parametrize(("claim", "method"), CLAIMS, ids=str)
@pytest.mark.parametrize("batch", [100, 10_000])
def test_the_bound_is_the_largest_of_those_of_all_rounds(claim: Any, method: str, batch: int) -> None:
    result = ended(claim, method, batch).result()
    growth, budget = result.illustration.growth, result.to_dict()["budget"]
    assert result.bound is not None
    drawn, planned_bounds = [outputs for outputs, _ in growth], [planned.bound for planned in rounds_for(7_000)]
    sharpening = [[planned_bounds[0], outputs] for outputs in (560, 476)]
    assert drawn in (planned_bounds[: len(drawn)], *sharpening), (
        "8 % of samples if refuted early, with its search if any"
    )
    assert result.outputs.bound == sum(drawn)
    if not isinstance(claim, auditor.Probability):
        assert result.bound.value == max(limit for _, limit in growth)
    assert growth[budget["round"]][1] == max((limit for _, limit in growth), key=claim.excess)
    assert budget["share"] < 1


@pytest.mark.parametrize("audits", [1, 7])
def test_growth_and_profile_are_of_the_level_that_the_file_allows(audits: int) -> None:
    """Like the bound, they may be judged at another level than the plan's, by Holm's step-down."""
    [settled] = settle([ended(auditor.PureDP(0.5))], 0.001, audits)
    assert settled.bound is not None
    assert settled.illustration.growth[settled.judgement.round][1] == settled.bound.value
    profile = dict(settled.illustration.profile)
    crossed = max((epsilon for epsilon, delta in profile.items() if delta > 0), default=0.0)
    # The curve spends a part of the level on the rate of guesses, so that it ends a little below the bound.
    assert settled.bound.value - 0.1 < crossed <= settled.bound.value


def test_a_profile_lies_below_the_truth() -> None:
    """Laplace noise of ε = 1 has δ(ε) = 1 − e^((ε − 1)/2). The test fails if the bound errs, which has probability
    0.1 %; seeded."""
    for epsilon, delta in ended(auditor.ApproximateDP(0.5, 0.01)).result().illustration.profile:
        assert delta <= max(0.0, 1 - math.exp((epsilon - 1) / 2))


def test_a_refuted_claim_ends_with_a_tenth_of_the_samples_or_goes_on_if_asked() -> None:
    def once(mechanism: Any = leaky, **options: Any) -> AuditResult:
        return carry_out(plan_of(mechanism, samples=100_000, **options)).result()

    brief, sharp = once(), once(sharpen=True)
    assert brief.bound and sharp.bound
    assert (brief.verdict, sharp.verdict) == ("violation", "violation")
    assert brief.stop_reason == f"refuted after {brief.outputs.bound:,} outputs"
    assert brief.outputs.bound == sum(outputs for outputs, _ in brief.illustration.growth) < 13_000
    assert [outputs for outputs, _ in sharp.illustration.growth] == [planned.bound for planned in rounds_for(100_000)]
    assert 1 < brief.bound.value < sharp.bound.value < 4
    one_by_one = once(lambda dataset, rng: rng.laplace(dataset, 0.25))
    assert one_by_one.outputs.bound < 2_500, "where outputs are not cheap, none are drawn to sharpen a bound"


# --- A time limit ---


class Clock:
    """A clock that only mechanisms advance, so that no test depends on the load of the machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = monotonic

    def timed(self, mechanism: Callable[..., Any], seconds: Callable[[int], float] = lambda size: 1e-5 * size) -> Any:
        """Make each call of a mechanism take some time."""

        def after(dataset: Any, size: int, rng: Rng) -> Any:
            self.now += seconds(size)
            return mechanism(dataset, size, rng)

        return after


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in ("auditing.ledger", "blackbox.batches"):
        monkeypatch.setattr(f"auditor.{module}.time", made)
    return made


def in_time(mechanism: Any, seconds: float | None, claim: Any = None, **options: Any) -> AuditResult:
    """False-failure rate below 1e-6: the claim holds, and alpha is 1e-7."""
    options = {"samples": ENDLESS, "seconds": seconds, "alpha": 1e-7, **options}
    return carry_out(plan_of(mechanism, claim, **options)).result()


@pytest.mark.parametrize(
    ("claim", "method", "seconds"),
    [
        *((auditor.PureDP(1.0), "fixed", seconds) for seconds in (0.5, 2, 20)),
        (auditor.PureDP(1.0), "two-intervals", 2),
        (auditor.RenyiDP(2.0, 1.0), "fixed", 2),
        (auditor.Probability(0.9, at_most=True), "fixed", 0.5),
    ],
    ids=str,
)
def test_an_endless_audit_ends_in_time_with_the_bound_it_has(
    clock: Clock, claim: Any, method: str, seconds: float
) -> None:
    mechanism = is_positive if isinstance(claim, auditor.Probability) else noisy
    result = in_time(clock.timed(mechanism), seconds, claim, method=method)
    assert result.verdict == "no_violation_found"
    is_over = f"{seconds:g} seconds were over: {result.outputs.bound:,} of {ENDLESS:,} outputs drawn"
    assert result.stop_reason in (is_over, "confirmed on the worst data set found")
    assert 0.7 * seconds < clock.now < seconds
    assert result.bound is not None
    assert result.outputs.bound > 3e4 * seconds


def test_an_audit_that_fits_is_not_cut(clock: Clock) -> None:
    unlimited, limited = (in_time(clock.timed(noisy), seconds, samples=2_000) for seconds in (None, 3_600))
    assert limited.event == unlimited.event
    assert limited.stop_reason == unlimited.stop_reason == "all 2,000 outputs drawn"


def test_where_it_becomes_slower_the_clock_ends_it(clock: Clock) -> None:
    slower = clock.timed(noisy, lambda size: 1e-5 * size if clock.now < 1 else 0.005)
    result = in_time(slower, 2)
    assert result.verdict == "no_violation_found"
    assert result.stop_reason.startswith("2 seconds were over: ")
    assert clock.now < 2.5


def test_the_time_of_a_first_call_does_not_count(clock: Clock) -> None:
    """It may compile, or import a library."""
    calls = itertools.count()
    compiled_first = clock.timed(noisy, lambda size: 1e-5 * size if next(calls) else 4.0)
    assert in_time(compiled_first, 30).outputs.bound > 500_000


def test_where_one_output_takes_a_second_the_audit_ends_in_time(clock: Clock) -> None:
    result = in_time(clock.timed(noisy, float), 400)
    assert 100 <= result.outputs.bound < 400
    assert clock.now < 400


@pytest.mark.parametrize("seconds_each", [0.01, 0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("limit", [5.0, 20.0])
def test_slow_outputs_pass_the_limit_by_one_output_at_most(clock: Clock, seconds_each: float, limit: float) -> None:
    """Each output has a call of its own. The first look at the mechanism takes at most eight calls, before the audit draws."""

    def slow(records: Any, rng: Rng) -> float:
        clock.now += seconds_each
        return float(np.sum(records) + rng.laplace())

    result = in_time(slow, limit)
    assert clock.now <= max(limit, 8 * seconds_each) + seconds_each + 0.02
    if result.verdict == "inconclusive":
        assert result.stop_reason.startswith(f"{limit:g} seconds were over: ")


@pytest.mark.parametrize("slow_from", [1.5, 3.0, 6.0])
def test_a_search_that_becomes_slower_than_foreseen_ends_in_time(clock: Clock, slow_from: float) -> None:
    """The time per output is measured at the beginning; later outputs take forty times as long."""

    def slow(records: Any, rng: Rng) -> float:
        clock.now += 0.001 if clock.now < slow_from else 0.04
        return float(np.sum(records) + rng.laplace())

    plan = plan_of(slow, samples=ENDLESS, seconds=20.0)
    ended = carry_out(replace(plan, neighbours=auditor.Records((0.0, 1.0), size=(0, 10)))).result()
    # A batch and a task that was forecast to take a quarter of a second may be under way.
    assert clock.now <= 20 + 40 * 0.25 + 128 * 0.04
    assert "20 seconds were over: " in ended.stop_reason


def test_how_many_outputs_fit_is_measured_on_outputs_that_serve_for_nothing_else(clock: Clock) -> None:
    rounds = rounds_of(plan_of(clock.timed(noisy), samples=ENDLESS, seconds=1.0))
    first = rounds.next(refuted=False, cheap=True)
    assert first is not None
    assert 100 <= first.bound < ENDLESS
    assert clock.now > 0
    assert rounds.ledger.spent.total == 0


@pytest.mark.parametrize("seconds", [0.5, 2])
def test_a_short_time_leaves_a_search_and_no_more_than_two_fifths_go_there(clock: Clock, seconds: float) -> None:
    def noisy_sum(records: Any, size: int, rng: Rng) -> Any:
        return records.sum() + rng.laplace(0.0, 1.0, size)

    options = {"samples": ENDLESS, "workers": 1, "isolate": False, "seconds": seconds}
    records = auditor.Records((0.0, 1.0), size=(0, 30))
    result = auditor.audit(clock.timed(noisy_sum, lambda size: 1e-4 * size), auditor.PureDP(1.0), records, **options)
    spent = result.outputs
    assert 0 < spent.search + spent.selection < 0.4 * spent.total
    assert result.tried.pairs > 1
