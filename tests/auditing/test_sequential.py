"""Sequential audits: no alarms however often one looks, an early end where something is broken, and all that may go wrong.

Every run is seeded; thresholds are such that a sound implementation fails with probability below 1e-6 for the file.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr
from scipy.stats import binom

import auditor
from auditor.auditing import Ended, carry_out, planned
from auditor.auditing.draw import Draw
from auditor.auditing.sequential_flow import FIRST_STAGE, Wealth
from auditor.blackbox.canonical import from_batch
from auditor.blackbox.sample import TRIAL
from auditor.bounds.betting import EpsilonNull, GaussianNull
from auditor.errors import AuditorError
from auditor.methods import game_for
from auditor.methods.divergence_game import DivergenceGame
from auditor.methods.game import hypotheses, just_above
from auditor.methods.guess_game import LEARNED_SHARE, TARGETS, caught_by_bets
from auditor.verdict import Verdict, judge
from benchmarks._mechanisms import gaussian, laplace, randomised_response, revealing

BITS, SEVERAL = [(0, 1)], [(0, 1), (1, 2), (2, 3)]
FOUR = auditor.Value(values=[0, 1, 2, 3])
PURE, CONCENTRATED = auditor.PureDP(1.0), auditor.ZeroConcentratedDP(0.5)
ALPHA = 0.1


def audit(mechanism: Any, claim: Any = PURE, neighbours: Any = BITS, **options: Any) -> Any:
    return ended(mechanism, claim, neighbours, **options).result()


def ended(mechanism: Any, claim: Any = PURE, neighbours: Any = BITS, **options: Any) -> Ended:
    own = {"workers": 1, "isolate": False}  # in this process, where mechanisms can count
    given = {"samples": 1000, "method": "sequential", "seed": 7, "confidence": 1 - ALPHA, **own}
    return carry_out(planned(mechanism, claim, neighbours, **{**given, **options}))


class Counting:
    """A mechanism that knows how many outputs it was asked for, besides the trial before the audit."""

    def __init__(self, mechanism: Any, **parameters: float) -> None:
        self.mechanism, self.parameters, self.outputs = mechanism, parameters, -2 * TRIAL

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        self.outputs += size
        return self.mechanism(dataset, size, rng, **self.parameters)


# --- false alarms ---


def four_values(value: int, size: int, rng: np.random.Generator) -> Any:
    """Exactly ε = 1 between any two of four values."""
    return np.where(rng.random(size) <= 4 / (3 + np.e), rng.integers(4, size=size), value)


AT_THE_EDGE: list[tuple[Any, Any, dict[str, float]]] = [
    (randomised_response, PURE, {"epsilon": 1.0}),
    (laplace, PURE, {"epsilon": 1.0}),
    (four_values, PURE, {}),
    (revealing, auditor.ApproximateDP(1.0, 0.1), {"epsilon": 1.0, "delta": 0.1}),
    (revealing, auditor.ApproximateDP(0.0, 0.2), {"epsilon": 0.0, "delta": 0.2}),
    (gaussian, auditor.GaussianDP(1.0), {"sigma": 1.0}),
    (gaussian, CONCENTRATED, {"sigma": 1.0}),
]


@pytest.mark.parametrize(("runs", "outputs"), [(20, 250), pytest.param(400, 1000, marks=pytest.mark.statistical)])
@pytest.mark.parametrize(("mechanism", "claim", "parameters"), AT_THE_EDGE)
def test_alarms_at_the_edge_of_a_claim_stay_below_their_rate(
    mechanism: Any, claim: Any, parameters: dict[str, float], runs: int, outputs: int
) -> None:
    """Looked at after every output, where the pair is searched for as well."""
    options = {"parameters": parameters, "samples": outputs}
    data = FOUR if mechanism is four_values else BITS
    alarms = sum(audit(mechanism, claim, data, seed=seed, **options).verdict == "violation" for seed in range(runs))
    assert alarms <= binom.isf(1e-7, runs, ALPHA)


@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_the_mean_wealth_under_the_claim_is_at_most_one(delta: float) -> None:
    """By simulation of games of 400 outputs: of wealth with mean at most 1, 1 of 100 passes 100 at most."""
    claim: Any = auditor.ApproximateDP(1.0, delta) if delta else PURE
    games, passed, rng = 80, 0, np.random.default_rng(3)
    at = int(np.searchsorted(hypotheses(claim), just_above(claim)))
    for _ in range(games):
        game = game_for(claim).new(claim, 0.01)
        labels = rng.random(400) < 0.5
        sides = [revealing(side, 400, rng, epsilon=1.0, delta=delta) for side in (0, 1)]
        outputs = from_batch(np.where(labels, *sides), 400)
        for start, stop in ((0, 6), (6, 30), (30, 110), (110, 250), (250, 400)):
            game.play(outputs[start:stop], labels[start:stop], at, math.inf)
        passed += bool(game.log_wealth()[at] >= math.log(100))
    assert passed <= binom.isf(1e-7, games, 0.01)


# --- what is broken is found, and early ---


@pytest.mark.parametrize(
    ("mechanism", "claim", "parameters"),
    [
        (randomised_response, PURE, {"epsilon": 2.5}),
        (laplace, PURE, {"epsilon": 3.0}),
        (revealing, auditor.ApproximateDP(1.0, 0.05), {"epsilon": 3.0, "delta": 0.05}),
        (revealing, auditor.ApproximateDP(1.0, 0.01), {"epsilon": 1.0, "delta": 0.3}),
        (gaussian, auditor.GaussianDP(1.0), {"sigma": 0.5}),
        (gaussian, CONCENTRATED, {"sigma": 0.4}),
        (gaussian, auditor.RenyiDP(2.0, 1.0), {"sigma": 0.4}),
    ],
)
def test_a_broken_mechanism_is_refuted_long_before_the_outputs_are_spent(
    mechanism: Any, claim: Any, parameters: dict[str, float]
) -> None:
    counting = Counting(mechanism, **parameters)
    result = audit(counting, claim, samples=20_000, confidence=0.999, shrink=False)
    assert result.verdict == "violation"
    assert result.bound.value > claim.value
    assert result.outputs.bound < 5000
    assert result.stop_reason == f"refuted after {result.outputs.bound:,} outputs"
    # What was drawn ahead of the end is less than the share by which draws grow.
    assert counting.outputs <= 1.3 * result.outputs.bound + 10


@pytest.mark.parametrize(("claim", "mu"), [(auditor.ZeroConcentratedDP(0.05), 0.5), (CONCENTRATED, 1.3)])
def test_what_early_wagers_lose_costs_later_ones_little(claim: Any, mu: float) -> None:
    """Learned from a few hundred outputs, they lose hundreds of nats against these claims, or are not played."""
    for seed in range(3):
        result = audit(gaussian, claim, parameters={"sigma": 1 / mu}, samples=20_000, seed=seed, confidence=0.999)
        assert result.verdict == "violation"


def test_the_one_bad_pair_is_found() -> None:
    def only_3_against_0(value: int, size: int, rng: np.random.Generator) -> Any:
        return randomised_response(int(value == 3), size, rng, epsilon=2.5)

    result = audit(only_3_against_0, neighbours=FOUR, samples=50_000, confidence=0.999)
    assert result.verdict == "violation"
    assert 3 in (result.pair.left, result.pair.right)
    assert result.outputs.search > 0
    assert result.outputs.bound < 10_000


@pytest.mark.parametrize("claim", [PURE, auditor.GaussianDP(0.5)])
def test_atoms_that_tell_the_side_are_found_and_shown(claim: Any) -> None:
    def named(bit: int, rng: np.random.Generator) -> Any:
        return "left" if bit ^ (rng.random() < 0.1) else None

    result = audit(named, claim, samples=3000)
    assert result.verdict == "violation"
    assert len(result.illustration.histograms) == 1


@pytest.mark.parametrize(
    ("mechanism", "claim", "at"),
    [
        (randomised_response, PURE, lambda epsilon: {"epsilon": epsilon}),
        (revealing, auditor.ApproximateDP(1.0, 0.01), lambda epsilon: {"epsilon": epsilon, "delta": 0.01}),
        (gaussian, auditor.GaussianDP(1.0), lambda mu: {"sigma": 1 / mu}),
        (gaussian, CONCENTRATED, lambda rho: {"sigma": 1 / math.sqrt(2 * rho)}),
    ],
)
def test_what_an_audit_says_it_would_have_caught_it_catches(mechanism: Any, claim: Any, at: Any) -> None:
    """Of 12 audits at the value said to be detected with 95 % probability, 8 at least (else with 3e-6)."""
    sound = Counting(mechanism, **at(claim.value))
    said = audit(sound, claim, samples=4_000)
    assert said.verdict == "no_violation_found"
    assert said.stop_reason == "all 4,000 outputs drawn"
    assert said.outputs.bound == 4_000 <= sound.outputs <= 1.3 * 4_000
    assert claim.value < said.power["80%"] < said.power["95%"] < 3 * claim.value
    worse = {"parameters": at(said.power["95%"]), "samples": 4_000}
    found = [audit(mechanism, claim, seed=seed, **worse).verdict for seed in range(12)]
    assert found.count("violation") >= 8


def test_hopes_are_small_enough_for_small_faults_and_their_shares_are_one_wealth() -> None:
    """Noise 5 % too small is found by 100,000 outputs. Had the shares a larger sum, alarms would be likelier."""
    assert caught_by_bets(PURE, guesses=67_000, trials=100_000, bettors=6, alpha=0.05, chance=0.8) < 1 / 0.95
    assert math.fsum(TARGETS.values()) == pytest.approx(1, abs=1e-12)
    assert all(share > 0 for share in TARGETS.values())


@pytest.mark.parametrize("chance", [0.8, 0.95])
@pytest.mark.parametrize(
    ("claim", "share"), [(PURE, 1.0), (auditor.ApproximateDP(1.0, 0.01), 0.5), (auditor.GaussianDP(1.0), 1.0)]
)
def test_the_smallest_violation_caught_is_refuted_at_least_as_often_as_stated(
    claim: Any, share: float, chance: float
) -> None:
    """By 2000 simulated paths of one bettor's wealth: never rarer than stated by more than 5 standard errors (3e-7)."""
    trials, bettors, runs, alpha = 1_000, 6, 2_000, 0.01
    guesses = int(share * trials)
    caught = caught_by_bets(claim, guesses, trials, bettors, alpha, chance)
    assert claim.value < caught < 2 * claim.value
    if isinstance(claim, auditor.GaussianDP):
        rate = float(ndtr(caught / 2))
        null: Any = GaussianNull(np.array([claim.value]))
        hopes = ndtr((claim.value + np.array(list(TARGETS))) / 2)
    else:
        free = claim.delta * trials / guesses
        rate = (math.exp(caught) + free) / (1 + math.exp(caught))
        null = EpsilonNull(np.array([claim.value]), claim.delta)
        hopes = 1 / (1 + np.exp(-(claim.value + np.array(list(TARGETS)))))
    on_win, on_loss, on_trial = (factors[:, 0] for factors in null.log_factors(hopes, 2))
    won = np.random.default_rng(11).random((runs, guesses)) < rate
    steps = np.arange(1, guesses + 1)[:, None]
    reached = 0
    for path in won:
        wins = path.cumsum()[:, None]
        wealth = logsumexp(
            wins * on_win + (steps - wins) * on_loss + steps / share * on_trial, axis=1, b=list(TARGETS.values())
        )
        best = wealth.max() - math.log(bettors) + math.log1p(-LEARNED_SHARE)
        reached += bool(best >= -math.log(alpha))
    assert reached / runs > chance - 5 * math.sqrt(chance * (1 - chance) / runs)
    # Nor is the figure idle: the same bettor is refuted far less often at the claim itself.
    assert reached / runs < 1


def test_bettors_who_join_later_have_had_their_share_from_the_start() -> None:
    """Their mean never changes when one joins, and the best of them counts, but for its share."""
    game = DivergenceGame(hypotheses(CONCENTRATED), CONCENTRATED, 0.01)
    rng, asked = np.random.default_rng(1), game.grid >= 0.5
    for bettors in range(1, 30):
        before = game.log_wealth()
        game.made = np.concatenate([game.made, np.zeros((1, len(game.grid)))])
        assert np.allclose(game.log_wealth(), before)
        game.made = game.made + rng.normal(0, 5, len(game.grid))
        best = game.made.max(0) - math.log(bettors * (bettors + 1))
        assert np.all(game.log_wealth()[asked] >= np.maximum(best, -math.log(bettors + 1))[asked] - 1e-9)
        assert np.all(game.log_wealth()[asked] <= np.maximum(game.made.max(0), 0)[asked] + 1e-9)
    assert np.all(game.log_wealth()[~asked] >= game.log_wealth()[asked][0] - math.log(2) - 1e-9)


# --- the same whatever runs it ---


@pytest.mark.parametrize("options", [{"workers": 3, "backend": "threading"}, {"workers": 2, "backend": "loky"}])
def test_what_runs_it_changes_no_number(options: dict[str, Any]) -> None:
    def told(**more: Any) -> dict[str, Any]:
        given = {"samples": 1500, "batch": 100, "parameters": {"epsilon": 1.7}, **more}
        return {**audit(laplace, neighbours=[(0.0, 1.0), (0.0, 0.1)], **given).to_dict(), "seconds": None}

    assert told(**options) == told()
    assert told(batch=65_536) == told(batch=2_000) != told(batch=2_000, seed=1)


# --- verdict, p-value and level ---


@pytest.mark.parametrize("epsilon", [1.0, 1.6])
def test_verdict_bound_and_p_value_agree_at_every_level(epsilon: float) -> None:
    found = ended(laplace, parameters={"epsilon": epsilon}, samples=600)
    result: Any = found.result()
    highest, grid = np.array(result.event["highest_log_capital"]), np.array(result.event["hypotheses"])
    assert result.p_value == pytest.approx(min(1.0, math.exp(-highest[grid <= just_above(PURE)].min())))
    values = []
    for level in sorted((1e-6, 0.01, 0.1, 0.5, result.p_value * 0.99, min(0.999, result.p_value * 1.01))):
        again: Any = found.result(level)
        assert (again.verdict is Verdict.VIOLATION) == (result.p_value <= level)
        assert again.verdict == judge(PURE, again.bound)
        assert (again.bound.confidence, again.event) == (1 - level, result.event)
        values.append(again.bound.value)
    assert values == sorted(values)
    assert found.result(ALPHA).bound == result.bound


@pytest.mark.parametrize("claim", [PURE, auditor.PureDP(0.0), auditor.PureDP(30.0), auditor.ApproximateDP(0.7, 0.1)])
def test_the_claim_has_a_hypothesis_of_its_own_just_above_it(claim: Any) -> None:
    grid = hypotheses(claim)
    assert np.all(np.diff(grid) > 0)
    at = int(np.searchsorted(grid, just_above(claim)))
    assert grid[at] == just_above(claim) > claim.value
    assert at == 0 or grid[at - 1] < claim.value


def test_wealth_is_the_product_of_the_games_and_its_highest_counts() -> None:
    class Fixed:
        def __init__(self, *logs: float) -> None:
            self.logs = np.array(logs)

        def log_wealth(self) -> Any:
            return self.logs

    wealth = Wealth(np.array([0.0, 1.0]), np.array([1.0, -1.0]), np.zeros(2))
    for outputs, logs in enumerate(((2.0, 0.5), (1.0, 1.5), (-9.0, 0.0)), start=1):
        wealth.look(Fixed(*logs), outputs)  # type: ignore[arg-type]
    assert wealth.highest.tolist() == [3.0, 0.5]
    assert (wealth.bound(math.exp(-0.4)), wealth.bound(math.exp(-2.0))) == (1.0, 0.0)
    assert wealth.p_value(1.0) == pytest.approx(math.exp(-0.5))
    # At each look, with what had been reached by then: the second hypothesis only at the second.
    assert wealth.growth(math.exp(-0.4)) == [(1, 0.0), (2, 1.0), (3, 1.0)]


# --- ends ---


@pytest.mark.parametrize("claim", [PURE, CONCENTRATED])
@pytest.mark.parametrize("neighbours", [BITS, SEVERAL])
def test_time_ends_it_and_keeps_what_was_won_before(
    neighbours: Any, claim: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"parameters": {"epsilon": 1.0}, "samples": 10**6, "seconds": 0.5}
    monkeypatch.setattr(Draw, "elapsed", lambda drawing: 1.0)
    none = audit(laplace, claim, neighbours, **options)
    assert (none.verdict, none.bound) == ("inconclusive", None)
    assert none.stop_reason == "0.5 seconds were over: no output was drawn for the bound"
    monkeypatch.setattr(Draw, "elapsed", lambda drawing: drawing.spent.bound / FIRST_STAGE)
    some = audit(laplace, claim, neighbours, **options)
    assert (some.verdict, some.stop_reason) == ("no_violation_found", "0.5 seconds were over")
    assert 0 < some.outputs.bound < FIRST_STAGE
    assert some.bound.value > 0
    assert some.illustration.histograms


def raises(bit: int, size: int, rng: np.random.Generator, *, left: float, right: float) -> Any:
    if (rng.random(size) < (right if bit else left)).any():
        raise ValueError("no answer")
    return np.zeros(size)


@pytest.mark.parametrize("neighbours", [BITS, SEVERAL])
def test_a_mechanism_that_always_raises_is_inconclusive(neighbours: Any) -> None:
    result = audit(raises, neighbours=neighbours, parameters={"left": 1.0, "right": 1.0})
    assert (result.verdict, result.p_value) == ("inconclusive", None)
    assert "failed on every call" in result.stop_reason
    assert "no answer" in result.stop_reason


@pytest.mark.parametrize("right", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_exceptions_of_one_side_are_a_violation_even_if_the_first_batch_raises_whole(right: float, seed: int) -> None:
    options = {"samples": 2000, "seed": seed, "parameters": {"left": 0.0, "right": right}}
    assert audit(raises, auditor.PureDP(0.5), **options).verdict == "violation"


@pytest.mark.parametrize("output", [None, math.nan, math.inf, "a", [], [1, 2]])
def test_outputs_of_any_kind_that_say_nothing_prove_nothing(output: Any) -> None:
    for claim in (PURE, auditor.ApproximateDP(0.0, 0.0), auditor.GaussianDP(0.0), auditor.ZeroConcentratedDP(0.0)):
        result = audit(lambda bit, rng: output, claim, samples=300)
        assert result.verdict == "inconclusive"
        assert "are identical on both data sets" in result.stop_reason


def test_a_claim_on_a_whole_profile_is_refused() -> None:
    with pytest.raises(AuditorError, match="use method: fixed"):
        audit(laplace, auditor.PrivacyProfile([(1.0, 0.0), (0.5, 0.1)]), parameters={"epsilon": 1.0})


@pytest.mark.parametrize(
    ("claim", "guesses"),
    [(PURE, {"left", "right"}), (auditor.GaussianDP(1.0), {"left", "right"}), (CONCENTRATED, set())],
)
def test_the_outputs_that_were_bet_on_are_shown_with_what_the_last_bets_say(claim: Any, guesses: set[str]) -> None:
    result = audit(gaussian, claim, parameters={"sigma": 1.0}, samples=3_000)
    [shown] = result.illustration.histograms
    assert sum(shown.outputs) == result.outputs.bound
    assert {mark.guess for mark in shown.marks if mark.guess} == guesses
    for mark in shown.marks:
        if mark.guess == "left":  # which is centred at 0, the right at 1
            assert mark.low == -math.inf and mark.high < 1
        elif mark.guess == "right":
            assert mark.low > 0 and mark.high == math.inf
