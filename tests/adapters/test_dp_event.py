"""Callables that state an event of dp-accounting. Audits are seeded: no false failure but that of seeds that were seen to pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from adapters.libraries import library

import auditor
from auditor.adapters.adapted import adapter_of
from auditor.adapters.dp_event import from_dp_event
from auditor.errors import InvalidInputError

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
    with pytest.raises(InvalidInputError, match="say `relation`"):
        auditor.audit(noisy, neighbours=NEIGHBOURS)
    with pytest.raises(InvalidInputError, match='relation is "substituted"; did you mean "substitute"'):
        auditor.audit(noisy, neighbours=NEIGHBOURS, parameters={"relation": "substituted"})


def test_a_claim_that_is_given_needs_no_relation() -> None:
    assert (
        auditor.audit(NoisySum(1.0, None), auditor.GaussianDP(1.0), NEIGHBOURS, **QUICK).verdict == "no_violation_found"
    )


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
