"""Every method on fresh outputs of mechanisms with known loss: bounds rarely exceed it, and approach it with many outputs."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import auditor
from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.mechanism import Mechanism
from auditor.blackbox.sample import Sample
from auditor.bounds.conversions import profile_points
from auditor.bounds.divergences import renyi_divergence
from auditor.bounds.evidence import Counts, GuessCounts, ScoreCounts
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.bounds.utility import HeldOutWins
from auditor.defaults import BITS
from auditor.errors import InvalidInputError
from auditor.events.blocks import Choice, RuleCounts
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.event import Event
from auditor.events.features import Place
from auditor.methods import divergence, guessing, method_for
from auditor.methods.divergence import CLIPS, _clipped, closest_refuted_pair
from auditor.methods.guessing import GaussianGuesses, Guesses, ProfileGuesses
from auditor.neighbours.pair import Pair
from benchmarks._mechanisms import gaussian, laplace, revealing
from mechanisms.exact.known_continuous import gaussian_delta

ALPHA = 0.1
PAIR = auditor.Pairs([(0, 1)]).corners()[0]


def draw(function: Callable[..., Any], size: int, rng: np.random.Generator, pair: Pair = PAIR) -> Sample:
    mechanism = Mechanism.from_callable(function, {}, "m")
    return mechanism.draw(pair, rng.random(size) < 0.5, rng)


def bound_of(method: Any, function: Callable[..., Any], sizes: tuple[int, int], seed: int) -> float:
    rng = np.random.default_rng(seed)
    test = method.learn(draw(function, sizes[0], rng)).test
    return float(method.bound(test, test.count(draw(function, sizes[1], rng))))


LAPLACE = functools.partial(laplace, epsilon=1.0)
GAUSSIAN = functools.partial(gaussian, sigma=1.0)
REVEALING = functools.partial(revealing, epsilon=1.0, delta=0.1)
# Claim, method, mechanism, the true value of the claim's quantity, and the share of it reached with 20,000 outputs.
CASES: list[tuple[Any, str, Callable[..., Any], float, float]] = [
    (auditor.PureDP(1.0), "fixed", LAPLACE, 1.0, 0.8),
    (auditor.PureDP(1.0), "two-intervals", LAPLACE, 1.0, 0.7),
    (auditor.ApproximateDP(1.0, 0.1), "fixed", REVEALING, 1.0, 0.7),
    (auditor.GaussianDP(1.0), "fixed", GAUSSIAN, 1.0, 0.9),
    (auditor.ZeroConcentratedDP(0.5), "fixed", GAUSSIAN, 0.5, 0.7),
    (auditor.RenyiDP(1.5, 0.75), "fixed", GAUSSIAN, 0.75, 0.45),
    (auditor.RenyiDP(4.0, 2.0), "fixed", GAUSSIAN, 2.0, 0.3),
    # The curve of ε = 0.5, which Laplace noise of ε = 1 exceeds by 0.5.
    (auditor.Tradeoff([(0, 1), (0.377540668798, 0.377540668798), (1, 0)]), "fixed", LAPLACE, 0.5, 0.6),
]
NAMES = [f"{type(case[0]).__name__}-{case[1]}" for case in CASES]


@pytest.mark.parametrize(("claim", "name", "mechanism", "truth", "share"), CASES, ids=NAMES)
def test_bounds_exceed_the_truth_at_most_at_their_level(
    claim: Any, name: str, mechanism: Callable[..., Any], truth: float, share: float
) -> None:
    """The threshold of a case has a false-failure rate of 1e-7."""
    runs, method = 24, method_for(claim, name, ALPHA, 1000)
    above = sum(bound_of(method, mechanism, (600, 1000), seed) > truth + 1e-9 for seed in range(runs))
    assert above <= binom.isf(1e-7, runs, ALPHA)


def delta_of(mechanism: Callable[..., Any], epsilon: float) -> float:
    """Return the true δ: of Laplace noise of scale 1 (Balle & Wang 2018), or of Gaussian noise with μ = 1."""
    return max(0.0, 1 - math.exp((epsilon - 1) / 2)) if mechanism is LAPLACE else gaussian_delta(1.0, epsilon)


PROFILED = [case for case in CASES if case[2] is not REVEALING]


@pytest.mark.parametrize(("claim", "name", "mechanism", "truth", "share"), PROFILED)
def test_profiles_lie_above_the_truth_anywhere_at_most_at_their_level(
    claim: Any, name: str, mechanism: Callable[..., Any], truth: float, share: float
) -> None:
    """The threshold of a case has a false-failure rate of 1e-7; with many outputs the profile reaches two thirds of the
    largest truth."""
    runs, method = 24, method_for(claim, name, ALPHA, 1000)
    above = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        test = method.learn(draw(mechanism, 600, rng)).test
        points = method.profile(test.count(draw(mechanism, 1000, rng)))
        above += any(delta > delta_of(mechanism, epsilon) + 1e-9 for epsilon, delta in points)
    assert above <= binom.isf(1e-7, runs, ALPHA)
    rng = np.random.default_rng(0)
    test = method.learn(draw(mechanism, 4000, rng)).test
    points = method.profile(test.count(draw(mechanism, 20_000, rng)))
    assert points[0][0] == 0.0
    assert points[0][1] > 2 / 3 * delta_of(mechanism, 0.0)
    assert [delta for _, delta in points] == sorted((delta for _, delta in points), reverse=True)


def test_the_profile_of_two_intervals_is_that_of_the_textbook() -> None:
    left, right = Counts(80, 100, 20, 110), Counts(0, 100, 0, 110)
    points = method_for(auditor.PureDP(1.0), "two-intervals", ALPHA, 210).profile(GuessCounts(left, right))
    low, high = (clopper_pearson_lower(80, 100, ALPHA / 2), clopper_pearson_upper(20, 110, ALPHA / 2))
    for epsilon, delta in points:
        assert delta == pytest.approx(max(0.0, low - math.exp(epsilon) * high), abs=1e-9)


def test_few_outputs_are_given_a_tail_unless_the_claim_is_small() -> None:
    sample = draw(LAPLACE, 60, np.random.default_rng(0))
    tails = [method_for(auditor.PureDP(e), "fixed", ALPHA, 1000).evidence(sample)[2] for e in (1.0, 0.1)]
    assert [HeldOutWins(*tail).guesses > 0 for tail in tails] == [True, False]


@pytest.mark.parametrize("claim", [auditor.ZeroConcentratedDP(0.5), auditor.RenyiDP(4.0, 2.0)])
def test_an_interval_of_a_divergence_does_not_depend_on_the_side_that_is_larger(claim: Any) -> None:
    method = method_for(claim, "fixed", ALPHA, 200)
    counts = ScoreCounts((20, 80), (80, 20)), ScoreCounts((80, 20), (20, 80))
    one, other = (method.interval(each, 0.01) for each in counts)
    assert one == other
    assert 0 < one[0] < one[1]


@pytest.mark.parametrize("chance", [0.8, 0.95])
def test_a_wager_refutes_the_mildest_pair_it_is_said_to_refute_as_often_as_stated(chance: float) -> None:
    """For 1000 simulated sets of counts, seeded: within 5 standard errors (0.063) plus 0.02 for the normal approximation."""
    claim, trials, rng = auditor.ZeroConcentratedDP(0.5), 20_000, np.random.default_rng(8)
    method = method_for(claim, "fixed", ALPHA, trials)
    test = method.learn(draw(GAUSSIAN, 5_000, rng)).test
    counts = test.count(draw(GAUSSIAN, trials, rng))
    pair = closest_refuted_pair(test.wager, counts, test.wager.order * claim.rho, ALPHA, chance)
    assert pair is not None
    caught = method.detectable(test, counts, chance)
    assert (
        caught is not None and caught >= renyi_divergence(test.wager.order, *pair) / test.wager.order > 0.9 * claim.rho
    )
    refuted = 0
    for _ in range(1000):
        n = int(rng.binomial(trials, 0.5))
        sides = [tuple(rng.multinomial(size, side).tolist()) for size, side in zip((n, trials - n), pair, strict=True)]
        left, right = reversed(sides) if test.wager.swapped else sides
        refuted += method.bound(test, ScoreCounts(left, right)) > claim.rho
    assert abs(refuted / 1000 - chance) < 0.083


def test_a_wager_on_nothing_catches_nothing() -> None:
    method, silent = method_for(auditor.ZeroConcentratedDP(0.5), "fixed", ALPHA, 1000), lambda data, rng: None
    rng = np.random.default_rng(0)
    learned = method.learn(draw(silent, 200, rng))
    counts = learned.test.count(draw(silent, 200, rng))
    assert learned.forecast == -math.inf
    assert method.bound(learned.test, counts) == 0
    assert method.detectable(learned.test, counts, 0.8) == math.inf


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [0, 1, 8, 200])
def test_the_rule_for_mu_never_abstains(seed: int, size: int) -> None:
    """This holds on numbers, and on atoms in its sample or not, whatever it could learn."""
    rng = np.random.default_rng(seed)

    def mixed(bit: int, rng: np.random.Generator) -> Any:
        return [rng.normal(bit), None, "a" if bit else "b", math.nan, (1, 2), math.inf][rng.integers(6)]

    method = GaussianGuesses(auditor.GaussianDP(1.0), ALPHA, 1000)
    test = method.learn(draw(mixed, size, rng)).test
    fresh = [None, "never seen", math.nan, -math.inf, math.inf, 0.0, 1e300, -5, [1, 2, 3], {"a": 1}, ValueError("x")]
    counts = test.count(Sample(from_list(fresh), from_list(fresh[::-1])))
    assert counts.guesses == counts.trials == 2 * len(fresh)
    assert method.bound(test, counts) == 0


def test_a_profile_is_caught_at_the_one_point_where_it_is_passed() -> None:
    """The bit is revealed with probability 0.1, which is allowed at δ = 0.2 and not at (3, 0.01)."""
    claim = auditor.PrivacyProfile([(1.0, 0.2), (3.0, 0.01), (1.5, 0.15)])
    method, rng = ProfileGuesses(claim, 0.001, 5000), np.random.default_rng(0)
    test = method.learn(draw(REVEALING, 1000, rng)).test
    counts = test.count(draw(REVEALING, 5000, rng))
    assert method.bound(test, counts) > 0
    each = [
        inner.bound(event, observed) - point.epsilon
        for inner, event, observed, point in zip(
            method._methods(), test.events, counts.points, claim.profile, strict=True
        )
    ]
    assert [excess > 0 for excess in each] == [False, True, False]
    assert method.bound(test, counts) == max(each)
    # Each point has only its share of the level.
    assert all(inner.alpha == pytest.approx(0.001 / 3) for inner in method._methods())


@pytest.mark.parametrize(
    ("claim", "name", "events"),
    [
        (auditor.GaussianDP(1.0), "two-intervals", ("values",)),
        (auditor.ZeroConcentratedDP(1.0), "fixed", (BITS,)),
    ],
)
def test_what_a_method_cannot_do_is_told(claim: Any, name: str, events: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError):
        method_for(claim, name, ALPHA, 1000, events)


def vectors(left: bool, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(0.0, 1.0, (size, 5))


def halved(left: bool, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < (2 / 3 if left else 1 / 3)


def test_what_is_held_out_knows_no_luck() -> None:
    """If both sides are alike, a loss one standard error on the safe side is positive for at most one in six pairs.

    For 16 or more of 25 pairs it is positive with probability below 1e-6; that of the luckiest of many rules is, on nearly all.
    """
    method = method_for(auditor.PureDP(0.1), "fixed", 0.05, 10**7).with_margin(1.0)
    samples = [draw(vectors, 1_000, np.random.default_rng(seed)) for seed in range(25)]
    assert sum(method.learn(sample).forecast > 0 for sample in samples) >= 23
    observed = [method.prospects(method.evidence(sample))[0] for sample in samples]
    assert sum(prospect.loss - prospect.error > 0 for prospect in observed) < 16


@pytest.mark.parametrize("name", ["fixed", "two-intervals"])
def test_what_is_held_out_knows_a_loss(name: str) -> None:
    """With wins on 2/3 of 40,000 outputs the loss is ln 2 within .02, six standard errors."""
    method = method_for(auditor.PureDP(0.1), name, 0.05, 10**9).with_margin(1.0)
    sample = draw(halved, 20_000, np.random.default_rng(1))
    assert method.prospects(method.evidence(sample))[0].loss == pytest.approx(math.log(2), abs=0.08)
    profile = ProfileGuesses(auditor.PrivacyProfile([(0.1, 0.0), (0.5, 0.0)]), 0.05, 10**9, 1.0)
    assert profile.prospects(profile.evidence(sample))[0].loss == pytest.approx(math.log(2) - 0.1, abs=0.08)


def test_what_a_longer_look_does_not_show_of_a_rare_event_was_luck() -> None:
    """The event of a short look is the luckiest of many; a long look whose best event is another one does not confirm it."""
    method = method_for(auditor.PureDP(1.0), "fixed", 0.05, 10**6)
    nothing = HeldOutWins(0, 0, 0, 1)
    lucky, long, later = (
        (nothing, HeldOutWins(*observed), nothing)
        for observed in ((80, 80, 1_000, 1, 3), (1, 1, 2_000, 1, 3), (2, 3, 1_500, 2, 4))
    )
    assert method.joined(lucky, long)[1] == long[1]
    assert method.joined(long, later)[1] == HeldOutWins(3, 4, 3_500, 2, 4, 2_000)


def test_two_intervals_say_before_any_output_that_statsmodels_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.methods.find_spec", lambda name: None)
    with pytest.raises(InvalidInputError, match=r"needs statsmodels, .* pip install 'dp-auditor\[intervals\]'"):
        method_for(auditor.PureDP(1.0), "two-intervals", 0.01, 1000)
    assert method_for(auditor.PureDP(1.0), "fixed", 0.01, 1000)


@pytest.mark.parametrize(("claim", "name", "mechanism", "truth", "share"), CASES, ids=NAMES)
def test_on_many_outputs_a_sensible_share_of_the_truth_is_reached(
    claim: Any, name: str, mechanism: Callable[..., Any], truth: float, share: float
) -> None:
    bounds = [bound_of(method_for(claim, name, ALPHA, 20_000), mechanism, (4000, 20_000), seed) for seed in range(3)]
    assert np.median(bounds) > share * truth


@pytest.mark.parametrize(
    ("near", "vanishes", "reach"),
    [(0.1, 0.09, 0.2), (0.1, 0.3, 0.4), (0.1, 9.0, 1.0), (0.0, 0.0, 0.01), (3.0, 9.0, 6.0)],
)
def test_a_profile_is_drawn_as_far_as_there_is_something_to_see(near: float, vanishes: float, reach: float) -> None:
    points = profile_points(lambda epsilons: np.maximum(0.0, vanishes - epsilons), near)
    assert points[-1][0] == pytest.approx(reach)


def test_what_is_expected_of_a_rule_for_mu_may_be_rounded() -> None:
    """The expected counts of a curve are fractions of outputs, whose sum is their number up to rounding: no threshold
    may be lost through it."""
    left = np.random.default_rng(0).uniform(5_000, 15_000, 1000)
    right = 20_000 - left
    counts = RuleCounts(left / 1.3, left - left / 1.3, right / 1.3, right - right / 1.3, 20_000)
    assert np.any(counts.left_wins + counts.right_wins + counts.left_losses + counts.right_losses != 20_000)
    assert np.all(GaussianGuesses(auditor.GaussianDP(1.0), ALPHA, 10**6).forecast(counts) > 0)


def test_a_decided_rule_guesses_left_where_it_abstained() -> None:
    event = Event(Place("output"), Cells((0.0, 1.0), (RIGHT, ABSTAIN, LEFT), {}, ABSTAIN))
    outputs = from_list([-1.0, 0.5, 2.0, None])
    counts = event.decided().count(Sample(outputs, outputs))
    assert (counts.left.hits_left, counts.right.hits_left) == (3, 1)


def test_luck_of_a_rare_rule_passes_a_small_claim_only_where_rules_are_not_doubted() -> None:
    """Nine wins of nine, against 550 of 1,000: an event on a hundredth of the outputs, and one that shows ε = 0.2."""
    lucky, real = np.array([9.0, 550.0]), np.array([0.0, 450.0])
    counts = RuleCounts(lucky, real, np.zeros(2), np.zeros(2), 100_000)
    bold = Guesses(auditor.PureDP(0.1), 0.1, 10_000_000).with_margin(1.0)
    assert np.argmax(bold.forecast(counts)) == 0
    assert np.argmax(bold.with_prior().forecast(counts)) == 1
    # A rule that guesses often and always wins is not doubted.
    certain = RuleCounts(np.array([5_000.0]), np.zeros(1), np.zeros(1), np.zeros(1), 100_000)
    assert bold.with_prior().forecast(certain)[0] > 2


def test_what_rules_of_each_kind_won_adds_up_and_few_outputs_say_nothing_of_a_bold_one() -> None:
    method = method_for(auditor.PureDP(1.0), "fixed", 0.05, 10**6)
    long = (HeldOutWins(90, 100, 1_000, 2), HeldOutWins(0, 0, 1_000, 1), HeldOutWins(40, 50, 1_000, 2))
    short = (HeldOutWins(30, 50, 50, 2), HeldOutWins(0, 0, 50, 1), HeldOutWins(0, 0, 0, 1))
    assert method.evidence(draw(halved, 50, np.random.default_rng(1)))[2] == short[2]
    for one, other in ((long, short), (short, long)):
        together = method.joined(one, other)
        assert together[0] == HeldOutWins(120, 150, 1_050, 2, largest=1_000)
        assert together[2] == long[2]._replace(largest=1_000)
    assert method.joined(long, long)[2] == HeldOutWins(80, 100, 2_000, 2, largest=1_000)


@pytest.mark.parametrize(("begin", "better"), [(0.99, "careful"), (0.5, "bold")])
def test_a_bold_rule_is_worth_no_more_than_it_guesses(
    begin: float, better: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules learned from halves of the outputs won 396 of 551 guesses. The rule from all outputs guesses on some 20 of
    2,000, or on 1,000."""
    method = method_for(auditor.PureDP(0.1), "fixed", 0.1, 13_600_000)
    careful, bold = (Event(Place("output"), Cells((edge,), (ABSTAIN, LEFT), {})) for edge in (0.1, begin))
    won = HeldOutWins(20_848, 30_210, 1_500_000, 2), HeldOutWins(0, 0, 1, 1), HeldOutWins(396, 551, 1_500_000, 1)
    rules = Choice(careful, 0.1), Choice(bold, 0.1)
    monkeypatch.setattr(guessing, "frequent_rules", lambda *given: rules)
    monkeypatch.setattr(Guesses, "_held_out", lambda self, halves, rare: won)
    rng = np.random.default_rng(1)
    outputs = Sample(*(from_batch(rng.random(1_000), 1_000) for _ in range(2)))
    assert method.learn(outputs).test == (careful if better == "careful" else bold)


def test_a_long_look_for_a_divergence_outweighs_a_short_one() -> None:
    """The event of a short look falls short by more than its error, so each look counts by its share of the outputs."""
    method = method_for(auditor.ZeroConcentratedDP(0.5), "auto", 0.05, 10**6)
    long, short = ((0.8, 0.2, 0.1, 900.0),), ((0.0, 0.01, 0.3, 100.0),)
    for one, other in ((long, short), (short, long)):
        assert method.joined(one, other) == (pytest.approx((0.72, math.hypot(0.18, 0.001), 0.1, 1_000)),)


@pytest.mark.parametrize("claim", [auditor.ZeroConcentratedDP(0.5), auditor.RenyiDP(2.0, 1.0)])
def test_what_is_gross_shows_in_a_first_look_for_a_divergence(claim: Any) -> None:
    """All of 32 outputs separate the sides, or none does. Of 20 looks at equal sides fewer than half show the claim, as
    each would with probability below 1/10 (24 or more of 32 guesses right); the test fails with probability below 1e-6."""
    method = method_for(claim, "auto", 0.05, 10**6)

    def shown(shift: float, seed: int) -> float:
        rng = np.random.default_rng(seed)
        left, right = (from_batch(rng.laplace(centre, size=16), 16) for centre in (0.0, shift))
        return method.prospects(method.evidence(Sample(left, right)))[0].loss

    assert all(shown(30.0, seed) > 2 * claim.value for seed in range(20))
    assert sum(shown(0.0, seed) > claim.value for seed in range(20)) < 10


@pytest.mark.parametrize("planned", [1_000, 20_001, 400_000])
@pytest.mark.parametrize(
    ("claim", "name"),
    [
        (auditor.PureDP(1.0), "fixed"),
        (auditor.PureDP(0.1), "two-intervals"),
        (auditor.ApproximateDP(1.0, 1e-3), "fixed"),
        (auditor.GaussianDP(1.0), "fixed"),
    ],
)
def test_an_outcome_of_one_side_is_seen_from_the_rarest_rate_on(claim: Any, name: str, planned: int) -> None:
    """The number of such outputs is binomial: at the rate, it reaches the least number that refutes with the probability asked."""
    method: Any = method_for(claim, name, 1e-3, planned)
    rate, half = method.rarest(0.95), planned // 2
    others = (
        0 if not isinstance(method, GaussianGuesses) else half
    )  # a rule that never abstains guesses right on the others

    def refutes(hits: int) -> bool:
        rest = Counts(max(0, others - hits), half, others, half)
        counts = GuessCounts(Counts(hits, half, 0, half), rest, one_tailed=not others)
        return bool(claim.excess(method.bound(None, counts)) > 0)

    least = next(hits for hits in range(half + 1) if refutes(hits))
    assert binom.sf(least - 1, half, rate) == pytest.approx(0.95, rel=1e-6)
    assert method_for(claim, name, 1e-3, 4 * planned).rarest(0.95) < rate
    assert method.rarest(0.8) < rate


def test_a_divergence_is_refuted_by_the_rarest_outcome_and_by_no_rarer_one() -> None:
    """By simulated wagers on an outcome that one side has at the rate: 95 % of 400 are won, within 5 standard errors."""
    claim, planned = auditor.ZeroConcentratedDP(0.5), 20_000
    method: Any = method_for(claim, "fixed", 1e-3, planned)
    rate, rng = method.rarest(0.95), np.random.default_rng(3)
    assert 1 / 20 < rate < 1 / 4

    def refuted(at: float) -> float:
        def marks(bit: int, size: int, rng: np.random.Generator) -> Any:
            return ((rng.random(size) < at) & (bit == 1)).astype(float)

        learned = method.learn(draw(marks, planned, rng))
        fresh = [learned.test.count(draw(marks, planned, rng)) for _ in range(40)]
        return float(np.mean([claim.excess(method.bound(learned.test, counts)) > 0 for counts in fresh]))

    assert refuted(1.5 * rate) == 1.0
    assert refuted(0.5 * rate) == 0.0


def test_a_profile_is_refuted_where_its_easiest_point_is() -> None:
    profile = auditor.PrivacyProfile([(0.5, 1e-3), (1.0, 1e-5)])
    of_points = [method_for(point, "fixed", 1e-3 / 2, 20_000).rarest(0.95) for point in profile.profile]
    assert method_for(profile, "fixed", 1e-3, 20_000).rarest(0.95) == min(of_points)


def test_so_few_outputs_show_no_outcome_at_all() -> None:
    assert method_for(auditor.PureDP(8.0), "fixed", 1e-3, 4_000).rarest(0.95) == math.inf


@pytest.mark.parametrize("seed", range(10))
def test_a_score_is_clipped_at_quantiles_of_the_outputs_of_either_side(seed: int) -> None:
    """Against quantiles by their definition: outputs of Q in cells below the lower end, of P in cells above the upper end."""
    rng = np.random.default_rng(seed)
    values, (p, q) = rng.normal(0, 3, 12), rng.integers(1, 50, (2, 12)).astype(float)
    clipped = _clipped(values, p, q, CLIPS)
    for (share, most), row in zip(CLIPS, clipped, strict=True):
        low = min(v for v in values if q[values <= v].sum() >= share * q.sum()) if share else values.min()
        high = max(v for v in values if p[values >= v].sum() >= share * p.sum()) if share else values.max()
        expected = np.clip(np.clip(values, min(low, high), max(low, high)), -most, most)
        assert row.tolist() == expected.tolist()


def test_looks_that_no_bet_can_be_learned_from_fit_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bet needs cells with ENOUGH outputs of the half that judges. One output more on each side, and scores are fitted."""
    fitted = []
    monkeypatch.setattr(divergence, "fit_logistic", lambda fit, most: fitted.append(fit))
    method = method_for(auditor.ZeroConcentratedDP(0.5), "fixed", 1e-3, 100_000)
    for each in (2 * divergence.ENOUGH - 2, 2 * divergence.ENOUGH):
        rng = np.random.default_rng(each)
        sample = Sample(*(from_batch(rng.normal(size=each) + side, each) for side in (0.0, 9.0)))
        assert len(method.evidence(sample)) == 1
    assert [fit.size for fit in fitted] == [2 * divergence.ENOUGH]
    fewer = np.full(4, divergence.ENOUGH - 1.0)
    assert not divergence._have_enough_outputs(np.ones(1), rng.normal(size=(1, 4)), fewer, 9 * fewer).any()
