"""The project's files agree with its code."""

import ast
import io
import pydoc
import re
import runpy
import tokenize
import tomllib
from pathlib import Path

import pytest
import yaml
from folders import PROJECT

import auditor
from auditor.auditing.smallest import LEAST_SPENT, SHARE_SPENT

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


# Pages about the code as it is. Reports, findings and the changelog name the code of their time.
PAGES = sorted(
    page
    for folder in ("", "tests", "dp_prover", "docs", "configs", "mechanisms", "benchmarks", "examples")
    for page in (PROJECT / folder).glob("**/*.md" if folder else "*.md")
    if page.name != "CHANGELOG.md"
)
CODE = {
    str(file.relative_to(PROJECT)): file.read_text(encoding="utf-8")
    for folder in ("auditor", "dp_prover", "mechanisms", "benchmarks", "studies", "configs", "docs", "tests")
    for file in sorted((PROJECT / folder).rglob("*.py"))
}
WORDS = {word for source in CODE.values() for word in re.findall(r"\w+", source)}
PATH = re.compile(r"(?<![\w/.-])(?:[\w-]+/)*\w+\.py\b")
DOTTED = re.compile(r"(?<![\w/.])(?:auditor|dp_prover|mechanisms|benchmarks|studies)(?:\.[A-Za-z_]\w*)+(?!/)")
# A page may name files of its readers without showing them.
FILES_OF_READERS = {"file.py", "path/to/file.py", "my_count.py", "mylibrary.py"}
WORDS_OF_OTHER_TOOLS = {"additional_dependencies", "max_grad_norm"}


def lost_files(text: str, beside: Path) -> list[str]:
    """Return the paths in a text to modules that do not exist. A path may leave out its first folders."""
    named = set(PATH.findall(text)) - FILES_OF_READERS
    return sorted(
        path
        for path in named
        if not (beside / path).is_file() and not any(f"/{at}".endswith(f"/{path}") for at in CODE)
    )


def lost_names(text: str) -> list[str]:
    """Return the dotted names in a text that are neither a module nor an attribute of one; entry points have groups."""
    metadata = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = metadata["project"]["entry-points"]
    named = {name for name in DOTTED.findall(text) if not name.endswith((".py", ".md", ".yaml", ".json"))}
    return sorted(name for name in named if name not in groups and pydoc.locate(name) is None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_the_modules_and_names_that_a_page_gives_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # A page may show files, and name those that a change would add.
    shown = {*re.findall(r'title="([^"]+)"', text), *re.findall(r"`([\w/]+\.py)` \(new\)", text)}
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert [path for path in lost_files(prose, page.parent) if path not in shown] == []
    assert lost_names(prose) == []
    # A span such as `COLUMNS` or `find_pair` must occur in the code, whichever page has it.
    spans = set(re.findall(r"`(\w*(?:_|[A-Z]{3})\w*)`", prose))
    assert [span for span in sorted(spans) if span not in WORDS | WORDS_OF_OTHER_TOOLS and not span[0].isdigit()] == []
    for names, path in re.findall(r"((?:`\w+`(?:, | and | or )?)+)(?: in | of | \()`((?:\w+/)*\w+\.py)`", prose):
        code = "\n".join(source for at, source in CODE.items() if f"/{at}".endswith(f"/{path}"))
        assert [name for name in re.findall(r"\w+", names) if not re.search(rf"\b{name}\b", code)] == [], path


def comments_and_docstrings(source: str) -> str:
    comments = (t.string for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT)
    statements = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    texts = (value.value for value in statements if isinstance(value, ast.Constant) and isinstance(value.value, str))
    return "\n".join((*comments, *texts))


def test_the_modules_and_names_that_comments_and_docstrings_give_are_there() -> None:
    said = {at: comments_and_docstrings(source) for at, source in CODE.items()}
    assert [(at, path) for at, text in said.items() for path in lost_files(text, (PROJECT / at).parent)] == []
    assert [(at, name) for at, text in said.items() for name in lost_names(text)] == []


def test_the_commands_and_targets_they_name_are_there() -> None:
    from auditor.cli.options import all_commands

    helped = all_commands().format_help()
    targets = re.findall(r"^(\w+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for name in (name for name in NAMES if name != "CHANGELOG"):  # which names those of earlier versions
        text = (PROJECT / f"{name}.md").read_text(encoding="utf-8")
        named = re.findall(r"`auditor ([a-z-]+)", text) + re.findall(
            r"^(?:    |\$ )auditor ([a-z-]+)", text, re.MULTILINE
        )
        assert [command for command in named if f"\n    {command} " not in helped and command != "--version"] == []
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
    """mypy knows the names of the standard library that macOS lacks; the job runs the tests that depend on the system."""
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
