"""The page in a real browser: it loads nothing else, logs no errors, and is no wider than a phone. Needs Chromium."""

import html
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from every_kind import every_kind
from made_results import changed

from auditor.report.html import to_html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")

# In a frame, since a window cannot be as narrow as a phone. The script belongs to the test's own page.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><iframe style="width:{width}px;height:900px" srcdoc="{page}"></iframe>
<script>addEventListener("load", () => {{
  const inside = document.querySelector("iframe").contentDocument, root = inside.documentElement;
  inside.querySelectorAll("details").forEach(one => one.open = true);
  const wide = [...inside.querySelectorAll("body *")].filter(one => !one.closest(".scroll, pre, svg, thead")
    && one.getBoundingClientRect().right > root.clientWidth + 1).map(one => one.tagName + "." + one.className);
  const small = [...inside.querySelectorAll("figure svg")].filter(one => one.getBoundingClientRect().width < 200);
  const paper = getComputedStyle(inside.body).backgroundColor;
  document.title = [root.scrollWidth - root.clientWidth, wide.length, small.length, paper, wide.slice(0, 5)].join("|");
}});</script>"""


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(every_kind())


def opened(file: Path, *options: str) -> tuple[str, list[str]]:
    """Return the page's document after loading, and the messages in the browser's console."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"),
        f"--user-data-dir={file.parent / 'profile'}",
        *options,
        file.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


def framed(page: str, place: Path, width: int, *options: str) -> tuple[list[str], list[str]]:
    file = place / "frame.html"
    file.write_text(FRAME.format(width=width, page=html.escape(page)), encoding="utf-8")
    document, complaints = opened(file, "--dump-dom", *options)
    title = re.search("<title>(.*?)</title>", document)
    assert title is not None, document[:500]
    return title[1].split("|"), complaints


@pytest.mark.parametrize("width", [400, 1400])
def test_a_page_is_no_wider_than_a_screen_and_the_console_stays_empty(page: str, tmp_path: Path, width: int) -> None:
    [over, wide, small, *_, which], complaints = framed(page, tmp_path, width)
    assert (over, wide, small) == ("0", "0", "0"), which
    assert complaints == []


@pytest.mark.parametrize("width", [400, 1200])
def test_a_long_name_without_blanks_is_broken(tmp_path: Path, width: int) -> None:
    run = every_kind()
    long = replace(run, audits=[changed(audit, name=f"{i:x>92}") for i, audit in enumerate(run.audits)])
    [over, wide, *_, which], _ = framed(to_html(long), tmp_path, width)
    assert (over, wide) == ("0", "0"), which


def test_a_page_is_dark_where_the_reader_wants_it_so(page: str, tmp_path: Path) -> None:
    [*_, light, _], _ = framed(page, tmp_path, 400)
    [*_, dark, _], _ = framed(page, tmp_path, 400, "--blink-settings=preferredColorScheme=0")
    brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (light, dark)]
    assert brightness[0] > 600
    assert brightness[1] < 150


def test_a_page_can_be_printed(page: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    opened(file, f"--print-to-pdf={tmp_path / 'report.pdf'}")
    pages = (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n")
    assert pages > len(every_kind().audits), "a page for each card, and one for the table"
