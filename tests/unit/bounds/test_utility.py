"""The utility of pairs: the probability of refuting a claim, by evidence and prior."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from auditor.bounds.utility import (
    UNLIKE_IF_RARE,
    UNLIKE_SPREAD,
    WORTH_OF_BOUND,
    HeldOutWins,
    Outlook,
    Prior,
    Prospect,
    _Estimates,
    fit_prior,
    judge_prospects,
    utilities,
    utility_of_distinguisher,
)
from auditor.claims import ApproximateDP, PureDP
from auditor.methods.guessing import Guesses

WIDE = Prior(1.0, 0.2)


def prospect_of(wins: int, guesses: int, trials: int, delta: float = 0.0) -> Prospect:
    claim = ApproximateDP(1.0, delta) if delta else PureDP(1.0)
    return Guesses(claim, 0.001, 100_000).prospect_of(HeldOutWins(wins, guesses, trials, 1))


def chance(prospect: Prospect, prior: Prior = WIDE) -> float:
    [value], _ = judge_prospects([prospect], prior, 1.0)
    return float(value)


def test_a_frequent_event_on_the_claim_has_a_small_chance_and_a_rare_one_that_is_half_known_a_large_one() -> None:
    on_the_claim = prospect_of(round(10_000 * math.e / (1 + math.e)), 10_000, 10_000)
    rare = prospect_of(6, 6, 4_000)._replace(unlike=UNLIKE_IF_RARE)
    assert chance(on_the_claim) < 0.02
    assert chance(rare) > 0.1
    assert np.argmax(utilities(*judge_prospects([on_the_claim, rare], WIDE, 1.0), 1.0)) == 1


def test_what_so_few_outputs_will_show_that_nothing_is_refuted_has_no_chance() -> None:
    prospect = prospect_of(1, 1, 50_000)
    assert prospect.short == math.inf
    assert chance(prospect) == 0


@pytest.mark.parametrize(("wins", "allowed"), [(100, True), (300, False)])
def test_what_delta_allows_is_no_evidence(wins: int, allowed: bool) -> None:
    """Among 20,000 outputs, δ = .01 allows 100 on one side for free."""
    assert (chance(prospect_of(wins, wins, 20_000, 0.01)) < 0.5) == allowed


def test_the_best_of_many_lucky_samples_has_less_utility_than_one_that_stands_out() -> None:
    """The losses of 300 sound pilot samples vary by their errors only, and the prior removes the luck of the best."""
    rng = np.random.default_rng(1)
    sound = [Prospect(float(loss), 0.4, 0.05, 0.02) for loss in rng.normal(0.9, 0.4, 300)]
    faulty = Prospect(4.0, 1.0, 0.05, 0.02)
    ranked = utilities(*judge_prospects([*sound, faulty], fit_prior([*sound, faulty]), 1.0), 1.0)
    assert np.argmax(ranked) == 300
    assert max(ranked[:300]) < 0.5


@pytest.mark.parametrize(("centre", "spread"), [(0.5, 0.3), (2.0, 0.02)])
def test_the_prior_is_fitted_beyond_the_errors_of_the_samples(centre: float, spread: float) -> None:
    """From 4,000 pilot samples the median errs by .01 and the spread by .02 or so; six standard errors."""
    rng = np.random.default_rng(2)
    losses = rng.normal(centre, spread, 4_000) + rng.normal(0, 0.2, 4_000)
    prior = fit_prior([Prospect(float(loss), 0.2, 0.0, 0.0) for loss in losses])
    assert prior.centre == pytest.approx(centre, abs=0.06)
    assert prior.spread == pytest.approx(spread, abs=0.12)


def test_a_look_at_nothing_promises_nothing_and_the_best_event_of_a_look_counts() -> None:
    weak, strong = prospect_of(60, 100, 200), prospect_of(100, 100, 200)
    nothing, both, alone = Outlook.of([[], [weak, strong], [weak]], 1.0).utilities()
    assert nothing == -math.inf
    assert both > alone
    assert Outlook.of([], 1.0).utilities() == []


@pytest.mark.parametrize(
    ("earlier", "later", "then"),
    [
        # Both pilot samples show the event at similar rates, or neither shows it yet.
        ((5, 5, 1_000, 1), (9, 9, 1_500, 1), (14, 14, 2_500, 1, 1, 1_500)),
        ((0, 0, 1_000, 1), (3, 3, 2_000, 1), (3, 3, 3_000, 1, 1, 2_000)),
        # A longer look does not show the event.
        ((3, 3, 700, 1), (0, 0, 800, 1), (0, 0, 800, 1)),
        ((14, 14, 1_900, 1, 1, 1_100), (0, 0, 1_500, 1), (0, 0, 1_500, 1)),
        ((30, 30, 1_000, 1), (3, 3, 1_500, 1), (3, 3, 1_500, 1)),
        # A shorter look would not show the event, or should have shown it.
        ((5, 5, 1_000, 1), (0, 0, 100, 1), (5, 5, 1_000, 1)),
        ((19, 19, 2_000, 1), (0, 0, 1_900, 1), (19, 19, 3_900, 1, 1, 2_000)),
        ((0, 0, 9_000, 1), (9, 9, 900, 1), (0, 0, 9_900, 1, 1, 9_000)),
    ],
)
def test_a_rule_that_later_samples_do_not_show_was_luck(
    earlier: tuple[int, ...], later: tuple[int, ...], then: tuple[int, ...]
) -> None:
    assert HeldOutWins(*earlier).pool_if_alike(HeldOutWins(*later)) == HeldOutWins(*then)


def test_the_best_of_many_places_is_likelier_luck() -> None:
    """The prior probability that a rare event of one place is not luck is 1/4, and is the same for the best of eight
    places together."""
    method = Guesses(PureDP(1.0), 0.001, 100_000)
    rare = (HeldOutWins(18, 20, 20_000, 1, rivals) for rivals in (1, 8))
    pilots = [method.prospects((HeldOutWins(0, 0, 20_000, 1), observed))[0] for observed in rare]
    alone, best_of_eight = judge_prospects(pilots, Prior(1.0, 0.05), 1.0)[0]
    assert best_of_eight < alone / 3


@pytest.mark.parametrize(("wins", "guesses"), [(1, 1), (2, 2), (3, 3), (6, 7), (20, 20), (40, 60), (700, 1_000)])
@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_chance_is_that_of_the_exact_likelihood(wins: int, guesses: int, delta: float) -> None:
    """By the binomial probability of the counts, summed over the prior on a fine grid; the shares are as assumed."""
    prospect = prospect_of(wins, guesses, 2_000, delta)._replace(unlike=UNLIKE_IF_RARE)
    grid = np.linspace(-30, 30, 60_001)
    log_odds = grid + prospect.free
    likelihood = np.exp(-wins * np.logaddexp(0, -log_odds) - (guesses - wins) * np.logaddexp(0, log_odds))
    likelihood /= likelihood.max()
    refutes = ndtr((grid - 1.0 - prospect.short) / prospect.noise)
    masses = []
    for centre, spread in ((WIDE.centre, WIDE.spread), (1.0, None), (WIDE.centre, WIDE.spread + UNLIKE_SPREAD)):
        density = np.exp(-(((grid - centre) / spread) ** 2) / 2) if spread else 1.0 * (np.abs(grid - centre) < 1e-6)
        masses.append(density / density.sum())
    shares = [(1 - UNLIKE_IF_RARE) / 2, (1 - UNLIKE_IF_RARE) / 2, UNLIKE_IF_RARE]
    posterior = sum(share * mass * likelihood for share, mass in zip(shares, masses, strict=True))
    expected = float(posterior @ refutes / posterior.sum())
    assert chance(prospect) == pytest.approx(expected, abs=0.01)


def test_what_is_seen_clearly_decides() -> None:
    """If a loss is known far better than it differs from the claim, its utility is the probability that the bound's own
    outputs refute."""
    assert chance(Prospect(1.5, 0.001, 0.1, 0.01)) > 0.999
    assert chance(Prospect(1.05, 0.001, 0.1, 0.01)) < 0.001


def test_without_a_hint_a_rule_is_worth_its_bound_and_not_its_chance() -> None:
    on_the_claim = Prospect(1.0, 0.01, 0.02, 0.01)
    below, above = (Prospect(loss, 1.0, 1.0, 0.8, UNLIKE_IF_RARE) for loss in (0.9, 2.5))
    assert chance(below, Prior(1.0, 0.0)) > WORTH_OF_BOUND
    assert (
        utility_of_distinguisher(below, 1.0)
        < utility_of_distinguisher(on_the_claim, 1.0)
        < utility_of_distinguisher(above, 1.0)
    )


def test_more_evidence_of_a_loss_promises_more() -> None:
    chances = [chance(prospect_of(9 * times, 10 * times, 100 * times)) for times in (1, 3, 10, 100)]
    assert chances == sorted(chances)
    assert chances[0] < 0.5 < chances[-1]


def test_samples_of_one_pair_add_up() -> None:
    assert HeldOutWins(1, 2, 10, 1).pool(HeldOutWins(3, 3, 20, 2)) == HeldOutWins(4, 5, 30, 2, largest=20)
    assert HeldOutWins(1, 2, 10, 1, 3).pool(HeldOutWins(3, 3, 20, 2, 5)) == HeldOutWins(4, 5, 30, 2, 5, 20)


def test_a_rule_that_never_lost_may_have_any_odds() -> None:
    """For 2 wins and no loss the normal approximation would give .05 instead of .2: two wins require odds of 5 at most."""
    assert chance(prospect_of(2, 2, 1_000)._replace(unlike=UNLIKE_IF_RARE)) > 0.15


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.1])
def test_a_rule_on_the_claim_has_a_small_chance_at_any_delta(delta: float) -> None:
    """10,000 of 100,000 outputs are guessed, with the largest number of wins that a mechanism just at the claim has."""
    wins = round((math.e * 10_000 + delta * 50_000) / (1 + math.e))
    assert chance(prospect_of(wins, 10_000, 100_000, delta)) < 0.1


def test_a_prospect_counts_as_often_as_it_was_seen() -> None:
    """Equal prospects are judged once. Here their errors differ in the last digits, so that none is equal to another."""
    common, rare = prospect_of(30, 40, 1_000), prospect_of(6, 6, 1_000)
    equal = [common, rare, *[common] * 400, rare]
    apart = [one._replace(error=one.error * (1 + 1e-13 * i)) for i, one in enumerate(equal)]
    assert len({*apart}) == len(equal)
    for one, other in zip(judge_prospects(equal, WIDE, 1.0), judge_prospects(apart, WIDE, 1.0), strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_looks_of_one_prior_share_do_not_change_what_looks_of_another_are_worth() -> None:
    """The shares of the mixture are fitted to the prospects of each prior share alone."""
    rng = np.random.default_rng(3)
    usual = [Prospect(loss, 0.2, 0.1, 0.05, 0.05) for loss in rng.normal(0.8, 0.2, 60)]
    rare = [Prospect(loss, 0.3, 0.1, 0.05, UNLIKE_IF_RARE, 3, 0) for loss in rng.normal(2.0, 0.2, 30)]
    turns = [prospect for two in zip(usual, rare, strict=False) for prospect in two]
    together = judge_prospects([*turns, *usual[30:]], WIDE, 1.0)
    for at, alone in ((0, usual[:30] + usual[30:]), (1, rare)):
        number = min(30, len(alone))
        expected = judge_prospects(alone, WIDE, 1.0)
        for got, wanted in zip(together, expected, strict=True):
            np.testing.assert_allclose(got[at : 2 * number : 2], wanted[:number], rtol=1e-9)


@pytest.mark.parametrize(("wins", "losses"), [(0, 7), (7, 0), (12, 5), (0, 0)])
def test_the_likelihood_of_a_rule_is_exact_where_odds_are_long(wins: int, losses: int) -> None:
    """Against ln of the binomial likelihood, by ``logaddexp``. Sums of three numbers of size 10⁵ are off by 10⁻¹⁰."""
    loss, error, free = 0.5, 0.7, 0.25
    at = np.array([[-700.0, -40.0, -1.0, 0.0, 0.3, 40.0, 700.0]])
    estimate = _Estimates(*(np.array([number], float) for number in (loss, error, wins, losses, free)))
    log_odds = at + free
    exact = -wins * np.logaddexp(0, -log_odds) - losses * np.logaddexp(0, log_odds) + ((at - loss) / error) ** 2 / 2
    np.testing.assert_allclose(
        estimate.log_correction(at), exact if wins + losses else 0 * exact, rtol=1e-12, atol=1e-9
    )
