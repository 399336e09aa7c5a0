"""diffprivlib's mechanisms and tools.

A mechanism has ε and δ as attributes, and its sensitivity is the distance between two neighbours. A tool is a function
with arguments, such as ``functools.partial(tools.mean, epsilon=1.0, bounds=(0, 10))``. A tool does not state its neighbours.
"""

import copy
import functools
import inspect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.adapters import Adapted
from auditor.claims import PureDP
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.libraries.adapting import DEFAULT_REACH, dp_claim, note_chosen_values
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.numbers import Number
from auditor.neighbours.pair import relation_named
from auditor.neighbours.records import Records
from auditor.neighbours.totals import OneNumber, Totals

# Integer-valued mechanisms.
INTEGER_MECHANISMS = ("Geometric", "GaussianDiscrete")
# A perturbed function reveals the data; only its minimum is private (Chaudhuri, Monteleoni & Sarwate 2011, Theorem 9).
VECTOR_ASSUMPTION = (
    "diffprivlib does not say which function Vector perturbs; a logistic loss with its sensitivities was audited. Its minimum is "
    "the output; one record is replaced, and the others are zero"
)
# The least and the most records of a tool, by relation.
SIZE_BY_RELATION = {"add_remove": (0, 20), "substitute": (1, 20)}


def from_diffprivlib(
    thing: Any, *, range: Sequence[Number] | None = None, values: Sequence[Any] | None = None
) -> Adapted:
    """Adapt a mechanism.

    Args:
        thing: the mechanism.
        range: [low, high], the numbers that are tried; by default the mechanism's own bounds, if it has some.
        values: in place of a range, values of which any two are neighbours.

    Raises InvalidInputError for an object that is not a mechanism.
    """
    if not hasattr(thing, "randomise"):
        raise InvalidInputError(f"{type(thing).__name__} of diffprivlib is not a mechanism, a tool or a model")
    chosen = dict[str, Any]()
    claim = dp_claim(thing.epsilon, getattr(thing, "delta", 0.0))
    if hasattr(thing, "function_sensitivity"):
        return Adapted(PerturbedMinimum(thing), claim, _records_for_vector(thing), (VECTOR_ASSUMPTION,))
    neighbours = Value(values) if values is not None else _neighbours(thing, range, chosen)
    return Adapted(
        Selector(thing) if hasattr(thing, "utility") else Randomiser(thing),
        claim,
        neighbours,
        note_chosen_values("diffprivlib", chosen),
        f"diffprivlib's {type(thing).__name__} does not say which values are neighbours; say `values`, or give `neighbours`",
    )


def from_tool(
    thing: Any, *, relation: str | None = None, size: Sequence[int] | None = None, range: Sequence[Any] | None = None
) -> Adapted:
    """Adapt a tool with its arguments.

    Args:
        thing: the function, or a partial of it.
        relation: "add_remove" or "substitute".
        size: [low, high], how many records there are.
        range: [low, high], the ends of the numbers that are tried, by default ``range`` or ``bounds`` of the tool; for
            several columns, one pair for each column. If a tool ignores NaN, records may be NaN.

    Raises InvalidInputError for another relation.
    """
    tool = thing if isinstance(thing, functools.partial) else functools.partial(thing)
    name, parameters = tool.func.__name__, inspect.signature(tool.func).parameters
    given = inspect.signature(tool.func).bind_partial(*tool.args, **tool.keywords).arguments
    mechanism = ToolAnswer(tool, "array_x" in parameters)
    claim = PureDP(float(given.get("epsilon", parameters["epsilon"].default)))
    if relation is None:
        wanting = f"diffprivlib's {name} does not say which data are neighbours; say `relation`"
        return Adapted(mechanism, claim, wanting=wanting)
    relation, chosen = relation_named(relation), dict[str, Any]()
    ends = next((pair for pair in (range, given.get("range"), given.get("bounds")) if pair is not None), None)
    ends = chosen.setdefault("range", (0, 1)) if ends is None else ends
    size = chosen.setdefault("size", SIZE_BY_RELATION[relation]) if size is None else size
    record: dict[str, Any]
    if isinstance(ends[0], Sequence):
        record = {"columns": [{"low": float(low), "high": float(high)} for low, high in ends]}
    else:
        low, high = map(float, ends)
        record = {"record": (low, high)}
        if name.startswith("nan"):
            record = {"choices": [low, (low + high) / 2, high, math.nan]}
    domain = Records(**record, size=size, relation=relation)
    return Adapted(mechanism, claim, domain, note_chosen_values("diffprivlib", chosen))


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool as a function of its records. ``apart`` says that each column is an argument of its own."""

    tool: functools.partial[Any]
    apart: bool

    def __call__(self, data: Any) -> Any:
        return self.tool(*data.T) if self.apart else self.tool(data)


@dataclass(frozen=True, slots=True)
class Randomiser:
    """A mechanism as a function of its input."""

    wrapped: Any

    def __call__(self, value: Any) -> Any:
        return self.wrapped.randomise(copy.copy(value))


@dataclass(frozen=True, slots=True)
class Selector:
    """A mechanism that selects by utilities, as a function of the utilities, which its constructor takes."""

    wrapped: Any

    def __call__(self, utilities: Any) -> Any:
        wrapped = self.wrapped
        given = {"monotonic": wrapped.monotonic, "candidates": wrapped.candidates}
        # Only some constructors take a measure.
        if getattr(wrapped, "measure", None) is not None:
            given["measure"] = wrapped.measure
        utility = list(map(float, utilities))
        return type(wrapped)(
            epsilon=wrapped.epsilon, sensitivity=wrapped.sensitivity, utility=utility, **given
        ).randomise()


@dataclass(frozen=True, slots=True)
class PerturbedMinimum:
    """The minimum of a regularised logistic loss that Vector perturbs, as a function of one record.

    For a record of length 1, the slope of the loss is at most 1, and the curvature at most ``function_sensitivity``, as
    the mechanism assumes. All other records are zero. They are left out, since they would only add a constant.
    """

    wrapped: Any

    def __call__(self, record: Any) -> list[float]:
        from scipy.optimize import minimize

        wrapped, steep = self.wrapped, 4 * self.wrapped.function_sensitivity

        def loss(argument: np.ndarray) -> tuple[float, np.ndarray]:
            along = float(np.dot(argument, record))
            value = np.logaddexp(0, steep * along) / steep if steep else along
            slope = 1 / (1 + np.exp(-steep * along)) if steep else 1.0
            of_length = wrapped.alpha * argument
            return (value + np.dot(of_length, argument) / 2) / wrapped.n, (slope * record + of_length) / wrapped.n

        record = np.asarray(record, dtype=float)
        start = np.zeros(wrapped.dimension)
        minimum = minimize(
            wrapped.randomise(loss), start, jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-10}
        )
        return [float(number) for number in minimum.x]


def _records_for_vector(thing: Any) -> Domain:
    """Return pairs of records no longer than the data sensitivity: zero, along an axis, and along the diagonal."""
    far, first = float(thing.data_sensitivity), np.zeros(thing.dimension)
    first[0] = 1.0
    even = np.full(thing.dimension, thing.dimension**-0.5)
    records = dict.fromkeys(
        tuple((far * direction).tolist())
        for direction in (0 * first, first, -first, np.roll(first, 1), even, first / 2)
    )
    return Pairs(list(itertools.combinations(map(list, records), 2)))


def _neighbours(thing: Any, given: Sequence[Number] | None, chosen: dict[str, Any]) -> Domain | None:
    """Return the neighbours that a mechanism's attributes imply, or None if they imply none."""
    if hasattr(thing, "value0"):
        return Value([thing.value0, thing.value1])
    if hasattr(thing, "_domain_values"):
        return Value(sorted(thing._domain_values))
    sensitivity: Any = getattr(thing, "sensitivity", None)
    if hasattr(thing, "utility"):
        if thing.monotonic:
            return None
        far = max(10.0, 10 * sensitivity)
        chosen["range"] = (0.0, far)
        return Totals(
            cells=len(thing.utility), values=(0.0, far), contribution={"linf": float(sensitivity)}, integer=False
        )
    if type(thing).__name__ == "Bingham":
        # Pairs of 2 × 2 covariance matrices. One has a row more, whose squared length is the sensitivity.
        chosen["columns"] = 2
        rows = [np.array(row) for row in ((1.0, 0.0), (0.0, 1.0), (math.sqrt(0.5), math.sqrt(0.5)))]
        first = [np.zeros((2, 2)), np.diag([3.0, 0.0]), np.eye(2)]
        return Pairs([(before, before + sensitivity * np.outer(row, row)) for before in first for row in rows])
    if sensitivity is None:
        return None
    integer = any(base.__name__ in INTEGER_MECHANISMS for base in type(thing).__mro__)
    number = int if integer else float
    low, high = given or (getattr(thing, "lower", None), getattr(thing, "upper", None))
    if low is None or high is None or abs(low) == float("inf") or abs(high) == float("inf"):
        far = max(DEFAULT_REACH, 10 * sensitivity)
        low, high = chosen["range"] = (-far, far)
    return OneNumber((number(low), number(high)), number(sensitivity))
