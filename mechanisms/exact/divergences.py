"""Exact privacy losses of a pair of known distributions, in nats: ε, δ, Rényi divergences and ρ.

What the errors mean. Where every output is listed (:class:`~mechanisms.exact.distributions.MassFunction`) they are
*proved*, up to the rounding of the given log masses, which they allow for. Where a density takes part they are
*estimates*: the difference of two quadrature rules, or of two steps of a search. :attr:`Exact.proved` says which.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from auditor.bounds.bisection import bracket_threshold
from auditor.errors import InvalidInputError, require_number
from mechanisms.exact.continuous import DensityPair
from mechanisms.exact.discrete import MassPair
from mechanisms.exact.distributions import Coordinate, Density, Distribution, MassFunction, Product

# Below this, ln E[(left/right)^α] is computed from the excess over 1, since otherwise few digits would remain for α near 1.
SMALL_MOMENT = 0.1

# An ε beyond this counts as infinite: e^ε nears the end of the range of doubles.
LARGEST_EPSILON = 512.0

# A hockey-stick divergence that is this close to δ, as a share of it, is taken to be δ.
TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Exact:
    """A number that is computed, not sampled: the true one lies within ``error`` of ``value``.

    ``proved`` says whether that error is a bound, or only an estimate. If ``value`` is infinite, ``error`` is 0.
    """

    value: float
    error: float
    proved: bool


@dataclass(slots=True, eq=False)
class _Pair:
    """One coordinate of both sides: atoms, and densities beside them (None where there are none)."""

    atoms: MassPair
    densities: DensityPair | None

    def mirrored(self) -> "_Pair":
        return _Pair(self.atoms.mirrored(), self.densities.mirrored() if self.densities else None)

    def largest_loss(self) -> tuple[float, float]:
        losses = [self.atoms.largest_loss()] + ([self.densities.largest_loss()] if self.densities else [])
        value = max(value for value, _ in losses)
        return value, max((error for loss, error in losses if loss + error >= value), default=0.0)

    def hockey_stick(self, epsilon: float) -> tuple[float, float, float]:
        """Return the divergence, its error, and −d/dε of it."""
        value, error = self.atoms.hockey_stick(epsilon)
        over = self.atoms.right[self.atoms.loss > epsilon]
        slope = math.fsum(math.exp(epsilon + log_mass) for log_mass in over)
        if self.densities is None:
            return value, error, slope
        smooth, smooth_error, smooth_slope = self.densities.hockey_stick(epsilon)
        return value + smooth, error + smooth_error, slope + smooth_slope

    def renyi(self, order: float) -> tuple[float, float]:
        value, error = self.atoms.log_moment(order)
        if self.densities is not None:
            smooth, smooth_error = self.densities.log_moment(order)
            top, error = max(value, smooth), max(error, smooth_error)
            value = top + math.log(math.exp(value - top) + math.exp(smooth - top)) if math.isfinite(top) else top
        if abs(value) < SMALL_MOMENT and math.isfinite(error):
            moment, error = self.atoms.surplus(order)
            if self.densities is not None:
                smooth, smooth_error = self.densities.surplus(order)
                moment, error = moment + smooth, error + smooth_error
            value = math.log1p(moment)
        return value / (order - 1), 0.0 if math.isinf(value) else error / (order - 1)


def _pair_up(left: Coordinate, right: Coordinate) -> _Pair:
    masses = [side.log_masses if isinstance(side, MassFunction) else side.atoms for side in (left, right)]
    atoms = MassPair.of(masses[0], masses[1])
    missing = [side.missing if isinstance(side, MassFunction) else 0.0 for side in (left, right)]
    atoms = MassPair(atoms.left, atoms.right, missing[0], missing[1], left.log_error + right.log_error)
    smooth = [side if isinstance(side, Density) else None for side in (left, right)]
    if smooth[0] is None and smooth[1] is None:
        return _Pair(atoms, None)
    if any(missing):
        raise InvalidInputError(f"missing is {max(missing)!r} beside a density; it must then be 0")
    rest = [1 - math.fsum(map(math.exp, side.atoms.values())) if side else 0.0 for side in smooth]
    return _Pair(atoms, DensityPair.of(smooth[0], smooth[1], (rest[0], rest[1])))


def _differing(left: Distribution, right: Distribution) -> list[_Pair]:
    """Return the coordinates in which the sides differ; equal ones cancel from every divergence."""
    if isinstance(left, Product) != isinstance(right, Product):
        raise InvalidInputError("one side is a Product and the other is not; both must have the same coordinates")
    sides = [side.coordinates if isinstance(side, Product) else (side,) for side in (left, right)]
    if len(sides[0]) != len(sides[1]):
        raise InvalidInputError(
            f"the sides have {len(sides[0])} and {len(sides[1])} coordinates; they must have as many"
        )
    return [_pair_up(a, b) for a, b in zip(*sides, strict=True) if a != b]


def _single(pairs: list[_Pair]) -> _Pair:
    """Join coordinates into one, which is possible where all are mass functions, or at most one differs.

    Raises InvalidInputError elsewhere: δ of several continuous coordinates is not a sum over them.
    """
    if len(pairs) == 1:
        return pairs[0]
    if any(pair.densities for pair in pairs):
        raise InvalidInputError(
            f"{len(pairs)} coordinates differ, some of them continuous; δ is exact for one continuous coordinate or "
            "for mass functions only. For Gaussian noise use known_continuous.gaussian_delta, which covers all coordinates"
        )
    joint = MassPair.of({None: 0.0}, {None: 0.0})
    for pair in pairs:
        joint = joint.times(pair.atoms)
    return _Pair(joint, None)


def _proved(pairs: Sequence[_Pair]) -> bool:
    return all(pair.densities is None for pair in pairs)


def _larger(first: Exact, second: Exact) -> Exact:
    """Return the larger of two numbers, with an error that covers either being the larger one."""
    low, high = sorted((first, second), key=lambda exact: exact.value)
    if math.isinf(high.value):
        return high
    return Exact(high.value, max(high.error, low.value + low.error - high.value), low.proved and high.proved)


def max_divergence(left: Distribution, right: Distribution) -> Exact:
    """Return sup over events S of ln(P[left in S]/P[right in S]) in nats: one direction of ε at δ = 0.

    Infinite where the left side gives outputs that the right one never does. A product's is the sum over its
    coordinates. For densities the supremum is searched on a mesh and along the tails. The result is the loss at some
    point, so it errs downwards if the search misses a larger one.

    Raises InvalidInputError for sides that do not fit, or a density that does not integrate to its mass.
    """
    return _max_divergence(_differing(left, right))


def _max_divergence(pairs: list[_Pair]) -> Exact:
    parts = [pair.largest_loss() for pair in pairs]
    value = sum(value for value, _ in parts)
    # The supremum of ln(P/Q) is never negative; rounding may make it so.
    return Exact(max(0.0, value), 0.0 if math.isinf(value) else sum(error for _, error in parts), _proved(pairs))


def hockey_stick(left: Distribution, right: Distribution, epsilon: float) -> Exact:
    """Return sup over events S of P[left in S] − e^ε P[right in S]: one direction of δ at ``epsilon`` nats.

    Raises InvalidInputError for an ε that is not a number of at least 0, for sides that do not fit, for densities
    that do not integrate to their mass, and for products in which several coordinates differ and not all are
    mass functions.
    """
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    return _hockey_stick(_differing(left, right), epsilon)


def _hockey_stick(pairs: list[_Pair], epsilon: float) -> Exact:
    if not pairs:
        return Exact(0.0, 0.0, True)
    value, error, _ = _single(pairs).hockey_stick(epsilon)
    return Exact(min(1.0, max(0.0, value)), error, _proved(pairs))


def exact_delta(left: Distribution, right: Distribution, epsilon: float) -> Exact:
    """Return the smallest δ at which the pair is (ε, δ)-indistinguishable in both directions.

    Raises InvalidInputError as :func:`hockey_stick` does.

    >>> coin = {bias: MassFunction.of({0: bias, 1: 1 - bias}) for bias in (0.25, 0.5)}
    >>> exact_delta(coin[0.25], coin[0.5], 0.0).value
    0.25
    """
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    pairs = _differing(left, right)
    return _larger(_hockey_stick(pairs, epsilon), _hockey_stick([pair.mirrored() for pair in pairs], epsilon))


def exact_epsilon(left: Distribution, right: Distribution, delta: float = 0.0) -> Exact:
    """Return the smallest ε (nats) at which the pair is (ε, δ)-indistinguishable in both directions.

    Infinite where no ε suffices: for supports that differ by more than δ, or at δ = 0 an unbounded privacy loss.
    At δ = 0 it is the larger :func:`max_divergence`; at δ > 0 the root of the hockey-stick divergence, in closed form for
    mass functions, and by Brent's method for densities, where the slope turns the divergence's error into one of ε.

    Raises InvalidInputError for a δ outside [0, 1], and as :func:`hockey_stick` does.

    >>> response = {v: MassFunction.of({v: 0.75, 1 - v: 0.25}) for v in (0, 1)}
    >>> round(exact_epsilon(response[0], response[1]).value, 12) == round(math.log(3), 12)
    True
    """
    delta = require_number("delta", delta, 0, 1)
    pairs = _differing(left, right)
    mirrored = [pair.mirrored() for pair in pairs]
    if delta == 0:
        return _larger(_max_divergence(pairs), _max_divergence(mirrored))
    if not pairs:
        return Exact(0.0, 0.0, True)
    return _larger(*(Exact(*_epsilon_at(_single(side), delta), _proved(pairs)) for side in (pairs, mirrored)))


def _epsilon_at(pair: _Pair, delta: float) -> tuple[float, float]:
    from scipy.optimize import brentq

    if pair.densities is None:
        return pair.atoms.epsilon_at(delta)
    aim = delta * (1 + TIE)

    def excess(epsilon: float) -> float:
        # In logarithms, in which the tail of δ(ε) is close to straight.
        return math.log(max(pair.hockey_stick(epsilon)[0], 1e-300) / aim)

    _, enough = bracket_threshold(
        lambda epsilon: not excess(epsilon) > 0, 0.0, 1.0, lambda low, high: True, LARGEST_EPSILON
    )
    if enough == math.inf:
        return math.inf, 0.0
    root = float(brentq(excess, 0.0, enough, xtol=1e-13, rtol=1e-14)) if excess(0.0) > 0 else 0.0
    value, error, slope = pair.hockey_stick(root)
    beyond = error + TIE * delta if root > 0 else max(0.0, value + error - delta)
    return root, (1e-13 if root > 0 else 0.0) + (beyond / slope if slope > 0 else math.inf if beyond > 0 else 0.0)


def renyi_divergence(left: Distribution, right: Distribution, order: float) -> Exact:
    """Return D_α(left ‖ right) = ln(E_right[(left/right)^α])/(α − 1) in nats, for α = ``order`` > 1.

    This is one direction; it is infinite where it diverges. A product's is the sum over its coordinates (Mironov 2017).

    Raises InvalidInputError for an order that is not a finite number above 1, for sides that do not fit, and for
    densities that do not integrate to their mass.
    """
    order = require_number("order", order, 1, math.inf, low_open=True)
    return _renyi(_differing(left, right), order)


def _renyi(pairs: list[_Pair], order: float) -> Exact:
    parts = [pair.renyi(order) for pair in pairs]
    value = sum(value for value, _ in parts)
    return Exact(max(0.0, value), 0.0 if math.isinf(value) else sum(error for _, error in parts), _proved(pairs))


def renyi_curve(left: Distribution, right: Distribution, orders: Sequence[float]) -> tuple[Exact, ...]:
    """Return :func:`renyi_divergence` at each order; the densities are evaluated once for all."""
    checked = [require_number("order", order, 1, math.inf, low_open=True) for order in orders]
    pairs = _differing(left, right)
    return tuple(_renyi(pairs, order) for order in checked)


def exact_renyi(left: Distribution, right: Distribution, order: float) -> Exact:
    """Return the larger of D_α(left ‖ right) and D_α(right ‖ left); see :func:`renyi_divergence`."""
    return _larger(renyi_divergence(left, right, order), renyi_divergence(right, left, order))


def exact_rho(left: Distribution, right: Distribution, orders: Sequence[float]) -> Exact:
    """Return the largest D_α/α over ``orders`` and both directions, in nats.

    It shows that the pair is not ρ-zCDP for any ρ below ``value − error``. It does not show that the pair is zCDP for that ρ:
    orders that are not listed may need a larger one.

    Raises InvalidInputError for no orders, and as :func:`renyi_divergence` does.
    """
    if len(orders) == 0:
        raise InvalidInputError("orders is empty; give at least one above 1")
    largest = Exact(0.0, 0.0, True)
    for curve in (renyi_curve(left, right, orders), renyi_curve(right, left, orders)):
        for order, divergence in zip(orders, curve, strict=True):
            largest = _larger(largest, Exact(divergence.value / order, divergence.error / order, divergence.proved))
    return largest
