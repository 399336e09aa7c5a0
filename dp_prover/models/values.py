"""The evaluator's values: Python and NumPy constants, terms, lazy values, and arrays of these.

Constants are real, and may be passed to real functions. A term stands for a number from data or noise. It is plain data: it has no
operator, text or hash that a function could use. An array keeps its items in a list, and a NumPy index array says which item is
where. So NumPy itself decides what a slice or a transpose is, and never touches an item.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.interfaces import LARGEST_INTEGER, Masses, Names
from dp_prover.models.lazy import Lazy, joined_cuts, states
from dp_prover.numbers.form import INPUT, OPAQUE, Form, exact

Kind = type | np.dtype[Any]  # int, float or bool of Python, or a type of NumPy
PLAIN = (bool, int, float, str, bytes, type(None))
INT64 = np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)
TERM_KINDS = (int, float, INT64, FLOAT64)


NUMPY_SCALARS = frozenset(np.dtype(code).type for code in np.typecodes["All"])


class RaisesError(Exception):
    """An exception of the mechanism, which becomes its output or a session's answer.

    ``stated`` says that a statement of the mechanism raised it, rather than a function it calls.
    """

    def __init__(self, error: BaseException, stated: bool = False) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error, self.stated = error, stated

    def text(self) -> str:
        """Return the exception as an analyst sees it."""
        return f"{self} {self.error.args!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A number from data or noise, with its type, one of TERM_KINDS.

    ``plus_zero`` says that the number is never −0.0. It is False if an opaque symbol determines the sign of 0, None if unknown.
    """

    form: Form
    kind: Kind
    plus_zero: bool | None = True

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.kind not in TERM_KINDS:
            raise NotProvedError(f"a number from data or noise has the type {self.kind}; use int64 or float64")

    def __bool__(self) -> bool:
        raise AssertionError("a term is used as a condition")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("terms are compared by the run")


class Items:
    """The items that an array shares with its views. If ``unsure``, some view may be a copy, and nothing may be written."""

    __slots__ = ("items", "unsure")

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.unsure = False

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: int) -> Any:
        return self.items[at]

    def __setitem__(self, at: int, item: Any) -> None:
        self.items[at] = item

    def may_be_copied(self) -> None:
        """Record that a view may be a copy."""
        self.unsure = True


class Mark:
    """A placeholder for a batch's size, rows or indices, which nothing may compute with. See ``batches``."""

    words = "something of a batch"


ROWS_SHOWN: ContextVar[bool] = ContextVar(
    "ROWS_SHOWN", default=False
)  # to an operation that keeps the rows of a batch apart


class Array:
    """A NumPy array. Items are Python numbers, terms, or lazy values of such numbers.

    The first axis of a ``batched`` array runs over the outputs of a batch. It shows its items only to operations that keep rows
    apart.
    """

    __slots__ = ("_places", "batched", "dtype", "store")

    def __init__(
        self, store: Items, index: np.ndarray[Any, np.dtype[np.intp]], dtype: np.dtype[Any], *, batched: bool = False
    ) -> None:
        self.store, self._places, self.dtype, self.batched = store, index, dtype, batched

    @property
    def index(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """The index of each item. Raises NotProvedError for the rows of a batch, unless the operation keeps them apart."""
        if self.batched and not ROWS_SHOWN.get():
            raise NotProvedError(
                "the outputs of a batch are inspected together, or counted; compute each output from its own row"
            )
        return self._places

    @classmethod
    def of_numpy(cls, array: np.ndarray[Any, Any]) -> "Array":
        """Return an array of constants."""
        return array_of(array.ravel().tolist(), array.shape, array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.index.shape)

    def flat(self) -> list[Any]:
        """Return the items in order."""
        return [self.store[at] for at in self.index.ravel().tolist()]

    def typed(self) -> Iterator[Any]:
        """Yield the items as scalars of the array's type."""
        return (typed(item, self.dtype) for item in self.flat())


def array_of(items: Sequence[Any], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return a new array."""
    return Array(Items(list(items)), np.arange(len(items)).reshape(shape), dtype)


def typed(item: Any, dtype: np.dtype[Any]) -> Any:
    """Return an array item as a scalar of its type."""
    if isinstance(item, Term):
        return item
    if isinstance(item, Lazy):
        return Typed(item, dtype)
    return dtype.type(item)


class Typed(Lazy):
    """A lazy array item, whose outcomes are NumPy scalars."""

    __slots__ = ("item",)

    def __init__(self, item: Lazy, dtype: np.dtype[Any]) -> None:
        function = item.function
        super().__init__(item.sources, item.cuts, lambda outcomes: dtype.type(function(outcomes)))
        self.item = item


def from_numpy(value: Any) -> Any:
    """Turn a NumPy array into an array of the evaluator; return other values unchanged."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind not in "biufUS" or type(value) is not np.ndarray:
        raise NotProvedError(
            f"a {type(value).__name__} of {value.dtype} is not modelled; use an array of numbers or a list"
        )
    return array_of(value.ravel().tolist(), value.shape, value.dtype)


def to_numpy(value: Any) -> Any:
    """Turn an array of constants into a NumPy array; lazy items are settled, terms refused."""
    if not isinstance(value, Array):
        return value
    made = np.array([constant(item) for item in value.flat()], dtype=value.dtype)
    return made.reshape(value.shape)


def constant(value: Any) -> Any:
    """Return a constant; a lazy value is settled. Raises NotProvedError for a term."""
    if isinstance(value, Lazy):
        return value.settled()
    if isinstance(value, Term):
        raise NotProvedError("a number from data or noise is used where the prover needs a constant")
    return value


def is_constant(value: Any) -> bool:
    """Whether a value is an immutable constant: a number, text, None, a dtype, or a tuple of these."""
    if type(value) is tuple:
        return all(map(is_constant, value))
    kind = type(value)
    return kind in PLAIN or kind in (range, slice, type(...)) or kind in NUMPY_SCALARS or isinstance(value, np.dtype)


def kind_of(value: Any) -> Kind:
    """Return the type of a scalar."""
    if isinstance(value, Term):
        return value.kind
    if isinstance(value, Lazy):
        kinds = {kind_of(outcome) for outcome in value.values()}
        if len(kinds) > 1:
            raise NotProvedError("a random choice is made between values of different types; use one type")
        return kinds.pop()
    return value.dtype if isinstance(value, np.generic) else type(value)


def is_numpy(kind: Kind) -> bool:
    """Whether a type is NumPy's."""
    return isinstance(kind, np.dtype)


def is_float(kind: Kind) -> bool:
    """Whether a type is a float type."""
    return kind is float or (isinstance(kind, np.dtype) and kind.kind == "f")


def made_constant(value: Fraction, kind: Kind) -> Any:
    """Return a rational as a constant of a type."""
    number = float(value) if is_float(kind) else int(value)
    return kind.type(number) if isinstance(kind, np.dtype) else kind(number)


def as_form(value: Any) -> Form | None:
    """Return a scalar as a form; None for infinities, NaN and non-numbers.

    Raises NotProvedError for numbers of types in which NumPy computes differently.
    """
    if isinstance(value, Term):
        return value.form
    if isinstance(value, np.number) and value.dtype not in (INT64, FLOAT64):
        raise NotProvedError(f"a {value.dtype} is combined with a number from data or noise; use int64 or float64")
    if isinstance(value, int | np.integer) and abs(int(value)) > LARGEST_INTEGER:
        raise NotProvedError("an integer of more than 53 bits is combined with a number from data or noise")
    number = exact(value)
    return None if number is None else Form.number(number)


def is_safe(term: Term, names: Names) -> bool:
    """Whether equal values of a term are identical, which 0.0 and −0.0 are not."""
    form = term.form
    if not is_float(term.kind) or term.plus_zero or names.is_dense(form):
        return True
    if not form.terms:
        return form.constant != 0
    if (
        term.plus_zero is not None
        and len(form.terms) == 1
        and not form.constant
        and next(iter(form.terms))[0] == OPAQUE
    ):
        return True
    reach = names.reach(form) if all(name[0] == INPUT for name in form.terms) else None
    return reach is not None and (reach[0] > 0 or reach[1] < 0)


# Outputs -------------------------------------------------------------------------------------------------------------


def flattened(output: Any, names: Names) -> tuple[Any, list[Any]]:
    """Split an output into its structure, with all types, and its leaves: texts for constants, forms, and lazy values."""
    leaves: list[Any] = []

    def leaf(value: Any) -> Any:
        if isinstance(value, Term):
            if not is_safe(value, names):
                raise NotProvedError("an output may be 0.0 or −0.0, depending on the data; add 0.0 to it")
            leaves.append(value.form)
            signed = is_float(value.kind) and value.plus_zero is False and not names.is_dense(value.form)
            return (value.kind.name if isinstance(value.kind, np.dtype) else value.kind.__name__, signed)
        leaves.append(value if isinstance(value, Lazy) else text_of(value))
        return "leaf"

    def visit(value: Any) -> Any:
        if isinstance(value, Array):
            # The items of an array share its type, so terms and constants in one place have the same structure.
            signed = tuple(leaf(item)[1:] == (True,) for item in value.flat())
            return ("array", value.shape, str(value.dtype), *(signed if any(signed) else ()))
        if isinstance(value, list | tuple):
            return (type(value).__name__, tuple(visit(item) for item in value))
        if type(value) is dict:
            return ("dict", tuple((text_of(key), visit(item)) for key, item in value.items()))
        if isinstance(value, RaisesError):
            return ("raises", value.text())
        return leaf(value)

    if isinstance(output, RaisesError):
        return ("raises", output.text()), []
    return visit(output), leaves


def text_of(value: Any) -> str:
    """Return a constant as text that states its type."""
    if type(value) in PLAIN or isinstance(value, np.generic):
        return f"{type(value).__name__} {value!r}"
    if type(value) is tuple and is_constant(value):
        return f"tuple {[text_of(item) for item in value]}"
    raise NotProvedError(
        f"an output holds a {type(value).__name__}, whose content is not modelled; return numbers or text"
    )


def settled_leaf(leaf: Any) -> Any:
    """Return a leaf, settled if it is lazy."""
    return text_of(leaf.settled()) if isinstance(leaf, Lazy) else leaf


def independent(leaves: Sequence[Any]) -> tuple[Masses, ...]:
    """Split lazy leaves into groups with disjoint sources, and enumerate each."""
    groups: list[tuple[frozenset[str], list[int]]] = []
    for at, leaf in enumerate(leaves):
        if isinstance(leaf, Lazy):
            touching = [group for group in groups if group[0] & leaf.sources]
            groups = [group for group in groups if group not in touching]
            sources = leaf.sources.union(*(group[0] for group in touching))
            groups.append((sources, sorted([at, *(place for group in touching for place in group[1])])))
    joint = []
    for sources, places in sorted(groups, key=lambda group: group[1]):
        cuts = joined_cuts(leaves[place].cuts for place in places)
        masses: dict[tuple[str, ...], Fraction] = {}
        for outcomes, mass in states(sources, cuts):
            value = tuple(text_of(leaves[place].function(outcomes)) for place in places)
            masses[value] = masses.get(value, Fraction(0)) + mass
        joint.append(Masses(tuple(places), masses))
    return tuple(joint)


def at_numbers(value: Any, number: Callable[[Any], Any]) -> Any:
    """Return an output with numbers in place of terms and lazy values."""
    if isinstance(value, Array):
        made = [number(item) if isinstance(item, Term | Lazy) else item for item in value.flat()]
        return np.array(made, dtype=value.dtype).reshape(value.shape)
    if isinstance(value, Term | Lazy):
        return number(value)
    if isinstance(value, RaisesError):
        return value.error
    if isinstance(value, list | tuple):
        items = [at_numbers(item, number) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        return {key: at_numbers(item, number) for key, item in value.items()}
    return value
