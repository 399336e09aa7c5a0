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
    printed = run("privacy_profile")
    assert {k: str(r.verdict) for k, r in printed["results"].items()} == {
        "add_remove": "no_violation_found",
        "substitute": "violation",
    }
    for epsilon, delta in printed["results"]["substitute"].illustration.profile:
        assert delta <= printed["delta"](epsilon, mu=2)
    assert (printed["by_mu"].verdict, printed["by_mu"].bound.value < 2) == ("violation", True)
    assert (tmp_path / "profile.svg").is_file()


def test_the_regression_check_stops_the_version_that_leaks(run: Any) -> None:
    printed = run("regression_check")
    assert (printed["released"], printed["statuses"]) == (0, {"version_2": 0, "version_3": 1})
    assert printed["audit"].verdict == "violation"
    assert len(printed["worse"].to_frame()) == 1
