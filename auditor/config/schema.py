"""The shape of a configuration: names, kinds and defaults, checked by pydantic. What numbers mean is checked later."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from auditor.auditing import Settings
from auditor.auditing.sizes import FEWEST
from auditor.config.domain_schema import Neighbours
from auditor.config.strict import Number, Strict, limited
from auditor.defaults import CONFIDENCE, BackendName, EventKind, MethodName, Prove

_DEFAULT: Any = Settings()


class Execution(Strict):
    """How outputs are drawn."""

    backend: BackendName = _DEFAULT.execution.backend
    """How workers run: processes of this machine (loky, or auto), threads, a Dask or Ray cluster."""
    address: str | None = None
    """Where the scheduler of a cluster is, such as tcp://scheduler:8786."""
    workers: int = _DEFAULT.execution.workers
    """How many at once; -1 for one for each core. Changes no result."""
    batch: int = _DEFAULT.execution.batch
    """Outputs asked for in one call."""
    timeout: Number | None = None
    """Seconds for a batch, or for one output of those drawn one by one; what takes longer is an output of its own kind."""
    isolate: bool = _DEFAULT.execution.isolate
    """Whether the mechanism runs in a process of its own, and a crash is an output; false for use with a debugger."""


class Search(Strict):
    """The budget of the search over pairs: outputs or seconds. Sequential audits search as they go, and ignore both."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    outputs: Annotated[int | None, limited(minimum=0)] = None
    """Outputs for the search, all pairs together."""
    seconds: Annotated[Number | None, limited(exclusiveMinimum=0)] = None
    """Instead of outputs: the outputs that fit into these seconds. The report says how many; that number repeats the search."""


class Shared(Strict):
    """Keys of the file, which an audit may set anew for itself."""

    seed: Annotated[int | None, limited(minimum=0)] = _DEFAULT.seed
    """The root of all randomness: the same seed, the same result."""
    samples: Annotated[int | None, limited(minimum=FEWEST)] = _DEFAULT.samples
    """Outputs for the bound of an audit, both sides together."""
    outputs: Annotated[int | None, limited(minimum=FEWEST)] = _DEFAULT.outputs
    """Instead of samples: outputs for search, selection and bound together. The bound gets outputs that the search leaves."""
    method: MethodName | None = _DEFAULT.method
    """fixed: one bound after all outputs; sequential: stops once refuted; two-intervals: the textbook form; one-run: canaries."""
    execution: Execution | None = None
    """Workers, batches and time limits; that of an audit replaces the whole of the file's."""
    search: Search | None = None
    """The budget of the search over pairs."""
    shrink: bool | None = _DEFAULT.shrink
    """Whether to look for the smallest pair that still breaks a refuted claim."""
    prove: Prove | None = False
    """Whether to try a proof of a Python mechanism's claim as well, or only; briefly: 3 seconds, and reported if found."""

    def settings(self) -> dict[str, Any]:
        """Return the settings that are given here; those of the execution below one key."""
        given = {key: value for key, value in self.given().items() if key in Shared.model_fields}
        return {key: value.given() if isinstance(value, Strict) else value for key, value in given.items()}


class Program(Strict):
    """A program in any language, and its arguments."""

    command: Annotated[list[str], Field(min_length=1)]
    """The program and its arguments; it speaks JSON lines."""


# Distinguished before they are checked. Otherwise an error in one is also reported for the other.
Mechanism = Annotated[
    Annotated[str, Tag("a function")] | Annotated[Program, Tag("a program")],
    Discriminator(lambda given: "a program" if isinstance(given, dict) else "a function"),
]


class Audit(Shared):
    """One mechanism against one claim; the keys of the file may be set anew for it."""

    name: str
    """The audit's name, in reports and for `--only`; part of the seed of every output."""
    mechanism: Mechanism
    """module:function or file.py:function, f(dataset, rng, ...) or f(dataset, size, rng, ...); or {command: [...]}."""
    parameters: dict[str, Any] = Field({})
    """Passed on to the mechanism as keywords."""
    claim: dict[str, Any] | list[dict[str, Any]]
    """The promise; or a list of claims, one for each contribution of totals."""
    neighbours: Neighbours
    """The data sets it may see, and which of them are neighbours."""
    expect: Literal["violation", "no_violation_found"] = "no_violation_found"
    """How the audit should end; anything else fails the run."""
    events: list[EventKind] = Field([*_DEFAULT.events])
    """The parts that events look at: values, and bits, the floating-point representation."""
    implied_mu: bool = False
    """Whether to ask a second question: does the noise have the μ that a Gaussian mechanism needs for this (ε, δ)?"""


class File(Shared):
    """A configuration file."""

    version: Literal[1]
    """The version of this format."""
    confidence: Annotated[float, limited(exclusiveMinimum=0, exclusiveMaximum=1)] = CONFIDENCE
    """The chance that sound mechanisms raise no alarm, of the whole file."""
    audits: Annotated[list[Audit], Field(min_length=1)]
    """The audits, under one error budget."""
