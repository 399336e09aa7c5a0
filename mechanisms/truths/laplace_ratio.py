"""The ratio of two independent Laplace variables in closed form: the private ratios of document 000, gs_avg of 001.

For R = N/D with N ~ Lap(a, 1), D ~ Lap(b, 1),

    f(r) = ∫ |t| f_N(rt) f_D(t) dt = ¼ ∫ |t| exp(−|rt − a| − |t − b|) dt,

whose exponent is linear between t = 0, b and a/r. Each of the four pieces is integrated in closed form from its
higher end, as a sum of positive terms, so that nothing cancels, and the pieces are added as logarithms.
"""

import math
from dataclasses import dataclass

import numpy as np

from auditor.errors import require_number
from mechanisms.exact.distributions import Density, Reals

EPS = float(np.finfo(float).eps)


def _exprel(z: Reals) -> Reals:
    """Return ∫₀¹ e^(zy) dy for z ≤ 0."""
    safe = np.where(z == 0, -1.0, z)
    return np.where(z == 0, 1.0, np.expm1(safe) / safe)


def _falling(z: Reals) -> Reals:
    """Return ∫₀¹ (1 − y) e^(zy) dy for z ≤ 0, to a few units in the last place."""
    far = np.minimum(z, -1.0)
    return np.where(z < -1, (np.expm1(far) - far) / far**2, _series(z, rising=False))


def _rising(z: Reals) -> Reals:
    """Return ∫₀¹ y e^(zy) dy for z ≤ 0, to a few units in the last place."""
    far = np.minimum(z, -1.0)
    return np.where(z < -1, (1 - np.exp(far) * (1 - far)) / far**2, _series(z, rising=True))


def _series(z: Reals, *, rising: bool) -> Reals:
    """Return Σ z^k/(k! (k + 2)) or Σ z^k/(k + 2)!, for −1 ≤ z ≤ 0; 18 terms leave 1/20!, below rounding."""
    near = np.maximum(z, -1.0)
    total = np.zeros_like(near)
    for k in range(17, -1, -1):
        factor = 1 / (math.factorial(k) * (k + 2)) if rising else 1 / math.factorial(k + 2)
        total = total * near + factor
    return total


def _log(values: Reals) -> Reals:
    with np.errstate(divide="ignore"):
        return np.log(values)


@dataclass(frozen=True, slots=True)
class _Ratio:
    """The log density of Lap(a, 1)/Lap(b, 1)."""

    a: float
    b: float

    def __call__(self, ratios: Reals) -> Reals:
        r = np.asarray(ratios, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            kink = self.a / r
        # At r = 0 (or so near it that a/r overflows) the exponent has no such kink where it matters.
        kink = np.where(np.isfinite(kink), kink, 0.0)
        ends = np.sort(np.stack([np.zeros_like(r), np.full_like(r, self.b), kink]), axis=0)
        pieces = [self._tail(r, ends[0], -1.0), self._tail(r, ends[2], 1.0)]
        pieces += [self._between(r, ends[0], ends[1]), self._between(r, ends[1], ends[2])]
        return np.asarray(np.logaddexp.reduce(pieces, axis=0) - math.log(4))

    def _exponent(self, r: Reals, t: Reals) -> Reals:
        # r · (a/r) may miss a by rounding; the exponent's error is then of the order of rounding of a, as stated.
        return -np.abs(r * t - self.a) - np.abs(t - self.b)

    def _tail(self, r: Reals, end: Reals, side: float) -> Reals:
        """Return ln ∫ of |t| e^exponent from ``end`` outwards, where |t| grows and the slope is −(|r| + 1)."""
        slope = np.abs(r) + 1
        return self._exponent(r, end) + _log(np.abs(end) / slope + 1 / slope**2)

    def _between(self, r: Reals, low: Reals, high: Reals) -> Reals:
        """Return ln ∫ of |t| e^exponent from ``low`` to ``high``, where 0 is not inside and the exponent is linear."""
        at_low, at_high = self._exponent(r, low), self._exponent(r, high)
        start, stop = np.where(at_low >= at_high, low, high), np.where(at_low >= at_high, high, low)
        middle, width = (low + high) / 2, high - low
        slope = np.abs(r * np.sign(r * middle - self.a) + np.sign(middle - self.b))
        z = -slope * width
        # |t| at distance x from the higher end is |start| + x or |stop| + (width − x).
        outwards = np.abs(stop) >= np.abs(start)
        nearer = np.minimum(np.abs(start), np.abs(stop))
        moment = nearer * _exprel(z) + width * np.where(outwards, _rising(z), _falling(z))
        piece: Reals = np.maximum(at_low, at_high) + _log(width * moment)
        return piece


@dataclass(frozen=True, slots=True)
class _Scaled:
    """The log density of R·scale."""

    ratio: _Ratio
    scale: float

    def __call__(self, outputs: Reals) -> Reals:
        return self.ratio(outputs / self.scale) - math.log(self.scale)


@dataclass(frozen=True, slots=True)
class _Share:
    """The log density of W/(1 + W) for a ratio W: r = w/(1 + w), so that w = r/(1 − r), dw/dr = 1/(1 − r)²."""

    ratio: _Ratio

    def __call__(self, outputs: Reals) -> Reals:
        r = np.asarray(outputs, dtype=np.float64)
        rest = np.where(r == 1, EPS, 1 - r)
        return np.asarray(self.ratio(r / rest) - 2 * np.log(np.abs(rest)))


def laplace_ratio(a: float, b: float, scale_a: float, scale_b: float | None = None) -> Density:
    """Return (a + Lap(scale_a))/(b + Lap(scale_b)); scale_b is scale_a unless given (document 000, the naive ratio).

    Its log density is right to rounding of the exponents, about 10⁻¹⁵ (1 + |a|/scale_a + |b|/scale_b).

    Raises InvalidInputError unless all are finite and the scales above 0.

    >>> density = laplace_ratio(0.0, 0.0, 1.0)
    >>> round(math.exp(density.log_density(np.array([1.0]))[0]), 12)  # 1/(2 (1 + |r|)²)
    0.125
    """
    a, b = (require_number(name, x, -math.inf, math.inf) for name, x in (("a", a), ("b", b)))
    scale_a = require_number("scale_a", scale_a, 0, math.inf, low_open=True)
    scale_b = scale_a if scale_b is None else require_number("scale_b", scale_b, 0, math.inf, low_open=True)
    ratio, scale = _Ratio(a / scale_a, b / scale_b), scale_a / scale_b
    points = {-1.0, 0.0, 1.0} | ({ratio.a / ratio.b} if ratio.b != 0 else set())
    return Density(_Scaled(ratio, scale), tuple(point * scale for point in points), log_error=_rounding(ratio))


def ksw_ratio(a: float, b: float, scale: float) -> Density:
    """Return ones/(ones + zeros) with ones = a + Lap(scale), zeros = (b − a) + Lap(scale) (document 000, KSW).

    It is W/(1 + W) for the ratio W = ones/zeros, a bijection but for one point, so its divergences are those of
    ``laplace_ratio(a, b − a, scale)``. Accuracy and errors raised are as there.
    """
    a, b = (require_number(name, x, -math.inf, math.inf) for name, x in (("a", a), ("b", b)))
    scale = require_number("scale", scale, 0, math.inf, low_open=True)
    ratio = _Ratio(a / scale, (b - a) / scale)
    points = {0.0, 0.5, 1.0} | ({a / b} if b != 0 else set())
    return Density(_Share(ratio), tuple(points), log_error=_rounding(ratio))


def _rounding(ratio: _Ratio) -> float:
    return 4 * EPS * (1 + abs(ratio.a) + abs(ratio.b))
