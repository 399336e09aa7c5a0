"""Privacy losses of one step: the laws of L = ln dP/dQ of a pair of output distributions, given by their tails.

All losses are in nats. A law gives the masses of P and of Q at L ≥ g and at L < g separately, so that small tails keep
their digits. Wrappers make new laws: of a sampled step, of the pair in the other direction, and of the curve that is the
larger one of both directions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.errors import InvalidInputError

UNIT = 2.0**-53  # the largest relative error of one rounding
# The mass that may be dropped where integer noise is cut: far below any δ used in practice.
MOST_DROPPED = 1e-150


class Tails(NamedTuple):
    """Masses of P and Q at L ≥ g (``above``) and at L < g (``below``), for an array of g; all of one shape."""

    p_above: Floats
    q_above: Floats
    p_below: Floats
    q_below: Floats


class Law(Protocol):
    """The privacy loss of a pair (P, Q). A tail t has a relative error of at most UNIT × (``roundings`` + 16 \\|ln t\\|)."""

    @property
    def low(self) -> float:
        """A lower bound on the finite losses, or −∞."""

    @property
    def high(self) -> float:
        """The largest finite loss, or ∞."""

    @property
    def anchor(self) -> float:
        """A loss that a grid should contain, since much of the mass is at it or near it."""

    @property
    def lattice(self) -> float:
        """The spacing of the losses, if all are the anchor plus a multiple of it; else 0."""

    @property
    def infinite(self) -> float:
        """The mass of P where Q has none."""

    @property
    def missing(self) -> float:
        """The mass of Q where P has none."""

    @property
    def blur(self) -> float:
        """A bound on the error (nats) of the loss at which ``tails`` cuts."""

    @property
    def roundings(self) -> float:
        """The error of a tail near 1, in units in the last place."""

    def tails(self, losses: Floats) -> Tails:
        """Return the masses on either side of each loss."""


def tail_error(tail: Floats, roundings: float) -> Floats:
    """Return a bound on the absolute error of tails, as ``Law`` states it.

    Distribution functions of SciPy err by a few units in the last place of their value, and by the rounding of their
    argument x, whose effect is at most x² ≤ 2 \\|ln t\\| units: the tests compare them with 40 digits.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        error = UNIT * tail * (roundings - 16 * np.log(tail))
    return np.where(tail > 0, error, 1e-300)


@dataclass(frozen=True)
class GaussianLaw:
    """N(mu, 1) against N(0, 1): the loss is normal, with mean mu²/2 and standard deviation mu."""

    mu: float
    low: float = -math.inf
    high: float = math.inf
    lattice: float = 0.0
    infinite: float = 0.0
    missing: float = 0.0
    blur: float = 0.0
    roundings: float = 32.0

    @property
    def anchor(self) -> float:
        return self.mu**2 / 2

    def tails(self, losses: Floats) -> Tails:
        from scipy.special import ndtr

        with np.errstate(over="ignore"):
            scaled = losses / self.mu
        p, q = self.mu / 2 - scaled, -self.mu / 2 - scaled
        return Tails(ndtr(p), ndtr(q), ndtr(-p), ndtr(-q))


@dataclass(frozen=True)
class LaplaceLaw:
    """Laplace noise at distance ``reach`` × scale: losses fill [−reach, reach], with atoms at both ends."""

    reach: float
    lattice: float = 0.0
    infinite: float = 0.0
    missing: float = 0.0
    roundings: float = 32.0

    @property
    def low(self) -> float:
        return -self.reach

    @property
    def high(self) -> float:
        return self.reach

    @property
    def anchor(self) -> float:
        return -self.reach

    @property
    def blur(self) -> float:
        return rounding_margin(self.reach)

    def tails(self, losses: Floats) -> Tails:
        inside = np.clip(losses, -self.reach, self.reach)
        left, right = np.exp((inside - self.reach) / 2) / 2, np.exp(-(inside + self.reach) / 2) / 2
        return _clip_tails(Tails(1 - left, right, left, 1 - right), losses, self.low, self.high)


def _clip_tails(tails: Tails, losses: Floats, low: float, high: float) -> Tails:
    """Set the tails beyond the least and the largest loss, which are taken as reached within their rounding error."""
    under, over = losses <= low + rounding_margin(low), losses > high + rounding_margin(high)
    above = (np.where(under, 1.0, np.where(over, 0.0, part)) for part in (tails.p_above, tails.q_above))
    below = (np.where(under, 0.0, np.where(over, 1.0, part)) for part in (tails.p_below, tails.q_below))
    return Tails(*above, *below)


def rounding_margin(loss: float) -> float:
    """Return how far rounding may move an atom at this loss."""
    return 1e-12 * max(1.0, abs(loss))


@dataclass(frozen=True, eq=False)
class AtomsLaw:
    """A pair of probability vectors ``p`` and ``q`` of one shape (outputs,). Either may have zeros.

    ``lattice`` is that of ``Law``, and ``origin`` the anchor, if it is not the least loss. ``is_cut`` says that the losses
    have no bounds, and outputs of negligible probability were left out.
    """

    p: Floats
    q: Floats
    lattice: float = 0.0
    origin: float | None = None
    is_cut: bool = False

    @cached_property
    def _sorted(self) -> tuple[Floats, Tails]:
        """The losses in ascending order, and the tails at each of them and, as a last entry, beyond all."""
        with np.errstate(divide="ignore"):
            losses = np.log(self.p) - np.log(self.q)
        order = np.argsort(losses)
        losses, p, q = losses[order], self.p[order], self.q[order]
        from_top = [np.r_[np.cumsum(part[::-1])[::-1], 0.0] for part in (p, q)]
        from_bottom = [np.r_[0.0, np.cumsum(part)] for part in (p, q)]
        return losses, Tails(*from_top, *from_bottom)

    @cached_property
    def _finite(self) -> Floats:
        losses = self._sorted[0]
        return losses[np.isfinite(losses)]

    @property
    def low(self) -> float:
        return -math.inf if self.missing or self.is_cut else self._least

    @property
    def high(self) -> float:
        return math.inf if self.is_cut else float(self._finite[-1]) if len(self._finite) else 0.0

    @property
    def anchor(self) -> float:
        return self._least if self.origin is None else self.origin

    @property
    def _least(self) -> float:
        return float(self._finite[0]) if len(self._finite) else 0.0

    @cached_property
    def infinite(self) -> float:
        return float(self.p[self.q == 0].sum())

    @cached_property
    def missing(self) -> float:
        return float(self.q[self.p == 0].sum())

    @property
    def blur(self) -> float:
        finite = self._finite
        return rounding_margin(float(np.abs(finite).max(initial=0.0)))

    @property
    def roundings(self) -> float:
        return 64.0 + len(self.p)

    def tails(self, losses: Floats) -> Tails:
        places, tails = self._sorted
        first = np.searchsorted(places, losses - self.blur, side="left")
        return Tails(*(part[first] for part in tails))


@dataclass(frozen=True)
class RangeLaw:
    """The least curve above all pairs whose losses lie in a range of length ``reach``, as the exponential mechanism's do.

    Such a pair that has two outputs has losses t and t − ε. Its curve is p(1 − γe^(−t)), where p = (1 − e^(t−ε))/(1 − e^(−ε))
    follows from the two sums being 1 (Dong, Durfee & Rogers 2020, Lemma 3.4). The largest value over t is at
    t = (ε + ln γ)/2, and it is (1 − √(γe^(−ε)))²/(1 − e^(−ε)) for e^(−ε) ≤ γ ≤ e^ε.
    """

    reach: float
    lattice: float = 0.0
    infinite: float = 0.0
    missing: float = 0.0
    roundings: float = 64.0

    @property
    def low(self) -> float:
        return -self.reach

    @property
    def high(self) -> float:
        return self.reach

    @property
    def anchor(self) -> float:
        return -self.reach

    @property
    def blur(self) -> float:
        return rounding_margin(self.reach)

    def tails(self, losses: Floats) -> Tails:
        # Q[L ≥ g] is the slope of the curve, and P[L ≥ g] its value plus γ times that.
        g = np.clip(losses, -self.reach, self.reach)
        whole = -math.expm1(-self.reach)
        above = -np.expm1((g - self.reach) / 2) / whole  # 1 − √(γe^−ε), divided
        below = -np.expm1(-(g + self.reach) / 2) / whole
        return _clip_tails(
            Tails(above, above * np.exp(-(g + self.reach) / 2), below * np.exp((g - self.reach) / 2), below),
            losses,
            self.low,
            self.high,
        )


@dataclass(frozen=True)
class SampledLaw:
    """(1 − q)Q + qP against Q: the step is taken with probability q, else the output is one of Q. The loss is ln(1 − q + q e^L)."""

    law: Law
    rate: float
    lattice: float = 0.0
    missing: float = 0.0

    @property
    def anchor(self) -> float:
        return self.low

    @property
    def low(self) -> float:
        return self.sampled_loss(self.law.low)

    @property
    def high(self) -> float:
        return self.sampled_loss(self.law.high)

    def sampled_loss(self, loss: float) -> float:
        """Return the loss of the sampled step at an output with this ``loss`` without sampling."""
        if loss < 1:
            return math.log1p(self.rate * math.expm1(loss))
        return loss + math.log(self.rate + (1 - self.rate) * math.exp(-loss))

    @property
    def infinite(self) -> float:
        return self.rate * self.law.infinite

    @property
    def blur(self) -> float:
        return self.law.blur

    @property
    def roundings(self) -> float:
        return self.law.roundings + 16

    def tails(self, losses: Floats) -> Tails:
        # e^g = 1 − q + q e^l, so l = ln((1 − q)/q) + ln(e^g/(1 − q) − 1).
        over = np.maximum(losses - math.log1p(-self.rate), 0.0)
        with np.errstate(divide="ignore"):
            inner = over + np.log(-np.expm1(-over)) + math.log((1 - self.rate) / self.rate)
        p_above, q_above, p_below, q_below = self.law.tails(inner)
        rest = 1 - self.rate
        return Tails(rest * q_above + self.rate * p_above, q_above, rest * q_below + self.rate * p_below, q_below)


@dataclass(frozen=True)
class SwappedLaw:
    """Q against P: the pair in the other direction. The loss changes its sign."""

    law: Law

    @property
    def low(self) -> float:
        return -self.law.high if self.law.infinite == 0 else -math.inf

    @property
    def high(self) -> float:
        return -self.law.low

    @property
    def anchor(self) -> float:
        return -self.law.anchor

    @property
    def lattice(self) -> float:
        return self.law.lattice

    @property
    def infinite(self) -> float:
        return self.law.missing

    @property
    def missing(self) -> float:
        return self.law.infinite

    @property
    def blur(self) -> float:
        return 4 * self.law.blur

    @property
    def roundings(self) -> float:
        return self.law.roundings

    def tails(self, losses: Floats) -> Tails:
        # L' ≥ g is L ≤ −g. So an atom at −g must lie below the cut, which is moved by the rounding error.
        p_above, q_above, p_below, q_below = self.law.tails(3 * self.law.blur - losses)
        return Tails(q_below, p_below, q_above, p_above)


@dataclass(frozen=True)
class SymmetrizedLaw:
    """The pair whose curve is that of ``law`` for γ ≥ 1, and that of the other direction for γ < 1.

    If no pair that may occur exceeds ``law`` at γ ≥ 1, in either direction, then none exceeds this curve at any γ.
    """

    law: Law
    anchor: float = 0.0
    lattice: float = 0.0

    @property
    def high(self) -> float:
        return max(0.0, self.law.high)

    @property
    def low(self) -> float:
        return -self.high if self.law.infinite == 0 else -math.inf

    @property
    def infinite(self) -> float:
        return self.law.infinite

    @property
    def missing(self) -> float:
        return self.law.infinite

    @property
    def blur(self) -> float:
        return 4 * self.law.blur

    @property
    def roundings(self) -> float:
        return self.law.roundings + 16

    def tails(self, losses: Floats) -> Tails:
        # At γ < 1 the curve is 1 − γ + γH(1/γ), so the tails below are those of the swapped pair. The rest is at L = 0.
        is_up = losses > self.law.blur
        cut = np.where(is_up, losses, 3 * self.law.blur - np.minimum(losses, 0.0))
        up = down = self.law.tails(cut)
        return Tails(
            np.where(is_up, up.p_above, 1 - down.q_above),
            np.where(is_up, up.q_above, 1 - down.p_above),
            np.where(is_up, 1 - up.p_above, down.q_above),
            np.where(is_up, 1 - up.q_above, down.p_above),
        )


@dataclass(frozen=True)
class OppositeLaw:
    """(1 − q)N₀ + qN₁ against (1 − q)N₀ + qN₋₁: a sampled record, and another one whose contribution is opposite.

    Noise ``kind`` "gaussian" is at distance ``reach`` in standard deviations, and "laplace" in scales. The loss rises with
    the output, so each cut is one of the outputs, in closed form. The loss is odd, and 0 at output 0.
    """

    kind: str
    reach: float
    rate: float
    anchor: float = 0.0
    lattice: float = 0.0
    infinite: float = 0.0
    missing: float = 0.0
    roundings: float = 96.0

    @property
    def high(self) -> float:
        if self.kind == "gaussian":
            return math.inf
        rest, d = 1 - self.rate, self.reach
        return d + math.log((rest * math.exp(-d) + self.rate) / (rest + self.rate * math.exp(-d)))

    @property
    def low(self) -> float:
        return -self.high

    @property
    def blur(self) -> float:
        return 64 * UNIT * (1 + self.reach**2 + abs(math.log(self.rate)))

    def tails(self, losses: Floats) -> Tails:
        from scipy.special import ndtr

        above: Callable[[Floats], Floats] = ndtr if self.kind == "gaussian" else _laplace_cdf
        cut = np.copysign(self.cut(np.abs(losses)), losses)
        rest, q, d = 1 - self.rate, self.rate, self.reach
        middle, right, left = above(-cut), above(d - cut), above(-d - cut)
        middle_, right_, left_ = above(cut), above(cut - d), above(cut + d)
        tails = Tails(
            rest * middle + q * right, rest * middle + q * left, rest * middle_ + q * right_, rest * middle_ + q * left_
        )
        return tails if self.kind == "gaussian" else _clip_tails(tails, losses, self.low, self.high)

    def cut(self, losses: Floats) -> Floats:
        """Return the output x ≥ 0 whose loss is each of ``losses`` ≥ 0."""
        with np.errstate(divide="ignore"):
            rise = math.log1p(-self.rate) + losses + np.log(-np.expm1(-losses))  # ln((1 − q)(e^g − 1))
        if self.kind == "laplace":
            # e^g (1 − q + q e^−d) = 1 − q + q e^(2x − d)
            log_q = math.log(self.rate)
            return np.maximum(0.0, (self.reach + np.logaddexp(rise - log_q, losses - self.reach)) / 2)
        # With y = e^(x·reach) and c = q e^(−reach²/2): c y² − (1 − q)(e^g − 1) y − c e^g = 0.
        log_c = math.log(self.rate) - self.reach**2 / 2
        log_y = np.logaddexp(rise, np.logaddexp(2 * rise, math.log(4) + 2 * log_c + losses) / 2) - math.log(2) - log_c
        return np.maximum(0.0, log_y / self.reach)


def _laplace_cdf(x: Floats) -> Floats:
    """Return the distribution function of Laplace noise of scale 1."""
    return np.where(x < 0, np.exp(np.minimum(x, 0.0)) / 2, 1 - np.exp(-np.maximum(x, 0.0)) / 2)


# --- Integer noise ---


def integer_weights(kind: str, scale: float) -> Floats:
    """Return the probabilities of integer noise "gaussian" or "laplace", from −n to n, where they are above 1e-300."""
    reach = math.ceil(38 * scale if kind == "gaussian" else 700 * scale) + 1
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(k**2) / (2 * scale**2)) if kind == "gaussian" else np.exp(-np.abs(k) / scale)
    return np.asarray(weights / math.fsum(weights))


def integer_law(kind: str, scale: float, shift: int, opposite: float | None = None) -> AtomsLaw:
    """Return the law of integer noise at distance ``shift``.

    With ``opposite``, it is that of OppositeLaw: of a record that is sampled at this rate, and of another one.
    """
    weights = integer_weights(kind, scale)
    pad = np.zeros(shift)
    if opposite is not None:
        right, middle, left = np.r_[pad, pad, weights], np.r_[pad, weights, pad], np.r_[weights, pad, pad]
        rest = (1 - opposite) * middle
        law = AtomsLaw(rest + opposite * right, rest + opposite * left, origin=0.0, is_cut=kind == "gaussian")
    else:
        p, q = np.r_[pad, weights], np.r_[weights, pad]
        if kind == "gaussian":
            # The loss (2kΔ − Δ²)/(2σ²) of outputs k.
            law = AtomsLaw(p, q, lattice=shift / scale**2, origin=shift**2 / (2 * scale**2), is_cut=True)
        else:
            law = AtomsLaw(p, q, lattice=2 / scale, origin=-shift / scale)
    return _drop_one_sided(law, f"integer noise of scale {scale:g} hardly reaches the neighbour, {shift:,} away")


def _drop_one_sided(law: AtomsLaw, why_not: str) -> AtomsLaw:
    """Drop the outputs that only one side has, because the noise was cut where its probabilities are below 1e-300.

    Raises InvalidInputError, which begins with ``why_not``, if these outputs have more than MOST_DROPPED of a side.
    """
    kept = (law.p > 0) & (law.q > 0)
    if max(law.p[~kept].sum(), law.q[~kept].sum()) > MOST_DROPPED:
        raise InvalidInputError(
            f"{why_not}: probabilities below 1e-300 would decide, which are not computed; raise the scale, or lower the sensitivity"
        )
    return AtomsLaw(law.p[kept], law.q[kept], law.lattice, law.origin, law.is_cut)
