"""The shape of a configuration: names, kinds and defaults, checked by pydantic; and its JSON Schema, made of the same models.

What numbers mean is checked later, and so are the keys of claims. The JSON Schema has these from the kinds of claims.
"""

import dataclasses
from collections.abc import Callable, Container
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import Discriminator, Field, Tag, create_model

from auditor.adapters import RELATIONS
from auditor.claims import KINDS, STRONGER_IF_LARGER
from auditor.config.domain_schema import Neighbours
from auditor.config.strict import Strict
from auditor.defaults import CONFIDENCE, About, EventKind, ExecutionKeywords, ObserveKind, SettingsKeywords, settings
from auditor.neighbours.numbers import Number

M = TypeVar("M", bound=Strict)


def with_settings(
    declared: type[Any], key: str = "file", but: Container[str] = (), **written: Any
) -> Callable[[type[M]], type[M]]:
    """Add the settings that are declared for such keys; ``written`` are types of those that YAML writes in its own way."""

    def made(model: type[M]) -> type[M]:
        fields: dict[str, Any] = {}
        for name, kind, about in settings(declared):
            if about.key == key and name not in but:
                fields[name] = written.get(name, Number | None if kind == float | None else kind | None), _field(about)
        named: Any = {"__base__": model, "__module__": model.__module__, "__doc__": model.__doc__}
        extended: type[M] = create_model(model.__name__, **named, **fields)
        return extended

    return made


def _field(about: About) -> Any:
    limits = {"minimum": about.least, "exclusiveMinimum": about.above}
    default = about.default if about.of_file is None else about.of_file
    default = [*default] if isinstance(default, tuple) else default
    return Field(default, description=about.text, json_schema_extra={k: v for k, v in limits.items() if v is not None})


@with_settings(ExecutionKeywords)
class ExecutionKeys(Strict):
    """How outputs are drawn."""


@with_settings(SettingsKeywords, but=ExecutionKeywords.__annotations__)
class Shared(Strict):
    """Keys of the file, which an audit may set anew for itself."""

    execution: ExecutionKeys | None = None
    """Workers, batches and time limits; that of an audit replaces the whole of the file's."""

    def settings(self) -> dict[str, Any]:
        """Return the settings given here, with the settings of the execution below one key."""
        known = {"execution", *SettingsKeywords.__annotations__}
        given = {key: value for key, value in self.given().items() if key in known}
        return {key: value.given() if isinstance(value, Strict) else value for key, value in given.items()}


class ProgramKeys(Strict):
    """A program in any language, and its arguments."""

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments; it speaks JSON lines."""


def _mechanism_form(given: Any) -> str:
    if not isinstance(given, dict | Strict):
        return "a function"
    is_object = isinstance(given, ObjectKeys) or (isinstance(given, dict) and "object" in given)
    return "an object" if is_object else "a program"


class ObjectKeys(Strict):
    """An object of a library, which says its claim and neighbours itself."""

    object: str
    """module:name or file.py:name of the object, such as a measurement of OpenDP. It is imported when the file is read."""


# Distinguished before they are checked. Otherwise an error in one is also reported for the other.
MechanismKey = Annotated[
    Annotated[str, Tag("a function")]
    | Annotated[ProgramKeys, Tag("a program")]
    | Annotated[ObjectKeys, Tag("an object")],
    Discriminator(_mechanism_form),
]


@with_settings(SettingsKeywords, "audit", events=list[EventKind], observe=list[ObserveKind])
class Audit(Shared):
    """One mechanism against one claim; the keys of the file may be set anew for it."""

    name: str
    """The audit's name, in reports and for `--only`; part of the seed of every output."""
    mechanism: MechanismKey
    """module:function or file.py:function, f(dataset, rng, ...) or f(dataset, size, rng, ...); or {command: [...]}; or
    {object: file.py:name}."""
    parameters: dict[str, Any] = Field({})
    """Passed on to the mechanism as keywords; of an object, what it does not say, such as {size: [0, 9]}."""
    claim: dict[str, Any] | list[dict[str, Any]] = Field(None)  # type: ignore[assignment]
    """The promise; or a list of claims, one for each contribution of totals; by default that of an object. Without a
    claim the audit measures ε."""
    neighbours: Neighbours = Field(None)  # type: ignore[assignment]
    """The data sets it may see, and which of them are neighbours; by default those of an object."""
    valid: str | None = None
    """module:function or file.py:function of a data set: whether the claim is about it. Other data sets are left out."""
    ask: list[Any] | dict[str, Any] = Field(None)  # type: ignore[assignment]
    """What a session may be asked. Then the mechanism returns a session, and a script is asked of it: a list of questions, or
    {range: [low, high]}, {parts: {name: [...]}}, or {script: [{ask: ...}, ...]} for one script."""
    rounds: int = Field(None)  # type: ignore[assignment]
    """The most questions of a script; 4 by default."""
    sessions: int = Field(None)  # type: ignore[assignment]
    """How many sessions on the same data a script may open; 1 by default. The claim is on all of them together."""
    meter: dict[str, Any] | None = None
    """{at: e} ends a dialogue before the answer by which the session's `spent` passes e; {at: e, of: epsilon} before the question
    by which the sum of these parts of questions does."""
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    """How the audit should end; anything else fails the run. Without a claim it is "measured"."""


class File(Shared):
    """A configuration file."""

    version: Literal[1]
    """The version of this format."""
    confidence: float = Field(CONFIDENCE, json_schema_extra={"exclusiveMinimum": 0, "exclusiveMaximum": 1})
    """The chance that sound mechanisms raise no alarm, of the whole file."""
    audits: Annotated[list[Audit], Field(min_length=1)]
    """The audits, under one error budget."""


# --- The JSON Schema, with which editors complete and check YAML ---


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
    is_object = {"description": "An object.", "type": "object", "required": ["object"]}
    # An object says its claim and neighbours itself. All else needs neighbours, and is measured without a claim.
    definitions["Audit"]["anyOf"] = [
        {"required": ["neighbours"], "dependentRequired": {"expect": ["claim"]}},
        {"properties": {"mechanism": is_object}},
    ]
    for key in Shared.model_fields:  # what an audit does not set is set by the file
        keys[key].pop("default")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_for_editors(schema)}


def _claim() -> dict[str, Any]:
    """Return the schema of a claim: one form for each set of keys that claims have."""
    forms = [
        {
            "description": (kind.__doc__ or "").splitlines()[0],
            "type": "object",
            "properties": {one.name: _parameter(one) for one in dataclasses.fields(kind) if one.name in keys},
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


def _parameter(parameter: dataclasses.Field[Any]) -> dict[str, Any]:
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
    numbers = [_parameter(number) for number in dataclasses.fields(get_args(parameter.type)[0])]
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
        # The auditor reads 1_000_000 as a number, as YAML 1.1 did; for editors, which follow YAML 1.2, it is text.
        made |= {"type": ["integer", "string"], "pattern": r"^[-+]?[0-9][0-9_]*$"}
    return made
