"""The code seen from outside, one line per room: sizes of functions, helpers called once, constants, names with several homes.

It is a mirror, not a limit: any figure may be right as it is. The length of a function excludes its decorators. A
private function is called once if its module mentions it once, in a call. A name has several homes if several modules
of its package define it at the top level. The figures describe the working tree and are stale after the next change, so
results/house.json is not tracked.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
# Whether each folder of the package is a room of its own.
PACKAGES = {
    "auditor": True,
    "dp_prover": True,
    "benchmarks": False,
    "mechanisms": False,
    "studies": False,
    "tests": False,
}
LISTED = 20


@dataclass(frozen=True, slots=True)
class Room:
    """The figures of some modules, or of a whole package."""

    name: str
    lines: int
    functions: int
    function_lines: int
    called_once: int
    constants: int
    shared_names: int

    @property
    def mean_length(self) -> float | None:
        return self.function_lines / self.functions if self.functions else None

    def figures(self) -> dict[str, int | float | None]:
        return {
            "lines": self.lines,
            "functions": self.functions,
            "mean length": None if self.mean_length is None else round(self.mean_length, 1),
            "private, called once": self.called_once,
            "constants": self.constants,
            "names with several homes": self.shared_names,
        }


@dataclass(frozen=True, slots=True)
class Module:
    """A file of a package, read once. ``folders`` lead from the package to it."""

    folders: tuple[str, ...]
    text: str
    tree: ast.Module

    @property
    def top_names(self) -> set[str]:
        """The functions, classes and variables defined at the top level, without imports."""
        defined = {node.name for node in self.tree.body if isinstance(node, (*_FUNCTION, ast.ClassDef))}
        return defined.union(_assigned(self.tree.body))


def measure(project: Path = PROJECT, packages: dict[str, bool] = PACKAGES) -> dict[str, Any]:
    """Count every room of the packages, print the table, and return it with the names that have the most homes."""
    modules = {package: modules_of(project / package) for package in packages}
    rooms = [room for package in packages for room in rooms_of(package, modules[package], packages[package])]
    figures = {room.name: room.figures() for room in rooms}
    titles = list(rooms[0].figures())
    print(f"{'':24}" + "".join(f"{title:>26}" for title in titles))
    for name, row in figures.items():
        print(f"{name:24}" + "".join(f"{'–' if row[title] is None else row[title]:>26}" for title in titles))
    homes = {package: names_with_several_homes(modules[package]) for package in packages}
    return {
        "rooms": figures,
        "names with several homes": {package: len(names) for package, names in homes.items()},
        "most homes": {package: dict(names.most_common(LISTED)) for package, names in homes.items()},
    }


def modules_of(folder: Path) -> list[Module]:
    """Read the Python files in a folder and its subfolders."""
    files = [(path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))]
    return [Module(path.relative_to(folder).parts[:-1], text, ast.parse(text)) for path, text in files]


def rooms_of(package: str, modules: list[Module], by_folder: bool) -> list[Room]:
    """Return the rooms of a package: its top-level modules, then each of its folders; or one room for the whole package."""
    shared = names_with_several_homes(modules)
    rooms: dict[str, list[Module]] = {f"{package}/": []}
    for module in modules:
        room = f"{package}/{module.folders[0]}" if by_folder and module.folders else f"{package}/"
        rooms.setdefault(room, []).append(module)
    return [_count(room, inside, shared) for room, inside in rooms.items()]


def names_with_several_homes(modules: list[Module]) -> Counter[str]:
    """Return the names that several modules define at the top level, each with the number of modules."""
    homes = Counter(name for module in modules for name in module.top_names)
    return Counter({name: count for name, count in homes.items() if count > 1})


def _count(room: str, modules: list[Module], shared: Counter[str]) -> Room:
    nodes = [list(ast.walk(module.tree)) for module in modules]
    functions = [node for inside in nodes for node in inside if isinstance(node, _FUNCTION)]
    return Room(
        room,
        lines=sum(module.text.count("\n") for module in modules),
        functions=len(functions),
        function_lines=sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions),
        called_once=sum(len(_called_once(inside)) for inside in nodes),
        constants=sum(name.isupper() for inside in nodes for name in _assigned(inside)),
        shared_names=len({name for module in modules for name in module.top_names} & shared.keys()),
    )


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def _called_once(nodes: list[ast.AST]) -> set[str]:
    """Return the private functions and methods that a module mentions once, in a call."""
    names = {node.name for node in nodes if isinstance(node, _FUNCTION)}
    private = {name for name in names if name.startswith("_") and not name.endswith("__")}
    mentions = Counter(name for node in nodes if (name := _mentioned(node)) in private)
    calls = Counter(name for node in nodes if isinstance(node, ast.Call) and (name := _mentioned(node.func)))
    return {name for name in private if mentions[name] == calls[name] == 1}


def _mentioned(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Assign(targets=targets):
                stored = [name for target in targets for name in ast.walk(target)]
            case ast.AnnAssign(target=target):
                stored = list(ast.walk(target))
            case _:
                continue
        yield from (name.id for name in stored if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store))
