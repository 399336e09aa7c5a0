"""Mechanisms of diffprivlib: ε and δ are attributes, and the sensitivity says how far apart two neighbours are."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auditor.adapters.adapted import Adapted, what_was_chosen
from auditor.claims import ApproximateDP, Claim, PureDP
from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Domain, Value
from auditor.neighbours.numbers import Number
from auditor.neighbours.one_number import OneNumber

RANGE = 100
# They take integers only.
INTEGERS = ("Geometric", "GaussianDiscrete")


def from_diffprivlib(
    thing: Any, *, range: Sequence[Number] | None = None, values: Sequence[Any] | None = None
) -> Adapted:
    """Adapt a mechanism.

    Args:
        thing: the mechanism.
        range: [low, high], the numbers that are tried; by default the mechanism's own bounds, if it has some.
        values: instead, values any two of which are neighbours.

    Raises InvalidInputError for a tool or a model: their relation is not in the object.
    """
    if not hasattr(thing, "randomise"):
        raise InvalidInputError(
            f"{type(thing).__name__} of diffprivlib does not say which data sets are neighbours; write a function that calls it, "
            "and give a claim and neighbours"
        )
    chosen = dict[str, Any]()
    neighbours = Value(values) if values is not None else _neighbours(thing, range, chosen)
    return Adapted(
        Randomised(thing),
        _claim_of(thing),
        neighbours,
        what_was_chosen("diffprivlib", chosen),
        f"diffprivlib's {type(thing).__name__} does not say which values are neighbours; say `values`, or give `neighbours`",
    )


@dataclass(frozen=True, slots=True)
class Randomised:
    """A mechanism as a function of its value."""

    made: Any

    def __call__(self, value: Any) -> Any:
        return self.made.randomise(copy.copy(value))


def _claim_of(thing: Any) -> Claim:
    epsilon, delta = float(thing.epsilon), float(getattr(thing, "delta", 0.0))
    return ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)


def _neighbours(thing: Any, given: Sequence[Number] | None, chosen: dict[str, Any]) -> Domain | None:
    """Return the neighbours that a mechanism's attributes say; None if they say none."""
    if hasattr(thing, "value0"):
        return Value([thing.value0, thing.value1])
    if hasattr(thing, "_domain_values"):
        return Value(sorted(thing._domain_values))
    sensitivity = getattr(thing, "sensitivity", None)
    # The value of these is a utility, a matrix, or a function.
    if sensitivity is None or any(hasattr(thing, name) for name in ("utility", "function_sensitivity")):
        return None
    if type(thing).__name__ == "Bingham":
        return None
    integer = any(base.__name__ in INTEGERS for base in type(thing).__mro__)
    one = int if integer else float
    low, high = given or (getattr(thing, "lower", None), getattr(thing, "upper", None))
    if low is None or high is None or abs(low) == float("inf") or abs(high) == float("inf"):
        far = max(RANGE, 10 * sensitivity)
        low, high = -far, far
        chosen["range"] = (low, high)
    return OneNumber((one(low), one(high)), one(sensitivity))
