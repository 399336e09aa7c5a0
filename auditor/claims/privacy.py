"""Claims about privacy: how far apart the outputs on two neighbours may be, with numbers in nats."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from auditor.claims.claim import BELOW_1, LOSS, STRONGER_IF_LARGER, Claim
from auditor.errors import InvalidInputError


class PrivacyClaim(Claim):
    """A claim about how far apart the outputs on two neighbours may be.

    ``group_exponent`` bounds the quantity at distance k: at most its value times k to this power. None means that no bound is
    known.
    """

    __slots__ = ()
    group_exponent: ClassVar[int | None] = 1

    @abstractmethod
    def total_variation(self) -> float:
        """Return the largest P[S] − Q[S] that the claim allows, over all events S, or an upper limit of it."""

    def with_value(self, value: float) -> Self:
        """Return the same claim of another value; a profile, which has no value, as it is."""
        return replace(self, **{self.quantity: value}) if self.quantity in self.to_dict() else self

    @property
    def relative_size(self) -> float:
        """The total variation that the claim allows, divided by that of ε = 1; at most 1.

        >>> PureDP(2.0).relative_size, round(PureDP(0.1).relative_size, 3)
        (1.0, 0.108)
        """
        return min(1.0, self.total_variation() / PureDP(1.0).total_variation())


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
        """Pure privacy is the approximate kind at δ = 0."""
        return 0.0

    def total_variation(self) -> float:
        """Return tanh(ε/2), which randomised response has (Kairouz, Oh & Viswanath 2015)."""
        return math.tanh(self.epsilon / 2)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}"


# No number of outputs refutes an ε of this size: bounds stay below the logarithm of that number. So it does not say where to look.
OUT_OF_REACH = 50.0


@dataclass(frozen=True, slots=True)
class Unclaimed(PureDP):
    """The claim of an audit that has none: it measures ε, and is searched as an audit of a claim that is out of reach."""

    epsilon: float = field(default=OUT_OF_REACH, init=False)

    @property
    def value(self) -> float:
        """The ε that stands for no claim."""
        return self.epsilon

    def with_value(self, value: float) -> PureDP:  # type: ignore[override]
        """See PrivacyClaim; a claim that states a value is one of ε."""
        return PureDP(value)

    def to_dict(self) -> dict[str, Any]:
        """Return nothing, which is what a configuration without a claim states."""
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
    delta: float = field(metadata=BELOW_1)

    def total_variation(self) -> float:
        """Return δ + (1 − δ) tanh(ε/2): the output is revealed with probability δ (Kairouz, Oh & Viswanath 2015)."""
        return self.delta + (1 - self.delta) * math.tanh(self.epsilon / 2)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}, δ = {self.delta:g}"


class DivergenceClaim(PrivacyClaim):
    """A claim about Rényi divergences D_a: for its orders a, D_a is at most ``scale(a)`` times its value."""

    __slots__ = ()
    group_exponent: ClassVar[int | None] = 2

    def orders(self, some: Sequence[float]) -> tuple[float, ...]:
        """Return those of the given orders that the claim covers, and its own order."""
        return tuple(some)

    @abstractmethod
    def scale(self, order: float) -> float:
        """Return the largest D of this order that a claim with value 1 allows (nats)."""

    @property
    @abstractmethod
    def gaussian_order(self) -> float:
        """The order of the quantity. A Gaussian mechanism with ρ = μ²/2 has a divergence of this order times ρ."""

    @property
    def gaussian_rho(self) -> float:
        """The ρ of the Gaussian mechanism that just keeps the claim (nats)."""
        return self.value / self.gaussian_order

    def total_variation(self) -> float:
        """Return the limit that Pinsker's inequality gives, since D_1 is at most D of any order, and at most ρ."""
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
        """See DivergenceClaim; D does not fall with its order. So the claim bounds it at every lower order."""
        return (*(order for order in some if order < self.order), self.order)

    def scale(self, order: float) -> float:
        """See DivergenceClaim; one value for every order up to the claim's."""
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

    def implies(self, other: Claim) -> bool:
        """See Claim; point by point, in the order of the list."""
        if not isinstance(other, PrivacyProfile) or len(self.profile) != len(other.profile):
            return False
        return all(mine.implies(others) for mine, others in zip(self.profile, other.profile, strict=True))

    def total_variation(self) -> float:
        """Return the value for the strictest point."""
        return min(point.total_variation() for point in self.profile)

    def to_dict(self) -> dict[str, Any]:
        return {"profile": [[point.epsilon, point.delta] for point in self.profile]}

    def __str__(self) -> str:
        return "profile " + ", ".join(f"({point.epsilon:g}, {point.delta:g})" for point in self.profile)
