"""The JSON Schema of a configuration, by which editors complete and check YAML while it is written.

Made of the models that check it, with two things they leave to later steps: which keys a claim has, and which keys of
neighbours go together.
"""

from typing import Any

from auditor.claims import KINDS
from auditor.config.domains import KEYS
from auditor.config.schema import File

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NOT_BELOW_0 = {"type": "number", "minimum": 0}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_POINT = {"type": "array", "prefixItems": [_NOT_BELOW_0, _SHARE], "minItems": 2, "maxItems": 2}
_CLAIM_KEYS: dict[str, dict[str, Any]] = {
    "epsilon": _NOT_BELOW_0,
    "delta": _SHARE,
    "order": {"type": "number", "exclusiveMinimum": 1},
    "rho": _NOT_BELOW_0,
    "mu": _NOT_BELOW_0,
    "profile": {"type": "array", "items": _POINT, "minItems": 1},
    "sensitivity": _NOT_BELOW_0,
    "monotone": {"const": True},
    "probability": _SHARE,
    "at_most": {"const": True},
    "at_least": {"const": True},
}
# The auditor reads 1_000_000 as a number, as YAML 1.1 did; for editors, which follow YAML 1.2, it is text.
_WITH_UNDERSCORES = r"^[-+]?[0-9][0-9_]*$"


def json_schema() -> dict[str, Any]:
    """Return the schema, in the dialect of 2020-12."""
    schema = File.model_json_schema()
    definitions = schema["$defs"]
    definitions["Claim"] = _claim()
    definitions["Neighbours"] = _neighbours(definitions["Neighbours"])
    a_claim = {"$ref": "#/$defs/Claim"}
    told = definitions["Audit"]["properties"]["claim"]["description"]
    several = {"type": "array", "items": a_claim, "minItems": 1}
    definitions["Audit"]["properties"]["claim"] = {"description": told, "anyOf": [a_claim, several]}
    return {"$schema": DIALECT, **_for_editors(schema)}


def _claim() -> dict[str, Any]:
    """Return the schema of a claim: one of the sets of keys that claims have."""
    forms = [
        {
            "description": (kind.__doc__ or "").splitlines()[0],
            "type": "object",
            "properties": {key: _CLAIM_KEYS[key] for key in sorted(keys)},
            "required": sorted(keys),
            "additionalProperties": False,
        }
        for keys, kind in KINDS.items()
    ]
    return {"description": "What is promised, with numbers in nats.", "anyOf": forms}


def _neighbours(model: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of neighbours: one for each domain, for pairs, and for a generator."""
    forms = []
    for kind, keys in KEYS.items():
        properties = {key: model["properties"][key] for key in sorted(keys)}
        if kind not in keys:
            properties = {"domain": {**model["properties"]["domain"], "const": kind}} | properties
        forms.append(
            {
                "type": "object",
                "properties": properties,
                "required": [kind if kind in keys else "domain"],
                "additionalProperties": False,
            }
        )
    return {"description": model["description"], "anyOf": forms}


def _for_editors(schema: Any) -> Any:
    """Return the schema with integers that may have underscores, and without the titles that repeat names."""
    if isinstance(schema, list):
        return [_for_editors(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _for_editors(value) for key, value in schema.items() if key != "title"}
    if made.get("type") == "integer":
        made |= {"type": ["integer", "string"], "pattern": _WITH_UNDERSCORES}
    return made
