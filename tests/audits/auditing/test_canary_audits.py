"""Audits of mechanisms that run once: coins, scores, several runs, failures, and the whole path from YAML to a report."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canaries_once import NUMBER, one_run, own_place, released

import auditor
from auditor.auditing import foresight, planned
from auditor.auditing.canary_flow import shares_of_looks
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError, MechanismError


def in_batches(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return np.stack([released(dataset, rng) for _ in range(size)])


def with_entropy(dataset: Any) -> Any:
    return released(dataset, np.random.default_rng(np.frombuffer(os.urandom(8), np.uint64)))


def test_a_broken_claim_is_refuted_and_a_sound_one_is_not() -> None:
    sound = one_run(auditor.GaussianDP(1.0), apart=True)
    assert sound.verdict == "no_violation_found"
    assert 0.4 < sound.bound.value < 1 < sound.power["95%"] < 1.7
    broken = one_run(auditor.GaussianDP(1.0), apart=True, parameters={"sigma": 0.5})
    assert broken.verdict == "violation" and 1 < broken.bound.value < 2 and broken.p_value < 1e-6
    assert "if no canary affects another one's score, above the claimed μ = 1" in str(broken)
    # Without the assumption the bound is lower.
    assert 0 < one_run(auditor.GaussianDP(1.0), parameters={"sigma": 0.5}).bound.value < broken.bound.value


def test_of_several_runs_a_refuted_claim_has_no_more() -> None:
    """The levels of all looks sum to the level of the audit, and the bound that is shown holds at its look's share."""
    broken = {"parameters": {"sigma": 0.4}, "apart": True, "runs": 6}
    early = one_run(auditor.GaussianDP(1.0), **broken)
    assert early.verdict == "violation" and early.outputs.bound == early.event.runs == 1
    assert early.stop_reason == "refuted after 1 of 6 runs" and early.judgement.share == shares_of_looks(6)[1]
    alone = one_run(auditor.GaussianDP(1.0), **{**broken, "runs": 1})
    assert early.bound.value < alone.bound.value and early.p_value == pytest.approx(
        alone.p_value / early.judgement.share
    )
    sound = one_run(auditor.GaussianDP(1.0), apart=True, runs=6)
    assert sound.event.runs == 6 and sound.judgement.share + sum(shares_of_looks(6).values()) == pytest.approx(1)


def test_the_same_seed_tosses_the_same_coins_and_another_one_others() -> None:
    first, again, other = (one_run(auditor.GaussianDP(1.0), seed=seed) for seed in (1, 1, 2))
    assert first.event == again.event != other.event
    assert first.reproducible


def test_batch_mechanisms_and_those_with_entropy_of_their_own_run_once_too() -> None:
    assert one_run(auditor.GaussianDP(1.0), in_batches).event.guesses == one_run(auditor.GaussianDP(1.0)).event.guesses
    assert not one_run(auditor.GaussianDP(1.0), with_entropy).reproducible


def test_coins_are_fair_and_independent_of_place_and_run() -> None:
    """Over 20 runs of 400 coins, each rate deviates by 5.5 standard errors with probability below 1e-7."""
    recorded: list[Any] = []

    def noted(dataset: Any, rng: np.random.Generator) -> Any:
        recorded.append(np.isin(np.arange(NUMBER), dataset))
        return np.zeros(NUMBER)

    domain = auditor.Canaries(range(NUMBER), own_place, runs=20)
    auditor.audit(noted, auditor.PureDP(1.0), domain, method="one-run", isolate=False, workers=1)
    coins = np.array(recorded[:20])
    assert abs(coins.mean() - 0.5) < 5.5 * 0.5 / math.sqrt(coins.size)
    assert abs((coins[1:] == coins[:-1]).mean() - 0.5) < 5.5 * 0.5 / math.sqrt(coins[1:].size)
    assert abs((coins[:, 1:] == coins[:, :-1]).mean() - 0.5) < 5.5 * 0.5 / math.sqrt(coins[:, 1:].size)


def test_one_run_canaries_and_a_claim_of_privacy_go_together() -> None:
    domain = auditor.Canaries(range(5), own_place)
    for claim, neighbours, method in (
        (auditor.PureDP(1.0), domain, "fixed"),
        (auditor.PureDP(1.0), [(0, 1)], "one-run"),
        (auditor.Sensitivity(1.0), domain, "one-run"),
    ):
        with pytest.raises(InvalidInputError, match="go together"):
            auditor.audit(released, claim, neighbours, method=method, workers=1, isolate=False)  # type: ignore[arg-type]


def test_a_score_that_cannot_be_had_is_an_error() -> None:
    with pytest.raises(MechanismError, match="has no nothing"):
        one_run(auditor.GaussianDP(1.0), score=f"{__name__}:nothing")


def test_a_delta_above_the_error_cannot_be_refuted_where_canaries_may_affect_each_other() -> None:
    claim = auditor.ApproximateDP(1.0, 0.05)
    blind = one_run(claim, parameters={"sigma": 3.0})
    [warning] = blind.warnings
    assert "without `apart`, no number of canaries can refute this claim" in warning
    assert math.isinf(blind.power["95%"])
    assert one_run(claim, parameters={"sigma": 3.0}, apart=True).power["95%"] < 3


@pytest.mark.parametrize("file", ["opacus.yaml", "adaptive_clipping.yaml"])
def test_the_example_of_a_library_is_complete(file: str) -> None:
    """Its verdicts need the library; here the example is only loaded, and its program must be valid Python."""
    folder = Path(__file__).parents[3] / "examples" / "opacus"
    plans = load_configuration(folder / file).plans
    assert {str(plan.expect) for plan in plans} == {"violation", "no_violation_found"}
    for plan in plans:
        assert plan.source.command is not None
        program = plan.source.command.arguments[1]
        compile((folder / program).read_text(encoding="utf-8"), program, "exec")


def test_more_runs_prove_more() -> None:
    one, several = (one_run(auditor.GaussianDP(1.0), apart=True, runs=runs) for runs in (1, 9))
    assert one.bound.value < several.bound.value < 1
    assert several.outputs.bound == 9
    assert several.event.runs == 9
    assert several.event.guesses[-1][0] <= 9 * NUMBER
    assert several.power["95%"] < one.power["95%"]


def test_what_would_be_caught_is_known_before() -> None:
    domain = auditor.Canaries(range(NUMBER), own_place, apart=True)
    plan = planned(
        released, auditor.GaussianDP(1.0), domain, method="one-run", confidence=0.99, workers=1, isolate=False
    )
    caught = {row.chance: row.caught for row in foresight.foresee(plan)}
    result = one_run(auditor.GaussianDP(1.0), apart=True)
    assert caught == {0.8: pytest.approx(result.power["80%"]), 0.95: pytest.approx(result.power["95%"])}
