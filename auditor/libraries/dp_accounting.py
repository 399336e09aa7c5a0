"""Claims from events and accountants of dp-accounting, and an adapter for any callable with a ``dp_event``.

The claim of an event depends on the neighbouring relation. It is computed exactly if noise and sampling are known, and else by
dp-accounting's privacy loss distributions. An accountant has a relation of its own, and computes its claim itself.
"""

from dataclasses import replace
from importlib import import_module
from typing import Any

from auditor.adapters import Adapted
from auditor.claims import Claim, ZeroConcentratedDP
from auditor.errors import InvalidInputError
from auditor.exact import Composition, FixedSize, Gaussian, Laplace, Poisson, Process
from auditor.exact.process import ProcessRelation
from auditor.libraries.stated import (
    PROFILE_DELTAS,
    claim_from_accountant,
    claim_of_process,
    doubts_about,
    implied_process,
    profile_of,
)
from auditor.neighbours.pair import relation_named

# The auditor's relations, and their names in dp-accounting's NeighboringRelation.
ACCOUNTING_RELATIONS = {"add_remove": "ADD_OR_REMOVE_ONE", "substitute": "REPLACE_ONE"}
EXACT_RELATIONS: dict[str, ProcessRelation] = {
    "ADD_OR_REMOVE_ONE": "add_remove",
    "REPLACE_ONE": "substitute",
    "REPLACE_SPECIAL": "zero_out",
}


def from_dp_event(thing: Any, *, relation: str | None = None) -> Adapted:
    """Adapt a mechanism with a ``dp_event``, which several libraries have.

    Args:
        thing: a callable as ``auditor.audit`` takes one, whose ``dp_event`` is an event, or returns one.
        relation: "add_remove" or "substitute"; the claim depends on it, and neighbours that are given must be of it.

    Raises InvalidInputError for another relation, and for an event that nobody can account for under this relation.
    """
    if relation is None:
        return Adapted(
            thing, wanting="its event has a different claim for each relation; give `relation` and `neighbours`"
        )
    event = thing.dp_event() if callable(thing.dp_event) else thing.dp_event
    claim = _claim_of_event(event, relation_named(relation), None)
    return Adapted(thing, claim, wanting="its event does not say what data are; give `neighbours`")


def claim_from_accounting(stated: Any, relation: str | None, delta: float | None = None) -> Claim | None:
    """Return the claim of an event, of an accountant, or of a privacy loss distribution. Return None for anything else.

    ``delta`` asks for (ε, δ) at this δ alone. Raises InvalidInputError for an event without a relation, an accountant of another
    relation, and an infinite ε.
    """
    if not _is_of_dp_accounting(stated) or not (_is_event(stated) or hasattr(stated, "neighboring_relation")):
        return claim_from_accountant(stated, relation, delta)
    if _is_event(stated):
        return _claim_of_event(stated, relation, delta)
    own, name = stated.neighboring_relation.name, type(stated).__name__
    if relation is not None and own not in ACCOUNTING_RELATIONS.values():
        raise InvalidInputError(
            f"{name} accounts for {own}, in which a record becomes a special one, and no domain has this relation; list such "
            "pairs as neighbours, since a list has no relation of its own"
        )
    if relation is not None and own != ACCOUNTING_RELATIONS[relation]:
        raise InvalidInputError(
            f"{name} accounts for {own}, but the neighbours are {relation}; give both the same relation"
        )
    return profile_of(stated.get_epsilon, [*PROFILE_DELTAS] if delta is None else [delta], name)


def doubts_of(stated: Any, claim: Claim) -> tuple[str, ...]:
    """Say if an accountant states less than the exact number of what it accounts for."""
    if not (_is_of_dp_accounting(stated) and hasattr(stated, "neighboring_relation")):
        return doubts_about(stated, implied_process(stated), claim)
    relation = EXACT_RELATIONS.get(stated.neighboring_relation.name)
    process = None if relation is None else process_of_event(getattr(stated, "ledger", None), relation)
    return doubts_about(stated, process, claim)


def _is_of_dp_accounting(stated: object) -> bool:
    return "dp_accounting" in {kind.__module__.partition(".")[0] for kind in type(stated).__mro__}


def _is_event(stated: object) -> bool:
    return type(stated).__name__.endswith("DpEvent")


def _claim_of_event(event: Any, relation: str | None, delta: float | None) -> Claim:
    if relation is None:
        raise InvalidInputError(
            f"{type(event).__name__} has a different claim for each relation; give `relation`: add_remove or substitute"
        )
    if (rho := _concentrated(event)) is not None and delta is None:
        return ZeroConcentratedDP(rho)
    process = process_of_event(event, EXACT_RELATIONS[ACCOUNTING_RELATIONS[relation]])
    if process is not None:
        return claim_of_process(process, delta, str(event))
    library, losses = import_module("dp_accounting"), import_module("dp_accounting.pld")
    accountant = losses.PLDAccountant(getattr(library.NeighboringRelation, ACCOUNTING_RELATIONS[relation]))
    try:
        accountant.compose(event)
    except library.UnsupportedEventError as error:
        raise InvalidInputError(f"dp-accounting cannot account for the event under {relation}: {error}") from None
    return profile_of(accountant.get_epsilon, [*PROFILE_DELTAS] if delta is None else [delta], str(event))


def _concentrated(event: Any) -> float | None:
    """Return the sum of ρ of zero-concentrated events, which says nothing of a relation; None for any other event."""
    name = type(event).__name__
    if name == "ZCDpEvent":
        return None if event.xi else float(event.rho)
    if name == "SelfComposedDpEvent":
        one = _concentrated(event.event)
        return None if one is None else one * int(event.count)
    if name == "ComposedDpEvent":
        parts = [_concentrated(part) for part in event.events]
        return sum(part for part in parts if part is not None) if parts and None not in parts else None
    return None


def process_of_event(event: Any, relation: ProcessRelation) -> Process | Composition | None:
    """Return the process that an event describes under a relation; None if it is not known, or has no meaning under it."""
    try:
        parts = _processes(event, relation)
        return Composition(tuple(parts)) if parts else None
    except (InvalidInputError, AttributeError, TypeError, ValueError):
        return None


def _processes(event: Any, relation: ProcessRelation) -> list[Process] | None:
    """Return the steps of an event, None if one of them is not known. No step at all is an empty list."""
    match type(event).__name__:
        case "NoOpDpEvent":
            return []
        case "GaussianDpEvent":
            return [Process(Gaussian(float(event.noise_multiplier)), 1.0, relation)]
        case "LaplaceDpEvent":
            return [Process(Laplace(float(event.noise_multiplier)), 1.0, relation)]
        case "SelfComposedDpEvent":
            inner = _processes(event.event, relation)
            return inner and [replace(part, steps=part.steps * int(event.count)) for part in inner]
        case "ComposedDpEvent":
            known = [_processes(part, relation) for part in event.events]
            return None if None in known else [part for parts in known for part in parts or ()]
        case "PoissonSampledDpEvent":
            rate = float(event.sampling_probability)
            return _drawn(_processes(event.event, relation), Poisson(rate) if rate < 1 else None)
        case "SampledWithoutReplacementDpEvent":
            rate = int(event.sample_size) / int(event.source_dataset_size)
            return _drawn(_processes(event.event, relation), FixedSize(rate) if rate < 1 else None)
    return None


def _drawn(inner: list[Process] | None, sampling: Poisson | FixedSize | None) -> list[Process] | None:
    """Return a step with its sampling; None if it has several steps, which share one sample, or is sampled already."""
    if not inner or sampling is None:
        return inner
    part = inner[0]
    return [replace(part, sampling=sampling)] if len(inner) == 1 and part.steps == 1 and part.sampling is None else None
