"""The pydantic models of a configuration, which check its keys, types and defaults, and the JSON Schema made from them.

The text below a key is its description in the JSON Schema. The ranges of numbers and the keys of claims are checked later.
The JSON Schema takes the keys of claims from CLAIM_KINDS.
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
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from auditor.accountants.target import States
from auditor.adapters import CLAIM_RELATIONS
from auditor.blackbox.mechanism import load
from auditor.claims import CLAIM_KINDS, STRONGER_IF_LARGER
from auditor.defaults import CONFIDENCE, ExecutionKeywords, SettingsKeywords, settings
from auditor.errors import InvalidInputError
from auditor.foreign_code import ForeignCode
from auditor.interfaces import Domain
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.columns import ColumnType
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.epochs import Epoch, SamplingName
from auditor.neighbours.frames import Frame
from auditor.neighbours.numbers import Number
from auditor.neighbours.pair import Relation
from auditor.neighbours.records import Records
from auditor.neighbours.totals import OneNumber, Totals, TotalsByKey
from auditor.neighbours.vectors import Vectors

T = TypeVar("T")
M = TypeVar("M", bound="Strict")


class Strict(BaseModel):
    """A mapping that refuses all keys but the fields of its model."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, defer_build=True)

    @model_validator(mode="wrap")
    @classmethod
    def _naming_itself(cls, given: Any, handler: Callable[[Any], Any]) -> Any:
        """Add to each error the model that raised it, since the model knows the allowed keys.

        A whole number written with an exponent, such as 1e4, is an integer where the model wants one.
        """
        try:
            return handler(cls._with_integers(given) if isinstance(given, dict) else given)
        except ValidationError as errors:
            problems: Any = errors.errors()
            for problem in problems:
                problem["type"] = PydanticCustomError(
                    problem["type"], problem["msg"], {"model": cls, **problem.get("ctx", {})}
                )
            raise ValidationError.from_exception_data(cls.__name__, problems) from None

    @classmethod
    def _with_integers(cls, given: dict[Any, Any]) -> dict[Any, Any]:
        return {
            key: as_integers(value)
            if (field := cls.model_fields.get(key)) and wants_integers(field.annotation)
            else value
            for key, value in given.items()
        }

    def given(self) -> dict[str, Any]:
        """Return the keys that the file sets, with their values. A key with null counts as not set."""
        return {key: value for key, value in self if key in self.model_fields_set and value is not None}


def wants_integers(annotation: Any) -> bool:
    """Whether the numbers of a type are integers, alone or in lists."""
    inner = get_args(annotation)
    if annotation is int or not inner or get_origin(annotation) is Literal:
        return annotation is int
    kinds = [kind for kind in inner if kind is not type(None)]
    return float not in kinds and any(map(wants_integers, kinds))


def as_integers(value: Any) -> Any:
    """Return a whole number as an integer, and a list with its whole numbers as integers.

    >>> as_integers(1e4), as_integers([1e2, 0.5]), as_integers(float("inf"))
    (10000, [100, 0.5], inf)
    """
    if isinstance(value, list):
        return [item if isinstance(item, list) else as_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def validated(kind: type[T], data: Any, what: str) -> T:
    """Return data as an object of a type. Raises InvalidInputError with ``what``, the first wrong place, and the reason."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as errors:
        first = errors.errors()[0]
        place = ", ".join(map(str, first["loc"])) or "all of it"
        raise InvalidInputError(f"{what}: {place}: {plain_message(first)}") from None


def plain_message(problem: Any) -> str:
    """Say what a value must be, for a problem that pydantic found."""
    # In these messages, pydantic would use the names of Python's types.
    wanted = {
        "dict_type": "a mapping, {key: value}",
        "list_type": "a list, [value, value]",
        "string_type": "text: write it in quotes",
        "bool_type": "true or false",
    }.get(problem["type"])
    message = f"it must be {wanted}" if wanted else problem["msg"].replace("Input should be", "it must be")
    return str(message[0].lower() + message[1:])


# --- Neighbours: a class for each form, with its keys and the domain made of them ---


RelationName = Literal["add_remove", "substitute"]
# A generator may yield MOST_PAIRS pairs, more than any search looks at. A generator without an end is an error.
MOST_PAIRS = 100_000
# Keys that may name a function that makes data sets.
_DATA_FROM_CODE = ("generator", "canaries", "records", "initial")


class LowHigh(Strict):
    """A range, which includes both ends."""

    low: Number
    """The least value."""
    high: Number
    """The greatest value."""


class Sizes(LowHigh):
    """A range of whole numbers, which includes both ends."""

    @field_validator("low", "high", mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        return as_integers(given)


class NeighbourForm(Strict):
    """One of the forms in which a configuration states neighbours."""

    @abstractmethod
    def make(self, search_path: tuple[str, ...]) -> Domain | Canaries:
        """Return the neighbours. Raises InvalidInputError if keys contradict each other, or if a value is impossible."""

    def code(self) -> list[str]:
        """Return the names of the functions that ``make`` imports, module:function or file.py:function."""
        return [name for key in _DATA_FROM_CODE if isinstance(name := getattr(self, key, None), str)]

    def arguments(self) -> dict[str, Any]:
        """Return the given keys except ``domain``, with ranges as (low, high)."""
        given = {key: value for key, value in self.given().items() if key != "domain"}
        return {key: (v.low, v.high) if isinstance(v, LowHigh) else v for key, v in given.items()}


class OneValue(NeighbourForm):
    """One value of a set or a range. Any two values are neighbours (the local model)."""

    domain: Literal["value"]
    """One value, the local model."""
    values: list[Any] | None = None
    """The possible values."""
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    """The ends of a range of possible values, instead of `values`."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return Value(**self.arguments())


class NumberApart(NeighbourForm):
    """One number of a range. Two numbers are neighbours if they are at most `distance` apart."""

    domain: Literal["number"]
    """One number of a range."""
    range: Annotated[list[Number], Field(min_length=2, max_length=2)]
    """The ends of the range."""
    distance: Number
    """The largest difference between two neighbours."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return OneNumber(**self.arguments())


class NumberRecord(LowHigh):
    """A record that is a number of a range."""

    integer: bool | None = None
    """Whether records are integers."""


class ChoiceRecord(Strict):
    """A record that is one of a list of values. Leave out low, high and integer."""

    choices: list[Any]
    """The possible values of a record."""


def _without_null(given: Any) -> Any:
    """Remove the keys with null, since these keys count as not set and must not choose a form."""
    return {key: value for key, value in given.items() if value is not None} if isinstance(given, dict) else given


RecordForm = Annotated[
    Annotated[NumberRecord, Tag("a number")] | Annotated[ChoiceRecord, Tag("one of choices")],
    Discriminator(lambda given: "one of choices" if isinstance(given, dict) and "choices" in given else "a number"),
    BeforeValidator(_without_null),
]


class Apart(NeighbourForm):
    """Neighbours that may be several moves apart."""

    distance: int | None = None
    """The most records, rows or persons in which neighbours differ; 1 by default. A larger number is group privacy."""


class ListOfRecords(Apart):
    """A list of records."""

    domain: Literal["records"]
    """A list of records."""
    record: RecordForm | None = None
    """The possible values of each record: {low, high}, or {choices}."""
    size: Sizes
    """The least and the greatest number of records."""
    columns: int | list[RecordForm] | None = None
    """How many numbers a record has; or, instead of `record`, the values of each number: [{low, high}, {choices}, ...]."""
    container: Literal["array", "list"] | None = None
    """What a Python mechanism receives. array (the default): an array of shape (n,) or (n, columns); list: a list."""
    relation: RelationName | None = None
    """How neighbours differ. add_remove (the default): a record is added or removed; substitute: a record is replaced."""

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


class ListOfVectors(Apart):
    """Vectors that a mechanism clips: gradients of examples, or updates of clients with weights."""

    domain: Literal["vectors"]
    """Vectors that are longer than the norm they are clipped to."""
    cells: int
    """How many coordinates a vector has."""
    norm: Number
    """The length that the mechanism clips vectors to."""
    size: Sizes
    """The least and the greatest number of vectors."""
    weights: LowHigh | None = None
    """{low, high}: the weight of each vector in a mean, which is the last column of the data; by default there is none."""
    reach: Number | None = None
    """How far the coordinates go, in norms; 10 by default."""
    relation: RelationName | None = None
    """How neighbours differ. add_remove (the default): a vector is added or removed; substitute: a vector is replaced."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return Vectors(**self.arguments())


class BatchesOfRecords(NeighbourForm):
    """Records in batches, drawn for each output as the loader of a training framework draws them."""

    domain: Literal["epoch"]
    """Batches of records. The mechanism is f(batches, rng)."""
    of: Annotated[ListOfRecords | ListOfVectors, Field(discriminator="domain")]
    """The records and their neighbours: `domain: records` or `domain: vectors` with their keys."""
    sampling: SamplingName | None = None
    """shuffled (the default) or ordered: all records, cut into batches; poisson: each record is in each batch with probability
    1/batches; fixed: each batch is drawn without replacement."""
    batches: int | None = None
    """The number of batches, for poisson and fixed."""
    batch_size: int | None = None
    """The number of records in a batch, for all others than poisson."""
    drop_last: bool | None = None
    """Whether shuffled and ordered leave out a last batch that is not full."""
    epochs: int | None = None
    """How many epochs there are; 1 by default."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        arguments = self.arguments() | {"neighbours": self.of.make(search_path)}
        arguments.pop("of")
        return Epoch(**arguments)


class TotalsKeys(NeighbourForm):
    """Sums over people, stated by contributions and people; by cells, values and contribution; or by keys in place of cells."""

    domain: Literal["totals"]
    """A vector of sums over people."""
    contributions: list[list[Number]] | None = None
    """The vectors that one person can add. Each vector is a kind of people."""
    people: Sizes | None = None
    """The least and the greatest number of people of each kind."""
    cells: int | None = None
    """Instead of contributions: the number of sums in the vector."""
    values: Annotated[LowHigh, Tag("a mapping")] | Annotated[list[Number], Field(min_length=2, max_length=2)] | None = (
        None
    )
    """With cells or keys: the range of each sum, {low, high} or [low, high]."""
    keys: list[Any] | None = None
    """Instead of cells: the keys of a dict of sums. A key is absent if its sum is 0."""
    contribution: dict[Literal["l0", "l1", "l2", "linf"], Number] | None = None
    """With cells: the largest change of the vector by one person, in one norm, l1, l2 or linf. With keys, limits for one person.
    l0: the number of keys; linf: the change of one key; l1 or l2: the change of all keys, in this norm."""
    integer: bool | None = None
    """With cells: whether the sums are integers (the default)."""
    relation: RelationName | None = None
    """With contributions. add_remove (the default): a person is added or removed; substitute: a person changes to another kind."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        arguments = self.arguments()
        if "keys" not in arguments:
            return Totals(**arguments)
        if arguments.keys() != {"keys", "values", "contribution"}:
            raise InvalidInputError(
                f"totals by key take keys, values and contribution, all three and no others; given are {', '.join(arguments)}"
            )
        return TotalsByKey(**arguments)


def _canaries_form(given: Any) -> str:
    """Return the tag of the form in which canaries are stated."""
    return (
        "crafted"
        if isinstance(given, dict | CraftedGradients)
        else "a list"
        if isinstance(given, list)
        else "a function"
    )


class CraftedGradients(Strict):
    """Gradients that the auditor crafts as canaries, each in a direction of its own, in which its score looks."""

    number: int
    """The number of canaries, and of the coordinates of a gradient."""
    norm: Number
    """The length of each: at least the clipping norm."""


class CanariesByCoins(NeighbourForm):
    """Canaries, for `method: one-run`. A fair coin decides for each canary whether the data contain it."""

    domain: Literal["canaries"]
    """Canaries, for `method: one-run`."""
    canaries: Annotated[
        Annotated[CraftedGradients, Tag("crafted")]
        | Annotated[str, Tag("a function")]
        | Annotated[list[Any], Tag("a list")],
        Discriminator(_canaries_form),
    ]
    """file.py:function that returns a list or an array of canaries; or a list of canaries; or {number, norm}: gradients that the
    auditor crafts."""
    score: str | None = None
    """file.py:function of (output, canary), which returns a number. It should be larger if the data contain the canary. Crafted
    canaries have their own; all others need one."""
    records: str | list[Any] | None = None
    """file.py:function that returns the other records; or a list of records."""
    runs: int | None = None
    """The number of runs, each with new coins; 1 by default."""
    guesses: int | list[int] | None = None
    """The number of surest guesses of all runs that count, or a list of such numbers; by default all, a half, a quarter, ..."""
    apart: bool | None = None
    """Set true only if you can prove that no canary affects another one's score. Otherwise the bound is wrong."""
    initial: str | list[Any] | None = None
    """file.py:function that returns the parameters at which each run begins; or a list of numbers. The mechanism gets them as its
    keyword `initial`. They may depend on anything but the coins and the noise of the runs."""

    def make(self, search_path: tuple[str, ...]) -> Canaries:
        given = self.arguments()
        crafted = isinstance(self.canaries, CraftedGradients)
        if crafted == ("score" in given):
            raise InvalidInputError(
                "leave out score: crafted canaries have one"
                if crafted
                else "score is missing; only crafted canaries, {number: ..., norm: ...}, have one"
            )
        for key in ("canaries", "records", "initial"):
            if isinstance(name := given.get(key), str):
                function = load(name, search_path)
                with ForeignCode(f'{key} "{name}"', "it is called without arguments, and returns a list or an array"):
                    given[key] = function()
        with ForeignCode("what canaries or records returned", "it must be a list or an array"):
            if isinstance(self.canaries, CraftedGradients):
                return Canaries.crafted(**self.canaries.given(), **{k: v for k, v in given.items() if k != "canaries"})
            canaries = Canaries(**given)
        canaries.search_path = search_path
        return canaries


class ColumnOfFrame(Strict):
    """The possible values of one column of a frame."""

    type: ColumnType
    """The type of its values."""
    low: Number | str | None = None
    """The least number or date; by default the least of the dtype."""
    high: Number | str | None = None
    """The greatest number or date; by default the greatest of the dtype."""
    choices: list[Any] | None = None
    """The values of a categorical column; for other types, the possible values instead of a range."""
    null: bool | None = None
    """Whether values may be missing."""
    nan: bool | None = None
    """Whether numbers may be NaN."""
    infinite: bool | None = None
    """Whether numbers may be infinite."""
    outside: bool | None = None
    """Whether values outside low and high may occur too, for functions that clamp."""
    dtype: str | None = None
    """A number: float64, float32. An integer: int8 to int64, uint8 to uint64. A datetime: s, ms, us, ns. Categorical: category."""


class FrameOfRows(Apart):
    """A frame: columns of different types, missing values, and persons with several rows."""

    domain: Literal["frame"]
    """A table with named columns."""
    columns: dict[str, ColumnOfFrame]
    """The columns by name, such as {age: {type: number, low: 0, high: 99, null: true}}."""
    size: Sizes | None = None
    """The least and the greatest number of rows; {low: 0, high: 20} by default."""
    id: str | None = None
    """The name of a further column, which identifies the person who owns the row."""
    rows_per_person: Sizes | None = None
    """With `id`: the least and the greatest number of rows of a person; one row by default."""
    relation: RelationName | None = None
    """How neighbours differ. add_remove (the default): a unit is added or removed; substitute: a unit is replaced."""
    unit: Literal["person", "row"] | None = None
    """The unit that is added, removed or replaced. person (the default with `id`): a person with all rows; row: a row."""
    order: Literal["kept", "shuffled"] | None = None
    """kept (the default): neighbours have their common rows in one order; shuffled: in any order."""
    form: Literal["rows", "pandas", "polars", "lazy"] | None = Field(None, alias="as")
    """How the frame is passed: rows (a list of dicts, the default), or as a frame of a library; lazy is a LazyFrame of polars."""

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
    """add_remove or substitute: each pair must be neighbours under this relation. By default pairs are taken as given."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        return Pairs([(pair.left, pair.right) for pair in self.pairs], self.relation or Relation.AS_GIVEN)


class Generated(NeighbourForm):
    """Pairs that a function yields, or the domain that it returns."""

    generator: str
    """module:function or file.py:function that yields pairs (left, right), or returns a domain."""
    relation: RelationName | None = None
    """add_remove or substitute: each pair must be neighbours under this relation. By default pairs are taken as given.
    A domain has its own relation."""

    def make(self, search_path: tuple[str, ...]) -> Domain:
        generator = f'generator "{self.generator}"'
        function = load(self.generator, search_path)
        with ForeignCode(
            generator, "it is called without arguments, and must yield pairs (left, right), or return a domain"
        ):
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
        with ForeignCode(f"a data set of {generator}"):
            return Pairs([(left, right) for left, right in pairs], self.relation or Relation.AS_GIVEN)


def _form(given: Any) -> str | None:
    keys = given if isinstance(given, dict) else ()
    return next((f"by {key}" for key in ("domain", "pairs", "generator") if key in keys), None)


# The class of a new domain is registered here.
_Domains = Annotated[
    OneValue
    | NumberApart
    | CanariesByCoins
    | ListOfRecords
    | ListOfVectors
    | BatchesOfRecords
    | TotalsKeys
    | FrameOfRows,
    Field(discriminator="domain"),
]
Neighbours = Annotated[
    Annotated[_Domains, Tag("by domain")]
    | Annotated[ListOfPairs, Tag("by pairs")]
    | Annotated[Generated, Tag("by generator")],
    Discriminator(
        _form,
        custom_error_type="no_form",
        custom_error_message="it must be a mapping with a domain (value, number, records, vectors, epoch, totals, frame, "
        "canaries), pairs: [{left: ..., right: ...}, ...], or generator: module:name",
    ),
    BeforeValidator(_without_null),
]


# --- Audits and files ---


def with_settings(declared: type[Any], key: str = "file", but: Container[str] = ()) -> Callable[[type[M]], type[M]]:
    """Return a decorator that adds the declared settings with this ``key``, except ``but``, to a model. Sequences are lists."""

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
    """Keys of the file, which each audit may replace."""

    execution: ExecutionKeys | None = None
    """Workers, batches and time limits. If an audit has this key, nothing of the file's `execution` applies."""

    def settings(self) -> dict[str, Any]:
        """Return the given settings, except those of ``execution``."""
        return {key: value for key, value in self.given().items() if key in SettingsKeywords.__annotations__}


class ProgramKeys(Strict):
    """A program in any language, and its arguments."""

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments. The program reads and writes JSON lines."""


class ObjectKeys(Strict):
    """An object of a library, such as a measurement of OpenDP, which states its claim and neighbours itself."""

    object: str
    """module:name or file.py:name of the object. Reading the file imports it, unless the audit has `claim` and `neighbours`."""


def _mechanism_form(given: Any) -> str:
    if not isinstance(given, dict):
        return "a function"
    return "an object" if "object" in given else "a program"


# The form is chosen before it is checked. Otherwise pydantic would report the errors of all forms.
MechanismKey = Annotated[
    Annotated[str, Tag("a function")]
    | Annotated[ProgramKeys, Tag("a program")]
    | Annotated[ObjectKeys, Tag("an object")],
    Discriminator(_mechanism_form),
]


@with_settings(SettingsKeywords, "audit")
class Audit(Shared):
    """An audit of one mechanism against one claim. It may replace keys of the file."""

    name: str
    """The audit's name in reports and for `--only`. Together with `seed`, it decides the random numbers of the audit."""
    mechanism: MechanismKey
    """module:function or file.py:function, f(dataset, rng, ...) or f(dataset, size, rng, ...); or {command: [...]}; or
    {object: file.py:name}."""
    parameters: dict[str, Any] = Field({})
    """Keyword arguments of the mechanism. For an object: values that the object does not state, such as {size: [0, 9]}."""
    claim: dict[str, Any] | list[dict[str, Any]] = Field(None)  # type: ignore[assignment]
    """The promise. For totals it may be a list with one claim for each contribution. By default an object states its claim. For
    any other mechanism without a claim, the audit measures ε."""
    neighbours: Neighbours = Field(None)  # type: ignore[assignment]
    """The data sets that the mechanism may see, and which pairs are neighbours.
    By default an object states its data sets and neighbours."""
    valid: str | None = None
    """module:function or file.py:function that returns whether the claim covers a data set. Pairs with any other are left out."""
    ask: list[Any] | dict[str, Any] = Field(None)  # type: ignore[assignment]
    """The questions for the session that the mechanism returns: a list of questions; {range: [low, high]};
    {parts: {name: [...]}}, for questions with parts; or {script: [{ask: ...}, ...]}, for one script."""
    rounds: int = Field(None)  # type: ignore[assignment]
    """The most questions of a script; 4 by default."""
    sessions: int = Field(None)  # type: ignore[assignment]
    """The most sessions on the same data that a script may open; 1 by default. The claim covers all sessions together."""
    meter: dict[str, Any] | None = None
    """{at: e} ends a dialogue before the first answer that brings the session's `spent` above e.
    {at: e, of: epsilon} compares e with the sum of the part `epsilon` of all questions instead."""
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    """How the audit should end. Any other end fails the run. Without a claim an audit ends as "measured"."""


class ParameterRange(LowHigh):
    """The numbers of a range, with both ends."""

    log: bool | None = None
    """Whether sizes matter more than differences; by default, if the ends are positive and a factor of 100 or more apart."""
    integer: bool | None = None
    """Whether the numbers are integers."""


def _parameter_form(given: Any) -> str:
    return "a range" if isinstance(given, dict) else "choices" if isinstance(given, list) else "a value"


_Scalar = Number | bool | str | None
ParameterKey = Annotated[
    Annotated[ParameterRange, Tag("a range")]
    | Annotated[list[_Scalar], Tag("choices"), Field(min_length=1)]
    | Annotated[_Scalar, Tag("a value")],
    Discriminator(_parameter_form),
]


def _process_form(given: Any) -> str:
    return "a mapping" if isinstance(given, dict) else "several" if isinstance(given, list) else "a function"


ProcessKey = Annotated[
    Annotated[str, Tag("a function")]
    | Annotated[dict[str, Any], Tag("a mapping")]
    | Annotated[list[dict[str, Any]], Tag("several"), Field(min_length=1)],
    Discriminator(_process_form),
]


StatedKey = Annotated[
    Annotated[str, Tag("a function")] | Annotated[ProgramKeys, Tag("a program")],
    Discriminator(lambda given: "a program" if isinstance(given, dict) else "a function"),
]


class AccountantKeys(Strict):
    """An audit of an accountant, or of a calibration: what it states is compared with exact numbers. Nothing is sampled."""

    name: str
    """The audit's name in reports and for `--only`."""
    states: States
    """What the callable returns. epsilon: ε at the parameter `delta`; delta: δ at `epsilon`; mu; rho; renyi: the divergence of
    `order`; tradeoff: the least rate of false negatives at the rate `alpha` of false positives; noise: the scale of noise for the
    target that the parameters `epsilon` and `delta`, `mu` or `rho` name."""
    stated: StatedKey
    """module:function or file.py:function of the parameters as keywords, which returns the number, or a curve as pairs; or
    {command: [program, arguments]}: it answers each line {"parameters": {…}} with a line {"stated": …, "process": …}."""
    process: ProcessKey | None = None
    """The process that the number is about: a mapping with the keys of `auditor exact`, in which the name of a parameter stands for
    its value; a list of such mappings; or module:function or file.py:function that returns a Process or Composition. The noise that
    a calibration returns is called `scale`. Leave it out if a command answers with the process."""
    parameters: dict[str, ParameterKey]
    """For each parameter a range {low, high}, a list of choices with the simplest first, or a value."""
    source: str | None = None
    """Where the claim is documented."""
    bound: Literal["upper", "lower"] = "upper"
    """lower: a number that must not lie above the exact one, such as the lower end of an interval."""
    points: int | None = None
    """The most settings of the parameters that are searched."""
    seconds: Number | None = None
    """No further setting is tried after this time."""
    tolerance: Number | None = None
    """A violation is a number below the exact one by more than this share of it."""
    seed: int | None = None
    """The seed of the random settings."""
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    """How the audit should end. Any other end fails the run."""


class File(Shared):
    """A configuration file."""

    version: Literal[1]
    """The version of this format."""
    confidence: float = Field(CONFIDENCE, json_schema_extra={"exclusiveMinimum": 0, "exclusiveMaximum": 1})
    """The least probability that no mechanism of the file is wrongly said to violate its claim."""
    audits: Annotated[list[Audit], Field(min_length=1)] = Field([])
    """The audits, which share one error budget, 1 − `confidence`."""
    accountants: Annotated[list[AccountantKeys], Field(min_length=1)] = Field([])
    """Audits of accountants and calibrations, beside `audits` or instead of them. Nothing of these is random."""


# --- The JSON Schema, with which editors complete and check YAML ---


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of configurations, in the dialect of 2020-12."""
    schema = File.model_json_schema()
    definitions = schema["$defs"]
    definitions["Claim"] = _claim()
    keys = definitions["Audit"]["properties"]
    single = {"$ref": "#/$defs/Claim"}
    several = {"type": "array", "items": single, "minItems": 1}
    keys["claim"] = {"description": keys["claim"]["description"], "anyOf": [single, several]}
    keys["neighbours"].pop("default")
    is_object = {"description": "An object.", "type": "object", "required": ["object"]}
    # An object may state claim and neighbours itself. Any other mechanism needs neighbours, and a claim if it has expect.
    definitions["Audit"]["anyOf"] = [
        {"required": ["neighbours"], "dependentRequired": {"expect": ["claim"]}},
        {"properties": {"mechanism": is_object}},
    ]
    keys["claim"].pop("default", None)
    schema["anyOf"] = [{"required": ["audits"]}, {"required": ["accountants"]}]
    for key in ("audits", "accountants"):
        schema["properties"][key].pop("default")
    for key in Shared.model_fields:  # the file sets what an audit leaves out
        keys[key].pop("default")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_for_editors(schema)}


def _claim() -> dict[str, Any]:
    """Return the schema of a claim: one form for each set of keys that claims have."""
    forms = [
        {
            "description": (kind.__doc__ or "").splitlines()[0],
            "type": "object",
            "properties": {field.name: _parameter(field) for field in dataclasses.fields(kind) if field.name in keys},
            "required": sorted(keys),
            "additionalProperties": False,
        }
        for keys, kind in CLAIM_KINDS.items()
    ]
    stated = {
        "description": "What a function or an object states: a claim, a claim's keys, an event of dp-accounting, or an accountant.",
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "relation": {"enum": [*CLAIM_RELATIONS]},
            "delta": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
        },
        "required": ["from"],
        "additionalProperties": False,
    }
    return {"description": "The promise, with numbers in nats.", "anyOf": [*forms, stated]}


def _parameter(parameter: dataclasses.Field[Any]) -> dict[str, Any]:
    """Return the schema of a claim's key: true, one of a few words, a number in its range, or a list of points."""
    if parameter.type is bool:
        return {"const": True} if parameter.name != "symmetric" else {"type": "boolean"}
    if get_origin(parameter.type) is Literal:
        return {"enum": [*get_args(parameter.type)]}
    if parameter.type is float:
        number = {"type": "number"} | {key: v for key, v in parameter.metadata.items() if key != STRONGER_IF_LARGER}
        if parameter.name != "sensitivity":
            return number
        by_distance = {"patternProperties": {"^[1-9][0-9]*$": number}, "additionalProperties": False}
        return {"anyOf": [number, {"type": "object", "minProperties": 1, **by_distance}]}
    inner = get_args(parameter.type)[0]
    if parameter.name == "tradeoff":
        share = {"type": "number", "minimum": 0, "maximum": 1}
        point = {"type": "array", "prefixItems": [share, share], "minItems": 2, "maxItems": 2}
        return {
            "anyOf": [
                {"type": "array", "items": point, "minItems": 2},
                {"type": "string", "pattern": r"\.csv$|\.json$|:"},
            ]
        }
    numbers = [_parameter(number) for number in dataclasses.fields(inner)]
    point = {"type": "array", "prefixItems": numbers, "minItems": len(numbers), "maxItems": len(numbers)}
    return {"type": "array", "items": point, "minItems": 1}


def _for_editors(schema: Any) -> Any:
    """Allow underscores in integers. Remove titles, which repeat names, and discriminators, which only OpenAPI reads."""
    if isinstance(schema, list):
        return [_for_editors(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _for_editors(value) for key, value in schema.items() if key not in ("title", "discriminator")}
    if made.get("type") == "integer":
        # The auditor reads 1_000_000 as a number, like YAML 1.1. Editors follow YAML 1.2 and take it for text.
        made |= {"type": ["integer", "string"], "pattern": r"^[-+]?[0-9][0-9_]*$"}
    return made
