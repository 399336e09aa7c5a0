"""Algorithms, numerical mechanisms and partition selection of PyDP, the Python wrapper of Google's library.

ε and δ are attributes. Neighbours differ by one user who is added or removed. The bounds of an algorithm are not
attributes, but an algorithm clamps numbers beyond its bounds, so any range of records can be tried.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auditor.adapters import Adapted
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.libraries.adapting import DEFAULT_REACH, DEFAULT_SIZE, dp_claim, note_chosen_values
from auditor.neighbours.numbers import Number
from auditor.neighbours.records import Records
from auditor.neighbours.totals import OneNumber


def from_pydp(thing: Any, *, range: Sequence[Number] | None = None, size: Sequence[int] | None = None) -> Adapted:
    """Adapt an algorithm, a numerical mechanism, or a strategy for the selection of partitions.

    Args:
        thing: the object.
        range: [low, high], the numbers that are tried; for a strategy, the numbers of users of a partition.
        size: [low, high], how many records an algorithm gets.

    Raises InvalidInputError for anything else of PyDP.
    """
    chosen = dict[str, Any]()
    call: Any
    domain: Domain
    if hasattr(thing, "quick_result"):
        integer = thing.dtype == "int"
        low, high = range or chosen.setdefault("range", (-DEFAULT_REACH, DEFAULT_REACH))
        number = int if integer else float
        size = size or chosen.setdefault("size", DEFAULT_SIZE)
        # The rows of a user. Algorithms without this number have a string in its place.
        rows = thing.linf_sensitivity if isinstance(thing.linf_sensitivity, int) else 1
        call = thing.quick_result
        domain = Records((number(low), number(high)), size=size, integer=integer, distance=rows, container="list")
    elif hasattr(thing, "add_noise"):
        sensitivity = float(thing.sensitivity if hasattr(thing, "sensitivity") else thing.l2_sensitivity)
        far = max(DEFAULT_REACH, 10 * sensitivity)
        low, high = range or chosen.setdefault("range", (-far, far))
        call, domain = thing.add_noise, OneNumber((float(low), float(high)), sensitivity)
    elif hasattr(thing, "should_keep"):
        low, high = range or chosen.setdefault("range", (0, DEFAULT_REACH))
        call, domain = thing.should_keep, OneNumber((int(low), int(high)), 1)
    else:
        raise InvalidInputError(
            f"{type(thing).__name__} of PyDP releases nothing by itself; write a function that calls it"
        )
    claim = dp_claim(thing.epsilon, getattr(thing, "delta", 0.0) or 0.0)
    return Adapted(MethodCall(call), claim, domain, note_chosen_values("PyDP", chosen))


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A PyDP method as a function of its data, since Python cannot read the signatures of these methods."""

    method: Any

    def __call__(self, data: Any) -> Any:
        return self.method(data)
