"""Make what the documents are made of by runs and from code: all of it is committed, and the tests compare it.

    python docs/made.py                        # all, in about two minutes
    python docs/made.py reference              # only the reference, in seconds
    python docs/made.py README docs/tutorial   # only what these pages show of outputs

It writes the reference, runs the pages and writes into them what is printed, and takes the README's picture of its report
if that shows other numbers than the page. What is true stays as it is, so a second run changes nothing.
"""

import contextlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent
PICTURE = PROJECT / "docs" / "report.png"
SIZE = (1200, 1400)
REFERENCE = "reference"  # stands for all pages that are made from code


def write_reference() -> None:
    """Write the pages of the reference."""
    import reference_pages
    import ways

    _write(reference_pages.REFERENCE / "outputs.md", ways.table())
    for page, text in reference_pages.pages().items():
        _write(reference_pages.REFERENCE / page, text)
    write_scores()
    write_faults()


def write_faults() -> None:
    """Write the README's table of faults by their kind, from the reports."""
    from benchmarks import faults

    page = PROJECT / "README.md"
    _write(page, faults.with_table(page.read_text(encoding="utf-8")))


def write_scores() -> None:
    """Write the tables of the page on scores, from the figures of their benchmark."""
    from benchmarks import scores

    page, results = PROJECT / "docs" / "how-to" / "scores.md", PROJECT / "benchmarks" / "results" / "scores.json"
    figures = json.loads(results.read_text(encoding="utf-8"))["figures"]
    _write(page, scores.with_tables(page.read_text(encoding="utf-8"), figures))


def write_outputs(name: str, folder: Path) -> None:
    """Run a page in a folder, and write into it what is printed.

    Raises AssertionError if a command ends with another status than the page says, or if what is left out of an output
    (…) cannot be told any longer; the page is then for a person to change.
    """
    import pages
    import pytest

    text = pages.PAGES[name].read_text(encoding="utf-8")
    with pytest.MonkeyPatch.context() as monkeypatch, pages.prepared(name, folder, monkeypatch):
        outputs = list(pages.outputs_of(text, folder))
    for output in reversed(outputs):
        shown = output.renewed()
        assert pages.alike(shown, output.printed, numbers_vary=output.numbers_vary), output.name
        text = text[: output.start] + shown + text[output.start + len(output.shown) :]
    _write(pages.PAGES[name], text)


def write_picture() -> None:
    """Take the picture of the report of the README's first example, unless the picture is of the output that it shows.

    Raises FileNotFoundError if there is no Chromium.
    """
    import pages
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    code, shown = pages.first_example()
    if PICTURE.exists():
        with Image.open(PICTURE) as picture:
            if picture.info.get("Description") == shown:
                return
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError(f"{PICTURE} shows another run; its picture needs Chromium: apt-get install chromium")
    known: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "README.md", "exec"), known)
    described = PngInfo()
    described.add_itxt("Description", shown)  # international text, since the output is not Latin
    _photograph(known["result"], browser).save(PICTURE, optimize=True, pnginfo=described)
    print(f"written: {PICTURE}")


def _photograph(result: Any, browser: str) -> Any:
    """Return a picture of the upper part of a report, in few colours."""
    from PIL import Image

    from auditor import RunResult
    from auditor.report.html import to_html

    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder, "report.html"), Path(folder, "report.png")
        page.write_text(to_html(RunResult("audit", result.bound.confidence, [result])), encoding="utf-8")
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"),
                *(f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={picture}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        with Image.open(picture) as taken:
            return taken.convert("RGB").quantize(128)


def _write(file: Path, text: str) -> None:
    if file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
        print(f"written: {file}")


def main(names: list[str]) -> int:
    """Make what is named, or all. Returns 1 if something could not be made, and prints why."""
    import pages

    unknown = [name for name in names if name not in (*pages.PAGES, REFERENCE)]
    if unknown:
        print(f"{unknown[0]!r} is no page; there are {', '.join((REFERENCE, *pages.PAGES))}")
        return 2
    if not names or REFERENCE in names:
        write_reference()
    shown = [name for name, page in pages.PAGES.items() if pages.shows_output(page.read_text(encoding="utf-8"))]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in (name for name in names or shown if name != REFERENCE):
            (Path(folder) / name).mkdir(parents=True)
            try:
                write_outputs(name, Path(folder) / name)
            except Exception as error:
                failed += 1
                print(f"{name}: {type(error).__name__}: {error}")
    if not names:
        try:
            write_picture()
        except FileNotFoundError as error:
            failed += 1
            print(error)
    return 1 if failed else 0


if __name__ == "__main__":
    # The pages are run by what the tests run them with.
    sys.path[:0] = [str(PROJECT), str(PROJECT / "tests" / "helpers")]
    sys.exit(main(sys.argv[1:]))
