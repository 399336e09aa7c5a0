"""The sentences that the forms of a report share, and one audit as plain text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, assert_never

from auditor.accountants.outcome import AccountantResult
from auditor.auditing.reach import reach_of
from auditor.bounds.digits import format_rounded_up, round_to_side
from auditor.bounds.evidence import Bound
from auditor.claims import ApproximateDP, Claim, PrivacyProfile
from auditor.errors import duration, false_alarms, how_many, visible
from auditor.events.observed import (
    CalculatedEvent,
    Observed,
    ObservedCanaries,
    ObservedCurve,
    ObservedProfile,
    ObservedReport,
    ObservedRule,
    ObservedScore,
    QueryAnswers,
    SideCounts,
    counted_events,
)
from auditor.neighbours.pair import Relation, pair_words
from auditor.prover import Scope
from auditor.report.guess_words import guess_words
from auditor.report.pair_table import PAIR, pair_tables
from auditor.results.result import AuditResult, Further, OutputsSpent, Refutation, RunResult, Smallest
from auditor.verdict import Verdict

# The part of a warning that asks for more outputs: the setting, its number, and perhaps what so many outputs find.
RAISED = re.compile(r"raise (`\w+`) to (\d+(?:,\d+)*)(, with which it finds \d+)?")


Shown = TypeVar("Shown", AuditResult, AccountantResult)


def verdict_words(verdict: Verdict) -> str:
    """Return the verdict in words.

    >>> verdict_words(Verdict.NO_VIOLATION_FOUND)
    'no violation found'
    """
    return verdict.value.replace("_", " ")


def number(value: float | None) -> str:
    """Write a bound with three digits behind the point, which suffice to compare it with a claim.

    >>> number(0.98765), number(math.inf), number(None)
    ('0.988', '∞', '–')
    """
    if value is None:
        return "–"
    return "∞" if math.isinf(value) else f"{value:.3f}"


def bound_words(audit: AuditResult) -> str:
    """Write what was proved: the quantity, the side of the bound, and its value."""
    return "–" if audit.bound is None else proved_words(audit.claim, audit.bound)


def proved_words(claim: Claim, bound: Bound) -> str:
    """Write the quantity of a claim, the side of the bound, and its value."""
    upper = bound.side == "upper"
    return f"{claim.symbol} {'≤' if upper else '≥'} {_no_more_than_proved(bound.value, upper)}"


def _no_more_than_proved(value: float, upper: bool) -> str:
    """Round to three digits, to the side on which the bound still holds.

    >>> _no_more_than_proved(0.7228, False), _no_more_than_proved(0.7228, True), _no_more_than_proved(1.0, False)
    ('0.722', '0.723', '1.000')
    """
    if not math.isfinite(value):
        return number(value)
    if abs(value) > 1e12:  # too large to have been proved
        return f"{value:.3g}"
    # A double just below a decimal stands for that decimal.
    rounded = (math.ceil if upper else math.floor)(round(value * 1000, 6)) / 1000
    return f"{rounded:.3f}"


def _both_ends(audit: AuditResult) -> str:
    """Write the bound by sampling, and the bound by a proof if there is one."""
    proof = audit.proof
    if proof is None or (proof.bound is None and proof.refutation is None):
        return bound_words(audit)
    by_outputs = audit.bound is not None and not isinstance(audit.event, CalculatedEvent)
    ends = [bound_words(audit)] if by_outputs else []
    if proof.refutation is not None:
        ends.append(f"{calculated_words(audit.claim, proof.refutation)} by calculation")
    if proof.bound is not None:
        where = "" if proof.scope.startswith(Scope.DOMAIN) else ", on the pairs listed"
        ends.append(f"{audit.claim.symbol} ≤ {format_rounded_up(proof.bound)} by proof{where}")
    return "; ".join(ends)


def code_parts(text: str) -> list[tuple[str, bool]]:
    """Cut a message into parts, and say of each whether it is code, which messages write between backticks.

    >>> code_parts("raise `samples` to 800, or leave `search` out")
    [('raise ', False), ('samples', True), (' to 800, or leave ', False), ('search', True), (' out', False)]
    """
    parts = re.split("`([^`]+)`", text)
    return [(part, bool(place % 2)) for place, part in enumerate(parts) if part]


PASS = Verdict.NO_VIOLATION_FOUND
# The columns of the table of all audits. Each form of a report adds the verdict in its own way.
COLUMNS: dict[str, Callable[[AuditResult], str]] = {
    "audit": lambda audit: audit.name,
    "claim": lambda audit: str(audit.claim),
    "proved": _both_ends,
    "exact": lambda audit: "" if audit.exact is None else number(audit.exact.value),
    "would catch": lambda audit: number(audit.power["95%"]) if audit.power and audit.verdict is PASS else "",
    "faults": lambda audit: f"{len(audit.planted.found)}/{audit.planted.all}" if audit.planted else "",
}


def in_columns(audit: AuditResult) -> dict[str, str]:
    """Return the entries of the columns."""
    return {heading: words(audit) for heading, words in COLUMNS.items()}


ASSUMED = (
    "The proof assumes exact real arithmetic, an ideal generator, and a mechanism that depends on its arguments and its "
    "generator only."
)


CALCULATED = (
    "this is about the exact law of the mechanism as it was read, in real arithmetic and with an ideal generator; parameters "
    "count as known up to their rounding. `auditor prove --out DIR` writes a certificate."
)


def calculated_words(claim: Claim, found: Refutation) -> str:
    """Write the bound of a refutation by calculation."""
    return f"{claim.symbol} ≥ {_no_more_than_proved(found.bound, upper=False)}"


def proof_words(audit: AuditResult) -> str | None:
    """Say how an attempt at a proof ended; None if there was none."""
    proof = audit.proof
    if proof is None:
        return None
    listed = f"{how_many(proof.pairs or 0, 'pair')} that {'was' if proof.pairs == 1 else 'were'} listed"
    pairs = proof.scope.replace(Scope.PAIRS, listed) if proof.pairs else proof.scope
    bound = f"{audit.claim.symbol} ≤ {format_rounded_up(proof.bound)}, over the reals, for {pairs}"
    if proof.reason is None:
        return f"Proved{'' if proof.proved else ' for pairs only'}: {bound}. {ASSUMED}"
    weaker = f" Weaker bound proved: {bound}." if proof.bound is not None else ""
    found = proof.refutation
    if found is None:
        return f"Not proved: {proof.reason}.{weaker}"
    if isinstance(audit.event, CalculatedEvent):
        return f"Refuted by calculation, without sampling: {CALCULATED}{weaker}"
    event, loss = _event_words(found.event), calculated_words(audit.claim, found)
    where = f"on the neighbours {pair_words(found.pair)}, {event}; so {loss}"
    return f"Refuted by calculation too: {where}: {CALCULATED}{weaker}"


def ended(audit: AuditResult | AccountantResult, *, expected: bool = True) -> str:
    """Write the verdict, whether it is weak, and what was ``expected`` if the audit ended otherwise."""
    surprise = "" if audit.passed or not expected else f" (expected: {expected_words(audit)})"
    weak = " (weak, accepted)" if audit.accepts_weak else " (weak)" if audit.weak else ""
    return f"{verdict_words(audit.verdict)}{weak}{surprise}"


def expected_words(audit: AuditResult | AccountantResult) -> str:
    """Write how the audit should have ended."""
    not_weak = audit.strict and audit.expected is PASS and not audit.accepts_weak
    return f"{verdict_words(audit.expected)}{', not weak' if not_weak else ''}"


def urgent_first(audits: Iterable[Shown]) -> list[Shown]:
    """Put audits that did not end as expected first; otherwise keep the order."""
    return sorted(audits, key=lambda audit: audit.passed)


def finding(audit: AuditResult) -> str:
    """Say in one or two sentences what the audit found, and what was proved."""
    return " ".join(words for words, _ in finding_parts(audit))


def finding_parts(audit: AuditResult) -> list[tuple[str, bool]]:
    """Return the sentences of ``finding``, and of each whether it is a message of the auditor, or shows data."""
    of_data = [
        outputs_part(audit),
        (_smallest_words(audit), False),
        *((words, False) for words in _further_words(audit)),
    ]
    parts = [(planted_words(audit), True), *of_data, (reach_words(audit), True), (proof_words(audit), True)]
    parts += [(audit.earlier, True), (accepted_words(audit), False)]
    return [(words, is_message) for words, is_message in parts if words]


def outputs_part(audit: AuditResult) -> tuple[str, bool]:
    """Return the part of ``finding`` that the outputs show; no words if there is only a proof."""
    if audit.bound is None or audit.event is None:
        return "" if audit.proof is not None and audit.bound is None else f"No answer: {audit.stop_reason}.", True
    return _outputs_words(audit, audit.event, audit.bound), False


def reach_words(audit: AuditResult, *, timed: bool = False) -> str:
    """Say what the outputs of a pass could show on the right pair, and what the next step takes; "" if it is proved.

    ``timed`` adds the seconds of the step, which differ from run to run.
    """
    reach = None if is_proved(audit) else reach_of(audit)
    if reach is None:
        return ""
    if not (shown := shown_words(audit.claim, reach.scale, reach.rate)):
        return ""
    words = f"With 95 % probability, {how_many(reach.outputs, 'output')} on the right pair show {shown}."
    if (step := reach.step) is None:
        return words
    takes = f"{_too_small(audit.claim, step.scale)} takes `samples: {step.outputs:_}`"
    takes += f", about {duration(step.seconds)}" if timed and step.seconds is not None else ""
    return f"{words} {takes[:1].upper()}{takes[1:]}."


def shown_words(claim: Claim, scale: float, rate: float) -> str:
    """Say that outputs show noise ``scale`` times too small, and an outcome of one side only at this ``rate``; "" if neither.

    Each is ∞ if there is none. A rate of 0 is not known.
    """
    shown = [_too_small(claim, scale)] if scale < math.inf else []
    if 0 < rate <= 1:
        shown.append(f"what only one of the two data sets ever returns, at a rate of {rate_words(rate)} or more")
    return ", or ".join(shown)


def rate_words(rate: float) -> str:
    """Write a rate, not below it.

    >>> rate_words(0.0031), rate_words(0.412)
    ('1 of 322', '42 %')
    """
    return f"1 of {math.floor(1 / rate):,}" if rate <= 0.1 else f"{math.ceil(100 * rate)} %"


def _too_small(claim: Claim, scale: float) -> str:
    """Say how much too small noise is. With a δ, a loss does not follow from the noise alone."""
    if isinstance(claim, PrivacyProfile) or (isinstance(claim, ApproximateDP) and claim.delta):
        return f"a loss of {scale:.3g} times the claim"
    return f"noise {scale:.3g} times too small"


def accepted_words(audit: AuditResult) -> str:
    """Say why a weak pass is accepted; an empty text if none is."""
    return f"The weak pass is accepted: {audit.accepted.rstrip('.')}." if audit.accepts_weak else ""


def weak_words(audit: AuditResult) -> str:
    """Say why a pass is weak. If several reasons ask to raise a setting, the largest number replaces the others."""
    reasons = [warning.removeprefix("weak: ") for warning in audit.warnings if warning.startswith("weak: ")]
    words = "; ".join(reasons) or finding(audit)
    most = max(RAISED.finditer(words), key=lambda match: int(match[2].replace(",", "")), default=None)
    if most is None:
        return words
    return RAISED.sub(lambda match: match[0] if match[2] == most[2] else f"raise {most[1]} to {most[2]}", words)


def planted_words(audit: AuditResult) -> str | None:
    """Say which of the planted faults the search found; None if none were planted."""
    planted = audit.planted
    if planted is None:
        return None
    kinds = Counter(planted.missed).most_common()
    named = [f"{kind} ({times})" if times > 1 else kind for kind, times in kinds[:3]]
    not_seen = f"; not seen: {'; '.join(named + ['others'] * (len(kinds) > 3))}" if named else ""
    return f"Planted faults found: {len(planted.found)} of {planted.all} that the outputs could show{not_seen}."


# What outputs show, by the kind of event and the verdict. A pass stands for all verdicts that a kind does not have.
_SENTENCES = {
    (
        "outputs",
        Verdict.VIOLATION,
    ): "On the neighbours {pair}, {event}; this proves {bound}, above the claimed {claim}.",
    ("outputs", Verdict.MEASURED): "The mechanism loses at least {bound}: on the neighbours {pair}, {event}.",
    ("outputs", Verdict.INCONCLUSIVE): "No answer: {reason}; too few outputs to refute {claim}, however large the "
    "violation. The tightest pair found, {pair}, proves {bound}, within the claimed {claim}.",
    ("outputs", PASS): "The tightest pair found, {pair}, proves {bound}, within the claimed {claim}{power}.",
    ("query", Verdict.VIOLATION): "On {pair} {event}, which breaks the claim ({claim}).",
    ("query", PASS): "No counterexample among {reason}; the nearest: on {pair} {event}.",
    ("probability", Verdict.VIOLATION): "On {pair} {event}: {bound}; the claim is {claim}.",
    (
        "probability",
        PASS,
    ): "On {pair} {event}: {bound}, which {confirms} ({claim}); other data sets were only searched, not tested.",
    (
        "calculation",
        Verdict.VIOLATION,
    ): "On the neighbours {pair}, {event}; so {calculated}, above the claimed {claim}.",
    ("canaries", Verdict.VIOLATION): "{event}; this proves {bound}{apart}, above the claimed {claim}.",
    ("canaries", PASS): "{event}; this proves {bound}{apart}, within the claimed {claim}{power}.",
}
# What the audit detects, by the kind of event: at least this loss, or nothing.
_POWER = {
    "outputs": (
        "on this {look}, the audit detects {loss} with 95 % probability",
        "on this {look}, the audit cannot detect any violation with these outputs",
    ),
    "canaries": (
        "the audit detects {loss} on each canary with 95 % probability, if no canary affects another",
        "the audit cannot detect any violation with this number of canaries",
    ),
}


def _outputs_words(audit: AuditResult, event: Observed, bound: Bound) -> str:
    kinds: dict[type, str] = {QueryAnswers: "query", ObservedReport: "probability", ObservedCanaries: "canaries"}
    kinds[CalculatedEvent] = "calculation"
    kind = kinds.get(type(event), "outputs")
    sentence = _SENTENCES.get((kind, audit.verdict)) or _SENTENCES[kind, PASS]
    is_confirmed = isinstance(event, ObservedReport) and event.confirmed
    is_apart = isinstance(event, ObservedCanaries) and event.apart
    words = sentence.format(
        pair=pair_words(audit.pair),
        event=_event_words(event),
        bound=f"{bound_words(audit)} with {confidence_words(bound.confidence)} confidence",
        calculated=bound_words(audit),
        claim=audit.claim,
        reason=audit.stop_reason,
        power=_power_words(audit, kind),
        confirms="confirms the claim there" if is_confirmed else "neither refutes nor confirms the claim",
        apart=", if no canary affects another one's score" if is_apart else "",
    )
    guessed = guess_words(audit) if kind == "outputs" else ""
    return f"{words} {guessed}".rstrip()


def _power_words(audit: AuditResult, kind: str) -> str:
    if kind not in _POWER or not (audit.power or kind == "canaries"):
        return ""
    caught = (audit.power or {}).get("95%", math.inf)
    loss, look = (
        f"{audit.claim.symbol} = {number(caught)}",
        "event" if isinstance(audit.event, ObservedRule) else "evidence",
    )
    return "; " + _POWER[kind][math.isinf(caught)].format(loss=loss, look=look)


def _smallest_words(audit: AuditResult) -> str:
    small = audit.smallest
    if small is None or audit.verdict is not Verdict.VIOLATION:
        return ""
    proved = "" if isinstance(small.event, QueryAnswers) else f", which proves {smallest_proved(audit.claim, small)}"
    return f"The smallest that still breaks it: {pair_words(small.pair)}, where {_event_words(small.event)}{proved}."


def _further_words(audit: AuditResult) -> Iterator[str]:
    for fault in audit.further:
        on = f"on the neighbours {pair_words(fault.pair)}, {_event_words(fault.event)}"
        yield f"A further fault: {on}; this proves {smallest_proved(audit.claim, fault)}."


def smallest_proved(claim: Claim, small: Smallest | Further) -> str:
    """Write what was proved on a pair besides the audit's own and, unless nothing is random, with which confidence."""
    proved, confidence = proved_words(claim, small.bound), small.bound.confidence
    return proved if confidence == 1 else f"{proved} with {confidence_words(confidence)} confidence"


def canary_words(event: ObservedCanaries) -> list[str]:
    """Say how many guesses were right, for each number of guesses that was looked at."""
    runs = "" if event.runs == 1 else f" in each of {event.runs:,} runs"
    return [
        f"{wins:,} of the {guesses:,} surest guesses on {event.canaries:,} canaries{runs} are right"
        for guesses, wins in event.guesses
    ]


def _event_words(event: Observed) -> str:
    match event:
        case QueryAnswers(description=words):
            return words
        case ObservedReport(counts=counts):
            hits, trials = counts.left
            return f"the event happens in {hits:,} of {trials:,} trials"
        case ObservedRule():
            return _rule_words(event)
        case ObservedProfile() | ObservedScore() | ObservedCurve():
            return f"there is evidence ({event.description})"
        case ObservedCanaries():
            return canary_words(event)[0]
        case CalculatedEvent():
            return _calculated_words(event)
    assert_never(event)


def _calculated_words(event: CalculatedEvent) -> str:
    """Write an event with its probabilities, each rounded to the side on which it holds."""
    if event.likely is None or event.other is None:
        return f"the divergence of {event.description} is too large"
    left, right = round_to_side(event.likely, up=False, digits=4), round_to_side(event.other, up=True, digits=4)
    chance = "0" if event.other == 0 else f"at most {right:.4g}"
    return f"the event “{event.description}” has probability at least {left:.4g} on the left, and {chance} on the right"


def event_lines(event: Observed) -> list[str]:
    """Return each event with its counts, in a line of its own.

    >>> from auditor.events.observed import Hits
    >>> event_lines(ObservedReport("the mechanism reports the event", Hits((75, 100)), confirmed=True))
    ['the mechanism reports the event: 75 of 100 outputs']
    """
    match event:
        case ObservedRule() | ObservedProfile():
            return [
                f"{words}: {left[0]:,} of {left[1]:,} outputs on the left, {right[0]:,} of {right[1]:,} on the right"
                for words, (left, right) in counted_events(event)
            ]
        case ObservedReport(description=words, counts=counts):
            return [f"{words}: {counts.left[0]:,} of {counts.left[1]:,} outputs"]
        case ObservedScore(description=words, counts=cells) | ObservedCurve(description=words, counts=cells):
            left, right = sum(cells.left), sum(cells.right)
            sides = f"{how_many(left, 'output')} on the left and {right:,} on the right"
            return [f"{words}: {sides}, in {how_many(len(cells.left), 'cell')}"]
        case ObservedCanaries():
            return canary_words(event)
        case QueryAnswers(description=words):
            return [words]
        case CalculatedEvent():
            return [_calculated_words(event)]
    assert_never(event)


def _rule_words(event: ObservedRule) -> str:
    text = f"the event “{event.description}” happens at rates {_rates(event.counts)}"
    # An event about bits without a threshold is about outputs that have no bits.
    best = max(event.sides, key=lambda side: abs(side.counts.left[0] - side.counts.right[0]))
    if best.looks_at == "bits" and "#" in best.form:
        bits = "the floating-point representation tells the sides apart (the implementation, not the mechanism)"
        text = f"{bits}: {text}"
    if event.opposite is not None:
        text += f", and “{event.opposite.description}” at {_rates(event.opposite.counts)}"
    return text


def _rates(counts: SideCounts) -> str:
    return " and ".join(f"{hits / trials:.3g}" if trials else "–" for hits, trials in (counts.left, counts.right))


def confidence_words(confidence: float) -> str:
    """Write a confidence with enough digits to differ from 100 %.

    >>> confidence_words(0.999), confidence_words(0.99995)
    ('99.90 %', '99.9950 %')
    """
    if confidence == 1:
        return "100 %"
    digits = max(0, -math.floor(math.log10(1 - confidence)) - 1)
    return f"{100 * confidence:.{digits}f} %"


def closing_line(result: RunResult, *, timed: bool = False) -> str:
    """Say in one line how the run ended. ``timed`` adds the seconds of the run, if known."""
    since = result.compared.baseline if result.compared else ""
    took = f", {result.seconds:.0f} s" if timed and result.seconds is not None else ""
    alarms = f", {false_alarms(1 - result.confidence, 'run')}" if result.audits or not result.accountants else ""
    return f"{result.name}: {_how_ended([result], since)} ({_total([result])}{alarms}{took})"


def closing_line_of_all(results: Sequence[RunResult]) -> str:
    """Say in one line how several runs ended, and how long they took.

    >>> closing_line_of_all([RunResult("one", 0.999, [], 2.0), RunResult("two", 0.999, [], 3.0)])
    'all 2 configurations, 0 audits: no audit was run (5 s)'
    """
    seconds = sum(result.seconds or 0.0 for result in results)
    return f"all {len(results)} configurations, {_total(results)}: {_how_ended(results, 'the baselines')} ({seconds:.0f} s)"


def _total(results: Sequence[RunResult]) -> str:
    """Write the number of audits of mechanisms and of accountants, and how many weak passes are accepted."""
    audits, accountants = (
        sum(map(len, kind)) for kind in zip(*((r.audits, r.accountants) for r in results), strict=True)
    )
    parts = [how_many(audits, "audit")] if audits or not accountants else []
    parts += [how_many(accountants, "accountant")] if accountants else []
    accepted = sum(audit.accepts_weak for result in results for audit in result.audits)
    weak = f", {accepted} weak {'pass' if accepted == 1 else 'passes'} accepted" if accepted else ""
    return f"{' and '.join(parts)}{weak}"


def _how_ended(results: Sequence[RunResult], since: str) -> str:
    audits = [audit for result in results for audit in result.every]
    wrong = [audit.name for audit in audits if not audit.passed]
    failed = sum(len(result.failures) for result in results)
    ended = "every audit ended as expected" if audits else "no audit was run"
    if wrong:
        ended = f"{len(wrong)} of {len(audits)} audits did NOT end as expected, {_few(wrong)}"
    changes = f"{how_many(failed, 'change')} since {since} {'fails' if failed == 1 else 'fail'}"
    ended = f"{ended}, and {changes}" if failed else ended
    missing = {why for result in results for why in result.missing}
    return f"{ended}, but {how_many(len(missing), 'file')} could NOT be written" if missing else ended


def is_proved(audit: AuditResult) -> bool:
    """Whether the audit passed, and its claim is proved for the whole domain."""
    return audit.verdict is PASS and audit.proof is not None and audit.proof.proved


# The ends of audits in the headline of a run.
_ENDS: tuple[tuple[str, str, Callable[[AuditResult], bool]], ...] = (
    ("claim", "violated", lambda audit: audit.verdict is Verdict.VIOLATION),
    ("claim", "proved, over the reals", is_proved),
    (
        "claim",
        "not refuted, which does not prove privacy",
        lambda audit: audit.verdict is PASS and not is_proved(audit),
    ),
    ("audit", "without an answer", lambda audit: audit.verdict is Verdict.INCONCLUSIVE),
    ("mechanism", "measured without a claim", lambda audit: audit.verdict is Verdict.MEASURED),
)


_ENDS_OF_ACCOUNTANTS = {
    Verdict.VIOLATION: "below the exact number",
    PASS: "not below the exact number where this was compared",
    Verdict.INCONCLUSIVE: "without an answer",
}


def run_headline(result: RunResult) -> str:
    """Say in a sentence or two what all audits of a run found. The HTML page begins with this.

    >>> run_headline(RunResult("empty", 0.999, [], 0.0))
    'No audit was run.'
    """
    if not result.every:
        return "No audit was run."
    by_end = [
        (noun, words, [audit.name for audit in result.audits if ends_so(audit)]) for noun, words, ends_so in _ENDS
    ]
    by_end += [
        ("accountant", words, [one.name for one in result.accountants if one.verdict is verdict])
        for verdict, words in _ENDS_OF_ACCOUNTANTS.items()
    ]
    ends = [f"{how_many(len(names), noun)} {words}: {_few(names)}" for noun, words, names in by_end if names]
    surprising = [audit.name for audit in result.every if not audit.passed]
    sentences = ["; ".join(ends), f"Not as expected: {_few(surprising)}" if surprising else ""]
    if result.failures and result.compared is not None:
        names = [*dict.fromkeys(change.audit for change in result.failures)]
        sentences.append(f"Failed by a change since {result.compared.baseline}: {_few(names)}")
    if result.missing:
        sentences.append(f"Not all files could be written: {'; '.join(result.missing)}")
    if accepted := [audit.name for audit in result.audits if audit.accepts_weak]:
        sentences.append(f"Accepted though weak: {_few(accepted)}")
    if result.passed:
        sentences.append("This is what was expected")
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _few(names: list[str], most: int = 4) -> str:
    rest = len(names) - most
    return ", ".join(f"“{name}”" for name in names[:most]) + (f" and {rest} more" if rest > 0 else "")


def relation_words(relation: Relation) -> str:
    """Say how neighbours differ, and so whose privacy the claim protects."""
    return {
        Relation.ADD_REMOVE: "one record or person, added or removed",
        Relation.SUBSTITUTE: "one record or person, replaced by another",
        Relation.AS_GIVEN: "as given: the author of the pairs calls them neighbours",
        Relation.ALONE: "none: the claim is about single data sets",
    }[relation]


OWN_RANDOMNESS = (
    "not all randomness of the mechanism comes from the `rng` that it is given (a program: from `seed`), so another run "
    "may differ"
)


def spent_words(spent: OutputsSpent) -> str:
    """Say how many outputs went into each phase."""
    shrunk = f"{spent.shrink:,} to find the smallest pair and prove a bound on it, " if spent.shrink else ""
    again = f"{spent.recount:,} to count the earlier violation again, " if spent.recount else ""
    behind = f"{spent.further:,} to look for further faults, " if spent.further else ""
    return (
        f"{spent.search:,} to search for the pair, {spent.selection:,} to select the event, {spent.bound:,} for the bound, "
        f"{shrunk}{behind}{again}each used once"
    )


# --- One audit as plain text ---


def headline(audit: AuditResult) -> str:
    """Say how the audit ended, the expected verdict if it differs, and the claim."""
    return f"{ended(audit)}; the claim is {audit.claim}"


def in_short(audit: AuditResult) -> str:
    """Return the verdict, what was found in a sentence or two, and the warnings."""
    warnings = (f"warning: {warning}" for warning in audit.warnings)
    return "\n".join(map(visible, [f"{audit.name}: {headline(audit)}", finding(audit), *warnings]))


def failure_text(audit: AuditResult, reproduce: str | None = None) -> str:
    """Return the verdict, what was found in a sentence, then pair, event, counts, bound and how to reproduce it.

    ``reproduce`` replaces the audit's own command.
    """
    rows = [] if audit.pair is None else [("pair", pair_words(audit.pair))]
    tables = pair_tables(audit)
    rows += [(table.marks, line) for caption, table in tables if caption == PAIR for line in table.text()]
    if audit.event is not None:
        rows += [("event", line) for line in event_lines(audit.event)]
    if audit.bound is not None:
        by = f"with {confidence_words(audit.bound.confidence)} confidence, by {audit.bound.method}"
        by = f"by {audit.bound.method}" if isinstance(audit.event, CalculatedEvent) else by
        rows.append(("bound", f"{bound_words(audit)} {by}"))
    rows += [("smallest", line) for caption, table in tables if caption != PAIR for line in table.text()]
    rows += [("warning", warning) for warning in audit.warnings]
    if again := reproduce or audit.reproduce:
        rows.append(("reproduce", again))
    return "\n".join(map(visible, [headline(audit), finding(audit), *(f"  {name:<10} {text}" for name, text in rows)]))
