"""Results as data: everything a report shows, and everything needed to recompute its bounds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from auditor import __version__
from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.errors import InvalidInputError
from auditor.events.histogram import Histogram
from auditor.neighbours.pair import Pair
from auditor.verdict import Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = 1


@dataclass(frozen=True, slots=True)
class OutputsSpent:
    """How many outputs went into each phase, both sides together. None served for two."""

    search: int = 0
    selection: int = 0
    bound: int = 0
    shrink: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return {"search": self.search, "selection": self.selection, "bound": self.bound, "shrink": self.shrink}


@dataclass(frozen=True, slots=True)
class ExactValue:
    """The true value of a claim's quantity on the pair, computed to within ``error``."""

    value: float
    error: float

    def to_dict(self) -> dict[str, float]:
        """Return both numbers by name."""
        return {"value": self.value, "error": self.error}


@dataclass(frozen=True, slots=True)
class Smallest:
    """The smallest pair, or data set, that still breaks the claim, and the event and the bound that fresh outputs gave on it.

    Of a query the event is its answers, which prove it. Beside the audit's own pair and bound, not instead of them: the
    verdict does not rest on it.
    """

    pair: Pair
    event: Mapping[str, Any]
    bound: Bound

    def to_dict(self) -> dict[str, Any]:
        """Return all three as they stand in report.json."""
        return {"pair": self.pair.to_dict(), "event": dict(self.event), "bound": self.bound.to_dict()}


@dataclass(frozen=True, slots=True)
class Tried:
    """Where an audit looked: the neighbours in words, how many pairs of them it tried, and the kinds of events.

    ``search`` is how many outputs the search was given, where that followed from its seconds: as many give it again.
    """

    neighbours: str
    pairs: int
    events: Sequence[str]
    search: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all by name."""
        told = {"neighbours": self.neighbours, "pairs": self.pairs, "events": list(self.events)}
        return told if self.search is None else {**told, "search": self.search}


@dataclass(frozen=True, slots=True)
class Illustration:
    """What shows an audit to the eye. The verdict does not rest on it.

    ``histograms`` are of the outputs that the event was chosen on; of a sequential audit, those that were bet on. ``growth`` lists
    (outputs, the bound they gave alone); only the last is a claim at the stated confidence, unless the audit was sequential.
    ``profile`` lists (ε, δ) with δ a lower bound at that ε; all hold together, at the confidence of the audit's bound.
    """

    histograms: Sequence[Histogram] = ()
    growth: Sequence[tuple[int, float]] = ()
    profile: Sequence[tuple[float, float]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all three as they stand in report.json."""
        return {
            "histograms": [histogram.to_dict() for histogram in self.histograms],
            "growth": [list(point) for point in self.growth],
            "profile": [list(point) for point in self.profile],
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """What was audited: the audit's name, the mechanism's, the claim, and the verdict that is expected."""

    name: str
    mechanism: str
    claim: Claim
    expected: Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the outputs say of the claim, at one level. All but the first two are None where the audit ended before.

    ``stop_reason`` says why no more outputs were drawn. ``event`` is what was looked at and counted, in words and plain
    numbers, as it stands in report.json. ``power`` lists which violation would have been caught with which chance. ``p_value``
    is the smallest chance of a false alarm at which these outputs refute the claim, ``alpha`` the chance that was allowed; both
    None where nothing is random. ``illustration`` holds what the plots show.
    """

    verdict: Verdict
    stop_reason: str
    bound: Bound | None = None
    event: Mapping[str, Any] | None = None
    power: Mapping[str, float] | None = None
    p_value: float | None = None
    alpha: float | None = None
    illustration: Illustration = Illustration()


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the audit was run: what it spent, whether the seed draws the same outputs again, and how to repeat it.

    ``reproduce`` is a command line that repeats the audit, or a call in Python that shows a violation again. ``drawn_by`` says
    what drew the outputs of the bound: no number depends on it. ``tried`` is None in a report of an earlier auditor.
    """

    outputs: OutputsSpent
    seconds: float
    reproducible: bool
    seed: int
    drawn_by: str = ""
    reproduce: str | None = None
    tried: Tried | None = None


@dataclass(frozen=True, slots=True)
class AuditResult:
    """One audit. ``bound``, ``pair``, ``event`` and ``power`` are None where it ended before there were any.

    ``exact`` is the true value on the pair, where it is known. ``smallest`` is None unless the claim was refuted and a smaller
    pair or a simpler event refutes it as well. ``warnings`` do not make the bound wrong, but a reader should know them.
    ``at_level`` returns the same audit judged at another alpha; None where nothing is random.
    """

    subject: Subject
    judgement: Judgement
    provenance: Provenance
    pair: Pair | None = None
    exact: ExactValue | None = None
    smallest: Smallest | None = None
    warnings: Sequence[str] = ()
    at_level: "Callable[[float], AuditResult] | None" = None

    @property
    def name(self) -> str:
        """The name of the audit."""
        return self.subject.name

    @property
    def mechanism(self) -> str:
        """The name of the mechanism."""
        return self.subject.mechanism

    @property
    def claim(self) -> Claim:
        """What was put to the test."""
        return self.subject.claim

    @property
    def expected(self) -> Verdict:
        """The verdict that was expected."""
        return self.subject.expected

    @property
    def passed(self) -> bool:
        """Whether the audit ended as expected."""
        return self.verdict == self.expected

    @property
    def verdict(self) -> Verdict:
        """How the audit ended."""
        return self.judgement.verdict

    @property
    def stop_reason(self) -> str:
        """Why no more outputs were drawn."""
        return self.judgement.stop_reason

    @property
    def bound(self) -> Bound | None:
        """What was proved."""
        return self.judgement.bound

    @property
    def event(self) -> Mapping[str, Any] | None:
        """What was looked at and counted, in words and plain numbers, as it stands in report.json."""
        return self.judgement.event

    @property
    def power(self) -> Mapping[str, float] | None:
        """The values of the quantity that would have been caught, by chance: "80%" and "95%"."""
        return self.judgement.power

    @property
    def p_value(self) -> float | None:
        """The smallest chance of a false alarm at which these outputs refute the claim; None where nothing is random."""
        return self.judgement.p_value

    @property
    def alpha(self) -> float | None:
        """The chance of a false alarm that was allowed; None where nothing is random."""
        return self.judgement.alpha

    @property
    def illustration(self) -> Illustration:
        """What the plots show."""
        return self.judgement.illustration

    @property
    def outputs(self) -> OutputsSpent:
        """How many outputs went into each phase."""
        return self.provenance.outputs

    @property
    def seconds(self) -> float:
        """How long the audit took."""
        return self.provenance.seconds

    @property
    def reproducible(self) -> bool:
        """Whether the same seed draws the same outputs again."""
        return self.provenance.reproducible

    @property
    def seed(self) -> int:
        """The root of all randomness."""
        return self.provenance.seed

    @property
    def drawn_by(self) -> str:
        """What drew the outputs of the bound; no number depends on it."""
        return self.provenance.drawn_by

    @property
    def reproduce(self) -> str | None:
        """A command line that repeats the audit, or a call in Python that shows a violation again."""
        return self.provenance.reproduce

    @property
    def tried(self) -> Tried | None:
        """Where the audit looked; None in a report of an earlier auditor."""
        return self.provenance.tried

    def to_dict(self) -> dict[str, Any]:
        """Return the audit's entry of report.json."""
        return {
            "name": self.name,
            "mechanism": self.mechanism,
            "verdict": str(self.verdict),
            "expected": str(self.expected),
            "passed": self.passed,
            "claim": self.claim.to_dict(),
            "bound": self.bound.to_dict() if self.bound else None,
            "pair": self.pair.to_dict() if self.pair else None,
            "event": dict(self.event) if self.event else None,
            "smallest": self.smallest.to_dict() if self.smallest else None,
            "reproduce": self.reproduce,
            "exact": self.exact.to_dict() if self.exact else None,
            "tried": self.tried.to_dict() if self.tried else None,
            "outputs": self.outputs.to_dict(),
            "power": dict(self.power) if self.power else None,
            "budget": {"allowed_error": self.alpha, "p_value": self.p_value},
            "stop_reason": self.stop_reason,
            "drawn_by": self.drawn_by,
            "warnings": list(self.warnings),
            "seconds": round(self.seconds, 3),
            "reproducible": self.reproducible,
            "seed": self.seed,
            "illustration": self.illustration.to_dict(),
        }

    def __str__(self) -> str:
        """Return the verdict, what was found in a sentence or two, and the warnings."""
        from auditor.report.failure import headline
        from auditor.report.phrases import finding

        warnings = (f"warning: {warning}" for warning in self.warnings)
        return "\n".join([f"{self.name}: {headline(self)}", finding(self), *warnings])

    def _repr_html_(self) -> str:
        """Return the audit as notebooks show it."""
        from auditor.report.html import to_cards

        return to_cards([self])

    def to_frame(self) -> "DataFrame":
        """Return the audit as a pandas frame of one row; see RunResult.to_frame."""
        return _frame([self])


@dataclass(frozen=True, slots=True)
class RunResult:
    """All audits of one configuration, under one error budget."""

    name: str
    confidence: float
    audits: Sequence[AuditResult]
    seconds: float
    auditor: str = __version__  # that made it

    @property
    def passed(self) -> bool:
        """Whether every audit ended as expected."""
        return all(audit.passed for audit in self.audits)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all: a violation, else inconclusive, else none found."""
        verdicts = {audit.verdict for audit in self.audits}
        for worst in (Verdict.VIOLATION, Verdict.INCONCLUSIVE):
            if worst in verdicts:
                return worst
        return Verdict.NO_VIOLATION_FOUND

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
            "seconds": round(self.seconds, 3),
            "audits": [audit.to_dict() for audit in self.audits],
        }

    def _repr_html_(self) -> str:
        """Return all audits as notebooks show them."""
        from auditor.report.html import to_cards

        return to_cards(self.audits)

    def to_frame(self) -> "DataFrame":
        """Return a pandas frame with a row for each audit, by name, and what can be compared between them as columns.

        Raises InvalidInputError where pandas is not installed.
        """
        return _frame(self.audits)


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
            **{f"{phase}_outputs": spent for phase, spent in audit.outputs.to_dict().items()},
            "seconds": audit.seconds,
        }
        for audit in audits
    ]
    return pd.DataFrame(rows).set_index("name")
