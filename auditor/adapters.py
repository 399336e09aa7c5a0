"""Adapters make mechanisms, claims and neighbours of library objects from what the objects say about themselves.

An adapter is a module, or an object, that an entry point of the group ``auditor.adapters`` names. It has

- ``adapt(thing, parameters) -> Adapted | None``: None for an object of another library; ``parameters`` are keywords
  from the user, for what the object does not state;
- optionally ``claim_of(stated, relation, delta=None) -> Claim | None``, for further forms of claims: None for an unknown form;
- optionally ``doubts_of(stated, claim) -> Sequence[str]``: sentences for the report on whether the claim itself can be true.

The first adapter that knows an object makes its mechanism.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from auditor.claims import Claim, claim_from_dict
from auditor.errors import InvalidInputError, require_number
from auditor.foreign_code import ForeignCode, entry_points_of
from auditor.interfaces import Domain
from auditor.neighbours.pair import Relation, relation_named

T = TypeVar("T")
ADAPTER_GROUP = "auditor.adapters"
# A claim may depend on these relations.
CLAIM_RELATIONS = (Relation.ADD_REMOVE, Relation.SUBSTITUTE)


@dataclass(frozen=True, slots=True)
class Adapted:
    """The mechanism, the claim and the neighbours of an object.

    ``mechanism`` is a callable as ``auditor.audit`` takes one; with several workers, it must be picklable.
    ``assumptions`` are sentences about values that were chosen because the object does not say them. The report shows
    them as warnings. If there is no claim, or no neighbours, ``wanting`` says which keyword supplies the missing part.
    """

    mechanism: Callable[..., Any]
    claim: Claim | None = None
    neighbours: Domain | None = None
    assumptions: tuple[str, ...] = ()
    wanting: str = ""


def adapt_object(thing: object, parameters: Mapping[str, Any]) -> Adapted | None:
    """Return the result of the first adapter that knows an object. Return None if no adapter knows it.

    What an adapter returned is known: a module may name it, so that a configuration need not repeat ``parameters``.

    Raises InvalidInputError as the adapter does, and if the adapter fails.
    """
    if isinstance(thing, Adapted):
        if parameters:
            raise InvalidInputError(
                f"parameters are {', '.join(parameters)}, and the object is adapted already; give them where it is adapted"
            )
        return thing
    return _ask_adapters("adapt", Adapted, thing, parameters)


def mechanism_of(thing: object, parameters: Mapping[str, Any]) -> Callable[..., Any]:
    """Return the mechanism alone.

    Raises InvalidInputError as ``adapt_object``, and if the object has no adapter and cannot be called.
    """
    adapted = adapt_object(thing, parameters)
    if adapted is not None:
        return adapted.mechanism
    if not callable(thing):
        raise InvalidInputError(
            f"{_describe_type(thing)} cannot be called, and has no adapter; write a function that calls it"
        )
    return functools.partial(thing, **parameters) if parameters else thing


def claim_of(stated: Any, relation: str | None = None, delta: float | None = None) -> Claim:
    """Return the claim that an object states for a neighbouring relation.

    Args:
        stated: a claim; a mapping with the keys that a claim has in a configuration, such as {"epsilon": 1.0}; an event or a
            privacy loss distribution of dp-accounting; an accountant of dp-accounting, Opacus, Flower or pfl; or any object with
            ``get_epsilon(delta)``.
        relation: "add_remove" or "substitute". Needed for an event. If an accountant says its relation, it must be that one.
        delta: of an event or an accountant, claim (ε, delta) for this δ only.

    Raises InvalidInputError for anything else, for an event without a relation, for another relation than the accountant's, and for
    an event or an accountant that promises nothing.

    >>> claim_of({"epsilon": 1.0})
    PureDP(epsilon=1.0)
    """
    if relation is not None:
        relation = relation_named(relation)
    if delta is not None:
        delta = require_number("delta", delta, 0, 1, high_open=True)
    if isinstance(stated, Claim | Mapping):
        if delta is not None:
            raise InvalidInputError(f"delta is {delta!r}, and the claim is stated already; leave out delta")
        return stated if isinstance(stated, Claim) else claim_from_dict(stated)
    claim = _ask_adapters("claim_of", Claim, stated, relation, *([] if delta is None else [delta]))
    if claim is None:
        raise InvalidInputError(
            f"claim is {stated!r}; it must be a claim, such as PureDP(1.0), an event or accountant of dp-accounting, or an object "
            "with get_epsilon(delta). Of any other accountant, state its numbers: ApproximateDP(epsilon, delta)"
        )
    return claim


def doubts_of(stated: Any, claim: Claim) -> tuple[str, ...]:
    """Return sentences on whether what an object claims can be true, such as that its accountant states too little."""
    if isinstance(stated, Claim | Mapping) or stated is None:
        return ()
    return tuple(map(str, _ask_adapters("doubts_of", Sequence, stated, claim) or ()))  # type: ignore[type-abstract]


def _ask_adapters(function: str, kind: type[T], *arguments: Any) -> T | None:
    """Return the first answer of an adapter that is not None."""
    for name, adapter in entry_points_of(ADAPTER_GROUP).items():
        if function != "adapt" and not hasattr(adapter, function):
            continue
        what = f"the adapter {name}, on {_describe_type(arguments[0])},"
        with ForeignCode(what, "call the mechanism in a function of your own, with a claim and neighbours"):
            answer = getattr(adapter, function)(*arguments)
        if isinstance(answer, kind):
            return answer
        if answer is not None:
            raise InvalidInputError(
                f"{function} of the adapter {name} returned {answer!r} for {_describe_type(arguments[0])}; it must return "
                f"{kind.__name__} or None"
            )
    return None


def _describe_type(thing: object) -> str:
    return f"{type(thing).__name__} of {type(thing).__module__}"
