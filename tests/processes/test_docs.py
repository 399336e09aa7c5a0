"""What the documents show is what happens: every block of every page is run, and the site is built of them without a warning."""

import io
import json
import os
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from pages import LONG, PAGES, PROJECT, alike, blocks_of, does_what_it_shows
from rich.console import Console

import auditor
from auditor.auditing.consistent import read_report
from auditor.config import schema
from auditor.report.terminal import print_result

VERDICTS = (PROJECT / "docs" / "verdicts.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in PAGES if name not in LONG])
def test_a_page_does_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    does_what_it_shows(name, tmp_path, monkeypatch)


def test_the_result_that_a_page_shows_is_the_committed_one() -> None:
    [block] = [block for block in blocks_of(VERDICTS) if block.note.startswith("result:")]
    report = PROJECT / "reports" / block.note.removeprefix("result:") / "report.json"
    bounds = {
        audit["name"]: audit["bound"]["value"] for audit in json.loads(report.read_text(encoding="utf-8"))["audits"]
    }
    shown = {m[1].strip(): float(m[2]) for m in re.finditer(r"^✓  (.*?) {2,}.*≥ ([0-9.]+)", block.text, re.MULTILINE)}
    assert len(shown) == 3
    for name, value in shown.items():
        assert value <= bounds[name] < value + 0.001, name


def test_what_a_page_shows_of_a_run_is_what_is_printed_of_its_report() -> None:
    """Numbers are for the test above: they move when reports are made anew."""
    [block] = [block for block in blocks_of(VERDICTS) if block.note.startswith("result:")]
    printed = io.StringIO()
    report = read_report(PROJECT / "reports" / block.note.removeprefix("result:") / "report.json")
    # The first audits of several.
    shown = [audit for audit in report.audits if f"  {audit.name} " in block.text]
    print_result(replace(report, audits=shown), Console(file=printed, width=160))
    assert alike(f"{block.text}…", printed.getvalue()), printed.getvalue()


def test_the_readme_counts_the_published_bugs_that_are_proved() -> None:
    results = (PROJECT / "benchmarks" / "corpus" / "RESULTS.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in results.partition("\n\n## ")[0].splitlines()]
    audits = [cells for cells in rows if len(cells) > 11][2:]  # below the heading
    bugs, repairs = audits[::2], audits[1::2]
    assert [bug[1:4] for bug in bugs] == [repair[1:4] for repair in repairs]
    assert "violation" not in [repair[7] for repair in repairs]
    proved = [bug[1] for bug in bugs if bug[7] == "violation"]
    readme = PAGES["README"].read_text(encoding="utf-8")
    assert f"Of {len(bugs)} published bugs of libraries, the auditor proves {len(proved)} " in " ".join(readme.split())
    table = {
        tuple(row[1].split(", ")): (int(row[2]), int(row[3]))
        for row in re.finditer(r"^\| ([\w, -]+) \| (\d+) \| (\d+) \|$", readme, re.MULTILINE)
    }
    published = [bug[1] for bug in bugs]
    assert {name for names in table for name in names} == set(published)
    for names, counts in table.items():
        assert counts == (sum(map(published.count, names)), sum(map(proved.count, names))), names


def test_the_workflow_shown_gives_the_action_what_it_takes() -> None:
    text = (PROJECT / "docs" / "how-to" / "release.md").read_text(encoding="utf-8")
    [workflow] = [block.text for block in blocks_of(text) if block.title.startswith(".github")]
    [job] = yaml.safe_load(workflow)["jobs"].values()
    action = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    [given] = [step["with"] for step in job["steps"] if "with" in step]
    required = {name for name, about in action["inputs"].items() if about.get("required")}
    assert required <= set(given) <= set(action["inputs"])


ROW = re.compile(r"^\|(?P<cells>.*)\| \[(?P<audit>[^\]]+)\]\((?P<summary>\.\./reports/[^)]+)\) \|$", re.MULTILINE)
FOUND = (PROJECT / "docs" / "findings.md").read_text(encoding="utf-8")
FINDINGS = [row.groupdict() for row in ROW.finditer(FOUND)]


def test_every_finding_names_its_report() -> None:
    assert len(FINDINGS) == FOUND.count("\n| ") - 3  # each of the three tables has a heading


@pytest.mark.parametrize("row", FINDINGS, ids=[row["audit"] for row in FINDINGS])
def test_a_finding_is_what_its_report_says(row: dict[str, str]) -> None:
    report = (PROJECT / "docs" / row["summary"]).with_name("report.json")
    [audit] = [a for a in json.loads(report.read_text(encoding="utf-8"))["audits"] if a["name"] == row["audit"]]
    assert audit["verdict"] == "violation"
    smallest = audit["smallest"] or audit
    pair = [json.loads(data) for data in re.findall(r"`(.*?)`", row["cells"])]
    assert pair in ([], [smallest["pair"]["left"], smallest["pair"]["right"]], [smallest["pair"]["left"]])
    for number in re.findall(r"ε ≥ ([\d.]+)", row["cells"]):
        assert float(number) <= smallest["bound"]["value"]
    for event in re.findall(r": ([^:|]*), proves", row["cells"]):
        assert event == smallest["event"]["description"]


def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=PROJECT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 20
    loaded = r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?(?:https?:)?//|<link[^>]*\shref=[\"']?(?:https?:)?//|@import"
    assert [page.name for page in pages if re.search(loaded, page.read_text(encoding="utf-8"))] == []


MADE = runpy.run_path(str(PROJECT / "docs" / "reference_made.py"))["pages"]()


@pytest.mark.parametrize("page", MADE)
def test_a_page_of_the_reference_is_what_is_made(page: str) -> None:
    """`python docs/reference_made.py` writes them anew."""
    assert (PROJECT / "docs" / "reference" / page).read_text(encoding="utf-8") == MADE[page]


def test_the_reference_has_every_command_key_and_name_there_is() -> None:
    told = MADE["command-line.md"]
    for option in ("## auditor run", "`--baseline`", "## auditor check", "`--print-completion`"):
        assert option in told
    keys = MADE["configuration.md"]
    for key in schema.Audit.model_fields:
        assert f"\n- `{key}`" in keys
    python = MADE["python.md"]
    assert [name for name in auditor.__all__ if f"### {name}\n" not in python and name != "__version__"] == []
