"""One output from each side of a pair for `auditor check`: does the mechanism load, and what does it return?"""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

from auditor.auditing.no_answer import data_arrive, some_pairs
from auditor.auditing.plan import Plan
from auditor.auditing.warnings import NO_EFFECT, alike
from auditor.blackbox.batches import Batch, Phase, Trial, draw_twice, rng_at
from auditor.blackbox.host import Hosted, isolated
from auditor.blackbox.mechanism import Mechanism
from auditor.blackbox.observing import OBSERVERS
from auditor.blackbox.process import ProcessFailure, TimedOut
from auditor.blackbox.sample import SIDES, TRIAL
from auditor.errors import duration, how_many, visible
from auditor.foreign_code import message_of, result_or_error
from auditor.neighbours.pair import Pair, data_words, plain
from auditor.neighbours.scripts import is_dialogue

# Without a timeout, an output may take CHECK_SECONDS. The comparison of the two sides of pairs may take ALIKE_SECONDS.
CHECK_SECONDS, ALIKE_SECONDS = 30.0, 3.0
ALL_EQUAL = (
    "every call gives the same output: if the mechanism adds noise, draw all of it from `rng`, and seed nothing inside"
)
ONE_CALL_SHARES = (
    "all outputs of one call are equal: if the mechanism adds noise, draw it anew for each of the `size` outputs, such as by "
    "`rng.laplace(size=size)`; one noise for a whole call makes no independent outputs"
)
IGNORES_RNG = (
    "two calls with the same `rng` (a program: the same seed) give different outputs: not all randomness is drawn from it. One "
    "worker then runs the mechanism, and another run gives other numbers; draw all of it from `rng`"
)
CHANGES_DATA = (
    "a call changes the data set that it is given, in place. The audit gives each call a copy of its own, so it does not see what "
    "that does to later calls; copy the data set before changing it"
)

PRINTS = (
    "and the audit looks at what it returns only; if others may read what is printed, add `observe: [stdout]`, and do not print "
    "what is not noisy"
)


class SideEffects(NamedTuple):
    """Whether a call changes the data set that it is given, and what it prints to standard output and error."""

    changes: bool = False
    printed: str = ""


NO_EFFECTS = SideEffects()


def draw_once(plan: Plan) -> "FirstOutputs":
    """Draw one output from each side of a pair, as `auditor check` does.

    A few pairs, spread over the domain, are tried. The pair is the first on which at most one side raises, or else the
    first of all. Without a timeout, an output that takes CHECK_SECONDS is a failure. Raises MechanismError when the
    mechanism cannot be built.
    """
    limit, corners = plan.settings.execution.timeout, plan.domain.corners()
    drawer = isolated(plan.source, limit or CHECK_SECONDS)
    rng = rng_at(plan.settings.seed, Phase.CHECK)
    first = None
    try:
        isolated(plan.source, limit).repeats_itself(corners[0])
        for pair in some_pairs(corners):
            began = time.monotonic()
            left, right = (drawer.call_once(pair, side, rng) for side in SIDES)
            first = first or FirstOutputs(plan, pair, left, right)
            # Try no more pairs, since a process that ends or hangs costs time.
            if any(isinstance(o, ProcessFailure) for o in (left, right)):
                return FirstOutputs(plan, pair, left, right)
            if not all(isinstance(o, BaseException) for o in (left, right)):
                # Time TRIAL outputs, or only one if two more calls take a second: the first may compile, or start a machine.
                if time.monotonic() - began >= 1:
                    began = time.monotonic()
                    for side in SIDES:
                        drawer.call_once(pair, side, rng)
                size = TRIAL if time.monotonic() - began < 1 else 1
                batch = Batch(pair, size, Phase.CHECK, (0,))
                trial = draw_twice(drawer, plan.settings.seed, plan.name, batch)
                effects: object = None
                if size > 1 and isinstance(drawer, Hosted) and not is_dialogue(pair.left):
                    effects = result_or_error(drawer.apply, _side_effects, pair)
                side_effects = effects if isinstance(effects, SideEffects) else NO_EFFECTS
                return FirstOutputs(plan, pair, left, right, trial, side_effects)
    finally:
        plan.source.close()
    assert first is not None  # a domain has a pair
    return first


def _side_effects(mechanism: Mechanism, pair: Pair) -> SideEffects:
    with OBSERVERS["stdout"]() as read:
        changes = mechanism.changes(pair, rng_at(0, Phase.CHECK))
        return SideEffects(changes, str(read()).strip())


@dataclass(frozen=True, slots=True)
class FirstOutputs:
    """One output from each side of a pair. If the mechanism raised, the exception stands for the output."""

    plan: Plan
    pair: Pair
    left: Any
    right: Any
    trial: Trial | None = None
    effects: SideEffects = NO_EFFECTS

    @property
    def failures(self) -> list[BaseException]:
        """The exceptions among the two outputs."""
        return [output for output in (self.left, self.right) if isinstance(output, BaseException)]

    def __str__(self) -> str:
        left, right = map(_outcome, (self.left, self.right))
        if right == left and self.failures:
            right = "raises the same"
        return f"{self._received(self.pair.left)} {left}, {self._received(self.pair.right)} {right}"

    def cost(self) -> str:
        """Say what an output costs and how long the audit may take; an empty text if no output was timed."""
        if self.trial is None or not self.trial.numbers or self.plan.kind in ("query", "canaries"):
            return ""
        seconds = self.plan.may_take(self.trial)
        each = f"an output takes {self.trial.seconds:.2g} s and holds {how_many(self.trial.values, 'value')}"
        return f"{each}; the audit may take about {duration(seconds)}"

    def _received(self, data: object) -> str:
        """Write a data set, with the word "array" if the mechanism receives an array."""
        form = None if self.plan.source.is_program else self.pair.form
        return f"{form.mark if form else ''}{data_words(plain(data))}"

    def _mistake(self) -> str:
        """Return a warning about how outputs are drawn; an empty text if there is none."""
        plan, trial = self.plan, self.trial
        if trial and plan.kind not in ("query", "canaries"):
            if trial.constant:
                return ONE_CALL_SHARES if not plan.source.is_program and plan.drawer().batched else ALL_EQUAL
            if not trial.same and (plan.source.is_program or plan.drawer().takes_rng):
                return IGNORES_RNG
        if self.effects.changes:
            return CHANGES_DATA
        if (printed := self.effects.printed) and "stdout" not in plan.settings.observe:
            return f"a call prints “{visible(printed, 80)}”, {PRINTS}"
        return ""

    def doubt(self) -> str:
        """Return a warning about outputs of two neighbours; an empty text if there is none."""
        raised, plan = self.failures, self.plan
        domain, rng = plan.domain, rng_at(plan.settings.seed, Phase.CHECK, 3)
        # As many pairs as fit into ALIKE_SECONDS, some of them random.
        each = 2 * TRIAL * (self.trial.seconds if self.trial else 0.0)
        pairs = [*some_pairs(domain.corners()), *(domain.random(rng) for _ in range(50))]
        pairs = pairs[: int(ALIKE_SECONDS / max(each, 1e-9))]
        if not raised and pairs and repr(plain(self.left)) == repr(plain(self.right)) and (same := alike(plan, pairs)):
            asks = is_dialogue(self.pair.left)
            return f"{same}: {'check what `ask` asks of the session' if asks else NO_EFFECT}"
        if not raised:
            return self._mistake()
        hint = "" if isinstance(raised[0], ProcessFailure) else data_arrive(plan, self.pair)
        if any(isinstance(output, TimedOut) for output in raised):
            limit = plan.settings.execution.timeout or CHECK_SECONDS
            hint = f"; the limit was {limit:g} s; `execution: {{timeout: seconds}}` sets another"
        if len(raised) == 2:
            return (
                f"it fails on both data sets of every pair tried; if it always fails, the audit is inconclusive{hint}"
            )
        words = "it fails on one of two neighbours only, which distinguishes the data sets; unless rare, this violates the claim"
        return f"{words}{hint}"


def _outcome(output: object) -> str:
    if not isinstance(output, BaseException):
        return f"gives {data_words(plain(output))}"
    return f"raises {raised_words(output)}"


def raised_words(error: BaseException) -> str:
    """Return the kind of an exception and its message."""
    return f"{type(error).__name__}: {error.message() if isinstance(error, ProcessFailure) else message_of(error)}"
