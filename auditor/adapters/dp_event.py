"""Any callable with a ``dp_event`` of dp-accounting: the event is the claim, under a relation that must be stated.

The protocol is shared by several libraries. The claim is that of dp-accounting's privacy loss distributions.
"""

from typing import Any

from auditor.adapters.adapted import Adapted
from auditor.adapters.stated_claims import claim_of


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
    event = thing.dp_event() if callable(thing.dp_event) else thing.dp_event
    return Adapted(thing, claim_of(event, relation), wanting="its event does not say what data are; give `neighbours`")
