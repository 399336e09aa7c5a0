"""Random small programs, and the exact ε of each by enumeration of its draws.

A program is data: nested tuples that ``Program`` interprets, so that Hypothesis can make it and make it smaller. Geometric
numbers are cut
off where less than ``TAIL`` of their mass is left, and what is cut off counts for the denominator.
"""

import itertools
import math
import operator
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.stats import laplace

OPERATORS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq}
MOST = 22  # of a geometric number
TAIL = 2.0**-MOST
SPREAD = 14  # beyond ± this much Laplace noise is cut off
LAWS = ("double", "laplace", "half", "coin", "dice")


@dataclass(frozen=True)
class Program:
    """Draws numbers, then walks a tree of comparisons to an output."""

    laws: tuple[str, ...]
    tree: Any

    def __call__(self, data: Any, rng: Any) -> Any:
        values = [data[0], data[1]]
        values += [self._draw(law, rng) for law in self.laws]
        node = self.tree
        while node[0] == "if":
            _, relation, left, right, yes, no = node
            node = yes if OPERATORS[relation](_sum(left, values), _sum(right, values)) else no
        return tuple(self._value(part, values) for part in node[1])

    @staticmethod
    def _draw(law: str, rng: Any) -> Any:
        if law == "laplace":
            return rng.laplace(0.0, 2.0)
        if law == "coin":
            return 1 if rng.random() < 0.25 else 0
        if law == "double":
            return rng.geometric(0.5) - rng.geometric(0.5)
        return rng.integers(0, 3) if law == "dice" else rng.geometric(0.75)

    @staticmethod
    def _value(part: Any, values: list[Any]) -> Any:
        kind, form = part
        value = _sum(form, values)
        if kind == "number":
            return value
        if kind == "above":
            return 1 if value > 1 else 0
        return np.floor(value / 2) if kind == "half" else abs(value)


def _sum(form: Any, values: list[Any]) -> Any:
    factors, constant = form
    return sum((factor * value for factor, value in zip(factors, values, strict=True) if factor), constant)


class Fixed:
    """A generator whose draws are given."""

    def __init__(self, draws: tuple[float, ...]) -> None:
        self._draws = iter(draws)

    def laplace(self, loc: float, scale: float) -> float:
        return next(self._draws)

    def random(self) -> float:
        return next(self._draws)

    def integers(self, low: int, high: int) -> float:
        return next(self._draws)

    def geometric(self, p: float) -> float:
        return next(self._draws)


def outcomes(law: str) -> list[tuple[tuple[float, ...], float]]:
    """Return what is drawn, and its mass; of Laplace noise, one number for each interval in which no comparison changes."""
    if law == "coin":
        return [((0.125,), 0.25), ((0.625,), 0.75)]
    if law == "dice":
        return [((value,), 1 / 3) for value in range(3)]
    if law == "double":
        return [((50 + k, 50), 0.5 ** abs(k) / 3) for k in range(-MOST, MOST + 1)]
    if law == "laplace":
        # Comparisons have integers for factors up to 2, so that they change at multiples of 1/2.
        ends = np.arange(-SPREAD, SPREAD + 0.5, 0.5)
        masses = np.diff(laplace.cdf(ends, scale=2.0))
        return [((float(a + 0.25),), float(mass)) for a, mass in zip(ends, masses, strict=False)]
    return [((value,), 0.75 * 0.25 ** (value - 1)) for value in range(1, MOST + 1)]


def law_of(program: Program, data: tuple[int, int]) -> dict[Any, float]:
    """Return the masses of the outputs, but for what was cut off."""
    found: dict[Any, float] = defaultdict(float)
    for drawn in itertools.product(*(outcomes(law) for law in program.laws)):
        mass = math.prod(mass for _, mass in drawn)
        output = program(data, Fixed(tuple(itertools.chain.from_iterable(values for values, _ in drawn))))
        found[tuple(float(value) for value in output)] += mass
    return found


def exact_epsilon(program: Program, pairs: Iterator[tuple[Any, Any]]) -> float:
    """Return a number that is at most the program's ε on some pairs."""
    laws: dict[Any, dict[Any, float]] = {}
    largest = 0.0
    for pair in pairs:
        one, other = (laws.setdefault(data, law_of(program, data)) for data in pair)
        for p, q in ((one, other), (other, one)):
            missing = max(0.0, 1 - sum(q.values())) + 1e-12
            largest = max(
                [largest, *(math.log(mass / (q.get(output, 0.0) + missing)) for output, mass in p.items() if mass > 0)]
            )
    return largest


def programs() -> st.SearchStrategy[Program]:
    """Return programs of two numbers of data and one or two draws."""

    def with_laws(laws: tuple[str, ...]) -> st.SearchStrategy[Program]:
        dense = "laplace" in laws  # its masses are those of intervals, so that no output may show a number
        # Mostly a number of the data and noise of its own, since hardly any other program is private.
        usual = [[(1, 0), (0, 1), (0, 0), (1, 0)], [(0, 1), (1, 0), (1, -1), (0, 0)]]
        pairs = [
            (*data, *(int(at == own) for at in range(len(laws)))) for own in range(len(laws)) for data in usual[own]
        ]
        any_factor = st.tuples(*(st.sampled_from([0, 0, 1, -1, 2]) for _ in range(2 + len(laws))))
        factors = st.one_of(st.sampled_from(pairs), st.sampled_from(pairs), st.sampled_from(pairs), any_factor)
        form = st.tuples(factors, st.integers(-2, 2))
        constant = st.tuples(st.just((0,) * (2 + len(laws))), st.integers(-2, 2))
        kinds = ["above"] if dense else ["number", "above", "half", "absolute"]
        part = st.tuples(st.sampled_from(kinds), form)
        label = st.tuples(st.just("number"), constant)
        output = st.tuples(st.just("out"), st.lists(st.one_of(part, label, label), min_size=1, max_size=2).map(tuple))
        relations = st.sampled_from([">", ">=", "<", "<="] if dense else list(OPERATORS))
        right = st.one_of(constant, constant, form)
        tree = st.recursive(
            output, lambda inner: st.tuples(st.just("if"), relations, form, right, inner, inner), max_leaves=4
        )
        return st.builds(Program, st.just(laws), tree)

    single = [(law,) for law in LAWS]
    double = [laws for laws in itertools.product(LAWS, repeat=2) if "laplace" not in laws]
    weighted = [("double",), ("laplace",), ("double", "double"), ("double", "coin"), ("double", "double")]
    return st.sampled_from([*single, *double, *weighted, *weighted, *weighted]).flatmap(with_laws)
