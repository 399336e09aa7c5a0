"""Claims: a claim is a statement about every pair of neighbouring data sets, with numbers in nats.

This module says what claims guarantee, and :mod:`auditor.methods` how they are tested. A new claim needs
``register_claim`` and an entry in ``METHODS`` for its exact type. Claims about queries need no entry.
"""

import csv
import io
import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

from auditor.errors import InvalidInputError, require_known, require_number
from auditor.foreign_code import ForeignCode
from auditor.untrusted_files import read_json, read_text

# The metadata of a field are the range of the number, as in a JSON schema, and this key if a larger number guarantees more.
STRONGER_IF_LARGER = "stronger_if_larger"
# The range of a loss (nats), or of a number that determines a loss. Above 500, e^ε is near the largest float.
LOSS = {"minimum": 0, "maximum": 500}


@dataclass(frozen=True, slots=True)
class Claim(ABC):
    """The base of all claims.

    ``quantity`` names the parameter that an audit bounds, and ``symbol`` stands for the parameter in reports. A bound
    is a violation if its :meth:`excess` over the claim's :attr:`value` is above 0.
    """

    quantity: ClassVar[str]
    symbol: ClassVar[str]
    is_stated: ClassVar[bool] = True  # False for Unclaimed, whose audit only measures

    def __post_init__(self) -> None:
        for parameter in fields(self):
            limits, value = parameter.metadata, getattr(self, parameter.name)
            if limits:
                low = limits.get("minimum", limits.get("exclusiveMinimum"))
                high = limits.get("maximum", limits.get("exclusiveMaximum", math.inf))
                is_open = {"low_open": "exclusiveMinimum" in limits, "high_open": "exclusiveMaximum" in limits}
                number = require_number(parameter.name, value, low, high, **is_open)
                object.__setattr__(self, parameter.name, number)

    @property
    def value(self) -> float:
        """The claim's number for its quantity. It is 0 if the claim has no such number, as for an excess."""
        return float(self.to_dict().get(self.quantity, 0.0))

    def excess(self, value: float) -> float:
        """Return how far a value of the quantity lies beyond the claim, which it breaks if this is above 0."""
        return value - self.value

    def broken_by(self, share: float) -> float:
        """Return a value that exceeds the claim's value by this share of it, or the share if the claim's value is 0."""
        return (1 + share) * self.value or share

    def implies(self, other: "Claim") -> bool:
        """Whether this claim is of the same type as another, and guarantees at least as much, number by number.

        >>> PureDP(0.5).implies(PureDP(1.0)), RenyiDP(2, 1).implies(RenyiDP(4, 1)), PureDP(0).implies(GaussianDP(1))
        (True, False, False)
        """
        if type(self) is not type(other):
            return False
        numbers = ((getattr(self, f.name), getattr(other, f.name), f.metadata) for f in fields(self))
        return all(
            own >= others if limits.get(STRONGER_IF_LARGER) else own <= others for own, others, limits in numbers
        )

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        """Return the sets of keys by which a configuration may state the claim."""
        return (frozenset(parameter.name for parameter in fields(cls)),)

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration, such as ``{"epsilon": 1.0}``."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}


class PrivacyClaim(Claim):
    """A claim about how far apart the outputs on two neighbours may be.

    At distance k, the quantity is at most the claim's value times k to the power of ``group_exponent``. None means that
    no bound at a distance is known.
    """

    __slots__ = ()
    group_exponent: ClassVar[int | None] = 1

    @abstractmethod
    def total_variation(self) -> float:
        """Return the largest P[S] − Q[S] that the claim allows over all events S, or an upper limit of this number."""

    def with_value(self, value: float) -> Self:
        """Return the claim of the same kind with this value of the quantity."""
        return replace(self, **{self.quantity: value})

    @property
    def without_loss(self) -> float:
        """The value of the quantity for a mechanism that loses nothing."""
        return 0.0

    def noise_ratio(self, value: float) -> float:
        """Return how many times too small noise is that has this value of the quantity, where the right noise has just the
        claim's; ∞ for a claim of 0.

        >>> PureDP(0.5).noise_ratio(0.75), round(ZeroConcentratedDP(0.5).noise_ratio(0.72), 6)
        (1.5, 1.2)
        """
        return value / self.value if self.value else math.inf

    @property
    def least_value(self) -> float:
        """The smallest value that the quantity can have."""
        return 0.0

    @property
    def relative_size(self) -> float:
        """The total variation that the claim allows, divided by that of ε = 1; at most 1.

        >>> PureDP(2.0).relative_size, round(PureDP(0.1).relative_size, 3)
        (1.0, 0.108)
        """
        return min(1.0, self.total_variation() / math.tanh(0.5))


@dataclass(frozen=True, slots=True)
class PureDP(PrivacyClaim):
    """ε-differential privacy: P[M(x) ∈ S] ≤ e^ε P[M(x') ∈ S] for all neighbours x, x' and all events S.

    Raises InvalidInputError unless epsilon is a finite number of at least 0.

    >>> PureDP(1).to_dict()
    {'epsilon': 1.0}
    """

    quantity: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    epsilon: float = field(metadata=LOSS)

    @property
    def delta(self) -> float:
        """The δ of pure privacy, which is 0."""
        return 0.0

    def total_variation(self) -> float:
        """Return tanh(ε/2), which randomised response attains (Kairouz, Oh & Viswanath 2015)."""
        return math.tanh(self.epsilon / 2)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}"


# An ε that no audit can refute, since bounds on ε stay below the logarithm of the number of outputs.
OUT_OF_REACH = 50.0


@dataclass(frozen=True, slots=True)
class Unclaimed(PureDP):
    """Stands for the claim of an audit without a claim. The audit measures ε, and searches as for ε = OUT_OF_REACH."""

    is_stated: ClassVar[bool] = False
    epsilon: float = field(default=OUT_OF_REACH, init=False)

    @property
    def value(self) -> float:
        """The ε that stands for no claim."""
        return self.epsilon

    def with_value(self, value: float) -> PureDP:  # type: ignore[override]
        """Return the stated claim of this ε."""
        return PureDP(value)

    def to_dict(self) -> dict[str, Any]:
        """Return no keys, as in a configuration without a claim."""
        return {}

    def __str__(self) -> str:
        return "nothing"


@dataclass(frozen=True, slots=True)
class ApproximateDP(PrivacyClaim):
    """(ε, δ)-differential privacy: P[M(x) ∈ S] ≤ e^ε P[M(x') ∈ S] + δ.

    Raises InvalidInputError unless epsilon ≥ 0 and 0 ≤ delta < 1, both finite.

    >>> str(ApproximateDP(1, 1e-5)), ApproximateDP(0.0, 0.5).total_variation()
    ('ε = 1, δ = 1e-05', 0.5)
    """

    quantity: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    epsilon: float = field(metadata=LOSS)
    delta: float = field(metadata={"minimum": 0, "exclusiveMaximum": 1})  # at δ = 1 it would guarantee nothing

    def total_variation(self) -> float:
        """Return δ + (1 − δ) tanh(ε/2): with probability δ the data are revealed (Kairouz, Oh & Viswanath 2015)."""
        return self.delta + (1 - self.delta) * math.tanh(self.epsilon / 2)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}, δ = {self.delta:g}"


class DivergenceClaim(PrivacyClaim):
    """A claim about Rényi divergences: at each order a of the claim, D_a is at most ``scale(a)`` times its value."""

    __slots__ = ()
    group_exponent: ClassVar[int | None] = 2

    def orders(self, some: Sequence[float]) -> tuple[float, ...]:
        """Return the orders among ``some`` that the claim covers, and the claim's own order if it has one."""
        return tuple(some)

    def broken_by(self, share: float) -> float:
        """See Claim. The share is of the loss, and a divergence grows with the square of the loss."""
        return (1 + share) ** 2 * self.value or share

    def noise_ratio(self, value: float) -> float:
        """See PrivacyClaim. A divergence grows with the square of the loss."""
        return math.sqrt(PrivacyClaim.noise_ratio(self, value))

    @abstractmethod
    def scale(self, order: float) -> float:
        """Return the largest D of this order (nats) that a claim with value 1 allows."""

    @property
    @abstractmethod
    def gaussian_order(self) -> float:
        """The quantity of a Gaussian mechanism divided by its ρ = μ²/2: the order of a divergence, and 1 for ρ."""

    @property
    def gaussian_rho(self) -> float:
        """The ρ of the Gaussian mechanism that just keeps the claim (nats)."""
        return self.value / self.gaussian_order

    def total_variation(self) -> float:
        """Return Pinsker's limit √(D_1/2). D_1 is at most the claim's value, which is D of a higher order, or ρ."""
        return min(1.0, math.sqrt(self.value / 2))


@dataclass(frozen=True, slots=True)
class RenyiDP(DivergenceClaim):
    """(α, ε)-Rényi privacy: D_α(M(x)‖M(x')) ≤ ε in nats, in both directions (Mironov 2017).

    Raises InvalidInputError unless order > 1 and epsilon ≥ 0, both finite.
    """

    quantity: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    order: float = field(metadata={"exclusiveMinimum": 1, STRONGER_IF_LARGER: True})
    epsilon: float = field(metadata=LOSS)

    @property
    def gaussian_order(self) -> float:
        return self.order

    def orders(self, some: Sequence[float]) -> tuple[float, ...]:
        """See DivergenceClaim. D_a does not fall with a, so the claim bounds D at every lower order."""
        return (*(order for order in some if order < self.order), self.order)

    def scale(self, order: float) -> float:
        """Return 1 for every order, since the bound is the same at all orders up to the claim's."""
        return 1.0

    def __str__(self) -> str:
        return f"Rényi ε = {self.epsilon:g} of order {self.order:g}"


@dataclass(frozen=True, slots=True)
class ZeroConcentratedDP(DivergenceClaim):
    """ρ-zCDP: D_α(M(x)‖M(x')) ≤ αρ for all α > 1, in both directions (Bun & Steinke 2016).

    Raises InvalidInputError unless rho is a finite number of at least 0.
    """

    quantity: ClassVar[str] = "rho"
    symbol: ClassVar[str] = "ρ"
    rho: float = field(metadata=LOSS)

    @property
    def gaussian_order(self) -> float:
        return 1.0

    def scale(self, order: float) -> float:
        return order

    def __str__(self) -> str:
        return f"ρ = {self.rho:g}"


@dataclass(frozen=True, slots=True)
class GaussianDP(PrivacyClaim):
    """μ-Gaussian privacy: telling M(x) from M(x') is no easier than N(0, 1) from N(μ, 1) (Dong, Roth & Su 2022).

    Raises InvalidInputError unless mu is a finite number of at least 0.
    """

    quantity: ClassVar[str] = "mu"
    symbol: ClassVar[str] = "μ"
    mu: float = field(metadata=LOSS)

    def total_variation(self) -> float:
        """Return 2Φ(μ/2) − 1."""
        return math.erf(self.mu / math.sqrt(8))

    def __str__(self) -> str:
        return f"μ = {self.mu:g}"


@dataclass(frozen=True, slots=True)
class PrivacyProfile(PrivacyClaim):
    """(ε, δ)-differential privacy for every pair of the list.

    The bound is on the excess over ε (nats), at the point with the largest excess. Raises InvalidInputError
    for an empty list, or a pair out of range.

    >>> PrivacyProfile([(0.5, 0.1), (1, 1e-5)]).to_dict()
    {'profile': [[0.5, 0.1], [1.0, 1e-05]]}
    """

    quantity: ClassVar[str] = "excess"
    symbol: ClassVar[str] = "excess"
    group_exponent: ClassVar[int | None] = None
    profile: tuple[ApproximateDP, ...]

    def __init__(self, profile: Iterable[Sequence[float]]) -> None:
        points = list(profile) if isinstance(profile, Iterable) and not isinstance(profile, str) else []
        if not points or any(not isinstance(point, Sequence) or len(point) != 2 for point in points):
            raise InvalidInputError(
                f"profile is {profile!r}; it must be a list of pairs [epsilon, delta], at least one"
            )
        object.__setattr__(self, "profile", tuple(ApproximateDP(*point) for point in points))

    def with_value(self, value: float) -> "PrivacyProfile":
        """See PrivacyClaim. The value is added to every ε."""
        return PrivacyProfile([(max(0.0, point.epsilon + value), point.delta) for point in self.profile])

    def noise_ratio(self, value: float) -> float:
        """See PrivacyClaim. The value is taken as the excess over the largest ε."""
        largest = max(point.epsilon for point in self.profile)
        return 1 + value / largest if largest else math.inf

    @property
    def without_loss(self) -> float:
        """The excess if every ε is 0: that over the smallest ε."""
        return -min(point.epsilon for point in self.profile)

    @property
    def least_value(self) -> float:
        """The excess at which every ε is 0."""
        return -max(point.epsilon for point in self.profile)

    def implies(self, other: Claim) -> bool:
        """See Claim. Profiles are compared point by point, in the order of the lists."""
        if not isinstance(other, PrivacyProfile) or len(self.profile) != len(other.profile):
            return False
        return all(mine.implies(others) for mine, others in zip(self.profile, other.profile, strict=True))

    def total_variation(self) -> float:
        """Return the smallest total variation of the points."""
        return min(point.total_variation() for point in self.profile)

    def to_dict(self) -> dict[str, Any]:
        return {"profile": [[point.epsilon, point.delta] for point in self.profile]}

    def __str__(self) -> str:
        return "profile " + ", ".join(f"({point.epsilon:g}, {point.delta:g})" for point in self.profile)


Point = tuple[float, float]
# The most points of a trade-off curve, and the most bytes of a file of them.
MOST_POINTS, MOST_CURVE_BYTES = 10_000, 1 << 22
# A point may lie so far above the chord of its neighbours, or above 1 − α: written numbers are rounded.
ROUNDED = 1e-9
# A curve is written out in words if it has at most so many corners.
MOST_IN_WORDS = 4
# Curves that differ by no more are not told apart.
TINY = 1e-12
# A function is called at 0, 1, and the normal distribution's Φ(z) for 2 SAMPLED + 1 evenly spaced z from −FARTHEST to FARTHEST.
SAMPLED, FARTHEST = 250, 6.0


@dataclass(frozen=True, slots=True)
class Tradeoff(PrivacyClaim):
    """f-differential privacy: a test between two neighbours' outputs has a type II error of at least f(type I error).

    f is the polygon through points (α, β) in the order of rising α, from α = 0 to β = 0 (Dong, Roth & Su 2022). Neighbours have no
    order, so f limits tests of either against the other. A claim that is not ``symmetric`` says less: f limits the tests of one of
    the two against the other, as for a record that is added, and then the inverse of f those the other way round.

    The bound is on the excess over ε (nats): f is the upper envelope of lines 1 − δ − e^ε α, and of such lines with α and β
    exchanged. With v more than each ε, the claim is true.

    Points are taken to be corners. The chords between samples of a smooth curve lie above the curve, and claim more than it does;
    :meth:`from_function` stays below.

    ``str`` gives f(0.05) if there are many corners. Raises InvalidInputError unless the polygon is convex, begins at α = 0 with
    β > 0, ends at β = 0, and lies nowhere above 1 − α.

    >>> Tradeoff([(0, 1), (0.25, 0.25), (1, 0)]).lines()[0]
    (ApproximateDP(epsilon=1.0986122886681098, delta=0.0),)
    """

    quantity: ClassVar[str] = "excess"
    symbol: ClassVar[str] = "excess"
    group_exponent: ClassVar[int | None] = None
    tradeoff: tuple[Point, ...]
    symmetric: bool = True

    def __init__(self, tradeoff: Iterable[Sequence[float]], symmetric: bool = True) -> None:
        if not isinstance(symmetric, bool):
            raise InvalidInputError(f"symmetric is {symmetric!r}; it must be true or false")
        object.__setattr__(self, "tradeoff", _polygon_through(tradeoff))
        object.__setattr__(self, "symmetric", symmetric)
        self.lines()  # raises if a line is too steep

    @classmethod
    def from_function(
        cls, function: Callable[[float], Any], name: str = "the curve", symmetric: bool = True
    ) -> "Tradeoff":
        """Return the claim of a polygon that lies below a convex, falling function of α, which is called at a few hundred α.

        Each chord between two α, made longer, lies below the function elsewhere. So the claim errs on the side of claiming less,
        and a mechanism that keeps the function's curve keeps the claim. For a Gaussian
        mechanism, the polygon is within 1e-4 of it.

        Raises InvalidInputError for a function that is not convex, or leaves 0 ≤ β ≤ 1 − α; CodeError if it raises.
        """
        steps = range(-SAMPLED, SAMPLED + 1)
        inner = (math.erfc(-FARTHEST * step / SAMPLED / math.sqrt(2)) / 2 for step in steps)
        points = list[Point]()
        for alpha in (0.0, *inner, 1.0):
            with ForeignCode(f"{name}, called with alpha = {alpha!r},"):
                beta = function(alpha)
            try:
                beta = float(beta)
            except (TypeError, ValueError):
                raise InvalidInputError(
                    f"{name} returned {beta!r} for alpha = {alpha!r}; it must return a number"
                ) from None
            points.append((alpha, require_number(f"{name} at alpha = {alpha!r}", beta, 0, 1)))
        _require_convex(points, name)
        return cls(_polygon_below(points), symmetric)

    @classmethod
    def from_file(cls, path: str | Path, symmetric: bool = True) -> "Tradeoff":
        """Return the claim of the points in a file: .csv with two columns, alpha and beta, or .json with a list of pairs.

        Raises InvalidInputError that names the file and the fault.
        """
        read = {".csv": _points_of_csv, ".json": _points_of_json}.get(Path(path).suffix)
        if read is None:
            raise InvalidInputError(f"{path} must end in .csv or .json: a file of points (alpha, beta)")
        try:
            return cls(read(Path(path)), symmetric)
        except InvalidInputError as error:
            raise InvalidInputError(f"{path}: {error}") from None

    def at(self, alpha: float) -> float:
        """Return f(α), for α in 0 to 1."""
        place = bisect_right(self.tradeoff, alpha, key=lambda point: point[0])
        if place == len(self.tradeoff):
            return 0.0
        (start, high), (end, low) = self.tradeoff[place - 1], self.tradeoff[place]
        return high + (alpha - start) / (end - start) * (low - high)

    def lines(self) -> tuple[tuple[ApproximateDP, ...], tuple[ApproximateDP, ...]]:
        """Return (ε, δ) for the edges steeper than −1, and for the others with α and β exchanged.

        The first limit the type II error by the type I error, β ≥ 1 − δ − e^ε α, and the second the type I error by the other.
        """
        steep, flat = list[ApproximateDP](), list[ApproximateDP]()
        for (start, high), (end, low) in pairwise(self.tradeoff):
            across, down = end - start, high - low
            if down >= across:
                steep.append(_line(down, across, 1 - high - start * (down / across)))
            if down <= across:
                flat.append(_line(across, down, 1 - end - low * (across / down)))
        return tuple(steep), tuple(flat)

    def both_ways(self) -> "Tradeoff":
        """Return the symmetric claim that this one implies: this one, or the convex hull of its curve and the curve's inverse."""
        if self.symmetric:
            return self
        return Tradeoff(_lower_hull(sorted({*self.tradeoff, *((beta, alpha) for alpha, beta in self.tradeoff)})))

    def with_value(self, value: float) -> "Tradeoff":
        """See PrivacyClaim. The value is added to the ε of every line."""
        steep, flat = ([(max(0.0, line.epsilon + value), 1 - line.delta) for line in lines] for lines in self.lines())
        slopes = [(math.exp(epsilon), sure) for epsilon, sure in steep]
        slopes += [(math.exp(-epsilon), sure * math.exp(-epsilon)) for epsilon, sure in flat]
        return Tradeoff(_polygon_above(slopes), self.symmetric)

    @property
    def least_value(self) -> float:
        """The excess at which every ε is 0."""
        return -max(line.epsilon for lines in self.lines() for line in lines)

    def implies(self, other: Claim) -> bool:
        """See Claim. Curves are compared at the corners of this one, between which the other one lies lowest in relation."""
        if not isinstance(other, Tradeoff):
            return False
        ways = (False, True) if other.symmetric and not self.symmetric else (False,)
        return all(
            beta + TINY >= other.at(alpha) and (not both or alpha + TINY >= other.at(beta))
            for alpha, beta in self.tradeoff
            for both in ways
        )

    def total_variation(self) -> float:
        """Return the largest 1 − α − β."""
        return max(1 - alpha - beta for alpha, beta in self.tradeoff)

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        return frozenset({"tradeoff"}), frozenset({"tradeoff", "symmetric"})

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration, which says only of a curve that is not symmetric whether it is."""
        return {"tradeoff": [list(point) for point in self.tradeoff]} | ({} if self.symmetric else {"symmetric": False})

    def __repr__(self) -> str:
        """Return the call that makes the claim; of many corners, only the first and the last."""
        inner = (
            repr([*self.tradeoff])
            if len(self.tradeoff) <= MOST_IN_WORDS
            else (f"[{self.tradeoff[0]}, … {len(self.tradeoff) - 2} more …, {self.tradeoff[-1]}]")
        )
        return f"Tradeoff({inner}{'' if self.symmetric else ', symmetric=False'})"

    def __str__(self) -> str:
        one_way = "" if self.symmetric else ", one way"
        if len(self.tradeoff) > MOST_IN_WORDS:
            return f"trade-off curve with {len(self.tradeoff)} corners, {self.at(0.05):.3g} at 0.05{one_way}"
        return "trade-off curve " + ", ".join(f"({alpha:.3g}, {beta:.3g})" for alpha, beta in self.tradeoff) + one_way


def _line(down: float, across: float, delta: float) -> ApproximateDP:
    if down > across * math.exp(LOSS["maximum"]):
        raise InvalidInputError(
            f"the trade-off curve falls by {down:g} over {across:g}, which is ε > {LOSS['maximum']}; leave out one of the points"
        )
    return ApproximateDP(math.log(down / across), min(max(0.0, delta), 1 - 2**-53))


def _polygon_through(given: Iterable[Sequence[float]]) -> tuple[Point, ...]:
    """Return the corners of the polygon through given points. Raises InvalidInputError as Tradeoff."""
    wanted = "it must be a list of points [alpha, beta], at least two"
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"tradeoff is {given!r}; {wanted}")
    points = list[Point]()
    for number, point in enumerate(given, start=1):
        try:
            alpha, beta = point
        except (TypeError, ValueError):
            raise InvalidInputError(f"point {number} of tradeoff is {point!r}; {wanted}") from None
        names = f"alpha of point {number} of tradeoff", f"beta of point {number} of tradeoff"
        points.append((require_number(names[0], alpha, 0, 1), require_number(names[1], beta, 0, 1)))
        if number > MOST_POINTS:
            raise InvalidInputError(f"tradeoff has more than {MOST_POINTS:,} points, the limit")
    if len(points) < 2:
        raise InvalidInputError(f"tradeoff has {len(points)} points; {wanted}")
    for (before, _), (alpha, _) in pairwise(points):
        if alpha <= before:
            raise InvalidInputError(
                f"alpha {alpha:g} of tradeoff follows {before:g}; sort the points by alpha, each once"
            )
    (first, highest), (_, last) = points[0], points[-1]
    if first != 0 or last != 0 or highest == 0:
        raise InvalidInputError(
            f"tradeoff begins at {points[0]} and ends at {points[-1]}; the first alpha and the last beta must be 0, and the first "
            "beta above 0"
        )
    _require_convex(points, "tradeoff")
    hull = _lower_hull([(alpha, min(beta, 1 - alpha)) for alpha, beta in points])
    # From the first corner at 0 on, the curve is 0.
    return tuple(hull[: next(place for place, (_, beta) in enumerate(hull, start=1) if beta == 0)])


def _require_convex(points: Sequence[Point], what: str) -> None:
    """Raise InvalidInputError if a point lies above 1 − α, or above the chord of other points, by more than is rounded."""
    for alpha, beta in points:
        if beta > 1 - alpha + ROUNDED:
            raise InvalidInputError(
                f"{what} is {beta:g} at alpha = {alpha:g}; it can be at most 1 − alpha, the error of a test that looks at nothing"
            )
    hull = _lower_hull(points)
    place = 0
    for alpha, beta in points:
        while hull[place + 1][0] < alpha:
            place += 1
        (start, high), (end, low) = hull[place], hull[place + 1]
        if beta > high + (alpha - start) / (end - start) * (low - high) + ROUNDED:
            raise InvalidInputError(
                f"{what} is {beta:g} at alpha = {alpha:g}, above the chord from {start:g} to {end:g}; a trade-off curve is convex, "
                "since tests can be mixed"
            )


def _lower_hull(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the lower convex hull of points, which are sorted by α (Andrew 1979)."""
    hull = list[Point]()
    for x, y in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2], hull[-1]
            if (y1 - y0) * (x - x0) < (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    # Two sets of points joined may hold several of one α: the lowest counts.
    return [point for point, after in zip(hull, [*hull[1:], (math.inf, 0.0)], strict=True) if after[0] > point[0]]


def _polygon_below(points: Sequence[Point]) -> list[Point]:
    """Return corners of a polygon below a convex function of which points are known, sorted by α from 0 to 1.

    Between two points, the function lies above both neighbouring chords made longer, and so above where the two meet.
    """
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(points)]
    corners = [(0.0, min(max(0.0, points[1][1] - slopes[1] * points[1][0]), 1.0))]
    for i in range(1, len(slopes) - 1):
        (x0, y0), (x1, y1) = points[i], points[i + 1]
        before, after = slopes[i - 1], slopes[i + 1]
        x = (y1 - y0 + before * x0 - after * x1) / (before - after) if before != after else x0
        x = min(max(x, x0), x1)
        corners.append((x, min(max(0.0, y0 + before * (x - x0)), 1 - x)))
    positive = [corner for corner in _lower_hull(sorted(corners)) if corner[1] > 0]
    (x0, y0), slope = points[-2], slopes[-2]
    if not positive:
        return [(0.0, 0.0), (1.0, 0.0)]
    end = min(1.0, x0 - y0 / slope) if slope < 0 else next(x for x, y in corners if y == 0)
    return [*positive, (max(end, math.nextafter(positive[-1][0], 2.0)), 0.0)]


def _polygon_above(slopes: Iterable[tuple[float, float]]) -> list[Point]:
    """Return the corners of the upper envelope of lines sure − slope α, where it is above 0."""
    kept = list[tuple[float, float]]()
    for slope, sure in sorted(slopes, reverse=True):
        if kept and slope == kept[-1][0]:
            continue
        # A flatter line counts from where it meets the line before, which is hidden if that is before its own first point.
        while kept and _meets((slope, sure), kept[-1]) <= (_meets(kept[-1], kept[-2]) if len(kept) > 1 else 0.0):
            kept.pop()
        kept.append((slope, sure))
    corners = [(0.0, kept[0][1])]
    for steeper, flatter in pairwise(kept):
        x = _meets(flatter, steeper)
        if (y := steeper[1] - steeper[0] * x) <= 0:
            break
        corners.append((x, y))
    end = max(sure / slope for slope, sure in kept)
    return [*corners, (min(1.0, end), 0.0)]


def _meets(flatter: tuple[float, float], steeper: tuple[float, float]) -> float:
    return (steeper[1] - flatter[1]) / (steeper[0] - flatter[0])


def _points_of_json(path: Path) -> Any:
    data = read_json(path, MOST_CURVE_BYTES, "a file of points (alpha, beta)")
    return data["tradeoff"] if isinstance(data, dict) and "tradeoff" in data else data


def _points_of_csv(path: Path) -> Iterator[Point]:
    """Yield the points of lines with two numbers; a first line that holds none is a heading."""
    lines = csv.reader(io.StringIO(read_text(path, MOST_CURVE_BYTES), newline=""))
    try:
        for number, row in enumerate(filter(None, lines)):
            try:
                alpha, beta = map(float, row)
            except ValueError:
                if number == 0:
                    continue
                raise InvalidInputError(
                    f"line {lines.line_num} is {row}; it must be two numbers, alpha and beta"
                ) from None
            yield alpha, beta
    except csv.Error as error:
        raise InvalidInputError(f"line {lines.line_num} is not CSV: {error}") from None


# A vector is at most as long in L2 as in L1, and in L∞ as in L2. `Claim.implies` relies on "l1" < "l2" < "linf".
Norm = Literal["l1", "l2", "linf"]


class QueryClaim(Claim):
    """A claim about a deterministic query, in which nothing is random."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sensitivity(QueryClaim):
    """A query changes by at most ``sensitivity`` between neighbours, in the ``norm`` l1 (the default), l2 or linf.

    For frames and lists of dicts, ``sensitivity`` is the number of rows that are added and removed, in any order.

    Raises InvalidInputError unless sensitivity is a finite number of at least 0, and norm l1, l2 or linf.
    """

    quantity: ClassVar[str] = "sensitivity"
    symbol: ClassVar[str] = "sensitivity"
    sensitivity: float = field(metadata={"minimum": 0})
    norm: Norm = "l1"

    def __post_init__(self) -> None:
        QueryClaim.__post_init__(self)
        require_known("norm is", [self.norm], get_args(Norm))

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        return frozenset({"sensitivity"}), frozenset({"sensitivity", "norm"})

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration, which does not name the norm l1."""
        return {"sensitivity": self.sensitivity} | ({} if self.norm == "l1" else {"norm": self.norm})

    def __str__(self) -> str:
        return f"sensitivity {self.sensitivity:g}" + {"l1": "", "l2": " in L2", "linf": " in L∞"}[self.norm]


@dataclass(frozen=True, slots=True)
class Monotone(QueryClaim):
    """A query never falls if a record is added: f(x') ≤ f(x) for all x' ⊆ x."""

    quantity: ClassVar[str] = "decrease"
    symbol: ClassVar[str] = "fall"
    monotone: bool = True

    def __post_init__(self) -> None:
        if self.monotone is not True:
            raise InvalidInputError(f"monotone is {self.monotone!r}; it must be true")

    def __str__(self) -> str:
        return "monotone"


@dataclass(frozen=True, slots=True)
class Probability(Claim):
    """On every data set, the event that the mechanism reports has at most, or at least, this probability.

    Raises InvalidInputError unless 0 ≤ probability ≤ 1 and one of at_most and at_least is true.
    """

    quantity: ClassVar[str] = "probability"
    symbol: ClassVar[str] = "probability"
    probability: float = field(metadata={"minimum": 0, "maximum": 1})
    at_most: bool = False
    at_least: bool = False

    def __post_init__(self) -> None:
        Claim.__post_init__(self)
        if not (isinstance(self.at_most, bool) and isinstance(self.at_least, bool) and self.at_most != self.at_least):
            raise InvalidInputError("a probability claim needs exactly one of at_most: true and at_least: true")

    def excess(self, value: float) -> float:
        """Return by how much a probability is too large for ``at_most``, or too small for ``at_least``."""
        return value - self.probability if self.at_most else self.probability - value

    def broken_by(self, share: float) -> float:
        """Return the probability at a share of the way from the claim to 1, or for ``at_least`` to 0."""
        return self.probability + share * (self.at_most - self.probability)

    def implies(self, other: Claim) -> bool:
        if not isinstance(other, Probability) or self.at_most != other.at_most:
            return False
        return other.excess(self.probability) <= 0

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        return frozenset({"probability", "at_most"}), frozenset({"probability", "at_least"})

    def to_dict(self) -> dict[str, Any]:
        return {"probability": self.probability, "at_most" if self.at_most else "at_least": True}

    def __str__(self) -> str:
        return f"probability {'≤' if self.at_most else '≥'} {self.probability:g}"


# The types of claims, by the keys that a claim has in a configuration.
CLAIM_KINDS: dict[frozenset[str], type[Claim]] = {}


def register_claim(kind: type[Claim]) -> None:
    """Let configurations and reports state a kind of claim by its keys. Raises InvalidInputError if they are taken."""
    for keys in kind.forms():
        if CLAIM_KINDS.setdefault(keys, kind) is not kind:
            raise InvalidInputError(
                f"{kind.__name__} has the keys {sorted(keys)}, which are those of {CLAIM_KINDS[keys].__name__}"
            )


def claim_from_dict(numbers: Mapping[str, Any]) -> Claim:
    """Return the claim whose parameters are exactly the given keys.

    Raises InvalidInputError when no claim has these keys, or a number is out of its range.

    >>> claim_from_dict({"epsilon": 1, "delta": 1e-5})
    ApproximateDP(epsilon=1.0, delta=1e-05)
    """
    kind = CLAIM_KINDS.get(frozenset(numbers))
    if kind is None:
        require_known("claim has an unknown key", numbers, frozenset[str]().union(*CLAIM_KINDS))
        forms = ", ".join("{" + ", ".join(sorted(keys, reverse=True)) + "}" for keys in CLAIM_KINDS)
        raise InvalidInputError(f"claim has the keys {sorted(numbers)}; the possible sets of keys are {forms}")
    return kind(**numbers)


for _privacy in (PureDP, ApproximateDP, RenyiDP, ZeroConcentratedDP, GaussianDP, PrivacyProfile, Tradeoff):
    register_claim(_privacy)
for _other in (Sensitivity, Monotone, Probability):
    register_claim(_other)
