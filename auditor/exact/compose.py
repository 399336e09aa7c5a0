"""The privacy loss of many steps: loss laws on a grid, and their convolution by a Fourier transform with bounded error.

The hockey-stick divergence of a composition is δ(ε) = E_P[(1 − e^(ε − S))₊], where S is the sum of the losses of the steps. As
functions of γ = e^ε, the curves H of pairs are convex, and a composition is monotone in them: H of two steps is
E[H₁(γe^(−L₂))].

**Upper end.** On a grid of step h, the mass of each cell is put on its two ends so that the masses of P and of Q both stay
("connect the dots": Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). The curve H' of that pair lies above H, and so it
does after any number of steps.

**Lower end.** In a cell, H' is the chord of H, and H lies above the tangents at its ends and in the middle. So H' − H ≤ d_j in
cell j, where d_j is what the chord has above the points where they meet. Exchanging one step after another,

    H'^T(γ) − H^T(γ) = Σ_t E_rest[(H' − H)(γe^(−S_rest))] ≤ T E_rest'[M(γe^(−S_rest))]

for any convex, falling M ≥ H' − H, since rest' has all steps rounded up. Such an M is a sum of hockey sticks: with
D_j = max(d_j, d_(j+1), ...), it is Σ_j (D_j − D_(j+1)) (1 − γe^(−g))₊/(1 − e^(−v)) with g = g_(j+1) + v, for any v > 0.
The best v is about ln(1 + 1/s), where δ falls by e^(−s) per nat. The loss is of second order in h, unless there are atoms
between the points of the grid.

**Rounding.** All sums are taken under P_λ, whose density is proportional to e^(λS), with λ near the saddle point of the ε in
question. So an absolute error of the transform is one relative to the Chernoff bound κ E[e^(λS)] e^(−λε), where
κ(λ) = sup_y (1 − e^(−y)) e^(−λy) = λ^λ/(1 + λ)^(1 + λ), and δ may be as small as SMALLEST, at which tails are cut. A
transform of N numbers is taken to err by at most FFT_ERROR × UNIT × log₂ N of its Euclidean norm: for radix 2, Higham
(2002), Theorem 24.2 proves about 7, and twice that is assumed of the other radices. A product of complex numbers errs by at
most √5 units (Brent, Percival & Zimmermann 2007). All of this, the tails that are cut, and what wraps around, is put on the
safe side of each end.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats
from auditor.exact.laws import UNIT, Law, tail_error

Complexes = NDArray[np.complex128]
FFT_ERROR = 16.0
SMALLEST = 1e-100  # tails below it are cut
UNWINDOWED_CELLS = 2**13  # up to so many cells, all sums there are have one, and no window is needed
MOST_CELLS = 2**20  # of the transform; an interval that would need more stays wider
TILTS, LARGEST_TILT = np.geomspace(1e-8, 1e8, 193), 1e3
STRIDE = 8  # of the tilts that are tried first
_SPACING = np.r_[0.0, np.geomspace(1e-10, 1.0, 500)]


class RepeatedStep(NamedTuple):
    """The loss law of a step that is repeated ``steps`` times."""

    law: Law
    steps: int


class DeltaEnclosure(NamedTuple):
    """Two functions of ε (nats) between which δ(ε) lies."""

    low: Callable[[float], float]
    high: Callable[[float], float]


def kappa(tilt: float) -> float:
    """Return ln of the largest value of (1 − e^(−y)) e^(−tilt y) over y ≥ 0."""
    return tilt * math.log(tilt / (1 + tilt)) - math.log1p(tilt) if tilt > 0 else 0.0


# --- One step ---


def enclose_single_step(law: Law) -> DeltaEnclosure:
    """Return an enclosure of δ of one step: P[L ≥ ε] − e^ε Q[L ≥ ε], from tails that err by what the law says."""

    def at(epsilon: float) -> tuple[float, float]:
        tails = law.tails(np.array([epsilon]))
        p, q = tails.p_above, math.exp(min(epsilon, 700.0)) * tails.q_above
        spread = tail_error(tails.p_above, law.roundings) + math.exp(min(epsilon, 700.0)) * tail_error(
            tails.q_above, law.roundings
        )
        if epsilon >= 700:  # e^ε Q is at most P there
            q, spread = 0 * p, spread + p
        # A cut at a place that is off by ``blur`` misjudges the losses between by at most that share of their mass.
        error = spread + (8 * UNIT + 2 * law.blur) * (tails.p_above + q)
        return float((p - q)[0]), float(error[0]) + 1e-300  # numbers near the smallest one have few digits

    def low(epsilon: float) -> float:
        value, error = at(epsilon)
        return max(0.0, value - error)

    def high(epsilon: float) -> float:
        value, error = at(epsilon)
        return min(1.0, value + error)

    return DeltaEnclosure(low, high)


# --- A law on a grid ---


@dataclass(frozen=True, slots=True)
class GridLaw:
    """The loss of one step on a grid: ``masses`` of P at ``origin`` + h × ``first``, ``first`` + 1, ..., and at ∞.

    ``infinite`` is the mass at ∞, and ``cut`` the part of it whose losses are finite. ``excess`` holds D_j for each cell,
    that of the cell below the grid first.
    """

    origin: float
    first: int
    masses: Floats
    infinite: float
    excess: Floats
    cut: float

    def losses(self, h: float) -> Floats:
        """Return the losses (nats) of the masses."""
        return np.asarray(self.origin + h * (self.first + np.arange(len(self.masses))), np.float64)

    def majorant(self, h: float, distance: float) -> "GridLaw":
        """Return M as a step on the grid, for a v of about ``distance``."""
        shift = max(1, math.ceil(distance / h))
        steps = (self.excess - np.r_[self.excess[1:], 0.0]) / -math.expm1(-shift * h)
        return GridLaw(self.origin, self.first + shift, steps, self.cut, self.excess, 0.0)


def round_up_to_grid(law: Law, h: float, bottom: float, top: float) -> GridLaw:
    """Return a law moved to a grid through its anchor, of step ``h`` over [bottom, top], by connecting the dots."""
    first, last = math.floor((bottom - law.anchor) / h), math.ceil((top - law.anchor) / h)
    last = max(last, first + 1)
    edges = np.asarray(law.anchor + h / 2 * np.arange(2 * first, 2 * last + 1), np.float64)  # of half cells
    tails = law.tails(edges)
    blur = law.blur + 16 * UNIT * (1 + max(abs(edges[0]), abs(edges[-1])))
    halves, halves_error = cell_masses(tails.p_above, tails.p_below, law.roundings)
    others, others_error = cell_masses(tails.q_above, tails.q_below, law.roundings)
    p, p_error = halves[::2] + halves[1::2], halves_error[::2] + halves_error[1::2]
    with np.errstate(over="ignore", invalid="ignore"):  # e^g Q, for the lower end g of each cell
        ratio = np.exp(np.minimum(edges[:-1:2], 700.0))
        q = ratio * (others[::2] + others[1::2])
        q_error = ratio * (others_error[::2] + others_error[1::2]) + blur * q
        q_error = np.minimum(q_error, np.maximum(p, q) + p_error)
    high_p, low_q = p + p_error, np.maximum(0.0, q - q_error)
    to_next = np.clip((high_p - low_q + 8 * UNIT * high_p) / -math.expm1(-h), 0.0, high_p)
    stay = high_p - to_next
    masses = np.r_[stay, 0.0]
    masses[1:] += to_next

    below, above = float(tails.p_below[0]), float(tails.p_above[-1])
    below_error, above_error = (float(tail_error(np.array([end]), law.roundings)[0]) for end in (below, above))
    masses[0] += below + below_error
    certain = law.infinite * (1 + 4 * UNIT * law.roundings)
    rest = max(0.0, above + above_error - law.infinite)
    if law.high <= edges[-1] + blur:
        masses[-1] += rest
        infinite, cut = certain, 0.0
    else:
        infinite, cut = certain + rest, rest
    gaps = _chord_excess(halves, ratio[:, None] * others.reshape(-1, 2), to_next, h)
    inflation = 4 * (p_error + q_error + 8 * UNIT * high_p)
    inflation = np.cumsum(inflation[::-1])[::-1]
    moved = -math.expm1(law.low - edges[0] - blur) if law.low <= edges[0] else 1.0  # of what lies below the grid
    excess = np.r_[below * moved + below_error + inflation[0], gaps + inflation]
    excess = np.maximum.accumulate(excess[::-1])[::-1] + above_error + (certain - law.infinite)
    return GridLaw(law.anchor, first, masses, infinite, excess, cut)


def _chord_excess(p: Floats, q: Floats, chord: Floats, h: float) -> Floats:
    """Return the largest distance of the chord above the tangents at the ends and in the middle of each cell.

    With γ = 1 and e^h at the ends of a cell, the chord is ``chord`` (1 − γe^(−h)). The tangents meet where γ is P/Q of a half.
    """
    halves = p.reshape(-1, 2)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        meet = np.where(q > 0, halves / np.maximum(q, 1e-320), math.inf)
    meet = np.clip(meet, [1.0, math.exp(h / 2)], [math.exp(h / 2), math.exp(h)])
    above = chord[:, None] * -np.expm1(np.log(meet) - h)
    above[:, 0] -= np.maximum(0.0, halves[:, 1] - meet[:, 0] * q[:, 1])
    return np.asarray(np.maximum(above, 0.0).max(axis=1))


def cell_masses(above: Floats, below: Floats, roundings: float) -> tuple[Floats, Floats]:
    """Return the masses between neighbouring edges and bounds on their errors, from the smaller tail."""
    is_up = above[:-1] < 0.5
    masses = np.where(is_up, above[:-1] - above[1:], below[1:] - below[:-1])
    larger = np.where(is_up, above[:-1], below[1:])
    return np.maximum(masses, 0.0), 2 * tail_error(larger, roundings)


# --- Which tilt, and how fine ---


@dataclass(frozen=True, slots=True)
class Sketch:
    """Masses and mean losses of coarse cells of one law. Tilt and window are chosen by them, and nothing is proved by them."""

    losses: Floats
    masses: Floats
    steps: int
    top: float

    def log_moment(self, tilts: Floats) -> Floats:
        """Return steps × ln E_P[e^(tilt L)] for each tilt."""
        exponents = np.multiply.outer(tilts, self.losses)
        largest = exponents.max(axis=1)
        return np.asarray(self.steps * (largest + np.log(np.exp(exponents - largest[:, None]) @ self.masses)))

    def variance(self, tilt: float) -> float:
        """Return the variance of a loss under the tilted law."""
        logs = np.log(self.masses) + tilt * self.losses
        weights = np.exp(logs - logs.max())
        weights = np.asarray(weights / weights.sum())
        mean = float(weights @ self.losses)
        return float(weights @ (self.losses - mean) ** 2)

    def support(self, tilt: float, negligible: float) -> tuple[float, float]:
        """Return a loss to which all lower losses may be moved, and one above which P has a negligible mass.

        That mass is at most ``negligible``, divided by the number of steps. The move changes the tilted law by 1e-13.
        """
        below, above = np.cumsum(self.masses), np.cumsum(self.masses[::-1])[::-1]
        with np.errstate(divide="ignore"):
            moved = np.r_[-math.inf, np.log(below[:-1])] + tilt * self.losses
        log_total = float(self.log_moment(np.array([tilt]))[0]) / self.steps
        low = self.losses[np.flatnonzero(moved <= log_total + math.log(1e-13 / self.steps))[-1]]
        ends = np.r_[self.losses[1:], self.top]  # a cell ends at or below the loss of the following one
        return float(low), float(ends[np.flatnonzero(above >= min(negligible / self.steps, above[0]))[-1]])

    def below(self, loss: float) -> "Sketch":
        """Return the part with losses of at most ``loss``."""
        kept = self.losses <= loss
        return Sketch(self.losses[kept], self.masses[kept], self.steps, self.top)


def sketch_law(part: RepeatedStep) -> Sketch:
    """Return coarse cells of a law, finer near its anchor and near its median."""
    law = part.law
    high, low = loss_quantile(law, +1, SMALLEST), loss_quantile(law, -1, SMALLEST)
    lower, upper = low, high
    for _ in range(4):  # the median of the loss under P, to a part in 10⁷ of its range
        places = np.linspace(lower, upper, 66)
        first = int(np.argmax(law.tails(places).p_above < 0.5))
        lower, upper = float(places[max(first - 1, 0)]), float(places[first])
    edges = np.concatenate(
        [np.r_[c - (c - low) * _SPACING[::-1], c + (high - c) * _SPACING] for c in (law.anchor, (lower + upper) / 2)]
    )
    edges = np.unique(edges)
    if len(edges) == 1:
        edges = np.r_[edges, edges + 1e-9]
    tails = law.tails(edges)
    p = np.r_[cell_masses(tails.p_above, tails.p_below, 0)[0], max(0.0, tails.p_above[-1] - law.infinite)]
    q = np.r_[cell_masses(tails.q_above, tails.q_below, 0)[0], tails.q_above[-1]]
    if not (kept := p > 1e-70).any():  # all losses are infinite
        return Sketch(np.array([law.anchor]), np.array([1e-70]), part.steps, float(edges[-1]))
    with np.errstate(divide="ignore", over="ignore"):
        losses = np.log(p[kept] / q[kept])
    losses = np.clip(losses, edges[np.flatnonzero(kept)], np.r_[edges[1:], edges[-1]][kept])
    return Sketch(losses, p[kept], part.steps, float(edges[-1]))


def loss_quantile(law: Law, sign: int, mass: float) -> float:
    """Return a loss above which (for sign −1: below which) P has at most this mass, or the largest (least) finite loss."""
    end = law.high if sign > 0 else law.low
    if math.isfinite(end):
        return end

    def first_beyond(distances: Floats) -> int:
        tails = law.tails(law.anchor + sign * distances)
        outside = tails.p_above - law.infinite if sign > 0 else tails.p_below
        return int(np.argmax(outside <= mass)) if (outside <= mass).any() else len(distances) - 1

    powers = np.r_[0.0, 4.0 ** np.arange(-20, 26)]
    place = max(1, first_beyond(powers))
    between = np.linspace(powers[place - 1], powers[place], 65)[1:]
    return law.anchor + sign * float(between[first_beyond(between)])


def find_saddle_point(
    sketches: Sequence[Sketch], log_delta: float | None, epsilon: float | None
) -> tuple[float, float]:
    """Return the tilt for an ε, or for ln δ, and the ε that it is best for (nats)."""
    # A larger tilt would need a finer grid than is allowed.
    most = LARGEST_TILT / max(float(part.losses.max() - part.losses.min()) + 1e-12 for part in sketches)
    tilts = TILTS[max(most, TILTS[0]) >= TILTS]

    def log_bounds(tilts: Floats) -> Floats:
        constants = np.array([kappa(float(tilt)) for tilt in tilts])
        return np.asarray(sum(part.log_moment(tilts) for part in sketches) + constants)

    if log_delta is not None:
        tilt, least = _least_of_valley(lambda at: (log_bounds(at) - log_delta) / at, tilts)
        epsilon = max(0.0, least)
        if epsilon > 0:
            return tilt, epsilon
    assert epsilon is not None
    # A δ far below SMALLEST is only bounded, by a tilt at which nothing underflows.
    floor = math.log(SMALLEST) + 20
    tilt, _ = _least_of_valley(lambda at: np.maximum(log_bounds(at) - at * epsilon, floor), tilts)
    return tilt, epsilon


def _least_of_valley(function: Callable[[Floats], Floats], places: Floats) -> tuple[float, float]:
    """Return the first of ascending places at which a function is least, and its value there.

    The function must fall to its least value, and rise from there, as a convex one does, and its quotient by a positive linear
    one. So every STRIDE-th place says near which of them the least one is.
    """
    coarse = places[::STRIDE]
    near = STRIDE * int(np.argmin(function(coarse)))
    around = places[max(0, near - STRIDE + 1) : near + STRIDE]
    values = function(around)
    best = int(np.argmin(values))
    return float(around[best]), float(values[best])


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a sum that is computed (nats): the range of each part's losses, the sum from ``bottom`` to ``top``.

    ``tilt`` is λ. ``down`` and ``up`` are the tilts of the Chernoff bounds on what lies outside. ``deviation`` is the
    standard deviation of the sum under P_λ. ``slope`` is about −d ln δ/dε, from which the best v follows; it is the tilt,
    unless the tail is heavier than any e^(−λx).
    """

    tilt: float
    reaches: tuple[tuple[float, float], ...]
    bottom: float
    top: float
    down: float
    up: float
    deviation: float
    slope: float

    @property
    def shift(self) -> float:
        """The v of M."""
        return min(math.log1p(1 / self.slope), 2 * self.deviation)


def chernoff_bound(sketches: Sequence[Sketch], tilt: float, epsilon: float) -> float:
    """Return κ E[e^(λS)] e^(−λε), approximately and at most 1; δ does not exceed it."""
    at = np.array([tilt])
    return math.exp(min(0.0, float(sum(part.log_moment(at)[0] for part in sketches)) + kappa(tilt) - tilt * epsilon))


def choose_window(sketches: Sequence[Sketch], tilt: float, epsilon: float, negligible: float) -> Window:
    """Return a window such that what lies outside adds about ``negligible``, or less, to δ near ``epsilon``."""
    at = np.array([tilt])
    chernoff = max(chernoff_bound(sketches, tilt, epsilon), SMALLEST)
    share = min(math.log(max(negligible, SMALLEST) / chernoff), -5.0)
    reaches = tuple(part.support(tilt, negligible) for part in sketches)
    inside = [part.below(high) for part, (_, high) in zip(sketches, reaches, strict=True)]
    at_tilt = sum(part.log_moment(at) for part in inside)
    least = max(1e-12, 1e-4 * max(float(np.abs(part.losses).max()) for part in inside))
    deviation = max(math.sqrt(sum(part.steps * part.variance(tilt) for part in inside)), least)
    further = np.geomspace(min(0.02 / deviation, 0.1), 20.0 / deviation, 41)
    ends, chosen = [], []
    for sign in (-1, 1):

        def lengths(further: Floats, sign: int = sign) -> Floats:
            logs = sum(part.log_moment(tilt + sign * further) for part in inside) - at_tilt
            return np.asarray((logs - share) / further)

        best, length = _least_of_valley(lengths, further)
        ends.append(sign * length)
        chosen.append(best)
    return Window(tilt, reaches, ends[0], ends[1], chosen[0], chosen[1], deviation, tilt)


# --- The sum ---


@dataclass(frozen=True, slots=True)
class TiltedSum:
    """The sum of all steps under P_λ: masses at ``start`` + h × 0, 1, ..., and bounds on their errors.

    ``masses`` are those of all steps rounded up, times e^−``log_scale``; ``excess`` are those of Σ T E_rest'[M]. For each of
    the two, ``errors`` bound the Euclidean norm of the error, and ``wrapped`` the mass outside the window.
    """

    tilt: float
    log_scale: float
    h: float
    start: float
    masses: Floats
    excess: Floats
    errors: tuple[float, float]
    wrapped: tuple[float, float]
    infinite: float
    infinite_excess: float
    relative: float

    def high(self, epsilon: float) -> float:
        """Return an upper limit on δ."""
        value, error = self._finite(epsilon, 0)
        return min(1.0, float(self.infinite + max(0.0, value) + error))

    def low(self, epsilon: float) -> float:
        """Return a lower limit on δ."""
        value, error = self._finite(epsilon, 0)
        excess, excess_error = self._finite(epsilon, 1)
        if math.inf in (error, excess_error):
            return 0.0
        return max(0.0, float(self.infinite - self.infinite_excess + value - error - excess - excess_error))

    def _finite(self, epsilon: float, which: int) -> tuple[float, float]:
        """Return the contribution to δ at ε of the masses (0) or of their excess (1), and a bound on its error."""
        first = max(0, math.floor((epsilon - self.start) / self.h) + 1)
        over = self.start - epsilon + self.h * np.arange(first, len(self.masses))
        weights = np.exp(-self.tilt * over) * -np.expm1(-over)
        exponent = self.log_scale - self.tilt * epsilon
        if exponent > 300:  # far from where the tilt is of use
            return 0.0, math.inf
        value = float(np.sum((self.masses, self.excess)[which][first:] * weights))
        error = self.errors[which] * math.sqrt(float(weights @ weights))
        error += math.exp(kappa(self.tilt)) * self.wrapped[which] + abs(value) * (self.relative + 64 * UNIT)
        scale = math.exp(exponent)
        return scale * value, float(scale * error + 1e-300)


def convolve(parts: Sequence[tuple[GridLaw, int]], h: float, window: Window) -> TiltedSum:
    """Return the sum of independent steps, each repeated as often as its number says."""
    from scipy import fft

    tilt = window.tilt
    origin = sum(rounded.origin * steps for rounded, steps in parts)
    lowest = sum(rounded.first * steps for rounded, steps in parts)
    highest = sum((rounded.first + len(rounded.masses) - 1) * steps for rounded, steps in parts)
    bottom, top = math.floor((window.bottom - origin) / h), math.ceil((window.top - origin) / h)
    every = highest + math.ceil(window.shift / h) + 1
    if every - lowest < UNWINDOWED_CELLS:
        bottom, top = lowest, every
    bottom = max(lowest, bottom)
    size = int(fft.next_fast_len(max(2, top - bottom + 1), real=True))
    start = origin + h * bottom
    ends = {-window.down: start, window.up: start + h * size}
    steps = [_TiltedStep.of(rounded, count, h, window, size, tuple(ends)) for rounded, count in parts]
    count = sum(step.count for step in steps)

    one_less = [_raise_transform(step.spectrum, step.count - 1) for step in steps]
    all_steps = [_multiply(rest, step.spectrum) for rest, step in zip(one_less, steps, strict=True)]
    product = functools.reduce(np.multiply, all_steps)
    excess = np.zeros_like(product)
    for i, step in enumerate(steps):
        rest = one_less[i]
        others = [*all_steps[:i], *all_steps[i + 1 :], *([] if rest is None else [rest])]
        excess += step.excess_weight * functools.reduce(np.multiply, others, step.excess_spectrum)
    sums = [np.roll(fft.irfft(each, size), -(bottom % size)) for each in (product, excess)]

    unit = FFT_ERROR * UNIT * math.log2(size)
    of_spectra = sum(step.count * step.norm for step in steps) * unit
    of_excess = sum(step.excess_weight * (of_spectra + step.excess_norm * unit) for step in steps)
    errors = []
    for of_product, summed in zip((of_spectra, of_excess), sums, strict=True):
        before = of_product * math.exp(min(1.0, of_spectra))
        errors.append(before + (unit + 4 * count * UNIT) * (math.sqrt(float(summed @ summed)) + before))
    # By Chernoff's bound. In the excess, one step has the losses of M, which are higher.
    wrapped = [0.0, 0.0]
    for side, (further, end) in enumerate(ends.items()):
        log_moment = sum(step.count * step.log_moments[side] for step in steps) - further * end + 1e-6
        cut = bottom > lowest if side == 0 else bottom + size <= highest
        wrapped[0] += math.exp(min(0.0, log_moment)) if cut else 0.0
        for step in steps:
            cut = bottom > lowest if side == 0 else bottom + size <= highest + step.shift
            moved = log_moment + step.excess_log_moments[side] - step.log_moments[side]
            wrapped[1] += step.excess_weight * math.exp(min(0.0, moved)) if cut else 0.0
    infinite = -math.expm1(sum(count * math.log1p(-min(rounded.infinite, 1 - 1e-16)) for rounded, count in parts))
    # Where the other steps have an infinite loss, M is all of its masses.
    infinite_excess = sum(
        step.count * (rounded.cut + infinite * step.excess_mass)
        for step, (rounded, _) in zip(steps, parts, strict=True)
    )
    return TiltedSum(
        tilt,
        sum(step.count * step.log_total for step in steps),
        h,
        start,
        sums[0],
        sums[1],
        (errors[0], errors[1]),
        (wrapped[0], wrapped[1]),
        infinite,
        infinite_excess,
        sum(step.relative for step in steps),
    )


@dataclass(frozen=True, slots=True)
class _TiltedStep:
    """The transforms of one tilted step and of its excess M, and the numbers from which errors are computed."""

    count: int
    spectrum: Complexes
    norm: float
    log_total: float
    log_moments: list[float]
    excess_spectrum: Complexes
    excess_norm: float
    excess_mass: float
    excess_weight: float
    excess_log_moments: list[float]
    shift: int
    relative: float

    @classmethod
    def of(
        cls, rounded: GridLaw, count: int, h: float, window: Window, size: int, further: tuple[float, ...]
    ) -> "_TiltedStep":
        tilt = window.tilt
        losses = rounded.losses(h)
        masses, log_total = _tilt(rounded.masses, losses, tilt)
        majorant = rounded.majorant(h, window.shift)
        excess_losses = majorant.losses(h)
        excess, excess_total = _tilt(majorant.masses, excess_losses, tilt)
        return cls(
            count,
            _transform(masses, rounded.first, size),
            math.sqrt(float(masses @ masses)),
            log_total,
            [_tilt(masses, losses, more)[1] for more in further],
            _transform(excess, majorant.first, size),
            math.sqrt(float(excess @ excess)),
            float(majorant.masses.sum()),
            count * math.exp(min(300.0, excess_total - log_total)),
            [_tilt(excess, excess_losses, more)[1] for more in further],
            majorant.first - rounded.first,
            count * UNIT * (64 + 4 * tilt * max(abs(losses[0]), abs(excess_losses[-1]))),
        )


def _tilt(masses: Floats, losses: Floats, tilt: float) -> tuple[Floats, float]:
    """Return masses times e^(tilt × loss), divided by their sum, and ln of that sum."""
    exponents = tilt * losses
    largest = float(exponents[masses > 0].max(initial=-math.inf))
    if largest == -math.inf:
        return np.r_[np.zeros(len(masses) - 1), 1.0], -math.inf
    weighted = masses * np.exp(np.minimum(exponents - largest, 0.0))
    total = float(weighted.sum())
    return weighted / total, math.log(total) + largest


def _transform(masses: Floats, first: int, size: int) -> Complexes:
    """Return the Fourier transform of masses at ``first``, ``first`` + 1, ... modulo ``size``."""
    from scipy import fft

    folded = np.zeros(size)
    rest, place = masses, first % size
    while len(rest):
        count = min(len(rest), size - place)
        folded[place : place + count] += rest[:count]
        rest, place = rest[count:], 0
    return np.asarray(fft.rfft(folded))


def _raise_transform(base: Complexes, exponent: int) -> Complexes | None:
    """Return the power by repeated squaring; its relative error is that of exponent − 1 products. None stands for 1."""
    result = None
    while exponent:
        if exponent & 1:
            result = _multiply(result, base)
        exponent >>= 1
        if exponent:
            base = base * base
    return result


def _multiply(left: Complexes | None, right: Complexes) -> Complexes:
    return right if left is None else left * right


# --- δ of a composition ---


def enclose_composition(parts: Sequence[RepeatedStep], h: float, window: Window) -> DeltaEnclosure:
    """Return an enclosure of δ of a composition, which is narrow near the ε whose saddle point is the window's tilt."""
    rounded = [
        (round_up_to_grid(law, h, *reach), count) for (law, count), reach in zip(parts, window.reaches, strict=True)
    ]
    added = convolve(rounded, h, window)
    blur = sum(part.steps * part.law.blur for part in parts)
    return DeltaEnclosure(lambda epsilon: added.low(epsilon + blur), lambda epsilon: added.high(epsilon - blur))
