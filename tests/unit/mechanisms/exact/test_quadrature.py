"""The quadrature beneath the exact divergences: rules by their degree, meshes by integrals with closed forms."""

import math

import numpy as np
import pytest

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import Density, Reals
from mechanisms.exact.divergences import exact_delta
from mechanisms.exact.known_continuous import gaussian, laplace
from mechanisms.exact.quadrature import GAUSS, KRONROD, NODES, Mesh, integrate, make_mesh, peaks_between


def test_rules_integrate_polynomials_of_their_degree_and_no_more() -> None:
    """∫ x^k over [−1, 1] is 2/(k + 1) for even k: 7 Gauss nodes are exact to degree 13, 15 Kronrod nodes to 23."""
    for rule, degree in ((GAUSS, 13), (KRONROD, 23)):
        for k in range(0, degree + 1, 2):
            assert rule @ NODES**k == pytest.approx(2 / (k + 1), abs=2e-15)
        assert abs(rule @ NODES ** (degree + 1) - 2 / (degree + 2)) > 1e-9
    assert np.array_equal(NODES, -NODES[::-1])


def cauchy(outputs: Reals) -> Reals:
    return -math.log(math.pi) - 2 * np.log(np.hypot(1.0, outputs))


def both(mesh: Mesh) -> tuple[Reals, Reals, Reals]:
    nowhere = np.zeros(1)
    return np.stack([np.exp(mesh.left), np.exp(mesh.right)]), nowhere, nowhere


@pytest.mark.parametrize(("location", "scale"), [(0.0, 1.0), (5.0, 1e-6), (-1e6, 3.0), (0.0, 1e8)])
def test_integrals_over_the_whole_line_are_within_their_error(location: float, scale: float) -> None:
    """A heavy tail and a narrow or wide peak far from the other breakpoint; both integrate to 1.

    Nodes are doubles, and miss their places by up to 1e-16 of the location, divided by the scale.
    """
    peak = gaussian(location, scale)
    mesh = make_mesh((cauchy, peak.log_density), (0.0, *peak.breakpoints))
    _, totals, errors = integrate(mesh, both, 1e-12)
    assert np.all(np.abs(totals - 1) <= errors + 1e-14 + 1e-16 * abs(location) / scale)
    assert np.all(errors <= 1e-12)


def test_a_peak_between_nodes_is_no_higher_than_the_slopes_beside_it_allow() -> None:
    """A concave function whose top lies in a gap: its rise above the nodes beside the gap is bounded."""
    top = 0.3123
    mesh = make_mesh((lambda y: -((y - top) ** 2), cauchy), (-1.0, 1.0))
    rises = peaks_between(mesh, mesh.left)
    nearest = np.argsort(np.abs(mesh.outputs - top), axis=None)[0]
    assert -mesh.left.ravel()[nearest] <= rises.ravel()[nearest] <= 0.1
    assert np.count_nonzero(rises) <= 4  # elsewhere it rises on one side only


def test_a_peak_that_no_breakpoint_announces_is_an_error_not_a_smaller_answer() -> None:
    hidden = Density(gaussian(700.0, 1e-9).log_density, (0.0,))
    with pytest.raises(InvalidInputError, match="breakpoints"):
        exact_delta(hidden, gaussian(0.0, 1.0), 1.0)


def test_a_log_density_that_is_nan_or_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="NaN"):
        exact_delta(Density(lambda y: np.full_like(y, np.nan), (0.0,)), laplace(0, 1), 1.0)
    with pytest.raises(InvalidInputError, match="shape"):
        exact_delta(Density(np.sum, (0.0,)), laplace(0, 1), 1.0)
