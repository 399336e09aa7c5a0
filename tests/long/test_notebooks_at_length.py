"""The notebooks of `examples/` run from the top, with the results that their text states."""

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


def test_the_profile_holds_for_who_comes_and_not_for_who_is_replaced(run: Any, tmp_path: Path) -> None:
    found = run("privacy_profile")
    assert {k: str(r.verdict) for k, r in found["results"].items()} == {
        "add_remove": "no_violation_found",
        "substitute": "violation",
    }
    for epsilon, delta in found["results"]["substitute"].illustration.profile:
        assert delta <= found["delta"](epsilon, mu=2)
    assert (found["by_mu"].verdict, found["by_mu"].bound.value < 2) == ("violation", True)
    assert (tmp_path / "profile.svg").is_file()


def test_the_regression_check_stops_the_version_that_leaks(run: Any) -> None:
    found = run("regression_check")
    assert (found["released"], found["statuses"]) == (0, {"version_2": 0, "version_3": 1})
    assert found["audit"].verdict == "violation"
    assert len(found["worse"].to_frame()) == 1
