"""The shape of a configuration: names, kinds and defaults, checked by pydantic. What numbers mean is checked later.

The text below a key is its description in the JSON Schema, as are the ranges of numbers, which pydantic does not check.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from auditor.defaults import BATCH, CONFIDENCE, SAMPLES, WORKERS, BackendName, EventKind, MethodName

Number = int | float


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


def _told(**keywords: Any) -> Any:
    """Say something in the JSON Schema only."""
    return Field(json_schema_extra=keywords)


class LowHigh(_Strict):
    """The two ends of a range, both inside it."""

    low: Number
    """The least."""
    high: Number
    """The greatest."""


class Execution(_Strict):
    """How outputs are drawn."""

    backend: BackendName = "auto"
    """What runs the workers: processes (loky), threads, a Dask or Ray cluster; auto measures whether threads are faster."""
    address: str | None = None
    """Where the scheduler of a cluster is, such as tcp://scheduler:8786."""
    workers: int = WORKERS
    """How many at once; -1 for one for each core. Changes no result."""
    batch: int = BATCH
    """Outputs asked for in one call."""
    timeout: Number | None = None
    """Seconds for a batch, or for one output of those drawn one by one; what takes longer is an output of its own kind."""
    isolate: bool = True
    """Whether the mechanism runs in a process of its own, where its crash is an output; false for a debugger's sake."""


class Search(_Strict):
    """What the search over pairs may spend: outputs or seconds. Sequential audits search as they go, and heed neither."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    outputs: Annotated[int | None, _told(minimum=0)] = None
    """Outputs for the search, all pairs together."""
    seconds: Annotated[Number | None, _told(exclusiveMinimum=0)] = None
    """Instead of outputs: as many as fit into so many seconds. The report says how many, and they repeat the search."""


class PairSpelledOut(_Strict):
    """Two data sets as written."""

    left: Any
    """One data set."""
    right: Any
    """Its neighbour."""


class Record(_Strict):
    """What a record may be."""

    low: Number | None = None
    """The least; with high."""
    high: Number | None = None
    """The greatest; with low."""
    integer: bool | None = None
    """Whether records are integers."""
    choices: list[Any] | None = None
    """All that a record may be, instead of low and high."""


class Neighbours(_Strict):
    """A domain, or pairs spelled out."""

    domain: Literal["value", "records", "totals"] | None = None
    """value: one value, the local model; records: a list of them; totals: a vector of sums over people."""
    record: Record | None = None
    """records: what each record may be."""
    size: LowHigh | None = None
    """records: how many records there may be."""
    columns: int | None = None
    """records: how many numbers a record has."""
    distance: int | None = None
    """records: in how many records neighbours differ, for group privacy."""
    container: Literal["array", "list"] | None = None
    """records: what a Python mechanism receives, a NumPy array (the default) or a list."""
    values: list[Any] | LowHigh | None = None
    """value: what there may be; totals with cells: the range of each."""
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None
    """value: the ends of a range, instead of values."""
    contributions: list[list[Number]] | None = None
    """totals: the vectors that one person can add."""
    people: LowHigh | None = None
    """totals: how many people of each kind of contribution there may be."""
    cells: int | None = None
    """totals: how many numbers the vector has, instead of contributions."""
    contribution: dict[Literal["l1", "linf"], Number] | None = None
    """totals with cells: how far one person moves the vector, in L1 or in any one cell."""
    integer: bool | None = None
    """totals with cells: whether the numbers are integers (the default)."""
    relation: Literal["add_remove", "substitute"] | None = None
    """What neighbours may differ in."""
    pairs: list[PairSpelledOut] | None = None
    """The pairs themselves, instead of a domain."""
    generator: str | None = None
    """module:function or file.py:function that yields pairs, instead of a domain."""


class Program(_Strict):
    """A program in any language, and its arguments."""

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments; it speaks JSON lines."""


# Told apart beforehand, so that what is wrong with one of them is not also told of the other.
Mechanism = Annotated[
    Annotated[str, Tag("a function")] | Annotated[Program, Tag("a program")],
    Discriminator(lambda given: "a program" if isinstance(given, dict | Program) else "a function"),
]


class Audit(_Strict):
    """One mechanism against one claim; the keys of the file may be set anew for it."""

    name: str
    """Of the audit, in reports and for --only; part of the seed of every output."""
    mechanism: Mechanism
    """module:function or file.py:function, f(dataset, rng, ...) or f(dataset, size, rng, ...); or {command: [...]}."""
    parameters: dict[str, Any] = {}
    """Passed on to the mechanism as keywords."""
    claim: dict[str, Any] | list[dict[str, Any]]
    """What is promised; or a list of claims, one for each contribution of totals."""
    neighbours: Neighbours
    """The data sets it may see, and which of them are neighbours."""
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    """How the audit should end; anything else fails the run."""
    events: list[EventKind] = ["values"]
    """What events look at: values, and bits, the floating-point representation."""
    implied_mu: bool = False
    """Whether to ask a second question: does the noise have the μ that a Gaussian mechanism needs for this (ε, δ)?"""
    search: Search | None = None
    """What the search over pairs may spend."""
    shrink: bool | None = None
    """Whether to look for the smallest pair that still breaks a refuted claim."""
    seed: Annotated[int | None, _told(minimum=0)] = None
    """The root of all randomness: the same seed, the same result."""
    samples: Annotated[int | None, _told(minimum=100)] = None
    """Outputs for the bound of an audit, both sides together."""
    method: MethodName | None = None
    """fixed: one bound after all outputs; sequential: stops as soon as the claim is refuted; two-intervals: the textbook form."""
    execution: Execution | None = None
    """Workers, batches and time limits; replaces the whole of the file's."""


class File(_Strict):
    """A configuration file."""

    version: Literal[1]
    """The version of this format."""
    seed: Annotated[int, _told(minimum=0)] = 0
    """The root of all randomness: the same seed, the same result."""
    confidence: Annotated[float, _told(exclusiveMinimum=0, exclusiveMaximum=1)] = CONFIDENCE
    """The chance that sound mechanisms raise no alarm, of the whole file."""
    samples: Annotated[int, _told(minimum=100)] = SAMPLES
    """Outputs for the bound of an audit, both sides together."""
    method: MethodName = "fixed"
    """fixed: one bound after all outputs; sequential: stops as soon as the claim is refuted; two-intervals: the textbook form."""
    execution: Execution = Execution()
    """Workers, batches and time limits."""
    search: Search | None = None
    """What the search over pairs may spend."""
    shrink: bool = True
    """Whether to look for the smallest pair that still breaks a refuted claim."""
    audits: Annotated[list[Audit], Field(min_length=1)]
    """The audits, under one error budget."""
