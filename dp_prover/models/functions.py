"""Functions of one or a few numbers: their values on terms, and where they raise or give NaN."""

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.interfaces import UnitInterval
from dp_prover.models.arithmetic import (
    LARGEST_FLOAT,
    SMALLEST_DIVISOR,
    binary,
    compare_scalars,
    is_plus_zero,
    is_true,
    lazily,
    made,
    may_be_nan,
    native,
    opaque,
    raised,
    require_sure,
)
from dp_prover.models.arrays import truncated
from dp_prover.models.laws import logarithm
from dp_prover.models.lazy import Lazy
from dp_prover.models.run import TracedRun
from dp_prover.models.values import FLOAT64, Kind, Term, as_form, is_float, is_numpy, kind_of
from dp_prover.numbers.form import Form, exact

LARGEST_EXPONENT = Fraction(709)
MOST_DIGITS = 15  # of a rounded number
FEW_TO_SORT = 4  # up to this many noisy numbers, each order is a path; sorting more is post-processing
Within = tuple[float, bool]  # the lower end of a function's domain, and whether it is included
# Functions of a float: the lower end of their domain (None: everywhere), and whether they overflow.
DEFINED: dict[str, tuple[Within | None, bool]] = {
    "exp": (None, True),
    "exp2": (None, True),
    "expm1": (None, True),
    "sinh": (None, True),
    "cosh": (None, True),
    "log": ((0.0, False), False),
    "log2": ((0.0, False), False),
    "log10": ((0.0, False), False),
    "log1p": ((-1.0, False), False),
    "sqrt": ((0.0, True), False),
    "cbrt": (None, False),
    "sin": (None, False),
    "cos": (None, False),
    "tanh": (None, False),
    "arctan": (None, False),
    "arcsinh": (None, False),
    "sign": (None, False),
}
BETWEEN_ONES = ("sin", "cos", "tanh", "sign", "erf")
MATH_NAMES = {"arctan": "atan", "arcsinh": "asinh"}
OF_NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in ("exp", "expm1", "sinh", "log", "log1p", "sqrt", "arcsinh", "sign")
}
OF_MATH: dict[str, Callable[..., Any]] = {
    name: getattr(math, MATH_NAMES.get(name, name)) for name in DEFINED if hasattr(math, MATH_NAMES.get(name, name))
} | {"erf": math.erf, "erfc": math.erfc}
DEFINED |= {"erf": (None, False), "erfc": (None, False)}


def is_defined(run: TracedRun, name: str, form: Form) -> bool:
    """Whether a function is finite on a form's range, up to a probability of 2⁻¹⁰⁰."""
    start, grows = DEFINED[name]
    reach = run.reach(form)
    if reach is None:
        return start is None and not grows
    low, high = reach
    above = start is None or low > Fraction(start[0]) or (start[1] and low == Fraction(start[0]))
    return above and not (grows and max(-low, high) > LARGEST_EXPONENT)


def _values(run: TracedRun, name: str, form: Form) -> UnitInterval | None:
    """Return a range of a function's values on a form; None if it may be undefined, or overflow."""
    reach = run.reach(form)
    if not is_defined(run, name, form):
        return None
    if name in BETWEEN_ONES:
        return Fraction(-1), Fraction(1)
    if reach is None:
        return None
    # The other functions grow more slowly than their argument, or were shown not to overflow. The logarithm of 10⁻¹⁰⁰ is −230.
    low, high = (float(end) for end in reach)
    size = max(abs(low), abs(high), 1000.0)
    if name in ("log", "log2", "log10", "log1p") and low - (DEFINED[name][0] or (0.0,))[0] < float(SMALLEST_DIVISOR):
        return None
    if DEFINED[name][1]:
        largest = max(abs(float(getattr(np, name)(end))) for end in (low, high, 0.0))
        size = largest * 1.01 + 1.0
    return (-Fraction(size), Fraction(size)) if size < float(LARGEST_FLOAT) else None


def _of_numpy(name: str, run: TracedRun, value: Any) -> Any:
    """Apply a NumPy function to a scalar; where undefined, the result is NaN or infinite."""
    function = OF_NUMPY[name]
    if not isinstance(value, Term):
        return lazily(function, value) if isinstance(value, Lazy) else native(function, value)
    noise = logarithm(run, name, value.form)
    if noise is not None:
        return made(run, noise, FLOAT64, plus_zero=True)
    kind = FLOAT64 if is_float(value.kind) or name != "sign" else value.kind
    return opaque(run, f"np.{name}", function, (value,), kind, _values(run, name, value.form), finite=True)


def of_math(name: str, run: TracedRun, value: Any) -> Any:
    """Apply a function of ``math`` to a scalar; where undefined, it raises."""
    function = OF_MATH[name]
    if not isinstance(value, Term):
        return lazily(function, value) if isinstance(value, Lazy) else native(function, value)
    noise = logarithm(run, name, value.form)
    if noise is not None:
        return made(run, noise, float, plus_zero=True)
    start, grows = DEFINED[name]
    if run.names.may_be_nonfinite(value.form):
        raise NotProvedError(f"math.{name} gets a number that may be NaN or infinite; limit it first")
    if not is_defined(run, name, value.form):
        if start is not None:
            above = value.form.plus(Form.number(Fraction(start[0])), -1)
            require_sure(run, above, value)
            inside = run.is_above(above, strict=not start[1])
            if not is_true(run, inside):
                outside = [start[0] - by for by in (0.0, 0.5, 3.0) if by or not start[1]]
                raise raised(function, *((number,) for number in outside))
        if grows:
            raise NotProvedError(f"math.{name} may raise OverflowError; limit the number first")
    return opaque(run, f"math.{name}", function, (value,), float, _values(run, name, value.form), finite=True)


def floored(name: str, of_math_module: bool, run: TracedRun, value: Any) -> Any:
    """Round a number to an integer: a Python integer by ``math``, a float by NumPy."""
    function = getattr(math if of_math_module else np, name)
    if not isinstance(value, Term):
        return lazily(function, value) if isinstance(value, Lazy) else native(function, value)
    kind: Any = int if of_math_module else FLOAT64
    if of_math_module and name == "trunc" and is_numpy(value.kind) and not is_float(value.kind):
        raise NotProvedError("math.trunc has an integer of NumPy, for which it raises TypeError; leave it out")
    if not is_float(value.kind):
        # NumPy leaves integers unchanged, except for rint.
        return made(run, value.form, int if of_math_module else FLOAT64 if name == "rint" else value.kind, True)
    if of_math_module and run.names.may_be_nonfinite(value.form):
        raise NotProvedError("a number that may be NaN or infinite becomes an integer")
    return opaque(run, name, function, (value,), kind, _whole(run, value.form), finite=True)


def _whole(run: TracedRun, form: Form) -> UnitInterval | None:
    reach = run.names.reach(form)
    return None if reach is None else (Fraction(math.floor(reach[0])), Fraction(math.ceil(reach[1])))


def rounded(run: TracedRun, value: Any, digits: Any, of_numpy_module: bool) -> Any:
    """Return ``round(value, digits)``, or ``np.round``, which returns a float."""
    function = np.round if of_numpy_module else round
    arguments = () if digits is None else (digits,)
    if not isinstance(value, Term):
        return lazily(function, value, *arguments) if isinstance(value, Lazy) else native(function, value, *arguments)
    if digits is not None and not isinstance(digits, int | np.integer):
        raise NotProvedError("a number is rounded to a number of digits that is not an integer")
    places = exact(digits) if digits is not None else None
    if places is not None and abs(places) > MOST_DIGITS:
        raise NotProvedError(f"a number is rounded to {digits} digits; use at most {MOST_DIGITS}")
    function = np.round if is_numpy(value.kind) and digits is not None else function
    if not is_float(value.kind):
        if places is not None and places < 0:
            raise NotProvedError("integers are rounded to powers of ten; divide and multiply instead")
        return (
            value
            if of_numpy_module or (is_numpy(value.kind) and digits is not None)
            else made(run, value.form, int, True)
        )
    if digits is None and not of_numpy_module:
        if run.names.may_be_nonfinite(value.form):
            raise NotProvedError("a number that may be NaN or infinite becomes an integer")
        return opaque(run, "round", round, (value,), int, _whole(run, value.form), finite=True)
    name, reach = "np.round" if of_numpy_module else "round", run.names.reach(value.form)
    near = Fraction(10) ** -int(places or 0)
    within = None if reach is None else (reach[0] - near, reach[1] + near)
    given = value, int(places or 0)
    return opaque(run, name, lambda a, b: function(float(a), int(b)), given, value.kind, within, finite=True)


def to_int(run: TracedRun, value: Any) -> Any:
    """Return ``int(value)`` of a number."""
    if not isinstance(value, Term):
        return lazily(int, value) if isinstance(value, Lazy) else native(int, value)
    return truncated(run, value, int) if is_float(value.kind) else made(run, value.form, int, True)


def to_float(run: TracedRun, value: Any) -> Any:
    """Return ``float(value)`` of a number."""
    if not isinstance(value, Term):
        return lazily(float, value) if isinstance(value, Lazy) else native(float, value)
    return made(run, value.form, float, True if not is_float(value.kind) else value.plus_zero)


# Larger and smaller ------------------------------------------------------------------------------------------------------


def extreme(run: TracedRun, a: Any, b: Any, largest: bool) -> Any:
    """Return the larger or smaller of two scalars, as ``np.maximum`` does: NaN wins.

    Comparing noise with a constant is post-processing. Every other comparison is decided here.
    """
    if not isinstance(a, Term) and not isinstance(b, Term):
        function = np.maximum if largest else np.minimum
        return lazily(function, a, b) if isinstance(a, Lazy) or isinstance(b, Lazy) else native(function, a, b)
    for value in (a, b):
        if not isinstance(value, Term | Lazy) and value != value:  # noqa: PLR0124 - NaN
            return native(np.float64, value)
    made_kinds = binary(run, "+", _zero(a), _zero(b))
    kind = kind_of(made_kinds)
    if is_processing(run, a, b):
        name = "maximum" if largest else "minimum"
        return bounded(run, name, np.maximum if largest else np.minimum, a, b, kind)
    if isinstance(a, Lazy) or isinstance(b, Lazy):
        a, b = (value.settled() if isinstance(value, Lazy) else value for value in (a, b))
        return extreme(run, a, b, largest)
    chosen = b if _is_beyond(run, b, a, largest) else a
    form = as_form(chosen)
    if form is None:
        return chosen
    # Of 0.0 and −0.0, either may be returned.
    plus = all(isinstance(value, Term) and value.plus_zero for value in (a, b)) or not is_float(kind)
    return made(run, form, kind, True if plus else None)


def _is_beyond(run: TracedRun, a: Any, b: Any, largest: bool, *, near: bool = True) -> bool:
    """Whether ``a`` is larger (or smaller) than ``b``, where the answer chooses one of the two.

    ``near`` says that rounding may choose the other number, which is off by a rounding error only. That does not hold if the
    chosen number is exact: nothing then accounts for the error.
    """
    is_beyond = is_true(run, compare_scalars(run, ">" if largest else "<", a, b, chooses=near))
    chosen = a if is_beyond else b
    if not near or not (isinstance(a, Term) or isinstance(b, Term)):
        return is_beyond
    x, y = as_form(a), as_form(b)
    if x is not None and y is not None and not (isinstance(chosen, Term) and run.is_rounded(chosen.form)):
        require_sure(run, x.plus(y, -1), a, b)
    return is_beyond


def _zero(value: Any) -> Any:
    kind = kind_of(value)
    return kind.type(0) if isinstance(kind, np.dtype) else kind(0)


def is_processing(run: TracedRun, *values: Any) -> bool:
    """Whether the values are one noisy term and finite constants, so that a function of them is post-processing."""
    terms = [value for value in values if isinstance(value, Term)]
    rest = [value for value in values if not isinstance(value, Term)]
    return (
        all(run.names.is_noisy(term.form) for term in terms)
        and len(terms) == 1
        and all(not isinstance(value, Lazy) and exact(value) is not None for value in rest)
    )


def any_may_be_nonfinite(run: TracedRun, *values: Any) -> bool:
    """Whether a term may be NaN or infinite."""
    return any(isinstance(value, Term) and run.names.may_be_nonfinite(value.form) for value in values)


def is_same(a: Kind, b: Kind) -> bool:
    """Whether two types are identical: a dtype compares equal to a Python type without being it."""
    return is_numpy(a) == is_numpy(b) and a == b


def bounded(run: TracedRun, name: str, function: Callable[..., Any], a: Any, b: Any, kind: Any) -> Any:
    """Return the maximum or minimum of a term and a constant as an opaque term."""
    forms = [as_form(value) for value in (a, b)]
    reaches = [run.names.reach(form) for form in forms if form is not None]
    reach = None
    if len(reaches) == 2 and reaches[0] is not None and reaches[1] is not None:
        chosen = max if name == "maximum" else min
        reach = (chosen(reaches[0][0], reaches[1][0]), chosen(reaches[0][1], reaches[1][1]))
    nonfinite = any(form is not None and run.names.may_be_nonfinite(form) for form in forms)
    term = opaque(run, name, function, (a, b), kind, reach, finite=not nonfinite)
    # Never −0.0 if neither number is; a number with a density is 0 with probability 0.
    sure = all(is_plus_zero(value) or (isinstance(value, Term) and run.names.is_dense(value.form)) for value in (a, b))
    return Term(term.form, term.kind, sure)


def clipped(run: TracedRun, value: Any, low: Any, high: Any) -> Any:
    """Clip a scalar to a range, as ``np.clip`` does."""
    if low is not None:
        value = extreme(run, value, low, largest=True)
    return value if high is None else extreme(run, value, high, largest=False)


def python_extreme(run: TracedRun, items: Sequence[Any], largest: bool, key: Callable[[Any], Any] | None) -> Any:
    """Return Python's ``max`` or ``min``: the first item that no other exceeds."""
    best, judged = items[0], items[0] if key is None else key(items[0])
    for item in items[1:]:
        if (
            key is None
            and is_processing(run, best, item)
            and not any_may_be_nonfinite(run, best, item)
            and is_same(kind_of(best), kind_of(item))
        ):
            name = "maximum" if largest else "minimum"
            best = judged = bounded(run, name, np.maximum if largest else np.minimum, best, item, kind_of(best))
            continue
        key_of_item = item if key is None else key(item)
        near = key is None and is_same(kind_of(best), kind_of(item))
        if _is_beyond(run, key_of_item, judged, largest, near=near):
            best, judged = item, key_of_item
    return best


# Several numbers -----------------------------------------------------------------------------------------------------------


def all_opaque(
    name: str,
    function: Callable[..., Any],
    run: TracedRun,
    items: Sequence[Any],
    count: int = 1,
    *,
    between: bool = False,
) -> Any:
    """Return a function of several numbers as an opaque term, or its ``count`` values as terms.

    ``between`` says that its values lie between the smallest and the largest number.
    """
    given = [item.settled() if isinstance(item, Lazy) else item for item in items]
    if not any(isinstance(item, Term) for item in given):
        return native(function, np.array(given))
    kind: Any = FLOAT64 if count == 1 else kind_of(next(item for item in given if isinstance(item, Term)))
    reach = _reach_of_all(run, given)
    if reach is not None and not between:  # spreads and norms
        size = (len(given) * (max(abs(reach[0]), abs(reach[1])) + 1)) ** 2
        reach = (-size, size) if size < LARGEST_FLOAT else None
    if count == 1:
        return opaque(run, name, lambda *all_of: function(np.array(all_of)), tuple(given), kind, reach, finite=True)
    return [
        opaque(run, f"{name}.{at}", functools.partial(_component, function, at), tuple(given), kind, reach, finite=True)
        for at in range(count)
    ]


def _reach_of_all(run: TracedRun, items: Sequence[Any]) -> UnitInterval | None:
    """Return a range that contains all numbers."""
    forms = [as_form(item) for item in items]
    ends = [None if form is None else run.names.reach(form) for form in forms]
    ranges = [end for end in ends if end is not None]
    return (min(low for low, _ in ranges), max(high for _, high in ranges)) if len(ranges) == len(ends) else None


def _component(function: Callable[..., Any], at: int, *items: Any) -> Any:
    return function(np.array(items))[at]


def in_order(run: TracedRun, items: Sequence[Any]) -> list[int]:
    """Return the indices of scalars in ascending order, sorted stably."""
    if len(items) > 1 and any(map(may_be_nan, items)):
        raise NotProvedError("numbers with NaN are sorted, whose order is not modelled")
    order: list[int] = []
    for at in range(len(items)):
        place = len(order)
        while place and is_true(run, compare_scalars(run, "<", items[at], items[order[place - 1]])):
            place -= 1
        order.insert(place, at)
    return order


def sorted_items(run: TracedRun, items: Sequence[Any]) -> list[Any]:
    """Return scalars in ascending order. For noisy numbers alone this is post-processing."""
    noisy = all(isinstance(item, Term) and run.names.is_noisy(item.form) for item in items)
    alike = len({kind_of(item) for item in items}) == 1
    if (
        len(items) > FEW_TO_SORT
        and noisy
        and alike
        and not any(run.names.may_be_nonfinite(item.form) for item in items)
    ):
        return list(all_opaque("sort", np.sort, run, items, len(items), between=True))
    for item in items:
        if not isinstance(item, Term) and exact(constant_of(item)) is None:
            raise NotProvedError("a list is sorted that has NaN, infinity or text beside noisy numbers")
    return [items[at] for at in in_order(run, items)]


def constant_of(item: Any) -> Any:
    """Return a value, settled if it is lazy."""
    return item.settled() if isinstance(item, Lazy) else item


def place_of_extreme(run: TracedRun, items: Sequence[Any], largest: bool) -> Any:
    """Return the index of the first largest or smallest scalar."""
    if not items:
        raise raised(np.argmax if largest else np.argmin, ([],))
    if len(items) > 1 and any(map(may_be_nan, items)):
        raise NotProvedError("argmax or argmin is applied to numbers with NaN")
    best = 0
    for at in range(1, len(items)):
        if is_true(run, compare_scalars(run, ">" if largest else "<", items[at], items[best])):
            best = at
    return np.int64(best)


def is_nan(run: TracedRun, value: Any) -> Any:
    """Return whether a scalar is NaN."""
    return _asked(run, np.isnan, value, False)


def is_finite(run: TracedRun, value: Any) -> Any:
    """Return whether a scalar is neither NaN nor infinite."""
    return _asked(run, np.isfinite, value, True)


def is_infinite(run: TracedRun, value: Any) -> Any:
    """Return whether a scalar is infinite."""
    return _asked(run, np.isinf, value, False)


def _asked(run: TracedRun, function: Callable[..., Any], value: Any, of_finite: bool) -> Any:
    if not isinstance(value, Term):
        return lazily(function, value) if isinstance(value, Lazy) else native(function, value)
    if not run.names.may_be_nonfinite(value.form):
        return np.bool_(of_finite)
    answer = opaque(run, function.__name__, function, (value,), FLOAT64)
    run.names.nonfinite.discard(next(iter(answer.form.terms)))
    return np.bool_(not run.is_zero(answer.form))
