"""The side effects of one audit: draw, count and keep outputs; read the clock; tell the listener."""

import contextlib
import functools
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from auditor.auditing.plan import Listener, Plan, Progress
from auditor.auditing.tally import Tally, count_in_parts
from auditor.blackbox.audit_store import Mode
from auditor.blackbox.batches import Batch, Batches, DrawnBatch, Phase
from auditor.blackbox.repeats import RepeatGuard
from auditor.blackbox.sample import Sample, join_samples
from auditor.blackbox.sampling import LEAST, Pace, Sampler
from auditor.bounds.drift import depends_on_calls
from auditor.errors import MechanismError, OverdueError
from auditor.interfaces import Test
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import Listed
from auditor.results.result import OutputsSpent, Stage

T = TypeVar("T")

STATE = (
    "outputs depend on the call in which they were drawn: outputs of one call are more alike than those of the next call on the "
    "same data set, by a state, a cache, or noise that a call draws once. They are not independent, and bounds would be invalid. "
    "Draw all randomness anew for each output; or leave `size` out of the signature: then each output has a call of its own, and "
    "a state does no harm"
)


class OutOfTimeError(Exception):
    """The time limit of an audit has passed while outputs were drawn to search or to learn: what was counted remains."""


# This many batches of the usual size, or fewer, are few: each would take a large part of a limited time.
FEW_FOR_BATCHES = 2


@dataclass
class Ledger:
    """Draws the outputs of one audit, and keeps count of outputs and time.

    ``reproducible`` is False for a mechanism with randomness or a memory of its own. Then a single worker draws.
    """

    plan: Plan
    listener: Listener
    reproducible: bool = True  # whether all randomness is the auditor's
    started: float = field(default_factory=lambda: time.monotonic())  # noqa: PLW0108 - tests replace the clock
    spent: OutputsSpent = field(default_factory=OutputsSpent)
    pairs: set[str] = field(default_factory=set)  # keys of the pairs searched
    # Between the sides of pairs, by the number of outputs of a side that were compared, and by keys of pairs.
    distances: defaultdict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    compared: dict[str, Pair] = field(default_factory=dict)  # the pairs of these distances
    stages: list[Stage] = field(default_factory=list)  # of the search
    guard: RepeatGuard = field(default_factory=RepeatGuard)
    pace: Pace = field(default_factory=Pace)
    streams: str = ""  # the name from which streams are derived, by default the audit's
    out_of_time: bool = False  # whether a time limit ended the drawing
    _listed: Listed | None = None

    def sampler(self) -> Sampler:
        """Return the sampler of this audit."""
        plan, execution = self.plan, self.plan.settings.execution
        if not self.reproducible:
            # Workers would each get a copy of the mechanism's own generator, and repeat one another's noise.
            execution = replace(execution, workers=1)
        shared = self.guard, plan.store, self.pace
        return Sampler(plan.source, self.streams or plan.name, plan.settings.seed, execution, *shared)

    @property
    def listed(self) -> Listed:
        """What the domain of the plan lists."""
        if self._listed is None or self._listed.domain is not self.plan.domain:
            self._listed = Listed(self.plan.domain)
        return self._listed

    def on_streams(self, name: str) -> "Ledger":
        """Return a ledger of the same audit that draws from streams of its own, and counts only what it spends itself."""
        return replace(self, streams=name, spent=OutputsSpent())

    def batches(
        self, pair: Pair, outputs: int, phase: Phase, number: tuple[int, ...] = (), like: Sample | None = None
    ) -> Batches:
        """Cut outputs on one pair into batches, drawn in the same way as the batches of ``like``.

        A batch that raises says nothing about its other outputs. If batches raised before, batches of one output show which
        outputs raise.
        """
        one_by_one = like is not None and (like.redrawn or like.raised())
        least = 1 if self._is_cut_small(outputs) else LEAST
        return self.sampler().batches(pair, outputs, phase, one_by_one, like.form if like else "", number, least)

    def _is_cut_small(self, outputs: int) -> bool:
        """Whether a batch may have a single output, so that a time limit can end the batches, and all workers draw.

        Few outputs under a limit come from slow calls. If a call gives many outputs, small batches would need more calls.
        """
        plan = self.plan
        if plan.settings.seconds is None or outputs > FEW_FOR_BATCHES * LEAST:
            return False
        return not plan.store.recall(
            "many in a call", lambda: not plan.source.is_program and plan.drawer().batched, True
        )

    def draw(self, batches: Batches) -> Sample:
        """Draw outputs on one pair and return them, joined. Raises OutOfTimeError."""
        phase, done, samples = batches.first.phase, 0, list[Sample]()
        if self._was_overdue(batches.first):
            raise OutOfTimeError
        try:
            with contextlib.closing(self.sampler().map(batches, as_drawn)) as drawn:
                for sample in drawn:
                    samples.append(sample)
                    done += sample.size
                    self.report(phase, done, batches.outputs)
                    if done < batches.outputs and self.time_is_up(batches.first, done):
                        self.spend(phase, done)
                        raise OutOfTimeError
        except OverdueError:
            self.time_is_up(batches.first, done)
            self.spend(phase, done)
            raise OutOfTimeError from None
        self.spend(phase, batches.outputs)
        return join_samples(samples)

    def draw_each(self, batches: Sequence[Batch], observe: Callable[[Sample], T], planned: int) -> list[T]:
        """Draw the batches of one round of the search or of shrinking. All rounds together have ``planned`` outputs.

        Raises OutOfTimeError.
        """
        phase, observed = batches[0].phase, list[T]()
        if self._was_overdue(batches[0]):
            raise OutOfTimeError
        try:
            with contextlib.closing(self.sampler().map(batches, observe)) as drawn:
                for outputs in drawn:
                    observed.append(outputs)
                    if len(observed) < len(batches) and self.time_is_up(batches[0], len(observed)):
                        self.spend(phase, sum(batch.size for batch in batches[: len(observed)]))
                        raise OutOfTimeError
        except OverdueError:
            self.time_is_up(batches[0], len(observed))
            self.spend(phase, sum(batch.size for batch in batches[: len(observed)]))
            raise OutOfTimeError from None
        self.spend(phase, sum(batch.size for batch in batches))
        self.report(phase, self.spent.search if phase is Phase.SEARCH else self.spent.shrink, planned)
        return observed

    def compare(self, pairs: Sequence[Pair], size: int) -> list[float]:
        """Return the distance between ``size`` outputs of the two sides of each pair, with the same noise on all sides.

        Distances at the same ``size`` that were computed before are remembered. Raises OutOfTimeError.
        """
        keys, known = [pair.key() for pair in pairs], self.distances[size]
        new = [pair for pair, key in zip(pairs, keys, strict=True) if key not in known]
        name = " of ".join(filter(None, [f"distances {sum(map(len, self.distances.values()))}", self.streams]))
        distances = self.plan.store.recall(name, lambda: self._compared(new, size)) if new else []
        known.update(zip([key for key in keys if key not in known], distances, strict=True))
        self.compared.update(zip(keys, pairs, strict=True))
        self.pairs.update(keys)
        self.spend(Phase.SEARCH, 2 * size * len(new))
        if new and self._is_over(f"time of {name}", len(distances)):
            raise OutOfTimeError
        return [known[key] for key in keys]

    def _compared(self, pairs: Sequence[Pair], size: int) -> list[float]:
        """Return the distances of pairs: 0 for pairs that a time limit leaves out, after which the search ends."""
        limit, measured = self.plan.settings.seconds, list[float]()
        compared = self.sampler().compare(pairs, size, *([] if limit is None else [4]))
        with contextlib.suppress(OverdueError), contextlib.closing(compared) as distances:
            for distance in distances:
                measured.append(distance)
                if limit is not None and self.elapsed() > limit:
                    break
        return [*measured, *[0.0] * (len(pairs) - len(measured))]

    def count(self, batches: Batches, test: Test[Any], kept: int = 0) -> tuple[Tally, list[Sample]]:
        """Draw outputs on one pair and count a test; return the tally and about ``kept`` of the first outputs.

        If the time is over, fewer outputs are drawn.

        Raises MechanismError if outputs of one call are more alike than outputs of different calls. For independent
        outputs this has probability at most FALSE_WARNING.
        """
        sampler, observe, phase = self.sampler(), functools.partial(count_in_parts, test), batches.first.phase
        tally, samples, first = Tally(), list[Sample](), batches[: math.ceil(kept / batches.first.size)]

        def goes_on() -> bool:
            if tally.outputs < batches.outputs and self.time_is_up(batches.first, tally.outputs):
                tally.time_is_up = True
            self.report(phase, tally.outputs, batches.outputs)
            return not tally.time_is_up

        tally.time_is_up = self._was_overdue(batches.first)
        try:
            with contextlib.closing(sampler.map(first[: 0 if tally.time_is_up else None], as_drawn)) as drawn:
                for sample in drawn:
                    samples.append(sample)
                    tally.add(*observe(sample))
                    if not goes_on():
                        break
        except OverdueError:
            tally.time_is_up = self.out_of_time = True
            self.time_is_up(batches.first, tally.outputs)
        tally = self._resumed(sampler, batches, observe, tally)
        remembers, waiting, kept_at = self.guard.remembers, list[tuple[Batch, DrawnBatch[Any]]](), time.monotonic()
        rest = batches[len(batches) if tally.time_is_up else tally.batches :]
        try:
            with contextlib.closing(sampler.groups(rest, observe)) as groups:
                for group in groups:
                    for _, one in group:
                        tally.add(*one.seen)
                    waiting += group if remembers else ()
                    more, remembers = goes_on(), self.guard.remembers
                    # A write holds the whole tally. So at most two writes come in a second, and a killed run loses half a
                    # second.
                    if not more or tally.outputs == batches.outputs or time.monotonic() - kept_at > 0.5:
                        self._keep(batches.first, waiting, tally)
                        waiting, kept_at = [], time.monotonic()
                    if not more:
                        break
        except OverdueError:  # what was counted before remains
            tally.time_is_up = self.out_of_time = True
            self.time_is_up(batches.first, tally.outputs)
        self.spend(phase, tally.outputs)
        if tally.in_calls and depends_on_calls(tally.tables):
            raise MechanismError(STATE)
        return tally, samples

    def _resumed(self, sampler: Sampler, batches: Batches, observe: Callable[[Sample], Any], so_far: Tally) -> Tally:
        """Return the tally from before the run was interrupted, and restore the state of the guard."""
        if not self.plan.store.resumes or so_far.time_is_up:
            return so_far
        for _ in sampler.recall(batches[so_far.batches :], observe):
            pass
        counted, guard = self.plan.store.recall(f"tally of {batches.first.name}", lambda: (vars(so_far), None))
        if guard is not None:
            self.guard.restore(guard)
        return Tally(**counted)

    def _keep(self, first: Batch, group: Sequence[tuple[Batch, DrawnBatch[Any]]], tally: Tally) -> None:
        if not self.plan.store.resumes:
            return
        # While the guard remembers, later batches are compared with these keys. Afterwards, its state is enough.
        keys = [(batch, DrawnBatch(drawn.left, drawn.right, None)) for batch, drawn in group]
        state = None if self.guard.remembers else self.guard.state()
        self.plan.store.keep(keys, {f"tally of {first.name}": (vars(tally), state)})

    def spend(self, phase: Phase, outputs: int) -> None:
        """Enter outputs that were drawn for a phase."""
        name = "shrink" if phase is Phase.CONFIRM else phase.name.lower()
        self.spent = replace(self.spent, **{name: getattr(self.spent, name) + outputs})

    def report(self, phase: Phase, done: int, planned: int) -> None:
        """Report the progress of a phase to the listener."""
        self.listener(Progress(self.plan.name, phase, done, planned))

    def drawn_by(self) -> str:
        """Return who drew the outputs; "" if a replay does not know."""
        return self.plan.store.recall("drawn by", self.pace.drawn_by, "")

    def elapsed(self) -> float:
        """Return the seconds since the audit began."""
        return time.monotonic() - self.started

    def time_is_up(self, first: Batch | None, outputs: int) -> bool:
        """Whether time has run out after this many outputs of the bound whose first batch is ``first``; after this many
        runs if it is None. In a replay, whether the time was over in the recorded run.
        """
        return self._is_over("time" if first is None else f"time of {first.name}", outputs)

    def _was_overdue(self, first: Batch) -> bool:
        """Whether this is a replay, and the recorded run was ended before it had drawn the first of these batches."""
        return self.plan.store.mode is Mode.REPLAY and self.time_is_up(first, 0)

    def _is_over(self, name: str, outputs: int) -> bool:
        seconds = self.plan.settings.seconds
        if seconds is not None and self.plan.store.happens(name, outputs, lambda: self.elapsed() > seconds):
            self.out_of_time = True
        return self.out_of_time


def as_drawn(sample: Sample) -> Sample:
    """Keep a batch as it is."""
    return sample
