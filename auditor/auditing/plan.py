"""The plan of an audit: its settings, where its outputs are kept or come from, and how it reports its progress."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from auditor.auditing.earlier import Earlier, earlier_violation, from_text
from auditor.auditing.sizes import GROWTH, rounds_for
from auditor.blackbox.audit_store import AuditStore, Mode
from auditor.blackbox.batches import Phase, Trial
from auditor.blackbox.epochs import InBatches
from auditor.blackbox.host import isolated
from auditor.blackbox.initial import BeginningAt
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.observing import observing
from auditor.blackbox.sample import Drawer
from auditor.blackbox.sampling import Execution
from auditor.blackbox.store import Store
from auditor.blackbox.workers import processes
from auditor.bounds.digits import round_error_up
from auditor.claims import Claim, PrivacyClaim, Probability, QueryClaim
from auditor.defaults import (
    FEWEST,
    MOST,
    MOST_PLANTED,
    PLANTED,
    SAMPLES,
    VALUES,
    EventKind,
    MethodName,
    ObserveKind,
    Prove,
    SettingsKeywords,
)
from auditor.errors import AuditorError, InvalidInputError, MechanismError, require_keywords, require_known
from auditor.events.event import Event
from auditor.events.selection import SESSION_ANSWERS
from auditor.interfaces import AnyMethod, Domain, Source, Test, require_domain
from auditor.methods import method_for
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import Pairs
from auditor.neighbours.epochs import loader_of
from auditor.neighbours.pair import check_differ
from auditor.results.result import AuditResult
from auditor.sessions.dialogues import Dialogues
from auditor.sessions.session_mechanism import SessionMechanism
from auditor.verdict import Verdict

# The probabilities for which a result states the smallest violation detected.
CHANCES = (("80%", 0.80), ("95%", 0.95))

AuditKind = Literal["query", "canaries", "probability", "pairwise"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The checked settings of an audit of any kind.

    They are declared in ``auditor.defaults``; the docstring of ``auditor.audit`` says what each is for.
    """

    samples: int = SAMPLES
    method: MethodName = "fixed"
    search: int | None = None
    seconds: float | None = None
    events: tuple[EventKind, ...] = (VALUES,)
    shrink: bool = True
    prove: Prove = False
    seed: int = 0
    execution: Execution = field(default_factory=Execution)
    planted: int = PLANTED
    observe: tuple[ObserveKind, ...] = ()
    weak: str | None = None
    sharpen: bool = False

    def __post_init__(self) -> None:
        require_known("method is", [self.method], get_args(MethodName))
        if self.prove not in (True, False, "only", "briefly"):
            raise InvalidInputError(f'prove is {self.prove!r}; it must be true, false, "only" or "briefly"')
        if not self.events or not {*self.events} <= {*get_args(EventKind)}:
            raise InvalidInputError(f"events are {list(self.events)}; they must be values, bits, or both")
        require_known("observe has", self.observe, get_args(ObserveKind))
        if self.weak is not None and (not isinstance(self.weak, str) or len(self.weak.split()) < 2):
            raise InvalidInputError(
                f"weak is {self.weak!r}; it must say in a few words why a weak pass is accepted, such as "
                '"a call takes 40 ms, and 4,000 outputs are what a night allows"'
            )
        for name, least in {"samples": FEWEST, "search": 0, "seed": 0, "planted": 0}.items():
            value = getattr(self, name)
            if value is None and name == "search":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidInputError(f"{name} is {value!r}; it must be an integer of at least {least}")
            if value > MOST and name in ("samples", "search"):
                raise InvalidInputError(f"{name} is {value:,}; at most {MOST:,} outputs can be counted")
        if self.planted > MOST_PLANTED:
            raise InvalidInputError(
                f"planted is {self.planted:,}; it must be at most {MOST_PLANTED:,}, such as {PLANTED}"
            )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Settings":
        """Return the settings given by keywords, including the settings of the execution.

        Raises InvalidInputError for unknown keywords and for values out of range.
        """
        require_keywords("there is no setting", given, SettingsKeywords.__annotations__)
        of_execution = {setting.name for setting in fields(Execution)} & set(given)
        chosen = {name: value for name, value in given.items() if name not in of_execution}
        for name in {"events", "observe"} & chosen.keys():
            chosen[name] = tuple(chosen[name])
        return cls(**chosen, execution=Execution(**{name: given[name] for name in of_execution}))


@dataclass(frozen=True, slots=True)
class Plan:
    """The order for an audit: everything that decides its outcome.

    ``alpha`` is the level: the audit's equal share (Bonferroni) of the error that its file allows, 1 − confidence for a
    single audit. If a file made the plan, ``rerun`` holds the arguments of `auditor run` that repeat the audit. With a
    ``test``, such as the rule of an earlier report, nothing is learned. ``store`` keeps finished work, so that an audit
    can be resumed, or repeated without its mechanism. ``assumptions`` are choices of an adapter that its object does
    not state. ``earlier`` is a violation to count again first. If an earlier violation of the same claim cannot be counted
    again, ``least`` is the number of outputs that showed it (of pairs for a query), and fewer are no pass. Pairs on which
    outputs show an event of ``without`` are left out of the search.
    """

    name: str
    source: Source
    claim: Claim
    neighbours: Domain | Canaries
    alpha: float
    settings: Settings = field(default_factory=Settings)
    expect: Verdict = Verdict.NO_VIOLATION_FOUND
    rerun: tuple[str, ...] = ()
    test: Test[Any] | None = None
    store: AuditStore = field(default_factory=AuditStore)
    assumptions: tuple[str, ...] = ()
    earlier: Earlier | None = None
    least: int = 0
    without: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        if self.name != self.name.encode("utf-8", "replace").decode("utf-8"):
            raise InvalidInputError(f"name is {self.name!r}; it has characters that UTF-8 cannot encode")
        if not isinstance(self.claim, Claim):
            raise InvalidInputError(f"claim is {self.claim!r}; it must be a claim, such as PureDP(1.0)")
        if not isinstance(self.neighbours, Canaries):
            require_domain(self.neighbours)
        if isinstance(self.neighbours, Pairs) and not isinstance(self.claim, Probability):
            check_differ(self.neighbours.corners())
        if isinstance(self.claim, PrivacyClaim):
            self.method(self.settings.samples)
        one_run = self.settings.method == "one-run"
        is_claim = isinstance(self.claim, PrivacyClaim) and self.claim.is_stated
        if one_run != isinstance(self.neighbours, Canaries) or (one_run and not is_claim):
            raise InvalidInputError(
                f"method is {self.settings.method}, the claim {self.claim}, and neighbours are "
                f"{self.neighbours}; `method: one-run`, `domain: canaries` "
                "and a privacy claim go together"
            )

        observed = self.settings.observe
        if observed and self.kind != "pairwise":
            raise InvalidInputError(
                f"observe is {list(observed)}; `observe` needs a privacy claim on pairs of neighbours; the claim is {self.claim} "
                f"and the method is {self.settings.method}"
            )

    @property
    def domain(self) -> Domain:
        """The domain of the pairs. For canaries, it holds a pair on which the mechanism can be tried."""
        return self.neighbours.pairs() if isinstance(self.neighbours, Canaries) else self.neighbours

    @property
    def kind(self) -> AuditKind:
        """The kind of audit, which follows from the claim, the neighbours and the method."""
        if isinstance(self.claim, QueryClaim):
            return "query"
        if isinstance(self.neighbours, Canaries):
            return "canaries"
        if isinstance(self.claim, Probability):
            return "probability"
        return "pairwise"

    def method(self, outputs: int, claim: Claim | None = None, share: float = 1.0) -> AnyMethod:
        """Return the audit's method for a bound from so many outputs, at a share of the level.

        ``claim`` is by default the plan's.

        Raises InvalidInputError if the claim has no such method.
        """
        settings = self.settings
        claim = claim or self.claim
        answers = (SESSION_ANSWERS,) if isinstance(self.neighbours, Dialogues) else ()
        return method_for(claim, settings.method, share * self.alpha, outputs, (*settings.events, *answers))

    def drawer(self) -> Drawer:
        """Return the drawer, in a process of its own; for Python without ``isolate``, in this process.

        Raises MechanismError if the mechanism cannot be imported, or the program cannot be found.
        """
        execution = self.settings.execution
        if execution.isolate or self.source.is_program:
            return isolated(self.source, execution.timeout, execution.ends)
        return self.source.drawer()

    def may_take(self, trial: Trial, workers: int = 0) -> float:
        """Estimate the seconds of the audit from the cost of an output. ``workers`` is by default the plan's number.

        The estimate omits selections, planted faults, the smallest pair and other audits. A refuted claim takes less.
        """
        workers = workers or processes(self.settings.execution.workers)
        outputs = sum(
            planned.search + planned.bound for planned in rounds_for(self.settings.samples, self.settings.search)
        )
        each = trial.seconds + 3e-6 * trial.numbers  # a worker and the learning take 3 µs a number
        return min(self.settings.seconds or math.inf, outputs * each / workers)

    def with_more(self, times: float = GROWTH) -> str:
        """Say which setting to raise, and to what, for ``times`` times the outputs; by default for one more round."""
        name = "samples" if self.settings.seconds is None else "seconds"
        return f"raise `{name}` to {min(MOST, round_error_up(times * getattr(self.settings, name))):,.12g}"

    def with_settings(self, **changes: Any) -> "Plan":
        """Return the plan with some settings changed."""
        return replace(self, settings=replace(self.settings, **changes))


def as_audited(source: Source, neighbours: Any, settings: Settings) -> Source:
    """Return the source for an audit. It gives transcripts if the mechanism is a session, draws the batches of an epoch, begins
    at the initial parameters of canaries, and adds what is observed.

    Raises InvalidInputError if a program is to be observed, or to receive batches or initial parameters.
    """
    if isinstance(neighbours, Dialogues):
        if loader_of(neighbours.base):
            raise InvalidInputError(
                "a session takes data sets, and the neighbours are batches of an epoch; give their own domain"
            )
        source = source.wrapped(SessionMechanism)
    elif (loader := loader_of(neighbours)) is not None:
        if source.is_program:
            raise InvalidInputError(
                f"{source.name} is a program, and batches are drawn in Python; call it in a function of batches and rng"
            )
        source = source.wrapped(InBatches(loader))
    elif isinstance(neighbours, Canaries) and neighbours.initial is not None:
        if source.is_program:
            raise InvalidInputError(
                f"{source.name} is a program, which cannot be given `initial` of the canaries; let it begin at them itself"
            )
        source = source.wrapped(BeginningAt(neighbours.initial))
    return observing(source, settings.observe)


@dataclass(frozen=True, slots=True)
class Progress:
    """A phase of an audit has drawn ``done`` of the ``planned`` outputs.

    ``seconds`` is how long the whole audit may take, and 0 if this is not told.
    """

    audit: str
    phase: Phase
    done: int
    planned: int
    seconds: float = 0.0


Listener = Callable[[Progress], None]


def with_violation(plan: Plan, violation: AuditResult) -> tuple[Plan, str]:
    """Return the plan with an earlier violation of its audit, to be counted again; and "".

    If the violation cannot be counted again, return a plan that needs as many outputs as showed it, if the claim is the
    same, and the reason. There is no reason if no violation of this kind of audit can be counted again.
    """
    why = ""
    if plan.kind == "pairwise":
        try:
            method, events = plan.settings.method, plan.settings.events
            return replace(plan, earlier=earlier_violation(plan.claim, method, events, plan.domain, violation)), ""
        except AuditorError as error:
            why = str(error)
    if violation.claim != plan.claim:
        return plan, why or f"its claim is {violation.claim}, but the claim is now {plan.claim}"
    return replace(plan, least=violation.tried.pairs if plan.kind == "query" else violation.outputs.bound), why


def remembering(plan: Plan, violation: str) -> Plan:
    """Return the plan with the violation that the store keeps, as text; if it keeps nothing, with this one, or none if "".

    A run that is resumed may have overwritten the earlier report. A replay takes what was recorded, if anything.
    """
    kept = plan.store.recall("earlier", lambda: violation, "")
    return with_violation(plan, from_text(kept))[0] if kept else plan


def journalled(plan: Plan, store: Store) -> Plan:
    """Return the plan with a file that keeps its finished work. Work that is in the file is not done again."""
    return replace(plan, store=AuditStore(Mode.RESUME, store, plan.name))


def recorded(plan: Plan, store: Store) -> Plan:
    """Return the plan with all outputs kept in a file."""
    kept = AuditStore(Mode.RECORD, store, plan.name)
    return replace(plan, store=kept, rerun=kept.recall("rerun", lambda: plan.rerun))


def replayed(plan: Plan, store: Store) -> Plan:
    """Return the plan with the outputs that ``recorded`` kept. Nothing is imported or started."""
    kept = AuditStore(Mode.REPLAY, store, plan.name)
    execution = replace(plan.settings.execution, workers=1, isolate=False, timeout=None)
    source = PythonSource(plan.source.name, plan.source.parameters, function=_only_recorded)
    # A replay reports the command that repeats the recorded audit.
    with kept.name_the_cause():
        rerun = tuple(map(str, kept.recall("rerun", lambda: plan.rerun)))
    return replace(plan.with_settings(execution=execution), source=source, store=kept, rerun=rerun)


def _only_recorded(dataset: Any, rng: Any, **parameters: Any) -> None:
    raise MechanismError("a replay does not run mechanisms")
