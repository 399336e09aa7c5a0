"""What all claims have in common, and the kinds of claims by their keys."""

import math
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from auditor.errors import InvalidInputError, did_you_mean, require_number

# Metadata of a field: the range of the number, as in a JSON schema; STRONGER_IF_LARGER where a larger number promises more.
STRONGER_IF_LARGER = "stronger_if_larger"
NOT_BELOW_0 = {"minimum": 0}
# A loss (nats), or the number that it follows from. Beyond this, e^ε is near the end of floats, and nothing is promised.
LOSS = {"minimum": 0, "maximum": 500}
SHARE = {"minimum": 0, "maximum": 1}
# At δ = 1 a claim would promise nothing.
BELOW_1 = {"minimum": 0, "exclusiveMaximum": 1}


@dataclass(frozen=True, slots=True)
class Claim(ABC):
    """The common face of all claims.

    ``quantity`` names the parameter that an audit bounds, and ``symbol`` is how reports write it. A bound is a violation if it
    has an :meth:`excess` over the claim's own :attr:`value`.
    """

    quantity: ClassVar[str]
    symbol: ClassVar[str]

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
        """The claim's number for its quantity; 0 if the claim has no such number, as for an excess."""
        return float(self.to_dict().get(self.quantity, 0.0))

    def excess(self, value: float) -> float:
        """Return how far a value of the quantity lies beyond what is claimed; above 0 if it breaks the claim."""
        return value - self.value

    def implies(self, other: "Claim") -> bool:
        """Whether a claim promises at least as much as another claim of the same form, number by number.

        >>> from auditor.claims import GaussianDP, PureDP, RenyiDP
        >>> PureDP(0.5).implies(PureDP(1.0)), RenyiDP(2, 1).implies(RenyiDP(4, 1)), PureDP(0).implies(GaussianDP(1))
        (True, False, False)
        """
        if type(self) is not type(other):
            return False
        both = [
            (getattr(self, f.name), getattr(other, f.name), f.metadata.get(STRONGER_IF_LARGER)) for f in fields(self)
        ]
        return all(mine >= others if larger else mine <= others for mine, others, larger in both)

    @classmethod
    def forms(cls) -> tuple[frozenset[str], ...]:
        """Return the sets of keys that the claim may have in a configuration."""
        return (frozenset(parameter.name for parameter in fields(cls)),)

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as it stands in a configuration, such as ``{"epsilon": 1.0}``."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}


# The claims by the keys that they have in a configuration.
KINDS: dict[frozenset[str], type[Claim]] = {}


def register_claim(kind: type[Claim]) -> None:
    """Let configurations and reports name a kind of claim by its keys. Raises InvalidInputError if another kind has them."""
    for keys in kind.forms():
        if KINDS.setdefault(keys, kind) is not kind:
            raise InvalidInputError(
                f"{kind.__name__} has the keys {sorted(keys)}, which are those of {KINDS[keys].__name__}"
            )


def claim_from_dict(numbers: Mapping[str, Any]) -> Claim:
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
