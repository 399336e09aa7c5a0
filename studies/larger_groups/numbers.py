"""The Rényi divergences of Algorithm 1 by quadrature, and the cost of an alternative mechanism."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.stats import norm

import auditor
from mechanisms.exact.distributions import Density, LogDensity
from mechanisms.exact.divergences import Exact, exact_delta, exact_epsilon, exact_renyi, renyi_curve
from mechanisms.exact.known_continuous import gaussian, gaussian_epsilon
from mechanisms.group_counts import algorithm_1, arsinh_gaussian, arsinh_guarantee, stretched
from mechanisms.truths.two_stage_gaussian import two_stage_gaussian

Reals = NDArray[np.float64]

# The parameters of the document's Figure 1.
SIGMA, R = 10.0, 0.3
RHO = 1 / (2 * SIGMA**2)
SIZES = (5, 20, 100, 1000, 10_000)
ORDERS = np.geomspace(1.01, 1e6, 97)
CAPS = (2, 8, 64)
DELTAS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
CUT_DELTAS = (1e-5, 1e-10)
# Audits from outputs need a larger ρ for any power: σ = 1, so that σ/r = 10/3.
AUDIT_RHO, AUDIT_SAMPLES = 0.5, 400_000


def measure() -> dict[str, Any]:
    # Near x + 1/2 = σ/r one direction's loss is almost bounded, and the quadrature slow: 33 and 34 are left out.
    sizes = [
        0,
        1,
        2,
        5,
        10,
        15,
        20,
        24,
        *range(26, 33),
        35,
        40,
        45,
        50,
        60,
        80,
        100,
        200,
        500,
        1000,
        2000,
        5000,
        10_000,
    ]
    return {
        "sigma": SIGMA,
        "r": R,
        "rho": RHO,
        "figure_1": figure_1(),
        "curves": Parallel(n_jobs=-1)(delayed(curve)(x) for x in SIZES),
        "best": Parallel(n_jobs=-1)(delayed(best)(x) for x in sizes),
        "truncated": [truncated(x) for x in SIZES if x >= 100],
        "approximate": Parallel(n_jobs=-1)(delayed(approximate)(x, delta) for x in SIZES for delta in CUT_DELTAS),
        "profiles": Parallel(n_jobs=-1)(delayed(profile)(x) for x in SIZES),
        "gaussian_profile": [gaussian_epsilon(1 / SIGMA, delta) for delta in DELTAS],
        "errors": errors(),
        "arsinh": [{"x": x, "v": arsinh_guarantee(x, RHO, R), "pair": pair_cost(x)} for x in (0, 1, *SIZES)],
        "lower": [lower_bound(r) for r in (0.05, 0.1, R, 0.5)],
        "audits": [audit(x, order) for x in (1, 3, 30) for order in (2.0, 4.0, 8.0)],
        "arsinh_audits": [arsinh_audit(x) for x in (0, 1, 3, 10)],
    }


def figure_1() -> dict[str, Any]:
    """Return a million outputs in the form of the document's Figure 1, with the exact moments."""
    outputs = algorithm_1(np.array([10_000.0]), 1_000_000, np.random.default_rng(20231220), rho=RHO, r=R)[:, 0]
    edges = np.linspace(-5000, 25_000, 121)
    return {
        "outputs": len(outputs),
        "mean": outputs.mean(),
        "deviation": outputs.std(ddof=1),
        # Var Y = E X²(1 + r²) − x², for X and Z are independent.
        "exact_deviation": math.sqrt((1e8 + SIGMA**2) * (1 + R**2) - 1e8),
        "edges": edges,
        "density": np.histogram(outputs, edges)[0] / len(outputs) / np.diff(edges),
        "outside": np.mean((outputs < edges[0]) | (outputs > edges[-1])),
        # The total variation distance between Y and the Gaussian with its moments.
        "from_gaussian": exact_delta(
            two_stage_gaussian(10_000, SIGMA, R),
            gaussian(10_000, math.sqrt((1e8 + SIGMA**2) * (1 + R**2) - 1e8)),
            0.0,
        ).value,
    }


def _pair(x: float, sigma: float = SIGMA) -> tuple[Density, Density]:
    """Return the output distributions for x + 1 and x records."""
    return two_stage_gaussian(x + 1, sigma, R), two_stage_gaussian(x, sigma, R)


def _shares(left: Density, right: Density, orders: Reals) -> tuple[Reals, Reals]:
    """Return D_α/(αρ) at each order, and its error."""
    curve = renyi_curve(left, right, orders.tolist())
    return tuple(np.array([getattr(d, part) for d in curve]) / orders / RHO for part in ("value", "error"))  # type: ignore[return-value]


def curve(x: int) -> dict[str, Any]:
    more, fewer = _pair(x)
    up, down = _shares(more, fewer, ORDERS), _shares(fewer, more, ORDERS)
    # The remainder D_α/α − ρ/2 at the largest order, in units of ρ/(2α), which the expansion puts at σ/r − x − 1/2.
    rest = (2 * up[0][-1] - 1) * ORDERS[-1]
    return {
        "x": x,
        "orders": ORDERS,
        "up": up[0],
        "down": down[0],
        "error": max(up[1].max(), down[1].max()),
        "rest": rest,
        "rest_error": 2 * up[1][-1] * ORDERS[-1],
        "expansion": SIGMA / R - x - 0.5,
    }


def _supremum(left: Density, right: Density, cap: float) -> tuple[float, float, float]:
    """Return the largest D_α/(αρ) over α ≤ cap on a grid refined around the maximiser, its error, and the maximiser."""
    orders = np.append(ORDERS[cap > ORDERS], min(cap, ORDERS[-1]))
    for last in (False, False, True):
        values, doubts = _shares(left, right, orders)
        at = int(values.argmax())
        largest = (float(values[at]), float(doubts[at]), float(orders[at]))
        if not last:
            orders = np.geomspace(orders[max(0, at - 1)], orders[min(len(orders) - 1, at + 1)], 9)
    return largest


def best(x: int) -> dict[str, Any]:
    """Return the smallest ρ for the pair x, x + 1 as a share of ρ: over all orders (at least ρ/2, by Theorem 1) and up to each
    cap.
    """
    more, fewer = _pair(x)
    entry: dict[str, Any] = {"x": x}
    for name, cap in [("all", ORDERS[-1]), *((str(cap), float(cap)) for cap in CAPS)]:
        value, error, order = max(_supremum(more, fewer, cap), _supremum(fewer, more, cap))
        limit = name == "all" and value < 0.5
        entry[name] = {
            "share": 0.5 if limit else value,
            "error": 0.0 if limit else error,
            "order": None if limit else order,
        }
    return entry


def truncated(x: int) -> dict[str, Any]:
    """Return the guarantee for orders up to x/4: truncated concentrated DP with a range that grows with the group."""
    more, fewer = _pair(x)
    share, error, _ = max(_supremum(more, fewer, x / 4), _supremum(fewer, more, x / 4))
    return {"x": x, "cap": x / 4, "share": share, "error": error, "times_x_squared": share * RHO * x**2}


@dataclass(frozen=True, slots=True)
class _Cut:
    """A log density conditioned on the output lying in [low, high]."""

    whole: LogDensity
    low: float
    high: float
    log_mass: float

    def __call__(self, outputs: Reals) -> Reals:
        inside = (outputs >= self.low) & (outputs <= self.high)
        return np.where(inside, self.whole(outputs) - self.log_mass, -np.inf)


def _tail(x: float, y: float, above: bool) -> float:
    """Return P[Y > y] or P[Y < y] for Y = X(1 + rZ), by an integral over X."""

    def term(t: float) -> float:
        z = (y / t - 1) / R if t != 0 else math.copysign(math.inf, y)
        # For t < 0 the event Y > y is Z < z.
        upper = above if t > 0 else not above
        return float(norm.pdf(t, x, SIGMA) * (norm.sf(z) if upper else norm.cdf(z)))

    low, high = x - 12 * SIGMA, x + 12 * SIGMA
    points = sorted({p for p in (0.0, x - 3 * SIGMA, x, x + 3 * SIGMA) if low < p < high})
    return float(quad(term, low, high, points=points, epsabs=1e-18, epsrel=1e-9, limit=400)[0])


def approximate(x: int, delta: float) -> dict[str, Any]:
    """Return the ρ of δ-approximate zCDP that excludes outputs in both tails, δ/2 each."""
    width = math.hypot(SIGMA, R * x)

    def log_excess(y: float, above: bool, size: float) -> float:
        return math.log(max(_tail(size, y, above), 1e-300) / (delta / 2))

    high = float(brentq(log_excess, x + width, x + 60 * width, args=(True, x + 1)))
    low = float(brentq(log_excess, x - 60 * width, x - width, args=(False, x)))
    cut = []
    for size in (x + 1, x):
        kept = 1 - _tail(size, high, True) - _tail(size, low, False)
        whole = two_stage_gaussian(size, SIGMA, R)
        points = tuple(p for p in (*whole.breakpoints, low, high) if low <= p <= high)
        cut.append(Density(_Cut(whole.log_density, low, high, math.log(kept)), points, log_error=whole.log_error))
    share, error, order = max(_supremum(cut[0], cut[1], math.inf), _supremum(cut[1], cut[0], math.inf))
    return {"x": x, "delta": delta, "low": low, "high": high, "share": share, "error": error, "order": order}


def profile(x: int) -> dict[str, Any]:
    losses: list[Exact] = [exact_epsilon(*_pair(x), delta) for delta in DELTAS]
    return {"x": x, "deltas": DELTAS, "epsilon": [e.value for e in losses], "error": [e.error for e in losses]}


def algorithm_1_error(x: float) -> float:
    """Return E|Y − x|, an integral over t of the conditional mean given X = t, which is that of |N(t − x, r²t²)|."""

    def term(t: float) -> float:
        return float(norm.pdf(t, x, SIGMA)) * folded_mean(t - x, R * abs(t))

    points = sorted({0.0, x, x - 3 * SIGMA, x + 3 * SIGMA})
    return float(quad(term, x - 14 * SIGMA, x + 14 * SIGMA, points=points, epsrel=1e-10, limit=400)[0])


def folded_mean(mean: float, deviation: float) -> float:
    """Return E|N(mean, deviation²)|."""
    if deviation == 0:
        return abs(mean)
    z = mean / deviation
    return float(deviation * math.sqrt(2 / math.pi) * math.exp(-(z**2) / 2) + mean * (1 - 2 * norm.cdf(-z)))


def arsinh_error(x: float, sigma: float = SIGMA, r: float = R) -> float:
    """Return E|Y − x| of the arsinh mechanism in closed form: 2 E(Y − x)₊, since it is unbiased."""
    unit = sigma / r
    start = math.asinh(x / unit)
    root = (math.asinh(math.exp(r**2 / 2) * x / unit) - start) / r
    above = math.exp(start) * norm.cdf(r - root) - math.exp(-start) * norm.cdf(-r - root)
    return float(2 * (unit / 2 * above - x * norm.sf(root)))


def errors() -> dict[str, Any]:
    """Return mean relative errors over x, and the x from which they stay below r."""
    sizes = np.unique(np.round(np.geomspace(5, 10_000, 40)))
    figures: dict[str, Any] = {"x": sizes}
    for name, error in (("algorithm_1", algorithm_1_error), ("arsinh", arsinh_error)):
        figures[name] = [error(float(x)) / x for x in sizes]
        figures[f"{name}_from"] = float(brentq(lambda x, error=error: error(x) - R * x, 10.0, 200.0))
        figures[f"{name}_limit"] = (
            R * math.sqrt(2 / math.pi) if name == "algorithm_1" else 2 * (2 * norm.cdf(R / 2) - 1)
        )
    return figures


def pair_cost(x: float, rho: float = RHO) -> float:
    """Return D_α/α of the arsinh mechanism between x and x + 1 records, the same at every order."""
    low, high = (float(stretched(np.array([count]), rho, R)[0]) for count in (x, x + 1.0))
    return (high - low) ** 2 / 2


def lower_bound(r: float) -> dict[str, Any]:
    """Return C such that no v(x) ≤ c/x² with c < C meets E|x̂ − x| ≤ rx (Theorem 5), and the c of a stretched Gaussian."""

    def needed(place: Reals) -> float:
        stretch, cut = float(np.exp(place[0])), float(np.exp(place[0]) / (1 + np.exp(place[1])))
        distance = 1 - r / cut - r * (1 + stretch) / (stretch - cut)
        if not 0 < distance < 1:
            return 0.0
        divergence = max(2 * distance**2, -math.log1p(-(distance**2)))
        return divergence / math.log1p(stretch) ** 2

    tries = [minimize(lambda p: -needed(p), [a, b], method="Nelder-Mead") for a in (0.0, 2.0, 4.0) for b in (0.0, 2.0)]
    scale = float(brentq(lambda s: 2 * (2 * norm.cdf(s / 2) - 1) - r, 1e-6, 3.0))
    return {"r": r, "needed": max(-t.fun for t in tries), "reached": 1 / (2 * scale**2), "scale": scale}


def audit(x: int, order: float) -> dict[str, Any]:
    """Bound D_α of Algorithm 1 from outputs alone, for comparison with its value by quadrature."""
    result = auditor.audit(
        algorithm_1,
        auditor.RenyiDP(order, order * AUDIT_RHO),
        [([float(x + 1)], [float(x)])],
        parameters={"rho": AUDIT_RHO, "r": R},
        samples=AUDIT_SAMPLES,
        seed=4,
    )
    assert result.bound is not None
    exact = exact_renyi(*_pair(x, math.sqrt(1 / (2 * AUDIT_RHO))), order)
    return {
        "x": x,
        "order": order,
        "claimed": order * AUDIT_RHO,
        "bound": result.bound.value,
        "exact": exact.value,
        "error": exact.error,
        "verdict": result.verdict.value,
    }


def arsinh_audit(x: int) -> dict[str, Any]:
    """Audit the arsinh mechanism on x and x + 1 records against v(x + 1), the stronger of the two guarantees."""
    claimed = arsinh_guarantee(x + 1, AUDIT_RHO, R)
    result = auditor.audit(
        arsinh_gaussian,
        auditor.ZeroConcentratedDP(claimed),
        [([float(x + 1)], [float(x)])],
        parameters={"rho": AUDIT_RHO, "r": R},
        samples=AUDIT_SAMPLES,
        seed=4,
    )
    assert result.bound is not None
    return {
        "x": x,
        "claimed": claimed,
        "bound": result.bound.value,
        "exact": pair_cost(x, AUDIT_RHO),
        "verdict": result.verdict.value,
    }
