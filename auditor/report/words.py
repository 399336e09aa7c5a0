"""The sentences that every form of a report shares."""

import math

from auditor.neighbours.pair import Pair
from auditor.report.result import AuditResult, RunResult
from auditor.verdict import Verdict

SYMBOL = {"epsilon": "ε", "rho": "ρ", "mu": "μ"}


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


def bound_words(audit: AuditResult) -> str:
    """Write the proved bound: quantity, value, and where it holds."""
    if audit.bound is None:
        return "–"
    return f"{SYMBOL[audit.bound.quantity]} ≥ {number(audit.bound.value)}"


def pair_words(pair: Pair | None) -> str:
    """Write the two data sets; long ones are cut in the middle."""
    if pair is None:
        return "–"
    entry = pair.to_dict()
    return f"{_shorten(entry['left'])} and {_shorten(entry['right'])}"


def _shorten(data: object, most: int = 60) -> str:
    text = str(data)
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 3 :]}"


def finding(audit: AuditResult) -> str:
    """Say in one or two sentences what the audit found."""
    if audit.bound is None or audit.counts is None or audit.event is None:
        return f"No answer: {audit.stop_reason}."
    bound = f"{bound_words(audit)} with {_percent(audit.bound.confidence)} confidence"
    pair = pair_words(audit.pair)
    if audit.verdict is Verdict.VIOLATION:
        entry = audit.event.to_dict(audit.counts)
        left, right = (_rate(*entry["counts"][side]) for side in ("left", "right"))
        text = f"On the neighbours {pair}, the event “{entry['description']}” happens at rates {left} and {right}"
        if entry["opposite"]:
            left, right = (_rate(*entry["opposite"]["counts"][side]) for side in ("left", "right"))
            text += f", and “{entry['opposite']['description']}” at {left} and {right}"
        return f"{text}; this proves {bound}, above the claimed {audit.claim}."
    caught = (audit.power or {}).get("95%", math.inf)
    would = (
        f"a mechanism with {SYMBOL[audit.bound.quantity]} of {number(caught)} on this event would have been caught with 95 % chance"
        if caught < math.inf
        else "on this event no violation could have been caught with these outputs"
    )
    return f"The tightest pair found, {pair}, proves {bound}, within the claimed {audit.claim}; {would}."


def _percent(confidence: float) -> str:
    digits = max(0, -math.floor(math.log10(1 - confidence)) - 1)
    return f"{100 * confidence:.{digits}f} %"


def _rate(hits: int, trials: int) -> str:
    return f"{hits / trials:.3g}" if trials else "–"


def closing_line(result: RunResult) -> str:
    """Say in one line how the run ended."""
    met = sum(audit.passed for audit in result.audits)
    total = len(result.audits)
    allowed = f"{100 * (1 - result.confidence):.3g} %"
    what = (
        "every audit ended as expected" if result.passed else f"{total - met} of {total} audits did NOT end as expected"
    )
    return (
        f"{result.name}: {what} ({total} audits, chance of any false alarm at most {allowed}, {result.seconds:.0f} s)"
    )
