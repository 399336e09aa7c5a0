"""What the code of a function says of the data it takes: names of columns, groups, values that they are compared with."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

# Methods of frames by whose arguments rows are grouped, and others that name columns.
_GROUPS = ("groupby", "group_by", "value_counts", "pivot_table", "partition_by")
_NAMES = (
    *("col", "column", "n_unique", "nunique", "select", "unique", "drop_duplicates", "drop_nulls", "dropna"),
    *("sort_values", "sort", "get_column"),
)
_BY_KEYWORD = ("by", "subset", "columns", "on", "index")
_CLAMPS = ("clip", "clamp")
# What stands in a query that is no column.
_SQL_WORDS = re.compile(
    "all|and|as|asc|avg|between|by|case|cast|cross|date|desc|distinct|double|else|end|exists|false|float|from|full|group|having|if|in|"
    "inner|insert|int|integer|into|is|join|left|like|limit|not|null|numeric|on|or|order|outer|over|partition|real|right|select|text|"
    "then|true|union|using|values|when|where|with",
    re.IGNORECASE,
)
_SQL_KINDS = {"int": "integer", "real": "number", "num": "number", "flo": "number", "dou": "number", "dec": "number"}
_SQL_KINDS |= {"text": "categorical", "char": "categorical", "var": "categorical", "date": "date", "bool": "boolean"}


@dataclass(frozen=True, slots=True)
class Clues:
    """What the code says. ``kinds`` are types of columns as a statement of SQL declares them; ``choices`` are texts with which a
    column is compared. ``clamped`` are the two constants to which numbers are clamped; ``clamps`` says whether they are at all.
    """

    columns: tuple[str, ...] = ()
    groups: frozenset[str] = frozenset()
    kinds: tuple[tuple[str, str], ...] = ()
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()
    takes_rows: bool = False
    takes_tuples: bool = False
    takes_keys: bool = False
    clamps: bool = False
    clamped: tuple[float, float] | None = None


def clues_of(function: Callable[..., Any], dataset: str) -> Clues:
    """Return what the code of a function says of its data set, the parameter of that name; nothing if there is no source."""
    try:
        code = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return Clues()
    defaults = {name: taken.default for name, taken in inspect.signature(function).parameters.items()}
    rows, tuples = _names_of_rows(code, dataset)
    kinds: dict[str, str] = {}
    choices: dict[str, list[str]] = {}
    queried: list[str] = []
    groups = [*_texts(code, _GROUPS, defaults)]
    places = 0
    for text in _texts_of_sql(code):
        declared, read, grouped = _read_sql(text)
        kinds |= declared
        queried += [*declared, *read]
        groups += grouped
        places += "?" in text
        for column, value in re.findall(r"(\w+)\s*(?:=|<>|!=)\s*'([^']*)'", text):
            choices.setdefault(column, []).append(value)
    for column, texts in (found for node in ast.walk(code) for found in _comparison(node)):
        choices.setdefault(column, []).extend(texts)
    keys = [*_subscripts(code, {dataset})]
    columns = [*queried, *groups, *_texts(code, _NAMES, defaults), *keys, *_subscripts(code, rows), *tuples]
    return Clues(
        columns=tuple(dict.fromkeys(columns)),
        groups=frozenset(groups),
        kinds=tuple(kinds.items()),
        choices=tuple((column, tuple(dict.fromkeys(texts))) for column, texts in choices.items()),
        takes_rows=bool(rows & {*_bases(code)}) or bool(queried and not places),
        takes_tuples=bool(tuples or (queried and places)),
        takes_keys=bool(keys),
        clamps=bool([*_clamps(code)]) or _clamped(code) is not None,
        clamped=_clamped(code),
    )


def _names_of_rows(code: ast.AST, dataset: str) -> tuple[set[str], list[str]]:
    """Return the names that a loop over the data set gives to a row, and the names into which it takes a row apart."""
    rows, parts = set[str](), list[str]()
    for node in ast.walk(code):
        if isinstance(node, ast.For | ast.comprehension) and _is_data(node.iter, dataset):
            if isinstance(node.target, ast.Name):
                rows.add(node.target.id)
            elif isinstance(node.target, ast.Tuple) and isinstance(node.iter, ast.Name):
                parts += [part.id for part in node.target.elts if isinstance(part, ast.Name)]
    return rows, parts


def _is_data(node: ast.AST, dataset: str) -> bool:
    inner = node.args if isinstance(node, ast.Call) else [node]
    return any(isinstance(each, ast.Name) and each.id == dataset for each in inner)


def _bases(code: ast.AST) -> Iterator[str]:
    """Yield the names that stand before a key in brackets, or before ``.get``."""
    for node in ast.walk(code):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            yield from (node.value.id for part in ast.walk(node.slice) if isinstance(getattr(part, "value", None), str))
        if isinstance(node, ast.Attribute) and node.attr == "get" and isinstance(node.value, ast.Name):
            yield node.value.id


def _texts(code: ast.AST, methods: tuple[str, ...], defaults: dict[str, Any]) -> Iterator[str]:
    """Yield the texts that calls of these methods have as arguments, in place or as a default of the function."""
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg in _BY_KEYWORD)]
            for part in (part for argument in given for part in ast.walk(argument)):
                value = defaults.get(part.id) if isinstance(part, ast.Name) else getattr(part, "value", None)
                if isinstance(value, str):
                    yield value


def _subscripts(code: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield the texts in brackets behind these names, or behind a call of one of their methods, and those given to ``.get``."""
    for node in ast.walk(code):
        if isinstance(node, ast.Subscript) and _names_in(node.value) & names:
            parts = [part for part in ast.walk(node.slice) if isinstance(part, ast.Constant)]
            # A text that a column is compared with is a value.
            values = {text for part in ast.walk(node.slice) for _, texts in _comparison(part) for text in texts}
            yield from (part.value for part in parts if isinstance(part.value, str) and part.value not in values)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            given = node.args[:1] if _names_in(node.func.value) & names else []
            yield from (part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _comparison(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Yield the column that a comparison compares with texts, and these texts."""
    if not isinstance(node, ast.Compare):
        return
    column = _column_of(node.left)
    texts = [part.value for side in node.comparators for part in ast.walk(side) if isinstance(part, ast.Constant)]
    if column and all(_column_of(side) is None for side in node.comparators):
        yield column, [text for text in texts if isinstance(text, str)]


def _column_of(node: ast.AST) -> str | None:
    """Return the column that an expression is: ``rows["city"]``, ``pl.col("city")`` or ``df.city``."""
    if isinstance(node, ast.Subscript):
        return (
            str(node.slice.value)
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            else None
        )
    if isinstance(node, ast.Call):
        is_column = isinstance(node.func, ast.Attribute) and node.func.attr == "col" and len(node.args) == 1
        value = getattr(node.args[0], "value", None) if is_column else None
        return value if isinstance(value, str) else None
    return node.attr if isinstance(node, ast.Attribute) else None


def _clamps(code: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(code):
        if isinstance(node, ast.Call) and _name(node) in _CLAMPS:
            yield node


def _name(node: ast.AST) -> str:
    """Return the name of the function or method that is called; an empty text for all else."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _clamped(code: ast.AST) -> tuple[float, float] | None:
    """Return the ends of a call such as ``x.clip(0, 10)``, or of ``min(max(x, 0), 10)``, if they are constants."""
    for outer in (node for node in ast.walk(code) if isinstance(node, ast.Call)):
        for inner in outer.args:
            if {_name(outer), _name(inner)} == {"min", "max"} and isinstance(inner, ast.Call):
                found = [[end for part in call.args if (end := _constant(part)) is not None] for call in (inner, outer)]
                ends = sorted(end for each in found for end in each)
                if all(found) and ends[0] < ends[-1]:
                    return ends[0], ends[-1]
    for call in _clamps(code):
        ends = [constant for part in call.args[-2:] if (constant := _constant(part)) is not None]
        if len(ends) == 2 and ends[0] < ends[1]:
            return ends[0], ends[1]
    return None


def _constant(node: ast.AST) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _texts_of_sql(code: ast.AST) -> Iterator[str]:
    """Yield the texts that are statements of SQL."""
    for node in ast.walk(code):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
        if isinstance(text, str) and re.search(
            r"\bselect\b.*\bfrom\b|\bcreate\b.*\btable\b|\binsert\s+into\b", text, re.I | re.S
        ):
            yield text


def _read_sql(text: str) -> tuple[dict[str, str], list[str], list[str]]:
    """Return the columns that a statement declares, with their types, those that it reads, and those it groups by."""
    text = re.sub(r"'[^']*'", "''", text)
    declared: dict[str, str] = {}
    if table := re.search(r"\bcreate\b.*?\btable\b[^(]*\((.*)\)", text, re.I | re.S):
        for part in table[1].split(","):
            words = part.split()
            kind = words[1].lower() if len(words) > 1 else ""
            if words and words[0].isidentifier():
                declared[words[0]] = next((v for k, v in _SQL_KINDS.items() if kind.startswith(k)), "")
        return declared, [], []
    named = re.findall(r"\b(?:as|from|join|into|with)\s+([A-Za-z_]\w*)", text, re.I)
    named += re.findall(r"\b(?:from|join)\s+\w+\s+([A-Za-z_]\w*)", text, re.I)  # another name of the table
    words = re.findall(r"(?<![:@$.\w])(?:[A-Za-z_]\w*\.)?([A-Za-z_]\w*)\b(?!\s*[.(\w]*\()", text)
    read = [word for word in words if not _SQL_WORDS.fullmatch(word) and word not in named]
    read += re.findall(r"[:@$]([A-Za-z_]\w*)", text)
    grouped = re.search(r"\bgroup\s+by\s+([\w\s.,]+?)(?=\b(?:having|order|limit)\b|[;)]|$)", text, re.I)
    by = [part.strip().rpartition(".")[2] for part in grouped[1].split(",")] if grouped else []
    return declared, read, [name for name in by if name in read]


def texts_compared(thing: Any) -> list[str]:
    """Return the texts with which code compares something, or that are keys of its mappings; none if there is no source."""
    try:
        code = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):
        return []
    compared = [part for node in ast.walk(code) if isinstance(node, ast.Compare) for part in node.comparators]
    keys = [key for node in ast.walk(code) if isinstance(node, ast.Dict) for key in node.keys if key is not None]
    leaves = [leaf for part in [*compared, *keys] for leaf in ast.walk(part)]
    texts = (leaf.value for leaf in leaves if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str))
    return list(dict.fromkeys(texts))
