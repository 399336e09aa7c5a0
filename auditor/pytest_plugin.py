"""The pytest plugin: a fixture that audits, under one error budget for the whole session.

**The budget.** A false alarm is a reported violation of a mechanism that keeps its claim. With probability at least the
session's confidence (``--dp-confidence``, ini ``dp_confidence``, 0.999), no test that uses ``dp_audit`` has a false alarm.

- The allowed error is 1 − confidence. All tests of the session that use the fixture have equal shares of the error. Their
  number is known after collection and deselection.
- The k-th call in a test has 1/(k(k + 1)) of the test's share. These parts sum to at most 1 for any number of calls. A
  rerun of the test goes on counting.
- Each call is an audit with outputs of its own, since its name is part of their address. Given all earlier calls, its
  probability of a false alarm is at most its part of the error.
- By the union bound, the probability of any false alarm is at most 1 − confidence. This holds however the calls depend on
  each other, and even if a test chooses a call by the results of earlier ones.

xdist workers need no coordination, since all of them collect the same tests and compute the same shares.

**No audit is lost.** A call is a problem until it has ended as expected. If a problem is left when the test ends, the test
fails, unless it has failed anyway. So a call in a thread, in a subtest, or under a suppressed exception is not missed.
A call that begins after its test has ended audits nothing and fails the session, and one in a child process, whose result
never comes back, fails its test. While a test with the fixture runs, no code can end the session with status 0, and
``pytest.exit`` ends no session with such tests with status 0.

Until a test asks for an audit, only pytest, the standard library and two small modules are imported.
"""

import itertools
import json
import mmap
import os
import shlex
import warnings
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from auditor.defaults import CONFIDENCE, LEAST_CONFIDENCE, SettingsKeywords
from auditor.errors import (
    AuditorError,
    InvalidInputError,
    false_alarms,
    how_many,
    require_keywords,
    require_known,
    without_commands,
)

if TYPE_CHECKING:
    from auditor.results.result import AuditResult

FIXTURE = "dp_audit"
# The node id of a test that uses the fixture, as collected. xdist may append a group to the id later.
_NODE = pytest.StashKey[str]()
_CONFIDENCE, _SHARE, _STRICT = pytest.StashKey[float](), pytest.StashKey[float](), pytest.StashKey[bool]()
# _NUMBERS counts the calls of a test, and _PROBLEMS says what is wrong with a call. Both go on in a rerun.
_NUMBERS, _PROBLEMS = pytest.StashKey[Iterator[int]](), pytest.StashKey[dict[int, str]]()
# The tests whose fixture was called after their end.
_LATE = pytest.StashKey[list[str]]()
# Whether a failure of the running test was reported, including an expected one (xfail).
_IS_TOLD = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the ini setting for the session's confidence."""
    text = f"probability that no sound mechanism of the session raises an alarm (default: {CONFIDENCE})"
    group = parser.getgroup(FIXTURE, "differential-privacy audits")
    group.addoption("--dp-confidence", type=float, metavar="C", help=text)
    parser.addini("dp_confidence", text, default=str(CONFIDENCE))
    text = "fail tests whose audits pass weakly: what they might have missed is large"
    group.addoption("--dp-strict", action="store_true", help=text)
    parser.addini("dp_strict", text, type="bool", default=False)


CALLED_BY_CHILD = "dp_audit was called in a child process, whose result is lost; call it in the process of the test"


class WeakPass(pytest.PytestWarning):
    """An audit found no violation, but might have missed a large one."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and refuse a confidence outside of (0, 1)."""
    config.addinivalue_line(
        "markers", "dp_audit(**options): options of the dp_audit calls in a test, such as samples or expect"
    )
    given = config.getoption("dp_confidence")
    given = config.getini("dp_confidence") if given is None else given
    try:
        confidence = float(given)
    except ValueError:
        confidence = float("nan")
    if not 0 < confidence < 1:
        raise pytest.UsageError(f"dp_confidence is {given!r}; it must be a number strictly between 0 and 1")
    if confidence < LEAST_CONFIDENCE:
        raise pytest.UsageError(
            f"dp_confidence is {given!r}; it must be at least {LEAST_CONFIDENCE}, such as {CONFIDENCE}"
        )
    config.stash[_CONFIDENCE] = confidence
    config.stash[_LATE] = []
    config.stash[_STRICT] = config.getoption("dp_strict") or config.getini("dp_strict")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker how many workers run each test: one, or all with ``--dist each``."""
    each = node.config.getoption("dist") == "each"
    node.workerinput["dp_audit_copies"] = node.workerinput["workercount"] if each else 1


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note whether a test uses the fixture, directly or through another fixture."""
    if FIXTURE in getattr(item, "fixturenames", ()):
        item.stash[_NODE] = item.nodeid


def pytest_collection_finish(session: pytest.Session) -> None:
    """Share the budget among the tests that remain after deselection."""
    config = session.config
    using = sum(_NODE in item.stash for item in session.items)
    copies: int = getattr(config, "workerinput", {}).get("dp_audit_copies", 1)
    config.stash[_SHARE] = (1 - config.stash[_CONFIDENCE]) / max(1, using * copies)


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Let ``pytest.exit`` end a session with audits with a status that fails, since not all tests have run."""
    try:
        return (yield)
    except pytest.exit.Exception as ended:
        if ended.returncode == pytest.ExitCode.OK and any(_NODE in item.stash for item in session.items):
            ended.returncode = pytest.ExitCode.TESTS_FAILED
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a failure of the test was reported, even as an expected one (xfail)."""
    report = yield
    is_xfailed = report.skipped and hasattr(report, "wasxfail")
    item.stash[_IS_TOLD] = item.stash.get(_IS_TOLD, False) or report.failed or is_xfailed
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the late calls that an xdist worker noted."""
    node.config.stash[_LATE] += getattr(node, "workeroutput", {}).get("dp_audit_late", ())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the session if ``dp_audit`` was called after its test had ended. An xdist worker tells the controller instead."""
    late = session.config.stash[_LATE]
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["dp_audit_late"] = late
    elif late:
        pytest.exit(f"dp_audit was called after its test had ended, in {', '.join(late)}", pytest.ExitCode.TESTS_FAILED)


class DPAudit:
    """The fixture of one test. ``has_ended`` says whether the test has ended."""

    has_ended = False

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._problems = item.stash.setdefault(_PROBLEMS, {})
        self._numbers = item.stash.setdefault(_NUMBERS, itertools.count(1))
        self._process = os.getpid()
        # Children have copies of all else. This byte they share, so that the test sees what they write.
        self._was_called_by_child = mmap.mmap(-1, 1)

    def end(self) -> None:
        """End the fixture with its test. A call in a child process counts as a problem of the test."""
        self.has_ended = True
        if self._was_called_by_child[0]:
            self._problems[0] = CALLED_BY_CHILD

    def __call__(self, mechanism: Any, claim: Any = None, neighbours: Any = None, **options: Any) -> "AuditResult":
        """Audit, and fail the test unless the audit ends as expected; "no answer" fails too.

        Args:
            mechanism, claim, neighbours: as in :func:`auditor.audit`. An object of a library needs no claim or neighbours.
            options: the keywords of ``audit`` except ``name`` and ``confidence``; ``expect``: "no_violation_found" (the
                default) or "violation", if there is a claim: without one the loss is measured, which passes; and
                ``strict``: whether a weak pass fails the test, by default as ``--dp-strict`` says. Options of the call
                override those of markers. By default the mechanism runs in the test's process, and the bound counts
                200,000 outputs.

        Returns the result, for further assertions.
        """
        __tracebackhide__ = True
        if self.has_ended:
            self._item.config.stash[_LATE].append(self._item.nodeid)
            pytest.fail("dp_audit was called after its test had ended", pytrace=False)
        if os.getpid() != self._process:
            self._was_called_by_child[0] = 1
            pytest.fail(CALLED_BY_CHILD, pytrace=False)
        k = next(self._numbers)
        self._problems[k] = "an audit had not ended when its test did"
        try:
            result = self._audit(k, mechanism, claim, neighbours, **_chosen(self._item, options))
        except AuditorError as error:
            self._problems[k] = _for_the_log(f"dp_audit: {error}")
            raise pytest.fail.Exception(self._problems[k], pytrace=False) from None
        del self._problems[k]
        return result

    def _audit(
        self, k: int, mechanism: Any, claim: Any, neighbours: Any, *, expect: str | None, strict: bool, **options: Any
    ) -> "AuditResult":
        __tracebackhide__ = True
        from dataclasses import replace

        from auditor.auditing import audit
        from auditor.report.phrases import bound_words, failure_text, weak_words
        from auditor.verdict import Verdict, expected_of

        share = self._item.config.stash[_SHARE]
        name = self._item.stash[_NODE] + ("" if k == 1 else f" #{k}")
        allowed = share / (k * (k + 1))
        result = audit(mechanism, claim, neighbours, name=name, confidence=1 - allowed, **options)
        if expect is not None and not result.claim.is_stated:
            raise InvalidInputError(
                f"expect is {expect!r}, but the audit has no claim and ends as measured; leave out expect, or add a claim"
            )
        expected = expected_of(result.claim, Verdict(expect or Verdict.NO_VIOLATION_FOUND))
        result = replace(result, expected=expected, strict=strict)
        entry = {
            "call": k,
            "claim": str(result.claim),
            "proved": bound_words(result),
            "verdict": str(result.verdict),
            "as_expected": result.passed,
            "weak": result.weak,
            "allowed_error": allowed,
        }
        # pytest hands user properties to xdist's controller and to --junit-xml.
        self._item.user_properties.append((FIXTURE, json.dumps(entry, ensure_ascii=False)))
        if result.passed and not result.weak:
            return result
        is_weak = result.weak and result.verdict is result.expected
        weak = f"a weak pass of {result.claim}: {weak_words(result)}"
        problem = f"dp_audit: {weak if is_weak else failure_text(result, _again(self._item, share))}"
        self._problems[k] = problem = _for_the_log(problem)
        if not result.passed:
            pytest.fail(problem, pytrace=False)
        warnings.warn(problem, WeakPass, stacklevel=3)
        return result


@pytest.fixture
def dp_audit(request: pytest.FixtureRequest) -> Iterator[DPAudit]:
    """Audit a mechanism: ``dp_audit(mechanism, claim, neighbours, **options)``, or ``dp_audit(object_of_a_library)``.

    Fails the test if the claim is violated, with pair, event, counts and bound. Fails it too if there is no answer. All
    audits of the session share one error budget (``--dp-confidence``).
    """
    item = request.node
    if _NODE not in item.stash:
        pytest.fail(
            "dp_audit must be an argument of the test: only then is the test's share of the error budget known",
            pytrace=False,
        )
    from auditor.foreign_code import exits_refused

    item.stash[_IS_TOLD] = False
    audits = DPAudit(item)
    substitutes = exits_refused(silent_only=True)
    usual = {name: getattr(os, name) for name in substitutes}
    vars(os).update(substitutes)
    yield audits
    vars(os).update(usual)
    audits.end()
    # These include the problems of earlier runs of the test.
    if (problems := item.stash[_PROBLEMS]) and not item.stash[_IS_TOLD]:
        pytest.fail("\n".join(problems.values()), pytrace=False)


def _chosen(item: pytest.Item, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options. The call overrides markers, inner ones outer ones. Raises InvalidInputError for an unknown option."""
    # The mechanism runs in the test's process, so that fixtures, monkeypatches and debuggers work.
    chosen: dict[str, Any] = {"workers": 1, "isolate": False, "expect": None}
    chosen["strict"] = item.config.stash[_STRICT]
    for marker in reversed(list(item.iter_markers(FIXTURE))):
        if marker.args:
            raise InvalidInputError(
                f"the marker has {marker.args!r}; it takes options by name, such as samples=100_000"
            )
        chosen |= marker.kwargs
    chosen |= options
    if "confidence" in chosen:
        raise InvalidInputError(
            "the confidence holds for the whole session; set `--dp-confidence`, or `dp_confidence` in the ini file"
        )
    allowed = {"expect", "strict", "parameters", *SettingsKeywords.__annotations__}
    require_keywords("there is no option", chosen, allowed)
    if chosen["expect"] is not None:
        require_known("expect is", [chosen["expect"]], ("no_violation_found", "violation"))
    # A test should take seconds if an output takes 50 µs, as is usual in libraries.
    return chosen if {"samples", "seconds"} & set(chosen) else {**chosen, "samples": 200_000}


def _for_the_log(text: str) -> str:
    """Return text that pytest prints, on GitHub without lines that GitHub obeys."""
    return without_commands(text) if os.environ.get("GITHUB_ACTIONS") == "true" else text


def _again(item: pytest.Item, share: float) -> str:
    """Return the command that runs this test alone, with the same outputs at the same level."""
    file = os.path.relpath(item.path, item.config.invocation_params.dir)
    _, colons, within = item.stash[_NODE].partition("::")
    return f"{shlex.join(['pytest', file + colons + within])} --dp-confidence {1 - share!r}"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report the audits of the session, and how much of the allowed error they have spent."""
    audits = _audits_of(terminalreporter.stats)
    if not audits:
        return
    wrong = sum(not audit["as_expected"] for _, audit in audits)
    weak = sum(audit["weak"] for _, audit in audits)
    spent, budget = sum(audit["allowed_error"] for _, audit in audits), 1 - config.stash[_CONFIDENCE]
    terminalreporter.section("differential-privacy audits")
    if config.get_verbosity() > 0:
        for test, audit in audits:
            line = f"{test}: {audit['verdict']}, claim {audit['claim']}, proved {audit['proved']}"
            terminalreporter.write_line(_for_the_log(line))
    tests = len({test for test, _ in audits})
    summary = f"{wrong or 'none'} not as expected{f', {weak} weak' if weak else ''}"
    terminalreporter.write_line(
        f"{how_many(len(audits), 'audit')} in {how_many(tests, 'test')}, {summary}; "
        f"{false_alarms(budget, 'session')}, {100 * spent / budget:.3g} % of that spent"
    )


def _audits_of(stats: dict[str, Sequence[Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return all audits, each with the node id of its test. The report on a test's teardown has all audits of the test.

    After a rerun, this report also has the audits of earlier runs. Each audit is returned once.
    """
    entries = {}
    for report in itertools.chain.from_iterable(stats.values()):
        for name, value in report.user_properties if getattr(report, "when", "") == "teardown" else ():
            if name == FIXTURE:
                audit = json.loads(value)
                entries[getattr(report, "worker_id", ""), report.nodeid, audit["call"]] = report.nodeid, audit
    return list(entries.values())
