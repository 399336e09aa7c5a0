"""The function itself, on numbers, against the paths that were traced: what it returns must be what they say."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.blackbox.retrying import retrying
from auditor.proofs.form import INPUT, OPAQUE, OPERATIONS, Form, Law, exact
from auditor.proofs.lazy import State
from auditor.proofs.run import Names, Path, flattened
from auditor.proofs.symbols import SymbolicGenerator, finite
from auditor.proofs.trace import Call, Trace

CLOSE = 1e-6  # how far computed numbers may be from exact ones, relative to their size


class Replayed(SymbolicGenerator, np.random.Generator):  # type: ignore[misc]
    """Draws numbers of the laws that the symbolic generator names, and keeps them in order."""

    def __init__(self, seed: int, names: Names) -> None:
        self.names = names
        np.random.Generator.__init__(self, np.random.PCG64(seed))
        SymbolicGenerator.__init__(self, self)
        self.outcomes: dict[str, list[State]] = {}
        self.drawn: list[tuple[Law, Any]] = []
        self._source = np.random.Generator(np.random.PCG64(seed))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def _symbol(self, law: Law) -> Any:
        source, kind = self._source, law[0]
        scale = float(law[1]) if len(law) > 1 else 1.0
        value: Any
        if kind == "geometric":
            value = int(source.geometric(scale))
        elif kind == "uniform":
            value = source.random()
        elif kind == "exponential":
            value = source.exponential(scale)
        else:
            value = getattr(source, kind)(0.0, scale)
        self.drawn.append((law, value))
        return value

    def _finite(self, outcomes: list[Any], masses: list[Fraction]) -> Any:
        possible = [(value, mass) for value, mass in zip(outcomes, masses, strict=True) if mass]
        chances = np.array([float(mass) for _, mass in possible])
        value = possible[int(self._source.choice(len(possible), p=chances / chances.sum()))][0]
        self.drawn.append((finite(possible), value))
        return value

    def sampled(self, attempt: Any, *arguments: Any, **keywords: Any) -> Any:
        """Return what the sampler itself returns, with the law that was computed for it."""
        value = retrying(attempt)(self._source, *arguments, **keywords)
        possible = self._outcomes_of(attempt, arguments, keywords)
        value = next((known for known, _ in possible if known == value), value)  # NumPy's numbers are as Python's
        self.drawn.append((finite(possible), value))
        return value

    def _numbered(self, low: int, count: int) -> Any:
        return low + int(self._symbol(("uniform",)) * count)

    def _array(self, made: Any) -> Any:
        return np.array(made.tolist()).reshape(made.shape) if made.size else np.empty(made.shape)


def disagreement(call: Call, dataset: Any, inputs: Mapping[str, float], trace: Trace, seed: int) -> str | None:
    """Run the function once on numbers. Returns in words how the paths are wrong about it, or None."""
    generator = Replayed(seed, trace.names)
    try:
        output = call(dataset, generator)
    except Exception as error:
        return f"on numbers, the function ends with {type(error).__name__}: {error}"
    values: dict[str, Any] = dict(inputs)
    for name, law in trace.names.laws.items():
        index = int(name[1:].partition(".")[0])
        if index < len(generator.drawn):
            drawn, value = generator.drawn[index]
            if drawn == law:
                values[name] = value
            elif drawn[0] == law[0] and law[1:] == (
                1,
            ):  # a scale that is no number in the trace multiplies noise of scale 1
                values[name] = value / float(drawn[1])
    judge = _Judge(values, trace)
    holding = [path for path in trace.paths if judge.holds(path)]
    if judge.close:
        return None  # a comparison too near to equality for floating point
    if len(holding) != 1:
        return f"on numbers, a run follows {len(holding)} of the paths that were traced"
    return (
        None if judge.returns(holding[0], output) else "on numbers, the function returns something else than was traced"
    )


class _Judge:
    """Evaluates paths at numbers for all symbols."""

    def __init__(self, values: dict[str, Any], trace: Trace) -> None:
        self._values = values
        self._terms = trace.names.terms
        self.close = False

    def value(self, form: Form) -> float:
        """Return a form's value. Raises KeyError where a symbol was not drawn."""
        return float(form.constant) + sum(float(factor) * self._symbol(name) for name, factor in form.terms.items())

    def _symbol(self, name: str) -> float:
        if name not in self._values and name[0] == OPAQUE:
            operation, arguments = self._terms[name]
            with np.errstate(all="ignore"):
                self._values[name] = float(OPERATIONS[operation](*(self.value(argument) for argument in arguments)))
        value = self._values[name]
        return float(value)

    def holds(self, path: Path) -> bool:
        """Whether a run is on a path."""
        try:
            return all(self._condition(c.form, c.relation) for c in path.conditions) and all(
                self._label(name, label) for name, (label, _) in path.labels.items()
            )
        except KeyError:
            return False

    def _condition(self, form: Form, relation: str) -> bool:
        value = self.value(form)
        size = sum(abs(float(factor) * self._symbol(name)) for name, factor in form.terms.items()) + abs(form.constant)
        if any(name[0] != INPUT for name in form.terms) and abs(value) < CLOSE * size and relation != "=":
            self.close = self.close or value != 0
        return value == 0 if relation == "=" else value > 0 or (value == 0 and relation == ">=")

    def _label(self, name: str, label: str) -> bool:
        value = self._values[name]
        if " to " in label and isinstance(value, float):
            low, high = map(Fraction, label.split(" to "))
            return low <= Fraction(value) < high
        return repr(value) == label

    def returns(self, path: Path, output: Any) -> bool:
        """Whether an output is what a path says."""
        try:
            return self._returns(path, output)
        except KeyError:  # a number that this run did not draw
            return False

    def _returns(self, path: Path, output: Any) -> bool:
        structure, leaves, _ = flattened(output)
        if _shapes(structure) != _shapes(path.structure) or len(leaves) != len(path.leaves):
            return False
        for group in path.groups or ():
            shown = [_value(str(leaves[place])) for place in group.places]
            if shown not in ([_value(text) for text in texts] for texts in group.masses):
                return False
        return all(self._alike(said, found) for said, found in zip(path.leaves, leaves, strict=True))

    def _alike(self, said: Any, found: Any) -> bool:
        if isinstance(said, Form):
            number = exact(_number(found))
            value = self.value(said)
            if number is None:
                return not math.isfinite(value)
            return not math.isfinite(value) or abs(value - float(number)) <= CLOSE * max(1.0, abs(value))
        return str(said).startswith("group ") or said == found


def _number(leaf: Any) -> Any:
    """Return the number that a leaf's text says."""
    text = str(leaf).split(" ", 1)[1].rpartition("(")[2].rstrip(")")
    try:
        return {"True": 1, "False": 0, "np.True_": 1, "np.False_": 0}.get(text) if text[-1:] in "e_" else Fraction(text)
    except ValueError:
        return None


def _value(text: str) -> Any:
    """Return a leaf as a number if it is one, whether NumPy's or Python's, and else as its text."""
    number = _number(text) if " " in text else None
    return text if number is None else number


def _shapes(structure: Any) -> Any:
    """Return a structure without the types of its arrays, which symbols do not have."""
    if isinstance(structure, tuple) and structure and structure[0] == "array":
        return structure[:2]
    return tuple(map(_shapes, structure)) if isinstance(structure, tuple) else structure
