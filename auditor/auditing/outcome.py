"""One audit from the answer of its flow to its result at a level; and the levels of all audits of a file."""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditor.auditing.evidence import Evidence
from auditor.auditing.ledger import Ledger
from auditor.auditing.plan import Plan
from auditor.auditing.race import Look
from auditor.auditing.warnings import Case, Caveat, select_caveats, weaknesses
from auditor.blackbox.sample import Sample
from auditor.bounds.digits import round_floats
from auditor.defaults import CONFIDENCE, VALUES
from auditor.events.observed import CalculatedEvent
from auditor.neighbours.pair import Pair
from auditor.results.result import (
    AuditResult,
    ExactValue,
    Further,
    Judgement,
    Probed,
    ProofFound,
    Provenance,
    Smallest,
    Stage,
    Tried,
)
from auditor.verdict import Verdict, holm_levels


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit, from the ``answer`` of its flow on. Follow-ups extend it. ``result`` judges it at a level.

    The answer is evidence, or a judgement that does not depend on the level: that of a query, or that there is no answer.
    ``sample`` holds the outputs on the ``pair`` from which the test was learned. ``shrink`` looks for the smallest pair
    that breaks the claim. ``looks`` are the looks of the search, by pair key. ``earlier`` says what became of an earlier
    violation. If nothing settles it, ``unsettled`` says why and what to do, and there is no answer unless the claim is
    refuted. ``provenance`` is how the audit was run, None while it goes on.
    """

    ledger: Ledger
    answer: Evidence | Judgement
    pair: Pair | None = None
    sample: Sample | None = None
    shrink: Callable[[], Smallest | None] | None = None
    looks: Mapping[str, Look] = field(default_factory=dict)
    caveats: tuple[Caveat, ...] = ()
    earlier: str | None = None
    unsettled: str = ""
    exact: ExactValue | None = None
    smallest: Smallest | None = None
    further: tuple[Further, ...] = ()
    proof: ProofFound | None = None
    planted: Probed | None = None
    provenance: Provenance | None = None

    @classmethod
    def without_answer(cls, ledger: Ledger, reason: str, pair: Pair | None = None) -> "Audit":
        """Return an audit that ends without an answer, for a reason."""
        return cls(ledger, Judgement(Verdict.INCONCLUSIVE, reason), pair)

    @property
    def plan(self) -> Plan:
        """What was asked."""
        return self.ledger.plan

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the plan's own level. Holm's level may be larger."""
        answer = self.answer
        return answer.refutes(self.plan.alpha) if isinstance(answer, Evidence) else answer.verdict is Verdict.VIOLATION

    @property
    def passed(self) -> bool:
        """Whether there is evidence, it does not refute the claim at the plan's own level, and no earlier violation is open."""
        return isinstance(self.answer, Evidence) and not self.refuted and not self.unsettled

    @property
    def p_value(self) -> float | None:
        """The smallest level at which the claim is refuted; None for a deterministic query or without an answer."""
        return self.answer.p_value() if isinstance(self.answer, Evidence) else None

    def warn(self, *texts: str, applies: Case = "always") -> "Audit":
        """Return the audit with more warnings, and when they apply."""
        return replace(self, caveats=(*self.caveats, *(Caveat(text, applies) for text in texts)))

    def close(self) -> "Audit":
        """Return the audit at its end: how it was run is known."""
        plan, settings, ledger = self.plan, self.plan.settings, self.ledger
        tried = Tried(
            str(plan.neighbours),
            max(1, len(ledger.pairs)),
            settings.events,
            _by_name(ledger.stages),
            self.planted,
            settings.observe,
            # Round the limits as a report does, so that the two can be compared.
            round_floats(plan.neighbours.limits()),
        )
        drawn_by = ledger.drawn_by() if ledger.spent.bound and plan.kind != "canaries" else ""
        seconds, seed = ledger.elapsed(), settings.seed
        return replace(self, provenance=Provenance(ledger.spent, ledger.reproducible, seed, tried, seconds, drawn_by))

    def with_seconds(self, seconds: float) -> "Audit":
        """Return the audit at its end, with another time that it took."""
        assert self.provenance is not None
        return replace(self, provenance=replace(self.provenance, seconds=seconds))

    def result(self, alpha: float | None = None) -> AuditResult:
        """Return the result at a level, by default the plan's own.

        The smallest pair and the further faults, with their bounds, are not part of the judgement. They are reported only if
        the claim is refuted.
        """
        plan, judgement = self.plan, self._judged(self.plan.alpha if alpha is None else alpha)
        violated = judgement.verdict is Verdict.VIOLATION
        smallest = self.smallest if violated else None
        broken = (smallest.pair if smallest else self.pair) if violated else None
        assert self.provenance is not None
        weak = weaknesses(plan, judgement, self.planted)
        is_proved = self.proof is not None and self.proof.proved
        is_calculated = isinstance(judgement.event, CalculatedEvent)
        return AuditResult(
            plan.name,
            plan.source.name,
            plan.claim,
            plan.expect,
            judgement,
            replace(self.provenance, reproduce=_command(plan, broken, calculated=is_calculated)),
            self.pair,
            self.exact,
            smallest,
            select_caveats(self.caveats, weak, violated=violated, proved=is_proved),
            self.proof,
            self.earlier,
            accepted=plan.settings.weak or "",
            further=self.further if violated else (),
        )

    def _judged(self, alpha: float) -> Judgement:
        """Return the judgement at a level; no pass if an earlier violation is unsettled."""
        judgement = self.answer.judge(alpha) if isinstance(self.answer, Evidence) else self.answer
        if not self.unsettled or judgement.verdict is Verdict.VIOLATION:
            return judgement
        if judgement.verdict is Verdict.INCONCLUSIVE:
            return replace(judgement, stop_reason=f"{judgement.stop_reason}; {self.unsettled}")
        return Judgement(Verdict.INCONCLUSIVE, self.unsettled)


def _by_name(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Add up the stages that share a name. ``caught`` is the smallest violation that one of them would have caught."""
    sums: dict[str, Stage] = {}
    for stage in stages:
        before = sums.get(stage.name, Stage(stage.name, 0, 0, math.inf))
        pairs, outputs = before.pairs + stage.pairs, before.outputs + stage.outputs
        sums[stage.name] = Stage(stage.name, pairs, outputs, min(before.caught, stage.caught))
    return tuple(sums.values())


def settle(audits: Sequence[Audit], alpha: float, sharing: int) -> list[AuditResult]:
    """Judge the audits of a file at the levels of Holm's step-down, under one error budget.

    Some sound mechanism among them is reported as a violation with probability at most ``alpha``. ``sharing`` counts
    all audits that share the budget, including audits that were not run or ended without an answer. Audits of
    deterministic queries spend no error.

    An audit without a claim gets the level of a p-value of 1. Its bound errs only if a test of the unknown true loss
    would reject at that level. So all bounds hold together with probability at least 1 − ``alpha``.
    """
    levels = levels_of([audit.p_value for audit in audits], alpha, sharing)
    return [audit.result(level) for audit, level in zip(audits, levels, strict=True)]


def levels_of(p_values: Sequence[float | None], alpha: float, sharing: int) -> list[float | None]:
    """Return each audit's level, see ``settle``; None for a deterministic query or an audit without an answer."""
    stated = {i: p for i, p in enumerate(p_values) if p is not None}
    levels = holm_levels([*stated.values(), *[1.0] * (sharing - len(stated))], alpha)
    level_of = dict(zip(stated, levels, strict=False))
    return [level_of.get(i) for i in range(len(p_values))]


def _command(plan: Plan, pair: Pair | None, *, calculated: bool) -> str | None:
    """Return the command that repeats an audit. Without a command, return a call in Python that finds the violation on
    a pair or data set, by sampling or if it was ``calculated`` by calculation. Return None if there is neither a command
    nor a pair.
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
        "prove": "only" if calculated else None,
    }
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    return f"auditor.audit({plan.source.name}, {plan.claim!r}, {pair.call()}, {given})"
