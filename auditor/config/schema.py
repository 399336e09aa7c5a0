"""The shape of a configuration: names, kinds and defaults, checked by pydantic. What numbers mean is checked later."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Number = int | float
MethodName = Literal["fixed", "sequential", "two-intervals"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class LowHigh(_Strict):
    """The two ends of a range, both inside it."""

    low: Number
    high: Number


class Execution(_Strict):
    """How outputs are drawn."""

    backend: Literal["loky", "threading"] = "loky"
    workers: int = -1
    batch: int = 65_536
    timeout: Number | None = None
    isolate: bool = True


class Search(_Strict):
    """What the search over pairs may spend."""

    outputs: int


class PairSpelledOut(_Strict):
    """Two data sets as written."""

    left: Any
    right: Any


class Record(_Strict):
    """What a record may be."""

    low: Number | None = None
    high: Number | None = None
    integer: bool | None = None
    choices: list[Any] | None = None


class Neighbours(_Strict):
    """A domain, or pairs spelled out."""

    domain: Literal["value", "records", "totals"] | None = None
    record: Record | None = None
    size: LowHigh | None = None
    columns: int | None = None
    distance: int | None = None
    values: list[Any] | LowHigh | None = None
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    contributions: list[list[Number]] | None = None
    people: LowHigh | None = None
    cells: int | None = None
    contribution: dict[Literal["l1", "linf"], Number] | None = None
    integer: bool | None = None
    relation: Literal["add_remove", "substitute"] | None = None
    pairs: list[PairSpelledOut] | None = None
    generator: str | None = None


class Program(_Strict):
    """A program in any language, and its arguments."""

    command: Annotated[list[str], Field(min_length=1)]


# Told apart beforehand, so that what is wrong with one of them is not also told of the other.
Mechanism = Annotated[
    Annotated[str, Tag("a function")] | Annotated[Program, Tag("a program")],
    Discriminator(lambda given: "a program" if isinstance(given, dict | Program) else "a function"),
]


class Audit(_Strict):
    """One mechanism against one claim; the keys of the file may be set anew for it."""

    name: str
    mechanism: Mechanism
    parameters: dict[str, Any] = {}
    claim: dict[str, Any] | list[dict[str, Any]]
    neighbours: Neighbours
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    events: list[Literal["values", "bits"]] = ["values"]
    implied_mu: bool = False
    search: Search | None = None
    shrink: bool | None = None
    seed: int | None = None
    samples: int | None = None
    method: MethodName | None = None
    execution: Execution | None = None


class File(_Strict):
    """A configuration file."""

    version: Literal[1]
    seed: int = 0
    confidence: float = 0.999
    samples: int = 1_000_000
    method: MethodName = "fixed"
    execution: Execution = Execution()
    search: Search | None = None
    shrink: bool = True
    audits: Annotated[list[Audit], Field(min_length=1)]
