"""One traced run of a mechanism: its draws, its decisions, and what it returned."""

import itertools
import math
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np

from auditor.proofs.form import CURRENT, INPUT, NOISE, OPAQUE, Form, Key, Law, NotTracedError, exact
from auditor.proofs.lazy import Cuts, Lazy, State, compared, states

Spelled = tuple[str, tuple[Form, ...]]
CONTINUOUS = {"laplace", "logistic", "normal", "exponential", "uniform"}


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds on a path: ``form`` ``relation`` 0, where the relation is >, >= or =. ``place`` is the line that asked."""

    form: Form
    relation: str
    place: str

    def key(self) -> Key:
        """Return what equal conditions have in common."""
        return (self.relation, self.form.key())


@dataclass(frozen=True, slots=True)
class Path:
    """A run with its decisions. It happens where its conditions hold and its settled sources are as in ``labels``.

    ``structure`` is the output without its numbers, and ``leaves`` are its numbers: constants, forms, or lazy values, which only
    a path without any decision has. ``labels`` give each settled source its outcome and that outcome's mass. ``options`` are
    how many
    branches there were at each of its ``decisions``. ``output`` is what the mechanism returned.
    """

    conditions: tuple[Condition, ...]
    labels: Mapping[str, tuple[str, Fraction]]
    structure: Any
    leaves: tuple[Any, ...]
    decisions: tuple[int, ...]
    options: tuple[int, ...] = ()
    groups: tuple["Masses", ...] | None = None
    output: Any = field(default=None, repr=False, compare=False)

    def law(self) -> Key | None:
        """Return the law of lazy leaves."""
        return None if self.groups is None else tuple((g.places, tuple(sorted(g.masses.items()))) for g in self.groups)

    def key(self) -> Key:
        """Return what two runs of one path have in common."""
        leaves = tuple(leaf.key() if isinstance(leaf, Form) else leaf for leaf in self.leaves)
        conditions = tuple(condition.key() for condition in self.conditions)
        return (conditions, tuple(sorted(self.labels.items())), self.structure, leaves, self.law())


@dataclass(frozen=True, slots=True)
class Masses:
    """The joint law of the leaves at some places of an output, independent of all other leaves. Place −1 is its structure."""

    places: tuple[int, ...]
    masses: Mapping[tuple[str, ...], Fraction]


@dataclass(slots=True)
class Names:
    """The symbols of a mechanism's runs. A draw of one number and one law is one symbol on every path.

    ``samplers`` are the laws of samplers that retry, by arguments. No run goes on after the ``deadline`` (time.monotonic).
    """

    bounds: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)  # of the inputs
    laws: dict[str, Law] = field(default_factory=dict)
    terms: dict[str, tuple[str, tuple[Form, ...]]] = field(default_factory=dict)
    samplers: dict[Any, list[State]] = field(default_factory=dict)
    deadline: float = math.inf
    _known: dict[Key, str] = field(default_factory=dict)
    _spelled: dict[Key, "Spelled"] = field(default_factory=dict)

    def noise(self, index: int, law: Law) -> str:
        """Return the name of a draw."""
        name = self._known.get((index, law))
        if name is None:
            same = sum(1 for other in self.laws if other.partition(".")[0] == f"{NOISE}{index}")
            name = self._known[index, law] = f"{NOISE}{index}" + (f".{same}" if same else "")
            self.laws[name] = law
        return name

    def term(self, operation: str, arguments: tuple[Form, ...]) -> str:
        """Return the name of an opaque term."""
        key = (operation, tuple(argument.key() for argument in arguments))
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"{OPAQUE}{len(self.terms)}"
            self.terms[name] = (operation, arguments)
        return name

    def spelled(self, form: Form) -> "Spelled":
        """Return a form as a text without any constant, and the affine forms that it is a function of; its own is the first.

        If two forms have the same text, and each affine form of the one is equal to that of the other, then they are equal.
        """
        key = form.key()
        if key not in self._spelled:
            opaque = sorted(self._spelled_term(name, value) for name, value in form.terms.items() if name[0] == OPAQUE)
            rest = affine(form)
            text = " + ".join(
                [*(f"{value} {name}" for name, value in sorted(rest.terms.items())), *(t for t, _, _ in opaque), "#"]
            )
            self._spelled[key] = (text, (rest, *(number for _, _, some in opaque for number in some)))
        return self._spelled[key]

    def _spelled_term(self, name: str, factor: Fraction) -> tuple[str, list[Fraction], tuple[Form, ...]]:
        operation, arguments = self.terms[name]
        each = [self.spelled(argument) for argument in arguments]
        numbers = tuple(number for _, some in each for number in some)
        text = f"{factor} {operation}({', '.join(text for text, _ in each)})"
        return text, [number.constant for number in numbers], numbers


class TracedRun:
    """Follows one run along ``prefix``, the decisions to take, and takes the first branch of every later one."""

    def __init__(self, names: Names, prefix: tuple[int, ...]) -> None:
        self.names = names
        self._prefix = prefix
        self._draws = 0
        self._signs: dict[Key, frozenset[int]] = {}
        self.taken: list[int] = []
        self.options: list[int] = []
        self.conditions: list[Condition] = []
        self.labels: dict[str, tuple[str, Fraction]] = {}
        self.outcomes: dict[str, list[State]] = {}
        self._intervals: dict[str, tuple[Fraction, Fraction]] = {}
        self.reason: str | None = None

    def fail(self, reason: str) -> NotTracedError:
        self.reason = self.reason or f"{reason} ({_place()})"
        return NotTracedError(self.reason)

    def term(self, operation: str, arguments: tuple[Form, ...]) -> str:
        return self.names.term(operation, arguments)

    def draw(self, law: Law) -> str:
        self._draws += 1
        return self.names.noise(self._draws - 1, law)

    # Decisions -------------------------------------------------------------------------------------------------------

    def _fork(self, options: int) -> int:
        if time.monotonic() > self.names.deadline:
            raise self.fail("the time for a proof is up")
        at = len(self.taken)
        choice = self._prefix[at] if at < len(self._prefix) else 0
        self.taken.append(choice)
        self.options.append(options)
        return choice

    def uniform_of(self, form: Form) -> tuple[str, Fraction, Fraction] | None:
        if len(form.terms) != 1:
            return None
        [(name, slope)] = form.terms.items()
        return (name, slope, form.constant) if self.names.laws.get(name) == ("uniform",) else None

    def is_above(self, form: Form, strict: bool) -> Any:
        if not form.terms:
            return form.constant > 0 or (form.constant == 0 and not strict)
        uniform = self.uniform_of(form)
        if uniform is not None:
            name, slope, constant = uniform
            above, below = (Fraction.__gt__, Fraction.__lt__) if strict else (Fraction.__ge__, Fraction.__le__)
            return compared(name, above if slope > 0 else below, -constant / slope)
        return self._decide(form, (">", "<=") if strict else (">=", "<")) == 0

    def is_zero(self, form: Form) -> bool:
        if not form.terms:
            return form.constant == 0
        return 0 in self._known(form)[1] and self._decide(form, ("=", ">", "<")) == 0

    def _known(self, form: Form) -> tuple[Key, frozenset[int], int]:
        """Return the form's key in units of its first symbol, the signs it may have in these units, and its own sign in them."""
        slope = form.terms[min(form.terms)]
        unit = form.times(1 / slope)
        key = unit.key()
        return key, self._signs.get(key) or self._possible(unit), -1 if slope < 0 else 1

    def _decide(self, form: Form, relations: tuple[str, ...]) -> int:
        """Return which of the relations of a form to 0 holds, forking where several are possible."""
        key, signs, flip = self._known(form)
        each = [signs & {flip * sign for sign in _SIGNS[relation]} for relation in relations]
        possible = [place for place, some in enumerate(each) if some]
        choice = possible[self._fork(len(possible))] if len(possible) > 1 else possible[0]
        if len(possible) > 1:
            relation = relations[choice]
            turned = form if relation in (">", ">=", "=") else -form
            self.conditions.append(Condition(turned, relation.replace("<", ">"), _place()))
        self._signs[key] = frozenset(each[choice])
        return choice

    def _possible(self, form: Form) -> frozenset[int]:
        """Return the signs that a form can have with a chance above 0, by what is known of its symbols alone."""
        low = high = form.constant
        for name, value in form.terms.items():
            if name not in self.names.bounds:
                opaque = any(other.startswith(OPAQUE) for other in form.terms)
                continuous = any(self.names.laws.get(other, ("",))[0] in CONTINUOUS for other in form.terms)
                # A number with a density is nowhere with certainty; a term may depend on the same noise.
                return frozenset({-1, 1} if continuous and not opaque else {-1, 0, 1})
            ends = [value * end for end in self.names.bounds[name]]
            low, high = low + min(ends), high + max(ends)
        return frozenset(sign for sign, can in ((-1, low < 0), (0, low <= 0 <= high), (1, high > 0)) if can)

    # Finite sources --------------------------------------------------------------------------------------------------

    def states(self, name: str, cuts: Iterable[Fraction]) -> list[State]:
        """Return the outcomes of a source that are left. Those of a uniform one are the middles of the intervals between cuts."""
        if name in self.outcomes:
            return self.outcomes[name]
        low, high = self._intervals.get(name, (Fraction(0), Fraction(1)))
        ends = [low, *sorted(cut for cut in set(cuts) if low < cut < high), high]
        return [((a + b) / 2, (b - a) / (high - low)) for a, b in itertools.pairwise(ends)]

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        """Fork over the outcomes of sources, and return those of this run."""
        settled = {}
        for name in sorted(sources):
            possible = self.states(name, cuts.get(name, frozenset()))
            place = self._fork(len(possible)) if len(possible) > 1 else 0
            value, mass = settled[name], _ = possible[place]
            if len(possible) == 1 and possible[0][1] == 1:
                continue
            share = self.labels.get(name, ("", Fraction(1)))[1] * mass
            if name in self.outcomes:
                self.outcomes[name] = [(value, Fraction(1))]
                self.labels[name] = (repr(value), share)
            else:
                low, high = self._intervals.get(name, (Fraction(0), Fraction(1)))
                start = low + (high - low) * sum((share for _, share in possible[:place]), Fraction(0))
                self._intervals[name] = (start, start + (high - low) * mass)
                self.labels[name] = (f"{self._intervals[name][0]} to {self._intervals[name][1]}", share)
        return settled

    # The end ---------------------------------------------------------------------------------------------------------

    def finish(self, output: Any) -> Path:
        """Return the path. Lazy leaves are settled, unless all is finite and nothing was decided."""
        structure, leaves, elements = flattened(output)
        groups = None
        if not self.taken and not any(isinstance(leaf, Form) and leaf.terms for leaf in leaves):
            groups = _independent(leaves, elements)
            leaves = [
                f"group {next(i for i, g in enumerate(groups) if at in g.places)}" if isinstance(leaf, Lazy) else leaf
                for at, leaf in enumerate(leaves)
            ]
        elif any(isinstance(leaf, Lazy) for leaf in leaves):
            settle = {at: leaf.settled() for at, leaf in enumerate(leaves) if isinstance(leaf, Lazy)}
            leaves = [
                leaf if at not in settle else _element(settle[at]) if at in elements else _leaf(settle[at])
                for at, leaf in enumerate(leaves)
            ]
        return Path(
            tuple(self.conditions),
            self.labels,
            structure,
            tuple(leaves),
            tuple(self.taken),
            tuple(self.options),
            groups,
            output,
        )


_SIGNS = {">": {1}, ">=": {0, 1}, "=": {0}, "<": {-1}, "<=": {-1, 0}}


def flattened(output: Any) -> tuple[Any, list[Any], set[int]]:
    """Return the structure of an output, its leaves, and which of them are elements of arrays.

    A leaf is text for a constant; forms and lazy values are left as they are.
    """
    leaves: list[Any] = []
    elements: set[int] = set()

    def visit(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            elements.update(range(len(leaves), len(leaves) + value.size))
            leaves.extend(_element(item) for item in value.flat)
            kind = value.dtype.kind
            return ("array", value.shape, "O" if kind == "O" else kind)
        if isinstance(value, list | tuple):
            return (type(value).__name__, tuple(visit(item) for item in value))
        if isinstance(value, dict):
            return ("dict", tuple((repr(key), visit(item)) for key, item in value.items()))
        leaves.append(value if isinstance(value, Lazy) else _leaf(value))
        return "leaf"

    return visit(output), leaves, elements


def _element(value: Any) -> Any:
    """Return a leaf of an array, whose numbers are of one type whatever the path."""
    number = None if isinstance(value, Form) else exact(value)
    return value if isinstance(value, Lazy) else _leaf(value) if number is None else f"number {number}"


def _text(value: Any, element: bool) -> str:
    if isinstance(value, Form):
        raise CURRENT.get().fail("a coin chooses between numbers of the data or of noise before it is looked at")
    return str(_element(value) if element else _leaf(value))


def _leaf(value: Any) -> Any:
    if isinstance(value, Form):
        return value
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return f"{type(value).__name__} {value!r}"
    raise CURRENT.get().fail(f"an output holds a {type(value).__name__}, which is not taken apart")


def _independent(leaves: list[Any], elements: set[int]) -> tuple[Masses, ...]:
    """Split lazy leaves into groups that share no source, and enumerate each."""
    groups: list[tuple[frozenset[str], list[int]]] = []
    for at, leaf in enumerate(leaves):
        if isinstance(leaf, Lazy):
            touching = [group for group in groups if group[0] & leaf.sources]
            groups = [group for group in groups if group not in touching]
            sources = leaf.sources.union(*(group[0] for group in touching))
            groups.append((sources, sorted([at, *(place for group in touching for place in group[1])])))
    found = []
    for sources, places in sorted(groups, key=lambda group: group[1]):
        cuts: dict[str, frozenset[Fraction]] = {}
        for place in places:
            for name, numbers in leaves[place].cuts.items():
                cuts[name] = cuts.get(name, frozenset()) | numbers
        masses: dict[tuple[str, ...], Fraction] = {}
        for outcomes, mass in states(sources, cuts):
            value = tuple(_text(leaves[place].function(outcomes), place in elements) for place in places)
            masses[value] = masses.get(value, Fraction(0)) + mass
        found.append(Masses(tuple(places), masses))
    return tuple(found)


_OWN = ("auditor/proofs/", "/numpy/", "contextlib")


def _place() -> str:
    """Return the nearest line that is neither ours nor NumPy's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if not any(own in file for own in _OWN) and not file.startswith("<"):
            return f"{'/'.join(file.split('/')[-2:])}, line {frame.f_lineno}"
        frame = frame.f_back
    return "unknown line"


def affine(form: Form) -> Form:
    """Return a form without its opaque terms."""
    return Form({name: value for name, value in form.terms.items() if name[0] in (NOISE, INPUT)}, form.constant)
