"""What is promised: a claim is a sentence about every pair of neighbouring data sets, with numbers in nats."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from auditor.errors import InvalidInputError, did_you_mean, require_number


@dataclass(frozen=True, slots=True)
class Claim:
    """The common face of all claims.

    ``quantity`` names the parameter that an audit bounds from below; a violation is a bound on it that
    lies strictly above :attr:`value`.
    """

    quantity: ClassVar[str]

    @property
    def value(self) -> float:
        """What the claim says of its quantity."""
        number: float = getattr(self, self.quantity)
        return number

    def to_dict(self) -> dict[str, float]:
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


PrivacyClaim = PureDP | ApproximateDP

KINDS: dict[frozenset[str], type[PureDP | ApproximateDP]] = {
    frozenset({"epsilon"}): PureDP,
    frozenset({"epsilon", "delta"}): ApproximateDP,
}


def claim_from_dict(numbers: Mapping[str, Any]) -> PrivacyClaim:
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
        forms = " or ".join("{" + ", ".join(sorted(keys, reverse=True)) + "}" for keys in KINDS)
        raise InvalidInputError(f"claim has the keys {sorted(numbers)}; it must be {forms}")
    return kind(**numbers)
