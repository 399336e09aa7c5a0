"""The house report counts a tree whose figures were counted by hand."""

from pathlib import Path

import pytest

from benchmarks.house import PACKAGES, PROJECT, Room, measure, modules_of, names_with_several_homes, rooms_of

BELOW = '''
"""A room below the package."""

LIMIT = 3
_SIZE, STEPS = 4, [1]
lower = 5


class Ledger:
    TRIALS = 2

    def _reserve(self):
        self._book()
        return self._book()

    def _book(self):
        def inner():
            return 1

        return inner()


def audit():
    return _once(Ledger()._reserve())


def _once(value):
    return value


def _handed_over(value):
    return value


HANDLERS = [_handed_over]
'''
ABOVE = """
from made.bounds.limits import LIMIT as TAKEN

STEPS = [2]
steps: int = 0


@decorated
async def audit():
    return _twice() + _twice()


def _twice(): return 1
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "made" / "bounds").mkdir(parents=True)
    (tmp_path / "made" / "bounds" / "limits.py").write_text(BELOW, encoding="utf-8")
    (tmp_path / "made" / "top.py").write_text(ABOVE, encoding="utf-8")
    (tmp_path / "made" / "page.css").write_text("body {}", encoding="utf-8")
    return tmp_path


def test_a_tree_made_by_hand_is_counted_right(tree: Path) -> None:
    top, bounds = rooms_of("made", modules_of(tree / "made"), by_folder=True)
    # Functions of 2 lines (audit, without its decorator) and 1; TAKEN is imported and no home of a constant.
    assert (top.name, top.lines, top.functions, top.function_lines) == ("made/", ABOVE.count("\n"), 2, 3)
    assert (top.called_once, top.constants, top.shared_names) == (0, 1, 2)
    # _reserve (3), _book with inner (5), inner (2), audit, _once and _handed_over (2 each).
    assert (bounds.name, bounds.lines, bounds.functions, bounds.function_lines) == (
        "made/bounds", BELOW.count("\n"), 6, 16,
    )  # fmt: skip
    # _reserve and _once; _book is called twice, and _handed_over is passed on.
    assert (bounds.called_once, bounds.constants, bounds.shared_names) == (2, 5, 2)
    assert names_with_several_homes(modules_of(tree / "made")) == {"STEPS": 2, "audit": 2}


def test_a_package_may_be_one_room(tree: Path) -> None:
    [room] = rooms_of("made", modules_of(tree / "made"), by_folder=False)
    assert (room.name, room.functions, room.mean_length) == ("made/", 8, 19 / 8)


def test_the_mean_length_of_no_function_is_no_number() -> None:
    assert Room("empty/", 1, 0, 0, 0, 0, 0).mean_length is None


def test_a_room_is_a_line(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = measure(tree, {"made": True})
    titles, *rooms = capsys.readouterr().out.splitlines()
    assert titles.split("  ")[-1].strip() == "names with several homes"
    assert [line.split() for line in rooms] == [
        ["made/", str(ABOVE.count("\n")), "2", "1.5", "0", "1", "2"],
        ["made/bounds", str(BELOW.count("\n")), "6", "2.7", "2", "5", "2"],
    ]
    assert figures["rooms"]["made/bounds"]["constants"] == 5
    assert figures["most homes"] == {"made": {"STEPS": 2, "audit": 2}}


def test_the_packages_of_this_project_are_counted() -> None:
    assert [package for package in PACKAGES if not (PROJECT / package / "__init__.py").is_file()] == ["tests"]
