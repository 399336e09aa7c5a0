"""Entry points are loaded in order; a broken one is reported, and one whose package was removed is skipped."""

import sys
from pathlib import Path

import pytest

from auditor.errors import InvalidInputError
from auditor.foreign_code import entry_points_of


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, points: str, distribution: str = "other") -> None:
    """Install a distribution with entry points of the group ``tested``."""
    info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[tested]\n{points}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


def test_those_of_other_distributions_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    for folder in (own, other):
        folder.mkdir()
    installed(other, monkeypatch, "a = math:tau\nb = json")
    installed(own, monkeypatch, "c = bisect", "dp-auditor")
    assert [*entry_points_of("tested")] == ["json", "math:tau", "bisect"]
    assert entry_points_of("nobody has this group") == {}


def test_a_module_that_was_taken_out_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, "a = taken_out_of.the_package\nb = json.taken_out")
    assert entry_points_of("tested") == {}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import not_installed", "ModuleNotFoundError: No module named 'not_installed'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("", "has no attribute 'thing'"),
    ],
)
def test_what_cannot_be_loaded_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, message: str
) -> None:
    monkeypatch.delitem(sys.modules, "broken_plugin", raising=False)
    (tmp_path / "broken_plugin.py").write_text(code, encoding="utf-8")
    installed(tmp_path, monkeypatch, "a = broken_plugin:thing")
    with pytest.raises(
        InvalidInputError, match=r"entry point broken_plugin:thing of tested cannot be loaded"
    ) as raised:
        entry_points_of("tested")
    assert message in str(raised.value)
