"""Accountants of packages: their configurations, programs and pins; and what they state, if `make accountants` installed them."""

import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from auditor.accountants.auditing import AccountantPlan
from auditor.accountants.calls import build_process
from auditor.blackbox.command import Command
from auditor.config.load import load_configuration
from auditor.exact import epsilon_interval

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "configs" / "accountants"
SHARED = PROJECT / "configs" / "libraries" / "environments"  # of packages that `make libraries` audits too
ENVIRONMENTS = PROJECT / ".libraries"
PLANS = {file.stem: load_configuration(file).accountants for file in sorted(FOLDER.glob("*.yaml"))}


def arguments(plan: AccountantPlan) -> tuple[str, str, str]:
    """Return the environment, the program and the accountant."""
    command = plan.accountant.stated
    assert isinstance(command, Command)
    interpreter, program, accountant = command.arguments
    found = re.fullmatch(r"\.\./\.\./\.libraries/([\w.-]+)/bin/python", interpreter)
    assert found is not None, plan.name
    return found[1], program, accountant


def pins_of(environment: str) -> Path:
    own = FOLDER / "environments" / f"{environment}.txt"
    return own if own.exists() else SHARED / f"{environment}.txt"


# --- Without the packages ---


@pytest.mark.parametrize("package", PLANS)
def test_each_plan_asks_an_accountant_of_its_program_in_its_environment(package: str) -> None:
    for plan in PLANS[package]:
        environment, program, accountant = arguments(plan)
        assert pins_of(environment).exists(), plan.name
        source = (FOLDER / program).read_text(encoding="utf-8")
        served = source[source.index("\nserve(") :]
        assert re.search(rf"\b{accountant}\b", served), plan.name
        [signature] = re.findall(rf"\ndef {accountant}\((.*?)\) -> Statement:", source, re.DOTALL)
        assert set(plan.accountant.parameters) == set(re.findall(r"(\w+):", signature)), plan.name


@pytest.mark.parametrize("package", PLANS)
def test_a_package_is_searched_within_a_minute(package: str) -> None:
    """Each audit tries no further setting after its seconds; starting its program and the last call come on top."""
    assert sum(plan.seconds for plan in PLANS[package]) <= 55


@pytest.mark.parametrize("package", PLANS)
def test_each_accountant_of_a_program_is_audited_and_names_its_source(package: str) -> None:
    programs = {arguments(plan)[1] for plan in PLANS[package]}
    asked = {(arguments(plan)[1], arguments(plan)[2]) for plan in PLANS[package]}
    for program in programs:
        served = re.search(r"\nserve\((.*?)\)", (FOLDER / program).read_text(encoding="utf-8"), re.DOTALL)
        assert served is not None
        assert {(program, name) for name in re.findall(r"\w+", served[1])} <= asked
    assert all(plan.accountant.source for plan in PLANS[package])


@pytest.mark.parametrize("program", sorted(FOLDER.glob("*.py")), ids=lambda program: program.stem)
def test_each_program_of_accountants_compiles(program: Path) -> None:
    compile(program.read_text(encoding="utf-8"), program.name, "exec")


@pytest.mark.parametrize("pins", sorted((FOLDER / "environments").glob("*.txt")), ids=lambda pins: pins.stem)
def test_each_environment_of_accountants_is_pinned_with_hashes(pins: Path) -> None:
    text = pins.read_text(encoding="utf-8")
    wanted = pins.with_suffix(".in").read_text(encoding="utf-8").split()
    for requirement in wanted:
        name = re.split(r"[<=>]", requirement)[0]
        assert re.search(rf"^{re.escape(requirement if '==' in requirement else name)}\b", text, re.MULTILINE), (
            requirement
        )
    requirements = re.split(r"\n(?=\S)", text)
    assert all("==" in r.splitlines()[0] and "--hash=sha256:" in r for r in requirements if not r.startswith("#"))
    assert pins.stem in {arguments(plan)[0] for plans in PLANS.values() for plan in plans}


@pytest.mark.parametrize("package", PLANS)
def test_the_committed_report_is_of_these_accountants_and_ended_as_expected(package: str) -> None:
    report = json.loads((PROJECT / "reports" / "accountants" / package / "report.json").read_text(encoding="utf-8"))
    found = {audit["name"]: (audit["states"], audit["expected"], audit["source"]) for audit in report["accountants"]}
    assert found == {
        plan.name: (plan.accountant.states, str(plan.keywords["expect"]), plan.accountant.source)
        for plan in PLANS[package]
    }
    assert report["passed"]


def test_the_table_has_a_row_for_each_accountant() -> None:
    table = (PROJECT / "reports" / "accountants" / "TABLE.md").read_text(encoding="utf-8")
    for package, plans in PLANS.items():
        for plan in plans:
            assert f"]({package}/summary.md) | {plan.name} |" in table


# --- With them ---


def stated(package: str, name: str, **parameters: Any) -> dict[str, Any]:
    """Return the answer of an accountant."""
    [plan] = [plan for plan in PLANS[package] if plan.name == name]
    environment, program, accountant = arguments(plan)
    if not (ENVIRONMENTS / environment).is_dir():
        pytest.skip("`make accountants` installs it")
    done = subprocess.run(
        [ENVIRONMENTS / environment / "bin" / "python", program, accountant],
        input=json.dumps({"parameters": parameters}) + "\n",
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_best_known_accountants_of_packages_agree_with_the_exact_numbers() -> None:
    one = {"sigma": 1.0, "steps": 1, "delta": 1e-5}
    gaussian = stated("dp-accounting", "PLD, Gaussian", accountant="pld", relation="add_remove", **one)
    sampled = stated("opacus", "PRVAccountant", rate=0.01, **one)
    for answer, above in ((gaussian, 1e-6), (sampled, 0.02)):
        exact = epsilon_interval(build_process(answer["process"], {}), 1e-5)
        assert exact.low * (1 - 1e-9) <= answer["stated"] <= exact.high * (1 + above) + above


def test_the_order_of_requests_changes_the_budget_that_is_kept() -> None:
    spent = {}
    for when, first in (("first", "truncated_geometric"), ("last", "laplace")):
        name = f"PLDBudgetAccountant, partitions requested {when}"
        answer = stated("pipeline-dp", name, first=first, epsilon=1.0, delta=1e-6)
        spent[when] = epsilon_interval(build_process(answer["process"], {}), 1e-6).high
    assert spent["last"] <= 1 + 1e-3
    assert math.isclose(spent["first"], 2, rel_tol=0.01)
