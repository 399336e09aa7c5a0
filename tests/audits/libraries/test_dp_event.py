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
    # Balle & Wang (2018), Theorem 8, at μ = 1.
    assert isinstance(result.claim, auditor.PrivacyProfile)
    from mechanisms.exact.known_continuous import gaussian_epsilon

    for point in result.claim.profile:
        exact = gaussian_epsilon(1.0, point.delta)
        assert exact - 1e-9 <= point.epsilon <= exact + 1e-3


def test_an_exchanged_record_counts_twice() -> None:
    dp = library("dp_accounting", "dp-accounting")
    claims = [
        from_dp_event(NoisySum(1.0, dp.GaussianDpEvent(1.0)), relation=relation).claim
        for relation in ("add_remove", "substitute")
    ]
    assert all(isinstance(claim, auditor.PrivacyProfile) for claim in claims)
    one, two = ([point.epsilon for point in claim.profile] for claim in claims)  # type: ignore[union-attr]
    assert all(a < b for a, b in zip(one, two, strict=True))


def test_what_dp_accounting_cannot_account_for_is_refused() -> None:
    dp = library("dp_accounting", "dp-accounting")
    with pytest.raises(InvalidInputError, match="cannot account for the event under substitute"):
        from_dp_event(NoisySum(1.0, dp.LaplaceDpEvent(1.0)), relation="substitute")
    with pytest.raises(InvalidInputError, match="promises nothing"):
        from_dp_event(NoisySum(1.0, dp.NonPrivateDpEvent()), relation="add_remove")
    concentrated = from_dp_event(NoisySum(1.0, lambda: dp.ZCDpEvent(0.5)), relation="add_remove")
    assert concentrated.claim == auditor.ZeroConcentratedDP(0.5)


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
