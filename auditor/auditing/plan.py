"""What an audit is to do, what it tells while it does it, and the bookkeeping that all kinds of audits share."""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from auditor.auditing.again import command
from auditor.auditing.settings import Settings
from auditor.auditing.tally import Tally
from auditor.blackbox.batches import Batch, Drawn, Phase
from auditor.blackbox.mechanism import Source
from auditor.blackbox.repeats import RepeatGuard
from auditor.blackbox.sample import Sample, join_samples
from auditor.blackbox.sampling import Sampler
from auditor.blackbox.store import AuditStore
from auditor.blackbox.task_sizing import Pace
from auditor.blackbox.workers import Share
from auditor.bounds.drift import FALSE_WARNING, drifts
from auditor.claims import Claim, PrivacyClaim, Probability
from auditor.errors import InvalidInputError
from auditor.methods import method_for
from auditor.neighbours.domains import Domain, Pairs
from auditor.neighbours.pair import Pair, check_differ
from auditor.results.result import (
    AuditResult,
    ExactValue,
    Judgement,
    OutputsSpent,
    Provenance,
    Smallest,
    Subject,
    Tried,
)
from auditor.verdict import Verdict

T = TypeVar("T")

# The chances for which a result says what violation would have been caught.
CHANCES = (("80%", 0.80), ("95%", 0.95))

# What is kept: after how many outputs the time was over, and who drew.
TIME, DRAWN_BY = "time", "drawn by"


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides an audit's outcome.

    ``alpha`` is the chance that the audit raises a false alarm. ``rerun`` holds the arguments of `auditor run` that repeat the
    audit, where a file made the plan. ``store`` keeps what is done, for an audit that is interrupted, or to be
    repeated without its mechanism.
    """

    name: str
    source: Source
    claim: Claim
    domain: Domain
    alpha: float
    settings: Settings = field(default_factory=Settings)
    expect: Verdict = Verdict.NO_VIOLATION_FOUND
    rerun: tuple[str, ...] = ()
    store: AuditStore = field(default_factory=AuditStore)

    def __post_init__(self) -> None:
        if self.name != self.name.encode("utf-8", "replace").decode("utf-8"):
            raise InvalidInputError(f"name is {self.name!r}; it must be text that a file can hold")
        if not isinstance(self.claim, Claim):
            raise InvalidInputError(f"claim is {self.claim!r}; it must be a claim, such as PureDP(1.0)")
        if isinstance(self.domain, Pairs) and not isinstance(self.claim, Probability):
            check_differ(self.domain.corners())
        if isinstance(self.claim, PrivacyClaim):
            method_for(self.claim, self.settings.method, self.alpha, self.settings.samples, self.settings.events)

    def with_settings(self, **changes: Any) -> "Plan":
        """Return the plan with some settings changed."""
        return replace(self, settings=replace(self.settings, **changes))


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
    of_violations: list[str] = field(default_factory=list)  # warnings only where the claim is violated
    pairs: set[str] = field(default_factory=set)  # keys of those tried
    so_far: Callable[[], float] | None = None  # the bound of the outputs counted so far
    share: Share = field(default_factory=Share)
    pace: Pace = field(default_factory=Pace)
    drawn_by: str = ""
    failures: int = 0  # outputs that bets were made on and that cost time, by ending their process or being late
    tally: Tally = field(default_factory=Tally)  # of the bound

    def sampler(self) -> Sampler:
        """Return the sampler of this audit."""
        execution = self.plan.settings.execution
        if not self.reproducible:
            # Workers would each get a copy of the mechanism's own generator, and repeat one another's noise.
            execution = execution.one_worker()
        plan = self.plan
        return Sampler(
            plan.source,
            plan.name,
            plan.settings.seed,
            execution,
            self.guard,
            plan.store,
            self.share,
            self.pace,
        )

    def draw(self, pair: Pair, outputs: int, phase: Phase, number: tuple[int, ...] = (), **how: Any) -> Sample:
        """Draw outputs on one pair and return them, joined. ``how`` is what Sampler.batches takes."""
        sampler, done, samples = self.sampler(), 0, list[Sample]()
        for sample in sampler.map(sampler.batches(pair, outputs, phase, number=number, **how), as_drawn):
            samples.append(sample)
            done += sample.size
            self.tell(phase, done, outputs)
        self.spend(phase, outputs)
        return join_samples(samples)

    def count(
        self,
        pair: Pair,
        outputs: int,
        phase: Phase,
        observe: Callable[[Sample], tuple[Any, int]],
        bound: Callable[[Any], float] | None = None,
        meanwhile: Callable[[], Any] = lambda: None,
        **how: Any,
    ) -> Tally:
        """Draw outputs on one pair, and add up the counts that ``observe`` makes of each batch, with the outputs lost there.

        ``bound`` is what counts prove, for the listener; ``meanwhile`` is called once, while workers draw. Where the time is over,
        fewer are drawn; see ``auditor.auditing.deadline``.
        """
        sampler, store = self.sampler(), self.plan.store
        batches = sampler.batches(pair, outputs, phase, **how)
        tally, note = Tally(), f"tally of {phase.name.lower()} {how.get('number', ())}"
        if store.resumes:
            for _ in sampler.recall(batches, observe):  # for the guard
                pass
            counted, guard = store.recall(note, lambda: (vars(Tally()), None))
            tally = Tally(**counted)
            if guard is not None:
                self.guard.restore(guard)
        remembers = self.guard.remembers
        groups = sampler.groups(batches, observe, tally.batches) if not tally.time_is_up else ()
        for tasks, group in enumerate(groups, start=1):
            for batch, drawn in group:
                tally.add(*drawn.seen, batch.size)
            if tasks == self.pace.ahead:  # those ahead are of full length now
                meanwhile()
            tally.time_is_up = tally.outputs < outputs and self.time_is_up(tally.outputs)
            if store.resumes:
                # Of what later batches are compared with, the keys are kept.
                keys = [(batch, Drawn(drawn.left, drawn.right, None)) for batch, drawn in group if remembers]
                state = None if self.guard.remembers else self.guard.state()
                store.keep(keys, {note: (vars(tally), state)})
                remembers = self.guard.remembers
            if bound is not None:
                self.so_far = functools.partial(_proved, bound, tally)
            self.tell(phase, tally.outputs, outputs)
            if tally.time_is_up:
                break
        self.spend(phase, tally.outputs)
        return tally

    def tell(self, phase: Phase, done: int, planned: int) -> None:
        """Tell the listener how far a phase is."""
        self.listener(Progress(self.plan.name, phase, done, planned, self.so_far))

    def draw_each(self, batches: list[Batch], observe: Callable[[Sample], T]) -> list[T]:
        """Draw the batches of one round of the search, or of shrinking."""
        phase, planned = batches[0].phase, self.plan.settings.search_outputs
        seen = list(self.sampler().map(batches, observe))
        self.spend(phase, sum(batch.size for batch in batches))
        done = self.spent.search if phase is Phase.SEARCH else self.spent.shrink
        self.tell(phase, done, planned if phase is Phase.SEARCH else self.plan.settings.samples)
        return seen

    def spend(self, phase: Phase, outputs: int) -> None:
        """Enter outputs that were drawn for a phase."""
        name = "shrink" if phase is Phase.CONFIRM else phase.name.lower()
        self.spent = replace(self.spent, **{name: getattr(self.spent, name) + outputs})

    def close_bound(self, tally: Tally) -> None:
        """Note who drew the outputs of the bound, and how many they were."""
        self.drawn_by, self.tally = self.plan.store.recall(DRAWN_BY, self.pace.drawn_by), tally

    def drawn(self) -> str:
        """Say how many outputs of the bound were drawn, as the reason to stop."""
        settings, tally = self.plan.settings, self.tally
        if tally.time_is_up:
            counted = f"{tally.outputs:,} of {settings.samples:,}"
            return f"{settings.seconds:g} seconds were over: {counted} outputs drawn{self.note}"
        return f"all {settings.samples:,} outputs drawn{self.note}"

    def look_for_drift(self, tables: Sequence[Sequence[Sequence[int]]]) -> None:
        """Warn where the first and the second half of the bound's batches differ; ``tables`` are counts, in their order.

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

    def elapsed(self) -> float:
        """Return the seconds since the audit began."""
        return time.monotonic() - self.started

    def time_is_up(self, outputs: int) -> bool:
        """Whether the audit has run for as long as it may, so many outputs of the bound drawn; in a replay, as it had then."""
        seconds = self.plan.settings.seconds
        return seconds is not None and self.plan.store.happens(TIME, outputs, lambda: self.elapsed() > seconds)

    def result(
        self,
        judgement: Judgement,
        pair: Pair | None = None,
        smallest: Smallest | None = None,
        at_level: Callable[[float], AuditResult] | None = None,
    ) -> AuditResult:
        """Close the audit. The smallest pair is kept only where the claim is refuted."""
        plan, violated = self.plan, judgement.verdict is Verdict.VIOLATION
        smallest = smallest if violated else None
        broken = (smallest.pair if smallest else pair) if violated else None
        return AuditResult(
            Subject(plan.name, plan.source.name, plan.claim, plan.expect),
            judgement,
            Provenance(
                self.spent,
                self.reproducible,
                plan.settings.seed,
                self.elapsed(),
                self.drawn_by,
                command(plan, broken),
                Tried(str(plan.domain), max(1, len(self.pairs)), plan.settings.events, plan.settings.search.fitted),
            ),
            pair,
            self.exact,
            smallest,
            (*self.warnings, *(self.of_violations if violated else ())),
            at_level,
        )

    def inconclusive(self, reason: str, pair: Pair | None = None) -> AuditResult:
        """Close the audit without an answer."""
        return self.result(Judgement(Verdict.INCONCLUSIVE, reason), pair)


def _proved(bound: Callable[[Any], float], tally: Tally) -> float:
    # Added up when somebody asks, and not after each task.
    return bound(tally.counts)


def as_drawn(sample: Sample) -> Sample:
    """Keep a batch as it is."""
    return sample
