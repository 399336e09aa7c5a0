"""Any callable with a ``dp_event`` of dp-accounting: the event is the claim, under a relation that must be stated.

The protocol is shared by several libraries. The claim is that of dp-accounting's privacy loss distributions.
"""

import math
from importlib import import_module
from typing import Any

from auditor.adapters.adapted import Adapted
from auditor.claims import Claim, PrivacyProfile, ZeroConcentratedDP
from auditor.errors import InvalidInputError, did_you_mean

# The δ of the profile.
AT_DELTA = (0.1, 0.01, 1e-3, 1e-6)
# By the auditor's relation, the names in dp-accounting's NeighboringRelation.
RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "substitute": "REPLACE_ONE"}


def from_dp_event(thing: Any, *, relation: str | None = None) -> Adapted:
    """Adapt a mechanism that states its event.

    Args:
        thing: a callable as ``auditor.audit`` takes one, whose ``dp_event`` is an event, or returns one.
        relation: "add_remove" or "substitute"; the claim depends on it, and neighbours that are given must be of it.

    Raises InvalidInputError for another relation, and for an event that dp-accounting cannot account for under this relation.
    """
    if relation is None:
        return Adapted(
            thing, wanting="its event claims something else under each relation; say `relation`, and give `neighbours`"
        )
    if relation not in RELATIONS:
        raise InvalidInputError(f'relation is "{relation}"; {did_you_mean(str(relation), RELATIONS)}')
    event = thing.dp_event() if callable(thing.dp_event) else thing.dp_event
    return Adapted(
        thing, _claim_of_event(event, relation), wanting="its event does not say what data are; give `neighbours`"
    )


def _claim_of_event(event: Any, relation: str) -> Claim:
    """Return what an event promises to neighbours of the relation."""
    if type(event).__name__ == "ZCDpEvent" and not event.xi and relation == "add_remove":
        return ZeroConcentratedDP(float(event.rho))
    library, losses = import_module("dp_accounting"), import_module("dp_accounting.pld")
    accountant = losses.PLDAccountant(getattr(library.NeighboringRelation, RELATIONS[relation]))
    try:
        accountant.compose(event)
    except library.UnsupportedEventError as error:
        raise InvalidInputError(f"dp-accounting cannot account for the event under {relation}: {error}") from None
    points = [(float(accountant.get_epsilon(delta)), delta) for delta in AT_DELTA]
    finite = [(epsilon, delta) for epsilon, delta in points if math.isfinite(epsilon)]
    if not finite:
        raise InvalidInputError(f"the event {event} promises nothing: its ε is infinite at every δ up to {AT_DELTA[0]}")
    return PrivacyProfile(finite)
