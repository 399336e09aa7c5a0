"""The shape of a configuration: names, kinds and defaults, checked by pydantic. What numbers mean is checked later."""

from collections.abc import Callable, Container
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag, create_model

from auditor.config.domain_schema import Neighbours
from auditor.config.strict import Strict, limited
from auditor.defaults import CONFIDENCE, About, EventKind, ExecutionKeywords, ObserveKind, SettingsKeywords, settings
from auditor.neighbours.numbers import Number

M = TypeVar("M", bound=Strict)
OF_AN_AUDIT = SettingsKeywords.__annotations__


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
        given = {key: value for key, value in self.given().items() if key == "execution" or key in OF_AN_AUDIT}
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
    confidence: Annotated[float, limited(exclusiveMinimum=0, exclusiveMaximum=1)] = CONFIDENCE
    """The chance that sound mechanisms raise no alarm, of the whole file."""
    audits: Annotated[list[Audit], Field(min_length=1)]
    """The audits, under one error budget."""
