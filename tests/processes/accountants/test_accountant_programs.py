"""Accountants that are programs: a line of JSON for each question, with the number and the process in its answer."""

import json
import math
import os
import sys
from pathlib import Path

import pytest

from auditor.accountants import Accountant, AccountantResult, Range, audit_accountant
from auditor.blackbox.command import Command
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError, MechanismError
from auditor.exact import Laplace, Process, epsilon_interval

PROGRAM = """
import json, sys
from pathlib import Path
for line in sys.stdin:
    p = json.loads(line)["parameters"]
    process = {{"noise": "laplace", "scale": p["scale"]}}
    print(json.dumps(({answer})), flush=True)
"""


def program(folder: Path, answer: str) -> Command:
    (folder / "program.py").write_text(PROGRAM.format(answer=answer))
    return Command([sys.executable, "program.py"], str(folder))


def audit(folder: Path, answer: str, states: str = "epsilon", **more: object) -> AccountantResult:
    parameters = {"scale": Range(0.1, 10.0), "delta": 0.0, **more}
    target = Accountant("a program", states, program(folder, answer), None, parameters)  # type: ignore[arg-type]
    return audit_accountant(target, points=40, call_seconds=2.0)


def test_a_number_below_the_exact_one_of_the_answered_process_is_a_violation(tmp_path: Path) -> None:
    result = audit(tmp_path, '{"stated": 0.5 / p["scale"], "process": process}')
    assert result.verdict == "violation"
    assert result.simplest is not None and result.simplest.ratio == pytest.approx(2)


def test_the_exact_number_is_no_violation(tmp_path: Path) -> None:
    result = audit(tmp_path, '{"stated": 1 / p["scale"], "process": process}')
    assert result.verdict == "no_violation_found"
    assert result.coverage.share == 1


def test_a_list_of_processes_is_composed(tmp_path: Path) -> None:
    assert audit(tmp_path, '{"stated": 1 / p["scale"], "process": [process] * 2}').verdict == "violation"
    assert audit(tmp_path, '{"stated": 2 / p["scale"], "process": [process] * 2}').verdict == "no_violation_found"


@pytest.mark.parametrize(("too_small", "verdict"), [(1e-3, "violation"), (0.0, "no_violation_found")])
def test_an_answer_may_say_where_its_number_stands(tmp_path: Path, too_small: float, verdict: str) -> None:
    stated = epsilon_interval(Process(Laplace(2.0)), 2e-5).high
    answer = f'{{"stated": 2e-5, "at": {stated - too_small}, "process": process}}'
    assert audit(tmp_path, answer, "delta", scale=2.0).verdict == verdict


def test_noise_of_a_calibration_is_in_the_answered_process(tmp_path: Path) -> None:
    command = program(tmp_path, '{"stated": 0.5 / p["epsilon"], "process": {**process, "scale": 0.5 / p["epsilon"]}}')
    parameters = {"epsilon": Range(0.1, 10.0), "delta": 0.0, "start": 1.0}
    code = (tmp_path / "program.py").read_text(encoding="utf-8")
    (tmp_path / "program.py").write_text(code.replace('p["scale"]', 'p["start"]'), encoding="utf-8")
    result = audit_accountant(Accountant("noise", "noise", command, None, parameters), points=40)
    assert result.verdict == "violation"
    assert result.simplest is not None and result.simplest.ratio == pytest.approx(2)


def test_the_process_may_be_given_beside_the_program(tmp_path: Path) -> None:
    command = program(tmp_path, '{"stated": 0.5 / p["scale"]}')
    template = {"noise": "laplace", "scale": "scale"}
    target = Accountant("half", "epsilon", command, template, {"scale": Range(0.1, 10.0), "delta": 0.0})
    assert audit_accountant(target, points=20).verdict == "violation"


def test_a_curve_is_compared_at_its_points(tmp_path: Path) -> None:
    exact = epsilon_interval(Process(Laplace(2.0)), 2e-5).high
    for less, verdict in ((1e-3, "violation"), (0.0, "no_violation_found")):
        points = f"[[2e-5, {exact - less}], [0.0, 0.5]]"
        assert audit(tmp_path, f'{{"stated": {points}, "process": process}}', scale=2.0, delta=0.5).verdict == verdict


def test_what_a_program_raises_is_a_refusal_and_infinity_a_word(tmp_path: Path) -> None:
    answer = '{"error": "ValueError: too small"} if p["scale"] < 1 else {"stated": "Infinity", "process": process}'
    result = audit(tmp_path, answer)
    assert result.verdict == "no_violation_found"
    assert result.coverage.refused > 5 and result.coverage.outside == 0
    assert {"raises", "infinite"} <= {fact.kind for fact in result.facts}


def test_a_program_that_hangs_or_dies_at_some_settings_is_started_again(tmp_path: Path) -> None:
    stated = '{"stated": 1 / p["scale"], "process": process}'
    for failure in ("__import__('time').sleep(60)", "__import__('os')._exit(3)"):
        result = audit(tmp_path, f"{failure} if p['scale'] == 5 else {stated}", scale=[1.0, 2.0, 5.0])
        assert result.verdict == "no_violation_found"
        assert result.coverage.refused == 1
        assert "crashes or hangs" in {fact.kind for fact in result.facts}


def test_state_that_a_program_keeps_shows_and_the_calls_before_are_named(tmp_path: Path) -> None:
    answer = '{"stated": globals().setdefault("kept", 1 / p["scale"]), "process": process}'
    result = audit(tmp_path, answer)
    assert result.verdict == "violation"
    assert result.after


@pytest.mark.parametrize("answer", ["5", '"text"', "[1]", '{"stated": 1.0}'])
def test_an_answer_of_another_form_is_an_error_that_shows_it(tmp_path: Path, answer: str) -> None:
    with pytest.raises(MechanismError, match="answered"):
        audit(tmp_path, answer)


def test_an_answer_without_a_number_is_a_fact(tmp_path: Path) -> None:
    result = audit(tmp_path, '{"stated": "much", "process": process}')
    assert result.verdict == "inconclusive"
    assert "no number" in {fact.kind for fact in result.facts}


def test_the_process_of_a_program_ends_with_its_audit(tmp_path: Path) -> None:
    audit(tmp_path, '{"stated": 1 / p["scale"], "process": process}')
    answer = '{"stated": open("pid", "w").write(str(__import__("os").getpid())) / 1e9, "process": process}'
    assert audit(tmp_path, answer).verdict == "violation"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), 0)


def test_only_a_program_may_leave_out_the_process() -> None:
    with pytest.raises(InvalidInputError, match="only a Command may answer with the process"):
        Accountant("f", "epsilon", lambda scale: 1 / scale, None, {"scale": 1.0, "delta": 0.0})


def test_a_missing_program_is_an_error(tmp_path: Path) -> None:
    target = Accountant("f", "epsilon", Command(["./none"], str(tmp_path)), None, {"scale": 1.0, "delta": 0.0})
    with pytest.raises(MechanismError, match="was not found"):
        audit_accountant(target)


def test_a_configuration_names_a_program(tmp_path: Path) -> None:
    program(tmp_path, '{"stated": 0.5 / p["scale"], "process": process}')
    stated = {"command": [sys.executable, "program.py"]}
    parameters = {"scale": {"low": 0.1, "high": 10}, "delta": 0}
    keys = {
        "name": "half",
        "states": "epsilon",
        "stated": stated,
        "parameters": parameters,
        "points": 20,
        "expect": "violation",
    }
    (tmp_path / "a.yaml").write_text(json.dumps({"version": 1, "accountants": [keys]}))
    [plan] = load_configuration(tmp_path / "a.yaml").accountants
    result = plan.carry_out()
    assert result.passed and result.verdict == "violation"
    assert "exact at most" in plan.try_once()


# --- Lower bounds; no program is needed for these ---


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [(1.001, "violation"), (1.0, "no_violation_found"), (0.5, "no_violation_found"), (math.inf, "violation")],
)
def test_a_lower_bound_must_not_lie_above_the_exact_number(factor: float, verdict: str) -> None:
    process = {"noise": "laplace", "scale": "scale"}
    parameters = {"scale": Range(0.1, 10.0), "delta": 0.0}
    target = Accountant("low", "epsilon", lambda scale: factor / scale, process, parameters, bound="lower")
    result = audit_accountant(target, points=40, isolate=False)
    assert result.verdict == verdict
    if verdict == "violation":
        assert result.simplest is not None and result.simplest.ratio == pytest.approx(factor)
        assert "as a lower bound, where it is at most" in result.reason


def test_a_lower_bound_inside_a_wide_interval_is_undecided() -> None:
    process = {"noise": "gaussian", "scale": 1.0, "sampling": "allocation", "batches": "batches"}
    parameters = {"batches": [10, 20], "delta": 1e-5}
    for stated, verdict in ((3.0, "inconclusive"), (0.1, "no_violation_found"), (6.0, "violation")):
        target = Accountant("low", "epsilon", lambda batches, s=stated: s, process, parameters, bound="lower")
        assert audit_accountant(target, points=5, isolate=False).verdict == verdict


def test_noise_has_no_lower_bound() -> None:
    with pytest.raises(InvalidInputError, match='bound is "lower"'):
        Accountant(
            "n",
            "noise",
            lambda epsilon: 1 / epsilon,
            {"noise": "laplace", "scale": "scale"},
            {"epsilon": 1.0},
            bound="lower",
        )
