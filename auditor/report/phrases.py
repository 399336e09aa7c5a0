"""The sentences that the forms of a report share, and one audit as plain text."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from auditor.bounds.digits import format_rounded_up
from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.errors import false_alarms, how_many, visible
from auditor.events.observed import (
    Observed,
    ObservedCanaries,
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
from auditor.results.result import AuditResult, OutputsSpent, RunResult, Smallest
from auditor.verdict import Verdict

# The part of a warning that asks for more outputs: the setting, its number, and perhaps what so many outputs find.
RAISED = re.compile(r"raise (`\w+`) to (\d+(?:,\d+)*)(, which finds \d+ of them)?")


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
    if proof is None or proof.bound is None:
        return bound_words(audit)
    ends = [bound_words(audit)] if audit.bound is not None else []
    where = "" if proof.scope.startswith(Scope.DOMAIN) else ", on the pairs listed"
    return "; ".join([*ends, f"{audit.claim.symbol} ≤ {format_rounded_up(proof.bound)} by proof{where}"])


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
    return f"Not proved: {proof.reason}." + (f" Weaker bound proved: {bound}." if proof.bound is not None else "")


def ended(audit: AuditResult, *, expected: bool = True) -> str:
    """Write the verdict, whether it is weak, and what was ``expected`` if the audit ended otherwise."""
    surprise = "" if audit.passed or not expected else f" (expected: {expected_words(audit)})"
    return f"{verdict_words(audit.verdict)}{' (weak)' if audit.weak else ''}{surprise}"


def expected_words(audit: AuditResult) -> str:
    """Write how the audit should have ended."""
    return f"{verdict_words(audit.expected)}{', not weak' if audit.strict and audit.expected is PASS else ''}"


def urgent_first(audits: Iterable[AuditResult]) -> list[AuditResult]:
    """Put audits that did not end as expected first; otherwise keep the order."""
    return sorted(audits, key=lambda audit: audit.passed)


def finding(audit: AuditResult) -> str:
    """Say in one or two sentences what the audit found, and what was proved. HTML has ``first_sentence``."""
    return " ".join(words for words, _ in finding_parts(audit))


def finding_parts(audit: AuditResult) -> list[tuple[str, bool]]:
    """Return the sentences of ``finding``, and of each whether it is a message of the auditor, or shows data."""
    by_outputs = None if audit.proof is not None and audit.bound is None else _found(audit)
    parts = [
        (planted_words(audit), True),
        (by_outputs, audit.bound is None or audit.event is None),
        (proof_words(audit), True),
        (audit.earlier, True),
    ]
    return [(words, is_message) for words, is_message in parts if words]


def weak_words(audit: AuditResult) -> str:
    """Say why a pass is weak. If several reasons ask to raise a setting, the largest number replaces the others."""
    reasons = [warning.removeprefix("weak: ") for warning in audit.warnings if warning.startswith("weak: ")]
    told = "; ".join(reasons) or finding(audit)
    most = max(RAISED.finditer(told), key=lambda found: int(found[2].replace(",", "")), default=None)
    if most is None:
        return told
    return RAISED.sub(lambda found: found[0] if found[2] == most[2] else f"raise {most[1]} to {most[2]}", told)


def planted_words(audit: AuditResult) -> str | None:
    """Say which of the planted faults the search found; None if none were planted."""
    planted = audit.planted
    if planted is None:
        return None
    kinds = Counter(planted.missed).most_common()
    named = [f"{kind} ({times})" if times > 1 else kind for kind, times in kinds[:3]]
    not_seen = f"; not seen: {'; '.join(named + ['others'] * (len(kinds) > 3))}" if named else ""
    return f"Planted faults found: {len(planted.found)} of {planted.all}{not_seen}."


def _found(audit: AuditResult) -> str:
    if audit.bound is None or audit.event is None:
        return f"No answer: {audit.stop_reason}."
    bound = f"{bound_words(audit)} with {confidence_words(audit.bound.confidence)} confidence"
    match audit.event:
        case QueryAnswers(description=answered):
            return _query_finding(audit, answered)
        case ObservedReport() as event:
            return _probability_finding(audit, event, bound)
        case ObservedCanaries() as event:
            return _canary_finding(audit, event, bound)
        case event:
            return _privacy_finding(audit, event, bound)


def _privacy_finding(audit: AuditResult, event: Observed, bound: str) -> str:
    pair, guessed = pair_words(audit.pair), f" {guess_words(audit)}".rstrip()
    if audit.verdict is Verdict.VIOLATION:
        proved = f"this proves {bound}, above the claimed {audit.claim}"
        return f"On the neighbours {pair}, {_event_words(event)}; {proved}.{guessed}{_smallest_words(audit)}"
    if audit.verdict is Verdict.MEASURED:
        return f"The mechanism loses at least {bound}: on the neighbours {pair}, {_event_words(event)}.{guessed}"
    within = f"The tightest pair found, {pair}, proves {bound}, within the claimed {audit.claim}"
    if not audit.power:
        return f"{within}."
    if audit.verdict is Verdict.INCONCLUSIVE:
        too_few = f"too few outputs to refute {audit.claim}, however large the violation"
        return f"No answer: {audit.stop_reason}; {too_few}. {within}."
    caught = audit.power["95%"]
    seen_by = "event" if isinstance(event, ObservedRule) else "evidence"
    would = (
        f"on this {seen_by}, the audit detects {audit.claim.symbol} = {number(caught)} with 95 % probability"
        if caught < math.inf
        else f"on this {seen_by}, the audit cannot detect any violation with these outputs"
    )
    return f"{within}; {would}.{guessed}"


def _smallest_words(audit: AuditResult) -> str:
    small = audit.smallest
    if small is None:
        return ""
    proved = "" if isinstance(small.event, QueryAnswers) else f", which proves {smallest_proved(audit.claim, small)}"
    return f" The smallest that still breaks it: {pair_words(small.pair)}, where {_event_words(small.event)}{proved}."


def smallest_proved(claim: Claim, small: Smallest) -> str:
    """Write what was proved on the smallest pair and, unless nothing is random, with which confidence."""
    proved, confidence = proved_words(claim, small.bound), small.bound.confidence
    return proved if confidence == 1 else f"{proved} with {confidence_words(confidence)} confidence"


def _query_finding(audit: AuditResult, answered: str) -> str:
    moves = f"{pair_words(audit.pair)} {answered}"
    if audit.verdict is Verdict.VIOLATION:
        return f"On {moves}, which breaks the claim ({audit.claim}).{_smallest_words(audit)}"
    return f"No counterexample among {audit.stop_reason}; the nearest: on {moves}."


def _probability_finding(audit: AuditResult, event: ObservedReport, bound: str) -> str:
    seen = f"On {pair_words(audit.pair)} {_event_words(event)}: {bound}"
    if audit.verdict is Verdict.VIOLATION:
        return f"{seen}; the claim is {audit.claim}.{_smallest_words(audit)}"
    state = "which confirms the claim there" if event.confirmed else "which neither refutes nor confirms the claim"
    return f"{seen}, {state} ({audit.claim}); other data sets were only searched, not tested."


def _canary_finding(audit: AuditResult, event: ObservedCanaries, bound: str) -> str:
    proved = f"{_event_words(event)}; this proves {bound}"
    if event.apart:
        proved += ", if no canary affects another one's score"
    if audit.verdict is Verdict.VIOLATION:
        return f"{proved}, above the claimed {audit.claim}."
    caught = (audit.power or {}).get("95%", math.inf)
    would = (
        f"the audit detects {audit.claim.symbol} = {number(caught)} on each canary with 95 % probability, if no canary affects "
        "another"
        if caught < math.inf
        else "the audit cannot detect any violation with this number of canaries"
    )
    return f"{proved}, within the claimed {audit.claim}; {would}."


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
        case ObservedProfile() | ObservedScore():
            return f"there is evidence ({event.description})"
        case ObservedCanaries():
            return canary_words(event)[0]
    assert_never(event)


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
        case ObservedScore(description=words, counts=cells):
            left, right = sum(cells.left), sum(cells.right)
            sides = f"{how_many(left, 'output')} on the left and {right:,} on the right"
            return [f"{words}: {sides}, in {how_many(len(cells.left), 'cell')}"]
        case ObservedCanaries():
            return canary_words(event)
        case QueryAnswers(description=words):
            return [words]
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
    wrong, total = [audit.name for audit in result.audits if not audit.passed], len(result.audits)
    not_so = f"{len(wrong)} of {total} audits did NOT end as expected, {_few(wrong)}"
    all_well = "every audit ended as expected" if total else "no audit was run"
    what = f"{not_so if wrong else all_well}{_failed_changes(result)}{_missing_files(result.missing)}"
    took = f", {result.seconds:.0f} s" if timed and result.seconds is not None else ""
    return f"{result.name}: {what} ({how_many(total, 'audit')}, {false_alarms(1 - result.confidence, 'run')}{took})"


def _failed_changes(result: RunResult) -> str:
    if not result.failures or result.compared is None:
        return ""
    number = len(result.failures)
    return f", and {how_many(number, 'change')} since {result.compared.baseline} {'fails' if number == 1 else 'fail'}"


def _missing_files(missing: Sequence[str]) -> str:
    return f", but {how_many(len(missing), 'file')} could NOT be written" if missing else ""


def closing_line_of_all(results: Sequence[RunResult]) -> str:
    """Say in one line how several runs ended, and how long they took.

    >>> closing_line_of_all([RunResult("one", 0.999, [], 2.0), RunResult("two", 0.999, [], 3.0)])
    'all 2 configurations, 0 audits: no audit was run (5 s)'
    """
    audits = [audit for result in results for audit in result.audits]
    wrong = sum(not audit.passed for audit in audits)
    all_well = "every audit ended as expected" if audits else "no audit was run"
    ended = f"{wrong} did NOT end as expected" if wrong else all_well
    if failed := sum(len(result.failures) for result in results):
        ended += f", and {how_many(failed, 'change')} since the baselines {'fails' if failed == 1 else 'fail'}"
    ended += _missing_files([*dict.fromkeys(why for result in results for why in result.missing)])
    seconds = sum(result.seconds or 0.0 for result in results)
    return f"all {len(results)} configurations, {how_many(len(audits), 'audit')}: {ended} ({seconds:.0f} s)"


def run_headline(result: RunResult) -> str:
    """Say in a sentence or two what all audits of a run found. The HTML page begins with this.

    >>> run_headline(RunResult("empty", 0.999, [], 0.0))
    'No audit was run.'
    """
    if not result.audits:
        return "No audit was run."
    ended = {verdict: [audit.name for audit in result.audits if audit.verdict is verdict] for verdict in Verdict}
    broken, silent, measured = ended[Verdict.VIOLATION], ended[Verdict.INCONCLUSIVE], ended[Verdict.MEASURED]
    surprising = [audit.name for audit in result.audits if not audit.passed]
    total = len(result.audits) - len(measured)
    answered = "the claim" if total == 1 else f"{total - len(silent) if silent else 'any'} of {total} claims"
    if broken:
        what = f"{len(broken)} of {total} claims {'is' if len(broken) == 1 else 'are'} violated: {_few(broken)}"
    elif total == 0:
        what = "No claim was tested"
    elif len(silent) < total:
        proved = [audit.name for audit in result.audits if is_proved(audit)]
        what = _nothing_found(answered, proved, total, total - len(silent))
    else:
        what = "Nothing is known"
    no_answer = f"; there is no answer on {_few(silent)}" if silent else ""
    expected = f"Not as expected: {_few(surprising)}." if surprising else ""
    if result.failures and result.compared is not None:
        changed = dict.fromkeys(change.audit for change in result.failures)
        expected = f"{expected} Failed by a change since {result.compared.baseline}: {_few([*changed])}.".strip()
    if result.missing:
        expected = f"{expected} Not all files could be written: {'; '.join(result.missing)}.".strip()
    expected = expected or "This is what was expected."
    without_claim = f"; measured without a claim: {_few(measured)}" if measured else ""
    return f"{what}{no_answer}{without_claim}. {expected}"


def is_proved(audit: AuditResult) -> bool:
    """Whether the audit passed, and its claim is proved for the whole domain."""
    return audit.verdict is PASS and audit.proof is not None and audit.proof.proved


def _nothing_found(answered: str, proved: list[str], claims: int, with_answer: int) -> str:
    """Say that no violation was found of those of the claims ``with_answer``, some of which may be proved."""
    if not proved:
        return f"No violation of {answered} was found, which does not prove privacy"
    if len(proved) == claims == with_answer:
        return f"{'The claim is' if claims == 1 else f'All {claims} claims are'} proved, over the reals"
    are = f"{len(proved)} of them {'is' if len(proved) == 1 else 'are'} proved, over the reals: {_few(proved)}"
    others = "; for the others this does not prove privacy" if len(proved) < with_answer else ""
    return f"No violation of {answered} was found; {are}{others}"


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
    return (
        f"{spent.search:,} to search for the pair, {spent.selection:,} to select the event, {spent.bound:,} for the bound, "
        f"{shrunk}{again}each used once"
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
        by = f"{confidence_words(audit.bound.confidence)} confidence, by {audit.bound.method}"
        rows.append(("bound", f"{bound_words(audit)} with {by}"))
    rows += [("smallest", line) for caption, table in tables if caption != PAIR for line in table.text()]
    rows += [("warning", warning) for warning in audit.warnings]
    if again := reproduce or audit.reproduce:
        rows.append(("reproduce", again))
    return "\n".join(map(visible, [headline(audit), finding(audit), *(f"  {name:<10} {text}" for name, text in rows)]))
