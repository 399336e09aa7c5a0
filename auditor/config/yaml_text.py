"""Read YAML as a person means it: 1e-5 is a number, 010 is ten, a key that appears twice is an error.

PyYAML follows YAML 1.1, where ``1e-5`` is text, ``010`` is eight, ``yes`` is true and the last of two equal keys
wins silently. Here plain scalars follow the core schema of YAML 1.2, with underscores allowed in numbers.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from auditor.blackbox.inputs import unwatched
from auditor.errors import AuditorError, InvalidInputError
from auditor.strangers import read_text

KeyPath = tuple[str | int, ...]

# Of one file. Aliases of aliases would fill any memory.
MOST_BYTES, MOST_VALUES = 1 << 20, 200_000
_INTEGER = re.compile(r"[-+]?[0-9][0-9_]*$")
_FLOAT = re.compile(r"[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$")
_SPECIAL = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}

_Loader: Any = yaml.BaseLoader
if yaml.__with_libyaml__:

    class _Loader(yaml.composer.Composer, yaml.CBaseLoader):  # type: ignore[no-redef]
        """libyaml scans ten times as fast. Nodes are made in Python, where deep nesting is an error and not a crash."""

        def __init__(self, text: str) -> None:
            yaml.CBaseLoader.__init__(self, text)
            yaml.composer.Composer.__init__(self)


@dataclass(frozen=True)
class Document:
    """The data of a YAML file, and the line of each key and item (from 1)."""

    file: str
    data: Any
    lines: dict[KeyPath, int]

    def line(self, path: KeyPath) -> int:
        """Return the line of the nearest place above ``path`` that the file has."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def at(self, *path: str | int) -> str:
        """Return the file and the line of a place, as errors name it."""
        return f"{self.file}, line {self.line(path)}"

    @contextlib.contextmanager
    def naming(self, *path: str | int) -> Iterator[None]:
        """A context in which errors name a place. Raises InvalidInputError for every AuditorError."""
        try:
            yield
        except AuditorError as error:
            raise InvalidInputError(f"{self.at(*path)}: {error}") from None


def read_yaml_file(file: Path) -> Document:
    """Parse the one YAML document of a file. Raises InvalidInputError as ``read_yaml``, and if the file cannot be read."""
    with unwatched():  # what it says is compared by key, if a run goes on
        return read_yaml(read_text(file, MOST_BYTES), str(file))


def read_yaml(text: str, file: str) -> Document:
    """Parse one YAML document.

    Raises InvalidInputError, with file and line, for text that is not YAML and for duplicate keys.

    >>> read_yaml("delta: 1e-5", "x.yaml").data
    {'delta': 1e-05}
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise InvalidInputError(f"{file}, line {line}: this is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InvalidInputError(f"{file}: this is not YAML: {error}") from None
    except RecursionError:
        raise InvalidInputError(f"{file}: this is nested too deeply to be read") from None
    lines: dict[KeyPath, int] = {}
    try:
        return Document(file, None if node is None else _build(node, (), lines, file), lines)
    except RecursionError:
        raise InvalidInputError(f"{file}: this is nested too deeply, or an alias contains itself") from None


def _build(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], file: str) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if len(lines) > MOST_VALUES:
        raise InvalidInputError(
            f"{file}, line {node.start_mark.line + 1}: it holds over {MOST_VALUES:,} values, aliases counted in full; "
            "let a function make such data: `neighbours: {generator: file.py:function}`"
        )
    if isinstance(node, yaml.MappingNode):
        built: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            place = f"{file}, line {key_node.start_mark.line + 1}"
            key = _build(key_node, (), {}, file) if isinstance(key_node, yaml.ScalarNode) else None
            key = "null" if key is None and key_node.value == "null" else key  # as in a column of a frame
            if not isinstance(key, str | int):
                raise InvalidInputError(f"{place}: a key must be a word")
            if key in built:
                raise InvalidInputError(f'{place}: the key "{key}" appears twice; remove one of them')
            lines[(*path, key)] = key_node.start_mark.line + 1
            built[key] = _build(value_node, (*path, key), lines, file)
        return built
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, i), lines, file) for i, item in enumerate(node.value)]
    plain = isinstance(node, yaml.ScalarNode) and not node.style
    return _scalar(node.value) if plain else node.value


def _scalar(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text.lower() in _SPECIAL:
        return _SPECIAL[text.lower()]
    prefixed = text.startswith(("0x", "0o"))
    if prefixed or _INTEGER.match(text):
        try:
            return int(text.replace("_", ""), 0 if prefixed else 10)
        except ValueError:  # such as 0xyz, or more digits than Python converts
            return text
    return float(text.replace("_", "")) if _FLOAT.match(text) else text
