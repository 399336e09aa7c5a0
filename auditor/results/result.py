"""Results as data: all that a report shows, and all that is needed to recompute its bounds."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Generic, NoReturn, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, Strict, TypeAdapter

from auditor import __version__
from auditor.accountants.outcome import AccountantResult
from auditor.bounds.curves import Box
from auditor.bounds.digits import round_floats
from auditor.errors import InvalidInputError, require_number
from auditor.events.histogram import Histogram
from auditor.results.fields import BoundField, Chance, ClaimField, Count, EventField, PairField, PowerField
from auditor.results.views import as_cards, as_text
from auditor.verdict import End, Verdict, end_of_audit, end_of_run, found_too_few

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")

FORMAT = 1
# The entry of an audit in report.json, in this order.
KEYS = (
    *("name", "mechanism", "verdict", "weak", "expected", "strict", "accepted", "passed"),
    *("claim", "bound", "pair", "event", "smallest", "further"),
    *("reproduce", "exact", "proof", "earlier", "tried", "outputs", "power", "budget", "stop_reason", "warnings"),
    *("reproducible", "seed", "illustration"),
)
# The keys that an entry may leave out.
OPTIONAL = frozenset({"further", "strict", "accepted", "proof", "earlier"})
# Annotates a field that report.json leaves out if the field is empty.
UNLESS_EMPTY = Field(exclude_if=lambda value: not value)


@dataclass(frozen=True, slots=True)
class OutputsSpent:
    """How many outputs went into each phase, both sides together. Each output counts in one phase only.

    ``recount`` are those in which the event of an earlier violation was counted again. They prove no bound. ``further``
    are those of the audit behind a violation, in all its phases.
    """

    search: Count = 0
    selection: Count = 0
    bound: Count = 0
    shrink: Count = 0
    recount: Annotated[Count, UNLESS_EMPTY] = 0
    further: Annotated[Count, UNLESS_EMPTY] = 0

    @property
    def total(self) -> int:
        """The outputs of all phases."""
        return self.search + self.selection + self.bound + self.shrink + self.recount + self.further

    def to_dict(self) -> dict[str, int]:
        """Return the numbers by name; of a recount and of further faults, only if there are any."""
        return {phase: n for phase, n in asdict(self).items() if n or phase not in ("recount", "further")}


@dataclass(frozen=True, slots=True)
class ExactValue:
    """The true value of a claim's quantity on the pair, computed to within ``error``."""

    value: float
    error: float


@dataclass(frozen=True, slots=True)
class Refutation:
    """A refutation by calculation: a lower ``bound`` on the claim's quantity on a ``pair``, by the probabilities of an event.

    The numbers are about the exact law of the mechanism over the reals. They have no sampling error.
    """

    pair: PairField
    bound: float
    event: EventField


@dataclass(frozen=True, slots=True)
class ProofFound:
    """How an attempt at a proof ended.

    ``status`` is "proved" for all data sets of the domain, "proved_for_pairs" for the listed pairs only, "not_proved",
    or "refuted" with a ``refutation``. ``bound`` is an upper bound on the claim's quantity over the reals, None if none
    was found. ``scope`` says for which data sets, and for which scripts of a session, the bound holds. ``pairs`` is the
    number of pairs listed. ``reason`` says why the claim is not proved.
    """

    status: str
    bound: float | None
    scope: str
    rule: str = ""
    reason: str | None = None
    pairs: Count | None = None
    refutation: Annotated[Refutation | None, UNLESS_EMPTY] = None

    def __post_init__(self) -> None:
        if (self.status == "refuted") != (self.refutation is not None):
            raise InvalidInputError("a refutation stands where the status is refuted, and nowhere else")

    @property
    def proved(self) -> bool:
        """Whether the claim is proved, for all data sets of the domain."""
        return self.status == "proved"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a session, in words, and the typical answer to it on either side: the commonest, or the median."""

    question: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest pair, or data set, that still breaks the claim, with the event and the bound of fresh outputs on it.

    The event of a query is its answers. The verdict does not rest on the smallest pair, but on the audit's own pair and
    bound. If the pair has a script, ``dialogue`` holds the questions and answers.
    """

    pair: PairField
    event: EventField
    bound: BoundField
    dialogue: Annotated[Sequence[Turn], UNLESS_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class Further:
    """A further fault: on a pair whose outputs never showed the event of the violation, nor of the further faults before; or, if
    the claim was refuted by ranges of numbers, an exception or another kind of output.

    Its ``event`` was counted in fresh outputs, as that of the audit. Each further fault was looked for only after the one
    before had been proved, so all of them together hold with the confidence of the ``bound``.
    """

    pair: PairField
    event: EventField
    bound: BoundField


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the search: its name, the number of pairs, and the number of outputs on all of them together.

    ``caught`` is the smallest value of the claim's quantity that the outputs on one pair detect with 95 % probability,
    if the loss shows on all outputs. If the loss shows on some outputs only, the smallest value detected is larger.
    """

    name: str
    pairs: Count
    outputs: Count
    caught: float


@dataclass(frozen=True, slots=True)
class Probed:
    """The faults that were planted in outputs of the mechanism, in words: those that its search ``found``, and those it ``missed``.

    So many outputs on the right pair would show each of them. ``kinds_missed`` has the kinds of facts with which too few were
    found, by more than chance: how many were found, and how many planted. ``with_more`` is the first of TIMES the outputs
    with which enough are found, and how many then are; None unless too few were found, or if there is none.
    """

    found: Sequence[str]
    missed: Sequence[str]
    with_more: Annotated[tuple[Count, Count] | None, UNLESS_EMPTY] = None
    kinds_missed: Annotated[Mapping[str, tuple[Count, Count]], UNLESS_EMPTY] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.all:
            raise InvalidInputError("no fault was found or missed; leave it out where none was planted")

    @property
    def all(self) -> int:
        """How many faults were planted."""
        return len(self.found) + len(self.missed)

    @property
    def too_few(self) -> bool:
        """Whether too few faults were found, of all or with one kind of fact, by more than chance (``found_too_few``)."""
        return bool(self.kinds_missed) or found_too_few(len(self.found), self.all)


@dataclass(frozen=True, slots=True)
class Tried:
    """The scope of an audit: the neighbours in words, the number of pairs tried, and the kinds of events.

    ``planted`` says which planted faults the search finds; None if none were planted. ``observed`` is what outputs held
    in addition to the value. ``limits`` are the limits of the data sets, for auditor.neighbours.limits to compare.
    """

    neighbours: str
    pairs: Count
    events: Sequence[str]
    stages: Annotated[Sequence[Stage], UNLESS_EMPTY] = ()
    planted: Annotated[Probed | None, UNLESS_EMPTY] = None
    observed: Annotated[Sequence[str], UNLESS_EMPTY] = ()
    limits: Annotated[Mapping[str, Any], UNLESS_EMPTY] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Illustration:
    """The data of the plots. The verdict does not rest on it.

    ``histograms`` show the outputs from which the event was learned. ``growth`` lists (outputs, bound) for each round;
    all these bounds hold simultaneously with the stated confidence. ``profile`` lists (ε, δ), where δ is a lower bound
    at that ε; all δ hold simultaneously with the confidence of the audit's bound. ``dialogue`` is the dialogue of a
    pair with a script. ``band`` lists for each threshold of a score the limits of its type I error and of its type II error, which
    hold simultaneously with the bound.
    """

    histograms: Sequence[Histogram] = ()
    growth: Sequence[tuple[Count, float]] = ()
    profile: Sequence[tuple[float, float]] = ()
    dialogue: Annotated[Sequence[Turn], UNLESS_EMPTY] = ()
    band: Annotated[Sequence[Box], UNLESS_EMPTY] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a claim by its outputs, at one level.

    ``stop_reason`` says why no more outputs were drawn. ``bound`` is the proved bound. ``event`` is the event that was
    counted; its fields have the names of report.json. ``power`` holds the smallest violations that the audit detects
    with probability "80%" and "95%". ``p_value`` is the smallest level at which these outputs refute the claim, and
    ``alpha`` the level that was allowed. Both are None if nothing is random. ``round`` is the number, from 0 on, of the
    round that gave the bound. The bound has a ``share`` of ``alpha``.
    """

    verdict: Verdict
    stop_reason: str
    bound: BoundField | None = None
    event: EventField | None = None
    power: PowerField | None = None
    p_value: Chance | None = None
    alpha: Chance | None = None
    share: Chance = 1.0
    round: Count = 0
    illustration: Illustration = Illustration()


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the audit was run: the outputs spent, the seed, and whether the seed draws the same outputs again.

    ``tried`` is the scope of the audit. ``drawn_by`` names the workers that drew the outputs of the bound. No number
    depends on the workers. While n audits run side by side, each counts 1/n of the time, so the ``seconds`` of all
    audits add up to the time they took. ``seconds`` and ``drawn_by`` differ from run to run and are not in reports:
    read back, they are None and "". ``reproduce`` is a command line that repeats the audit, or a call in Python that
    shows a violation again.
    """

    outputs: OutputsSpent
    reproducible: Annotated[bool, Strict()]
    seed: Annotated[int, Strict()]
    tried: Tried
    seconds: float | None = None
    drawn_by: str = ""
    reproduce: str | None = None


class _Of(Generic[T]):
    """A descriptor for an attribute of a result's part, under the same name in the result."""

    def __init__(self, part: str, doc: str) -> None:
        self._part, self.__doc__ = part, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, result: object, owner: type) -> T:
        value: Any = self if result is None else getattr(getattr(result, self._part), self._name)
        return value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class AuditResult:
    """One audit: its verdict, bound, event and power, with the data behind them.

    ``name``, ``mechanism``, ``claim`` and ``expected`` are those of the audit. ``pair`` is the pair that was tested,
    and ``exact`` the true value on this pair, if known. ``smallest`` is a smaller pair or a simpler event that refutes
    the claim as well, or None. ``warnings`` do not make the bound wrong. ``proof`` says how an attempt at a proof
    ended, or is None. ``earlier`` says whether the violation of an earlier report is still there, or is None.
    ``strict`` says whether a weak pass fails. ``accepted`` is the reason for which a weak pass is accepted, and empty if
    none is. ``further`` holds the faults behind a violation by an exception, a kind of output or a single value.
    """

    name: str
    mechanism: str
    claim: ClaimField
    expected: Verdict
    judgement: Judgement
    provenance: Provenance
    pair: PairField | None = None
    exact: ExactValue | None = None
    smallest: Smallest | None = None
    warnings: Sequence[str] = ()
    proof: ProofFound | None = None
    earlier: str | None = None
    strict: Annotated[bool, Strict()] = False
    accepted: Annotated[str, UNLESS_EMPTY] = ""
    further: Annotated[tuple[Further, ...], UNLESS_EMPTY] = ()

    verdict = _Of[Verdict]("judgement", "The verdict on the claim.")
    stop_reason = _Of[str]("judgement", "Why no more outputs were drawn.")
    bound = _Of[BoundField | None](
        "judgement", "The proved bound on the claim's quantity, with its confidence; None if the audit ended before."
    )
    event = _Of[EventField | None]("judgement", "The event that was counted; its fields have the names of report.json.")
    power = _Of[Mapping[str, float] | None](
        "judgement", 'The smallest violations on this event that the audit detects with probability "80%" and "95%".'
    )
    p_value = _Of[float | None](
        "judgement",
        "The p-value: the smallest error at which these outputs refute the claim; None if nothing is random.",
    )
    alpha = _Of[float | None]("judgement", "The chance of a false alarm that was allowed; None if nothing is random.")
    illustration = _Of[Illustration]("judgement", "The data of the plots.")
    outputs = _Of[OutputsSpent]("provenance", "How many outputs went into each phase.")
    seconds = _Of[float | None]("provenance", "How long the audit took; None in a report that was read.")
    reproducible = _Of[bool]("provenance", "Whether the seed draws the same outputs again.")
    seed = _Of[int]("provenance", "The root of all randomness.")
    drawn_by = _Of[str]("provenance", 'The workers that drew the outputs of the bound; "" in a report that was read.')
    reproduce = _Of[str | None](
        "provenance", "A command line that repeats the audit, or a call in Python that shows a violation again."
    )
    tried = _Of[Tried]("provenance", "Where the search looked.")
    planted = _Of[Probed | None](
        "tried", "The faults that were planted in the mechanism after a pass, and which of them the search found."
    )

    @property
    def weak(self) -> bool:
        """Whether this is a pass whose search found too few of the faults that its outputs could show, or that a warning
        calls weak.

        A pass whose claim is proved for the whole domain is not weak.
        """
        missed = self.planted is not None and self.planted.too_few
        warned = any(warning.startswith("weak: ") for warning in self.warnings)
        proved = self.proof is not None and self.proof.proved
        return (warned or missed) and not proved and self.verdict is Verdict.NO_VIOLATION_FOUND

    @property
    def accepts_weak(self) -> bool:
        """Whether this is a weak pass that is accepted, for the reason in ``accepted``."""
        return self.weak and bool(self.accepted)

    @property
    def end(self) -> End:
        """What the end of the audit means: as expected, no answer, a weak pass that fails, or not as expected."""
        return end_of_audit(self.verdict, self.expected, weak=self.weak, strict=self.strict, accepted=self.accepted)

    @property
    def passed(self) -> bool:
        """Whether the audit ended as expected. Under ``strict``, a weak pass does not, unless it is accepted."""
        return self.end is End.AS_EXPECTED

    def __bool__(self) -> NoReturn:
        """Raise TypeError. Otherwise ``assert auditor.audit(...)`` would pass on a violation."""
        raise _no_truth(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit's entry of report.json."""
        [parts] = _as_plain().dump_python([self], mode="json")
        flat = {**parts, **parts["judgement"], **parts["provenance"], "passed": self.passed, "weak": self.weak}
        flat |= {"strict": self.strict or None, "accepted": self.accepted or None}
        flat["further"] = [
            {**fault, "bound": round_floats(fault["bound"])} for fault in flat.get("further", ())
        ] or None
        # Computed values are rounded. All other values are written in full, since bounds are computed from these again.
        derived = ("bound", "exact", "proof", "tried", "power", "illustration")
        flat |= {key: round_floats(flat[key]) for key in derived}
        if self.smallest is not None:
            flat["smallest"]["bound"] = round_floats(flat["smallest"]["bound"])
        flat["budget"] = {"allowed_error": self.alpha, "p_value": round_floats(self.p_value)}
        if self.judgement.share < 1:
            flat["budget"] |= {"share": self.judgement.share, "round": self.judgement.round}
        return {key: flat[key] for key in KEYS if key not in OPTIONAL or flat[key] is not None}

    def __str__(self) -> str:
        """Return the verdict, what was found in a sentence or two, and the warnings."""
        return as_text(self)

    def _repr_html_(self) -> str:
        """Return the audit as notebooks show it."""
        return as_cards([self])

    def to_frame(self) -> "DataFrame":
        """Return the audit as a pandas frame of one row; see RunResult.to_frame."""
        return _frame([self])


def _no_truth(verdict: Verdict) -> TypeError:
    return TypeError(
        f'a result is neither true nor false; this verdict is "{verdict}"; write `assert result.passed`, '
        'or compare `result.verdict`, such as with "no_violation_found"'
    )


def _parts(entry: Any) -> Any:
    """Pass the whole entry of report.json to each part of a result. Each part picks its own fields."""
    if not isinstance(entry, dict):
        return entry
    for key in (*KEYS, *entry):
        if key not in KEYS or (key not in entry and key not in OPTIONAL):
            raise InvalidInputError(
                f'it {"has" if key in entry else "lacks"} "{key}": another version wrote it; run the audit again'
            )
    budget = entry.get("budget")
    if not isinstance(budget, dict):
        raise InvalidInputError('"budget" is not an object')
    judged = {
        **entry,
        "alpha": budget.get("allowed_error"),
        **{key: budget[key] for key in ("p_value", "share", "round") if key in budget},
    }
    return {**entry, "judgement": judged, "provenance": entry}


class ChangeKind(StrEnum):
    """The meaning of a change for a release."""

    WORSE = "worse"
    BETTER = "better"
    NOTE = "note"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two runs of an audit, in a line."""

    kind: ChangeKind
    audit: str
    what: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed since a baseline. With ``strict``, what could not be compared fails as well."""

    baseline: str
    changes: Sequence[Change]
    strict: Annotated[bool, Strict()] = False

    @property
    def failures(self) -> list[Change]:
        """The changes that fail a release."""
        fail = {ChangeKind.WORSE} | ({ChangeKind.NOT_COMPARED} if self.strict else set())
        return [change for change in self.changes if change.kind in fail]


@dataclass(frozen=True, slots=True)
class RunResult:
    """All audits of one configuration, under one error budget. ``seconds`` is None in a report that was read.

    ``compared`` says what changed since a baseline; None if the run has none. ``missing`` names the files of the run that could
    not be written, each with the reason. ``accountants`` are the audits of accountants, which draw nothing, and have no part in
    the budget.
    """

    name: str
    confidence: float
    audits: list[Annotated[AuditResult, BeforeValidator(_parts)]]
    seconds: float | None = None
    auditor: str = __version__  # the version that made it
    compared: Comparison | None = None
    missing: Sequence[str] = ()
    accountants: Sequence[AccountantResult] = ()

    def __post_init__(self) -> None:
        require_number("confidence", self.confidence, 0, 1, low_open=True, high_open=True)

    @property
    def failures(self) -> list[Change]:
        """The changes since the baseline that fail the run."""
        return [] if self.compared is None else self.compared.failures

    @property
    def every(self) -> list[AuditResult | AccountantResult]:
        """The audits of mechanisms, and then those of accountants."""
        return [*self.audits, *self.accountants]

    @property
    def end(self) -> End:
        """What the end of the run means: the worst end of its audits, a change since the baseline, or a missing file."""
        ends = [audit.end for audit in self.every]
        return end_of_run(ends, failed_changes=len(self.failures), missing_files=len(self.missing))

    @property
    def passed(self) -> bool:
        """Whether every audit ended as expected, nothing got worse since the baseline, and every file was written."""
        return self.end is End.AS_EXPECTED

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the audits, in this order: violation, inconclusive, no violation found, measured. Without audits,
        inconclusive.
        """
        order = (Verdict.MEASURED, Verdict.NO_VIOLATION_FOUND, Verdict.INCONCLUSIVE, Verdict.VIOLATION)
        return max((audit.verdict for audit in self.every), key=order.index, default=Verdict.INCONCLUSIVE)

    def __bool__(self) -> NoReturn:
        """Raise TypeError. Otherwise ``assert read_report(...)`` would pass on a violation."""
        raise _no_truth(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole of report.json."""
        return {
            "version": FORMAT,
            "auditor": self.auditor,
            "name": self.name,
            "passed": self.passed,
            "verdict": str(self.verdict),
            "confidence": self.confidence,
            "budget": {
                "allowed_error": 1 - self.confidence,
                "audits": sum(audit.alpha is not None for audit in self.audits),
                "shared": "Holm's step-down",
            },
            **({} if self.compared is None else {"compared": asdict(self.compared)}),
            **({"missing": [*self.missing]} if self.missing else {}),
            "audits": [audit.to_dict() for audit in self.audits],
            **({"accountants": [audit.to_dict() for audit in self.accountants]} if self.accountants else {}),
        }

    def _repr_html_(self) -> str:
        """Return all audits as notebooks show them."""
        return as_cards(self.audits)

    def to_frame(self) -> "DataFrame":
        """Return a pandas frame with a row for each audit, by name. The columns can be compared between audits.

        Raises InvalidInputError if pandas is not installed.
        """
        return _frame(self.audits)


@functools.cache
def _as_plain() -> TypeAdapter[list[AuditResult]]:
    # Without this configuration pydantic writes infinities as None. Only the adapter of a list takes a configuration.
    return TypeAdapter(list[AuditResult], config=ConfigDict(ser_json_inf_nan="constants"))


def _frame(audits: Sequence[AuditResult]) -> "DataFrame":
    try:
        import pandas as pd
    except ImportError:
        raise InvalidInputError("to_frame needs pandas, which is not installed; pip install pandas") from None
    rows = [
        {
            "name": audit.name,
            "mechanism": audit.mechanism,
            "claim": str(audit.claim),
            "verdict": str(audit.verdict),
            "expected": str(audit.expected),
            "passed": audit.passed,
            "quantity": audit.claim.quantity,
            "claimed": audit.claim.value,
            "bound": audit.bound.value if audit.bound else None,
            "confidence": audit.bound.confidence if audit.bound else None,
            "exact": audit.exact.value if audit.exact else None,
            "p_value": audit.p_value,
            **{f"{phase}_outputs": spent for phase, spent in asdict(audit.outputs).items()},
            "seconds": audit.seconds,
        }
        for audit in audits
    ]
    return pd.DataFrame(rows).set_index("name")
