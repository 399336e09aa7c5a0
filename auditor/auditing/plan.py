"""What an audit is to do, what it tells while it does it, and the bookkeeping that all kinds of audits share."""

import math
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from auditor.blackbox.mechanism import Sample, Source
from auditor.blackbox.recording import Recording
from auditor.blackbox.repeats import RepeatGuard
from auditor.blackbox.sampling import Batch, Execution, Phase, Sampler
from auditor.bounds.drift import FALSE_WARNING, drifts
from auditor.claims import Claim, PrivacyClaim, Probability, QueryClaim
from auditor.errors import InvalidInputError, did_you_mean
from auditor.methods import NAMES, method_for
from auditor.methods.sequential import new_game
from auditor.neighbours.domains import Domain
from auditor.neighbours.pair import Pair, Relation, Side
from auditor.report.result import AuditResult, ExactValue, OutputsSpent, Smallest, Tried
from auditor.verdict import Verdict

T = TypeVar("T")

# The chances for which a result says what violation would have been caught.
CHANCES = (("80%", 0.80), ("95%", 0.95))

# Notes of a recording: after how many outputs the time was over; the exact value, for which the mechanism is needed.
TIME, EXACT, REPRODUCE = "time", "exact", "reproduce"

# Shares of the bound's outputs that are drawn before it, on top: together a fifth of all.
SEARCH_SHARE = 0.15
SELECTION_SHARE = 0.10
# An event learned from fewer is mostly luck, so that small audits give up to a quarter of their outputs for it.
LEAST_SELECTION = 2_500


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides an audit's outcome.

    ``samples`` counts the outputs of the bound, both sides together; ``search`` those of the search, by default
    SEARCH_SHARE of samples. ``alpha`` is the chance that the audit raises a false alarm. ``seconds`` ends a sequential
    audit early. ``shrink`` looks for the smallest pair that still breaks, after a violation. ``rerun`` holds the arguments
    of `auditor run` that repeat the audit, where a file made the plan.
    ``recording`` keeps all outputs, or holds those to be used instead of drawing any.
    """

    name: str
    source: Source
    claim: PrivacyClaim | QueryClaim | Probability
    domain: Domain
    alpha: float
    samples: int = 1_000_000
    method: str = "fixed"
    search: int | None = None
    seed: int = 0
    execution: Execution = field(default_factory=Execution)
    expect: Verdict = Verdict.NO_VIOLATION_FOUND
    seconds: float | None = None
    events: tuple[str, ...] = ("values",)
    shrink: bool = True
    rerun: tuple[str, ...] = ()
    recording: Recording | None = None

    def __post_init__(self) -> None:
        if self.method not in NAMES:
            raise InvalidInputError(f'method is "{self.method}"; {did_you_mean(self.method, NAMES)}')
        if self.name != self.name.encode("utf-8", "replace").decode("utf-8"):
            raise InvalidInputError(f"name is {self.name!r}; it must be text that a file can hold")
        # Below 100 outputs there is nothing to say.
        for name, value, least in (("samples", self.samples, 100), ("search", self.search, 0), ("seed", self.seed, 0)):
            if value is None and name == "search":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInputError(f"{name} is {value!r}; it must be an integer of at least {least}")
        if isinstance(self.claim, PrivacyClaim):
            method_for(self.claim, self.method, self.alpha, self.samples, self.events)
            if self.method == "sequential":
                new_game(self.claim, self.alpha)

    @property
    def search_outputs(self) -> int:
        """How many outputs the search may spend."""
        return round(SEARCH_SHARE * self.samples) if self.search is None else self.search

    @property
    def selection_outputs(self) -> int:
        """How many outputs the event is learned from."""
        return max(100, round(SELECTION_SHARE * self.samples), min(LEAST_SELECTION, self.samples // 4))


@dataclass(frozen=True, slots=True)
class Progress:
    """A phase of an audit has drawn ``done`` of the ``planned`` outputs.

    ``bound`` returns what those counted for the bound would prove so far; None before there are any.
    """

    audit: str
    phase: Phase
    done: int
    planned: int
    bound: Callable[[], float] | None = None


Listener = Callable[[Progress], None]


@dataclass
class Ledger:
    """What an audit has spent so far, and the result it ends with."""

    plan: Plan
    listener: Listener
    reproducible: bool
    exact: ExactValue | None = None
    note: str = ""  # to the reason to stop
    spent: OutputsSpent = field(default_factory=OutputsSpent)
    started: float = field(default_factory=time.monotonic)
    guard: RepeatGuard = field(default_factory=RepeatGuard)
    warnings: list[str] = field(default_factory=list)
    pairs: set[str] = field(default_factory=set)  # keys of those tried
    so_far: Callable[[], float] | None = None  # the bound of the outputs counted so far

    def sampler(self) -> Sampler:
        """Return the sampler of this audit."""
        execution = self.plan.execution
        if not self.reproducible:
            # Workers would each get a copy of the mechanism's own generator, and repeat one another's noise.
            execution = execution.one_worker()
        return Sampler(self.plan.source, self.plan.name, self.plan.seed, execution, self.guard, self.plan.recording)

    def draw(
        self,
        pair: Pair,
        outputs: int,
        phase: Phase,
        observe: Callable[[Sample], T],
        *,
        one_by_one: bool = False,
        form: str = "",
    ) -> Iterator[T]:
        """Draw outputs on one pair, and yield what ``observe`` makes of each batch."""
        sampler, done = self.sampler(), 0
        for seen in sampler.map(sampler.batches(pair, outputs, phase, one_by_one, form), observe):
            done = min(outputs, done + self.plan.execution.batch)
            yield seen
            self.tell(phase, done, outputs)
        self.spend(phase, outputs)

    def tell(self, phase: Phase, done: int, planned: int) -> None:
        """Tell the listener how far a phase is."""
        self.listener(Progress(self.plan.name, phase, done, planned, self.so_far))

    def draw_each(self, batches: list[Batch], observe: Callable[[Sample], T]) -> list[T]:
        """Draw the batches of one round of the search, or of shrinking."""
        phase, planned = batches[0].phase, self.plan.search_outputs
        seen = list(self.sampler().map(batches, observe))
        self.spend(phase, sum(batch.size for batch in batches))
        done = self.spent.search if phase is Phase.SEARCH else self.spent.shrink
        self.tell(phase, done, planned if phase is Phase.SEARCH else self.plan.samples)
        return seen

    def spend(self, phase: Phase, outputs: int) -> None:
        """Enter outputs that were drawn for a phase."""
        name = "shrink" if phase is Phase.CONFIRM else phase.name.lower()
        self.spent = replace(self.spent, **{name: getattr(self.spent, name) + outputs})

    def look_for_drift(self, tables: Sequence[Sequence[Sequence[int]]]) -> None:
        """Warn where the first and the second half of the bound's batches differ; ``tables`` are the counts of each batch.

        It is no error: a coin picks the side of each output, so that a mechanism which keeps its claim at any time is refuted
        no oftener for changing. With a single batch there is nothing to compare.
        """
        if len(tables) < 2:
            return
        halves = tables[: len(tables) // 2], tables[len(tables) // 2 :]
        early, late = (
            [[sum(cell) for cell in zip(*side, strict=True)] for side in zip(*half, strict=True)] for half in halves
        )
        if drifts(early, late):
            self.warnings.append(
                "outputs drawn early and late in the bound differ: the mechanism changes while it is audited, by a state, a "
                "cache or a budget that is spent. The bound speaks of its average over the run; a violation stays one, but "
                f"what was not found may show in another state (such a warning is false with probability {FALSE_WARNING:g})"
            )

    def time_is_up(self) -> bool:
        """Whether the audit has run for as long as it may; in a replay, as it had when it was recorded."""
        if self.plan.seconds is None:
            return False
        if (recording := self.plan.recording) is not None and recording.replaying:
            return bool(recording.noted(TIME) == self.spent.bound)
        up = time.monotonic() - self.started > self.plan.seconds
        if up and recording is not None:
            recording.note(TIME, self.spent.bound)
        return up

    def result(self, verdict: Verdict, reason: str, **found: Any) -> AuditResult:
        """Close the audit."""
        claim: Claim = self.plan.claim
        # A replay tells how to repeat the audit that was recorded.
        told = self._reproduce(verdict, found.get("smallest"), found.get("pair"))
        found.setdefault("reproduce", self._kept(REPRODUCE, told))
        return AuditResult(
            name=self.plan.name,
            mechanism=self.plan.source.name,
            claim=claim,
            verdict=verdict,
            expected=self.plan.expect,
            outputs=self.spent,
            stop_reason=reason,
            seconds=time.monotonic() - self.started,
            reproducible=self.reproducible,
            seed=self.plan.seed,
            exact=self._kept_exact(),
            warnings=tuple(self.warnings),
            tried=Tried(str(self.plan.domain), max(1, len(self.pairs)), self.plan.events),
            **found,
        )

    def _reproduce(self, verdict: Verdict, smallest: Smallest | None, found: Pair | None) -> str | None:
        """Return the command that repeats the audit; without one, the call in Python that audits the smallest violation."""
        plan, pair = self.plan, smallest.pair if smallest else found
        if plan.rerun:
            return shlex.join(["auditor", "run", *plan.rerun])
        if verdict is not Verdict.VIOLATION or pair is None or pair.relation is Relation.ALONE:
            return None
        data = ", ".join(_in_python(pair, side) for side in ("left", "right"))
        parameters = f"parameters={dict(plan.source.parameters)!r}, " if plan.source.parameters else ""
        return (
            f"auditor.audit({plan.source.name}, {plan.claim!r}, [({data})], {parameters}"
            f"name={plan.name!r}, samples={plan.samples}, seed={plan.seed})"
        )

    def _kept(self, name: str, value: Any) -> Any:
        """Return a plain value, and note it where the audit is recorded; in a replay, what was noted."""
        recording = self.plan.recording
        if recording is not None and recording.replaying:
            return recording.noted(name)
        if recording is not None:
            recording.note(name, value)
        return value

    def _kept_exact(self) -> ExactValue | None:
        kept = self._kept(EXACT, self.exact.to_dict() if self.exact else None)
        return ExactValue(float(kept["value"]), float(kept["error"])) if kept else None


def _in_python(pair: Pair, side: Side) -> str:
    data = pair.dataset(side)
    if not isinstance(data, np.ndarray):
        return repr(data)
    shape = "" if data.size else f".reshape({data.shape})"
    return f"numpy.array({data.tolist()!r}, dtype={data.dtype.str!r}){shape}"


def smallest_level(refutes: Callable[[float], Any]) -> float:
    """Return the smallest level that refutes, to three digits and never too small; 1 where none does."""
    low, high = -300.0, math.log10(0.999)
    if not refutes(10**high):
        return 1.0
    if refutes(10**low):
        return 10**low
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(10**middle) else (middle, high)
    return float(10**high)


def as_drawn(sample: Sample) -> Sample:
    """Keep a batch as it is."""
    return sample
