"""How pydantic reads and writes those fields of report.json whose form does not follow from their types."""

import math
import re
from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, PlainSerializer, PlainValidator, Strict, Tag
from typing_extensions import TypeAliasType

from auditor.bounds.evidence import Bound
from auditor.claims import Claim, claim_from_dict
from auditor.errors import InvalidInputError
from auditor.events.observed import (
    ObservedBets,
    ObservedCanaries,
    ObservedProfile,
    ObservedReport,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
)
from auditor.events.written import read
from auditor.neighbours.pair import Pair, Relation, relation_named

SPELLED = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}

# A number next to a comparison. An earlier auditor wrote an event's thresholds in its description only.
_THRESHOLD = re.compile(r"(?<=[<>≤≥=] )-?[0-9.]+(e[-+]?[0-9]+)?|-?[0-9.]+(e[-+]?[0-9]+)?(?= [<≤])")
_UPPER = "upper limit"
_BITS, _SCORE = "exponent of the lowest bit of", "evidence"


def despelled(value: Any) -> Any:
    """Return data in which words for numbers that JSON lacks, such as "Infinity", are those numbers."""
    if isinstance(value, list):
        return [despelled(item) for item in value]
    if isinstance(value, dict):
        return {key: despelled(item) for key, item in value.items()}
    return SPELLED.get(value, value) if isinstance(value, str) else value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInputError("it must be an object")
    return value


def _claim(value: Any) -> Claim:
    return claim_from_dict(_object(value))


def _pair(value: Any) -> Pair:
    entry = _object(value)
    for key in ("left", "right", "relation"):
        if key not in entry:
            raise InvalidInputError(f'it lacks "{key}"')
    relation = relation_named(entry["relation"], Relation.AS_GIVEN, Relation.ALONE)
    return Pair(despelled(entry["left"]), despelled(entry["right"]), relation)


def _bound(value: Any) -> Any:
    """Name the side of a bound, which an earlier auditor wrote in the method's name only."""
    if not isinstance(value, dict) or "side" in value:
        return value
    return {**value, "side": "upper" if str(value.get("method")).endswith(_UPPER) else "lower"}


def _event(value: Any) -> Any:
    """Name what a rule looks at, and its form, which an earlier auditor wrote in its description only."""
    if not isinstance(value, dict):
        return value
    event = dict(value)
    if isinstance(event.get("points"), list):
        event["points"] = [_event(point) for point in event["points"]]
    if isinstance(event.get("opposite"), dict):
        event["opposite"] = _event(event["opposite"])
    if isinstance(event.get("rule"), dict):
        read(event["rule"], "feature", *event["rule"])  # raises where it is spoilt
    words = event.get("description")
    if "guess" in event and isinstance(words, str):
        looks_at = "bits" if _BITS in words else "score" if _SCORE in words else "values"
        event = {"looks_at": looks_at, "form": _THRESHOLD.sub("#", words), **event}
    return {**event, "values": despelled(event["values"])} if "values" in event else event


# Each kind of event has a key of its own. The first of these that is there decides.
KIND_OF_EVENT = ("opposite", "points", "order", "confirmed", "values", "hypotheses", "apart")


def _kind(event: Any) -> str | None:
    keys: Iterable[str] = getattr(event, "keys", tuple)()
    return next((key for key in KIND_OF_EVENT if key in keys), None)


# Aliases by name, so that signatures show the name and not how it is read.
Count = TypeAliasType("Count", Annotated[int, Strict(), Field(ge=0)])
ClaimField = TypeAliasType(
    "ClaimField", Annotated[Claim, PlainValidator(_claim), PlainSerializer(lambda claim: claim.to_dict())]
)
PairField = TypeAliasType(
    "PairField", Annotated[Pair, PlainValidator(_pair), PlainSerializer(lambda pair: pair.to_dict())]
)
BoundField = TypeAliasType(
    "BoundField", Annotated[Bound, BeforeValidator(_bound), PlainSerializer(lambda bound: bound.to_dict())]
)
EventField = TypeAliasType(
    "EventField",
    Annotated[
        Annotated[ObservedRule, Tag("opposite")]
        | Annotated[ObservedProfile, Tag("points")]
        | Annotated[ObservedScore, Tag("order")]
        | Annotated[ObservedReport, Tag("confirmed")]
        | Annotated[QueryAnswers, Tag("values")]
        | Annotated[ObservedBets, Tag("hypotheses")]
        | Annotated[ObservedCanaries, Tag("apart")],
        Discriminator(_kind),
        BeforeValidator(_event),
    ],
)
