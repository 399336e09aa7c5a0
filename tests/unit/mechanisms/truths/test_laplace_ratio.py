"""The ratio of Laplace variables: closed form against its defining integral, samples, and the claims of document 000."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from mechanisms.exact.divergences import exact_delta, exact_epsilon, hockey_stick, renyi_divergence
from mechanisms.truths.laplace_ratio import ksw_ratio, laplace_ratio

TOTALS = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (3.0, 7.0), (-2.0, 5.0), (4.0, -1.5), (30.0, 20.0), (5.0, 0.0)]


def density_by_quadrature(r: float, a: float, b: float, scale_a: float, scale_b: float) -> float:
    """Return ∫ |t| f_N(rt) f_D(t) dt piece by piece; tails are cut off where they are below e^−60."""
    kinks = [0.0, b] + ([a / r] if r != 0 and abs(a / r) < 1e4 else [])
    edge = 60 * (scale_a + scale_b)
    ends = sorted({min(kinks) - edge, *kinks, max(kinks) + edge})

    def integrand(t: float) -> float:
        exponent = abs(r * t - a) / scale_a + abs(t - b) / scale_b
        return abs(t) * math.exp(-exponent) / (4 * scale_a * scale_b)

    pieces = itertools.pairwise(ends)
    return sum(quad(integrand, low, high, epsabs=0, epsrel=1e-11, limit=200)[0] for low, high in pieces)


@pytest.mark.parametrize(("a", "b"), TOTALS)
def test_closed_form_is_the_defining_integral(a: float, b: float) -> None:
    """Everywhere, including 0, ±1 and a/b, where pieces degenerate, and points next to them."""
    special = [0.0, 1.0, -1.0, 2.0, -0.3, 17.0, 1 + 1e-9, 1e-9, -1e-6, *([a / b, a / b + 1e-7] if b else [])]
    for scale_a, scale_b in ((1.0, 1.0), (2.0, 0.7)):
        density = laplace_ratio(a, b, scale_a, scale_b)
        computed = np.exp(density.log_density(np.array(special)))
        truth = [density_by_quadrature(r, a, b, scale_a, scale_b) for r in special]
        assert computed == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), TOTALS)
def test_the_share_is_its_defining_integral(a: float, b: float) -> None:
    """KSW directly: ∫ |t| f_ones(rt) f_zeros((1 − r)t) dt, with t = ones + zeros and no bijection."""
    for r in (0.5, 0.25, 0.9999, 1.0, 1.7, -0.4, 40.0):
        kinks = sorted({0.0, *([a / r] if r else []), *([(b - a) / (1 - r)] if r != 1 else [])})
        ends = [kinks[0] - 200, *kinks, kinks[-1] + 200] if abs(kinks[-1] - kinks[0]) < 1e4 else None
        if ends is None:
            continue

        def integrand(t: float, r: float = r) -> float:
            return abs(t) / 4 * math.exp(-abs(r * t - a) - abs((1 - r) * t - (b - a)))

        truth = sum(quad(integrand, u, v, epsabs=0, epsrel=1e-11, limit=400)[0] for u, v in itertools.pairwise(ends))
        computed = float(np.exp(ksw_ratio(a, b, 1.0).log_density(np.array([r])))[0])
        assert computed == pytest.approx(truth, rel=1e-8)


def test_log_densities_do_not_underflow() -> None:
    """a = b = 5000 at r = −1: both |−t − a| + |t − b| = 10⁴ on [−5000, 5000], and f = e^(−10⁴)(b²/2·2 + …)/4."""
    a = 5000.0
    computed = laplace_ratio(a, a, 1.0).log_density(np.array([-1.0]))[0]
    # ¼ e^(−2a) (2·a²/2 + 2·(a/2 + 1/4)): the middle piece, and two tails of slope 2 from |t| = a.
    assert computed == pytest.approx(-2 * a + math.log((a * a + a + 0.5) / 4), rel=1e-13)


def test_errors_cover_a_much_finer_computation() -> None:
    """δ of a pair against the midpoint rule on 400,000 cells of y = tan θ, on which both tails are smooth."""
    left, right = laplace_ratio(3, 7, 1.0), laplace_ratio(4, 8, 1.0)
    width = math.pi / 400_000
    theta = (np.arange(400_000) + 0.5) * width - math.pi / 2
    outputs, stretch = np.tan(theta), 1 / np.cos(theta) ** 2
    p, q = (np.exp(side.log_density(outputs)) * stretch for side in (left, right))
    for epsilon in (0.0, 0.5, 1.2):
        fine = np.sum(np.maximum(p - math.exp(epsilon) * q, 0)) * width
        computed = hockey_stick(left, right, epsilon)
        assert computed.error < 1e-11
        assert (
            abs(computed.value - fine) <= computed.error + 1e-10
        )  # at kinks the midpoint rule errs by its width squared
    fine = math.log(np.sum(p**6 * q**-5.0) * width) / 5
    computed = renyi_divergence(left, right, 6.0)
    assert abs(computed.value - fine) <= computed.error + 1e-10


def test_large_totals_are_resolved() -> None:
    """With half a million people the peak has a relative width of 1e-6."""
    a, b = 250_000.0, 500_000.0
    left, right = laplace_ratio(a, b, 2.0), laplace_ratio(a + 1, b + 1, 2.0)
    computed = exact_epsilon(left, right, 1e-5)
    # Near the peak R ≈ a/b + (N' − (a/b) D')/b: the noise N − D/2 moves by ½ at scale 2, and N' itself by 1.
    assert 0.2 < computed.value < 0.5
    assert computed.error < 1e-6


def neighbours(a: int, b: int) -> list[tuple[int, int]]:
    return [(a, b + 1), (a + 1, b + 1)]


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (1, 1), (2, 5), (40, 41), (200, 400)])
def test_document_000_keeps_its_claims_under_add_and_remove(a: int, b: int) -> None:
    """Row 5 and row 8: both at most ε; KSW exactly ε, as one of its two totals moves by 1 at scale 1/ε."""
    epsilon = 0.8
    for more in neighbours(a, b):
        naive = exact_epsilon(laplace_ratio(a, b, 2 / epsilon), laplace_ratio(*more, 2 / epsilon))
        assert naive.value <= epsilon + naive.error
        ksw = exact_epsilon(ksw_ratio(a, b, 1 / epsilon), ksw_ratio(*more, 1 / epsilon))
        assert abs(ksw.value - epsilon) <= ksw.error < 1e-9


@pytest.mark.parametrize(("a", "b"), [(0, 1), (2, 5), (200, 400)])
def test_ksw_breaks_under_substitution_and_twice_the_scale_repairs_it(a: int, b: int) -> None:
    """Row 9: a person counted as a zero becomes a one, (a, b) → (a + 1, b), and both totals move."""
    assert 1.2 < exact_epsilon(ksw_ratio(a, b, 1.0), ksw_ratio(a + 1, b, 1.0)).value <= 2
    repaired = exact_epsilon(ksw_ratio(a, b, 2.0), ksw_ratio(a + 1, b, 2.0))
    assert repaired.value <= 1 + repaired.error


def test_a_bijection_of_the_outputs_changes_no_divergence() -> None:
    """KSW is W/(1 + W) of the ratio W of its two totals: every divergence must agree, on two different meshes."""
    left, right = ksw_ratio(2, 6, 0.9), ksw_ratio(3, 7, 0.9)
    plain_left, plain_right = laplace_ratio(2, 4, 0.9), laplace_ratio(3, 4, 0.9)
    for measure in (
        exact_epsilon,
        lambda p, q: exact_epsilon(p, q, 1e-3),
        lambda p, q: exact_delta(p, q, 0.3),
        lambda p, q: renyi_divergence(p, q, 8.0),
        lambda p, q: renyi_divergence(q, p, 1.01),
    ):
        first, second = measure(left, right), measure(plain_left, plain_right)
        assert abs(first.value - second.value) <= first.error + second.error <= 1e-9
        assert first.value > 1e-3
