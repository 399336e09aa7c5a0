"""What the documents show is what happens: every block of every page is run, and the site is built of them without a warning."""

import shutil
from pathlib import Path

import pytest
from pages import PROJECT, alike, blocks_of, run_page, session, slow

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(PROJECT).with_suffix("").as_posix() for page in PAGES]
WITH_SLOW = [page for page in PAGES if any(map(slow, blocks_of(page.read_text(encoding="utf-8"))))]
STAND_INS = Path(__file__).parent / "stand_ins"


def run_in(folder: Path, page: Path, monkeypatch: pytest.MonkeyPatch, *, with_slow: bool) -> None:
    text = page.read_text(encoding="utf-8")
    # Libraries that the page calls and the tests do without.
    if (STAND_INS / page.stem).is_dir():
        shutil.copytree(STAND_INS / page.stem, folder, dirs_exist_ok=True)
    with session(folder, monkeypatch):
        run_page(text, folder, with_slow=with_slow)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_does_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(tmp_path, page, monkeypatch, with_slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SLOW, ids=[page.stem for page in WITH_SLOW])
def test_a_page_does_what_it_shows_slowly(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in(tmp_path, page, monkeypatch, with_slow=True)
