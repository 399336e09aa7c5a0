"""Events and accountants of dp-accounting as claims, and callables that state an event.

Audits are seeded, and pass with these seeds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from installed import library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapter_of
from auditor.libraries.dp_accounting import from_dp_event

QUICK: dict[str, Any] = {"samples": 20_000, "search": 4000, "workers": 1, "isolate": False, "seed": 1}
NEIGHBOURS = auditor.Records((0, 1), size=(0, 5))


@dataclass
class NoisySum:
    """A sum of numbers in [0, 1] with Gaussian noise."""

    scale: float
    dp_event: Any

    def __call__(self, records: Any, size: int, rng: np.random.Generator) -> Any:
        return records.sum() + rng.normal(0, self.scale, size)


def test_the_relation_must_be_said() -> None:
    noisy = NoisySum(1.0, None)
    assert adapter_of(noisy) is from_dp_event
    assert adapter_of(NoisySum) is None
    with pytest.raises(InvalidInputError, match="give `relation`"):
        auditor.audit(noisy, neighbours=NEIGHBOURS)
    with pytest.raises(InvalidInputError, match='relation is "substituted"; did you mean "substitute"'):
        auditor.audit(noisy, neighbours=NEIGHBOURS, parameters={"relation": "substituted"})


def test_a_claim_that_is_given_needs_no_relation() -> None:
    given = auditor.audit(NoisySum(1.0, None), auditor.GaussianDP(1.0), NEIGHBOURS, **QUICK)
    assert given.verdict == "no_violation_found"


@pytest.mark.parametrize(("scale", "verdict"), [(1.0, "no_violation_found"), (0.4, "violation")])
def test_the_event_is_the_claim(scale: float, verdict: str) -> None:
    dp = library("dp_accounting", "dp-accounting")
    noisy = NoisySum(scale, dp.GaussianDpEvent(1.0))
    result = auditor.audit(noisy, neighbours=NEIGHBOURS, parameters={"relation": "add_remove"}, **QUICK)
    assert result.verdict == verdict, str(result)
    assert result.claim == auditor.GaussianDP(1.0)


def test_an_exchanged_record_counts_twice() -> None:
    dp = library("dp_accounting", "dp-accounting")
    claims = [
        from_dp_event(NoisySum(1.0, dp.GaussianDpEvent(1.0)), relation=relation).claim
        for relation in ("add_remove", "substitute")
    ]
    assert claims == [auditor.GaussianDP(1.0), auditor.GaussianDP(2.0)]


def test_what_is_computed_is_what_dp_accounting_computes() -> None:
    dp = library("dp_accounting", "dp-accounting")
    losses = library("dp_accounting.pld", "dp-accounting")
    sampled = dp.PoissonSampledDpEvent(0.1, dp.GaussianDpEvent(1.0))
    for event in (dp.SelfComposedDpEvent(sampled, 20), dp.ComposedDpEvent([sampled, dp.GaussianDpEvent(3.0)])):
        for relation, theirs in (("add_remove", "ADD_OR_REMOVE_ONE"), ("substitute", "REPLACE_ONE")):
            accountant = losses.PLDAccountant(getattr(dp.NeighboringRelation, theirs)).compose(event)
            for delta in (1e-2, 1e-5):
                claim = auditor.claim_of(event, relation, delta)
                assert isinstance(claim, auditor.ApproximateDP)
                assert accountant.get_epsilon(delta) * 0.995 <= claim.epsilon <= accountant.get_epsilon(delta) * 1.01


def test_a_distribution_states_a_profile() -> None:
    losses = library("dp_accounting.pld.privacy_loss_distribution", "dp-accounting")
    claim = auditor.claim_of(losses.from_laplace_mechanism(1.0))
    assert isinstance(claim, auditor.PrivacyProfile)
    assert all(point.epsilon <= 1.001 for point in claim.profile)
    assert auditor.claim_of(losses.from_laplace_mechanism(1.0), delta=1e-6).to_dict()["delta"] == 1e-6


def test_a_special_record_is_no_relation_of_a_domain() -> None:
    special = accountant("PLD", "REPLACE_SPECIAL")
    assert isinstance(auditor.claim_of(special), auditor.PrivacyProfile)
    with pytest.raises(InvalidInputError, match="no domain has this relation; list such pairs"):
        auditor.claim_of(special, "substitute")


def test_an_accountant_that_states_less_than_it_accounts_for_is_named_in_the_report() -> None:
    noisy = accountant("RDP", "REPLACE_ONE")
    options = QUICK | {"samples": 100_000}
    result = auditor.audit(noisy_sum, noisy, SIGNED["substitute"], **options)
    assert result.verdict == "violation"
    assert any("a violation may be the accountant's" in warning for warning in result.warnings)
    for kind, relation in (("PLD", "REPLACE_ONE"), ("RDP", "ADD_OR_REMOVE_ONE")):
        plan = planned(
            noisy_sum, accountant(kind, relation), SIGNED[{"R": "substitute", "A": "add_remove"}[relation[0]]]
        )
        assert plan.assumptions == ()


def test_what_dp_accounting_cannot_account_for_is_refused() -> None:
    dp = library("dp_accounting", "dp-accounting")
    with pytest.raises(InvalidInputError, match="cannot account for the event under substitute"):
        from_dp_event(
            NoisySum(1.0, dp.SampledWithReplacementDpEvent(9, 3, dp.GaussianDpEvent(1.0))), relation="substitute"
        )
    with pytest.raises(InvalidInputError, match="promises nothing"):
        from_dp_event(NoisySum(1.0, dp.NonPrivateDpEvent()), relation="add_remove")
    concentrated = from_dp_event(NoisySum(1.0, lambda: dp.ZCDpEvent(0.5)), relation="add_remove")
    assert concentrated.claim == auditor.ZeroConcentratedDP(0.5)
    both = dp.ComposedDpEvent([dp.ZCDpEvent(0.5), dp.SelfComposedDpEvent(dp.ZCDpEvent(0.25), 3)])
    assert auditor.claim_of(both, "substitute") == auditor.ZeroConcentratedDP(1.25)
    assert auditor.claim_of(dp.LaplaceDpEvent(2.0), "add_remove") == auditor.PureDP(0.5)
    assert auditor.claim_of(dp.LaplaceDpEvent(2.0), "substitute") == auditor.PureDP(1.0)


# --- An event or an accountant as the claim itself ---

SIGNED = {
    relation: auditor.Records((-1, 1), size=(1, 5), relation=relation) for relation in ("add_remove", "substitute")
}


def noisy_sum(records: Any, size: int, rng: np.random.Generator) -> Any:
    return records.sum() + rng.normal(0, 1, size)


def accountant(kind: str, relation: str) -> Any:
    """One Gaussian release of multiplier 1, as an accountant sees it."""
    dp = library("dp_accounting", "dp-accounting")
    module = library(f"dp_accounting.{kind.lower()}", "dp-accounting")
    made = getattr(module, "RdpAccountant" if kind == "RDP" else "PLDAccountant")
    return made(neighboring_relation=getattr(dp.NeighboringRelation, relation)).compose(dp.GaussianDpEvent(1.0))


def test_a_bare_event_is_the_claim_under_the_relation_of_the_domain() -> None:
    dp = library("dp_accounting", "dp-accounting")
    event = dp.GaussianDpEvent(1.0)
    for relation, domain in SIGNED.items():
        plan = planned(noisy_sum, event, domain)
        assert plan.claim == auditor.claim_of(event, relation)
        assert auditor.audit(noisy_sum, event, domain, **QUICK).verdict == "no_violation_found"
    with pytest.raises(InvalidInputError, match="has a different claim for each relation; give `relation`"):
        auditor.audit(noisy_sum, event, [([0], [1])])


def test_accountants_are_audited_against_each_other_and_the_mechanism() -> None:
    """google/differential-privacy#378: by Rényi divergences, dp-accounting 0.6.0 counts an exchanged record once."""
    both = {kind: auditor.claim_of(accountant(kind, "REPLACE_ONE")) for kind in ("RDP", "PLD")}
    assert both["RDP"] == auditor.claim_of(accountant("RDP", "ADD_OR_REMOVE_ONE"))
    options = QUICK | {"samples": 100_000}
    verdicts = {
        kind: auditor.audit(noisy_sum, claim, SIGNED["substitute"], **options).verdict for kind, claim in both.items()
    }
    assert verdicts == {"RDP": "violation", "PLD": "no_violation_found"}
    added = auditor.audit(noisy_sum, accountant("RDP", "ADD_OR_REMOVE_ONE"), SIGNED["add_remove"], **options)
    assert added.verdict == "no_violation_found"
    with pytest.raises(InvalidInputError, match="accounts for ADD_OR_REMOVE_ONE, but the neighbours are substitute"):
        auditor.audit(noisy_sum, accountant("RDP", "ADD_OR_REMOVE_ONE"), SIGNED["substitute"])
