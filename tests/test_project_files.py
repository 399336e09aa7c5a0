"""The files beside the code say the same as the code."""

import re
import tomllib
from pathlib import Path

import yaml

import auditor

PROJECT = Path(__file__).parent.parent
NAMES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "ARCHITECTURE")


def test_the_version_is_the_same_everywhere() -> None:
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    cited = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    changed = re.findall(r"\b\d+\.\d+\.\d+\b", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8").split("## ")[1])
    assert {auditor.__version__, declared, cited, *changed[:1]} == {auditor.__version__}


def test_the_citation_has_what_its_format_asks_for() -> None:
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["authors"] == [{"name": "The auditor contributors"}]
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["license"], citation["keywords"]) == (project["license"], project["keywords"])


def test_links_between_the_files_lead_somewhere() -> None:
    for name in NAMES:
        text = (PROJECT / f"{name}.md").read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("https://")]
        assert [link for link in links if not (PROJECT / link).exists()] == []


def test_the_commands_and_targets_they_name_are_there() -> None:
    from auditor.cli import _parser

    helped = _parser().format_help()
    targets = re.findall(r"^(\w+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for name in NAMES:
        text = (PROJECT / f"{name}.md").read_text(encoding="utf-8")
        told = re.findall(r"`auditor ([a-z-]+)", text) + re.findall(
            r"^(?:    |\$ )auditor ([a-z-]+)", text, re.MULTILINE
        )
        assert [command for command in told if f"\n    {command} " not in helped and command != "--version"] == []
        assert [target for target in re.findall(r"\bmake (\w+) +#", text) if target not in targets] == []
