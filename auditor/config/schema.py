"""The shape of a configuration: names, kinds and defaults, checked by pydantic; and its JSON Schema, made of the same models.

The text below a key is its description in the JSON Schema. What numbers mean is checked later, and so are the keys of claims. The
JSON Schema has these from the kinds of claims.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from auditor.adapters import RELATIONS
from auditor.blackbox.mechanism import load
from auditor.claims import CLAIM_KINDS, STRONGER_IF_LARGER
from auditor.defaults import CONFIDENCE, ExecutionKeywords, SettingsKeywords, settings
from auditor.door import Door
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.frames import Frame
from auditor.neighbours.numbers import Number
from auditor.neighbours.pair import Relation
from auditor.neighbours.records import Records
from auditor.neighbours.totals import OneNumber, Totals, TotalsByKey

T = TypeVar("T")
M = TypeVar("M", bound="Strict")


class Strict(BaseModel):
    """A mapping with the keys of its fields, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, defer_build=True)

    @model_validator(mode="wrap")
    @classmethod
    def _naming_itself(cls, given: Any, handler: Callable[[Any], Any]) -> Any:
        """Let each error name the model that it arose in, which knows the keys that are allowed."""
        try:
            return handler(given)
        except ValidationError as errors:
            found: Any = errors.errors()
            for one in found:
                one["type"] = PydanticCustomError(one["type"], one["msg"], {"model": cls, **one.get("ctx", {})})
            raise ValidationError.from_exception_data(cls.__name__, found) from None

    def given(self) -> dict[str, Any]:
        """Return the keys that the file sets, with their values; null sets nothing."""
        return {key: value for key, value in self if key in self.model_fields_set and value is not None}


def validated(kind: type[T], data: Any, what: str) -> T:
    """Return data as an object of a type. Raises InvalidInputError: ``what``, the first place that is wrong, and why."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as errors:
        first = errors.errors()[0]
        place = ", ".join(map(str, first["loc"])) or "all of it"
        raise InvalidInputError(f"{what}: {place}: {plain_message(first)}") from None


def plain_message(problem: Any) -> str:
    """Say what a value must be, of a problem that pydantic found."""
    # Pydantic calls these by the names of Python's types.
    known = {
        "dict_type": "a mapping, {key: value}",
        "list_type": "a list, [value, value]",
        "string_type": "text: write it in quotes",
        "bool_type": "true or false",
    }.get(problem["type"])
    message = f"it must be {known}" if known else problem["msg"].replace("Input should be", "it must be")
    return str(message[0].lower() + message[1:])


# --- Neighbours: a class for each form, with its keys and the domain made of them ---


RelationName = Literal["add_remove", "substitute"]
# More pairs than any search looks at, so that a generator without an end is an error.
MOST_PAIRS = 100_000
# Keys that may name a function, which makes data sets.
_DATA_FROM_CODE = ("generator", "canaries", "records")


class LowHigh(Strict):
    """The two ends of a range, both inside it."""

    low: Number
    """The least."""
    high: Number
    """The greatest."""


class NeighbourForm(Strict):
    """A form that neighbours may have in a configuration."""

    @abstractmethod
    def make(self, search_path: tuple[str, ...]) -> Domain | Canaries:
        """Return the neighbours. Raises InvalidInputError if keys do not go together, or if a value is not possible."""

    def code(self) -> list[str]:
        """Return the names of the functions that making the domain imports, module:function or file.py:function."""
        return [name for key in (*_DATA_FROM_CODE, "score") if isinstance(name := getattr(self, key, None), str)]

    def needs_code(self) -> bool:
        """Whether data sets come from functions, so that without these there is only a stand-in for the domain."""
        return any(isinstance(getattr(self, key, None), str) for key in _DATA_FROM_CODE)

    def stand_in(self) -> Domain | Canaries:
        """Return a stand-in for a domain whose functions may not be run."""
        return Pairs([(0, 1)])

    def arguments(self) -> dict[str, Any]:
        """Return the keys that are given, without ``domain``; ranges as (low, high)."""
        given = {key: value for key, value in self.given().items() if key != "domain"}
        return {key: (v.low, v.high) if isinstance(v, LowHigh) else v for key, v in given.items()}


class OneValue(NeighbourForm):
    """One value of a set or a range. Any two values are neighbours (the local model)."""

    domain: Literal["value"]
    """One value, the local model."""
    values: list[Any] | None = None
    """The possible values."""
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    """The ends of a range, instead of values."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return Value(**self.arguments())


class NumberApart(NeighbourForm):
    """One number of a range. Two numbers are neighbours if they are near each other."""

    domain: Literal["number"]
    """One number, of which any two that are near each other are neighbours."""
    range: Annotated[list[Number], Field(min_length=2, max_length=2)]
    """The ends of the range."""
    distance: Number
    """How far apart neighbours may be."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return OneNumber(**self.arguments())


class NumberRecord(LowHigh):
    """A record between two numbers."""

    integer: bool | None = None
    """Whether records are integers."""


class ChoiceRecord(Strict):
    """A record out of a list. Leave out low, high and integer."""

    choices: list[Any]
    """All that a record may be."""


def _without_null(given: Any) -> Any:
    """Remove the keys that are null: they set nothing, in any form."""
    return {key: value for key, value in given.items() if value is not None} if isinstance(given, dict) else given


RecordForm = Annotated[
    Annotated[NumberRecord, Tag("a number")] | Annotated[ChoiceRecord, Tag("one of choices")],
    Discriminator(lambda given: "one of choices" if isinstance(given, dict) and "choices" in given else "a number"),
    BeforeValidator(_without_null),
]


class Apart(NeighbourForm):
    """Neighbours that may be several moves apart."""

    distance: int | None = None
    """The number of records, rows or persons in which neighbours differ. More than 1 is group privacy."""


class ListOfRecords(Apart):
    """A list of records."""

    domain: Literal["records"]
    """A list of records."""
    record: RecordForm | None = None
    """The possible values of each record: {low, high}, or {choices}."""
    size: LowHigh
    """How many records there may be."""
    columns: int | list[RecordForm] | None = None
    """How many numbers a record has; or, instead of record, the values of each number: [{low, high}, {choices}, ...]."""
    container: Literal["array", "list"] | None = None
    """What a Python mechanism receives: an array of shape (n,) or (n, columns), the default; or a list."""
    relation: RelationName | None = None
    """How neighbours differ: add_remove (the default) adds or removes one; substitute replaces one."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        arguments = self.arguments()
        arguments.pop("record", None)
        record, columns = self.record, self.columns
        if isinstance(columns, list):
            arguments["columns"] = [column.given() for column in columns]
        if isinstance(record, ChoiceRecord):
            arguments["choices"] = record.choices
        elif record is not None:
            arguments |= {"record": (record.low, record.high), "integer": bool(record.integer)}
        return Records(**arguments)


class TotalsKeys(NeighbourForm):
    """A vector of sums over people: contributions and people, or cells, values and contribution."""

    domain: Literal["totals"]
    """A vector of sums over people."""
    contributions: list[list[Number]] | None = None
    """The vectors that one person can add."""
    people: LowHigh | None = None
    """How many people of each kind of contribution there may be."""
    cells: int | None = None
    """Instead of contributions: how many numbers the vector has."""
    values: Annotated[LowHigh, Tag("a mapping")] | Annotated[list[Number], Field(min_length=2, max_length=2)] | None = (
        None
    )
    """With cells: the range of each number, {low, high} or [low, high]."""
    keys: list[Any] | None = None
    """Instead of cells: the keys of a dict of numbers. A key whose number is 0 is absent."""
    contribution: dict[Literal["l0", "l1", "l2", "linf"], Number] | None = None
    """With cells: how far one person moves the vector, in L1, in L2 or in any one cell. With keys, limits for one person: l0, the
    number of keys; linf, the change of a key; l1 or l2, the change of all keys."""
    integer: bool | None = None
    """With cells: whether the numbers are integers (the default)."""
    relation: RelationName | None = None
    """How neighbours differ: add_remove (the default) adds or removes one; substitute replaces one."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        arguments = self.arguments()
        if "keys" not in arguments:
            return Totals(**arguments)
        if arguments.keys() != {"keys", "values", "contribution"}:
            raise InvalidInputError(
                f"totals by key take keys, values and contribution, all three and no others; given are {', '.join(arguments)}"
            )
        return TotalsByKey(**arguments)


class CanariesByCoins(NeighbourForm):
    """Canaries, each in the data by a fair coin, for method: one-run."""

    domain: Literal["canaries"]
    """Canaries, each in the data by a fair coin, for method: one-run."""
    canaries: str | list[Any]
    """file.py:function that returns the canaries, as a list or an array; or the list."""
    score: str
    """file.py:function(output, canary), a number that is larger where the canary is in the data."""
    records: str | list[Any] | None = None
    """file.py:function that returns the other records; or a list of records."""
    runs: int | None = None
    """How many runs there are, each with coins of its own; 1 by default."""
    guesses: int | list[int] | None = None
    """How many of the surest guesses count, of all runs together; by default all, a half, a quarter, and so on."""
    apart: bool | None = None
    """Set true only if you can prove that no canary affects another one's score. Otherwise the bound is wrong."""

    def stand_in(self) -> Canaries:
        """Return the canaries, if they are listed: a replay has their scores."""
        return Canaries([0], self.score) if self.needs_code() else Canaries(**self.arguments())

    def make(self, search_path: tuple[str, ...]) -> Canaries:
        given = self.arguments()
        for key in ("canaries", "records"):
            if isinstance(name := given.get(key), str):
                function = load(name, search_path)
                with Door(f'{key} "{name}"', "it is called without arguments, and returns a list or an array"):
                    given[key] = function()
        load(self.score, search_path)  # so that an error names its place
        with Door("what canaries or records returned", "it must be a list or an array"):
            canaries = Canaries(**given)
        canaries.search_path = search_path
        return canaries


class ColumnOfFrame(Strict):
    """The possible values of one column of a frame."""

    type: Literal["number", "integer", "categorical", "boolean", "date", "datetime", "text"]
    """The type of its values."""
    low: Number | str | None = None
    """The least number, or date; by default the least that the dtype has."""
    high: Number | str | None = None
    """The greatest."""
    choices: list[Any] | None = None
    """The values of a categorical column, or all that another may hold."""
    null: bool | None = None
    """Whether values may be missing."""
    nan: bool | None = None
    """Whether numbers may be NaN."""
    infinite: bool | None = None
    """Whether numbers may be infinite."""
    outside: bool | None = None
    """Whether values just outside low and high may occur too, for functions that clamp."""
    dtype: str | None = None
    """float64, float32, int8 to int64, uint8 to uint64; s, ms, us, ns of a datetime; category."""


class FrameOfRows(Apart):
    """A frame: columns of different types, missing values, and persons with several rows."""

    domain: Literal["frame"]
    """A table with named columns."""
    columns: dict[str, ColumnOfFrame]
    """The columns by name, such as {age: {type: number, low: 0, high: 99, null: true}}."""
    size: LowHigh | None = None
    """How many rows there may be; {low: 0, high: 20} by default."""
    id: str | None = None
    """The name of a further column, which says whose row it is."""
    rows_per_person: LowHigh | None = None
    """With an id: how many rows a person may have; one by default."""
    relation: RelationName | None = None
    """How neighbours differ: add_remove (the default) adds or removes one; substitute replaces one."""
    unit: Literal["person", "row"] | None = None
    """The unit that is added, removed or substituted: a person with all rows (the default with an id), or a row."""
    order: Literal["kept", "shuffled"] | None = None
    """Whether neighbours have their rows in one order (the default), or in any."""
    form: Literal["rows", "columns", "pandas", "polars", "lazy", "arrow", "csv"] | None = Field(None, alias="as")
    """How the frame is passed: rows (a list of dicts, the default), columns (a dict of arrays), a library, or CSV text."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        arguments = self.arguments()
        return Frame({name: column.given() for name, column in arguments.pop("columns").items()}, **arguments)


class PairSpelledOut(Strict):
    """Two data sets as written."""

    left: Any
    """One data set."""
    right: Any
    """Its neighbour."""


class ListOfPairs(NeighbourForm):
    """The pairs themselves."""

    pairs: list[PairSpelledOut]
    """The pairs, each {left: ..., right: ...}."""
    relation: RelationName | None = None
    """add_remove or substitute: each pair must be neighbouring under it. By default pairs are taken as given."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return Pairs([(pair.left, pair.right) for pair in self.pairs], self.relation or Relation.AS_GIVEN)


class Generated(NeighbourForm):
    """Pairs that a function yields, or the domain that it returns."""

    generator: str
    """module:function or file.py:function that yields pairs (left, right), or returns a domain."""
    relation: RelationName | None = None
    """add_remove or substitute: each pair must be neighbouring under it. By default pairs are taken as given.
    A domain has its own relation."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        generator = f'generator "{self.generator}"'
        function = load(self.generator, search_path)
        with Door(generator, "it is called without arguments, and must yield pairs (left, right), or return a domain"):
            made = function()
            is_domain = hasattr(made, "corners")
            pairs = [] if is_domain or not isinstance(made, Iterable) else list(islice(made, MOST_PAIRS + 1))
        if is_domain:
            if self.relation is not None:
                raise InvalidInputError(
                    f"{generator} returned a domain, which has its own relation; leave out relation"
                )
            return cast(Domain, made)
        if not isinstance(made, Iterable):
            raise InvalidInputError(
                f"{generator} returned {type(made).__name__}; it must yield pairs (left, right), or return a domain"
            )
        if len(pairs) > MOST_PAIRS:
            raise InvalidInputError(f"{generator} yields more than {MOST_PAIRS:,} pairs; return a domain instead")
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InvalidInputError(f"{generator} yielded {pair!r}; it must yield pairs (left, right)")
        with Door(f"a data set of {generator}"):
            return Pairs([(left, right) for left, right in pairs], self.relation or Relation.AS_GIVEN)


def _form(given: Any) -> str | None:
    keys = given if isinstance(given, dict) else ()
    return next((f"by {key}" for key in ("domain", "pairs", "generator") if key in keys), None)


# A new domain is registered here, by its class.
_Domains = Annotated[
    OneValue | NumberApart | CanariesByCoins | ListOfRecords | TotalsKeys | FrameOfRows, Field(discriminator="domain")
]
Neighbours = Annotated[
    Annotated[_Domains, Tag("by domain")]
    | Annotated[ListOfPairs, Tag("by pairs")]
    | Annotated[Generated, Tag("by generator")],
    Discriminator(
        _form,
        custom_error_type="no_form",
        custom_error_message="it must be a mapping with a domain (value, number, records, totals, frame, canaries), "
        "pairs: [{left: ..., right: ...}, ...], or generator: module:name",
    ),
    BeforeValidator(_without_null),
]


# --- Audits and files ---


def with_settings(declared: type[Any], key: str = "file", but: Container[str] = ()) -> Callable[[type[M]], type[M]]:
    """Add the settings that are declared for such keys. A sequence is a list in YAML."""

    def made(model: type[M]) -> type[M]:
        fields: dict[str, Any] = {}
        for name, kind, about in settings(declared):
            if about.key == key and name not in but:
                written: Any = Number | None if kind == float | None else kind | None
                if get_origin(kind) is Sequence:
                    written = cast(Any, list)[get_args(kind)]
                default = about.default if about.of_file is None else about.of_file
                limits: Any = {} if about.least is None else {"minimum": about.least}
                fields[name] = written, Field(default, description=about.text, json_schema_extra=limits)
        named: Any = {"__base__": model, "__module__": model.__module__, "__doc__": model.__doc__}
        extended: type[M] = create_model(model.__name__, **named, **fields)
        return extended

    return made


@with_settings(ExecutionKeywords)
class ExecutionKeys(Strict):
    """How outputs are drawn."""


@with_settings(SettingsKeywords, but=ExecutionKeywords.__annotations__)
class Shared(Strict):
    """Keys of the file, which an audit may set anew for itself."""

    execution: ExecutionKeys | None = None
    """Workers, batches and time limits. The mapping of an audit replaces the whole mapping of the file."""

    def settings(self) -> dict[str, Any]:
        """Return the settings given here, without those of the execution."""
        return {key: value for key, value in self.given().items() if key in SettingsKeywords.__annotations__}


class ProgramKeys(Strict):
    """A program in any language, and its arguments."""

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments; it speaks JSON lines."""


class ObjectKeys(Strict):
    """An object of a library, which says its claim and neighbours itself."""

    object: str
    """module:name or file.py:name of the object, such as a measurement of OpenDP. It is imported when the file is read."""


def _mechanism_form(given: Any) -> str:
    if not isinstance(given, dict):
        return "a function"
    return "an object" if "object" in given else "a program"


# Distinguished before they are checked. Otherwise an error in one is also reported for the other.
MechanismKey = Annotated[
    Annotated[str, Tag("a function")]
    | Annotated[ProgramKeys, Tag("a program")]
    | Annotated[ObjectKeys, Tag("an object")],
    Discriminator(_mechanism_form),
]


@with_settings(SettingsKeywords, "audit")
class Audit(Shared):
    """One mechanism against one claim; the keys of the file may be set anew for it."""

    name: str
    """The audit's name, in reports and for `--only`; part of the seed of every output."""
    mechanism: MechanismKey
    """module:function or file.py:function, f(dataset, rng, ...) or f(dataset, size, rng, ...); or {command: [...]}; or
    {object: file.py:name}."""
    parameters: dict[str, Any] = Field({})
    """Passed on to the mechanism as keywords; for an object, values that it does not state, such as {size: [0, 9]}."""
    claim: dict[str, Any] | list[dict[str, Any]] = Field(None)  # type: ignore[assignment]
    """The promise. For totals it may be a list, one claim for each contribution. By default an object states the claim. Without a
    claim the audit measures ε."""
    neighbours: Neighbours = Field(None)  # type: ignore[assignment]
    """The data sets that the mechanism may see, and which pairs are neighbours.
    By default an object states its data sets and neighbours."""
    valid: str | None = None
    """module:function or file.py:function, which says if the claim covers a data set. Other data sets are left out."""
    ask: list[Any] | dict[str, Any] = Field(None)  # type: ignore[assignment]
    """The questions for the session that the mechanism returns: a list of questions; or {range: [low, high]},
    {parts: {name: [...]}}, or {script: [{ask: ...}, ...]} for one script."""
    rounds: int = Field(None)  # type: ignore[assignment]
    """The most questions of a script; 4 by default."""
    sessions: int = Field(None)  # type: ignore[assignment]
    """How many sessions on the same data a script may open; 1 by default. The claim covers all sessions together."""
    meter: dict[str, Any] | None = None
    """{at: e} ends a dialogue before the first answer after which the session's `spent` exceeds e.
    {at: e, of: epsilon} adds up the part `epsilon` of the questions in place of `spent`."""
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    """How the audit should end; anything else fails the run. Without a claim an audit ends as "measured"."""


class File(Shared):
    """A configuration file."""

    version: Literal[1]
    """The version of this format."""
    confidence: float = Field(CONFIDENCE, json_schema_extra={"exclusiveMinimum": 0, "exclusiveMaximum": 1})
    """The probability that no sound mechanism of the file raises an alarm."""
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
        for keys, kind in CLAIM_KINDS.items()
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
