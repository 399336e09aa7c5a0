"""The JSON Schema of a configuration, with which editors complete and check YAML.

It is made of the models that check a configuration. The keys of claims are added from the kinds of claims, which check them later.
"""

from collections.abc import Iterable
from dataclasses import Field, fields
from typing import Any, Literal, get_args, get_origin

from auditor.adapters import RELATIONS
from auditor.claims import KINDS, STRONGER_IF_LARGER
from auditor.config.schema import File, Shared

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# The auditor reads 1_000_000 as a number, as YAML 1.1 did; for editors, which follow YAML 1.2, it is text.
_WITH_UNDERSCORES = r"^[-+]?[0-9][0-9_]*$"

# An object says its claim and neighbours itself. All else needs neighbours, and is measured without a claim.
OBJECTS_SAY_THE_REST = {
    "anyOf": [
        {"required": ["neighbours"], "dependentRequired": {"expect": ["claim"]}},
        {"properties": {"mechanism": {"description": "An object.", "type": "object", "required": ["object"]}}},
    ]
}


def json_schema() -> dict[str, Any]:
    """Return the schema, in the dialect of 2020-12."""
    schema = File.model_json_schema()
    definitions = schema["$defs"]
    definitions["Claim"] = _claim()
    keys = definitions["Audit"]["properties"]
    one = {"$ref": "#/$defs/Claim"}
    several = {"type": "array", "items": one, "minItems": 1}
    keys["claim"] = {"description": keys["claim"]["description"], "anyOf": [one, several]}
    keys["neighbours"].pop("default")
    definitions["Audit"] |= OBJECTS_SAY_THE_REST
    for key in Shared.model_fields:  # what an audit does not set is set by the file
        keys[key].pop("default")
    return {"$schema": DIALECT, **_for_editors(schema)}


def _claim() -> dict[str, Any]:
    """Return the schema of a claim: one form for each set of keys that claims have."""
    forms = [
        {
            "description": (kind.__doc__ or "").splitlines()[0],
            "type": "object",
            "properties": {parameter.name: _parameter(parameter) for parameter in _named(kind, keys)},
            "required": sorted(keys),
            "additionalProperties": False,
        }
        for keys, kind in KINDS.items()
    ]
    stated = {
        "description": "What a function or an object states: a claim, its keys, or an event or accountant of dp-accounting.",
        "type": "object",
        "properties": {"from": {"type": "string"}, "relation": {"enum": [*RELATIONS]}},
        "required": ["from"],
        "additionalProperties": False,
    }
    return {"description": "The promise, with numbers in nats.", "anyOf": [*forms, stated]}


def _named(kind: type[Any], keys: Iterable[str]) -> list[Field[Any]]:
    return [parameter for parameter in fields(kind) if parameter.name in keys]


def _parameter(parameter: Field[Any]) -> dict[str, Any]:
    """Return the schema of a number in its range, of a key that is always true, or of a list of points."""
    if parameter.type is bool:
        return {"const": True}
    if get_origin(parameter.type) is Literal:
        return {"enum": [*get_args(parameter.type)]}
    if parameter.type is float:
        number = {"type": "number"} | {key: v for key, v in parameter.metadata.items() if key != STRONGER_IF_LARGER}
        if parameter.name != "sensitivity":
            return number
        by_distance = {"patternProperties": {"^[1-9][0-9]*$": number}, "additionalProperties": False}
        return {"anyOf": [number, {"type": "object", "minProperties": 1, **by_distance}]}
    numbers = [_parameter(number) for number in fields(get_args(parameter.type)[0])]
    point = {"type": "array", "prefixItems": numbers, "minItems": len(numbers), "maxItems": len(numbers)}
    return {"type": "array", "items": point, "minItems": 1}


def _for_editors(schema: Any) -> Any:
    """Let integers have underscores. Remove titles, which repeat names, and discriminators, which only OpenAPI reads."""
    if isinstance(schema, list):
        return [_for_editors(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _for_editors(value) for key, value in schema.items() if key not in ("title", "discriminator")}
    if made.get("type") == "integer":
        made |= {"type": ["integer", "string"], "pattern": _WITH_UNDERSCORES}
    return made
