"""How pydantic reads and writes those fields of report.json whose form does not follow from their types."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainSerializer, PlainValidator, Strict, Tag
from typing_extensions import TypeAliasType

from auditor.bounds.evidence import Bound
from auditor.claims import Claim, Unclaimed, claim_from_dict
from auditor.errors import InvalidInputError, require_number
from auditor.events.event import read_rule
from auditor.events.observed import (
    CalculatedEvent,
    ObservedCanaries,
    ObservedCurve,
    ObservedProfile,
    ObservedReport,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
)
from auditor.neighbours.pair import Pair, Relation, relation_named
from auditor.untrusted_files import words_as_floats


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInputError("it must be an object")
    return value


def _claim(value: Any) -> Claim:
    return Unclaimed() if value is None else claim_from_dict(_object(value))


def _pair(value: Any) -> Pair:
    entry = _object(value)
    for key in ("left", "right", "relation"):
        if key not in entry:
            raise InvalidInputError(f'it lacks "{key}"')
    relation = relation_named(entry["relation"], Relation.AS_GIVEN, Relation.ALONE)
    return Pair(words_as_floats(entry["left"]), words_as_floats(entry["right"]), relation)


def _event(value: Any) -> Any:
    """Return an event with query answers as numbers ("NaN" becomes NaN). Raise InvalidInputError for an invalid rule."""
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("rule"), dict):
        read_rule(value["rule"], "feature", *value["rule"])
    return {**value, "values": words_as_floats(value["values"])} if "values" in value else value


# Each kind of event has one of these keys. The first key that an event has decides its kind.
KIND_OF_EVENT = ("opposite", "points", "order", "thresholds", "confirmed", "values", "apart", "likely")


def _kind(event: Any) -> str | None:
    keys: Iterable[str] = getattr(event, "keys", tuple)()
    return next((key for key in KIND_OF_EVENT if key in keys), None)


def _both_chances(power: Mapping[str, float]) -> Mapping[str, float]:
    if set(power) != {"80%", "95%"}:
        raise InvalidInputError(f'it has the keys {sorted(power)}; it must have "80%" and "95%"')
    return power


def _bound(bound: Bound) -> Bound:
    require_number("confidence", bound.confidence, 0, 1, low_open=True)
    if math.isnan(bound.value):
        raise InvalidInputError("the value of a bound is NaN; it must be a number, or an infinity")
    return bound


# Named aliases, so that signatures show the name and not the validators.
Count = TypeAliasType("Count", Annotated[int, Strict(), Field(ge=0, lt=2**63)])
Chance = TypeAliasType("Chance", Annotated[float, Field(ge=0, le=1)])
PowerField = TypeAliasType("PowerField", Annotated[Mapping[str, float], AfterValidator(_both_chances)])
_as_dict = PlainSerializer(lambda value: value.to_dict() or None)  # without a claim, null
ClaimField = TypeAliasType("ClaimField", Annotated[Claim, PlainValidator(_claim), _as_dict])
PairField = TypeAliasType("PairField", Annotated[Pair, PlainValidator(_pair), _as_dict])
BoundField = TypeAliasType("BoundField", Annotated[Bound, AfterValidator(_bound), _as_dict])
EventField = TypeAliasType(
    "EventField",
    Annotated[
        Annotated[ObservedRule, Tag("opposite")]
        | Annotated[ObservedProfile, Tag("points")]
        | Annotated[ObservedScore, Tag("order")]
        | Annotated[ObservedCurve, Tag("thresholds")]
        | Annotated[ObservedReport, Tag("confirmed")]
        | Annotated[QueryAnswers, Tag("values")]
        | Annotated[ObservedCanaries, Tag("apart")]
        | Annotated[CalculatedEvent, Tag("likely")],
        Discriminator(_kind),
        BeforeValidator(_event),
    ],
)
