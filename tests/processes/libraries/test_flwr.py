"""Rounds of Flower's strategies: unequal weights, a missing reply and a client without a change are found, and the rest passes.

Seeds are fixed, and a sound round raises a false alarm with probability below 1e-9.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import QUICK, library
from pages import does_what_it_shows
from starters import verdicts_of_starter

import auditor
from auditor.adapters import adapt_object
from auditor.auditing import planned
from auditor.cli import main
from auditor.errors import InvalidInputError

library("flwr", "training/flwr")
messages, results = (
    library("flwr.serverapp.strategy", "training/flwr"),
    library("flwr.server.strategy", "training/flwr"),
)
mods = library("flwr.clientapp.mod", "training/flwr")

CLIENTS = 3
CLEAN = {"size": (CLIENTS, CLIENTS), "weights": (1, 1), "unchanged": False}
SETTINGS = {**QUICK, "planted": 0}


def strategy(module: Any = messages, kind: str = "DifferentialPrivacyServerSideFixedClipping") -> Any:
    return getattr(module, kind)(module.FedAvg(), 1.0, 1.0, CLIENTS)


@pytest.mark.parametrize("module", [messages, results], ids=["messages", "results"])
@pytest.mark.parametrize("side", ["Server", "Client"])
def test_a_round_clips_each_reply_and_adds_noise_to_their_mean(module: Any, side: str) -> None:
    """The mean of 2,000 rounds is within 6 standard errors of the mean of clipped updates: fails with probability below 1e-7."""
    kind = f"DifferentialPrivacy{side}SideFixedClipping"
    round_ = adapt_object(strategy(module, kind), CLEAN).mechanism
    rng = np.random.default_rng(0)
    replies = np.array([[10.0, 0, 0, 0, 1], [0, 10.0, 0, 0, 1], [0, 0.5, 0, 0, 1]])
    outputs = np.array([round_(replies, rng) for _ in range(400)])
    error = 1 / CLIENTS / np.sqrt(len(outputs))
    assert np.abs(outputs.mean(axis=0) - np.array([1, 1.5, 0, 0]) / 3).max() < 6 * error
    assert abs(outputs.std() - 1 / CLIENTS) < 0.15


def test_calls_repeat_by_the_seed_and_leave_the_strategy_alone() -> None:
    adaptive = results.DifferentialPrivacyServerSideAdaptiveClipping(results.FedAvg(), 0.5, 20)
    before = adaptive.clipping_norm
    round_ = adapt_object(adaptive, {}).mechanism
    replies = np.ones((20, 5))
    assert round_(replies, np.random.default_rng(1)) == round_(replies, np.random.default_rng(1))
    assert round_(replies, np.random.default_rng(1)) != round_(replies, np.random.default_rng(2))
    assert adaptive.clipping_norm == before


@pytest.mark.parametrize(
    "more", [{"weights": (1, 100)}, {"size": (2, 2)}, {"unchanged": True}], ids=["weights", "a reply", "no change"]
)
def test_a_round_that_is_not_as_configured_is_found(more: dict[str, Any]) -> None:
    result = auditor.audit(strategy(), parameters={**CLEAN, **more}, **SETTINGS)
    assert result.verdict == "violation"


def test_a_round_as_configured_passes_and_says_which_relation_it_has() -> None:
    result = auditor.audit(strategy(results), parameters=CLEAN, **{**SETTINGS, "samples": 3_000, "search": 1_000})
    assert result.verdict == "no_violation_found"
    assert str(result.claim) == "μ = 2"
    assert any("twice the μ is claimed here" in str(warning) for warning in result.warnings)


def test_the_claim_of_adaptive_clipping_is_that_of_both_releases() -> None:
    adaptive = results.DifferentialPrivacyServerSideAdaptiveClipping(results.FedAvg(), 0.5, 20)
    assert str(planned(adaptive, None, None).claim) == "μ = 4"
    assert str(planned(adaptive, None, None, parameters={"relation": "add_remove"}).claim) == "μ = 2"


def test_local_noise_has_the_claim_that_it_states_for_any_two_updates() -> None:
    """Clipping leaves 1 of 10, and 400 numbers show noise of √(2 ln 125)/4 to within 20 %: six standard errors are 0.16."""
    local = mods.LocalDpMod(1.0, 1.0, 4.0, 1e-2)
    plan = planned(local, None, None, parameters={"unchanged": False})
    assert str(plan.claim) == "ε = 4, δ = 0.01"
    mechanism = adapt_object(local, {}).mechanism
    update, rng = np.array([[10.0, 0, 0, 0]]), np.random.default_rng(0)
    outputs = np.array([mechanism(update, rng) for _ in range(100)])
    deviation = np.sqrt(2 * np.log(125)) / 4
    assert abs(outputs.mean(axis=0)[0] - 1) < 6 * deviation / 10
    assert abs((outputs - [1, 0, 0, 0]).std() / deviation - 1) < 0.25


def test_what_has_no_noise_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has no noise of its own"):
        auditor.audit(messages.FedAvg())
    with pytest.raises(InvalidInputError, match="nothing is promised"):
        auditor.audit(messages.DifferentialPrivacyServerSideFixedClipping(messages.FedAvg(), 0.0, 1.0, CLIENTS))


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This runs the page's blocks that need the framework, which the test of all pages leaves out."""
    does_what_it_shows("docs/how-to/training", tmp_path, monkeypatch, by="tests/processes/libraries/test_flwr.py")


def test_a_starter_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--round", "flwr"]) == 0
    assert main(["check", "audit.yaml"]) == 0


def test_a_strategy_of_ones_own_is_audited_from_the_starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round as configured passes, and what else happens in a round is found."""
    monkeypatch.chdir(tmp_path)
    own = {"noise_multiplier=1.0, clipping_norm=1.0": "noise_multiplier=0.8, clipping_norm=2.0"}
    verdicts = verdicts_of_starter("round", "flwr", tmp_path, own)
    assert verdicts.pop("a round as configured") == "no_violation_found"
    assert set(verdicts.values()) == {"violation"} and len(verdicts) == 3
