"""The sentences that every form of a report shares."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from auditor.claims import Probability, QueryClaim
from auditor.events.features import BITS
from auditor.neighbours.pair import Relation, pair_words
from auditor.results.result import AuditResult, OutputsSpent, RunResult, Smallest
from auditor.verdict import Verdict

SYMBOL = {"epsilon": "ε", "rho": "ρ", "mu": "μ", "decrease": "fall"}


def verdict_words(verdict: Verdict) -> str:
    """Return the verdict as a reader says it.

    >>> verdict_words(Verdict.NO_VIOLATION_FOUND)
    'no violation found'
    """
    return verdict.value.replace("_", " ")


def number(value: float | None) -> str:
    """Write a bound: three digits behind the point suffice to compare it with a claim.

    >>> number(0.98765), number(math.inf), number(None)
    ('0.988', '∞', '–')
    """
    if value is None:
        return "–"
    return "∞" if math.isinf(value) else f"{value:.3f}"


def bound_words(audit: AuditResult | Smallest) -> str:
    """Write what was proved: quantity, and the side on which it lies."""
    bound = audit.bound
    if bound is None:
        return "–"
    upper = bound.method.endswith("upper limit")
    symbol = SYMBOL.get(bound.quantity, bound.quantity)
    return f"{symbol} {'≤' if upper else '≥'} {_no_more_than_proved(bound.value, upper)}"


def _no_more_than_proved(value: float, upper: bool) -> str:
    """Round away from what would be more than was proved.

    >>> _no_more_than_proved(0.7228, False), _no_more_than_proved(0.7228, True), _no_more_than_proved(1.0, False)
    ('0.722', '0.723', '1.000')
    """
    if not math.isfinite(value):
        return number(value)
    # Doubles just below a decimal are meant as that decimal.
    rounded = (math.ceil if upper else math.floor)(round(value * 1000, 6)) / 1000
    return f"{rounded:.3f}"


def exact_words(audit: AuditResult) -> str:
    """Write the exact value on the pair, where it is known."""
    return "" if audit.exact is None else number(audit.exact.value)


def finding(audit: AuditResult) -> str:
    """Say in one or two sentences what the audit found."""
    if audit.bound is None or audit.event is None:
        return f"No answer: {audit.stop_reason}."
    if isinstance(audit.claim, QueryClaim):
        return _query_finding(audit, audit.event)
    bound = f"{bound_words(audit)} with {confidence_words(audit.bound.confidence)} confidence"
    if isinstance(audit.claim, Probability):
        return _probability_finding(audit, audit.event, bound)
    pair = pair_words(audit.pair)
    if audit.verdict is Verdict.VIOLATION:
        proved = f"this proves {bound}, above the claimed {audit.claim}"
        return f"On the neighbours {pair}, {_event_words(audit.event)}; {proved}.{_smallest_words(audit)}"
    if not audit.power:
        return f"The tightest pair found, {pair}, proves {bound}, within the claimed {audit.claim}."
    caught = audit.power["95%"]
    symbol = SYMBOL.get(audit.bound.quantity, audit.bound.quantity)
    seen_by = "event" if "opposite" in audit.event else "evidence"
    would = (
        f"a mechanism with {symbol} of {number(caught)} on this {seen_by} would have been caught with 95 % chance"
        if caught < math.inf
        else f"on this {seen_by} no violation could have been caught with these outputs"
    )
    return f"The tightest pair found, {pair}, proves {bound}, within the claimed {audit.claim}; {would}."


def _smallest_words(audit: AuditResult) -> str:
    small = audit.smallest
    if small is None:
        return ""
    if isinstance(audit.claim, QueryClaim):
        what = small.event["description"]
    elif isinstance(audit.claim, Probability):
        what = f"{_happens(small.event)}, which proves {proved_words(small)}"
    else:
        what = f"{_event_words(small.event)}, which proves {proved_words(small)}"
    return f" The smallest that still breaks it: {pair_words(small.pair)}, where {what}."


def proved_words(small: Smallest) -> str:
    """Write what was proved on the smallest pair, and how surely; of a query, in which nothing is random, what it shows."""
    sure = small.bound.confidence == 1
    return bound_words(small) + ("" if sure else f" with {confidence_words(small.bound.confidence)} confidence")


def _query_finding(audit: AuditResult, event: Mapping[str, Any]) -> str:
    pair, values = pair_words(audit.pair), event["values"]
    moves = f"n {pair} the query answers {values['left']} and {values['right']}"
    if audit.verdict is Verdict.VIOLATION:
        return f"O{moves}, which breaks the claim ({audit.claim}).{_smallest_words(audit)}"
    return f"No counterexample among {audit.stop_reason}; the nearest: o{moves}."


def _probability_finding(audit: AuditResult, event: Mapping[str, Any], bound: str) -> str:
    seen = f"On {pair_words(audit.pair)} {_happens(event)}: {bound}"
    if audit.verdict is Verdict.VIOLATION:
        return f"{seen}, where {audit.claim} is claimed.{_smallest_words(audit)}"
    state = "which confirms the claim there" if event["confirmed"] else "which neither refutes nor confirms the claim"
    return f"{seen}, {state} ({audit.claim}); other data sets were searched only."


def _happens(event: Mapping[str, Any]) -> str:
    hits, trials = event["counts"]["left"]
    return f"the event happens in {hits:,} of {trials:,} trials"


def _event_words(event: Mapping[str, Any]) -> str:
    if "opposite" not in event:
        return f"outputs show it ({event['description']})"
    left, right = (_rate(*event["counts"][side]) for side in ("left", "right"))
    text = f"the event “{event['description']}” happens at rates {left} and {right}"
    if BITS in event["description"]:
        text = (
            f"the floating-point representation tells the sides apart (the implementation, not the mechanism): {text}"
        )
    if event["opposite"]:
        left, right = (_rate(*event["opposite"]["counts"][side]) for side in ("left", "right"))
        text += f", and “{event['opposite']['description']}” at {left} and {right}"
    return text


def confidence_words(confidence: float) -> str:
    """Write a confidence with as many digits as tell it from 100 %.

    >>> confidence_words(0.999), confidence_words(0.99995)
    ('99.90 %', '99.9950 %')
    """
    if confidence == 1:
        return "100 %"
    digits = max(0, -math.floor(math.log10(1 - confidence)) - 1)
    return f"{100 * confidence:.{digits}f} %"


def _rate(hits: int, trials: int) -> str:
    return f"{hits / trials:.3g}" if trials else "–"


def closing_line(result: RunResult) -> str:
    """Say in one line how the run ended."""
    wrong, total = [audit.name for audit in result.audits if not audit.passed], len(result.audits)
    allowed = f"{100 * (1 - result.confidence):.3g} %"
    what = (
        "every audit ended as expected"
        if result.passed
        else f"{len(wrong)} of {total} audits did NOT end as expected, {_few(wrong)}"
    )
    audits = "1 audit" if total == 1 else f"{total} audits"
    return f"{result.name}: {what} ({audits}, chance of any false alarm at most {allowed}, {result.seconds:.0f} s)"


def closing_line_of_all(results: Sequence[RunResult]) -> str:
    """Say in one line how several runs ended.

    >>> closing_line_of_all([RunResult("one", 0.999, [], 2.0), RunResult("two", 0.999, [], 3.0)])
    'all 2 configurations, 0 audits: every audit ended as expected (5 s)'
    """
    audits = [audit for result in results for audit in result.audits]
    wrong = sum(not audit.passed for audit in audits)
    ended = f"{wrong} did NOT end as expected" if wrong else "every audit ended as expected"
    seconds = sum(result.seconds for result in results)
    return f"all {len(results)} configurations, {len(audits)} audits: {ended} ({seconds:.0f} s)"


def headline(result: RunResult) -> str:
    """Say in a sentence or two what came out of all audits of a run.

    >>> headline(RunResult("empty", 0.999, [], 0.0))
    'No audit was run.'
    """
    if not result.audits:
        return "No audit was run."
    broken = [audit.name for audit in result.audits if audit.verdict is Verdict.VIOLATION]
    silent = [audit.name for audit in result.audits if audit.verdict is Verdict.INCONCLUSIVE]
    surprising = [audit.name for audit in result.audits if not audit.passed]
    total = len(result.audits)
    answered = "the claim" if total == 1 else f"{total - len(silent) if silent else 'any'} of {total} claims"
    if broken:
        what = f"{len(broken)} of {total} claims {'is' if len(broken) == 1 else 'are'} violated: {_few(broken)}"
    elif len(silent) < total:
        what = f"No violation of {answered} was found, which does not prove privacy"
    else:
        what = "Nothing is known"
    no_answer = f"; there is no answer on {_few(silent)}" if silent else ""
    ended = f"Not as expected: {_few(surprising)}." if surprising else "This is what was expected."
    return f"{what}{no_answer}. {ended}"


def _few(names: list[str], most: int = 4) -> str:
    rest = len(names) - most
    return ", ".join(f"“{name}”" for name in names[:most]) + (f" and {rest} more" if rest > 0 else "")


def relation_words(relation: Relation) -> str:
    """Say what a relation holds between two data sets, and so whose privacy a claim is about."""
    return {
        Relation.ADD_REMOVE: "one record or person, added or removed",
        Relation.SUBSTITUTE: "one record or person, replaced by another",
        Relation.AS_GIVEN: "as given: who wrote the pairs down calls them neighbours",
        Relation.ALONE: "none: the claim is about single data sets",
    }[relation]


def spent_words(spent: OutputsSpent) -> str:
    """Say how many outputs went into each phase."""
    shrunk = f"{spent.shrink:,} to find the smallest pair and prove a bound on it, " if spent.shrink else ""
    return (
        f"{spent.search:,} to search for the pair, {spent.selection:,} to select the event, {spent.bound:,} for the bound, "
        f"{shrunk}each used once"
    )
