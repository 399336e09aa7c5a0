"""Rényi divergences of one step: closed forms, and bounds from cells for all other laws.

D_α = ln E_P[e^((α − 1)L)]/(α − 1). Merged cells are post-processing, so they give a lower limit. The chords of cells
(``compose``) give an upper one, since the moment is convex in the likelihood ratio. No grid is needed, so cells may be finer
where the mass is.
"""

import math

import numpy as np

from auditor.bounds.curves import log_of_sums
from auditor.bounds.intervals import Floats
from auditor.exact.compose import cell_masses, loss_quantile
from auditor.exact.laws import (
    UNIT,
    AtomsLaw,
    GaussianLaw,
    Law,
    OppositeLaw,
    SampledLaw,
    SymmetrizedLaw,
    tail_error,
)

CELLS_PER_LAW, MOST_TERMS = 3_000, 100_000


def enclose_renyi(law: Law, order: float) -> tuple[float, float]:
    """Return an interval (nats) that holds D_order(P‖Q) of a law, for order > 1; both ends may be infinite."""
    if isinstance(law, GaussianLaw):
        value = order * law.mu**2 / 2
        return value * (1 - 4 * UNIT), value * (1 + 4 * UNIT)
    if law.infinite > 0:
        return math.inf, math.inf
    rho = _zcdp_limit(law.law) if isinstance(law, SampledLaw) else None
    is_gaussian = isinstance(law, SampledLaw) and isinstance(law.law, GaussianLaw)
    if is_gaussian and order == int(order) and order <= MOST_TERMS:
        return _per_order(*_log_moment(law, int(order)), order)
    low, high = _enclose_by_cells(law, order)
    if rho is not None and order <= MOST_TERMS:
        below, above = _interpolate_orders(law, order)
        low, high = max(low, below if is_gaussian else 0.0), min(high, above)
    if (limit := _zcdp_limit(law)) is not None:
        high = min(high, order * limit * (1 + 1e-12))
    return low, max(low, high)


def _zcdp_limit(law: Law) -> float | None:
    """Return ρ such that D_α ≤ αρ for all α, which Gaussian noise attains; None if none is known.

    Discrete Gaussian noise has no larger divergences (Canonne, Kamath & Steinke 2020, Proposition 5).
    """
    if isinstance(law, GaussianLaw):
        return law.mu**2 / 2
    if isinstance(law, AtomsLaw) and law.is_cut and law.lattice:
        return law.anchor
    if isinstance(law, OppositeLaw) and law.kind == "gaussian":  # no more than without sampling
        return (2 * law.reach) ** 2 / 2
    return None


def _per_order(low: float, high: float, order: float) -> tuple[float, float]:
    return max(0.0, low) / (order - 1), high / (order - 1)


def _log_moment(law: Law, order: int) -> tuple[float, float]:
    """Return ln Σ_k C(α, k) (1 − q)^(α − k) q^k e^(k(k − 1)ρ) with its error (Mironov, Talwar & Zhang 2019, Section 3.3)."""
    from scipy.special import gammaln

    assert isinstance(law, SampledLaw)
    rho = _zcdp_limit(law.law)
    assert rho is not None
    if order < 2:
        return 0.0, 0.0
    k = np.arange(2, order + 1, dtype=np.float64)
    # The moment less 1 is Σ_(k ≥ 2) C(α, k) (1 − q)^(α − k) q^k (e^(k(k − 1)μ²/2) − 1), of positive terms.
    parts = (
        gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1),
        (order - k) * math.log1p(-law.rate),
        k * math.log(law.rate),
    )
    growth = k * (k - 1) * rho
    terms = sum(parts) + growth + np.log(-np.expm1(-growth))
    excess = _log_of_sum(terms)
    size = float(max(np.abs(part).max() for part in (*parts, growth))) + float(gammaln(order + 1))
    relative = UNIT * (64 + order + 16 * size)
    value = math.log1p(math.exp(excess)) if excess < 500 else excess
    error = relative * (math.exp(excess) if excess < 0 else 1.0)
    return value - error, value + error


def _log_of_sum(logarithms: Floats) -> float:
    return float(log_of_sums(logarithms[None])[0])


def _interpolate_orders(law: Law, order: float) -> tuple[float, float]:
    """Return limits on D from the neighbouring integer orders: the logarithm of the moment is convex in the order."""
    below = math.floor(order)
    logs = {n: (0.0, 0.0) if n < 2 else _log_moment(law, n) for n in (below - 1, below, below + 1, below + 2)}
    high = logs[below][1] + (order - below) * (logs[below + 1][1] - logs[below][1])
    from_left = logs[below][0] + (order - below) * (logs[below][0] - logs[below - 1][1])
    from_right = logs[below + 1][0] - (below + 1 - order) * (logs[below + 2][1] - logs[below + 1][0])
    return _per_order(max(from_left, from_right), high, order)


def _enclose_by_cells(law: Law, order: float) -> tuple[float, float]:
    """Return limits on D from the masses of cells: a lower one by merging, an upper one by the chords of cells."""
    edges = _cover_losses(law)
    tails = law.tails(edges)
    blur = law.blur + 16 * UNIT * (1 + float(np.abs(edges).max()))
    p, p_error = cell_masses(tails.p_above, tails.p_below, law.roundings)
    q, q_error = cell_masses(tails.q_above, tails.q_below, law.roundings)
    p_ends = np.array([tails.p_below[0], tails.p_above[-1]])
    q_ends = np.array([tails.q_below[0], tails.q_above[-1]])
    with np.errstate(divide="ignore", invalid="ignore"):
        low_p = np.maximum(0.0, np.r_[p - p_error, p_ends - tail_error(p_ends, law.roundings)])
        high_q = np.r_[q + q_error, q_ends + tail_error(q_ends, law.roundings)]
        terms = order * np.log(low_p) + (1 - order) * np.log(high_q)
        low = _log_of_sum(terms[low_p > 0]) - (order - 1) * blur - UNIT * 64
        # The chord of a cell: a at its lower end and b at its upper one.
        widths, high_p = np.diff(edges), p + p_error
        from_q = np.exp(np.minimum(edges[:-1], 700.0)) * np.maximum(0.0, q - q_error)
        b = np.clip((high_p - from_q + 8 * UNIT * high_p) / -np.expm1(-widths), 0.0, high_p)
        logs = np.log(np.r_[high_p - b, b, p_ends[0] + tail_error(p_ends[:1], law.roundings)[0]])
        places = np.r_[edges[:-1], edges[1:], edges[0]]
        if law.high <= edges[-1] + blur:
            logs = np.r_[logs, math.log(p_ends[1] + tail_error(p_ends[1:], law.roundings)[0])]
            places = np.r_[places, max(law.high, edges[-1])]
        else:
            logs, places = np.r_[logs, _log_tail_moment(law, order, float(edges[-1]))], np.r_[places, 0.0]
        exponents = logs + (order - 1) * places
    high = _log_of_sum(exponents[logs > -math.inf]) + (order - 1) * blur + UNIT * 64
    return _per_order(low, high, order)


def _cover_losses(law: Law) -> Floats:
    """Return losses that cover the law, finer near its anchor."""
    low, high = loss_quantile(law, -1, 1e-290), loss_quantile(law, +1, 1e-290)
    if isinstance(law, AtomsLaw):
        low, high = max(low, -1e4), min(high, 1e4)
    around = np.geomspace(1e-10, 1.0, CELLS_PER_LAW)
    edges = np.r_[
        law.anchor,
        law.anchor - (law.anchor - low) * around,
        law.anchor + (high - law.anchor) * around,
        np.linspace(low, high, CELLS_PER_LAW),
    ]
    edges = np.unique(edges)
    return edges if len(edges) > 1 else np.r_[edges, edges + 1e-9]


def _log_tail_moment(law: Law, order: float, loss: float) -> float:
    """Return an upper limit on ln E_P[e^((α − 1)L); L ≥ loss], or ∞ if none is known."""
    from scipy.special import log_ndtr

    if isinstance(law, GaussianLaw):
        # Under the tilted law, L/μ is normal with mean (α − 1/2)μ.
        growth = order * (order - 1) * law.mu**2 / 2
        return growth + float(log_ndtr((order - 0.5) * law.mu - loss / law.mu)) + 1e-12 * (1 + growth)
    if isinstance(law, SampledLaw) and isinstance(law.law, GaussianLaw):
        # (1 − q + q e^l)^α is at most (q e^l)^α (1 + (1 − q)/(q e^l))^α, where l is the loss without sampling.
        inner = loss + math.log(-math.expm1(math.log1p(-law.rate) - loss) / law.rate)
        more = math.log1p((1 - law.rate) / law.rate * math.exp(-inner))
        return order * (math.log(law.rate) + more) + _log_tail_moment(law.law, order, inner - law.blur)
    if isinstance(law, SymmetrizedLaw) and loss > 0:
        return _log_tail_moment(law.law, order, loss)
    if isinstance(law, OppositeLaw) and law.kind == "gaussian" and law.rate < 1:
        # For x > 0, Q lies between (1 − q)N₀ and N₀, so P/Q ≤ (1 − q + q e^l)/(1 − q).
        x = float(law.cut(np.array([loss]))[0])
        inner = law.reach * x - law.reach**2 / 2 - law.blur
        sampled = SampledLaw(GaussianLaw(law.reach), law.rate)
        return _log_tail_moment(sampled, order, sampled.sampled_loss(inner)) - order * math.log1p(-law.rate)
    return math.inf
