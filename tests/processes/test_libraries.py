"""Third-party libraries: their configurations, programs and pins; and their claims, where `make libraries` has installed them."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from folders import PROJECT

from auditor.auditing.plan import Plan
from auditor.config.load import load_configuration
from mechanisms.exact.divergences import exact_epsilon
from mechanisms.exact.known_continuous import gaussian_epsilon, laplace

FOLDER = PROJECT / "configs" / "libraries"
ENVIRONMENTS = PROJECT / ".libraries"
CONFIGS = sorted(FOLDER.glob("*.yaml"))
PLANS = {file.stem: load_configuration(file).plans for file in CONFIGS}


def arguments(plan: Plan) -> tuple[str, str, str]:
    """Return interpreter, program and mechanism."""
    assert plan.source.command is not None
    interpreter, program, mechanism = plan.source.command.arguments
    return interpreter, program, mechanism


# --- Without the libraries ---


@pytest.mark.parametrize("library", PLANS)
def test_each_audit_runs_a_mechanism_of_its_program_in_its_environment(library: str) -> None:
    for plan in PLANS[library]:
        interpreter, program, mechanism = arguments(plan)
        assert interpreter == f"../../.libraries/{library}/bin/python", plan.name
        source = (FOLDER / program).read_text(encoding="utf-8")
        served = source[source.index("\nserve(") :]
        assert f"\ndef {mechanism}(" in source, plan.name
        assert re.search(rf"\b{mechanism}\b", served), plan.name


@pytest.mark.parametrize("program", sorted(FOLDER.glob("*.py")), ids=lambda program: program.stem)
def test_each_program_compiles(program: Path) -> None:
    compile(program.read_text(encoding="utf-8"), program.name, "exec")


@pytest.mark.parametrize("library", PLANS)
def test_each_environment_is_pinned_with_hashes(library: str) -> None:
    wanted = (FOLDER / "environments" / f"{library}.in").read_text(encoding="utf-8").split()
    pins = (FOLDER / "environments" / f"{library}.txt").read_text(encoding="utf-8")
    for requirement in wanted:
        assert re.search(rf"^{re.escape(requirement)}\b", pins, re.MULTILINE), requirement
    requirements = re.split(r"\n(?=\S)", pins)
    assert all("==" in r.splitlines()[0] and "--hash=sha256:" in r for r in requirements if not r.startswith("#"))


@pytest.mark.parametrize("library", PLANS)
def test_the_committed_report_is_of_these_audits_and_ended_as_expected(library: str) -> None:
    report = json.loads((PROJECT / "reports" / "libraries" / library / "report.json").read_text(encoding="utf-8"))
    reported = {audit["name"]: (audit["claim"], audit["expected"]) for audit in report["audits"]}
    assert reported == {plan.name: (plan.claim.to_dict(), str(plan.expect)) for plan in PLANS[library]}
    assert report["passed"]


def test_the_summary_names_each_version_and_counts_its_audits() -> None:
    summary = (PROJECT / "reports" / "libraries" / "README.md").read_text(encoding="utf-8")
    for library, plans in PLANS.items():
        [version, *_] = (FOLDER / "environments" / f"{library}.in").read_text(encoding="utf-8").split()
        assert f"| [{version.replace('==', ' ')}]({library}/summary.md) | {len(plans)} |" in summary


# --- With them ---


def claimed_by_library(plan: Plan) -> dict[str, float]:
    """Ask an audit's program for the claim of its library."""
    interpreter, program, mechanism = arguments(plan)
    command = [str(FOLDER / interpreter), program, mechanism, "--claim", json.dumps(dict(plan.source.parameters))]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    claim: dict[str, float] = json.loads(done.stdout)
    return claim


def need(library: str) -> None:
    if not (ENVIRONMENTS / library).is_dir():
        pytest.skip("`make libraries` installs it")


# A claim is written with seven digits, rounded up.
ROUNDED_UP = 1e-6


@pytest.mark.parametrize("library", PLANS)
def test_each_claim_is_what_the_library_says_itself(library: str) -> None:
    need(library)
    for plan in PLANS[library]:
        stated = claimed_by_library(plan)
        assert plan.claim.to_dict().keys() == stated.keys(), plan.name
        for name, value in plan.claim.to_dict().items():
            assert stated[name] <= value * (1 + 1e-12), (plan.name, stated)
            assert value <= stated[name] * (1 + ROUNDED_UP), (plan.name, stated)


def oracle(mechanism: str, **parameters: Any) -> float:
    """Return ε by dp-accounting."""
    [*_, plan] = PLANS["dp-accounting"]
    interpreter, program, _ = arguments(plan)
    command = [str(FOLDER / interpreter), program, mechanism, "--claim", json.dumps(parameters)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["epsilon"])


# Its losses lie on a grid of 1e-4, and are rounded against the mechanism.
GRID = 1e-4


@pytest.mark.parametrize("delta", [0.01, 0.1])
@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_the_oracle_and_the_exact_truths_agree(scale: float, delta: float) -> None:
    need("dp-accounting")
    exact = exact_epsilon(laplace(0.0, scale), laplace(1.0, scale), delta).value
    assert exact - 1e-9 <= oracle("laplace", scale=scale, times=1, delta=delta) <= exact + GRID
    # Four releases with twice the standard deviation equal one release.
    exact = gaussian_epsilon(1 / scale, delta)
    stated = oracle("gaussian", scale=2 * scale, times=4, delta=delta)
    assert exact - 1e-9 <= stated <= exact + 4 * GRID
