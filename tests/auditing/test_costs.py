"""Claims under a cost model: leaks by draws, calls and time are found and named, and each has a control."""

import dataclasses
import math
import time
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import cost_control, planned
from auditor.auditing.draw import Draw
from auditor.auditing.pairwise_flow import audit_pairwise
from auditor.blackbox.sample import Sample
from auditor.report.markdown import to_markdown
from auditor.results.result import RunResult

VALUES = auditor.Value([0, 1])
SETTINGS: dict[str, Any] = {"samples": 5_000, "workers": 1, "isolate": False, "planted": 0, "seed": 3}


def geometric(rng: np.random.Generator) -> int:
    heads = 0
    while rng.random() >= 1 - math.exp(-1):
        heads += 1
    return heads


def by_coins(value: int, rng: np.random.Generator) -> int:
    """Its draws tell the noise, and not the data."""
    return value + geometric(rng) - geometric(rng)


def by_retries(value: int, rng: np.random.Generator) -> int:
    """It draws once more on 1: its draws tell the data."""
    rng.random(value)
    return int(rng.random() < 0.5)


def by_work(value: int, rng: np.random.Generator) -> int:
    return sum(len(str(value)) for _ in range(50 + 50 * value)) * 0 + int(rng.random() < 0.5)


def audited(mechanism: Any, epsilon: float, *observe: str, **more: Any) -> auditor.AuditResult:
    return auditor.audit(mechanism, auditor.PureDP(epsilon), VALUES, observe=observe, **{**SETTINGS, **more})  # type: ignore[arg-type]


def test_draws_that_tell_the_noise_are_a_leak_of_the_noise() -> None:
    result = audited(by_coins, 1.1, "draws")
    assert result.verdict == "violation"
    assert result.claimed == "ε = 1.1, under the cost model: draws"
    assert result.control is not None
    assert (result.control.bound, result.control.costs_alone) == (0, 0)
    assert 0 < result.control.value_alone <= 1.1
    [warning] = [warning for warning in result.warnings if "cost model" in warning]
    assert (
        "no violation of ε = 1.1 by the output alone. It is a leak of the noise: draws alone do not depend" in warning
    )
    assert audited(by_coins, 1.1).verdict == "no_violation_found"


def test_draws_that_depend_on_the_data_are_named_so() -> None:
    result = audited(by_retries, 1.0, "draws")
    assert result.verdict == "violation"
    assert any(warning.endswith("draws alone depend on the data") for warning in result.warnings)
    assert result.control is not None
    assert result.control.bound == 0


def test_one_draw_for_each_output_tells_nothing() -> None:
    result = audited(lambda value, rng: int(rng.random() < 0.5), 0.5, "draws")
    assert result.verdict == "no_violation_found"


def test_calls_and_time_show_what_a_mechanism_does() -> None:
    for kind in ("calls", "time"):
        result = audited(by_work, 1.0, kind, samples=4_000)
        assert result.verdict == "violation", kind
        assert result.control is not None
        assert result.control.bound == 0


def test_a_value_that_breaks_the_claim_itself_is_no_leak_of_the_cost() -> None:
    result = audited(lambda value, rng: value + float(rng.laplace(0, 0.2)), 1.0, "draws")
    assert result.verdict == "violation"
    assert any("the output without draws seems to break the claim as well" in warning for warning in result.warnings)


def test_a_control_that_shows_something_leaves_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control is given outputs on both data sets, as if a measurement told the sides apart without them."""
    plan = planned(by_retries, auditor.PureDP(1.0), VALUES, observe=("draws",), **SETTINGS)
    draw = Draw(plan, lambda progress: None)
    seen = audit_pairwise(plan, draw)
    assert seen.refutes(plan.alpha)
    replace = dataclasses.replace

    def not_on_one(thing: Any, **changes: Any) -> Any:
        return thing if "origin" in changes else replace(thing, **changes)

    monkeypatch.setattr(cost_control, "replace", not_on_one)
    after, control = cost_control.controlled(plan, seen, draw)
    assert control is not None
    assert control.bound > 0
    assert not after.refutes(plan.alpha)
    assert "the control, with one data set on both sides, shows ε ≥" in after.found.stop_reason  # type: ignore[union-attr]
    assert after.shrink is None


def test_a_control_draws_on_one_data_set_only() -> None:
    plan = planned(by_retries, auditor.PureDP(1.0), VALUES, observe=("draws",), **SETTINGS)
    draw = Draw(plan, lambda progress: None)
    seen, drawn = audit_pairwise(plan, draw), list[Any]()

    class Watched(Draw):
        def draw(self, batches: Any) -> Sample:
            drawn.append(batches.first.pair)
            return super().draw(batches)

    watched = Watched(plan, lambda progress: None, guard=draw.guard)
    cost_control.controlled(plan, seen, watched)
    [pair] = drawn
    assert pair.left == pair.right


def test_every_form_of_a_report_names_the_cost_model_and_the_control() -> None:
    result = audited(by_coins, 1.1, "draws")
    text = to_markdown(RunResult("run", 0.999, [result]))
    for words in ("under the cost model: draws", "Control, with one data set on both sides: ε ≥ 0.000"):
        assert words in text
        assert words in str(result)
    assert result.to_dict()["tried"]["control"]["bound"] == 0
    assert "control" not in audited(by_coins, 1.1).to_dict()["tried"]


@pytest.mark.parametrize(
    ("observe", "more", "claim"),
    [
        (["draws"], {"method": "sequential"}, auditor.PureDP(1.0)),
        (["stdout"], {}, auditor.Sensitivity(1.0)),
        (["time"], {}, auditor.Sensitivity(1.0)),
    ],
)
def test_what_cannot_be_observed_together_is_refused(observe: Any, more: Any, claim: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match="it goes with a privacy claim on pairs of neighbours"):
        auditor.audit(by_coins, claim, VALUES, observe=observe, **{**SETTINGS, **more})


def test_what_is_written_is_part_of_the_claim_itself() -> None:
    def prints(value: int, rng: np.random.Generator) -> float:
        print(value)
        return float(rng.random())

    result = audited(prints, 1.0, "stdout", samples=1_000)
    assert result.verdict == "violation"
    assert result.claimed == "ε = 1"
    assert result.control is None
    assert result.tried is not None
    assert list(result.tried.observed) == ["stdout"]


def takes_time(value: int, rng: np.random.Generator) -> int:
    return int(rng.random() * 0) + sum(range(200))


@pytest.mark.statistical
def test_time_with_one_data_set_on_both_sides_alarms_at_its_nominal_rate_at_most() -> None:
    """A mechanism that ignores its data, at a confidence of 90 %: alarms of 200 audits exceed 43 with probability below 1e-6."""
    started, alarms, runs = time.monotonic(), 0, 200
    for seed in range(runs):
        alarms += audited(takes_time, 0.3, "time", samples=300, seed=seed, confidence=0.9).verdict == "violation"
    assert alarms <= 43, f"{alarms} of {runs} in {time.monotonic() - started:.0f} s"
