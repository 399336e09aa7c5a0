"""Mechanisms with their exact claims, and what is claimed of them falsely: for refutations by calculation."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from auditor import ApproximateDP, GaussianDP, PureDP, Records, RenyiDP, Totals, Value, ZeroConcentratedDP
from auditor.claims import Claim


@dataclass(frozen=True)
class Case:
    """A mechanism, what it guarantees, tightly or not, and the claim that is false of it; None without one."""

    mechanism: Callable[..., Any]
    true: Claim | None
    false: Claim | None
    domain: Any
    parameters: dict[str, Any]


CASES: dict[str, Case] = {}
ONE = Totals(cells=1, values=(0, 100), contribution={"l1": 1})
FLOATS = Totals(cells=1, values=(0.0, 10.0), contribution={"l1": 1.0}, integer=False)
TWO = Totals(cells=2, values=(0, 10), contribution={"linf": 1})
THREE = Totals(cells=3, values=(0, 10), contribution={"linf": 1})
BITS = Records(choices=[0, 1], size=(0, 3))
BIT = Value(values=[0, 1])
WORDS = Records(choices=["a", "b"], size=(0, 2), container="list")


def case(true: Claim | None, false: Claim | None, domain: Any = ONE, **parameters: Any) -> Callable[[Any], Any]:
    def add(mechanism: Any) -> Any:
        name = mechanism.__name__
        while name in CASES:
            name += "'"
        CASES[name] = Case(mechanism, true, false, domain, parameters)
        return mechanism

    return add


def delta_of_gaussian(epsilon: float, mu: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def sigma_for(epsilon: float, delta: float) -> float:
    return float(brentq(lambda s: delta_of_gaussian(epsilon, 1 / s) - delta, 0.01, 1000, xtol=1e-14))


def renyi_of_laplace(order: float, shift: float) -> float:
    a = order
    return math.log(a / (2 * a - 1) * math.exp((a - 1) * shift) + (a - 1) / (2 * a - 1) * math.exp(-a * shift)) / (
        a - 1
    )


# Additive noise ------------------------------------------------------------------------------------------------------------


@case(PureDP(0.7), PureDP(0.69))
def laplace(x: Any, size: int, rng: Any) -> Any:
    return x + rng.laplace(0.0, 1 / 0.7, (size, 1))


@case(PureDP(1 / 3), PureDP(0.333), FLOATS)
def laplace_of_floats(x: Any, rng: Any) -> Any:
    return x[0] * 0.1 * 3 + rng.laplace(0.0, 0.9)


@case(PureDP(2.0), PureDP(1.0))
def laplace_at_half_the_scale(x: Any, rng: Any) -> Any:
    return float(x[0] + rng.laplace(0, 0.5))


@case(PureDP(1.0), PureDP(0.5))
def logistic(x: Any, rng: Any) -> Any:
    return x[0] + rng.logistic(0.0, 1.0)


@case(PureDP(1.0), PureDP(0.4))
def sum_of_two(x: Any, rng: Any) -> Any:
    return x[0] + rng.laplace(0, 1) + rng.laplace(0, 0.5)


for _epsilon, _delta in ((0.5, 1e-5), (1.0, 1e-6), (8.0, 1e-5), (3.0, 1e-9)):

    @case(ApproximateDP(_epsilon, _delta), ApproximateDP(_epsilon * 0.98, _delta), sigma=sigma_for(_epsilon, _delta))
    def gaussian(x: Any, size: int, rng: Any, *, sigma: float) -> Any:
        return x + rng.normal(0.0, sigma, (size, 1))


for _epsilon, _delta in ((10.0, 1e-5), (15.0, 1e-5), (20.0, 1e-5), (50.0, 1e-5), (12.0, 1e-8)):

    @case(None, ApproximateDP(_epsilon, _delta), epsilon=_epsilon, delta=_delta)
    def textbook_gaussian(x: Any, size: int, rng: Any, *, epsilon: float, delta: float) -> Any:
        sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
        return x + rng.normal(0.0, sigma, (size, 1))


@case(None, PureDP(8.0))
def gaussian_is_not_pure(x: Any, rng: Any) -> Any:
    return x[0] + rng.normal(0.0, 1.0)


@case(GaussianDP(0.5), GaussianDP(0.499))
def gaussian_mu(x: Any, rng: Any) -> Any:
    return x[0] + rng.normal(0.0, 2.0)


@case(ZeroConcentratedDP(0.125), ZeroConcentratedDP(0.12))
def gaussian_rho(x: Any, rng: Any) -> Any:
    return x[0] + rng.normal(0.0, 2.0)


@case(RenyiDP(4, 0.5), RenyiDP(4, 0.49))
def gaussian_renyi(x: Any, rng: Any) -> Any:
    return x[0] + rng.normal(0.0, 2.0)


@case(RenyiDP(3, renyi_of_laplace(3, 1.0)), RenyiDP(3, 0.97 * renyi_of_laplace(3, 1.0)))
def laplace_renyi(x: Any, rng: Any) -> Any:
    return x[0] + rng.laplace(0.0, 1.0)


@case(ZeroConcentratedDP(0.5), ZeroConcentratedDP(0.3))
def laplace_rho(x: Any, rng: Any) -> Any:
    return x[0] + rng.laplace(0.0, 1.0)


@case(ApproximateDP(0.0, 0.05), ApproximateDP(0.0, 0.0499))
def uniform(x: Any, rng: Any) -> Any:
    return x[0] + rng.uniform(-10.0, 10.0)


@case(None, ApproximateDP(2.0, 0.01))
def exponential(x: Any, rng: Any) -> Any:
    """One-sided: P[output < x + 1] = 1 − 1/e is impossible for x + 1."""
    return x[0] + rng.exponential(1.0)


# What floats round -----------------------------------------------------------------------------------------------------------


@case(PureDP(1.0), PureDP(0.99), Totals(cells=1, values=(0.0, 0.3), contribution={"l1": 0.1}, integer=False))
def tenths(x: Any, rng: Any) -> Any:
    return x[0] + rng.laplace(0.0, 0.1)


@case(PureDP(0.1), PureDP(0.09), Totals(cells=3, values=(999_999_990, 1_000_000_000), contribution={"l1": 1}))
def mean_of_large(x: Any, rng: Any) -> Any:
    return x.sum() / 3 + rng.laplace(0.0, 10 / 3)


@case(PureDP(30.0), None, BIT)
def surest_response(bit: int, rng: Any) -> Any:
    """1 − p is 9.4e-14, of which a float near 1 holds three digits."""
    p = 1 / (1 + math.exp(-30.0))
    return bit if rng.random() < p else 1 - bit


@case(PureDP(45.0), None, BIT)
def response_that_is_rounded_away(bit: int, rng: Any) -> Any:
    p = 1 / (1 + math.exp(-45.0))
    return bit if rng.random() < p else 1 - bit


@case(PureDP(math.log(2)), None, Value(values=[0, 1, 2]))
def lattice_of_floats(x: int, rng: Any) -> Any:
    """The sums 0.1 + 0.2 and 0.0 + 0.3 are one number, and two floats. ε = ∞, since the ends reveal x; here they are cut."""
    noise = int(rng.choice(3, p=[0.25, 0.25, 0.5]))
    return ((x + noise) % 3) * 0.1


@case(PureDP(math.log(3)), PureDP(1.09), BIT)
def sums_of_floats(x: int, rng: Any) -> Any:
    """0.1 + 0.2 on one side, and 0.3 on the other, are equal numbers."""
    heads = rng.random() < (0.75 if x else 0.25)
    return (0.3 if heads else 0.0) if x else (0.1 + 0.2 if heads else 0.0)


# After noise -----------------------------------------------------------------------------------------------------------------


@case(PureDP(1.0), PureDP(0.9))
def clipped(x: Any, rng: Any) -> Any:
    return float(np.clip(x[0] + rng.laplace(0, 1), 0, 100))


@case(PureDP(1.0), PureDP(0.8))
def rounded(x: Any, rng: Any) -> Any:
    return round(x[0] + rng.laplace(0, 1))


@case(PureDP(1.0), PureDP(0.7))
def floored(x: Any, rng: Any) -> Any:
    return math.floor(x[0] + rng.laplace(0, 1))


@case(PureDP(1.0), PureDP(0.9))
def rounded_to_tenths(x: Any, rng: Any) -> Any:
    return np.round(x[0] + rng.laplace(0, 1), 1)


@case(PureDP(1.0), PureDP(0.9))
def truncated_to_int(x: Any, rng: Any) -> Any:
    return int(x[0] + rng.laplace(0, 1))


@case(PureDP(1.0), PureDP(0.9))
def absolute(x: Any, rng: Any) -> Any:
    return abs(x[0] + rng.laplace(0, 1))


@case(PureDP(1.0), PureDP(0.9))
def above_zero(x: Any, rng: Any) -> Any:
    return max(0.0, x[0] + rng.laplace(0, 1))


@case(PureDP(1.0), PureDP(0.9))
def exponentiated(x: Any, rng: Any) -> Any:
    return np.exp(min(x[0] + rng.laplace(0, 1), 50.0) / 10)


@case(PureDP(1.0), PureDP(0.9))
def square(x: Any, rng: Any) -> Any:
    return (x[0] + rng.laplace(0, 1)) ** 2


@case(PureDP(1.0), None, TWO)
def ratio(x: Any, rng: Any) -> Any:
    return (x[0] + rng.laplace(0, 2)) / (x[1] + rng.laplace(0, 2))


@case(PureDP(1.0), PureDP(0.5))
def is_large(x: Any, rng: Any) -> Any:
    return "large" if x[0] + rng.laplace(0, 1) > 50 else "small"


@case(ApproximateDP(1.0, (math.exp(-6.0) + math.exp(-7.0)) / 2), ApproximateDP(1.0, 0.99 * math.exp(-6.0) / 2))
def noise_is_cut(x: Any, rng: Any) -> Any:
    """Of the outputs for x, those below x − 6 are impossible for x + 1, and so is the end x + 7, which has e^−7/2."""
    return x[0] + float(np.clip(rng.laplace(0, 1), -7, 7))


@case(None, PureDP(1.0))
def noise_is_cut_and_pure(x: Any, rng: Any) -> Any:
    return x[0] + float(np.clip(rng.laplace(0, 1), -7, 7))


@case(None, ApproximateDP(1.0, 1e-4))
def noise_is_cut_too_near(x: Any, rng: Any) -> Any:
    return x[0] + float(np.clip(rng.laplace(0, 1), -7, 7))


@case(None, PureDP(1.0))
def bounded_laplace_without_correction(x: Any, rng: Any) -> Any:
    """Laplace noise conditioned on [0, 100] with the plain scale: normalising it costs more."""
    low, high = math.exp(-x[0]) / 2, 1 - math.exp(x[0] - 100.0) / 2
    u = low + (high - low) * rng.random()
    centred = u - 0.5
    return x[0] - np.sign(centred) * np.log(1 - 2 * abs(centred))


# Integers --------------------------------------------------------------------------------------------------------------------


@case(PureDP(0.5), PureDP(0.45))
def two_sided_geometric(x: Any, rng: Any) -> Any:
    p = 1 - math.exp(-0.5)
    return x[0] + rng.geometric(p) - rng.geometric(p)


@case(None, PureDP(3.0))
def geometric_on_one_side(x: Any, rng: Any) -> Any:
    return x[0] + rng.geometric(0.5)


@case(PureDP(math.log(3)), PureDP(1.0), BIT)
def randomised_response(bit: int, rng: Any) -> Any:
    return bit if rng.random() < 0.75 else 1 - bit


@case(PureDP(1.0), PureDP(0.99), Value(values=[0, 1, 2, 3]))
def of_four(value: int, rng: Any) -> Any:
    stays = rng.random() < math.e / (math.e + 3)
    return value if stays else (value + rng.integers(1, 4)) % 4


@case(PureDP(2 * math.log(3)), PureDP(2.1), Value(values=[[0, 0], [0, 1], [1, 0], [1, 1]]))
def two_bits(bits: Any, rng: Any) -> Any:
    return [bit ^ int(rng.random() < 0.25) for bit in bits]


@case(PureDP(1.0), PureDP(0.6), THREE)
def exponential_mechanism(x: Any, rng: Any) -> Any:
    weights = np.exp(np.array([x[0], x[1], x[2]]) / 2)
    return int(rng.choice(3, p=weights / weights.sum()))


@case(ApproximateDP(0.0, 0.1), ApproximateDP(0.0, 0.09), BIT)
def reveals_sometimes(bit: int, rng: Any) -> Any:
    return ("bit", bit) if rng.random() < 0.1 else "nothing"


@case(None, PureDP(3.0), BIT)
def reveals_rarely(bit: int, rng: Any) -> Any:
    return ("bit", bit) if rng.random() < 1e-6 else "nothing"


@case(PureDP(math.log1p((math.e - 1) / 2)), PureDP(0.6), BITS)
def subsampled_laplace(bits: Any, rng: Any) -> Any:
    return float(bits[rng.random(len(bits)) < 0.5].sum()) + rng.laplace(0, 1)


@case(None, ApproximateDP(0.0, 0.2), BITS)
def dice(bits: Any, rng: Any) -> Any:
    return bits.sum() + rng.integers(0, 4)


# Several answers ---------------------------------------------------------------------------------------------------------------


@case(PureDP(3.0), PureDP(2.9))
def three_answers(x: Any, rng: Any) -> Any:
    return [x[0] + rng.laplace(0, 1), x[0] + rng.laplace(0, 1), x[0] + rng.laplace(0, 1)]


@case(PureDP(5.0), ApproximateDP(3.0, 1e-3))
def five_answers(x: Any, size: int, rng: Any) -> Any:
    return x + rng.laplace(0.0, 1.0, (size, 5))


@case(GaussianDP(math.sqrt(5.0)), GaussianDP(2.2))
def five_gaussians(x: Any, rng: Any) -> Any:
    return [x[0] + rng.normal(0, 1) for _ in range(5)]


@case(ZeroConcentratedDP(0.625), ZeroConcentratedDP(0.6))
def gaussians_of_different_scales(x: Any, rng: Any) -> Any:
    return x[0] + rng.normal(0, 1), x[0] + rng.normal(0, 2)


@case(
    ApproximateDP(4.0, delta_of_gaussian(4.0, math.sqrt(2.0))),
    ApproximateDP(3.9, delta_of_gaussian(4.0, math.sqrt(2.0))),
)
def two_gaussians(x: Any, size: int, rng: Any) -> Any:
    return x + rng.normal(0.0, 1.0, (size, 2))


@case(PureDP(1.0), PureDP(0.95), Totals(cells=4, values=(0, 9), contribution={"l1": 1}))
def histogram(x: Any, size: int, rng: Any) -> Any:
    return x + rng.laplace(0.0, 1.0, (size, 4))


@case(PureDP(2.0), PureDP(1.0), TWO)
def sensitivity_is_two(x: Any, size: int, rng: Any) -> Any:
    return x + rng.laplace(0.0, 1.0, (size, 2))


@case(None, PureDP(5.0), TWO)
def noise_used_twice(x: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 1)
    return x[0] + noise, x[1] + noise


# Paths -----------------------------------------------------------------------------------------------------------------------


@case(ApproximateDP(1.0, 0.5 * math.exp(1 - 4.9)), ApproximateDP(1.0, 0.01), WORDS)
def threshold(words: Any, rng: Any) -> Any:
    """A word that occurs on one side only is shown with probability e^(1 − 4.9)/2 = .0101."""
    found = {}
    for word in sorted(set(words)):
        noisy = sum(1 for other in words if other == word) + rng.laplace(0, 1)
        if noisy > 4.9:
            found[word] = noisy
    return found


@case(PureDP(1.0), PureDP(0.4), TWO)
def noisy_max(x: Any, rng: Any) -> Any:
    return 0 if x[0] + rng.laplace(0, 2) > x[1] + rng.laplace(0, 2) else 1


@case(PureDP(2.0), PureDP(1.0), THREE)
def noisy_max_at_half_the_scale(x: Any, rng: Any) -> Any:
    noisy = [value + rng.laplace(0, 1) for value in x]
    return noisy.index(max(noisy))


@case(PureDP(1.0), PureDP(0.3), TWO)
def sparse_vector(x: Any, rng: Any) -> Any:
    limit = 5 + rng.laplace(0, 2)
    for at, value in enumerate(x):
        if value + rng.laplace(0, 4) >= limit:
            return at
    return None


@case(None, PureDP(1.0), TWO)
def sparse_vector_without_noise_on_answers(x: Any, rng: Any) -> Any:
    limit = 5 + rng.laplace(0, 1)
    return [bool(value >= limit) for value in x]


@case(None, PureDP(2.0))
def raises(x: Any, rng: Any) -> Any:
    if x[0] > 50:
        raise ValueError("too large")
    return x[0] + rng.laplace(0, 1)


@case(None, ApproximateDP(1.0, 1e-5), WORDS)
def length_is_exact(words: Any, rng: Any) -> Any:
    return [rng.laplace(0, 1) for _ in words]
