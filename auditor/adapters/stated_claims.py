"""Claims that code states: as a claim, by the keys of one, or as an event or an accountant of dp-accounting.

An event promises something else under each relation of neighbours, and dp-accounting's privacy loss distributions say what. An
accountant has a relation of its own, and says itself what it promises.
"""

import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from auditor.claims import Claim, PrivacyProfile, ZeroConcentratedDP, claim_from_dict
from auditor.errors import InvalidInputError, did_you_mean

# The δ of a profile.
AT_DELTA = (0.1, 0.01, 1e-3, 1e-6)
# By the auditor's relation, the names in dp-accounting's NeighboringRelation.
RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "substitute": "REPLACE_ONE"}


def claim_of(stated: Any, relation: str | None = None) -> Claim:
    """Return the claim that something states about neighbours of a relation.

    Args:
        stated: a claim; a mapping with the keys that a claim has in a configuration, such as {"epsilon": 1.0}; an event of
            dp-accounting; or an accountant that has composed events.
        relation: "add_remove" or "substitute". An event needs it; an accountant must have it.

    Raises InvalidInputError for anything else, for an event without a relation, and for an event or an accountant that promises
    nothing.

    >>> claim_of({"epsilon": 1.0})
    PureDP(epsilon=1.0)
    """
    if relation is not None and relation not in RELATIONS:
        raise InvalidInputError(f'relation is "{relation}"; {did_you_mean(str(relation), RELATIONS)}')
    if isinstance(stated, Claim):
        return stated
    if isinstance(stated, Mapping):
        return claim_from_dict(stated)
    modules = {kind.__module__.partition(".")[0] for kind in type(stated).__mro__}
    if "dp_accounting" in modules and hasattr(stated, "get_epsilon"):
        return _of_accountant(stated, relation)
    if "dp_accounting" in modules:
        return _of_event(stated, relation)
    raise InvalidInputError(
        f"claim is {stated!r}; it must be a claim, such as PureDP(1.0), or an event or accountant of dp-accounting"
    )


def _of_event(event: Any, relation: str | None) -> Claim:
    if relation is None:
        raise InvalidInputError(
            f"{type(event).__name__} claims something else under each relation; say `relation`: add_remove or substitute"
        )
    if type(event).__name__ == "ZCDpEvent" and not event.xi and relation == "add_remove":
        return ZeroConcentratedDP(float(event.rho))
    library, losses = import_module("dp_accounting"), import_module("dp_accounting.pld")
    accountant = losses.PLDAccountant(getattr(library.NeighboringRelation, RELATIONS[relation]))
    try:
        accountant.compose(event)
    except library.UnsupportedEventError as error:
        raise InvalidInputError(f"dp-accounting cannot account for the event under {relation}: {error}") from None
    return _profile_of(accountant, str(event))


def _of_accountant(accountant: Any, relation: str | None) -> Claim:
    own = accountant.neighboring_relation.name
    if relation is not None and own != RELATIONS[relation]:
        raise InvalidInputError(
            f"{type(accountant).__name__} accounts for {own}, and the neighbours are {relation}: another promise"
        )
    return _profile_of(accountant, type(accountant).__name__)


def _profile_of(accountant: Any, what: str) -> Claim:
    """Return ε at some δ."""
    points = [(float(accountant.get_epsilon(delta)), delta) for delta in AT_DELTA]
    finite = [(epsilon, delta) for epsilon, delta in points if math.isfinite(epsilon)]
    if not finite:
        raise InvalidInputError(f"{what} promises nothing: its ε is infinite at every δ up to {AT_DELTA[0]}")
    return PrivacyProfile(finite)
