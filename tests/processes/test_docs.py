"""The documents show what happens: every block of every page runs, and the site is built from them without a warning."""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from folders import PROJECT
from pages import LONG, PAGES, blocks_of, commands_of, does_what_it_shows, first_example, named_test, skipped
from PIL import Image

import auditor
from auditor.config import schema

MAKER = runpy.run_path(str(PROJECT / "docs" / "made.py"))


@pytest.mark.parametrize("name", [name for name in PAGES if name not in LONG])
def test_a_page_does_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    does_what_it_shows(name, tmp_path, monkeypatch)


NOT_RUN = [
    (name, block) for name, page in PAGES.items() for block in blocks_of(page.read_text("utf-8")) if skipped(block)
]


@pytest.mark.parametrize(
    ("name", "test"), sorted({(name, test) for name, block in NOT_RUN if (test := named_test(block))})
)
def test_a_test_that_a_page_names_runs_its_blocks(name: str, test: str) -> None:
    """They need libraries, so that only their calls can be looked for here."""
    [call] = [
        node
        for node in ast.walk(ast.parse((PROJECT / test).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "does_what_it_shows"
    ]
    assert ast.literal_eval(call.args[0]) == name
    assert [ast.literal_eval(each.value) for each in call.keywords if each.arg == "by"] == [test]


def test_each_block_on_training_is_run_by_some_test() -> None:
    """What is not run with the page is run where its framework is installed."""
    blocks = [block for name, block in NOT_RUN if name == "docs/how-to/training"]
    assert len(blocks) >= 8
    assert [block.text for block in blocks if not named_test(block)] == []


def test_a_stale_number_in_a_page_is_found_and_renewed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    stale = "```python\nprint('before')\nprint('ε ≥', 1 + 1, 'in 3 s')\n```\n\n```text\n…\nε ≥ 1.879 in 4 s\n```\n\nWords.\n"
    page.write_text(stale, encoding="utf-8")
    monkeypatch.setitem(PAGES, "page", page)
    with pytest.raises(AssertionError, match=r"ε ≥ 2 in 3 s"):
        does_what_it_shows("page", tmp_path, monkeypatch)
    renewed = stale.replace("ε ≥ 1.879 in 4 s", "ε ≥ 2 in 3 s")
    for _ in range(2):
        MAKER["write_outputs"]("page", tmp_path)
        assert page.read_text(encoding="utf-8") == renewed
    does_what_it_shows("page", tmp_path, monkeypatch)


def test_what_a_page_cannot_show_any_longer_is_left_to_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    text = "```console\n$ false\nwords\n```\n"
    page.write_text(text, encoding="utf-8")
    monkeypatch.setitem(PAGES, "page", page)
    with pytest.raises(AssertionError, match="false: "):
        MAKER["write_outputs"]("page", tmp_path)
    assert page.read_text(encoding="utf-8") == text


def test_the_picture_of_the_readme_is_of_the_run_that_it_shows() -> None:
    """`python docs/made.py` takes the picture anew, and records in it which run it shows."""
    with Image.open(PROJECT / "docs" / "report.png") as picture:
        assert picture.info["Description"] == first_example()[1]


@pytest.mark.parametrize("name", ["README", "docs/tutorial"])
def test_what_a_page_installs_is_enough_for_what_it_runs(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    [installed] = re.findall(r"^pip install '\.\[(.*)\]'$", text, re.MULTILINE)
    libraries = {re.split(r"\W", entry)[0] for extra in installed.split(",") for entry in extras[extra]}
    run = [
        command.line.split()[0]
        for block in blocks_of(text)
        if block.language in {"sh", "console"} and not skipped(block)
        for command in commands_of(block)
    ]
    assert "auditor" in run
    assert set(run) - {"auditor", *libraries} == set()


def test_the_readme_counts_the_published_bugs_that_are_proved() -> None:
    results = (PROJECT / "benchmarks" / "corpus" / "RESULTS.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")] for line in results.partition("\n\n## ")[0].splitlines()]
    audits = [cells for cells in rows if len(cells) > 11][2:]  # below the heading
    bugs, repairs = audits[::2], audits[1::2]
    assert [bug[1:4] for bug in bugs] == [repair[1:4] for repair in repairs]
    assert "violation" not in [repair[7] for repair in repairs]
    proved = [bug[1] for bug in bugs if bug[7] == "violation"]
    readme = PAGES["README"].read_text(encoding="utf-8")
    assert f"the auditor proves {len(proved)} of {len(bugs)} published library bugs, " in " ".join(readme.split())
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
    tracked = [report.relative_to(PROJECT).parent for report in (PROJECT / "reports").rglob("report.json")]
    assert [report for report in tracked if not (tmp_path / report / "report.html").is_file()] == []
    summary = (tmp_path / "reports" / "classics" / "summary.html").read_text(encoding="utf-8")
    assert 'href="report.html">The report with its plots' in summary
    loaded = r"<(?:script|img|iframe)[^>]*\ssrc=[\"']?(?:https?:)?//|<link[^>]*\shref=[\"']?(?:https?:)?//|@import"
    assert [page.name for page in pages if re.search(loaded, page.read_text(encoding="utf-8"))] == []


MADE = runpy.run_path(str(PROJECT / "docs" / "reference_pages.py"))["pages"]()


@pytest.mark.parametrize("page", MADE)
def test_a_page_of_the_reference_is_what_is_made(page: str) -> None:
    """`python docs/made.py` writes these pages anew."""
    assert (PROJECT / "docs" / "reference" / page).read_text(encoding="utf-8") == MADE[page]


def test_the_reference_has_every_command_key_and_name_there_is() -> None:
    page = MADE["command-line.md"]
    for option in ("## auditor run", "`--baseline`", "## auditor check", "`--print-completion`"):
        assert option in page
    keys = MADE["configuration.md"]
    for key in schema.Audit.model_fields:
        assert f"\n- `{key}`" in keys
    python = MADE["python.md"]
    assert [name for name in auditor.__all__ if f"### {name}\n" not in python and name != "__version__"] == []
