"""The columns that a function reads: a first guess at the frames that a mechanism takes.

Names of columns are in the function's own code, and in the errors that it raises on a frame without them.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

# Names of data sets that are frames, and of libraries whose frames these may be.
_FRAMES = ("df", "frame", "table", "data_frame", "dataframe", "lf", "lazyframe")
_LIBRARIES = ("pandas", "polars", "pyarrow")
_ID = re.compile(r"(^|_)(id|uid|user|person|patient|customer|client|member|household|device)s?$", re.IGNORECASE)
_TIME = re.compile(r"(^|_)(date|day|born|birthday)$", re.IGNORECASE)
# Methods of frames by whose arguments rows are grouped, and others that name columns.
_GROUPS = ("groupby", "group_by", "value_counts", "pivot_table", "partition_by")
_NAMES = ("col", "column", "n_unique", "nunique", "select", "drop_duplicates", "sort_values", "sort", "get_column")
_MISSING = re.compile(
    r"(?:KeyError|ColumnNotFoundError)\b.*?(?:['\"]\[?'?|not found: )([A-Za-z_]\w*)"
    r"|AttributeError: '(?:DataFrame|Pandas|Series)' object has no attribute '(\w+)'",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class FrameGuess:
    """The columns that are known so far, in their order, and those by which rows are grouped. ``form`` is the key ``as``."""

    form: str
    columns: tuple[str, ...]
    groups: frozenset[str]

    def after(self, problem: str) -> "FrameGuess | None":
        """Add the column that an error names to the guess, and return it; None if the error names no new column."""
        found = _MISSING.search(problem)
        name = found and (found[1] or found[2])
        return replace(self, columns=(*self.columns, name)) if name and name not in self.columns else None

    def neighbours(self) -> tuple[str, str]:
        """Return the frames in words, and in YAML."""
        owner = next((name for name in self.columns if _ID.search(name) and name not in self.groups), None)
        columns = {name: self._column(name) for name in self.columns if name != owner}
        if not columns and owner is None:
            columns = {"value": self._column("value")}
        spelled = ", ".join(f"{name}: {column}" for name, column in columns.items())
        persons = f"id: {owner}, rows_per_person: {{low: 1, high: 3}}, " if owner else ""
        who = "a person with all rows is added or removed" if owner else "a row is added or removed"
        size = "size: {low: 0, high: 20}"
        return f"a frame; {who}", f"{{domain: frame, columns: {{{spelled}}}, {persons}{size}, as: {self.form}}}"

    def _column(self, name: str) -> str:
        if name in self.groups:
            return "{type: categorical, choices: [a, b, c], null: true}"
        return "{type: date}" if _TIME.search(name) else "{type: number, low: 0, high: 10}"


def frame_guess(function: Callable[..., Any], dataset: inspect.Parameter) -> FrameGuess | None:
    """Return a guess at the frames that a function takes as its data set; None if it takes no frame."""
    form = _form(function, dataset)
    if form is None:
        return None
    try:
        code = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return FrameGuess(form, (), frozenset())
    defaults = {name: taken.default for name, taken in inspect.signature(function).parameters.items()}
    groups = list(_texts(code, _GROUPS, defaults))
    columns = [*groups, *_texts(code, _NAMES, defaults), *_subscripts(code, dataset.name)]
    return FrameGuess(form, tuple(dict.fromkeys(columns)), frozenset(groups))


def _form(function: Callable[..., Any], dataset: inspect.Parameter) -> str | None:
    """Return the key ``as`` by the annotation, or else by the name and what the module imports."""
    kind = dataset.annotation
    words = kind if isinstance(kind, str) else f"{getattr(kind, '__module__', '')}.{getattr(kind, '__name__', '')}"
    if not (words.endswith(("Frame", ".Table")) or dataset.name.lower() in _FRAMES):
        return None
    scope = getattr(function, "__globals__", {})
    imported = {name: getattr(value, "__name__", "") for name, value in scope.items() if inspect.ismodule(value)}
    first = words.partition(".")[0]
    known = [imported.get(first, first), *imported.values()]
    library = next((name for name in known if name in _LIBRARIES), "polars" if first == "pl" else "pandas")
    lazy = words.endswith("LazyFrame") or dataset.name.lower() in ("lf", "lazyframe")
    return {"pyarrow": "arrow", "polars": "lazy" if lazy else "polars"}.get(library, library)


def _texts(code: ast.AST, methods: tuple[str, ...], defaults: dict[str, Any]) -> Iterator[str]:
    """Yield the texts that calls of these methods have as arguments, in place or as a default of the function."""
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg in ("by", "subset"))]
            for part in (part for argument in given for part in ast.walk(argument)):
                value = defaults.get(part.id) if isinstance(part, ast.Name) else getattr(part, "value", None)
                if isinstance(value, str):
                    yield value


def _subscripts(code: ast.AST, dataset: str) -> Iterator[str]:
    """Yield the texts in brackets behind the data set, or behind a call of one of its methods."""
    for node in ast.walk(code):
        if isinstance(node, ast.Subscript) and any(
            isinstance(n, ast.Name) and n.id == dataset for n in ast.walk(node.value)
        ):
            parts = [part for part in ast.walk(node.slice) if isinstance(part, ast.Constant)]
            yield from (part.value for part in parts if isinstance(part.value, str))
