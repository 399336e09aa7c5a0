"""Noisy totals, and a release that depends on a test."""

from collections.abc import Hashable, Sequence

from auditor.errors import require_number
from mechanisms.exact.distributions import Density, MassFunction, Product, mixture
from mechanisms.exact.known_continuous import gaussian, laplace


def laplace_totals(totals: Sequence[float], scale: float) -> Product:
    """Return each total with independent Laplace noise of this scale (document 002)."""
    return Product(tuple(laplace(float(total), scale) for total in totals))


def gaussian_totals(totals: Sequence[float], scale: float) -> Product:
    """Return each total with independent Gaussian noise of this standard deviation."""
    return Product(tuple(gaussian(float(total), scale) for total in totals))


def test_then_release(chance: float, release: Density, refusal: Hashable = None) -> Density | MassFunction:
    """Return a mechanism that releases an output with probability ``chance`` and else answers ``refusal``.

    The test must be independent of the release, as in propose-test-release (document 001; Dwork & Lei 2009).

    Raises InvalidInputError unless 0 ≤ chance ≤ 1.
    """
    chance = require_number("chance", chance, 0, 1)
    return mixture([1 - chance, chance], [MassFunction({refusal: 0.0}), release])


# pytest collects functions whose name begins with "test_".
test_then_release.__test__ = False  # type: ignore[attr-defined]
