"""One audit written for many: a matrix of values, of which each product is an audit of its own."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from auditor.config.yaml_text import MOST_VALUES, Document, KeyPath, read_yaml_file
from auditor.errors import InvalidInputError, did_you_mean

# The value that an axis has, or a part of it. Nothing else in an audit is replaced.
REFERENCE = r"^\$[A-Za-z_]\w*(\.\w+)*$"
_REFERENCE = re.compile(REFERENCE)


def read_audits(file: Path) -> Document:
    """Read a configuration. An audit with a matrix becomes as many audits, each named after its values.

    Raises InvalidInputError as ``read_yaml_file``, and for a matrix that cannot be written out.
    """
    return written_out(read_yaml_file(file))


def written_out(document: Document) -> Document:
    """Replace each audit with a matrix by its products. Raises InvalidInputError for a matrix that cannot be written out."""
    audits = document.data.get("audits") if isinstance(document.data, dict) else None
    if not isinstance(audits, list) or not any(isinstance(audit, dict) and "matrix" in audit for audit in audits):
        return document
    writer = _Writer(document)
    for number, audit in enumerate(audits):
        for chosen in _products(document, number) if isinstance(audit, dict) and "matrix" in audit else [{}]:
            writer.add(number, chosen)
    lines = {path: line for path, line in document.lines.items() if path[:1] != ("audits",) or len(path) == 1}
    return replace(document, data={**document.data, "audits": writer.audits}, lines=lines | writer.lines)


def _products(document: Document, number: int) -> Iterator[dict[str, KeyPath]]:
    """Yield the value that each axis has, by its place, for every product. The last axis changes first."""
    here = ("audits", number, "matrix")
    matrix = document.data["audits"][number]["matrix"]
    if not isinstance(matrix, dict) or not matrix:
        raise InvalidInputError(
            f"{document.at(*here)}: matrix is {matrix!r}; it must be a mapping of names to values, such as {{epsilon: [0.5, 1, 2]}}"
        )
    axes = dict[str, list[KeyPath]]()
    for axis, values in matrix.items():
        where = document.at(*here, axis)
        if not _REFERENCE.match(f"${axis}") or "." in str(axis):
            raise InvalidInputError(f"{where}: matrix has the name {axis!r}; it must be a word, such as epsilon")
        if not isinstance(values, list | dict) or not values:
            raise InvalidInputError(
                f"{where}: {axis} is {values!r}; it must be a list of values, such as [0.5, 1, 2], or a mapping of names to values"
            )
        for i, value in enumerate(values if isinstance(values, list) else ()):
            if isinstance(value, list | dict):
                raise InvalidInputError(
                    f"{document.at(*here, axis, i)}: a value of {axis} is {value!r}, which gives no name to its audit; "
                    f"write names: {axis}: {{name: value, ...}}"
                )
        axes[axis] = [(*here, axis, key) for key in (values if isinstance(values, dict) else range(len(values)))]
    for products in itertools.product(*axes.values()):
        yield dict(zip(axes, products, strict=True))


class _Writer:
    """The audits of a document, written out one after the other, and the line of each of their places."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.audits = list[Any]()
        self.lines = dict[KeyPath, int]()

    def add(self, number: int, chosen: Mapping[str, KeyPath]) -> None:
        """Add an audit with the values that are chosen for it, each given by its place in the document."""
        here, used = ("audits", number), set[str]()
        audit = self._copied(here, ("audits", len(self.audits)), chosen, used)
        if chosen:
            del audit["matrix"]
        for axis in chosen:
            if axis not in used:
                raise InvalidInputError(
                    f"{self.document.at(*here, 'matrix', axis)}: nothing in the audit uses {axis}; write ${axis} where its value "
                    "belongs"
                )
        if chosen and isinstance(audit.get("name"), str):
            audit["name"] = ", ".join([audit["name"], *(f"{axis} {self._word(at)}" for axis, at in chosen.items())])
        self.audits.append(audit)

    def _word(self, place: KeyPath) -> str:
        """Return the name of a value: its key, or itself, as YAML writes it."""
        value = place[-1] if isinstance(self.document.value(place[:-1]), dict) else self.document.value(place)
        return str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)

    def _copied(self, source: KeyPath, target: KeyPath, chosen: Mapping[str, KeyPath], used: set[str]) -> Any:
        """Copy what is at a place of the document, with the chosen values in it, and note the line of each part."""
        self.lines[target] = self.document.line(source)
        if len(self.lines) > MOST_VALUES:
            raise InvalidInputError(
                f"{self.document.at(*source)}: with every matrix written out, the audits hold over {MOST_VALUES:,} values; "
                "write smaller ones, or let a function make large data: `neighbours: {generator: file.py:function}`"
            )
        value = self.document.value(source)
        if isinstance(value, dict):
            # The values of a matrix are copied as they are.
            inside = {key: {} if (*source, key) == (*source[:2], "matrix") else chosen for key in value}
            return {key: self._copied((*source, key), (*target, key), inside[key], used) for key in value}
        if isinstance(value, list):
            return [self._copied((*source, i), (*target, i), chosen, used) for i in range(len(value))]
        if chosen and isinstance(value, str) and _REFERENCE.match(value):
            return self._copied(self._meant(value, source, chosen, used), target, {}, used)
        return value

    def _meant(self, reference: str, source: KeyPath, chosen: Mapping[str, KeyPath], used: set[str]) -> KeyPath:
        """Return the place of the value that a reference names."""
        axis, *parts = reference.removeprefix("$").split(".")
        place: KeyPath = ()
        known = [*map(str, chosen)]
        for step in (axis, *parts):
            if step not in known:
                raise InvalidInputError(
                    f'{self.document.at(*source)}: {reference} is not in the matrix: there is no "{step}"; '
                    f"{did_you_mean(step, known)}"
                )
            place = (*place, step) if place else chosen[axis]
            value = self.document.value(place)
            known = [*map(str, value)] if isinstance(value, dict) else []
        used.add(axis)
        return place
