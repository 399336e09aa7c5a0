"""Accountants in configurations: exit status, every form of the report, baselines, and reports that are forged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from auditor.auditing.consistent import read_report
from auditor.cli import main
from auditor.config.schema import json_schema
from auditor.errors import InvalidInputError

CODE = """
import math


def loose(sigma, steps, delta):
    return 1.5 * steps / sigma**2 + 2 * math.sqrt(steps * math.log(1 / delta)) / sigma


def textbook(epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def forbidden(sigma, steps, delta):
    raise ValueError("::error::<script>no</script> `x` |")


def without_delta(sigma, steps):
    return 1e9


def small(sigma, steps, delta):
    return 0.1


def theirs(sigma, steps):
    from auditor.exact import Gaussian, Process

    return Process(Gaussian(sigma), steps=steps)
"""
SOUND = """
  - name: loose
    states: epsilon
    stated: theirs.py:loose
    process: {noise: gaussian, scale: sigma, steps: steps}
    parameters: {sigma: {low: 1, high: 30}, steps: {low: 1, high: 1e3, integer: true}, delta: [1e-5, 1e-9]}
"""
FAULTY = """
  - name: textbook
    states: noise
    stated: theirs.py:textbook
    process: {noise: gaussian, scale: scale}
    parameters: {epsilon: {low: 0.1, high: 10}, delta: 1e-5}
    source: a textbook
"""
HEAD = "version: 1\nseed: 3\nexecution: {workers: 1, isolate: false}\naccountants:\n"
REPORT = Path("reports/a/report.json")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Run a configuration with this text; return the exit status."""
    monkeypatch.chdir(tmp_path)
    Path("theirs.py").write_text(CODE, encoding="utf-8")

    def runs(text: str, *options: str) -> int:
        Path("a.yaml").write_text(text, encoding="utf-8")
        return main(["run", "a.yaml", *options])

    return runs


def report() -> Any:
    return json.loads(REPORT.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
    [
        (SOUND, 0, "no_violation_found"),
        (FAULTY, 1, "violation"),
        (FAULTY + "    expect: violation\n", 0, "violation"),
        (SOUND + "    expect: violation\n", 1, "no_violation_found"),
        (SOUND.replace("loose", "forbidden"), 3, "inconclusive"),
        (SOUND + FAULTY, 1, "violation"),
    ],
)
def test_the_exit_status_follows_from_the_verdicts(
    run: Callable[..., int], text: str, status: int, verdict: str
) -> None:
    assert run(HEAD + text) == status
    assert (report()["verdict"], report()["passed"]) == (verdict, status == 0)
    read_report(REPORT)
    assert main(["show", str(REPORT)]) == 0


def test_a_process_may_be_a_function_or_a_list(run: Callable[..., int]) -> None:
    mapping = "{noise: gaussian, scale: sigma, steps: steps}"
    assert run(HEAD + SOUND.replace(mapping, "theirs.py:theirs")) == 0
    by_function = report()["accountants"]
    assert run(HEAD + SOUND.replace(mapping, f"[{mapping}]")) == 0
    assert [one["worst"] for one in by_function] == [one["worst"] for one in report()["accountants"]]


def test_accountants_stand_beside_audits(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    audit = """
audits:
  - name: noisy
    mechanism: noise.py:noisy
    claim: {epsilon: 1.0}
    samples: 4000
    neighbours: {pairs: [{left: 0, right: 1}]}
"""
    Path("noise.py").write_text("def noisy(x, size, rng):\n    return rng.laplace(x, 1, size)\n", encoding="utf-8")
    assert run(HEAD + FAULTY + audit, "--junit", "junit.xml") == 1
    out = capsys.readouterr().out
    assert "1 of 2 audits did NOT end as expected, “textbook” (1 audit and 1 accountant, a false alarm" in out
    assert "Nothing was sampled" in out
    suite = ElementTree.parse("junit.xml").getroot()[0]
    assert {case.get("name"): [part.tag for part in case] for case in suite} == {
        "noisy": ["properties", "system-out"],
        "textbook": ["properties", "failure"],
    }
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert run(HEAD + FAULTY + audit, "--only", "noisy") == 0
    assert "accountants" not in report()
    assert run(HEAD + FAULTY + audit, "--only", "textbook") == 1
    assert report()["audits"] == []


def test_every_form_of_the_report_names_parameters_and_numbers(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    run(HEAD + FAULTY)
    page, summary = (Path("reports/a", name).read_text(encoding="utf-8") for name in ("report.html", "summary.md"))
    for text in (page, summary, capsys.readouterr().out):
        assert "0.484481" in text
        assert "ε ≥ 10.3938" in text
        assert "Nothing was sampled" in text
        assert "confidence to state" in text
    assert "a textbook" in page
    assert "at least 1 of 1,000 runs" not in page


def test_untrusted_text_is_shown_as_one_visible_line(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    assert run(HEAD + SOUND.replace("theirs.py:loose", "theirs.py:forbidden")) == 3
    assert "<script>" not in Path("reports/a/report.html").read_text(encoding="utf-8")
    assert "<script>" not in Path("step.md").read_text(encoding="utf-8").replace("\\<script\\>", "")
    captured = capsys.readouterr()
    lines = [line for line in (captured.out + captured.err).splitlines() if line.lstrip().startswith("::")]
    assert all(line.startswith("::error file=a.yaml,title=") for line in lines)
    assert len(lines) == 1


def test_a_baseline_says_what_got_worse(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    worse = SOUND.replace("theirs.py:loose", "theirs.py:small")
    assert run(HEAD + SOUND) == 0
    REPORT.rename("old.json")
    assert run(HEAD + SOUND, "--baseline", "old.json") == 0
    assert "nothing worse" in capsys.readouterr().out
    assert run(HEAD + worse, "--baseline", "old.json") == 1
    assert "verdict changed from no violation found to violation" in capsys.readouterr().out
    assert run(HEAD + FAULTY, "--baseline", "old.json") == 1
    assert "vanished" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "value"), [("verdict", "no_violation_found"), ("passed", True), ("tolerance", 0.5), ("name", 3)]
)
def test_a_forged_report_is_refused(run: Callable[..., int], key: str, value: object) -> None:
    run(HEAD + FAULTY)
    data = report()
    data["accountants"][0][key] = value
    if key == "verdict":
        data |= {"verdict": value, "passed": True}
    REPORT.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InvalidInputError):
        read_report(REPORT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 1\n", 'needs the key "audits", or "accountants"'),
        (HEAD + SOUND + SOUND, 'two audits are called "loose"'),
        (HEAD + SOUND.replace("states: epsilon", "states: epsilom"), 'did you mean "epsilon"'),
        (HEAD + SOUND.replace("scale: sigma", "scale: sigm"), 'did you mean "sigma"'),
        (HEAD + SOUND.replace("low: 1,", "low: 40,"), "low must be at most high"),
        (HEAD + SOUND.replace("stated:", "statd:"), 'unknown key "statd"'),
        (HEAD + SOUND.replace("loose\n    process", "lose\n    process"), 'did you mean "loose"'),
        (HEAD + SOUND + "    tolerance: 2\n", "tolerance is"),
        (HEAD + SOUND + "    points: 0\n", "points is 0"),
    ],
)
def test_errors_name_file_and_line(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    assert run(text) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "a.yaml, line" in error


def test_check_states_one_number(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    run(HEAD + FAULTY)
    capsys.readouterr()
    assert main(["check", "a.yaml"]) == 0
    assert "textbook: at epsilon = 1, delta = 1e-05: the target is 1, exact at most 0.750977" in capsys.readouterr().out


def test_equal_runs_write_equal_reports(run: Callable[..., int]) -> None:
    run(HEAD + SOUND + FAULTY)
    first = REPORT.read_bytes()
    run(HEAD + SOUND + FAULTY)
    assert REPORT.read_bytes() == first


def test_a_weak_pass_fails_under_strict_only(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + SOUND + "    points: 3\n"
    assert run(text, "--quiet") == 0
    assert "loose: weak: few settings were compared" in capsys.readouterr().err
    assert report()["accountants"][0]["weak"]
    assert run(text, "--strict", "--junit", "junit.xml") == 1
    assert ElementTree.parse("junit.xml").getroot()[0][0].find("failure").get("type") == "weak"  # type: ignore[union-attr]
    assert main(["show", str(REPORT)]) == 0
    read_report(REPORT)
    assert run(HEAD + SOUND, "--strict") == 0


def test_an_error_of_one_accountant_leaves_the_others(run: Callable[..., int]) -> None:
    without = SOUND.replace(", delta: [1e-5, 1e-9]", "").replace("theirs.py:loose", "theirs.py:without_delta")
    assert run(HEAD + without + FAULTY) == 1
    unanswered, textbook = report()["accountants"]
    assert (unanswered["verdict"], textbook["verdict"]) == ("inconclusive", "violation")
    assert "add `delta` to the parameters" in unanswered["reason"]


def test_accountants_alone_cannot_be_recorded(run: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(HEAD + FAULTY, "--record", "kept") == 2
    assert "audits of accountants draw no outputs" in capsys.readouterr().err


def test_the_schema_allows_either_key() -> None:
    schema = json_schema()
    assert schema["anyOf"] == [{"required": ["audits"]}, {"required": ["accountants"]}]
    assert "audits" not in schema["required"]


def test_plan_and_prove_say_what_there_is_of_accountants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "theirs.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(HEAD + SOUND + FAULTY, encoding="utf-8")
    assert main(["plan", str(tmp_path / "own.yaml")]) == 0
    printed = capsys.readouterr().out
    assert (
        "nothing is drawn" in printed
        and "400" in printed
        and "sigma: 1 to 30; steps: 1 to 1000; delta: 1e-05, 1e-09" in printed
    )
    assert "chance" not in printed  # of an empty table of audits
    assert main(["prove", str(tmp_path / "own.yaml")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "nothing to prove" in printed and "loose, textbook" in printed and "auditor run" in printed
    assert "claim" not in printed
