"""A run for continuous integration: JUnit's XML, which every service shows, and what GitHub shows.

In JUnit's XML each audit is a test case. ``visible`` writes as escapes the characters that XML cannot hold: control
characters, halves of surrogate pairs, non-characters. For GitHub, annotations are lines on standard output, and the
summary of a step is Markdown.
"""

import itertools
from collections.abc import Mapping, Sequence
from enum import StrEnum
from xml.etree import ElementTree

from auditor.accountants.outcome import AccountantResult
from auditor.errors import visible
from auditor.report.accountant_words import (
    accountant_finding,
    accountant_headline,
    accountant_text,
    few_words,
    states_words,
)
from auditor.report.phrases import bound_words, failure_text, finding, headline, proof_words, weak_words
from auditor.results.result import AuditResult, Change, RunResult
from auditor.verdict import End

NOTHING = "no audit was run"


def to_junit(*results: RunResult) -> str:
    """Return one document with a suite for each run. An audit that did not end as expected is a failure; one without an
    answer is an error.

    Each change since the baseline that fails the run is one more failed case, and each missing file one more error. No two cases
    of a suite have one name.
    """
    root = ElementTree.Element("testsuites", name="auditor")
    for result in results:
        suite = ElementTree.SubElement(root, "testsuite", _numbers(result), name=visible(result.name))
        taken = {visible(audit.name) for audit in result.every}
        for audit in result.audits:
            _add_audit(suite, result.name, audit)
        for accountant in result.accountants:
            _add_accountant(suite, result.name, accountant)
        if not result.every:
            case = ElementTree.SubElement(suite, "testcase", classname=visible(result.name), name=NOTHING)
            ElementTree.SubElement(case, "error", message=NOTHING, type=str(End.NO_ANSWER))
        more: list[tuple[str, str, str, StrEnum]]
        more = [(f"{change.audit}: {change.kind}", "failure", change.what, change.kind) for change in result.failures]
        more += [("missing file", "error", why, End.NO_ANSWER) for why in result.missing]
        for title, kind, message, of in more:
            wanted = visible(title)
            numbered = (f"{wanted} {number}" for number in itertools.count(2))
            name = next(name for name in itertools.chain([wanted], numbered) if name not in taken)
            taken.add(name)
            names = {"classname": visible(result.name), "name": name}
            case = ElementTree.SubElement(suite, "testcase", names)
            ElementTree.SubElement(case, kind, message=visible(message), type=str(of))
    ElementTree.indent(root, " ")
    text = ElementTree.tostring(root, encoding="unicode").replace("##[", "##&#91;")  # as in report.json
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _numbers(result: RunResult) -> dict[str, str]:
    wrong, more = [audit.end for audit in result.every if not audit.passed], len(result.failures)
    none = not result.every  # which is a case of its own
    errors, missing = wrong.count(End.NO_ANSWER), len(result.missing)
    return {
        "tests": str(len(result.every) + more + none + missing),
        "failures": str(len(wrong) - errors + more),
        "errors": str(errors + none + missing),
        **_time(result.seconds),
    }


def _time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.3f}"}


def _add_audit(suite: ElementTree.Element, run: str, audit: AuditResult) -> None:
    properties = {"claim": str(audit.claim), "proved": bound_words(audit), "verdict": str(audit.verdict)}
    if (proof := proof_words(audit)) is not None:
        properties["proof"] = proof
    if audit.weak:
        properties["weak"] = f"accepted: {audit.accepted}" if audit.accepted else weak_words(audit)
    if audit.passed:
        _add_case(suite, run, audit, properties, finding(audit))
    else:
        _add_case(suite, run, audit, properties, failure_text(audit), headline(audit))


def _add_accountant(suite: ElementTree.Element, run: str, accountant: AccountantResult) -> None:
    properties = {"states": states_words(accountant), "verdict": str(accountant.verdict)}
    if accountant.passed:
        _add_case(suite, run, accountant, properties, accountant_finding(accountant))
    else:
        _add_case(suite, run, accountant, properties, accountant_text(accountant), accountant_headline(accountant))


def _add_case(
    suite: ElementTree.Element,
    run: str,
    result: AuditResult | AccountantResult,
    properties: Mapping[str, str],
    text: str,
    message: str = "",
) -> None:
    """Add a result with its properties. ``message`` heads the text of one that did not pass."""
    names = {"classname": visible(run), "name": visible(result.name)}
    case = ElementTree.SubElement(suite, "testcase", {**names, **_time(result.seconds)})
    of_case = ElementTree.SubElement(case, "properties")
    for name, value in properties.items():
        ElementTree.SubElement(of_case, "property", name=name, value=visible(value))
    if result.passed:
        ElementTree.SubElement(case, "system-out").text = visible(text)
        return
    kind = "error" if result.end is End.NO_ANSWER else "failure"
    of = str(End.WEAK) if result.end is End.WEAK else str(result.verdict)
    ElementTree.SubElement(case, kind, message=visible(message), type=of).text = text


def annotations(result: RunResult, file: str) -> list[str]:
    """Return a workflow command for each audit that did not end as expected, for each warning of the others, for each change
    since the baseline that fails the run, and for each missing file.

    They are shown on ``file``, the configuration.
    """
    lines = list[str]()
    for audit in result.audits:
        title = f"{audit.name}: {headline(audit)}"
        if audit.passed:
            lines += [_command("warning", file, title, visible(warning)) for warning in audit.warnings]
        else:
            lines.append(_command("error", file, title, failure_text(audit)))
    for one in result.accountants:
        title = f"{one.name}: {accountant_headline(one)}"
        if not one.passed:
            lines.append(_command("error", file, title, accountant_text(one)))
        elif one.weak:
            lines.append(_command("warning", file, title, visible(few_words(one))))
    if not result.every:
        lines.append(_command("error", file, result.name, NOTHING))
    lines += [_command("error", file, result.name, visible(why)) for why in result.missing]
    return lines + annotations_of(result.failures, file)


def annotations_of(failures: Sequence[Change], file: str) -> list[str]:
    """Return a workflow command for each change that fails the command."""
    return [_command("error", file, f"{change.audit}: {change.kind}", visible(change.what)) for change in failures]


def _command(level: str, file: str, title: str, message: str) -> str:
    return f"::{level} file={_property(visible(file))},title={_property(visible(title))}::{_data(message)}"


def _data(text: str) -> str:
    """Escape a message, so that it is one line, and no command of its own.

    >>> _data("100 %\\n::error::x")
    '100 %25%0A::error::x'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
