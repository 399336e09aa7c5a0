"""The house rules that a parser can check: import contracts, and what has a single home."""

import ast
import functools
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from folders import PROJECT
from importlinter.cli import lint_imports

MODULES = sorted((PROJECT / "auditor").rglob("*.py"))


def name_of(file: Path) -> str:
    parts = file.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def imports(parsed: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every module imported anywhere: at the top, inside functions, under TYPE_CHECKING, and by name."""
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module), node.lineno


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The modules of the package, by name."""
    return {name_of(file): tree(file) for file in MODULES}


CONTRACTS = [PROJECT / "pyproject.toml", *PROJECT.glob("*/contracts.toml")]


@pytest.mark.parametrize(
    "file", CONTRACTS, ids=lambda file: file.parent.name if file.name == "contracts.toml" else "auditor"
)
def test_imports_keep_the_contracts(file: Path) -> None:
    """The contracts are those of `make check`."""
    assert lint_imports(str(file), no_cache=True) == 0


# Modules that may be loaded by a name in a string although the layers forbid their import: workers preload what they will run.
BY_NAME = {("auditor.blackbox.forking", "auditor.auditing")}


def test_no_room_is_reached_by_its_name_in_a_string_against_the_layers() -> None:
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    [layers] = [contract["layers"] for contract in contracts["contracts"] if contract["type"] == "layers"]
    depth = {room.strip(" ()"): number for number, layer in enumerate(layers) for room in layer.split("|")}
    assert depth["report"] < depth["results"]
    against = {
        (module, f"auditor.{room}")
        for module, parsed in trees().items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and module.count(".")
        for room in re.findall(r"^auditor\.(\w+)[.:\w]*$", node.value)
        if room in depth and depth[room] < depth.get(module.split(".")[1], 0)
    }
    assert against == BY_NAME


def test_every_public_name_can_be_loaded() -> None:
    import auditor

    assert {name for name in auditor.__all__ if not hasattr(auditor, name)} == set()
    with pytest.raises(AttributeError, match=r"has no attribute 'ApproxDP'; did you mean \"ApproximateDP\"\?"):
        auditor.ApproxDP  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'zzz'") as raised:
        auditor.zzz  # noqa: B018
    assert (raised.value.name, raised.value.obj) == ("zzz", auditor)


PUBLIC = {"auditor", "auditor.exact", "auditor.extending"}


def shown_imports() -> Iterator[tuple[str, str, str]]:
    """Yield page, module and name of what the documents and the examples import of the package."""
    examples = [file for file in (PROJECT / "examples").rglob("*") if file.suffix in {".md", ".py", ".ipynb"}]
    statement = re.compile(r"from (auditor[\w.]*) import (?:\(([\w,\s]+)\)|([\w, ]+))")
    for page in [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(PROJECT / "docs").rglob("*.md"), *examples]:
        for module, in_brackets, in_line in statement.findall(page.read_text(encoding="utf-8")):
            yield from ((page.name, module, name) for name in re.findall(r"\w+", in_brackets or in_line))


def test_what_is_shown_to_users_is_public() -> None:
    """Users are shown names of public modules only, and the command line from Python."""
    shown = [*shown_imports()]
    assert {module for _, module, _ in shown} == {*PUBLIC, "auditor.cli"}
    for page, module, name in shown:
        public = ["main"] if module == "auditor.cli" else importlib.import_module(module).__all__
        assert name in public, f"{page}: {module}.{name}"


# The only modules that may import a library.
ONLY: dict[str, tuple[str, ...]] = {
    "joblib": ("auditor.blackbox.workers",),
    "loky": ("auditor.blackbox.workers",),
    "cloudpickle": ("auditor.blackbox.digests", "auditor.blackbox.host", "auditor.blackbox.workers"),
    "distributed": ("auditor.blackbox.workers",),
    "concurrent": ("auditor.blackbox",),
    "sqlite3": ("auditor.blackbox.store",),
    "yaml": ("auditor.config",),
    "pydantic": ("auditor.config", "auditor.results", "auditor.libraries.library_table"),
    "pydantic_core": ("auditor.blackbox.command", "auditor.config.schema", "auditor.results.reader"),
    "rich": ("auditor.cli", "auditor.report.terminal"),
    "argparse": ("auditor.cli", "auditor.libraries.__main__"),
    "matplotlib": ("auditor.report.plots",),
    "jinja2": ("auditor.report.html", "auditor.config.scaffold"),
    "markupsafe": ("auditor.report",),
    "pandas": ("auditor.results.result", "auditor.neighbours.frame_forms"),
    "polars": ("auditor.neighbours.frame_forms",),
    "pyarrow": ("auditor.neighbours.frame_forms", "auditor.scores"),
    "shtab": ("auditor.cli",),
}


def test_a_library_is_known_in_its_one_place_only() -> None:
    strangers = [
        f"{module}, line {line}, imports {name}"
        for module, parsed in trees().items()
        for name, line in imports(parsed)
        for homes in [ONLY.get(name.split(".")[0])]
        if homes is not None and not any(module == home or module.startswith(home + ".") for home in homes)
    ]
    assert strangers == []


def test_no_library_is_used_by_its_private_parts() -> None:
    """Names of a path with an underscore, and names that a library re-exports from another."""
    inside = [
        f"{module} imports {name}"
        for module, parsed in trees().items()
        for name, _ in imports(parsed)
        if name.split(".")[0] not in {"auditor", *sys.stdlib_module_names}
        and any(part.startswith("_") or part in ("externals", "vendor") for part in name.split("."))
    ]
    assert inside == []


def test_seeds_are_made_in_one_place() -> None:
    """One place then shows where every random number comes from, and no two uses share an address unnoticed."""
    makers = {
        module
        for module, parsed in trees().items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Attribute) and node.attr in ("SeedSequence", "PCG64")
    }
    # A proof draws no outputs: it runs a function on numbers of its own.
    assert {module for module in makers if not module.startswith("dp_prover")} == {"auditor.blackbox.batches"}


def test_no_generator_is_made_without_a_seed() -> None:
    unseeded = [
        f"{module}, line {node.lineno}"
        for module, parsed in trees().items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("default_rng", "SeedSequence"))
        if not (node.args or node.keywords)
    ]
    assert unseeded == []


def test_every_library_is_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {
        requirement.split(">")[0].replace("pyyaml", "yaml").replace("-", "_") for requirement in project["dependencies"]
    }
    optional = {r.split(">")[0] for extra in project["optional-dependencies"].values() for r in extra}
    used = {name.split(".")[0] for parsed in trees().values() for name, _ in imports(parsed)}
    used -= {"auditor", *sys.stdlib_module_names}
    # Only the pytest plugin, backends, frames, plots and one method may use optional libraries.
    assert used - declared <= optional & {
        "pytest",
        "distributed",
        "pandas",
        "polars",
        "pyarrow",
        "matplotlib",
        "statsmodels",
    }
    assert declared - used == set(), "declared, but never imported"


def methods_of(parsed: ast.AST) -> Iterator[tuple[str, str, bool]]:
    """Yield class, name and whether there is a docstring, for each public method."""
    for record in ast.walk(parsed):
        if isinstance(record, ast.ClassDef) and not record.name.startswith("_"):
            for method in record.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    yield record.name, method.name, ast.get_docstring(method) is not None


def test_a_method_has_a_docstring_or_implements_one_that_has() -> None:
    methods = [(module, *method) for module, parsed in trees().items() for method in methods_of(parsed)]
    documented = {name for _, _, name, has_docstring in methods if has_docstring}
    assert [method for method in methods if not method[-1] and method[2] not in documented] == []
