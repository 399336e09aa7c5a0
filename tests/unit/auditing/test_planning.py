"""Forecasts before any sampling, against the exact power of the test, and the installation's self-check."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

import auditor
from auditor.auditing import foresight
from auditor.auditing.foresight import EXCESS, SHARES, afforded, canaries_needed, foresee, smallest_caught
from auditor.auditing.plan import CHANCES, Plan, Settings
from auditor.auditing.sizes import OF_LAST
from auditor.blackbox.batches import Trial
from auditor.blackbox.mechanism import PythonSource
from auditor.bounds import one_run
from auditor.bounds.divergences import Wager, divergence_bound, payoffs
from auditor.bounds.evidence import Counts, GuessCounts, ScoreCounts
from auditor.bounds.guesses import guess_epsilon, guess_mu
from auditor.bounds.intervals import clopper_pearson_lower
from auditor.bounds.one_run import GuessTally, OneRunGuesses, default_guess_numbers
from auditor.claims import Unclaimed
from auditor.cli import main
from auditor.methods.divergence import FORESEEN_CUT
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import Pairs

ALPHA = 0.01
LAST = OF_LAST * ALPHA  # the level of the last round


def planned(claim: Any, samples: int = 2000, method: str = "fixed") -> Plan:
    return Plan("", PythonSource("m", function=len), claim, Pairs([(0, 1)]), ALPHA, Settings(samples, method))


def counted(wins: int, losses: int, trials: int) -> GuessCounts:
    left = Counts(wins, trials - losses, losses, losses)
    return GuessCounts(left, Counts(0, trials - losses, 0, losses), one_tailed=False)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("chance", [chance for _, chance in CHANCES])
@pytest.mark.parametrize("claimed", [0.2, 1.0])
def test_the_smallest_epsilon_caught_is_refuted_with_the_stated_chance(
    share: float, chance: float, claimed: float
) -> None:
    """Exactly: the sum over the wins of a rule that guesses on that share of the outputs."""
    outputs = 4000
    caught = smallest_caught(planned(auditor.PureDP(claimed), outputs), share, chance)
    guesses = int(share * outputs)
    wins = np.arange(guesses + 1)
    refutes = [guess_epsilon(counted(w, guesses - w, outputs), 0.0, LAST) > claimed for w in wins.tolist()]
    power = binom.pmf(wins, guesses, 1 / (1 + math.exp(-caught)))[refutes].sum() if caught < math.inf else chance
    assert power == pytest.approx(chance, abs=1e-9)
    assert caught > claimed


@pytest.mark.parametrize("chance", [chance for _, chance in CHANCES])
def test_the_smallest_mu_caught_is_refuted_with_the_stated_chance(chance: float) -> None:
    caught = smallest_caught(planned(auditor.GaussianDP(1.0)), 1.0, chance)
    wins = np.arange(2001)
    refutes = [guess_mu(counted(w, 2000 - w, 2000), LAST) > 1.0 for w in wins.tolist()]
    assert binom.pmf(wins, 2000, ndtr(caught / 2))[refutes].sum() == pytest.approx(chance, abs=1e-9)


@pytest.mark.parametrize("chance", [chance for _, chance in CHANCES])
def test_the_smallest_probability_caught_is_refuted_with_the_stated_chance(chance: float) -> None:
    at_most = auditor.Probability(0.1, at_most=True)
    caught = smallest_caught(planned(at_most), 1.0, chance)
    hits = np.arange(2001)
    refutes = clopper_pearson_lower(hits, 2000, LAST) > 0.1
    assert binom.pmf(hits, 2000, caught)[refutes].sum() == pytest.approx(chance, abs=1e-9)
    # The same question about the complementary event.
    at_least = auditor.Probability(0.9, at_least=True)
    assert smallest_caught(planned(at_least), 1.0, chance) == pytest.approx(1 - caught)


def test_of_a_profile_the_point_that_is_caught_first_counts() -> None:
    points = [(1.0, 0.0), (0.5, 0.1)]
    caught = smallest_caught(planned(auditor.PrivacyProfile(points), 20_000), 1.0, 0.8)
    half = [replace(planned(auditor.ApproximateDP(*point), 20_000), alpha=ALPHA / 2) for point in points]
    alone = [smallest_caught(plan, 1.0, 0.8) - epsilon for plan, (epsilon, _) in zip(half, points, strict=True)]
    assert caught == pytest.approx(min(alone))


@pytest.mark.parametrize("chance", [chance for _, chance in CHANCES[:1]])
def test_the_smallest_rho_caught_is_refuted_about_as_often_as_stated(chance: float) -> None:
    """The stated chance is a normal approximation. Of 1000 simulated audits (seeded) of a Gaussian mechanism with the smallest ρ
    caught, the share refuted is within 0.08 of it.

    Five standard errors are 0.063 at most; the rest is for the approximation.
    """
    rho, outputs, runs = 0.5, 20_000, 1000
    caught = smallest_caught(planned(auditor.ZeroConcentratedDP(rho), outputs), 1.0, chance)
    assert rho < caught < 1.5 * rho
    mu, truth = math.sqrt(2 * rho), math.sqrt(2 * caught)
    assert mu < truth
    x = np.linspace(-6, 6 + truth, 200)
    left, right = (np.exp(-((x - m) ** 2) / 2) for m in (0.0, truth))
    p, q = left / left.sum(), right / right.sum()
    values = np.clip(truth**2 / 2 - truth * x, -FORESEEN_CUT, FORESEEN_CUT)
    on_p, on_q = payoffs(1.0, values, rho)
    tilt = float(p @ on_p - q @ on_q) / 2
    spread = math.sqrt(float(p @ (on_p - tilt) ** 2 + q @ (on_q + tilt) ** 2) / 2)
    lowest = float(min((on_p - tilt).min(), (on_q + tilt).min()))
    stake = min(math.sqrt(-2 * math.log(ALPHA) / outputs) / spread, 0.9 / -lowest)
    wager, rng, refuted = Wager(1.0, tuple(values.tolist()), False, stake, tilt), np.random.default_rng(5), 0
    for _ in range(runs):
        half = int(rng.binomial(outputs, 0.5))
        counts = ScoreCounts(
            tuple(rng.multinomial(half, p).tolist()), tuple(rng.multinomial(outputs - half, q).tolist())
        )
        refuted += divergence_bound(wager, counts, ALPHA) > rho
    assert abs(refuted / runs - chance) < 0.08


@pytest.mark.parametrize(
    "claim",
    [
        auditor.PureDP(1.0),
        auditor.ApproximateDP(1.0, 0.01),
        auditor.GaussianDP(1.0),
        auditor.ZeroConcentratedDP(0.5),
        auditor.RenyiDP(2.0, 1.0),
        auditor.Probability(0.1, at_most=True),
    ],
)
def test_the_outputs_needed_catch_what_they_are_needed_for(claim: Any) -> None:
    """With them the violation is caught, and with a twentieth less it is not."""
    for row in foresee(planned(claim)):
        if row.needed == math.inf:
            continue
        power = 2 if isinstance(claim, auditor.ZeroConcentratedDP | auditor.RenyiDP) else 1
        wanted = claim.value * (1 + EXCESS) ** power
        if isinstance(claim, auditor.Probability):
            wanted = claim.probability + EXCESS * (1 - claim.probability)
        assert smallest_caught(planned(claim, int(row.needed)), row.share, row.chance) <= wanted * (1 + 1e-9)
        if row.needed > 250:
            assert smallest_caught(planned(claim, int(0.95 * row.needed)), row.share, row.chance) > wanted


def test_nothing_is_foreseen_where_nothing_is_random() -> None:
    assert foresee(planned(auditor.Sensitivity(1.0))) == []


def with_canaries(claim: Any, number: int, **more: Any) -> Plan:
    canaries = Canaries(list(range(number)), lambda output, canary: 0.0, **more)
    return Plan("", PythonSource("m", function=len), claim, canaries, ALPHA, Settings(method="one-run"))


@pytest.mark.parametrize("apart", [False, True])
def test_the_canaries_that_are_needed_can_refute_and_fewer_cannot(apart: bool) -> None:
    """By all right guesses, with the test itself."""
    claim = auditor.ApproximateDP(8.0, 1e-5)
    plan = with_canaries(claim, 100, apart=apart)
    assert isinstance(plan.neighbours, Canaries)
    assert {row.caught for row in foresee(plan)} == {math.inf}
    needed = int(canaries_needed(plan, plan.neighbours, 0.95, apart=apart))
    assert 5_000 < needed < 50_000
    for number, refutes in ((needed, True), (int(0.97 * needed), False)):
        best = tuple(GuessTally(number, guesses, guesses) for guesses in default_guess_numbers(number))
        assert OneRunGuesses(best, apart).refute(claim, ALPHA) is refutes


def test_the_command_says_how_many_canaries_are_needed(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.py").write_text("def train(records, rng): return 0.0\ndef score(output, canary): return 0.0\n")
    (tmp_path / "c.yaml").write_text(
        "version: 1\nmethod: one-run\naudits:\n- name: few\n  mechanism: c.py:train\n  claim: {epsilon: 1, delta: 0.01}\n"
        "  neighbours: {domain: canaries, canaries: [1, 2, 3], score: 'c.py:score'}\n"
    )
    assert main(["plan", str(tmp_path / "c.yaml")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "too few canaries to refute ε = 1, δ = 0.01, however large the violation; no number of them can; 2" in shown
    assert "with `apart: true`, if you can prove that no canary affects another one's score" in shown


def test_more_outputs_catch_smaller_violations_and_a_surer_catch_takes_a_larger_one() -> None:
    for claim in (auditor.PureDP(1.0), auditor.GaussianDP(1.0), auditor.ZeroConcentratedDP(0.5)):
        few, many = (smallest_caught(planned(claim, n), 1.0, 0.8) for n in (1000, 100_000))
        assert claim.value < many < few
        assert smallest_caught(planned(claim), 1.0, 0.8) < smallest_caught(planned(claim), 1.0, 0.95)


def test_two_intervals_need_more_outputs_than_guesses() -> None:
    claim = auditor.PureDP(1.0)
    two, one = (smallest_caught(planned(claim, method=m), 1.0, 0.8) for m in ("two-intervals", "fixed"))
    assert claim.value < one < two


def test_canaries_to_catch_a_tenth_more_catch_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foresight, "CHANCES", CHANCES[-1:])
    claim = auditor.PureDP(1.0)
    [row] = foresee(with_canaries(claim, 100))

    def caught(number: int) -> float:
        guesses = tuple(GuessTally(number, guesses, 0) for guesses in default_guess_numbers(number))
        return OneRunGuesses(guesses, apart=False).detectable(claim, ALPHA, row.chance)

    assert row.caught == caught(100) > 1 + EXCESS
    assert caught(int(row.needed)) <= 1 + EXCESS < caught(int(row.needed * 0.9))


@pytest.mark.parametrize("apart", [False, True])
def test_the_canaries_that_are_needed_are_found_by_few_evaluations(
    apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evaluation takes up to 2 ms, and a search for the smallest violation at each number took ten times as many."""
    evaluated = list[int]()

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: evaluated.append(1) or function(*given)

    for name in ("_limits_of_independent", "refutes_any_mechanism"):
        monkeypatch.setattr(one_run, name, counting(getattr(one_run, name)))
    foresee(with_canaries(auditor.GaussianDP(0.1), 50, runs=20, apart=apart))
    assert 0 < len(evaluated) < 6_000


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("claim", [auditor.PureDP(1.0), auditor.GaussianDP(0.5), auditor.ApproximateDP(1.0, 1e-5)])
def test_a_value_is_detected_from_the_smallest_that_is(claim: Any, apart: bool) -> None:
    looks = OneRunGuesses(tuple(GuessTally(300, guesses, 0) for guesses in default_guess_numbers(300)), apart)
    least = looks.detectable(claim, ALPHA, 0.8)
    assert claim.value < least < math.inf
    assert looks.detects(claim, ALPHA, 0.8, least + 1e-4)
    assert not looks.detects(claim, ALPHA, 0.8, least - 1e-4)
    assert looks.detects(claim, ALPHA, 0.8, math.inf)


@pytest.mark.parametrize("apart", [False, True])
def test_a_larger_chance_needs_as_many_canaries_whatever_was_known_before(apart: bool) -> None:
    plan = with_canaries(auditor.PureDP(1.0), 100, apart=apart)
    assert isinstance(plan.neighbours, Canaries)
    (few, many), most = [row.needed for row in foresee(plan)], plan.claim.broken_by(EXCESS)
    alone = canaries_needed(plan, plan.neighbours, 0.95, most, apart=apart)
    assert few < many == pytest.approx(alone, rel=0.02)


def test_what_some_minutes_afford_fits_into_them_and_a_little_more_does_not() -> None:
    trial = Trial(same=True, seconds=0.004, numbers=1)
    plan = planned(auditor.PureDP(1.0))
    for seconds in (20.0, 300.0, 3_000.0):
        shown = afforded(plan, trial, seconds)
        assert shown is not None
        assert 0.94 * seconds < plan.with_settings(samples=shown.samples).may_take(trial) <= 1.03 * seconds
        of_samples = plan.with_settings(samples=shown.samples)
        assert shown.scale == smallest_caught(of_samples, 0.1, 0.95)
        assert shown.rate == of_samples.method(shown.samples, share=OF_LAST).rarest(0.95)
    assert afforded(plan, trial._replace(seconds=60.0), 300.0) is None
    assert afforded(planned(Unclaimed()), trial, 300.0) is None
