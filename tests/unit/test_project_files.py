"""The project's files agree with its code."""

import re
import runpy
import tomllib
from pathlib import Path

import yaml

import auditor
from auditor.auditing.smallest import LEAST_SPENT, SHARE_SPENT

PROJECT = Path(__file__).parents[2]
NAMES = ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "ARCHITECTURE")


def test_the_version_is_written_in_one_place_and_what_cites_it_agrees() -> None:
    metadata = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in metadata["project"]
    assert metadata["tool"]["setuptools"]["dynamic"]["version"]["attr"] == "auditor.__version__"
    cited = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert (cited, released[0]) == (auditor.__version__, auditor.__version__)


def test_links_between_the_files_lead_somewhere() -> None:
    for name in NAMES:
        text = (PROJECT / f"{name}.md").read_text(encoding="utf-8")
        links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("https://")]
        assert [link for link in links if not (PROJECT / link).exists()] == []


def test_the_commands_and_targets_they_name_are_there() -> None:
    from auditor.cli.options import all_commands

    helped = all_commands().format_help()
    targets = re.findall(r"^(\w+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for name in (name for name in NAMES if name != "CHANGELOG"):  # which names those of earlier versions
        text = (PROJECT / f"{name}.md").read_text(encoding="utf-8")
        told = re.findall(r"`auditor ([a-z-]+)", text) + re.findall(
            r"^(?:    |\$ )auditor ([a-z-]+)", text, re.MULTILINE
        )
        assert [command for command in told if f"\n    {command} " not in helped and command != "--version"] == []
        assert [target for target in re.findall(r"\bmake (\w+) +#", text) if target not in targets] == []


def test_a_published_readme_links_to_files_of_the_repository_and_the_metadata_say_where_it_is() -> None:
    published = runpy.run_path(str(PROJECT / "docs" / "published.py"))
    readme = published["with_absolute_links"](
        (PROJECT / "README.md").read_text(encoding="utf-8"), "https://host/it", "v1"
    )
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert [link for link in links if not link.startswith("https://")] == []
    own = [re.sub("^https://host/it/(blob|raw)/v1/", "", link) for link in links if link.startswith("https://host/")]
    assert len(own) > 10
    assert [link for link in own if not (PROJECT / link.partition("#")[0]).exists()] == []
    text = published["with_addresses"](
        (PROJECT / "pyproject.toml").read_text(encoding="utf-8"), "https://host/it", "v1"
    )
    urls = tomllib.loads(text)["project"]["urls"]
    assert (urls["Repository"], urls["Changelog"]) == ("https://host/it", "https://host/it/blob/v1/CHANGELOG.md")


def test_the_versions_of_python_are_those_that_are_tested() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)'", str(project["classifiers"]))
    workflow = yaml.safe_load((PROJECT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert project["requires-python"] == f">={named[0]}"


def test_what_readme_says_of_systems_is_what_the_workflow_does() -> None:
    """mypy knows which names of the standard library macOS lacks; the job runs what depends on the system."""
    jobs = yaml.safe_load((PROJECT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    runs_on = {name: job["runs-on"].partition("-")[0] for name, job in jobs.items()}
    assert {runs_on[name] for name in runs_on if name != "macos"} == {"ubuntu"}
    assert runs_on["macos"] == "macos"
    assert any("mypy --platform darwin" in step.get("run", "") for step in jobs["lint"]["steps"])
    readme = " ".join((PROJECT / "README.md").read_text(encoding="utf-8").split())
    assert "is tested on Linux. macOS should work" in readme


def test_reports_keep_what_a_page_is_made_from_and_no_page() -> None:
    ignored = (PROJECT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "reports/**/*.html" in ignored
    for report in (PROJECT / "reports").rglob("report.json"):
        assert report.with_name("summary.md").is_file()


def test_methods_says_what_the_smallest_pair_costs() -> None:
    text = " ".join((PROJECT / "docs" / "methods.md").read_text(encoding="utf-8").split())
    assert (
        f"costs {SHARE_SPENT:.0%} of `samples`, or {LEAST_SPENT:,} outputs if that is more".replace("%", " %") in text
    )
