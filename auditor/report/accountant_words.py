"""The sentences that the forms of a report share on audits of accountants."""

from collections.abc import Callable

from auditor.accountants.outcome import WORDS, AccountantResult, Statement, number, setting, settings_words, times
from auditor.accountants.target import ARGUMENTS
from auditor.errors import visible
from auditor.report.phrases import ended
from auditor.verdict import Verdict

NOT_SAMPLED = "Nothing was sampled: the exact numbers are intervals that hold despite rounding, and there is no confidence to state"


def states_words(result: AccountantResult) -> str:
    """Say what the accountant states.

    >>> from auditor.accountants.outcome import Coverage
    >>> states_words(AccountantResult("a", "epsilon", *[Verdict.VIOLATION] * 2, "", Coverage(1, 1), {}, 0.0, 0))
    'ε at δ'
    """
    if result.states == "noise":
        return "the noise for a target"
    at = {"delta": " at δ", "epsilon": " at ε", "order": " of an order", "alpha": " at a rate of false positives"}
    return WORDS[result.states] + at.get(ARGUMENTS.get(result.states, ""), "")


def _stated(result: AccountantResult) -> str:
    return "–" if result.shown is None else number(_short(result.shown.stated))


def exact_words(statement: Statement) -> str:
    """Write the interval of the exact number, or the number itself if both ends agree to ten digits."""
    low, high = statement.low, statement.high
    if high == float("inf"):
        return "∞" if low == high else f"at least {number(_short(low))}"
    if high - low <= 1e-6 * high:
        return number(_short(high))
    return f"{number(_short(low))} to {number(_short(high))}"


def _ratio(result: AccountantResult) -> str:
    return "–" if result.shown is None else times(result.shown.ratio)


# The columns of the table of accountants, to which each form of a report adds the verdict.
ACCOUNTANT_COLUMNS: dict[str, Callable[[AccountantResult], str]] = {
    "accountant": lambda result: result.name,
    "states": states_words,
    "stated": _stated,
    "exact": lambda result: "–" if result.shown is None else exact_words(result.shown),
    "exact/stated": _ratio,
    "settings": lambda result: f"{result.coverage.tried:,}, {result.coverage.share:.0%} compared",
}


def accountant_columns(result: AccountantResult) -> dict[str, str]:
    """Return the entries of the columns."""
    return {heading: words(result) for heading, words in ACCOUNTANT_COLUMNS.items()}


def accountant_finding(result: AccountantResult) -> str:
    """Say what the audit found, and at which parameters."""
    shown = result.shown
    if result.verdict is Verdict.INCONCLUSIVE:
        return f"No answer: {result.reason}."
    if shown is None:
        return f"{_sentence(result.reason)}."
    at = _at(result, shown)
    if result.verdict is not Verdict.VIOLATION:
        ratio = "stated to exact" if shown.lower else "exact to stated"
        weak = f" Weak: {few_words(result)}." if result.weak else ""
        nearest = f"The largest ratio of {ratio} is {times(shown.ratio)}, at {at}: {_compared(result, shown)}"
        return f"{_sentence(result.reason)}. {nearest}.{weak}"
    sentences = [f"At {at} it {result.reason}"]
    if result.after:
        first = result.after[0]
        more = (
            f"{settings_words(len(result.after))}, the first of them {setting(first)}"
            if result.after[1:]
            else setting(first)
        )
        sentences.append(f"This shows only after a call with {more}")
    if result.worst is not None and result.worst.parameters != shown.parameters:
        sentences.append(
            f"The largest ratio found, {times(result.worst.ratio)}, is at {_at(result, result.worst)}: "
            f"{_compared(result, result.worst)}"
        )
    return ". ".join(sentences) + "."


def few_words(result: AccountantResult) -> str:
    """Say why a pass is weak, and what to do."""
    instead = "raise `seconds` or `points`, or narrow the ranges to quick settings"
    return f"few settings were compared, {result.coverage.decided}; {instead}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _at(result: AccountantResult, statement: Statement) -> str:
    """Write the parameters of a statement, and its place on a curve unless a parameter says it."""
    name = ARGUMENTS.get(result.states, "")
    on_curve = statement.argument is not None and name not in statement.parameters
    at = f"{name} = {number(statement.argument)}" if on_curve else ""
    return ", ".join(filter(None, (setting(statement.parameters), at)))


def _compared(result: AccountantResult, statement: Statement) -> str:
    if result.states == "noise":
        return f"a target of {number(_short(statement.stated))}, and exact {exact_words(statement)}"
    return f"{number(_short(statement.stated))} is stated, and exact {exact_words(statement)}"


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def accountant_facts(result: AccountantResult) -> list[tuple[str, str]]:
    """Return the facts about an audit of an accountant, by name."""
    coverage = result.coverage
    parts = [f"{settings_words(coverage.tried)} tried, {coverage.decided} compared"]
    parts += [f"{coverage.undecided} with an interval that is too wide"] if coverage.undecided else []
    parts += [f"{coverage.refused} without a number"] if coverage.refused else []
    parts += [f"{coverage.outside} without a process"] if coverage.outside else []
    known = [
        ("States", states_words(result)),
        ("Parameters", "; ".join(f"{name}: {words}" for name, words in result.ranges.items())),
        ("Settings", ", ".join(parts)),
        ("Tolerance", f"{result.tolerance:g} of the exact number"),
    ]
    known += [("Exact by", result.how)] if result.how else []
    known += [("Documented", result.source)] if result.source else []
    return known


def accountant_headline(result: AccountantResult) -> str:
    """Say how the audit ended, and what it is about."""
    return f"{ended(result)}; it states {states_words(result)}"


def accountant_text(result: AccountantResult) -> str:
    """Return the audit as plain text: its end, what was found, facts, and what was tried."""
    lines = [f"{result.name}: {accountant_headline(result)}", accountant_finding(result)]
    rows = [("fact", fact.text) for fact in result.facts]
    rows += [(name.lower(), text) for name, text in accountant_facts(result)[1:]]
    return "\n".join(map(visible, [*lines, *(f"  {name:<10} {text}" for name, text in rows)]))
