"""Evidence apart from judgement: an audit ends with evidence, which is judged once its level is known."""

import math
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditor.auditing.draw import Draw
from auditor.auditing.pair_search import Look
from auditor.auditing.plan import Plan
from auditor.blackbox.sample import Sample
from auditor.bounds.digits import round_floats
from auditor.claims import ApproximateDP, Claim
from auditor.defaults import CONFIDENCE, VALUES
from auditor.errors import how_many
from auditor.events.observed import ObservedCanaries
from auditor.neighbours.pair import Pair
from auditor.results.result import (
    AuditResult,
    ExactValue,
    Judgement,
    Probed,
    ProofFound,
    Provenance,
    Smallest,
    Stage,
    Tried,
)
from auditor.verdict import WEAK, Verdict, holm_levels, may_miss, saw_nothing, smallest_level


class Evidence(ABC):
    """The counts for or against a claim. They can be judged at any level."""

    claim: Claim

    @abstractmethod
    def bound(self, alpha: float) -> float:
        """Return a bound on the claim's quantity. It lies beyond the truth with probability at most alpha."""

    @abstractmethod
    def judge(self, alpha: float) -> Judgement:
        """Return the judgement of the claim by the evidence, at a level."""

    def refutes(self, alpha: float) -> bool:
        """Whether the claim is refuted at a level."""
        return self.claim.excess(self.bound(alpha)) > 0

    def p_value(self) -> float:
        """Return the smallest level at which the claim is refuted."""
        return smallest_level(self.refutes)


@dataclass(frozen=True, slots=True)
class Seen:
    """The result of a flow: evidence, or a judgement that does not depend on the level. Queries and audits without an answer have
    such a judgement.

    ``sample`` holds the outputs on the pair from which the test was learned. ``tables`` are counts of the bound's
    outputs by side and kind, for consecutive spans of batches; empty if spans cannot be compared. ``shrink`` looks for
    the smallest pair that breaks the claim. ``drawn_by`` says who drew the outputs. ``warnings`` are warnings that only
    this flow can give. ``looks`` are the looks of the search, by pair key. ``earlier`` says what became of an earlier
    violation. If nothing settles it, ``unsettled`` says why and what to do, and there is no answer unless the claim is
    refuted.
    """

    found: Evidence | Judgement
    pair: Pair | None = None
    sample: Sample | None = None
    tables: Sequence[Sequence[Sequence[int]]] = ()
    shrink: Callable[[], Smallest | None] | None = None
    drawn_by: str = ""
    warnings: tuple[str, ...] = ()
    looks: Mapping[str, Look] = field(default_factory=dict)
    earlier: str | None = None
    unsettled: str = ""

    def settled(self, judgement: Judgement) -> Judgement:
        """Return the judgement of what was found; no pass if an earlier violation is unsettled."""
        if not self.unsettled or judgement.verdict is Verdict.VIOLATION:
            return judgement
        if judgement.verdict is Verdict.INCONCLUSIVE:
            return replace(judgement, stop_reason=f"{judgement.stop_reason}; {self.unsettled}")
        return Judgement(Verdict.INCONCLUSIVE, self.unsettled)


def no_answer(reason: str, pair: Pair | None = None, drawn_by: str = "") -> Seen:
    """Return the ``Seen`` of an audit without an answer."""
    return Seen(Judgement(Verdict.INCONCLUSIVE, reason), pair, drawn_by=drawn_by)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an audit: the result of its flow, and further findings.

    ``if_violated`` are warnings for the case of a violation, ``if_passed`` for the case of no violation.
    """

    plan: Plan
    seen: Seen
    exact: ExactValue | None = None
    smallest: Smallest | None = None
    warnings: tuple[str, ...] = ()
    if_violated: tuple[str, ...] = ()
    if_passed: tuple[str, ...] = ()
    proof: ProofFound | None = None
    planted: Probed | None = None

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the plan's own level. Holm's level may be larger."""
        found = self.seen.found
        return found.refutes(self.plan.alpha) if isinstance(found, Evidence) else found.verdict is Verdict.VIOLATION

    @property
    def passed(self) -> bool:
        """Whether there is evidence, it does not refute the claim at the plan's own level, and no earlier violation is open."""
        return isinstance(self.seen.found, Evidence) and not self.refuted and not self.seen.unsettled

    def warned(self, *warnings: str) -> "Outcome":
        """Return the outcome with more warnings."""
        return replace(self, warnings=(*self.warnings, *warnings))


@dataclass(frozen=True, slots=True)
class Ended:
    """An audit that has ended, and is still to be judged."""

    outcome: Outcome
    provenance: Provenance

    @classmethod
    def of(cls, outcome: Outcome, draw: Draw) -> "Ended":
        """Close an audit."""
        plan, settings = outcome.plan, outcome.plan.settings
        stages, looked_at, pairs = _by_name(draw.stages), str(plan.neighbours), max(1, len(draw.pairs))
        # Round the limits as a report does, so that the two can be compared.
        limits = round_floats(plan.neighbours.limits())
        tried = Tried(looked_at, pairs, settings.events, stages, outcome.planted, settings.observe, limits)
        spent, seconds = draw.spent, draw.elapsed()
        return cls(outcome, Provenance(spent, draw.reproducible, settings.seed, tried, seconds, outcome.seen.drawn_by))

    @property
    def name(self) -> str:
        """The name of the audit."""
        return self.outcome.plan.name

    @property
    def p_value(self) -> float | None:
        """The smallest level at which the claim is refuted; None for a deterministic query or without an answer."""
        found = self.outcome.seen.found
        return found.p_value() if isinstance(found, Evidence) else None

    def result(self, alpha: float | None = None) -> AuditResult:
        """Return the result at a level, by default the plan's own.

        The smallest pair and its bound are not part of the judgement. They are reported only if the claim is refuted.
        """
        outcome, plan, seen = self.outcome, self.outcome.plan, self.outcome.seen
        found = seen.found
        judgement = found.judge(plan.alpha if alpha is None else alpha) if isinstance(found, Evidence) else found
        judgement = seen.settled(judgement)
        violated = judgement.verdict is Verdict.VIOLATION
        smallest = outcome.smallest if violated else None
        is_proved = outcome.proof is not None and outcome.proof.proved
        if violated:
            warnings = (*outcome.warnings, *outcome.if_violated)
        else:
            weak = (*outcome.if_passed, *_weaknesses(plan, judgement, self.provenance))
            # If the claim is proved for the whole domain, it does not matter what outputs may have missed.
            warnings = (*(() if is_proved else weak), *outcome.warnings)
        if violated and is_proved:
            contradiction = (
                "the claim is proved over the reals, and outputs refute it. Either one of the two is wrong, or floating point "
                "makes the difference: check whether the event is about bits or about numbers that differ by rounding, repeat "
                "the audit with another seed, and check the certificate of `auditor prove --out DIR` with `auditor check-proof`"
            )
            warnings = (*warnings, contradiction)
        broken = (smallest.pair if smallest else seen.pair) if violated else None
        return AuditResult(
            plan.name,
            plan.source.name,
            plan.claim,
            plan.expect,
            judgement,
            replace(self.provenance, reproduce=_command(plan, broken)),
            seen.pair,
            outcome.exact,
            smallest,
            warnings,
            outcome.proof,
            seen.earlier,
        )


def _weaknesses(plan: Plan, judgement: Judgement, provenance: Provenance) -> Iterator[str]:
    """Yield why a pass is weak: it may miss WEAK times the claim, saw no loss, or missed planted faults."""
    tried, outputs = provenance.tried, provenance.outputs
    planted = tried.planted
    claim, power, is_pass = plan.claim, judgement.power, judgement.verdict is Verdict.NO_VIOLATION_FOUND
    if is_pass and power is not None and may_miss(claim, power):
        more = _to_catch_more(plan, judgement)
        if power["95%"] == math.inf:
            yield f"weak: on this event the audit cannot detect any violation; {more}"
        else:
            yield (
                f"weak: the audit may miss {claim.symbol} of {WEAK:g} times the claim: the smallest violation it detects with 95 % "
                f"probability is {power['95%']:.3g}; {more}"
            )
    elif is_pass and saw_nothing(claim, judgement.bound):
        where = f"the most promising of {tried.pairs:,} pairs" if tried.pairs > 1 else "the pair"
        yield (
            f"weak: no loss above noise was seen: {how_many(outputs.bound, 'output')} for the bound, on {where}, prove none. "
            f"A small or rare loss needs more: {plan.with_more()}, or write a smaller domain"
        )
    if planted is not None and planted.too_few:
        times, found = planted.with_more or (1, 0)
        helps = found > len(planted.found)
        more = f"{plan.with_more(times)}, which finds {found} of them; or" if helps else "more outputs find no more;"
        yield (
            f"weak: the search found {len(planted.found)} of {planted.all} faults that were planted in its outputs; "
            f"{more} write a smaller domain"
        )


def _to_catch_more(plan: Plan, judgement: Judgement) -> str:
    claim, event = plan.claim, judgement.event
    if not isinstance(event, ObservedCanaries):
        # The excess of the smallest violation caught over the claim is about proportional to 1/√outputs.
        excess = (judgement.power or {}).get("95%", math.inf) / claim.value - 1
        return plan.with_more((excess / (WEAK - 1)) ** 2) if excess < math.inf else plan.with_more()
    # The claim allows a run to reveal all canaries with probability δ. So no p-value is below δ.
    allowed = judgement.alpha or 0
    if not event.apart and isinstance(claim, ApproximateDP) and claim.delta * len(event.guesses) >= allowed:
        return "δ is at least the error allowed per look; without `apart`, no number of canaries can refute this claim"
    return "use more canaries, or more runs"


def _by_name(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Add up the stages of one name. ``caught`` is the smallest violation that one of them would have caught."""
    found: dict[str, Stage] = {}
    for one in stages:
        before = found.get(one.name, Stage(one.name, 0, 0, math.inf))
        pairs, outputs = before.pairs + one.pairs, before.outputs + one.outputs
        found[one.name] = Stage(one.name, pairs, outputs, min(before.caught, one.caught))
    return tuple(found.values())


def settle(ended: Sequence[Ended], alpha: float, audits: int) -> list[AuditResult]:
    """Judge the audits of a file at the levels of Holm's step-down, under one error budget.

    The chance that any sound mechanism among them is said to violate its claim is at most ``alpha``. ``audits`` counts
    all audits that share the budget, also audits that were not run or ended without an answer. Audits of deterministic
    queries spend no error.

    An audit without a claim gets the level of a p-value of 1. Its bound errs only if a test of the unknown true loss
    would reject at that level. So all bounds hold together with probability at least 1 − ``alpha``.
    """
    levels = levels_of([one.p_value for one in ended], alpha, audits)
    return [one.result(level) for one, level in zip(ended, levels, strict=True)]


def levels_of(p_values: Sequence[float | None], alpha: float, audits: int) -> list[float | None]:
    """Return each audit's level, see ``settle``; None for a deterministic query or an audit without an answer."""
    known = {i: p for i, p in enumerate(p_values) if p is not None}
    levels = holm_levels([*known.values(), *[1.0] * (audits - len(known))], alpha)
    level_of = dict(zip(known, levels, strict=False))
    return [level_of.get(i) for i in range(len(p_values))]


def _command(plan: Plan, pair: Pair | None) -> str | None:
    """Return the command that repeats an audit. Without a command, return a call in Python that finds the violation on
    a pair or data set. Return None if there is neither a command nor a pair.
    """
    if plan.rerun:
        return shlex.join(["auditor", "run", *plan.rerun])
    if pair is None:
        return None
    confidence = round(1 - plan.alpha, 12)
    options = {
        "parameters": dict(plan.source.parameters) or None,
        "name": plan.name,
        "samples": plan.settings.samples,
        "method": plan.settings.method if plan.settings.method != "fixed" else None,
        "events": list(plan.settings.events) if plan.settings.events != (VALUES,) else None,
        "confidence": confidence if confidence != CONFIDENCE else None,
        "seed": plan.settings.seed,
    }
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    return f"auditor.audit({plan.source.name}, {plan.claim!r}, {pair.call()}, {given})"
