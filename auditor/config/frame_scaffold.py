"""A first guess at the frames that a mechanism takes: their columns, the types of these, and whose rows they are.

Names of columns are in the function's own code, and in the errors that it raises on a frame without them. A type that fails is
replaced by another one.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from auditor.config.source_clues import Clues

# Names of data sets that are frames, and of libraries whose frames these may be.
_FRAMES = ("df", "frame", "table", "data_frame", "dataframe", "lf", "lazyframe")
_LIBRARIES = ("pandas", "polars", "pyarrow")
_PERSON = re.compile(r"(^|_)(id|uid|uuid|user|person|patient|customer|client|member|household|voter|student)s?$", re.I)
# A device or an account may also be what is counted.
_OWNER = re.compile(r"(^|_)(device|account|session)s?$", re.I)
_DATE = re.compile(r"(^|_)(date|dob|born|birthday)$", re.I)
_TIME = re.compile(r"(^|_)(time|datetime|timestamp|at|when)$", re.I)
_WHOLE = re.compile(r"(^|_)(day|days|week|month|year|hour|age|count|number|n|num|quantity|visits|rank)$", re.I)
_MISSING = re.compile(
    r"(?:KeyError|ColumnNotFoundError)\b.*?(?:['\"]\[?'?|not found: )([A-Za-z_]\w*)"
    r"|AttributeError: '(?:DataFrame|Pandas|Series)' object has no attribute '(\w+)'"
    r"|(?:ProgrammingError|OperationalError)\b.*?(?::|column named |column: )([A-Za-z_]\w*)",
    re.DOTALL,
)
_LETTERS = ("a", "b", "c")
# What a column is tried as, if it fails as its name suggests.
_OTHERS = {
    "number": ("integer", "categorical", "date", "boolean"),
    "integer": ("number", "date", "categorical"),
    "date": ("integer", "datetime", "categorical"),
    "datetime": ("date", "number"),
    "categorical": ("integer", "date", "boolean"),
    "boolean": ("integer",),
}


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A column, its type, and the texts that it is known to hold. ``ends`` are those of its numbers."""

    name: str
    kind: str
    choices: tuple[str, ...] = ()
    ends: tuple[float, float] = (0, 10)

    def __str__(self) -> str:
        low, high = (f"{end:g}" for end in self.ends)
        if self.kind == "categorical":
            choices = [*self.choices, *_LETTERS][: max(len(_LETTERS), len(self.choices) + 1)]
            return f"{{type: categorical, choices: [{', '.join(map(_word, choices))}], null: true}}"
        return f"{{type: {self.kind}{f', low: {low}, high: {high}' if self.kind in ('number', 'integer') else ''}}}"


@dataclass(frozen=True, slots=True)
class FrameGuess:
    """The columns that are known so far, in their order, and the one that says whose row it is. ``form`` is the key ``as``."""

    form: str
    columns: tuple[ColumnGuess, ...]
    owner: str | None

    def after(self, problem: str) -> "FrameGuess | None":
        """Add the column that an error names to the guess, and return it; None if the error names no new column."""
        found = _MISSING.search(problem)
        name = found and (found[1] or found[2] or found[3])
        if not name or name == self.owner or name in {column.name for column in self.columns}:
            return None
        if self.owner is None and _PERSON.search(name):
            return replace(self, owner=name)
        return replace(self, columns=(*self.columns, _column(name, Clues())))

    def others(self) -> "Iterator[FrameGuess]":
        """Yield guesses with another type of one column. Dates come first: functions often take numbers for them."""
        for column in sorted(self.columns, key=lambda each: not each.kind.startswith("date")):
            for kind in _OTHERS[column.kind]:
                changed = replace(column, kind=kind)
                yield replace(self, columns=tuple(changed if each is column else each for each in self.columns))

    def neighbours(self) -> tuple[str, str]:
        """Return the frames in words, and in YAML."""
        columns = self.columns or (() if self.owner else (ColumnGuess("value", "number"),))
        spelled = ", ".join(f"{column.name}: {column}" for column in columns)
        persons = f"id: {self.owner}, rows_per_person: {{low: 1, high: 3}}, " if self.owner else ""
        who = "a person with all rows is added or removed" if self.owner else "a row is added or removed"
        size = "size: {low: 0, high: 20}"
        return f"a frame; {who}", f"{{domain: frame, columns: {{{spelled}}}, {persons}{size}, as: {self.form}}}"


def _word(text: str) -> str:
    return text if text.isidentifier() and text.lower() not in ("true", "false", "null") else json.dumps(text)


def _record(column: ColumnGuess) -> str:
    low, high = (f"{end:g}" for end in column.ends)
    if column.kind in ("number", "integer"):
        return f"{{low: {low}, high: {high}{', integer: true' if column.kind == 'integer' else ''}}}"
    choices = ["true", "false"] if column.kind == "boolean" else [_word(text) for text in (*column.choices, *_LETTERS)]
    return f"{{choices: [{', '.join(choices)}]}}"


def rows_without_names(clues: Clues, ends: tuple[float, float]) -> tuple[str, str]:
    """Return rows that are lists of values, in words and in YAML."""
    columns = [_column(name, clues, ends) for name in clues.columns]
    spelled = ", ".join(map(_record, columns))
    records = (
        f"{{domain: records, columns: [{spelled}], size: {{low: 0, high: 10}}, relation: add_remove, container: list}}"
    )
    return f"rows of {', '.join(column.name for column in columns)}; a row is added or removed", records


def frame_guess(
    function: Callable[..., Any], dataset: inspect.Parameter, clues: Clues, ends: tuple[float, float]
) -> FrameGuess | None:
    """Return a guess at the frames that a function takes, with numbers between ``ends``; None if it takes no frame."""
    form = _form(function, dataset, clues)
    if form is None:
        return None
    names = [name for name in clues.columns if _PERSON.search(name)] or [
        name for name in clues.columns if _OWNER.search(name) and name not in clues.groups
    ]
    owner = names[0] if names else None
    return FrameGuess(form, tuple(_column(name, clues, ends) for name in clues.columns if name != owner), owner)


def _column(name: str, clues: Clues, ends: tuple[float, float] = (0, 10)) -> ColumnGuess:
    """Return a guess at a column, by what declares it, or else by its name."""
    kind, choices = dict(clues.kinds).get(name, ""), dict(clues.choices).get(name, ())
    if not kind:
        kind = "date" if _DATE.search(name) else "datetime" if _TIME.search(name) else ""
        kind = kind or ("integer" if _WHOLE.search(name) or _PERSON.search(name) else "number")
        # A group of numbers is seldom of measured ones.
        kind = "categorical" if choices or (name in clues.groups and kind == "number") else kind
    return ColumnGuess(name, kind, choices, ends if kind == "number" else (0, 10))


def _form(function: Callable[..., Any], dataset: inspect.Parameter, clues: Clues) -> str | None:
    """Return the key ``as`` by the annotation, or else by the name, what the module imports, and what the code does."""
    kind = dataset.annotation
    words = kind if isinstance(kind, str) else f"{getattr(kind, '__module__', '')}.{getattr(kind, '__name__', '')}"
    scope = getattr(function, "__globals__", {})
    imported = {name: getattr(value, "__name__", "") for name, value in scope.items() if inspect.ismodule(value)}
    library = next((name for name in imported.values() if name in _LIBRARIES), None)
    if not (words.endswith(("Frame", ".Table")) or dataset.name.lower() in _FRAMES):
        if clues.takes_rows:
            return "rows"
        return ("polars" if library == "polars" else library or "columns") if clues.takes_keys else None
    first = words.partition(".")[0]
    known = [imported.get(first, first), library]
    library = next((name for name in known if name in _LIBRARIES), "polars" if first == "pl" else "pandas")
    lazy = words.endswith("LazyFrame") or dataset.name.lower() in ("lf", "lazyframe")
    return {"pyarrow": "arrow", "polars": "lazy" if lazy else "polars"}.get(library, library)
