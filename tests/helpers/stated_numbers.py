"""Accountants and calibrations that are sound, each beside faulty twins, written without the formulas of the package."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr, ndtri

from auditor.accountants import Accountant, Range
from auditor.exact import Process, RandomizedResponse

SIGMA = Range(0.1, 100.0)
DELTA = Range(1e-9, 0.1)
STEPS = Range(1, 10_000, integer=True)
RATE = Range(1e-4, 1.0)
GAUSSIAN = {"noise": "gaussian", "scale": "sigma"}
COMPOSED = {**GAUSSIAN, "steps": "steps"}


# --- Sound ones ---


def log_gaussian_delta(mu: float, epsilon: float) -> float:
    """ln δ(ε) of Gaussian noise, without cancellation while both terms are far apart."""
    above, below = (float(log_ndtr(sign * mu / 2 - epsilon / mu)) for sign in (1, -1))
    return above + math.log(max(1e-300, -math.expm1(min(0.0, epsilon + below - above))))


@cache
def gaussian_epsilon(mu: float, delta: float) -> float:
    if delta == 0:
        return math.inf
    if log_gaussian_delta(mu, 0.0) <= math.log(delta):
        return 0.0
    low, high = 0.0, mu * (mu / 2 + 60)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if log_gaussian_delta(mu, middle) > math.log(delta) else (low, middle)
    return high * (1 + 1e-9)


def gaussian(sigma: float, steps: int, delta: float) -> float:
    return gaussian_epsilon(math.sqrt(steps) / sigma, delta)


def by_renyi(curve: Callable[[int], float], delta: float) -> float:
    return min(curve(a) + math.log(1 / delta) / (a - 1) for a in (2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256))


def renyi_gaussian(sigma: float, steps: int, delta: float) -> float:
    return by_renyi(lambda a: a * steps / 2 / sigma**2, delta)


@cache
def sampled_divergence(order: int, rate: float, sigma: float) -> float:
    """Mironov, Talwar & Zhang 2019, Section 3.3, at integers."""
    k = np.arange(order + 1)
    with np.errstate(divide="ignore"):
        rest = np.where(k == order, 0.0, (order - k) * math.log1p(-rate) if rate < 1 else -math.inf)
    binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    return float(logsumexp(binomial + rest + k * math.log(rate) + k * (k - 1) / 2 / sigma**2)) / (order - 1)


def renyi_sampled(rate: float, sigma: float, steps: int, delta: float) -> float:
    return by_renyi(lambda a: steps * sampled_divergence(a, rate, sigma), delta)


def analytic_noise(epsilon: float, delta: float) -> float:
    low, high = 1e-3, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if log_gaussian_delta(1 / middle, epsilon) > math.log(delta) else (low, middle)
    return high * (1 + 1e-9)


def laplace_divergence(scale: float, order: float) -> float:
    """Mironov 2017, Table II."""
    t, a = 1 / scale, order
    terms = (math.log(a / (2 * a - 1)) + (a - 1) * t, math.log((a - 1) / (2 * a - 1)) - a * t)
    return float(logsumexp(terms)) / (a - 1) * (1 + 1e-9)


def gaussian_misses(sigma: float, alpha: float) -> float:
    """The rate of false negatives at a rate of false positives; claimed a little smaller, since 1 − β is a difference."""
    return max(0.0, float(ndtr(-ndtri(alpha) - 1 / sigma)) - 1e-14)


REVEALED = {"noise": "table", "present": [0.999, 0.001, 0.0], "absent": [0.999, 0.0, 0.001], "steps": "queries"}


def made(name: str, states: Any, stated: Any, process: Any, **parameters: Any) -> Accountant:
    return Accountant(name, states, stated, process, parameters)


SOUND = [
    made("Gaussian", "epsilon", gaussian, COMPOSED, sigma=SIGMA, steps=STEPS, delta=DELTA),
    made("Gaussian at δ = 0", "epsilon", gaussian, COMPOSED, sigma=SIGMA, steps=1, delta=Range(0.0, 0.5, log=True)),
    made(
        "Gaussian δ",
        "delta",
        lambda sigma, epsilon: math.exp(log_gaussian_delta(1 / sigma, epsilon)) * (1 + 1e-9) + 1e-15,
        GAUSSIAN,
        sigma=Range(0.2, 20.0),
        epsilon=Range(0.0, 8.0),
    ),
    made("Gaussian by Rényi", "epsilon", renyi_gaussian, COMPOSED, sigma=SIGMA, steps=STEPS, delta=DELTA),
    made(
        "Gaussian replaced",
        "epsilon",
        lambda sigma, delta: gaussian_epsilon(2 / sigma, delta),
        {**GAUSSIAN, "relation": "substitute"},
        sigma=SIGMA,
        delta=DELTA,
    ),
    made(
        "Gaussian with a sensitivity",
        "epsilon",
        lambda sigma, sensitivity, delta: gaussian_epsilon(sensitivity / sigma, delta),
        {**GAUSSIAN, "sensitivity": "sensitivity"},
        sigma=SIGMA,
        sensitivity=Range(0.1, 100.0),
        delta=DELTA,
    ),
    made(
        "sampled Gaussian by Rényi",
        "epsilon",
        renyi_sampled,
        {**COMPOSED, "sampling": "poisson", "rate": "rate"},
        rate=Range(1e-3, 1.0),
        sigma=Range(0.5, 10.0),
        steps=Range(1, 100, integer=True),
        delta=[1e-5],
    ),
    made(
        "analytic noise",
        "noise",
        analytic_noise,
        {"noise": "gaussian", "scale": "scale"},
        epsilon=Range(0.1, 10.0),
        delta=DELTA,
    ),
    made(
        "Laplace",
        "epsilon",
        lambda scale, steps: steps / scale * (1 + 1e-9),
        {"noise": "laplace", "scale": "scale", "steps": "steps"},
        scale=Range(0.1, 10.0),
        steps=Range(1, 20, integer=True),
        delta=0.0,
    ),
    made(
        "Laplace noise",
        "noise",
        lambda epsilon: 1 / epsilon * (1 + 1e-9),
        {"noise": "laplace", "scale": "scale"},
        epsilon=Range(0.1, 10.0),
    ),
    made(
        "Gaussian by a root to 1e-10",
        "epsilon",
        lambda sigma, delta: max(0.0, gaussian_epsilon(1 / sigma, delta) / (1 + 1e-9) - 1e-10),
        GAUSSIAN,
        sigma=Range(0.1, 1e6),
        delta=Range(1e-12, 0.1),
    ),
    made("noise for μ", "noise", lambda mu: 1 / mu, {"noise": "gaussian", "scale": "scale"}, mu=Range(0.01, 10.0)),
    made(
        "noise for ρ",
        "noise",
        lambda rho: math.sqrt(1 / 2 / rho),
        {"noise": "gaussian", "scale": "scale"},
        rho=Range(0.01, 10.0),
    ),
    made("μ", "mu", lambda sigma, steps: math.sqrt(steps) / sigma, COMPOSED, sigma=SIGMA, steps=STEPS),
    made("ρ", "rho", lambda sigma, steps: steps / sigma**2 / 2, COMPOSED, sigma=SIGMA, steps=STEPS),
    made(
        "ρ of Laplace",
        "rho",
        lambda scale: 1 / scale**2 / 2,
        {"noise": "laplace", "scale": "scale"},
        scale=Range(0.2, 10.0),
    ),
    made(
        "Laplace at an order",
        "renyi",
        laplace_divergence,
        {"noise": "laplace", "scale": "scale"},
        scale=Range(0.2, 10.0),
        order=Range(1.1, 64.0),
    ),
    made("a Rényi curve", "renyi", lambda sigma: {a: a / 2 / sigma**2 for a in range(2, 64)}, GAUSSIAN, sigma=SIGMA),
    made("a trade-off", "tradeoff", gaussian_misses, GAUSSIAN, sigma=SIGMA, alpha=Range(1e-9, 0.5)),
    made(
        "odometer",
        "delta",
        lambda queries: -math.expm1(queries * math.log1p(-0.001)) * (1 + 1e-6),
        REVEALED,
        queries=Range(1, 10_000, integer=True),
        epsilon=0.0,
    ),
]


# --- Faulty ones, each with a parameter at which it shows ---


def one_direction(rate: float, sigma: float, delta: float) -> float:
    """ε of one step in the direction that is the smaller one: (1 − q)N(0) + qN(1) is not told from N(0), but the reverse."""
    low, high = 0.0, 100.0
    for _ in range(100):
        epsilon = (low + high) / 2
        kept = -math.expm1(-epsilon) if rate == 1 else 1 - (1 - rate) * math.exp(epsilon)
        if kept <= 0:
            value = 0.0
        else:
            # P = N(0, σ²), Q = (1 − q) P + q N(1, σ²); P > e^ε Q where x is below a cut.
            cut = sigma**2 * math.log(max(1e-300, (1 / math.exp(epsilon) - (1 - rate)) / rate)) + 0.5
            p, q = float(ndtr(cut / sigma)), float(ndtr((cut - 1) / sigma))
            value = p - math.exp(epsilon) * ((1 - rate) * p + rate * q)
        low, high = (epsilon, high) if value > delta else (low, epsilon)
    return high


def textbook_noise(epsilon: float, delta: float) -> float:
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def central_limit(rate: float, sigma: float, steps: int, delta: float) -> float:
    """Bu, Dong, Long & Su 2020, by the central limit theorem, which is no bound."""
    return gaussian_epsilon(rate * math.sqrt(steps * math.expm1(1 / sigma**2)), delta)


def falls(queries: int) -> float:
    return -math.expm1(min(queries, 300) * math.log1p(-0.001)) * min(1.0, 300 / queries)


def response(epsilon0: float, steps: int) -> Process:
    return Process(RandomizedResponse(1 / (1 + math.exp(-epsilon0))), relation="substitute", steps=steps)


SAMPLED = {**GAUSSIAN, "sampling": "poisson", "rate": "rate"}
FAULTY = [
    made(
        "one direction only",
        "epsilon",
        one_direction,
        SAMPLED,
        rate=Range(1e-3, 0.99),
        sigma=Range(0.3, 10.0),
        delta=[1e-5],
    ),
    made(
        "half the noise for μ",
        "noise",
        lambda mu: 0.5 / mu,
        {"noise": "gaussian", "scale": "scale"},
        mu=Range(0.01, 10.0),
    ),
    made(
        "ρ for 2ρ",
        "noise",
        lambda rho: math.sqrt(1 / rho) / 2,
        {"noise": "gaussian", "scale": "scale"},
        rho=Range(0.01, 10.0),
    ),
    made(
        "another relation",
        "epsilon",
        lambda sigma, delta: gaussian_epsilon(1 / sigma, delta),
        {**GAUSSIAN, "relation": "substitute"},
        sigma=SIGMA,
        delta=DELTA,
    ),
    made(
        "relation ignored",
        "epsilon",
        lambda sigma, relation, delta: gaussian_epsilon(1 / sigma, delta),
        {**GAUSSIAN, "relation": "relation"},
        sigma=SIGMA,
        relation=["add_remove", "substitute"],
        delta=DELTA,
    ),
    made(
        "scale upside down",
        "epsilon",
        lambda scale: scale,
        {"noise": "laplace", "scale": "scale"},
        scale=Range(0.1, 10.0),
        delta=0.0,
    ),
    made(
        "textbook noise",
        "noise",
        textbook_noise,
        {"noise": "gaussian", "scale": "scale"},
        epsilon=Range(0.1, 10.0),
        delta=DELTA,
    ),
    made(
        "finite at δ = 0",
        "epsilon",
        lambda sigma, delta: 500.0 if delta == 0 else gaussian_epsilon(1 / sigma, delta),
        GAUSSIAN,
        sigma=SIGMA,
        delta=Range(0.0, 0.5, log=True),
    ),
    made(
        "noise for δ = 0",
        "noise",
        lambda epsilon: 3 / epsilon,
        {"noise": "gaussian", "scale": "scale"},
        epsilon=Range(0.1, 10.0),
    ),
    made("δ that falls", "delta", falls, REVEALED, queries=Range(1, 10_000, integer=True), epsilon=0.0),
    made(
        "Rényi without ln 1/δ",
        "epsilon",
        lambda sigma, steps, delta: min(a * steps / 2 / sigma**2 + 1 / (a - 1) for a in range(2, 99)),
        COMPOSED,
        sigma=SIGMA,
        steps=STEPS,
        delta=DELTA,
    ),
    made("σ for σ²", "rho", lambda sigma: 1 / sigma / 2, GAUSSIAN, sigma=SIGMA),
    made("√T for T", "rho", lambda sigma, steps: math.sqrt(steps) / sigma**2 / 2, COMPOSED, sigma=SIGMA, steps=STEPS),
    made(
        "sensitivity under the root",
        "noise",
        lambda epsilon, delta, sensitivity: math.sqrt(2 * sensitivity * math.log(1.25 / delta)) / epsilon,
        {"noise": "gaussian", "scale": "scale", "sensitivity": "sensitivity"},
        epsilon=Range(0.1, 1.0),
        delta=DELTA,
        sensitivity=Range(1.0, 100.0),
    ),
    made(
        "sensitivity divides",
        "epsilon",
        lambda sigma, sensitivity, delta: gaussian_epsilon(1 / (sigma * sensitivity), delta),
        {**GAUSSIAN, "sensitivity": "sensitivity"},
        sigma=SIGMA,
        sensitivity=Range(1.0, 10.0),
        delta=DELTA,
    ),
    made(
        "central limit",
        "epsilon",
        central_limit,
        {**COMPOSED, "sampling": "poisson", "rate": "rate"},
        rate=RATE,
        sigma=Range(0.5, 10.0),
        steps=Range(1, 100, integer=True),
        delta=1e-5,
    ),
    made(
        "sampling squared",
        "renyi",
        lambda sigma, rate: {a: 3.5 * rate**2 * a / sigma**2 for a in range(2, 64)},
        SAMPLED,
        sigma=Range(0.3, 10.0),
        rate=RATE,
    ),
    made(
        "one point of a curve",
        "renyi",
        lambda sigma: {a: a / 2 / sigma**2 * (0.9 if a == 63 else 1) for a in range(2, 64)},
        GAUSSIAN,
        sigma=SIGMA,
    ),
    made(
        "power of the small rates",
        "tradeoff",
        lambda sigma, alpha: 1 - alpha if alpha < 1e-6 else gaussian_misses(sigma, alpha),
        GAUSSIAN,
        sigma=SIGMA,
        alpha=Range(1e-9, 0.5),
    ),
    made(
        "μ of what reveals",
        "mu",
        lambda: 1.2337,
        {"noise": "table", "present": [0.999, 0.001], "absent": [1.0, 0.0]},
        alpha=[0.5],
    ),
    made(
        "ε without its second term",
        "epsilon",
        lambda epsilon0, steps, delta: epsilon0 * math.sqrt(2 * steps * math.log(1 / delta)),
        response,
        epsilon0=Range(0.1, 2.0),
        steps=Range(1, 200, integer=True),
        delta=1e-5,
    ),
    made(
        "steps forgotten",
        "delta",
        lambda sigma, steps, epsilon: math.exp(log_gaussian_delta(1 / sigma, epsilon)) + 1e-15,
        COMPOSED,
        sigma=Range(0.5, 20.0),
        steps=Range(1, 10, integer=True),
        epsilon=1.0,
    ),
    made(
        "above ε = 10 only",
        "epsilon",
        lambda sigma, delta: gaussian_epsilon(1 / sigma, delta) if sigma > 0.4 else 10.0,
        GAUSSIAN,
        sigma=SIGMA,
        delta=DELTA,
    ),
    made(
        "at the end of a rate only",
        "epsilon",
        lambda rate, sigma, delta: 0.99 * gaussian_epsilon(1 / sigma, delta) if rate > 0.999 else 1e9,
        SAMPLED,
        rate=RATE,
        sigma=Range(0.3, 10.0),
        delta=1e-5,
    ),
]
