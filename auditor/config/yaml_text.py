"""Read YAML as a person means it: 1e-5 is a number, 010 is ten, a key that appears twice is an error.

PyYAML follows YAML 1.1, where ``1e-5`` is text, ``010`` is eight, ``yes`` is true and the last of two equal keys
wins silently. Here unquoted scalars follow the core schema of YAML 1.2, with underscores allowed in numbers.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from auditor.errors import AuditorError, InvalidInputError
from auditor.untrusted_files import LONGEST_NUMBER, read_text

KeyPath = tuple[str | int, ...]

# A file has at most MOST_BYTES bytes and MOST_VALUES values. Each alias counts in full, since aliases can fill any memory.
MOST_BYTES, MOST_VALUES = 1 << 20, 200_000
_FLOAT = re.compile(r"[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$")
_MERGE = "<<"
# The tags that nodes get if the file gives them none.
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
_WORDS |= {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}

_Loader: Any = yaml.BaseLoader
if yaml.__with_libyaml__:

    class _Loader(yaml.composer.Composer, yaml.CBaseLoader):  # type: ignore[no-redef]
        """libyaml scans the text, ten times as fast. Python composes the nodes, so that deep nesting raises an exception."""

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
        """Return the line of ``path``, or of the nearest place above it that the file has."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def at(self, *path: str | int) -> str:
        """Return the file and the line of a place, as errors name it."""
        return f"{self.file}, line {self.line(path)}"

    @contextlib.contextmanager
    def naming(self, *path: str | int) -> Iterator[None]:
        """A context in which errors name a place. Raises InvalidInputError for every AuditorError.

        The working folder is restored at the end, since code of the user that is called may change it.
        """
        try:
            with contextlib.chdir("."):
                yield
        except AuditorError as error:
            raise InvalidInputError(f"{self.at(*path)}: {error}") from None


def read_yaml_file(file: Path) -> Document:
    """Parse the one YAML document of a file. Raises InvalidInputError as ``read_yaml``, and if the file cannot be read twice,
    as a run does.
    """
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise InvalidInputError(
            f"a run reads a configuration twice, but {file} can be read only once; copy the text into a file"
        )
    return read_yaml(read_text(file, MOST_BYTES), str(file))


def read_yaml(text: str, file: str) -> Document:
    """Parse one YAML document.

    Raises InvalidInputError, with file and line, for text that is not YAML, and for duplicate keys, tags and too many values.

    >>> read_yaml("delta: 1e-5", "x.yaml").data
    {'delta': 1e-05}
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        written = "".join(text.splitlines()[line - 1 : line])
        raise InvalidInputError(f"{file}, line {line}: this is not YAML: {_problem(error, written)}") from None
    except yaml.YAMLError as error:
        raise InvalidInputError(f"{file}: this is not YAML: {error}") from None
    except RecursionError:
        raise InvalidInputError(f"{file}: this is nested too deeply to be read") from None
    builder = _Builder(file)
    try:
        data = None if node is None else builder.build(node, ())
    except RecursionError:
        raise InvalidInputError(f"{file}: this is nested too deeply, or an alias contains itself") from None
    return Document(file, data, builder.lines)


def _problem(error: yaml.MarkedYAMLError, written: str) -> str:
    """Say what is wrong with a line, in plain words if the indent may be the cause."""
    problem = str(error.problem or error.context)
    if "nesting depth" in problem:  # a limit of PyYAML from 6.0.4 on; before it, RecursionError is raised
        return "it is nested too deeply to be read"
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return "the line begins with a tab; indent with spaces"
    if problem.startswith(("expected <block end>", "did not find expected", "mapping values are not allowed")):
        return f'{problem}; check the indent: keys of one mapping begin in one column; quote text with ": " in it'
    return problem


class _Builder:
    """Builds the data from nodes, and notes the line of each place."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.lines = dict[KeyPath, int]()
        self.seen = 0

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        """Return the data of a node, whose place in the file is ``path``."""
        self._count(node)
        if node.tag not in _PLAIN:  # dropping the tag would change what the data mean
            raise InvalidInputError(f"{self._at(node)}: the tag {node.tag!r}; leave it out")
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            built: dict[Any, Any] = {}
            for key, (line, value_node) in self._entries(node).items():
                self.lines[(*path, key)] = line
                built[key] = self.build(value_node, (*path, key))
            return built
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, i)) for i, item in enumerate(node.value)]
        return self._scalar(node) if isinstance(node, yaml.ScalarNode) else node.value

    def _entries(self, node: yaml.MappingNode) -> dict[Any, tuple[int, yaml.Node]]:
        """Return the line and the value of each key. Keys of merged mappings follow, unless the key is there already."""
        entries: dict[Any, tuple[int, yaml.Node]] = {}
        merged: list[yaml.MappingNode] = []
        for key_node, value_node in node.value:
            place, key = self._at(key_node), self._key(key_node)
            if not isinstance(key, str | int):
                raise InvalidInputError(f"{place}: a key must be a word")
            if key in entries or (key == _MERGE and merged):
                raise InvalidInputError(f'{place}: the key "{key}" appears twice; remove one of them')
            if key == _MERGE and not key_node.style:
                several = value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                merged = [mapping for mapping in several if isinstance(mapping, yaml.MappingNode)]
                if not merged or len(merged) < len(several):
                    raise InvalidInputError(f"{place}: << merges mappings; write <<: *name, or <<: [*name, *other]")
            else:
                entries[key] = key_node.start_mark.line + 1, value_node
        for mapping in merged:
            self._count(mapping)
            for key, entry in self._entries(mapping).items():
                self._count(mapping)
                entries.setdefault(key, entry)
        return entries

    def _count(self, node: yaml.Node) -> None:
        self.seen += 1
        if self.seen > MOST_VALUES:
            raise InvalidInputError(
                f"{self._at(node)}: it holds over {MOST_VALUES:,} values, aliases counted in full; "
                "let a function make such data: `neighbours: {generator: file.py:function}`"
            )

    def _key(self, node: yaml.Node) -> Any:
        """Return a scalar key. Return None for any other key."""
        if not isinstance(node, yaml.ScalarNode):
            return None
        # As a key, "null" is text, since a column of a frame has this key.
        return node.value if node.value == "null" else self._scalar(node)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text = node.value
        if node.style:
            return text
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        prefixed, digits = text.startswith(("0x", "0o")), text.replace("_", "")
        if prefixed or re.match(r"[-+]?[0-9][0-9_]*$", text):
            # Python refuses to write more digits than LONGEST_NUMBER. Eight hexadecimal digits make up to ten decimal ones.
            if len(digits) > (most := LONGEST_NUMBER * 4 // 5 if prefixed else LONGEST_NUMBER):
                raise InvalidInputError(
                    f"{self._at(node)}: a number has {len(digits):,} digits, and {most:,} are the limit"
                )
            try:
                return int(digits, 0 if prefixed else 10)
            except ValueError:  # such as 0xyz
                return text
        return float(digits) if _FLOAT.match(text) else text

    def _at(self, node: yaml.Node) -> str:
        return f"{self.file}, line {node.start_mark.line + 1}"
