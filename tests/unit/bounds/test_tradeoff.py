"""The trade-off curve of correct against wrong guesses that a claim allows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from auditor.bounds.conversions import TradeoffCurve, implied_delta, tradeoff_curve
from auditor.claims import ApproximateDP, GaussianDP, PrivacyProfile, PureDP, RenyiDP, ZeroConcentratedDP


def right_at(curve: TradeoffCurve, wrong: float) -> float:
    return float(np.interp(wrong, curve.wrong, curve.right))


@given(
    points=st.lists(st.tuples(st.floats(0, 5), st.floats(0, 0.9)), min_size=1, max_size=6),
    share=st.floats(0.001, 1.0),
)
def test_the_curve_is_the_lowest_of_all_lines(points: list[tuple[float, float]], share: float) -> None:
    """For shares of wrong guesses up to where right and wrong guesses together are all outputs."""
    epsilons, deltas = np.array(points).T
    curve = TradeoffCurve.of(epsilons, deltas)
    wrong = share * curve.wrong[-1]
    assert right_at(curve, wrong) == pytest.approx(float(np.min(np.exp(epsilons) * wrong + deltas)), rel=1e-9)
    assert curve.right[-1] + curve.wrong[-1] == pytest.approx(1)
    assert float(np.min(np.exp(epsilons) * curve.wrong[-1] + deltas)) == pytest.approx(curve.right[-1])


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 2.0, 8.0, 30.0])
def test_the_lines_of_mu_allow_no_less_than_gaussian_noise_does_and_hardly_more(mu: float) -> None:
    curve = tradeoff_curve(GaussianDP(mu))
    t = np.linspace(0.0, mu / 2 + 6, 997)  # guess if the log-ratio is at least μt
    wrong, right = ndtr(-mu / 2 - t), ndtr(mu / 2 - t)
    allowed = np.interp(wrong, curve.wrong, curve.right)
    assert np.all(allowed >= right * (1 - 1e-9))
    assert np.all(allowed <= right * (1 + (1e-3 if mu < 10 else 1e-2)) + 1e-9)
    # The least error if a share of all outputs is guessed on.
    assert np.allclose(curve.least_wrong_rate(wrong + right), wrong, rtol=2e-3 if mu < 10 else 0.1)


def test_pure_and_approximate_privacy_are_one_line() -> None:
    curve = tradeoff_curve(ApproximateDP(math.log(3), 0.2))
    assert curve.wrong.tolist() == pytest.approx([0.0, 0.2])
    assert curve.right.tolist() == pytest.approx([0.2, 0.8])
    assert tradeoff_curve(PureDP(0.0)).right.tolist() == [0.0, 0.5]


@pytest.mark.parametrize("claim", [RenyiDP(8, 0.5), ZeroConcentratedDP(0.125)])
def test_divergences_allow_what_gaussian_noise_within_them_does(claim: RenyiDP | ZeroConcentratedDP) -> None:
    """For μ = ½, ρ is 1/8, and D of order 8 is 1; for half of that, μ is √(1/8)."""
    mu = math.sqrt(2 * claim.gaussian_rho)
    inner, outer = tradeoff_curve(GaussianDP(mu)), tradeoff_curve(claim)
    wrong = np.linspace(0.01, 0.99, 50) * min(inner.wrong[-1], outer.wrong[-1])
    allowed = np.interp(wrong, outer.wrong, outer.right)
    assert np.all(allowed >= np.interp(wrong, inner.wrong, inner.right))
    # Nor does it exceed any line R ≤ e^ε W + δ(ε).
    lines = [np.exp(epsilon) * wrong + implied_delta(claim, float(epsilon)) for epsilon in np.linspace(0, 5, 400)]
    assert np.all(allowed <= np.min(lines, axis=0) * (1 + 1e-3))


def test_a_profile_is_shifted_as_a_whole() -> None:
    claim = PrivacyProfile([(0.5, 0.1), (1.0, 1e-5)])
    assert claim.with_value(0.25) == PrivacyProfile([(0.75, 0.1), (1.25, 1e-5)])
    assert claim.with_value(-0.75) == PrivacyProfile([(0.0, 0.1), (0.25, 1e-5)])
