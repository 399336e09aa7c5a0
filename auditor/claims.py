"""Claims: a claim is a statement about every pair of neighbouring data sets, with numbers in nats.

This module says what claims guarantee, and :mod:`auditor.methods` how they are tested. A new claim needs
``register_claim`` and an entry in ``METHODS`` for its exact type. Claims about queries need no entry.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self, get_args

from auditor.errors import InvalidInputError, require_known, require_number

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


for _privacy in (PureDP, ApproximateDP, RenyiDP, ZeroConcentratedDP, GaussianDP, PrivacyProfile):
    register_claim(_privacy)
for _other in (Sensitivity, Monotone, Probability):
    register_claim(_other)
