"""Operators on scalars: real operators on constants, exact forms for terms, functions of outcomes for lazy values."""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dp_prover.errors import NotProvedError
from dp_prover.interfaces import LARGEST_INTEGER, UnitInterval
from dp_prover.models.laws import product
from dp_prover.models.lazy import Lazy, Numbered, applied, compared_lazily, unmodelled
from dp_prover.models.run import TracedRun
from dp_prover.models.values import (
    TERM_KINDS,
    Kind,
    RaisesError,
    Term,
    Typed,
    as_form,
    is_float,
    is_numpy,
    is_safe,
    kind_of,
    made_constant,
)
from dp_prover.numbers.form import INPUT, OPAQUE, Form, exact

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
OF_FLOATS = {"/": np.divide, "//": np.floor_divide, "%": np.remainder, "**": np.power}  # these never raise
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
# Squares and quotients of numbers within these limits are finite floats too.
LARGEST_FLOAT, SMALLEST_DIVISOR = Fraction(10**100), Fraction(1, 10**100)
MOST_BITS = 100_000  # of a Python integer
LAST_BIT = Fraction(1, 2**53)  # the relative rounding error of a float
SMALLEST_BIT = Fraction(1, 2**1075)  # the absolute rounding error of the smallest floats
# The rounding allowed in a noisy number, and in the data before noise is added, relative to the noise scale.
COARSEST, FARTHEST = Fraction(1, 2**10), Fraction(1, 2**20)
# Operations whose rounded results may leave the exact range: first those that keep the sign, then all.
KEEPING_SIGN = frozenset(("times", "over", "multiply", "divide"))
ROUNDING = KEEPING_SIGN | {"add", "subtract", "power"}
BEYOND = Fraction(1, 2**40)  # how far floats may leave a range, relative to its largest absolute value
# Functions whose floats also depend on the order of a sum, or on how many numbers are computed at once.
IMPRECISE = frozenset(
    (
        *("np.exp", "np.expm1", "np.sinh", "np.log", "np.log1p", "np.arcsinh", "power"),
        *("std", "var", "norm None", "norm 1", "norm 2"),
    )
)


# Constant real numbers.
SCALARS = bool | int | float | np.bool_ | np.integer | np.float16 | np.float32 | np.float64
REAL = (
    *(bool, int, float, str, bytes, type(None), type(...), list, tuple, dict, set, range, slice, type, Fraction),
    *(np.generic, np.ndarray, np.dtype, np.random.Generator),
)


def native(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a real function with constants. Its exceptions are the mechanism's.

    Raises NotProvedError for values that are not constants, on which the function would fail here but not in the mechanism.
    """
    if not all(map(_is_real, (*arguments, *keywords.values()))):
        raise NotProvedError(f"{described_function(function)} has a value that is not modelled")
    result = placed(function, *arguments, **keywords)
    if isinstance(result, np.dtype) and result.kind in "US":
        raise NotProvedError("the type of an array of texts holds its width, which is not modelled")
    return result


def _is_real(value: Any) -> bool:
    if type(value) in (list, tuple, set):
        return all(map(_is_real, value))
    if type(value) is dict:
        return all(map(_is_real, value.values()))
    return isinstance(value, REAL)


def described_function(function: Callable[..., Any]) -> str:
    """Return the name of a function."""
    return str(getattr(function, "__name__", "a function"))


def raised(function: Callable[..., Any], *examples: tuple[Any, ...]) -> Exception:
    """Return the exception that a real function raises on all examples; NotProvedError if the examples differ."""
    errors = []
    for example in examples:
        try:
            function(*example)
        except Exception as error:
            errors.append(error)
    if len(errors) == len(examples) and len({(type(error), repr(error.args)) for error in errors}) == 1:
        return RaisesError(errors[0])
    return unmodelled(errors[0] if errors else ValueError("on some numbers"))


def placed(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a list or dict method that does not inspect the items."""
    try:
        return function(*arguments, **keywords)
    except (AssertionError, MemoryError, RecursionError) as error:  # the prover's own failure
        raise NotProvedError(f"this is not modelled ({type(error).__name__}: {error})") from None
    except Exception as error:
        raise RaisesError(error) from None


def lazily(function: Callable[..., Any], *arguments: Any) -> Lazy:
    """Apply a real function lazily to values, some of them lazy."""

    def called(*given: Any) -> Any:
        try:
            return native(function, *given)
        except RaisesError as error:
            raise NotProvedError(
                f"a random choice decides whether this raises {error}; test the choice first"
            ) from None

    return applied(called, *arguments)


@functools.cache
def result_kind(operation: str, *kinds: Kind) -> Kind:
    """Return the type of an operation's result in Python or NumPy."""
    ones = [kind.type(1) if isinstance(kind, np.dtype) else kind(1) for kind in kinds]
    function: Callable[..., Any] = BINARY[operation] if len(kinds) == 2 else UNARY[operation]
    kind = kind_of(function(*ones))
    if kind not in TERM_KINDS:
        raise NotProvedError(f"{operation} of numbers from data or noise gives a {kind}, which is not modelled")
    return kind


def binary(run: TracedRun, operation: str, a: Any, b: Any) -> Any:
    """Return ``a operation b`` for scalars."""
    if isinstance(a, Term) or isinstance(b, Term):
        if operation == "*" and (noise := product(run, a, b)) is not None:
            return made(run, noise, result_kind("*", kind_of(a), kind_of(b)), plus_zero=True)
        # A lazy value is settled before it meets a term.
        a, b = (value.settled() if isinstance(value, Lazy) else value for value in (a, b))
        return _of_terms(run, operation, a, b)
    if isinstance(a, Lazy) or isinstance(b, Lazy):
        return lazily(BINARY[operation], a, b)
    _require_small(operation, a, b)
    return native(BINARY[operation], a, b)


def _require_small(operation: str, a: Any, b: Any) -> None:
    """Raise NotProvedError for results that are too large to compute."""
    a, b = (int(value) if type(value) is bool else value for value in (a, b))
    if type(a) is not int or type(b) is not int:
        repeated = operation == "*" and (type(a) in (str, bytes, tuple) or type(b) in (str, bytes, tuple))
        if repeated and any(isinstance(n, int) and n > MOST_BITS for n in (a, b)):
            raise NotProvedError("a text or a tuple is repeated too often to follow")
        return
    bits = {"**": a.bit_length() * max(b, 0), "<<": a.bit_length() + b, "*": a.bit_length() + b.bit_length()}
    if bits.get(operation, 0) > MOST_BITS:
        raise NotProvedError(f"an integer has more than {MOST_BITS:,} bits")


def _of_terms(run: TracedRun, operation: str, a: Any, b: Any) -> Any:
    _require_numbers(operation, a, b)
    if operation in ("<<", ">>", "&", "|", "^"):
        raise NotProvedError(f"{operation} works on the bits of a number from data or noise, which are not modelled")
    kind = result_kind(operation, kind_of(a), kind_of(b)) if operation != "**" else _power_kind(a, b)
    x, y = as_form(a), as_form(b)
    if any(form is not None and run.names.may_be_nonfinite(form) for form in (x, y)):
        # NaN − NaN is not 0, so nothing cancels.
        _require_divisor(run, operation, a, b)
        if operation == "**" and not (is_numpy(kind_of(a)) or is_numpy(kind_of(b))):
            raise NotProvedError("a power of a number that may be NaN or infinite; limit it first")
        return opaque(run, operation, OF_FLOATS.get(operation, BINARY[operation]), (a, b), kind)
    if x is None or y is None:
        return _with_infinity(run, operation, a, b, kind)
    if operation in ("+", "-"):
        whole = x.plus(y, 1 if operation == "+" else -1)
        _require_same(run, whole, x, y)
        if is_float(kind):
            _require_cancelled(run, whole, x, y)
        require_noise_above_rounding(run, whole, x, y)
    match operation:
        case "+":
            plus = True if is_plus_zero(a) or is_plus_zero(b) else None
            return _affine(run, "add", np.add, (a, b), x.plus(y), kind, plus)
        case "-":
            plus = True if is_plus_zero(a) or (not isinstance(b, Term) and b != 0) else None
            return _affine(run, "subtract", np.subtract, (a, b), x.plus(y, -1), kind, plus)
        case "*":
            return multiplied(run, a, b, kind)
        case "/":
            return _divided(run, a, b, kind)
        case "**":
            return _power(run, a, b, kind)
        case _:
            return _floored(run, operation, a, b, kind)


def _require_numbers(operation: str, *values: Any) -> None:
    for value in values:
        if not isinstance(value, Term | SCALARS):
            raise NotProvedError(f"{operation} has a number from data or noise on one side, and {value!r} on the other")
        if isinstance(value, int) and abs(value) > LARGEST_FLOAT:
            raise NotProvedError("an integer is too large for a float; scale it down")


def is_plus_zero(value: Any) -> bool | None:
    """Whether a scalar is never −0.0; None if unknown."""
    if isinstance(value, Term):
        return True if not is_float(value.kind) else value.plus_zero
    return value != 0 or math.copysign(1.0, value) > 0


def _require_finite_terms(run: TracedRun, *values: Any) -> None:
    if any(isinstance(value, Term) and run.names.may_be_nonfinite(value.form) for value in values):
        raise NotProvedError(
            "a number that may be NaN or infinite is combined with infinity or NaN; limit the number first"
        )


def _with_infinity(run: TracedRun, operation: str, a: Any, b: Any, kind: Kind) -> Any:
    """Return a result that is the same for all finite numbers: a sum with infinity or NaN, or a product with NaN."""
    _require_finite_terms(run, a, b)
    other = next(value for value in (a, b) if not isinstance(value, Term))
    if operation in ("+", "-") or (operation == "*" and math.isnan(other)):
        constant = native(BINARY[operation], *(0.0 if isinstance(value, Term) else value for value in (a, b)))
        return made_float(constant, kind)
    raise NotProvedError(f"{operation} of a number from data or noise and {other!r}")


def _affine(
    run: TracedRun,
    name: str,
    function: Callable[..., Any],
    operands: tuple[Any, Any],
    form: Form,
    kind: Kind,
    plus_zero: bool | None,
) -> Any:
    """Return a sum, difference or multiple: a form, or an opaque term if floats round random integers.

    Floats of equal forms may then differ.
    """
    names = run.names
    if is_float(kind) and names.is_lattice(form) and not (names.is_exact(form) and run.rounded.isdisjoint(form.terms)):
        return opaque(run, name, function, operands, kind, names.reach(form), finite=True)
    return made(run, form, kind, plus_zero)


def made_float(value: Any, kind: Kind) -> Any:
    """Return a float, possibly infinite, as a constant of a type."""
    return kind.type(value) if isinstance(kind, np.dtype) else float(value)


def made(run: TracedRun, form: Form, kind: Kind, plus_zero: bool | None) -> Any:
    """Return a form as a number of a type, a constant if possible. Raises NotProvedError if the type may be too small."""
    term = Term(form, kind, plus_zero)
    if not form.terms and is_safe(term, run.names):
        return made_constant(form.constant, kind)
    run.require_unused(form)
    reach = run.names.reach(form)
    _require_room(kind, reach)
    if is_float(kind) and not run.names.is_smooth(form) and not run.names.is_exact(form):
        run.rounded.update(form.terms)
    if reach is not None and is_float(kind):
        if _size(reach) > LARGEST_FLOAT:
            raise NotProvedError("a number may be too large for a float; scale it down")
        _round(run, form, _size(reach))
    return term


def _round(run: TracedRun, form: Form, size: Fraction, times: int = 1) -> None:
    """Record that the computation of a form rounds floats up to ``size``, ``times`` times.

    Raises NotProvedError if that is too coarse for the form's noise, or for one person's contribution to it.
    """
    bit = max(size * LAST_BIT, SMALLEST_BIT) * times
    finest = run.names.finest(form)
    if finest is None:
        if run.names.is_noisy(form):
            for name, factor in form.terms.items():
                run.coarsen(name, bit / abs(factor))
        else:
            run.rounding += bit / _largest(run, form)
        return
    if finest < SMALLEST_DIVISOR:
        raise NotProvedError(
            f"noise is scaled down to {float(finest):g}, where floats are coarse; use a scale between 1e-100 and 1e100"
        )
    of_data = [abs(factor) for name, factor in form.terms.items() if name[0] == INPUT]
    changed = [run.names.moved * max(of_data)] if of_data and run.names.moved is not None else []
    if bit > COARSEST * min([finest, *changed]):
        raise NotProvedError(
            "a noisy number may be so large that floats round the noise away; limit the domain's values, or scale the number down"
        )
    for name, factor in form.terms.items():
        run.coarsen(name, bit / abs(factor))


def _largest(run: TracedRun, form: Form) -> Fraction:
    """Return the largest coefficient of a data value in a form; 1 without any."""
    of_data = (abs(factor) for name, factor in form.terms.items() if not run.names.is_noisy(Form.symbol(name)))
    return max(of_data, default=Fraction(1))


def _size(reach: UnitInterval) -> Fraction:
    return max(-reach[0], reach[1])


def _cancelled(run: TracedRun, whole: Form, x: Form, y: Form) -> list[str]:
    """Return the noise symbols that cancel in the sum or difference of two forms.

    In floats a residue may remain, unless both are the same number: each operation creates a form of its own. Raises NotProvedError
    if the residue reveals rounded data.
    """
    if x is y:
        return []
    gone = list(x.terms.keys() & y.terms.keys() - whole.terms.keys())
    if whole.terms and not any(map(run.names.is_noisy, (x, y))):
        reaches = [reach for form in (x, y) if (reach := run.names.reach(form)) is not None]
        _round(run, whole, max(map(_size, reaches), default=Fraction(0)))
    if run.rounding and not all(run.names.is_noisy(Form.symbol(name)) for name in gone):
        raise NotProvedError("data values cancel, and floats leave a residue; leave them out")
    return [name for name in gone if run.names.is_noisy(Form.symbol(name))]


def _require_cancelled(run: TracedRun, whole: Form, x: Form, y: Form) -> None:
    """Record the float residue of noise that cancels in a sum. Raises NotProvedError if nothing else remains."""
    if not _cancelled(run, whole, x, y):
        return
    run.rounded.update(whole.terms)
    if run.names.is_noisy(whole):
        return
    reaches = [reach for form in (x, y) if (reach := run.names.reach(form)) is not None]
    if len(reaches) < 2 or not whole.terms:
        raise NotProvedError("noise cancels in a sum, and floats leave a residue; leave it out")
    for reach in reaches:
        _round(run, whole, _size(reach))


def require_any_order(run: TracedRun, items: Sequence[Any], whole: Any) -> None:
    """Record the rounding of a sum whose order NumPy chooses: no partial sum exceeds the sum of all sizes.

    Raises NotProvedError if that is too coarse for the noise of the sum or of an item.
    """
    if len(items) < 2 or not isinstance(whole, Term) or not is_float(whole.kind):
        return
    forms = [form for form in map(as_form, items) if form is not None]
    reaches = [reach for reach in map(run.names.reach, forms) if reach is not None]
    if len(reaches) < len(items):
        return  # an item may be infinite or NaN, and then the sum is no form
    size = sum(map(_size, reaches), Fraction(0))
    for form in (*forms, whole.form):
        if run.names.finest(form) is not None:
            _round(run, form, size)
    if any(form.terms and not run.names.is_noisy(form) for form in forms):
        run.rounding += size * LAST_BIT * (len(items) - 1) / _largest(run, whole.form)
    require_noise_above_rounding(run, whole.form, *forms)


def require_noise_above_rounding(run: TracedRun, whole: Form, *parts: Form) -> None:
    """Raise NotProvedError if the data in a noisy form may be rounded too much for its noise."""
    finest = run.names.finest(whole)
    of_data = [part for part in parts if part.terms and not run.names.is_noisy(part)]
    largest = max((abs(factor) for part in of_data for factor in part.terms.values()), default=Fraction(0))
    moved = run.names.moved
    if finest is not None and (
        run.rounding * largest > FARTHEST * finest
        or (of_data and moved is not None and run.rounding > COARSEST * moved)
    ):
        raise NotProvedError(
            "rounding of the data before noise is added may be too coarse for the noise scale; compute with smaller numbers"
        )


def require_hardly_rounded(run: TracedRun, form: Form) -> None:
    """Raise NotProvedError if the data may be rounded too much for discrete noise, which moves by integers."""
    if run.rounding * max(map(abs, form.terms.values()), default=Fraction(0)) > FARTHEST:
        raise NotProvedError("rounding of the data may be too coarse for random integers; compute with smaller numbers")


def _require_room(kind: Kind, reach: UnitInterval | None) -> None:
    """Raise NotProvedError for an integer that floats may not represent."""
    if not is_float(kind) and (reach is None or max(-reach[0], reach[1]) > LARGEST_INTEGER):
        raise NotProvedError("an integer may have more than 53 bits; compute with floats, or limit the domain's values")


def opaque(
    run: TracedRun,
    name: str,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    kind: Kind,
    reach: UnitInterval | None = None,
    *,
    finite: bool = False,
) -> Term:
    """Return a function of scalars as an opaque term, of which only one fact is used: equal arguments give equal values.

    ``function`` computes it on numbers; ``finite`` says that no value within ``reach`` is NaN or infinite. Without ``reach`` the
    value may overflow a float. Raises NotProvedError if an argument may be 0.0 or −0.0 for equal data.
    """
    forms = []
    for argument in arguments:
        form = as_form(argument)
        if form is None:
            raise NotProvedError(f"{name} gets a number from data or noise together with {argument!r}")
        if not is_safe(argument, run.names) if isinstance(argument, Term) else not is_plus_zero(argument):
            raise NotProvedError(f"{name} gets a number that is 0.0 or −0.0 depending on the data; add 0.0 to it")
        run.require_unused(form)
        forms.append(form)
    _require_room(kind, reach)
    if is_float(kind) and reach is not None and not any(map(run.names.is_noisy, forms)):
        run.rounding += max(_size(reach) * LAST_BIT, SMALLEST_BIT)
    if reach is not None and is_float(kind) and name in ROUNDING:
        reach = _widened(reach, name in KEEPING_SIGN)
    finite = finite and reach is not None
    kinds = ", ".join(str(kind_of(argument)) for argument in arguments)
    symbol = run.names.term(f"{name}[{kinds}]", function, tuple(forms), reach, finite)
    smooth = all(run.names.is_dense(form) for form in forms if form.terms)
    if any(_may_be_rounded(run, argument) for argument in arguments) or (name in IMPRECISE and not smooth):
        run.rounded.add(symbol)
    return Term(Form.symbol(symbol), kind, plus_zero=False)


def _widened(reach: UnitInterval, keeps_sign: bool) -> UnitInterval:
    """Return the range of the rounded values of a range."""
    margin = _size(reach) * BEYOND
    low, high = reach[0] - margin, reach[1] + margin
    if not keeps_sign:
        return low, high
    return max(low, Fraction(0)) if reach[0] >= 0 else low, min(high, Fraction(0)) if reach[1] <= 0 else high


def multiplied(run: TracedRun, a: Any, b: Any, kind: Kind) -> Any:
    """Return a product."""
    for value, factor in ((a, b), (b, a)):
        number = _number(factor)
        form = as_form(value)
        if number is not None and form is not None:
            plus = True if not is_float(kind) else _signed(is_plus_zero(value), number)
            return _affine(run, "times", np.multiply, (value, factor), form.times(number), kind, plus)
    x, y = as_form(a), as_form(b)
    assert x is not None and y is not None
    ranges = [run.names.reach(form) for form in (x, y)]
    reach = None
    if ranges[0] is not None and ranges[1] is not None:
        ends = [p * q for p in ranges[0] for q in ranges[1]]
        reach = (min(ends), max(ends))
    first, second = sorted((a, b), key=lambda term: term.form.key())
    term = opaque(run, "multiply", operator.mul, (first, second), kind, reach, finite=True)
    # A square is never −0.0.
    return made(run, term.form, kind, True if first.form.key() == second.form.key() else term.plus_zero)


def _signed(plus_zero: bool | None, factor: Fraction) -> bool | None:
    """Return ``plus_zero`` after multiplication by a factor."""
    if factor > 0 or plus_zero is None:
        return plus_zero
    return None if factor == 0 else False


def _number(value: Any) -> Fraction | None:
    """Return a constant scalar as a rational; None for a symbolic term."""
    if isinstance(value, Term):
        return value.form.constant if not value.form.terms else None
    return exact(value)


def _require_divisor(run: TracedRun, operation: str, a: Any, b: Any) -> None:
    """Raise Python's exception for a divisor of 0, where NumPy would return a value."""
    if operation not in ("/", "//", "%"):
        return
    if is_numpy(kind_of(a)) or is_numpy(kind_of(b)):
        return
    form = as_form(b)
    assert form is not None
    require_sure(run, form, b)
    if run.is_zero(form):
        ones = [kind_of(a)(number) for number in (1, 2)]  # type: ignore[operator]  # a type of Python
        raise raised(BINARY[operation], *((number, kind_of(b)(0)) for number in ones))  # type: ignore[operator]


def _divided(run: TracedRun, a: Any, b: Any, kind: Kind) -> Any:
    _require_divisor(run, "/", a, b)
    number, form = _number(b), as_form(a)
    if number and form is not None:
        plus = _signed(is_plus_zero(a), number)
        return _affine(run, "over", np.divide, (a, b), form.times(1 / number), kind, plus)
    reach = None
    if is_nonzero(run, b) and form is not None and number is None:
        ends, divisors = run.names.reach(form), run.names.reach(as_form(b) or form)
        if ends is not None and divisors is not None and (divisors[0] > 0 or divisors[1] < 0):
            quotients = [p / q for p in ends for q in divisors]
            reach = (min(quotients), max(quotients))
        elif ends is not None:  # noise is further from 0 than this, up to a negligible probability
            size = max(abs(ends[0]), abs(ends[1])) / SMALLEST_DIVISOR
            reach = (-size, size)
    return opaque(run, "divide", np.divide, (a, b), kind, reach, finite=True)


def is_nonzero(run: TracedRun, value: Any) -> bool:
    """Whether division by a scalar gives a finite number with probability 1."""
    form = as_form(value)
    assert form is not None
    reach = run.reach(form) if not run.names.is_noisy(form) else None
    return run.names.is_dense(form) or (
        reach is not None and (reach[0] > SMALLEST_DIVISOR or -reach[1] > SMALLEST_DIVISOR)
    )


def _floored(run: TracedRun, operation: str, a: Any, b: Any, kind: Kind) -> Any:
    _require_divisor(run, operation, a, b)
    function = np.floor_divide if operation == "//" else np.remainder
    number, form = _number(b), as_form(a)
    reach = None
    if number and form is not None and (ends := run.names.reach(form)) is not None:
        quotients = sorted(Fraction(math.floor(end / number)) for end in ends)
        reach = (
            (quotients[0], quotients[1]) if operation == "//" else (min(number, Fraction(0)), max(number, Fraction(0)))
        )
    elif (
        not is_float(kind)
        and (by := run.names.reach(as_form(a if operation == "//" else b) or Form({}, Fraction(0)))) is not None
    ):
        # An integer quotient is no larger than the dividend, a remainder no larger than the divisor.
        size = max(abs(by[0]), abs(by[1])) + 1
        reach = (-size, size)
    name = "floor_divide" if operation == "//" else "remainder"
    term = opaque(run, name, function, (a, b), kind, reach, finite=is_nonzero(run, b))
    return made(run, term.form, kind, term.plus_zero)


def _power_kind(a: Any, b: Any) -> Kind:
    kinds = kind_of(a), kind_of(b)
    if isinstance(b, Term) and not all(map(is_float, kinds)):
        raise NotProvedError("an integer exponent depends on the data or on noise; convert the exponent to float")
    if not is_float(kinds[0]) and not is_float(kinds[1]) and not isinstance(b, Term) and b < 0:
        if is_numpy(kinds[0]) or is_numpy(kinds[1]):
            raise unmodelled(ValueError("Integers to negative integer powers are not allowed."))
        return float
    return result_kind("**", *kinds)


def _power(run: TracedRun, a: Any, b: Any, kind: Kind) -> Any:
    exponent, base = _number(b), as_form(a)
    assert base is not None
    if exponent == 0:
        return made_constant(Fraction(1), kind)
    if exponent == 1:
        return made(run, base, kind, is_plus_zero(a))
    if exponent == 2:
        return multiplied(run, a, a, kind)
    if not is_numpy(kind_of(a)) and not is_numpy(kind_of(b)):
        # Python raises, or returns a complex number, where NumPy returns NaN or infinity.
        if exponent is None:
            raise NotProvedError("an exponent depends on the data or on noise; use math.exp or np.exp")
        whole = exponent.denominator == 1
        require_sure(run, base, a)
        if not whole and not is_true(run, run.is_above(base, strict=False)):
            raise NotProvedError("a negative number to a fractional power is complex; use abs")
        if exponent < 0 and run.is_zero(base):
            raise raised(operator.pow, (kind_of(a)(0), b))  # type: ignore[operator]  # a type of Python
        reach = run.names.reach(base)
        largest = None if reach is None else max(abs(reach[0]), abs(reach[1]), Fraction(1))
        if exponent < 0:
            least = None if reach is None or reach[0] <= 0 <= reach[1] else min(abs(reach[0]), abs(reach[1]))
            least = Fraction(1) if not is_float(kind_of(a)) else least
            largest = None if least is None or largest is None else max(largest, 1 / least)
        if largest is None or float(abs(exponent)) * math.log10(largest) > 300:
            raise NotProvedError(
                "a power may be too large for a float, which raises OverflowError; limit the number first"
            )
        size = Fraction(10) ** math.ceil(float(abs(exponent)) * math.log10(largest) + 1)
        return opaque(run, "power", np.power, (a, b), kind, (-size, size), finite=True)
    return opaque(run, "power", np.power, (a, b), kind)


# Comparisons -----------------------------------------------------------------------------------------------------------


BEFORE_ROUNDING = "compute with integers, or compare before other computations"


def require_sure(run: TracedRun, gap: Form, *operands: Any, chooses: bool = False) -> None:
    """Raise NotProvedError if the sign of a gap may differ between the operands' floats and exact numbers.

    ``chooses`` says that the sign only chooses one of the two operands, so that the result is off by a rounding error at most.
    """
    if chooses or run.names.is_smooth(gap):
        return
    if not any(_may_be_rounded(run, operand) for operand in operands):
        return
    reach = None if run.names.is_noisy(gap) else run.reach(gap)
    if reach is None or reach[0] <= 0 <= reach[1]:
        raise NotProvedError(f"a number that floats may have rounded decides a condition; {BEFORE_ROUNDING}")


def _may_be_rounded(run: TracedRun, value: Any) -> bool:
    """Whether the float of a scalar may differ from its form, where the form equals some number with positive probability.

    Integers are exact, except for functions of floats, which may jump.
    """
    if not isinstance(value, Term) or not run.is_rounded(value.form):
        return False
    return is_float(value.kind) or any(name[0] == OPAQUE and name in run.rounded for name in value.form.terms)


def _require_same(run: TracedRun, whole: Form, x: Form, y: Form) -> None:
    """Raise NotProvedError if functions of rounded numbers cancel: their floats may differ where the exact numbers are equal."""
    cancelled = x.terms.keys() & y.terms.keys() - whole.terms.keys()
    if x is not y and any(name[0] == OPAQUE and name in run.rounded for name in cancelled):
        raise NotProvedError(f"functions of numbers that floats may have rounded cancel; {BEFORE_ROUNDING}")


def compare_scalars(run: TracedRun, operation: str, a: Any, b: Any, *, chooses: bool = False) -> Any:
    """Return ``a operation b`` for scalars: a Boolean, or a lazy one. See ``require_sure`` for ``chooses``."""
    if isinstance(a, Term) and isinstance(b, Lazy):
        return _uniform_against(run, TURNED[operation], b, a)
    if isinstance(a, Lazy) and isinstance(b, Term):
        return _uniform_against(run, operation, a, b)
    if isinstance(a, Term) or isinstance(b, Term):
        return _terms_compared(run, operation, a, b, chooses)
    for value, other, turned in ((a, b, operation), (b, a, TURNED[operation])):
        inner = value.item if isinstance(value, Typed) else value
        number = None if isinstance(other, Lazy) else exact(other)
        if isinstance(inner, Numbered) and number is not None and turned in ("<", "<=", ">", ">="):
            return _boolean(inner.compared(COMPARISONS[turned], number), value is not inner or is_numpy(kind_of(other)))
    if isinstance(a, Lazy) or isinstance(b, Lazy):
        return lazily(COMPARISONS[operation], a, b)
    return native(COMPARISONS[operation], a, b)


def may_be_nan(value: Any) -> bool:
    """Whether a constant or lazy value may be NaN. (Comparisons refuse terms that may be.)"""
    inner = value.item if isinstance(value, Typed) else value
    values = inner.values() if isinstance(inner, Lazy) and not isinstance(inner, Numbered) else [inner]
    return any(isinstance(number, float | np.floating) and number != number for number in values)  # noqa: PLR0124 - NaN


def equal_items(run: TracedRun, item: Any, wanted: Any) -> Any:
    """Compare an item with the item that is searched for."""
    if may_be_nan(item) or may_be_nan(wanted):
        raise NotProvedError("a list with NaN is searched, and Python only finds NaN by identity; use math.isnan")
    return compare_scalars(run, "==", item, wanted)


def _boolean(value: Any, of_numpy: bool) -> Any:
    if not of_numpy:
        return value
    return lazily(np.bool_, value) if isinstance(value, Lazy) else np.bool_(value)


def _terms_compared(run: TracedRun, operation: str, a: Any, b: Any, chooses: bool) -> Any:
    other = b if isinstance(a, Term) else a
    if other is None or isinstance(other, str | bytes):
        if operation in ("==", "!="):
            return _boolean(operation == "!=", other is not None and any(is_numpy(kind_of(value)) for value in (a, b)))
        raise unmodelled(TypeError(f"{operation} between a number and {other!r}"))
    if not isinstance(other, Term | SCALARS):
        raise NotProvedError(f"a number from data or noise is compared with {other!r}")
    of_numpy = is_numpy(kind_of(a)) or is_numpy(kind_of(b))
    x, y = as_form(a), as_form(b)
    if x is None or y is None:  # infinity or NaN: the same for each finite number
        _require_finite_terms(run, a, b)
        constants = [0.0 if isinstance(value, Term) else value for value in (a, b)]
        return _boolean(bool(native(COMPARISONS[operation], *constants)), of_numpy)
    run.names.compared.update(float(form.constant) for form in (x, y) if not form.terms)
    gap = x.plus(y, -1)
    if any(is_float(kind_of(value)) for value in (a, b)) and _cancelled(run, gap, x, y):
        raise NotProvedError("the same noise is on both sides of a comparison, and floats leave a residue; draw twice")
    _require_same(run, gap, x, y)
    require_sure(run, gap, a, b, chooses=chooses)
    require_noise_above_rounding(run, gap, x, y)
    if (reach := run.names.reach(gap)) is not None and run.names.is_noisy(gap):
        _round(run, gap, _size(reach))
    match operation:
        case ">" | ">=":
            answer: Any = run.is_above(gap, operation == ">")
        case "<" | "<=":
            answer = run.is_above(gap.negated(), operation == "<")
        case "==":
            answer = run.is_zero(gap)
        case _:
            answer = not run.is_zero(gap)
    return _boolean(answer, of_numpy)


def _uniform_against(run: TracedRun, operation: str, a: Lazy, b: Term) -> Any:
    """Compare a lazy value with a term: a uniform draw is cut at its outcomes, other terms settle it."""
    uniform = run.uniform_of(b.form)
    if uniform is None or operation in ("==", "!="):
        return compare_scalars(run, operation, a.settled(), b)
    name, slope, constant = uniform
    turned = COMPARISONS[TURNED[operation] if slope > 0 else operation]

    def threshold(value: Any) -> Fraction:
        number = exact(value)
        if number is None:
            raise NotProvedError(f"a uniform number is compared with {value!r}")
        return (number - constant) / slope

    answer = compared_lazily(name, turned, applied(threshold, a))
    return _boolean(answer, is_numpy(kind_of(a)) or is_numpy(b.kind))


# One number ------------------------------------------------------------------------------------------------------------


def unary(run: TracedRun, operation: str, a: Any) -> Any:
    """Return ``operation a`` for a scalar."""
    if isinstance(a, Lazy):
        return lazily(UNARY[operation], a)
    if not isinstance(a, Term):
        return native(UNARY[operation], a)
    if operation == "+":
        return a
    if operation == "~":
        raise NotProvedError("~ works on the bits of a number from data or noise, which are not modelled")
    return made(run, a.form.negated(), a.kind, True if not is_float(a.kind) else _signed(a.plus_zero, Fraction(-1)))


def is_true(run: TracedRun, value: Any) -> bool:
    """Return whether a scalar is true, forking if it may be either."""
    if isinstance(value, Term):
        require_sure(run, value.form, value)
        return not run.is_zero(value.form)
    return bool(native(bool, value.settled() if isinstance(value, Lazy) else value))


def absolute(run: TracedRun, value: Any) -> Any:
    """Return the absolute value of a scalar."""
    if not isinstance(value, Term):
        return lazily(abs, value) if isinstance(value, Lazy) else native(abs, value)
    if run.uniform_of(value.form) is not None:
        ends = run.names.reach(value.form)
        reach = None if ends is None else (Fraction(0), max(abs(ends[0]), abs(ends[1])))
        return opaque(run, "abs", abs, (value,), value.kind, reach, finite=True)
    if run.names.may_be_nonfinite(value.form):
        return opaque(run, "abs", abs, (value,), value.kind)
    above = run.is_above(value.form, strict=False)
    term = value if is_true(run, above) else unary(run, "-", value)
    # abs(−0.0) is 0.0.
    return Term(term.form, term.kind, plus_zero=True) if isinstance(term, Term) else term
