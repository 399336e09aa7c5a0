"""What is promised: a claim is a sentence about every pair of neighbouring data sets, with numbers in nats."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from auditor.errors import InvalidInputError, did_you_mean, require_number


@dataclass(frozen=True, slots=True)
class Claim:
    """The common face of all claims.

    ``quantity`` names the parameter that an audit bounds; a violation is a bound on it with an :meth:`excess` over the
    claim's own :attr:`value`.
    """

    quantity: ClassVar[str]

    @property
    def value(self) -> float:
        """What the claim says of its quantity."""
        number: float = getattr(self, self.quantity)
        return number

    def excess(self, value: float) -> float:
        """Return how far a value of the quantity lies beyond what is claimed; above 0 where it breaks the claim."""
        return value - self.value

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration, such as ``{"epsilon": 1.0}``."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}


@dataclass(frozen=True, slots=True)
class PureDP(Claim):
    """ε-differential privacy: P[M(x) ∈ S] ≤ e^ε P[M(x') ∈ S] for all neighbours x, x' and all events S.

    Raises InvalidInputError unless epsilon is a finite number of at least 0.

    >>> PureDP(1).to_dict()
    {'epsilon': 1.0}
    """

    quantity: ClassVar[str] = "epsilon"
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_number("epsilon", self.epsilon, 0, math.inf))

    @property
    def delta(self) -> float:
        """Pure privacy is the approximate kind at δ = 0."""
        return 0.0

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}"


@dataclass(frozen=True, slots=True)
class ApproximateDP(Claim):
    """(ε, δ)-differential privacy: P[M(x) ∈ S] ≤ e^ε P[M(x') ∈ S] + δ.

    Raises InvalidInputError unless epsilon ≥ 0 and 0 ≤ delta ≤ 1, both finite.

    >>> str(ApproximateDP(1, 1e-5))
    'ε = 1, δ = 1e-05'
    """

    quantity: ClassVar[str] = "epsilon"
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_number("epsilon", self.epsilon, 0, math.inf))
        object.__setattr__(self, "delta", require_number("delta", self.delta, 0, 1))

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}, δ = {self.delta:g}"


@dataclass(frozen=True, slots=True)
class RenyiDP(Claim):
    """(α, ε)-Rényi privacy: D_α(M(x)‖M(x')) ≤ ε in nats, in both directions (Mironov 2017).

    Raises InvalidInputError unless order > 1 and epsilon ≥ 0, both finite.
    """

    quantity: ClassVar[str] = "epsilon"
    order: float
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", require_number("order", self.order, 1, math.inf, low_open=True))
        object.__setattr__(self, "epsilon", require_number("epsilon", self.epsilon, 0, math.inf))

    def __str__(self) -> str:
        return f"Rényi ε = {self.epsilon:g} of order {self.order:g}"


@dataclass(frozen=True, slots=True)
class ZeroConcentratedDP(Claim):
    """ρ-zCDP: D_α(M(x)‖M(x')) ≤ αρ for all α > 1, in both directions (Bun & Steinke 2016).

    Raises InvalidInputError unless rho is a finite number of at least 0.
    """

    quantity: ClassVar[str] = "rho"
    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", require_number("rho", self.rho, 0, math.inf))

    def __str__(self) -> str:
        return f"ρ = {self.rho:g}"


@dataclass(frozen=True, slots=True)
class GaussianDP(Claim):
    """μ-Gaussian privacy: telling M(x) from M(x') is no easier than N(0, 1) from N(μ, 1) (Dong, Roth & Su 2022).

    Raises InvalidInputError unless mu is a finite number of at least 0.
    """

    quantity: ClassVar[str] = "mu"
    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", require_number("mu", self.mu, 0, math.inf))

    def __str__(self) -> str:
        return f"μ = {self.mu:g}"


@dataclass(frozen=True, slots=True)
class PrivacyProfile(Claim):
    """(ε, δ)-differential privacy for every pair of the list.

    What is bounded is the excess: by how many nats ε is passed, at the δ where it is passed most. Raises InvalidInputError
    for an empty list, or a pair out of range.

    >>> PrivacyProfile([(0.5, 0.1), (1, 1e-5)]).to_dict()
    {'profile': [[0.5, 0.1], [1.0, 1e-05]]}
    """

    quantity: ClassVar[str] = "excess"
    profile: tuple[ApproximateDP, ...]

    def __init__(self, profile: Iterable[Sequence[float]]) -> None:
        points = list(profile) if isinstance(profile, Iterable) and not isinstance(profile, str) else []
        if not points or any(not isinstance(point, Sequence) or len(point) != 2 for point in points):
            raise InvalidInputError(
                f"profile is {profile!r}; it must be a list of pairs [epsilon, delta], at least one"
            )
        object.__setattr__(self, "profile", tuple(ApproximateDP(*point) for point in points))

    @property
    def value(self) -> float:
        """The excess that is allowed."""
        return 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration."""
        return {"profile": [[point.epsilon, point.delta] for point in self.profile]}

    def __str__(self) -> str:
        return "profile " + ", ".join(f"({point.epsilon:g}, {point.delta:g})" for point in self.profile)


@dataclass(frozen=True, slots=True)
class Sensitivity(Claim):
    """A query moves by at most ``sensitivity`` between neighbours (in L1, where it is a vector).

    Raises InvalidInputError unless sensitivity is a finite number of at least 0.
    """

    quantity: ClassVar[str] = "sensitivity"
    sensitivity: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity", require_number("sensitivity", self.sensitivity, 0, math.inf))

    def __str__(self) -> str:
        return f"sensitivity {self.sensitivity:g}"


@dataclass(frozen=True, slots=True)
class Monotone(Claim):
    """A query never falls when a record is added: f(x') ≤ f(x) for all x' ⊆ x."""

    quantity: ClassVar[str] = "decrease"
    monotone: bool = True

    def __post_init__(self) -> None:
        if self.monotone is not True:
            raise InvalidInputError(f"monotone is {self.monotone!r}; it must be true")

    @property
    def value(self) -> float:
        """How far the query may fall."""
        return 0.0

    def __str__(self) -> str:
        return "monotone"


@dataclass(frozen=True, slots=True)
class Probability(Claim):
    """On every data set the event that the mechanism reports has probability at most, or at least, p.

    Raises InvalidInputError unless 0 ≤ probability ≤ 1 and one of at_most and at_least is true.
    """

    quantity: ClassVar[str] = "probability"
    probability: float
    at_most: bool = False
    at_least: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", require_number("probability", self.probability, 0, 1))
        if not (isinstance(self.at_most, bool) and isinstance(self.at_least, bool) and self.at_most != self.at_least):
            raise InvalidInputError("a probability claim needs either at_most: true or at_least: true")

    def excess(self, value: float) -> float:
        """Return by how much a probability is too large; where it is promised to be large, too small."""
        return value - self.probability if self.at_most else self.probability - value

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration."""
        return {"probability": self.probability, "at_most" if self.at_most else "at_least": True}

    def __str__(self) -> str:
        return f"probability {'≤' if self.at_most else '≥'} {self.probability:g}"


PrivacyClaim = PureDP | ApproximateDP | RenyiDP | ZeroConcentratedDP | GaussianDP | PrivacyProfile
QueryClaim = Sensitivity | Monotone

KINDS: dict[frozenset[str], type[PrivacyClaim | QueryClaim | Probability]] = {
    frozenset({"epsilon"}): PureDP,
    frozenset({"epsilon", "delta"}): ApproximateDP,
    frozenset({"order", "epsilon"}): RenyiDP,
    frozenset({"rho"}): ZeroConcentratedDP,
    frozenset({"mu"}): GaussianDP,
    frozenset({"profile"}): PrivacyProfile,
    frozenset({"sensitivity"}): Sensitivity,
    frozenset({"monotone"}): Monotone,
    frozenset({"probability", "at_most"}): Probability,
    frozenset({"probability", "at_least"}): Probability,
}


def claim_from_dict(numbers: Mapping[str, Any]) -> PrivacyClaim | QueryClaim | Probability:
    """Make the claim whose parameters are exactly the given keys.

    Raises InvalidInputError when no claim has these keys, or a number is out of its range.

    >>> claim_from_dict({"epsilon": 1, "delta": 1e-5})
    ApproximateDP(epsilon=1.0, delta=1e-05)
    """
    kind = KINDS.get(frozenset(numbers))
    if kind is None:
        known = frozenset[str]().union(*KINDS)
        for key in numbers:
            if key not in known:
                raise InvalidInputError(f'claim has an unknown key "{key}"; {did_you_mean(key, known)}')
        forms = ", ".join("{" + ", ".join(sorted(keys, reverse=True)) + "}" for keys in KINDS)
        raise InvalidInputError(f"claim has the keys {sorted(numbers)}; it must have those of one of {forms}")
    return kind(**numbers)
