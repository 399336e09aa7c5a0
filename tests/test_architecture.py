"""The house rules that a parser can check: which room may know which, and what is done in one place only."""

import ast
import functools
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
MODULES = sorted((PROJECT / "auditor").rglob("*.py"))

# Lowest first. A room may import those before it, and itself; rooms on one line may not import each other.
ROOMS: list[tuple[str, ...]] = [
    ("auditor.errors", "auditor.defaults"),
    ("auditor.strangers", "auditor.plugins"),
    ("auditor.claims",),
    ("auditor.bounds",),
    ("auditor.scores",),
    ("auditor.neighbours",),
    ("auditor.adapters",),
    ("auditor.blackbox",),
    ("auditor.proofs",),
    ("auditor.events",),
    ("auditor.methods",),
    ("auditor.verdict",),
    ("auditor.results",),
    ("auditor.auditing",),
    ("auditor.config", "auditor.report"),
    ("auditor.cli", "auditor.pytest_plugin", "auditor.extending"),
    ("auditor.libraries",),
    ("auditor.__main__",),
]
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}


def name_of(file: Path) -> str:
    parts = file.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    """Return the longest room that holds a module."""
    names = [room for room in RANK if module == room or module.startswith(room + ".")]
    return max(names, key=len, default=None)


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def imports(parsed: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every module imported anywhere: at the top, inside functions, under TYPE_CHECKING, and by name."""
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written out in full here"
            assert node.module is not None
            for alias in node.names:
                submodule = PROJECT / f"{node.module}.{alias.name}".replace(".", "/")
                is_module = submodule.is_dir() or submodule.with_suffix(".py").is_file()
                yield (f"{node.module}.{alias.name}" if is_module else node.module), node.lineno


def forbidden_imports(module: str, parsed: ast.AST) -> list[str]:
    """Return what a module imports from higher up in the list, or from beside it."""
    found = []
    for imported, line in imports(parsed):
        if imported.split(".")[0] != "auditor" or imported == "auditor":
            continue
        own, other = room_of(module), room_of(imported)
        assert own is not None, f"{module} is in no room; give it one in ROOMS and in ARCHITECTURE.md"
        assert other is not None, f"{imported} is in no room; give it one in ROOMS and in ARCHITECTURE.md"
        if own != other and RANK[other] >= RANK[own]:
            found.append(f"{module}, line {line}, imports {imported}")
    return found


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The modules of the package, by name."""
    return {name_of(file): tree(file) for file in MODULES}


def test_imports_go_down_the_list_of_rooms_only() -> None:
    modules = [module for module in trees() if module != "auditor"]
    assert [wrong for module in modules for wrong in forbidden_imports(module, trees()[module])] == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("auditor.bounds.guesses", "from auditor.events.event import Event"),
        ("auditor.claims", "import auditor.bounds.evidence"),
        ("auditor.claims", "def f():\n    from auditor.verdict import judge"),
        ("auditor.errors", "if TYPE_CHECKING:\n    from auditor import claims"),
        ("auditor.results.result", "from auditor.auditing.plan import Plan"),
        ("auditor.auditing.plan", "from auditor.report.html import to_html"),
        ("auditor.report.phrases", "from auditor.config import schema"),
        ("auditor.auditing.plan", "from auditor.cli import main"),
    ],
)
def test_this_file_notices_an_import_that_goes_up(module: str, source: str) -> None:
    assert len(forbidden_imports(module, ast.parse(source))) == 1


def in_circles(trees: dict[str, ast.Module]) -> set[str]:
    """Return the modules that import themselves through others, imports under TYPE_CHECKING included."""
    reached = {
        module: {name for name, _ in imports(parsed) if name in trees} - {module, "auditor"}
        for module, parsed in trees.items()
    }
    while True:
        further = {module: names.union(*(reached[name] for name in names)) for module, names in reached.items()}
        if further == reached:
            return {module for module, names in reached.items() if module in names}
        reached = further


def test_no_modules_import_each_other() -> None:
    assert in_circles(trees()) == set()


def test_this_file_notices_a_circle() -> None:
    sources = {
        "auditor.claims": "from auditor.errors import did_you_mean",
        "auditor.errors": "if TYPE_CHECKING:\n    from auditor.verdict import judge",
        "auditor.verdict": "def f():\n    import auditor.claims",
        "auditor.strangers": "import auditor.claims",
    }
    trees = {module: ast.parse(source) for module, source in sources.items()}
    assert in_circles(trees) == {"auditor.claims", "auditor.errors", "auditor.verdict"}


# Attributes of objects of libraries, and marks on functions, which are set from outside.
SET_FROM_OUTSIDE = {"isolation_level", "complete", "globals", "text", "state", "__specimen__", "__truth__"}


def set_from_outside(parsed: ast.AST) -> list[str]:
    """Return the assignments to an attribute of another object."""
    return [
        f"line {node.lineno} sets {ast.unparse(node)}"
        for node in ast.walk(parsed)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store | ast.Del)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and node.attr not in SET_FROM_OUTSIDE
    ]


def test_nothing_sets_an_attribute_of_another_object() -> None:
    """What changes is changed by its own methods, so that whoever reads them has seen it all."""
    assert {module: found for module, parsed in trees().items() if (found := set_from_outside(parsed))} == {}


@pytest.mark.parametrize("source", ["draw.plan = plan", "self.run.line = 3", "a.b += 1", "x, a.b = 1, 2", "del a.b"])
def test_this_file_notices_what_is_set_from_outside(source: str) -> None:
    assert len(set_from_outside(ast.parse(source))) == 1


def test_every_room_of_the_list_is_there() -> None:
    assert set(RANK) - set(trees()) == set()


def test_architecture_md_lists_the_rooms_in_this_order() -> None:
    rows = [line.split("`")[1] for line in (PROJECT / "ARCHITECTURE.md").read_text().splitlines() if "| `" in line[:3]]
    told = ["auditor." + row.removesuffix(".py").rstrip("/").replace("/", ".") for row in rows]
    assert set(RANK) - {*told, "auditor.__main__"} == set()
    assert [RANK[room] for room in told if room in RANK] == sorted(RANK[room] for room in told if room in RANK)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "docs/internals.md"])
def test_what_a_page_on_the_code_names_is_there(page: str) -> None:
    named = set(re.findall(r"\b(?:\w+/)+\w+\.py\b", (PROJECT / page).read_text(encoding="utf-8")))
    assert len(named) > 5
    assert {name for name in named if not any((PROJECT / root / name).is_file() for root in ("", "auditor"))} == set()


def test_the_facade_imports_nothing_until_it_is_asked() -> None:
    """At run time; what it imports under TYPE_CHECKING is for type checkers."""
    script = "import sys, auditor; print([m for m in sys.modules if m.startswith('auditor.') or m == 'numpy'])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_help_answers_without_loading_a_numerical_library() -> None:
    script = (
        "import sys\nfrom auditor.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "slow = ('numpy', 'scipy', 'joblib', 'loky', 'pydantic', 'rich', 'matplotlib', 'pandas', 'jinja2')\n"
        "print([m for m in slow if m in sys.modules], file=sys.stderr)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stderr.strip() == "[]"


def test_an_audit_loads_what_takes_long_when_it_needs_it() -> None:
    """Each worker imports all of this before its first output."""
    script = (
        "import sys, auditor.auditing, auditor.blackbox.host\n"
        "slow = ('scipy.optimize', 'scipy.stats', 'scipy.special', 'statsmodels', 'matplotlib', 'pandas', 'jinja2', 'rich')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_every_public_name_can_be_loaded() -> None:
    import auditor

    assert {name for name in auditor.__all__ if not hasattr(auditor, name)} == set()
    with pytest.raises(AttributeError, match="has no attribute 'adit'"):
        auditor.adit  # noqa: B018


PUBLIC = {"auditor", "auditor.extending"}


def shown_imports() -> Iterator[tuple[str, str, str]]:
    """Yield page, module and name of what the documents and the examples import of the package."""
    examples = [file for file in (PROJECT / "examples").rglob("*") if file.suffix in {".md", ".py", ".ipynb"}]
    statement = re.compile(r"from (auditor[\w.]*) import (?:\(([\w,\s]+)\)|([\w, ]+))")
    for page in [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(PROJECT / "docs").rglob("*.md"), *examples]:
        for module, in_brackets, in_line in statement.findall(page.read_text(encoding="utf-8")):
            yield from ((page.name, module, name) for name in re.findall(r"\w+", in_brackets or in_line))


def test_what_is_shown_to_users_is_public() -> None:
    """Names of `auditor` and of `auditor.extending`, and the command line from Python."""
    shown = [*shown_imports()]
    assert {module for _, module, _ in shown} == {*PUBLIC, "auditor.cli"}
    for page, module, name in shown:
        public = ["main"] if module == "auditor.cli" else importlib.import_module(module).__all__
        assert name in public, f"{page}: {module}.{name}"


def test_nothing_imports_the_mechanisms() -> None:
    assert [module for module in trees() for name, _ in imports(trees()[module]) if name.startswith("mechanisms")] == []


# Who alone may import a library.
ONLY: dict[str, tuple[str, ...]] = {
    "joblib": ("auditor.blackbox.clusters",),
    "loky": ("auditor.blackbox.workers",),
    "cloudpickle": ("auditor.blackbox.host", "auditor.blackbox.workers"),
    "dask": ("auditor.blackbox.clusters",),
    "distributed": ("auditor.blackbox.clusters",),
    "ray": ("auditor.blackbox.clusters",),
    "concurrent": ("auditor.blackbox",),
    "sqlite3": ("auditor.blackbox.store",),
    "yaml": ("auditor.config",),
    "pydantic": ("auditor.config", "auditor.results", "auditor.libraries.library_table"),
    "pydantic_core": ("auditor.blackbox.command", "auditor.results.reader"),
    "rich": ("auditor.cli", "auditor.report.terminal"),
    "argparse": ("auditor.cli", "auditor.libraries.__main__"),
    "matplotlib": ("auditor.report.plots",),
    "jinja2": ("auditor.report.html", "auditor.config.scaffold"),
    "markupsafe": ("auditor.report",),
    "pandas": ("auditor.results.result", "auditor.neighbours.frame_forms"),
    "polars": ("auditor.neighbours.frame_forms",),
    "hypothesis": ("auditor.neighbours.strategies",),
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
    """Names of a path with an underscore, and what a library has taken over from another."""
    inside = [
        f"{module} imports {name}"
        for module, parsed in trees().items()
        for name, _ in imports(parsed)
        if name.split(".")[0] not in {"auditor", *sys.stdlib_module_names}
        and any(part.startswith("_") or part in ("externals", "vendor") for part in name.split("."))
    ]
    assert inside == []


def test_seeds_are_made_in_one_place() -> None:
    """So that where a random number comes from is read there, and no two uses share an address unseen."""
    makers = {
        module
        for module, parsed in trees().items()
        for node in ast.walk(parsed)
        if isinstance(node, ast.Attribute) and node.attr in ("SeedSequence", "PCG64")
    }
    # A proof draws no outputs: it runs a function on numbers of its own.
    assert {module for module in makers if not module.startswith("auditor.proofs")} == {"auditor.blackbox.batches"}


def test_bounds_know_nothing_but_numbers() -> None:
    libraries = {
        name.split(".")[0]
        for module, parsed in trees().items()
        if module.startswith("auditor.bounds")
        for name, _ in imports(parsed)
    } - set(sys.stdlib_module_names)
    assert libraries <= {"numpy", "scipy", "statsmodels", "auditor"}


def test_every_library_is_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {
        requirement.split(">")[0].replace("pyyaml", "yaml").replace("-", "_") for requirement in project["dependencies"]
    }
    optional = {r.split(">")[0] for extra in project["optional-dependencies"].values() for r in extra}
    used = {name.split(".")[0] for parsed in trees().values() for name, _ in imports(parsed)}
    used -= {"auditor", *sys.stdlib_module_names}
    # Only the pytest plugin, backends, frames, plots and one method may lean on what is optional.
    assert used - declared <= optional & {
        "pytest",
        "dask",
        "distributed",
        "ray",
        "pandas",
        "polars",
        "pyarrow",
        "hypothesis",
        "matplotlib",
        "statsmodels",
    }
    assert declared - used == set(), "declared, but never imported"


def calls(parsed: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(parsed):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno
        elif isinstance(node, ast.Raise) and node.exc is not None and "SystemExit" in ast.unparse(node.exc):
            yield "raise SystemExit", node.lineno


SPEAKS = {"print", "sys.stdout.write", "sys.stderr.write", "input"}
ENDS = {"sys.exit", "exit", "quit", "os._exit", "os.abort", "raise SystemExit"}


def test_only_the_command_line_prints_and_ends_the_program() -> None:
    allowed: dict[str, set[str]] = {"auditor.cli": SPEAKS | ENDS, "auditor.__main__": ENDS, "auditor.libraries": ENDS}
    forbidden = [
        f"{module}, line {line}: {call}"
        for module, parsed in trees().items()
        for call, line in calls(parsed)
        if call in (SPEAKS | ENDS) - allowed.get(str(room_of(module)), set())
    ]
    assert forbidden == []


# What may be taken from numpy.random: generators made from a seed, never the hidden global one.
GENERATORS = {"Generator", "SeedSequence", "PCG64", "BitGenerator", "default_rng"}


def global_randomness(parsed: ast.AST) -> list[int]:
    found = []
    for node in ast.walk(parsed):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"np.random", "numpy.random"}:
            found += [node.lineno] if node.attr not in GENERATORS else []
        elif isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            found += [node.lineno] if not {alias.name for alias in node.names} <= GENERATORS else []
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
            found += [node.lineno] if {"random", "secrets"} & set(modules) else []
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("default_rng", "SeedSequence")):
            found += [node.lineno] if not node.args and not node.keywords else []
    return found


def test_there_is_no_global_random_state() -> None:
    assert {module for module, parsed in trees().items() if global_randomness(parsed)} == set()


@pytest.mark.parametrize(
    "source",
    [
        "np.random.seed(0)",
        "x = np.random.laplace(0, 1)",
        "import random",
        "from random import gauss",
        "from numpy.random import normal",
        "rng = np.random.default_rng()",
        "np.random.RandomState(3)",
    ],
)
def test_this_file_notices_global_randomness(source: str) -> None:
    assert global_randomness(ast.parse(source)) == [1]


def methods_of(parsed: ast.AST) -> Iterator[tuple[str, str, bool]]:
    """Yield class, name and whether there is a docstring, for each public method."""
    for record in ast.walk(parsed):
        if isinstance(record, ast.ClassDef) and not record.name.startswith("_"):
            for method in record.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    yield record.name, method.name, ast.get_docstring(method) is not None


def test_a_method_has_a_docstring_or_implements_one_that_has() -> None:
    methods = [(module, *method) for module, parsed in trees().items() for method in methods_of(parsed)]
    known = {name for _, _, name, has_docstring in methods if has_docstring}
    assert [method for method in methods if not method[-1] and method[2] not in known] == []
