"""Claims from events and accountants of dp-accounting, and an adapter for any callable with a ``dp_event``.

The claim of an event depends on the neighbouring relation. dp-accounting's privacy loss distributions compute it.
An accountant has a relation of its own, and computes its claim itself.
"""

import math
from importlib import import_module
from typing import Any

from auditor.adapters import Adapted
from auditor.claims import Claim, PrivacyProfile, ZeroConcentratedDP
from auditor.errors import InvalidInputError
from auditor.neighbours.pair import relation_named

# The values of δ at which a claimed profile is stated.
PROFILE_DELTAS = (0.1, 0.01, 1e-3, 1e-6)
# The auditor's relations, and their names in dp-accounting's NeighboringRelation.
ACCOUNTING_RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "substitute": "REPLACE_ONE"}


def from_dp_event(thing: Any, *, relation: str | None = None) -> Adapted:
    """Adapt a mechanism with a ``dp_event``, which several libraries have.

    Args:
        thing: a callable as ``auditor.audit`` takes one, whose ``dp_event`` is an event, or returns one.
        relation: "add_remove" or "substitute"; the claim depends on it, and neighbours that are given must be of it.

    Raises InvalidInputError for another relation, and for an event that dp-accounting cannot account for under this relation.
    """
    if relation is None:
        return Adapted(
            thing, wanting="its event has a different claim for each relation; give `relation` and `neighbours`"
        )
    event = thing.dp_event() if callable(thing.dp_event) else thing.dp_event
    claim = _claim_of_event(event, relation_named(relation))
    return Adapted(thing, claim, wanting="its event does not say what data are; give `neighbours`")


def claim_from_accounting(stated: Any, relation: str | None) -> Claim | None:
    """Return the claim of an event, or of an accountant that has composed events. Return None for anything else.

    Raises InvalidInputError for an event without a relation, an accountant of another relation, and an infinite ε.
    """
    if "dp_accounting" not in {kind.__module__.partition(".")[0] for kind in type(stated).__mro__}:
        return None
    if not hasattr(stated, "get_epsilon"):
        return _claim_of_event(stated, relation)
    own, name = stated.neighboring_relation.name, type(stated).__name__
    if relation is not None and own != ACCOUNTING_RELATIONS[relation]:
        raise InvalidInputError(
            f"{name} accounts for {own}, but the neighbours are {relation}; give both the same relation"
        )
    return _finite_profile(stated, name)


def _claim_of_event(event: Any, relation: str | None) -> Claim:
    if relation is None:
        raise InvalidInputError(
            f"{type(event).__name__} has a different claim for each relation; give `relation`: add_remove or substitute"
        )
    if type(event).__name__ == "ZCDpEvent" and not event.xi and relation == "add_remove":
        return ZeroConcentratedDP(float(event.rho))
    library, losses = import_module("dp_accounting"), import_module("dp_accounting.pld")
    accountant = losses.PLDAccountant(getattr(library.NeighboringRelation, ACCOUNTING_RELATIONS[relation]))
    try:
        accountant.compose(event)
    except library.UnsupportedEventError as error:
        raise InvalidInputError(f"dp-accounting cannot account for the event under {relation}: {error}") from None
    return _finite_profile(accountant, str(event))


def _finite_profile(accountant: Any, what: str) -> Claim:
    """Return the profile of the finite values of ε at PROFILE_DELTAS. ``what`` names the accountant or event in errors."""
    points = [(float(accountant.get_epsilon(delta)), delta) for delta in PROFILE_DELTAS]
    finite = [(epsilon, delta) for epsilon, delta in points if math.isfinite(epsilon)]
    if not finite:
        raise InvalidInputError(f"{what} promises nothing: its ε is infinite at every δ up to {PROFILE_DELTAS[0]}")
    return PrivacyProfile(finite)
