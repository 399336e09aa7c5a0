"""Algorithm 1 of document 004: a count with Gaussian noise, then noise in proportion to the noisy count.

Y = X(1 + rZ) with X ~ N(x, σ²), Z ~ N(0, 1). With t = ±e^u for the value of X,

    f(y) = Σ over both signs of ∫ exp(−A(u) − B(u)) du / (2π σ r),
    A = (±e^u − x)²/(2σ²),   B = (±y e^(−u) − 1)²/(2r²),

since dt/|t| = du absorbs the pole of the conditional density at t = 0. The integrand is analytic and falls doubly
exponentially on both sides unless y = 0, where f has a logarithmic pole: just what the trapezoidal rule is best at.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from auditor.errors import require_number
from mechanisms.exact.distributions import Density, Reals

# What lies e^−DEPTH below the peak of the integrand is left out; e^−45 is 3·10⁻²⁰.
DEPTH = 45.0

# The range of u is narrowed on grids of GRID + 1 points for as long as that takes SHRINKS off it.
GRID, SHRINKS = 16, 0.6

# The trapezoidal rule doubles its points until two rules agree to AGREEMENT. Its error falls like e^(−c·points) or
# faster, so that twice the points square it: the finer rule is then limited by rounding, of sums and of exponents.
AGREEMENT, ROUNDING = 1e-11, 1e-14
FEWEST, MOST = 32, 2**14

# The rounding of exponents of this size is 2 nats or more.
COARSE = 1e16
EPS = float(np.finfo(float).eps)

# Outputs nearer to 0 than this count as 0, where the density has its pole: y/t would leave the range of doubles.
AT_POLE = 1e-290

# Rows are integrated in blocks, to keep memory below about 30 MB.
BLOCK = 2**20


@dataclass(frozen=True, slots=True)
class _TwoStage:
    """The log density of Y, computed in units of the count (of sigma where the count is 0)."""

    count: float
    sigma: float
    r: float

    def __call__(self, outputs: Reals) -> Reals:
        y = np.asarray(outputs, dtype=np.float64)
        unit = abs(self.count) or self.sigma
        flat = y.ravel() / unit
        poles = np.abs(flat) < AT_POLE
        # One row for each output and sign of t: the sign moves to the count and the output.
        signed = np.where(poles, 1.0, flat)
        counts = np.repeat([self.count / unit, -self.count / unit], len(flat))
        scaled = _Scaled(self.sigma / unit, self.r)
        logs = scaled.log_integral(counts, np.concatenate([signed, -signed])).reshape(2, len(flat))
        result = np.logaddexp(logs[0], logs[1]) - math.log(2 * math.pi * self.sigma * self.r)
        return np.where(poles, np.inf, result).reshape(y.shape)


class _Rows(NamedTuple):
    """Integrals to compute, one a row: the count, the output, the range of u, and (nearly) the peak's log."""

    counts: Reals
    outputs: Reals
    low: Reals
    high: Reals
    top: Reals

    def at(self, chosen: Any) -> "_Rows":
        """Return the chosen rows."""
        return _Rows(*(column[chosen] for column in self))


@dataclass(frozen=True, slots=True)
class _Scaled:
    """The integral over u of e^(−A − B), for rows of counts ±1 or 0 and of outputs, both in the same unit."""

    sigma: float
    r: float

    def _terms(self, u: Reals, counts: Reals, outputs: Reals) -> tuple[Reals, Reals]:
        """Return A and B for rows of ``u``."""
        # t − 1 from u: where σ is a millionth of the count, t and 1 agree to as many digits.
        t, beyond = np.exp(u), np.expm1(u)
        first = ((beyond + (1 - counts[:, None])) / self.sigma) ** 2 / 2
        second = ((outputs[:, None] / t - 1) / self.r) ** 2 / 2
        return first, second

    def log_integral(self, counts: Reals, outputs: Reals) -> Reals:
        """Return the logarithm of each row's integral, −inf where it is negligible beside that of the other sign."""
        low, high, top = self._narrow(counts, outputs)
        # Where rounding of the exponents is as large as the logarithm of their sum, the largest exponent stands for the sum.
        coarse = top < -COARSE
        result = np.where(coarse, top, -np.inf)
        # The second half of the rows has the other sign of t; most are negligible beside the first.
        open_rows = np.flatnonzero(~coarse & (top > np.roll(top, len(top) // 2) - DEPTH))
        # Far out the exponents are large, and more points would resolve nothing but their rounding.
        noise = 16 * EPS * np.abs(top)
        # The trapezoidal rule on [low, high], whose ends are negligible: the mean of the points times the width.
        rows = _Rows(counts, outputs, low, high, top).at(open_rows)
        sums = self._row_sums(rows, FEWEST, 0.0)
        points = FEWEST
        while True:
            finer = sums + self._row_sums(rows, points, 0.5)
            width = rows.high - rows.low
            with np.errstate(divide="ignore"):
                result[open_rows] = np.log(finer * width / (2 * points)) + rows.top
            unsettled = np.abs(2 * sums - finer) > (AGREEMENT + noise[open_rows]) * finer
            points *= 2
            if not unsettled.any() or points >= MOST:
                return result
            open_rows, rows, sums = open_rows[unsettled], rows.at(unsettled), finer[unsettled]

    def _row_sums(self, rows: "_Rows", points: int, offset: float) -> Reals:
        """Return Σ of the integrand, divided by e^top, over ``points`` equally spaced places of each row."""
        steps = (np.arange(points) + offset) / points
        totals = np.empty(len(rows.top))
        size = max(1, BLOCK // points)
        for start in range(0, len(totals), size):
            part = slice(start, start + size)
            counts, outputs, low, high, top = rows.at(part)
            first, second = self._terms(low[:, None] + (high - low)[:, None] * steps, counts, outputs)
            totals[part] = np.exp(-first - second - top[:, None]).sum(axis=1)
        return totals

    def _narrow(self, counts: Reals, outputs: Reals) -> tuple[Reals, Reals, Reals]:
        """Return a range of u outside which the integrand is below e^−DEPTH of its peak, and (nearly) the peak's log.

        It starts from where A and B alone allow, and drops outer cells of a grid until that hardly helps. Where the
        integrand has one peak, cells are dropped by their ends. It has more than one only for 0 < y < x: elsewhere
        t·d/dt(−A − B) = −t(t − x)/σ² + (y/t − 1)(y/t)/r² has one root, since it falls wherever its terms differ in
        sign. There a cell is dropped when A and B, each at least its smaller end unless its zero lies inside, sum to
        too much; that is sure however many peaks there are.
        """
        size = np.abs(outputs)
        # The scale at which A and B balance far from both zeros; any point gives a sure lower bound on the peak.
        balance = np.sqrt(self.sigma * size / self.r)
        tries = np.log(np.stack([np.maximum(counts, balance), size, balance], axis=1))
        top = -np.add(*self._terms(tries, counts, outputs)).min(axis=1)
        zero_a = np.log(np.where(counts > 0, counts, 1e-300))
        zero_b = np.where(outputs > 0, np.log(size), -np.inf)
        reach = np.sqrt(2 * (DEPTH - top))
        high = np.log(np.maximum(counts + self.sigma * reach, balance))
        low = np.log(size) - np.log1p(self.r * reach)
        low, high = np.minimum(low, high), np.maximum(low, high)
        one_peak = (outputs <= 0) | (counts <= 0) | (outputs >= counts)
        rows = np.arange(len(outputs))
        while len(rows) > 0:
            u = low[rows, None] + (high - low)[rows, None] * (np.arange(GRID + 1) / GRID)
            first, second = self._terms(u, counts[rows], outputs[rows])
            whole = first + second
            top[rows] = np.maximum(top[rows], -whole.min(axis=1))
            # A lower bound on A + B in each cell: 0 right beside the minimum and else the lower end, or the least of A
            # plus that of B.
            ends = np.minimum(whole[:, :-1], whole[:, 1:])
            beside = np.abs(np.arange(GRID) + 0.5 - whole.argmin(axis=1)[:, None]) < 1
            apart = np.zeros_like(ends)
            for values, zero in ((first, zero_a), (second, zero_b)):
                inside = (u[:, :-1] <= zero[rows, None]) & (zero[rows, None] <= u[:, 1:])
                apart += np.where(inside, 0.0, np.minimum(values[:, :-1], values[:, 1:]))
            least = np.where(one_peak[rows, None], np.where(beside, 0.0, ends), apart)
            kept = least <= DEPTH - top[rows, None]
            kept |= beside
            every, width = np.arange(len(rows)), high[rows] - low[rows]
            low[rows] = u[every, kept.argmax(axis=1)]
            high[rows] = u[every, GRID - kept[:, ::-1].argmax(axis=1)]
            rows = rows[high[rows] - low[rows] < SHRINKS * width]
        return low, high, top


def two_stage_gaussian(count: float, sigma: float, r: float) -> Density:
    """Return one group's output of Algorithm 1 (document 004), Y = X(1 + rZ) with X ~ N(count, σ²).

    The first stage alone is 1/(2σ²)-zCDP. The log density is right to about 10⁻¹⁴, and to rounding of its size
    far in the tails.

    Raises InvalidInputError unless count is finite, sigma > 0 and r > 0.
    """
    count = require_number("count", count, -math.inf, math.inf)
    sigma = require_number("sigma", sigma, 0, math.inf, low_open=True)
    r = require_number("r", r, 0, math.inf, low_open=True)
    width = math.hypot(sigma, r * count)
    points = (0.0, count - 8 * width, count - width, count, count + width, count + 8 * width)
    return Density(_TwoStage(count, sigma, r), points, log_error=ROUNDING)
