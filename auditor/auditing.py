"""The whole flow for one audit: search for a pair, select an event, prove a bound, judge the claim.

The three phases draw outputs of their own, so what was searched and selected for cannot bias what is proved.
Nothing here prints; progress is told through a callback.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from auditor.blackbox.mechanism import Mechanism, Sample, Source
from auditor.blackbox.outputs import concatenate
from auditor.blackbox.sampling import Batch, Execution, Phase, Sampler
from auditor.bounds.evidence import Bound, GuessCounts
from auditor.bounds.methods import METHODS, Floats, RuleCounts
from auditor.claims import PrivacyClaim
from auditor.errors import InvalidInputError, did_you_mean
from auditor.events.event import Event
from auditor.events.selection import select_event
from auditor.neighbours.domains import Domain, Pairs
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import search_pairs
from auditor.report.result import AuditResult, OutputsSpent
from auditor.verdict import Verdict, alpha_for_each, judge

# Shares of the bound's outputs that are drawn before it, on top: together under a fifth of all.
SEARCH_SHARE = 0.15
SELECTION_SHARE = 0.10


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides an audit's outcome.

    ``samples`` counts the outputs of the bound, both sides together; ``search`` those of the search, by default
    SEARCH_SHARE of samples. ``alpha`` is the chance that the audit raises a false alarm.
    """

    name: str
    source: Source
    claim: PrivacyClaim
    domain: Domain
    alpha: float
    samples: int = 1_000_000
    method: str = "fixed"
    search: int | None = None
    seed: int = 0
    execution: Execution = field(default_factory=Execution)
    expect: Verdict = Verdict.NO_VIOLATION_FOUND

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidInputError(f'method is "{self.method}"; {did_you_mean(self.method, METHODS)}')
        if self.samples < 100:
            raise InvalidInputError(f"samples is {self.samples}; at least 100 outputs are needed to say anything")
        if self.search is not None and self.search < 0:
            raise InvalidInputError(f"search outputs are {self.search}; they must be 0 or more")
        if self.seed < 0:
            raise InvalidInputError(f"seed is {self.seed}; it must be 0 or more")


@dataclass(frozen=True, slots=True)
class Progress:
    """A phase of an audit has drawn ``done`` of the ``planned`` outputs."""

    audit: str
    phase: Phase
    done: int
    planned: int


Listener = Callable[[Progress], None]
T = TypeVar("T")


def audit(
    mechanism: Callable[..., Any] | str,
    claim: PrivacyClaim,
    neighbours: Domain | Sequence[tuple[Any, Any]],
    *,
    parameters: Mapping[str, Any] | None = None,
    name: str | None = None,
    confidence: float = 0.999,
    samples: int = 1_000_000,
    method: str = "fixed",
    search: int | None = None,
    seed: int = 0,
    workers: int = -1,
    backend: str = "loky",
    batch: int = 65_536,
) -> AuditResult:
    """Audit one mechanism against one claim.

    Args:
        mechanism: ``f(dataset, rng)``, one output a call, or ``f(dataset, size, rng)``, a batch; or its name,
            "module:function".
        claim: such as ``PureDP(1.0)``.
        neighbours: a domain, or a list of (left, right) pairs.
        parameters: passed on to the mechanism as keywords.
        name: of the audit; part of the seed of every output.
        confidence: the chance that a sound mechanism raises no alarm.
        samples: outputs for the bound, both sides together; search and selection come on top.
        method: "fixed" or "two-intervals".
        search: outputs for the search over pairs.
        seed: the root of all randomness.
        workers, backend, batch: how outputs are drawn; see :class:`~auditor.blackbox.sampling.Execution`.

    Raises InvalidInputError for options out of range, MechanismError when the mechanism cannot be called.

    >>> import auditor
    >>> def leaky(dataset, size, rng):
    ...     return rng.laplace(dataset, 0.5, size)  # ε = 2
    >>> auditor.audit(leaky, auditor.PureDP(1.0), [(0, 1)], samples=20_000, seed=7, workers=1).verdict
    <Verdict.VIOLATION: 'violation'>
    """
    if isinstance(mechanism, str):
        source = Source(mechanism, parameters or {})
    else:
        source = Source(_name_of(mechanism), parameters or {}, function=mechanism)
    domain = Pairs(list(neighbours)) if isinstance(neighbours, Sequence) else neighbours
    plan = Plan(
        name=name or source.name,
        source=source,
        claim=claim,
        domain=domain,
        alpha=alpha_for_each(confidence, 1),
        samples=samples,
        method=method,
        search=search,
        seed=seed,
        execution=Execution(backend, workers, batch),
    )
    return run(plan)


def run(plan: Plan, listener: Listener = lambda progress: None) -> AuditResult:
    """Carry out a plan.

    Raises MechanismError when the mechanism cannot be built or breaks the protocol of a batch; a mechanism that
    raises or returns nonsense is audited on that.
    """
    return _Audit(plan, plan.source.build(), listener).run()


@dataclass
class _Audit:
    plan: Plan
    mechanism: Mechanism
    listener: Listener
    spent: OutputsSpent = field(default_factory=OutputsSpent)
    started: float = field(default_factory=time.monotonic)

    def run(self) -> AuditResult:
        try:
            pair = self._search()
            sample = self._collect(pair)
            failure = sample.left.failure() and sample.right.failure()
            if failure:
                return self._result(Verdict.INCONCLUSIVE, f"the mechanism failed on every call: {failure}", pair=pair)
            event = _select(sample, self.plan)
            counts = self._count(pair, event)
        except TimeoutError:
            limit = self.plan.execution.timeout
            return self._result(Verdict.INCONCLUSIVE, f"a batch took longer than the time limit of {limit} s")
        return self._judge(pair, event, counts)

    def _search(self) -> Pair:
        plan = self.plan
        outputs = round(SEARCH_SHARE * plan.samples) if plan.search is None else plan.search
        round_number = 0

        def evaluate(pairs: Sequence[Pair], outputs_each: int) -> list[float]:
            nonlocal round_number
            batches = [Batch(pair, outputs_each, Phase.SEARCH, (round_number, i)) for i, pair in enumerate(pairs)]
            round_number += 1
            self.spent = replace(self.spent, search=self.spent.search + outputs_each * len(pairs))
            scores = list(self._sampler().map(batches, _PairScore(plan)))
            self.listener(Progress(plan.name, Phase.SEARCH, self.spent.search, outputs))
            return scores

        rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(Phase.SEARCH,)))
        return search_pairs(plan.domain, evaluate, outputs, rng)

    def _collect(self, pair: Pair) -> Sample:
        outputs = max(100, round(SELECTION_SHARE * self.plan.samples))
        samples = list(self._draw(pair, outputs, Phase.SELECTION, _as_drawn))
        self.spent = replace(self.spent, selection=outputs)
        return Sample(concatenate([s.left for s in samples]), concatenate([s.right for s in samples]))

    def _count(self, pair: Pair, event: Event) -> GuessCounts:
        total: GuessCounts | None = None
        for counts in self._draw(pair, self.plan.samples, Phase.BOUND, event.count):
            total = counts if total is None else total + counts
        assert total is not None  # a plan has at least 100 samples
        self.spent = replace(self.spent, bound=total.trials)
        return total

    def _judge(self, pair: Pair, event: Event, counts: GuessCounts) -> AuditResult:
        plan, method = self.plan, METHODS[self.plan.method]
        claim = plan.claim
        value = method.epsilon(counts, claim.delta, plan.alpha)
        bound = Bound(claim.quantity, value, 1 - plan.alpha, method.name)
        chances = {"80%": 0.80, "95%": 0.95}
        power = {
            name: method.detectable(counts, claim.value, claim.delta, plan.alpha, c) for name, c in chances.items()
        }
        reason = f"all {counts.trials:,} outputs drawn"
        return self._result(
            judge(claim, bound), reason, pair=pair, event=event, counts=counts, bound=bound, power=power
        )

    def _sampler(self) -> Sampler:
        return Sampler(self.plan.source, self.plan.name, self.plan.seed, self.plan.execution)

    def _draw(self, pair: Pair, outputs: int, phase: Phase, observe: Callable[[Sample], T]) -> Iterator[T]:
        sampler, done = self._sampler(), 0
        for seen in sampler.map(sampler.batches(pair, outputs, phase), observe):
            done = min(outputs, done + self.plan.execution.batch)
            self.listener(Progress(self.plan.name, phase, done, outputs))
            yield seen

    def _result(self, verdict: Verdict, reason: str, **found: Any) -> AuditResult:
        return AuditResult(
            name=self.plan.name,
            mechanism=self.plan.source.name,
            claim=self.plan.claim,
            verdict=verdict,
            expected=self.plan.expect,
            outputs=self.spent,
            stop_reason=reason,
            seconds=time.monotonic() - self.started,
            reproducible=self.mechanism.takes_rng,
            seed=self.plan.seed,
            **found,
        )


def _as_drawn(sample: Sample) -> Sample:
    return sample


def _halves(sample: Sample) -> tuple[Sample, Sample]:
    """Cut a sample in two, each with half of either side."""
    a, b = sample.left.size // 2, sample.right.size // 2
    return Sample(sample.left[:a], sample.right[:b]), Sample(sample.left[a:], sample.right[b:])


@dataclass(frozen=True, slots=True)
class _Forecast:
    """Forecast the plan's bound for many rules; a class, since it travels to the workers."""

    method: str
    samples: int
    delta: float
    alpha: float

    def __call__(self, seen: RuleCounts) -> Floats:
        return METHODS[self.method].forecast(seen, self.samples, self.delta, self.alpha)


def _forecast_of(plan: Plan) -> _Forecast:
    return _Forecast(plan.method, plan.samples, plan.claim.delta, plan.alpha)


def _select(sample: Sample, plan: Plan) -> Event:
    fit, judge_on = _halves(sample)
    return select_event(fit, judge_on, _forecast_of(plan)).event


class _PairScore:
    """Score a pair by the bound it is forecast to give: mean of both ways to learn on one half and judge on the other."""

    def __init__(self, plan: Plan) -> None:
        self._forecast = _forecast_of(plan)

    def __call__(self, sample: Sample) -> float:
        if min(sample.left.size, sample.right.size) < 4:
            return -np.inf
        one, other = _halves(sample)
        return (
            select_event(one, other, self._forecast).forecast + select_event(other, one, self._forecast).forecast
        ) / 2


def _name_of(function: Callable[..., Any]) -> str:
    inner = getattr(function, "func", function)  # functools.partial
    name: str = getattr(inner, "__qualname__", type(inner).__qualname__)
    return name


def draw_once(plan: Plan) -> tuple[Pair, Any, Any]:
    """Draw one output from each side of the first pair, as `auditor check` does.

    Returns the pair and the two outputs as the mechanism returned them, an exception where it raised one.
    Raises MechanismError when the mechanism cannot be built.
    """
    mechanism, pair = plan.source.build(), plan.domain.corners()[0]
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(Phase.CHECK,)))
    return pair, mechanism.call_once(pair, "left", rng), mechanism.call_once(pair, "right", rng)
