"""Writes the law of an output on one data set, as refutations use it: paths, and outputs by their values."""

import re
from fractions import Fraction
from typing import Any

from dp_prover.certificates.certificate import Json, TraceWriter, written_form
from dp_prover.interfaces import Path, Trace
from dp_prover.numbers.form import OPAQUE, Form, exact

NUMBER = re.compile(r"(?:np\.\w+\()?([^()]+)\)?")


class LawWriter(TraceWriter):
    """Writes one law. Outputs of one skeleton differ in their numbers and texts only, whatever path they come from."""

    def __init__(self, trace: Trace) -> None:
        self._own: dict[str, str] = {}
        self._written: dict[str, Json] = {}
        self._names = trace.names
        super().__init__(trace)

    def trace(self) -> Json:
        """Return all paths, as a decision tree, with the operations behind all terms."""
        return {"tree": self._tree, "outputs": [output for _, output in self._outputs.values()], "terms": self._written}

    def _form(self, form: Form) -> dict[str, str]:
        return {self._named(name): value for name, value in written_form(form).items()}

    def _named(self, name: str) -> str:
        if name[:1] != OPAQUE:
            return name
        if name not in self._own:
            operation, arguments = self._names.terms[name]
            inner = [self._form(argument) for argument in arguments]
            self._own[name] = f"{OPAQUE}{len(self._own)}"
            self._written[self._own[name]] = [operation, inner]
        return self._own[name]

    def _output(self, path: Path) -> Json:
        leaves: list[Json] = [
            {"form": self._form(leaf)} if isinstance(leaf, Form) else written_leaf(str(leaf)) for leaf in path.leaves
        ]
        choices = []
        for number, group in enumerate(path.groups or ()):
            for at, place in enumerate(group.places):
                leaves[place] = {"choice": [number, at]}
            outcomes = [[[*map(written_leaf, texts)], str(mass)] for texts, mass in group.masses.items() if mass]
            choices.append(outcomes)
        return [skeleton_of(path.structure), leaves, choices]


def written_leaf(text: str) -> Json:
    """Return a constant of an output: a number, whatever its type, or a text with its type."""
    kind, _, shown = text.partition(" ")
    if kind in ("bool", "bool_") and shown.strip("np._()") in ("True", "False"):
        return {"number": str(int("True" in shown))}
    found = NUMBER.fullmatch(shown) if kind.startswith(("int", "uint", "float")) else None
    if found is None:
        return {"text": text}
    try:
        number = Fraction(int(found[1])) if "int" in kind else exact(float(found[1]))
    except ValueError:
        return {"text": text}
    return {"text": found[1]} if number is None else {"number": str(number)}


def skeleton_of(structure: Any) -> str:
    """Return the structure of an output as text, without the types of its numbers."""
    return repr(_without_types(structure))


def _without_types(structure: Any) -> Any:
    if structure == "leaf":
        return "leaf"
    kind = structure[0]
    if kind == "array":
        return ("array", structure[1])
    if kind in ("list", "tuple"):
        return (kind, tuple(map(_without_types, structure[1])))
    if kind == "dict":
        return (kind, tuple((key, _without_types(item)) for key, item in structure[1]))
    return structure if kind == "raises" else "leaf"
