"""The pytest plugin: failures that state the finding, and an error budget that no way of running tests can overspend.

Audits are seeded, and pass with these seeds.
"""

import json
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from folders import PROJECT

import auditor
from auditor.pytest_plugin import pytest_configure

pytest_plugins = ["pytester"]

PLUGIN = "auditor.pytest_plugin"

TESTS = """
import auditor
import pytest

def laplace(data, size, rng, scale=1.0):
    return rng.laplace(data, scale, size)

PAIR = [(0, 1)]
OPTIONS = dict(samples=4000)
"""

SOUND = """
def test_sound(dp_audit):
    result = dp_audit(laplace, auditor.PureDP(1.0), PAIR, **OPTIONS)
    assert 0.5 < result.bound.value <= 1
"""

BROKEN = """
def test_broken(dp_audit):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, parameters={"scale": 0.3}, **OPTIONS)
"""


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """Import all that an audit imports: sessions in this process forget their imports, and NumPy cannot be imported twice."""
    for claimed in (1.0, 0.3):
        auditor.audit(
            lambda data, size, rng: rng.laplace(data, 1.0, size), auditor.PureDP(claimed), [(0, 1)], samples=4000
        )


@pytest.fixture(autouse=True)
def _this_project(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions started by a test load the plugin of this tree, installed or not."""
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=TESTS + source)
    return pytester.runpytest_inprocess("-p", PLUGIN, "-p", "no:cacheprovider", *arguments)


@pytest.mark.parametrize(
    "ending",
    ["os._exit(0)", 'os.execv(sys.executable, [sys.executable, "-c", ""])', 'os.execvp("true", ["true"])'],
)
@pytest.mark.parametrize("where", ["mechanism", "test"])
def test_no_code_ends_the_session_with_status_0(pytester: pytest.Pytester, ending: str, where: str) -> None:
    in_mechanism, in_test = (ending, "pass") if where == "mechanism" else ("pass", ending)
    source = f"""
import os, sys

def ends(data, rng):
    {in_mechanism}
    return float(data) + rng.laplace()

def test_ends(dp_audit):
    dp_audit(ends, auditor.PureDP(1.0), PAIR, **OPTIONS)
    {in_test}

def test_child(dp_audit):
    child = os.fork()
    if not child:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    pytester.makepyfile(test_it=TESTS + source)
    result = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider")
    assert result.ret == 1
    result.assert_outcomes(failed=1, passed=1)


def test_a_status_that_fails_may_end_the_session(pytester: pytest.Pytester) -> None:
    """This is how another plugin's time limit ends a session that hangs."""
    source = "\ndef test_ends(dp_audit):\n    import os\n    os._exit(7)\n"
    pytester.makepyfile(test_it=TESTS + source)
    assert pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider").ret == 7


EXITS = {
    "in the last of the tests": """
def test_exits(dp_audit):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, **OPTIONS)
    pytest.exit("all done", 0)
""",
    "after a failure": BROKEN + """
def test_exits():
    pytest.exit("all done", 0)
""",
    "before a test that audits": """
def test_exits():
    pytest.exit("all done", 0)
""" + BROKEN,
}  # fmt: skip


@pytest.mark.parametrize("where", EXITS)
def test_exit_of_pytest_ends_no_session_with_audits_with_status_0(pytester: pytest.Pytester, where: str) -> None:
    assert run(pytester, EXITS[where]).ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("source", "status"),
    [("def test_exits():\n    pytest.exit('', 0)", 0), (EXITS["in the last of the tests"].replace("0)", "7)"), 7)],
)
def test_exit_of_pytest_keeps_its_status_otherwise(pytester: pytest.Pytester, source: str, status: int) -> None:
    assert run(pytester, source).ret == status


def audits(pytester: pytest.Pytester, source: str, *arguments: str) -> dict[str, list[dict[str, object]]]:
    """Return what each passed or failed test reports about its audits in the session's XML file."""
    run(pytester, source, "--junit-xml=junit.xml", *arguments)
    return told_of(pytester)


def told_of(pytester: pytest.Pytester) -> dict[str, list[dict[str, object]]]:
    cases = ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    return {
        case.attrib["name"]: [json.loads(entry.attrib["value"]) for entry in case.iter("property")] for case in cases
    }


def spent(result: dict[str, list[dict[str, object]]]) -> float:
    return sum(float(str(audit["allowed_error"])) for told in result.values() for audit in told)


def test_a_sound_mechanism_at_its_claim_passes_and_the_budget_is_reported(pytester: pytest.Pytester) -> None:
    result = run(pytester, SOUND)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["1 audit in 1 test, none not as expected; a false alarm in at most 1 of 1,000 sessions, 50 % of that spent"]
    )


def test_a_failure_tells_pair_event_counts_bound_and_the_command_without_a_traceback(pytester: pytest.Pytester) -> None:
    result = run(pytester, SOUND + BROKEN)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.re_match_lines(
        [
            r"dp_audit: violation \(expected: no violation found\); the claim is ε = 1",
            r"  pair       0 and 1",
            r"  event      output ≤ .*: [0-9,]+ of [0-9,]+ outputs on the left, [0-9,]+ of [0-9,]+ on the right",
            r"  event      output > .*: [0-9,]+ of [0-9,]+ outputs on the left, [0-9,]+ of [0-9,]+ on the right",
            r"  bound      ε ≥ [12]\.[0-9]+ with 99\.97[0-9]* % confidence, by guesses",
            r"  reproduce  pytest test_it\.py::test_broken --dp-confidence 0\.9995",
            r"1 audit.*|2 audits in 2 tests, 1 not as expected.*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "pytest_plugin.py" not in result.stdout.str()


def test_the_command_shown_gives_the_same_counts_and_bound(pytester: pytest.Pytester) -> None:
    def shown(result: pytest.RunResult) -> list[str]:
        lines = (line for line in result.outlines if line.startswith(("  event", "  bound", "  reproduce")))
        # Where CI is set, pytest's closing summary repeats the whole message.
        return list(dict.fromkeys(lines))

    first = shown(run(pytester, SOUND + BROKEN))
    command = first[-1].split("reproduce  pytest ")[1]
    again = shown(pytester.runpytest_subprocess("-p", PLUGIN, *command.split()))
    assert len(first) == 4
    assert first == again


USES = """
SCALE = 1.0

def patched(data, size, rng):
    return rng.laplace(data, SCALE, size)

@pytest.mark.dp_audit(samples=1000, seed=5)
class TestMarked:
    @pytest.mark.dp_audit(samples=2000)
    def test_the_call_goes_before_the_nearest_marker(self, dp_audit):
        result = dp_audit(laplace, auditor.PureDP(1.0), PAIR)
        assert (result.illustration.growth[-1][0], result.seed) == (2000, 5)
        result = dp_audit(laplace, auditor.PureDP(1.0), PAIR, samples=3000)
        assert (result.illustration.growth[-1][0], result.seed) == (3000, 5)

def test_a_bound_has_fewer_outputs_than_elsewhere_unless_they_are_given(dp_audit):
    assert dp_audit(laplace, auditor.PureDP(1.0), PAIR).illustration.growth[-1][0] == 200_000
    assert dp_audit(laplace, auditor.PureDP(1.0), PAIR, samples=5_000).illustration.growth[-1][0] == 5_000

@pytest.mark.dp_audit(samples=4000, expect="violation")
@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_twin(dp_audit, monkeypatch, scale):
    monkeypatch.setattr(__import__(__name__), "SCALE", scale)
    dp_audit(patched, auditor.PureDP(1.0), PAIR)
"""


def test_markers_calls_and_monkeypatches_hold_and_an_expected_violation_must_be_found(
    pytester: pytest.Pytester,
) -> None:
    result = run(pytester, USES, "--strict-markers")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["dp_audit: no violation found (expected: violation)*"])


WRONG = [
    ("dict(sampels=1000)", 'there is no option "sampels"; did you mean "samples"?'),
    ("dict(confidence=0.9)", "the confidence holds for the whole session; set `--dp-confidence`"),
    ("dict(name='x')", 'there is no option "name"'),
    ("dict(expect='inconclusive')", 'expect is "inconclusive"; '),
    ("dict(samples=5)", "samples is 5; it must be an integer of at least 100"),
]


def test_a_wrong_option_fails_with_one_clear_line(pytester: pytest.Pytester) -> None:
    options = ", ".join(option for option, _ in WRONG)
    source = f"""
@pytest.mark.parametrize("options", [{options}])
def test_it(dp_audit, options):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, **options)

@pytest.mark.dp_audit(1000)
def test_marked(dp_audit):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR)
"""
    result = run(pytester, source)
    result.assert_outcomes(failed=len(WRONG) + 1)
    result.stdout.fnmatch_lines([f"dp_audit: {told}*" for _, told in [*WRONG, ("", "the marker has (1000,)")]])
    assert "Traceback" not in result.stdout.str()
    assert "During handling of the above exception" not in result.stdout.str()


# --- No audit is lost ---

HIDING = """
import contextlib
import threading
import unittest

def broken(dp_audit):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, parameters={"scale": 0.3}, **OPTIONS)
"""
HIDDEN = {
    "in a thread that is not joined": "threading.Thread(target=broken, args=[dp_audit], daemon=True).start()",
    "in a pool whose result is not asked for": """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool:
        pool.submit(broken, dp_audit)
""",
    "in a child process": """
    import os
    child = os.fork()
    if not child:
        try:
            broken(dp_audit)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
""",
    "under suppress": """
    with contextlib.suppress(BaseException):
        broken(dp_audit)
""",
    "under a bare except, then skipped": """
    try:
        broken(dp_audit)
    except:
        pytest.skip("not today")
""",
    "under raises": """
    with pytest.raises(pytest.fail.Exception):
        broken(dp_audit)
""",
    "the first of two": """
    with contextlib.suppress(BaseException):
        broken(dp_audit)
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, **OPTIONS)
""",
    "no answer": """
    def failing(data, rng):
        raise ValueError("no such luck")
    with contextlib.suppress(BaseException):
        dp_audit(failing, auditor.PureDP(1.0), PAIR, **OPTIONS)
""",
    "an option that is wrong": """
    with contextlib.suppress(BaseException):
        dp_audit(laplace, auditor.PureDP(1.0), PAIR, sampels=3)
""",
    "an expected violation that is not found": """
    with contextlib.suppress(BaseException):
        dp_audit(laplace, auditor.PureDP(1.0), PAIR, expect="violation", **OPTIONS)
""",
    "a mechanism that ends the call": """
    def ending(data, size, rng):
        raise KeyboardInterrupt
    with contextlib.suppress(BaseException):
        dp_audit(ending, auditor.PureDP(1.0), PAIR, **OPTIONS)
""",
}  # fmt: skip


def hiding(*ways: str) -> str:
    tests = [f"def test_hidden_{number}(dp_audit):\n    {HIDDEN[way].lstrip()}\n" for number, way in enumerate(ways)]
    return "\n".join([HIDING, *tests])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_audit_that_ended_otherwise_fails_its_test_wherever_it_ran(pytester: pytest.Pytester) -> None:
    result = run(pytester, hiding(*HIDDEN), "--junit-xml=junit.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert result.parseoutcomes()["errors"] == len(HIDDEN)
    cases = ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    failed = {case.attrib["name"] for case in cases if case.find("error") is not None}
    assert [way for number, way in enumerate(HIDDEN) if f"test_hidden_{number}" not in failed] == []


def test_workers_of_xdist_lose_no_audit_either(pytester: pytest.Pytester) -> None:
    assert run(pytester, hiding("under suppress"), "-n", "1").ret == pytest.ExitCode.TESTS_FAILED


LATE = """
kept = []
def test_keeps(dp_audit):
    kept.append(dp_audit)
def test_calls():
    with pytest.raises(BaseException):
        kept[0](lambda data, rng: data, auditor.PureDP(1.0), PAIR, **OPTIONS)
"""


@pytest.mark.parametrize("more", [(), ("-n", "1")])
def test_an_audit_after_the_end_of_its_test_fails_the_session(pytester: pytest.Pytester, more: tuple[str, ...]) -> None:
    result = run(pytester, LATE, *more)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stderr.fnmatch_lines("*dp_audit was called after its test had ended, in *::test_keeps")


SUBTESTS = """
def test_parts(dp_audit, subtests):
    with subtests.test("one"):
        broken(dp_audit)

class TestParts(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _with_audits(self, dp_audit):
        self.dp_audit = dp_audit

    def test_of_unittest(self):
        with self.subTest("one"):
            broken(self.dp_audit)
"""


@pytest.mark.parametrize("name", ["test_parts", "test_of_unittest"])
def test_an_audit_in_a_subtest_fails_the_session(pytester: pytest.Pytester, name: str) -> None:
    assert run(pytester, HIDING + SUBTESTS, "-k", name).ret == pytest.ExitCode.TESTS_FAILED


def test_what_is_told_is_not_told_twice(pytester: pytest.Pytester) -> None:
    source = """
@pytest.mark.xfail
def test_known(dp_audit):
    broken(dp_audit)

@pytest.fixture
def audited(dp_audit):
    broken(dp_audit)

def test_in_a_fixture(audited):
    pass
"""
    run(pytester, HIDING + source + BROKEN).assert_outcomes(xfailed=1, errors=1, failed=1)


# As pytest-rerunfailures runs a failed test again.
RERUNNING = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for left in reversed(range(3)):
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        again = left and any(report.failed for report in reports)
        for report in reports:
            if again and report.failed:
                report.outcome = "rerun"
            item.ihook.pytest_runtest_logreport(report=report)
        if not again:
            break
    return True

def pytest_report_teststatus(report):
    if report.outcome == "rerun":
        return "rerun", "R", "RERUN"
"""


def test_reruns_share_the_budget_of_the_test_and_take_back_no_violation(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(RERUNNING)
    source = """
RUNS = []

def test_flaky(dp_audit):
    RUNS.append(1)
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, **OPTIONS)
    assert len(RUNS) > 2

def test_lucky(dp_audit):
    RUNS.append(1)
    scale = 0.3 if len(RUNS) == 4 else 1.0
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, parameters={"scale": scale}, **OPTIONS)
"""
    result = run(pytester, source)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        # Three runs spend 1 − 1/4 of each half of the budget of .1 %.
        ["6 audits in 2 tests, 1 not as expected; *in at most 1 of 1,000 sessions, 75 % of that spent"]
    )


# --- Weak passes ---

WEAK = """
def test_weak(dp_audit):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, samples=100)
"""


def test_a_weak_pass_is_a_warning(pytester: pytest.Pytester) -> None:
    source = WEAK + WEAK.replace("test_weak", "test_not_strict").replace("samples", "strict=False, samples")
    result = run(pytester, WEAK, "-W", "default")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*WeakPass: dp_audit: a weak pass of ε = 1: *", "1 audit in 1 test, *, 1 weak; *"])
    run(pytester, source, "--dp-strict", "-W", "default").assert_outcomes(passed=1, failed=1, warnings=1)


STRICT = [
    WEAK.replace("weak", "one").replace("samples", "strict=True, samples"),
    "@pytest.mark.dp_audit(strict=True)" + WEAK.replace("weak", "two"),
]


@pytest.mark.parametrize(
    ("source", "options", "failed"),
    [
        ("\n".join(STRICT), (), 2),
        (WEAK.replace("def", "@pytest.mark.filterwarnings('ignore')\ndef"), ("-o", "dp_strict=true"), 1),
    ],
)
def test_a_weak_pass_fails_where_it_is_asked_to(
    pytester: pytest.Pytester, source: str, options: tuple[str, ...], failed: int
) -> None:
    result = run(pytester, SOUND + source, *options)
    result.assert_outcomes(passed=1, failed=failed)
    result.stdout.fnmatch_lines(["dp_audit: a weak pass of ε = 1: *"] * failed)


def test_a_weak_pass_where_a_violation_was_expected_is_told_as_such(pytester: pytest.Pytester) -> None:
    result = run(pytester, WEAK.replace("samples", "expect='violation', samples"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["dp_audit: no violation found (weak) (expected: violation); *"])


# --- Without a claim ---

MEASURED = """
def test_measured(dp_audit):
    result = dp_audit(laplace, None, PAIR, **OPTIONS)
    assert result.verdict == "measured" and result.passed and result.bound.value > 0.5
"""


def test_a_loss_without_a_claim_is_measured_and_cannot_fail(pytester: pytest.Pytester) -> None:
    result = run(pytester, MEASURED, "--dp-strict")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["1 audit in 1 test, none not as expected; *"])


@pytest.mark.parametrize("expect", ["violation", "no_violation_found"])
def test_without_a_claim_nothing_can_be_expected(pytester: pytest.Pytester, expect: str) -> None:
    result = run(pytester, MEASURED.replace("**OPTIONS", f"expect={expect!r}, **OPTIONS"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"dp_audit: expect is '{expect}', but the audit has no claim and ends as measured; *"])


# --- GitHub ---


def test_on_github_a_failure_has_no_line_that_is_a_command(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harmless text, in the data and in an error."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    source = """
WORD = "##[debug]HARMLESS"

def shows(data, size, rng):
    return [data[0]] * size

def test_data(dp_audit):
    dp_audit(shows, auditor.PureDP(1.0), [([WORD], [WORD + "2"])], **OPTIONS)

def test_error(dp_audit):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, method=WORD)
"""
    result = run(pytester, source, "-rA", "-v")
    result.assert_outcomes(failed=2)
    assert [line for line in result.outlines if "##[" in line or line.lstrip().startswith("::")] == []
    assert any("HARMLESS" in line for line in result.outlines)


# --- The budget ---

MANY = """
@pytest.mark.parametrize("i", range(4))
def test_many(dp_audit, i):
    dp_audit(laplace, auditor.PureDP(1.0), PAIR, samples=400)

class TestInAClass:
    def test_three_calls(self, dp_audit):
        for i in range(3):
            dp_audit(laplace, auditor.PureDP(1.0), PAIR, samples=400)

@pytest.fixture
def audited(dp_audit):
    return dp_audit(laplace, auditor.PureDP(1.0), PAIR, samples=400)

def test_through_another_fixture(audited):
    pass

def test_unrelated():
    pass
"""


def test_workers_change_neither_results_nor_what_is_spent(pytester: pytest.Pytester) -> None:
    source = MANY.replace("class Test", "@pytest.mark.xdist_group('g')\nclass Test")
    alone = audits(pytester, source, "--dp-confidence", "0.94")
    share = 0.06 / 6
    assert 0 < spent(alone) <= 0.06
    assert alone["test_unrelated"] == []
    assert [a["allowed_error"] for a in alone["test_many[2]"]] == pytest.approx([share / 2])
    assert [a["allowed_error"] for a in alone["test_three_calls"]] == pytest.approx([share / 2, share / 6, share / 12])
    assert [a["allowed_error"] for a in alone["test_through_another_fixture"]] == pytest.approx([share / 2])
    assert len({str(a["proved"]) for told in alone.values() for a in told}) > 3, "calls have outputs of their own"
    options = ("--dp-confidence", "0.94", "-n", "2", "--dist", "loadgroup", "-v", "--junit-xml=junit.xml")
    run(pytester, source, *options).stdout.fnmatch_lines(
        ["*test_many[[]0[]]*: no_violation_found, claim ε = 1, proved ε*", "8 audits in 6 tests, none not as expected*"]
    )
    assert {name.partition("@")[0]: told for name, told in told_of(pytester).items()} == alone


def test_where_every_worker_runs_every_test_they_share_the_budget(pytester: pytest.Pytester) -> None:
    result = run(pytester, SOUND, "-n", "2", "--dist", "each")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["2 audits in 1 test, *in at most 1 of 1,000 sessions, 50 % of that spent"])


def test_tests_that_are_deselected_leave_their_share_to_the_others(pytester: pytest.Pytester) -> None:
    audited = audits(pytester, MANY, "-k", "test_many and not 3")
    assert [a["allowed_error"] for a in audited["test_many[0]"]] == pytest.approx([0.001 / 3 / 2])


def test_a_test_that_asks_in_passing_is_refused_for_its_share_is_not_known(pytester: pytest.Pytester) -> None:
    source = "def test_it(request):\n    request.getfixturevalue('dp_audit')\n"
    result = run(pytester, source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["dp_audit must be an argument of the test*"])


@pytest.mark.parametrize("value", ["1", "0", "nan", "much", None])
def test_a_confidence_that_is_none_is_a_usage_error(pytester: pytest.Pytester, value: str | None) -> None:
    config = pytester.parseconfig("-p", PLUGIN)
    config.option.dp_confidence = value
    if value is None:
        assert config.getini("dp_confidence") == "0.999"
        pytest_configure(config)
        return
    with pytest.raises(pytest.UsageError, match="it must be a number strictly between 0 and 1"):
        pytest_configure(config)


def test_the_ini_file_sets_the_confidence_and_the_option_goes_before_it(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ndp_confidence = 0.98\n")
    assert spent(audits(pytester, SOUND, "-n", "1")) == pytest.approx(0.01)
    assert spent(audits(pytester, SOUND, "--dp-confidence", "0.96")) == pytest.approx(0.02)
    pytester.makeini("[pytest]\ndp_confidence = 99.9\n")
    result = run(pytester, SOUND)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: dp_confidence is '99.9'; it must be a number strictly between 0 and 1"])


# --- It costs nothing, and is loaded once ---


def test_nothing_is_imported_and_nothing_is_said_when_no_test_audits(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_plain="""
import sys

def test_plain():
    loaded = {name for name in sys.modules if name.startswith("auditor.")}
    assert loaded == {"auditor.pytest_plugin", "auditor.errors", "auditor.defaults"}
    assert not {"numpy", "scipy", "joblib", "rich"} & set(sys.modules)
"""
    )
    result = pytester.runpytest_subprocess("-p", PLUGIN)
    result.assert_outcomes(passed=1)
    assert "differential" not in result.stdout.str()


def test_the_plugin_loads_once_where_it_is_installed_and_named_too(tmp_path: Path) -> None:
    """As in an environment that has the package installed: an entry point of the module's own name."""
    info = tmp_path / "site" / "dp_auditor_of_the_test-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dp-auditor-of-the-test\nVersion: 1\n", encoding="utf-8"
    )
    declared = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    line = next(takewhile(bool, declared.split("[project.entry-points.pytest11]\n")[1].splitlines()))
    (info / "entry_points.txt").write_text(f"[pytest11]\n{line.replace(chr(34), '')}\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text(TESTS + SOUND, encoding="utf-8")
    for arguments in ([], ["-p", PLUGIN]):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *arguments, "test_it.py"],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path / 'site'}:{PROJECT}", "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("1 audit in 1 test") == 1
