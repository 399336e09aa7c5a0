"""Claims from accountants that users have, by stand-ins with the shape of the libraries' classes."""

import math
from dataclasses import dataclass
from typing import Any

import pytest

import auditor
from auditor.adapters import doubts_of
from auditor.errors import InvalidInputError
from auditor.exact import Composition, FixedSize, Gaussian, Poisson, Process, epsilon_interval
from auditor.libraries.stated import implied_process


def of_module(name: str, **members: Any) -> Any:
    """An object of a class of this module."""
    return type("Accountant", (), {"__module__": name, **members})()


def opacus(history: list[tuple[float, float, int]], epsilon: Any) -> Any:
    return of_module("opacus.accountants.rdp", history=history, get_epsilon=lambda self, delta, **_: epsilon(delta))


def flwr(relation: str, sampling: str, epsilon: float) -> Any:
    event = {"noise_multiplier": 1.0, "sample_size": 10, "population_size": 1_000}
    state = {
        "config": {"target_delta": 1e-5, "neighboring_relation": relation, "sampling_method": sampling},
        "compositions": [{"event": event, "count": 7}],
    }
    return of_module(
        "flwr.supercore.privacy_accounting.rdp_accountant",
        state_dict=lambda self: state,
        get_epsilon=lambda self, delta: epsilon,
    )


@dataclass
class Pfl:
    num_compositions: int = 10
    sampling_probability: float = 0.1
    mechanism: str = "gaussian"
    epsilon: float | None = 3.0
    delta: float | None = 1e-6
    noise_parameter: float = 1.0


Pfl.__module__ = "pfl.privacy.privacy_accountant"
HISTORY = [(1.0, 0.01, 50), (2.0, 0.01, 20)]
PROCESS = Composition(
    tuple(Process(Gaussian(sigma), sampling=Poisson(rate), steps=steps) for sigma, rate, steps in HISTORY)
)


def test_opacus_states_a_profile_or_one_point() -> None:
    stated = opacus(HISTORY, lambda delta: 1000 * delta)
    claim = auditor.claim_of(stated)
    assert isinstance(claim, auditor.PrivacyProfile)
    assert [(point.epsilon, point.delta) for point in claim.profile][-1] == (1e-3, 1e-6)
    assert auditor.claim_of(stated, "add_remove", 1e-5) == auditor.ApproximateDP(0.01, 1e-5)
    assert implied_process(stated) == PROCESS
    with pytest.raises(InvalidInputError, match="accounts for add_remove, but the neighbours are substitute"):
        auditor.claim_of(stated, "substitute")


@pytest.mark.parametrize(("share", "doubted"), [(0.5, True), (0.999, True), (1.001, False), (2.0, False)])
def test_a_claim_below_its_history_is_doubted(share: float, doubted: bool) -> None:
    exact = epsilon_interval(PROCESS, 1e-5, precision=1e-4)
    edge = exact.high if share > 1 else epsilon_interval(PROCESS, 1e-5).low
    stated = opacus(HISTORY, lambda delta: share * edge)
    claim = auditor.claim_of(stated, delta=1e-5)
    assert bool(doubts_of(stated, claim)) == doubted
    if doubted:
        assert "a violation may be the accountant's, and not the mechanism's" in doubts_of(stated, claim)[0]


def test_an_accountant_before_its_first_step_still_states_its_number() -> None:
    assert auditor.claim_of(opacus([], lambda delta: 0.0), delta=1e-5) == auditor.ApproximateDP(0.0, 1e-5)


@pytest.mark.parametrize(
    ("relation", "sampling", "process"),
    [
        ("add-or-remove-one", "poisson", Process(Gaussian(1.0), sampling=Poisson(0.01), steps=7)),
        ("replace-one", "without-replacement", Process(Gaussian(1.0), 1.0, "substitute", FixedSize(0.01), 7)),
        ("add-or-remove-one", "no-amplification", Process(Gaussian(1.0), steps=7)),
    ],
)
def test_flower_says_relation_sampling_and_delta(relation: str, sampling: str, process: Process) -> None:
    stated = flwr(relation, sampling, 2.5)
    assert auditor.claim_of(stated) == auditor.ApproximateDP(2.5, 1e-5)
    assert implied_process(stated) == Composition((process,))
    own = {"add-or-remove-one": "add_remove", "replace-one": "substitute"}[relation]
    assert auditor.claim_of(stated, own) == auditor.ApproximateDP(2.5, 1e-5)
    with pytest.raises(InvalidInputError, match=f"accounts for {own}"):
        auditor.claim_of(stated, "substitute" if own == "add_remove" else "add_remove")


def test_pfl_states_one_point() -> None:
    assert auditor.claim_of(Pfl()) == auditor.ApproximateDP(3.0, 1e-6)
    assert implied_process(Pfl()) == Process(Gaussian(1.0), sampling=Poisson(0.1), steps=10)
    assert auditor.claim_of(Pfl(), delta=1e-6) == auditor.ApproximateDP(3.0, 1e-6)
    with pytest.raises(InvalidInputError, match="states ε for δ = 1e-06 only"):
        auditor.claim_of(Pfl(), delta=1e-5)


def test_any_object_that_states_epsilon_at_a_delta() -> None:
    stated = of_module("somebody.accounting", get_epsilon=lambda self, delta: 1.0 if delta > 0 else math.inf)
    assert auditor.claim_of(stated, "substitute", 1e-5) == auditor.ApproximateDP(1.0, 1e-5)
    assert isinstance(auditor.claim_of(stated), auditor.PrivacyProfile)
    with pytest.raises(InvalidInputError, match="its ε is infinite at δ = 0"):
        auditor.claim_of(stated, delta=0.0)


def test_points_that_are_refused_or_too_large_are_left_out() -> None:
    def epsilon(delta: float) -> float:
        if delta < 1e-5:
            raise ValueError("too small")
        return 600.0 if delta < 0.05 else 400.0

    claim = auditor.claim_of(of_module("somebody.accounting", get_epsilon=lambda self, delta: epsilon(delta)))
    assert isinstance(claim, auditor.PrivacyProfile)
    assert [(point.epsilon, point.delta) for point in claim.profile] == [(400.0, 0.1)]


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (math.inf, "is infinite at every δ"),
        (math.nan, "is not a number at every δ"),
        (600.0, "an ε from 0 to 500"),
        (-1.0, "an ε from 0 to 500"),
    ],
)
def test_what_promises_nothing_is_refused(stated: float, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        auditor.claim_of(of_module("somebody.accounting", get_epsilon=lambda self, delta: stated))


def test_an_accountant_that_fails_is_named_with_its_error() -> None:
    def fails(self: object, delta: float) -> float:
        raise RuntimeError("no orders left")

    with pytest.raises(InvalidInputError, match=r"states no ε: RuntimeError at δ = 0.1: no orders left"):
        auditor.claim_of(of_module("somebody.accounting", get_epsilon=fails))


def test_what_is_no_accountant_names_the_way_out() -> None:
    with pytest.raises(InvalidInputError, match=r"state its numbers: ApproximateDP\(epsilon, delta\)"):
        auditor.claim_of(of_module("somebody.accounting"))
    with pytest.raises(InvalidInputError, match="leave out delta"):
        auditor.claim_of({"epsilon": 1.0}, delta=1e-5)
    with pytest.raises(InvalidInputError, match="delta is 2"):
        auditor.claim_of(Pfl(), delta=2)
