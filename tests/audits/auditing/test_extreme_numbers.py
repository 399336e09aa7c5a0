"""Outputs over the whole range of floats: no sum, difference or power of ten that an audit forms may overflow.

Warnings are errors here. The outputs of the first test do not depend on the data. So a violation would be a false
alarm, and any of 21 audits at level 10⁻⁸ raises one with probability at most 2.1·10⁻⁷.
"""

from typing import Any

import numpy as np
import pytest

from auditor import GaussianDP, PureDP, RenyiDP, Verdict, audit
from auditor.claims import PrivacyClaim

MOST, LEAST = np.finfo(np.float64).max, 5e-324


def largest(share: Any, other: Any) -> Any:
    return share * MOST


def both_ends(share: Any, other: Any) -> Any:
    return np.where(other < 0.5, -1, 1) * (0.95 + 0.05 * share) * MOST


def smallest(share: Any, other: Any) -> Any:
    return np.rint(share * 1e9) * LEAST


def smallest_and_largest(share: Any, other: Any) -> Any:
    return np.where(other < 0.5, share * 1e-310, share * MOST)


def infinite(share: Any, other: Any) -> Any:
    return np.where(other < 0.2, np.inf, np.where(other < 0.4, -np.inf, share * MOST))


def neighbours_of_the_largest(share: Any, other: Any) -> Any:
    return np.where(share < 0.5, MOST, np.nextafter(MOST, 0))


def vectors(share: Any, other: Any) -> Any:
    return np.stack([share * MOST, -other * MOST], axis=1)


@pytest.mark.parametrize(
    "outputs", [largest, both_ends, smallest, smallest_and_largest, infinite, neighbours_of_the_largest, vectors]
)
@pytest.mark.parametrize("claim", [PureDP(0.1), GaussianDP(0.1), RenyiDP(2.0, 0.1)])
def test_an_audit_of_numbers_of_any_size_ends_without_a_warning(outputs: Any, claim: PrivacyClaim) -> None:
    def mechanism(data: list[int], size: int, rng: np.random.Generator) -> Any:
        return outputs(rng.random(size), rng.random(size))

    result = audit(
        mechanism,
        claim,
        [([], [1])],
        samples=4_000,
        seed=1,
        workers=1,
        isolate=False,
        planted=3,
        prove=False,
    )
    assert result.verdict is Verdict.NO_VIOLATION_FOUND


def test_a_threshold_near_the_largest_float_is_made_simpler() -> None:
    def mechanism(data: list[int], size: int, rng: np.random.Generator) -> Any:
        return np.where(rng.random(size) < (0.9 if data else 0.1), -1, 1) * (0.95 + 0.05 * rng.random(size)) * MOST

    result = audit(mechanism, PureDP(0.1), [([], [1]), ([1], [1, 2])], samples=20_000, seed=1, workers=1, isolate=False)
    assert result.verdict is Verdict.VIOLATION
