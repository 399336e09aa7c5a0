"""The notebooks in `examples/` run from top to bottom, and reach the results that their text states."""

import math
import runpy
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOKS.parent.parent))
    return lambda name: runpy.run_path(str(NOTEBOOKS / f"{name}.py"), run_name="__main__")


def test_the_first_audit_refutes_the_rounded_claim_and_not_the_honest_one(run: Any) -> None:
    printed = run("first_audit")
    assert (printed["result"].verdict, printed["honest"].verdict) == ("violation", "no_violation_found")
    assert 1 < printed["result"].bound.value < math.log(3)
    assert printed["quick"].verdict == "violation"
    assert printed["quick"].outputs.bound < 10_000


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.py")} == {"first_audit", "privacy_profile", "regression_check"}
