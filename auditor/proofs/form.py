"""Values in a traced run: exact affine forms over symbols, and opaque terms for everything that is not affine.

A symbol is a name: ``n0`` is the noise of draw 0, ``x0`` number 0 of the data set, ``o0`` an opaque term. A form is a sum of
rational
multiples of symbols and a rational constant. A float stands for exactly the rational that it is.

An opaque term is an operation on forms, such as a product of two of them. Equal operations on equal arguments are one term. So
if a
change of noise and data leaves the arguments as they are, it leaves the term as it is. Nothing else is ever assumed of a term.
"""

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

Key = tuple[Any, ...]
Law = tuple[Any, ...]  # the name of a distribution, and its numbers
NOISE, INPUT, OPAQUE = "n", "x", "o"


class NotTracedError(BaseException):
    """A run that cannot be followed. It is no Exception, so that a mechanism's own ``except`` does not hide it."""


class Run(Protocol):
    """What a form asks of the run it belongs to."""

    def fail(self, reason: str) -> NotTracedError:
        """Note why the run cannot be followed. The note stays, whoever catches the error that is returned."""

    def term(self, operation: str, arguments: tuple["Form", ...]) -> str:
        """Return the name of the opaque term."""

    def is_above(self, form: "Form", strict: bool) -> Any:
        """Decide whether a form is above 0 (or not below 0, unless ``strict``), now or when the answer is looked at."""

    def is_zero(self, form: "Form") -> bool:
        """Decide whether a form is 0."""

    def uniform_of(self, form: "Form") -> tuple[str, Fraction, Fraction] | None:
        """Return (name, slope, constant) of a form of one uniform number alone; None for any other."""

    def states(self, name: str, cuts: Iterable[Fraction]) -> list[tuple[Any, Fraction]]:
        """Return the outcomes of a finite or uniform source that are left, with their masses."""

    def settle(self, sources: frozenset[str], cuts: Mapping[str, frozenset[Fraction]]) -> dict[str, Any]:
        """Fork over the outcomes of sources, and return those of this run."""


CURRENT: ContextVar[Run] = ContextVar("the run that is traced")


def exact(value: Any) -> Fraction | None:
    """Return a finite real number as a rational; None for anything else.

    >>> exact(0.5), exact(np.int64(2)), exact(float("nan")), exact("1")
    (Fraction(1, 2), Fraction(2, 1), None, None)
    """
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype != object:
        value = value.item()
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return Fraction(float(value))
    return None


# What forms answer to beside the arithmetic that is exact. NumPy calls a method of that name for np.exp(form) and the like.
FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(np, name)
    for name in (
        *(
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sqrt",
            "cbrt",
            "rint",
            "floor",
            "ceil",
            "trunc",
            "sign",
        ),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    )
}
OPERATIONS: dict[str, Callable[..., Any]] = {
    **FUNCTIONS,
    "multiply": operator.mul,
    "divide": np.divide,
    "power": np.power,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "round": lambda a, digits: round(float(a), int(digits)),
}


class Form:
    """A sum of rational multiples of symbols and a constant. ``terms`` has no zeros."""

    __slots__ = ("_key", "_opposite", "constant", "terms")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, terms: Mapping[str, Fraction], constant: Fraction) -> None:
        self.terms = terms
        self.constant = constant
        self._key: Key | None = None
        self._opposite: Key | None = None

    @classmethod
    def symbol(cls, name: str) -> "Form":
        """Return the form of one symbol alone."""
        return cls({name: Fraction(1)}, Fraction(0))

    def key(self) -> Key:
        """Return what equal forms have in common, and no others."""
        if self._key is None:
            self._key = (tuple(sorted(self.terms.items())), self.constant)
        return self._key

    def opposite(self) -> Key:
        """Return the key of the form times −1."""
        if self._opposite is None:
            self._opposite = (-self).key()
        return self._opposite

    def __repr__(self) -> str:
        return " + ".join([*(f"{value}·{name}" for name, value in self.terms.items()), str(self.constant)])

    # Arithmetic that stays affine ------------------------------------------------------------------------------------

    def _plus(self, other: Any, sign: int) -> Any:
        if isinstance(other, Form):
            terms = dict(self.terms)
            for name, value in other.terms.items():
                total = terms.pop(name, Fraction(0)) + sign * value
                if total:
                    terms[name] = total
            return Form(terms, self.constant + sign * other.constant)
        number = exact(other)
        if number is not None:
            return Form(self.terms, self.constant + sign * number)
        if isinstance(other, float | np.floating):
            return float(other) * sign  # NaN or infinity, whatever the form
        return NotImplemented

    def times(self, factor: Fraction) -> "Form":
        """Return the form times a number."""
        return Form(
            {name: value * factor for name, value in self.terms.items()} if factor else {}, self.constant * factor
        )

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def __neg__(self) -> "Form":
        return self.times(Fraction(-1))

    def __pos__(self) -> "Form":
        return self

    def __mul__(self, other: Any) -> Any:
        factor = exact(other)
        if factor is not None:
            return self.times(factor)
        if isinstance(other, Form):
            if not other.terms:
                return self.times(other.constant)
            return (
                other.times(self.constant)
                if not self.terms
                else _opaque("multiply", *sorted((self, other), key=Form.key))
            )
        return _refused(other, "multiplied by")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        divisor = other.constant if isinstance(other, Form) and not other.terms else exact(other)
        if divisor is not None and divisor != 0:
            return self.times(1 / divisor)
        return _opaque("divide", self, other) if isinstance(other, Form) else _refused(other, "divided by")

    def __rtruediv__(self, other: Any) -> Any:
        return _operation("divide", other, self)

    def __pow__(self, other: Any) -> Any:
        power = exact(other)
        if power == 1:
            return self
        return self * self if power == 2 else _operation("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _operation("power", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _operation("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _operation("floor_divide", other, self)

    def __mod__(self, other: Any) -> Any:
        return _operation("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _operation("remainder", other, self)

    def __abs__(self) -> "Form":
        return self if CURRENT.get().is_above(self, strict=False) else -self

    # What is not affine ----------------------------------------------------------------------------------------------

    def __round__(self, digits: int = 0) -> "Form":
        return _opaque("round", self, _constant(digits or 0))

    def round(self, decimals: int = 0, out: None = None) -> "Form":
        """Round to a number of decimals, as ``np.round`` asks for it."""
        return self.__round__(decimals)

    def __floor__(self) -> "Form":
        return _opaque("floor", self)

    def __ceil__(self) -> "Form":
        return _opaque("ceil", self)

    def __trunc__(self) -> "Form":
        return _opaque("trunc", self)

    def conjugate(self) -> "Form":
        """Return the form: it is real."""
        return self

    def __getattr__(self, name: str) -> Callable[[], "Form"]:
        if name in FUNCTIONS:
            return lambda: _opaque(name, self)
        if name.startswith("__"):
            raise AttributeError(name)
        raise CURRENT.get().fail(f"{name} is asked of a number of the data or of noise")

    def _as_number(self, wanted: str) -> Fraction:
        if self.terms:
            raise CURRENT.get().fail(
                f"{wanted} needs a number, where data or noise stand for all of their values (NumPy's functions keep them, "
                "those of math and conversions do not)"
            )
        return self.constant

    def __float__(self) -> float:
        return float(self._as_number("float()"))

    def __int__(self) -> int:
        return int(self._as_number("int()"))

    def __index__(self) -> int:
        number = self._as_number("an index")
        if number.denominator != 1:
            raise CURRENT.get().fail(f"an index is {number}")
        return number.numerator

    def __bool__(self) -> bool:
        return not CURRENT.get().is_zero(self)

    # Comparisons fork ------------------------------------------------------------------------------------------------

    def _minus(self, other: Any) -> Any:
        """Return the difference to a number or form; a float for NaN and infinities; None for anything else."""
        if isinstance(other, Form) or exact(other) is not None:
            return self - other
        return float(other) if isinstance(other, float | np.floating) else None

    def __gt__(self, other: Any) -> Any:
        gap = self._minus(other)
        return (
            NotImplemented if gap is None else gap < 0 if isinstance(gap, float) else CURRENT.get().is_above(gap, True)
        )

    def __ge__(self, other: Any) -> Any:
        gap = self._minus(other)
        return (
            NotImplemented if gap is None else gap < 0 if isinstance(gap, float) else CURRENT.get().is_above(gap, False)
        )

    def __lt__(self, other: Any) -> Any:
        gap = self._minus(other)
        return (
            NotImplemented if gap is None else gap > 0 if isinstance(gap, float) else CURRENT.get().is_above(-gap, True)
        )

    def __le__(self, other: Any) -> Any:
        gap = self._minus(other)
        return (
            NotImplemented
            if gap is None
            else gap > 0
            if isinstance(gap, float)
            else CURRENT.get().is_above(-gap, False)
        )

    def __eq__(self, other: object) -> Any:
        gap = self._minus(other)
        if gap is None:
            return NotImplemented  # an array, a coin, or something that is no number
        return False if isinstance(gap, float) else CURRENT.get().is_zero(gap)

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return NotImplemented if same is NotImplemented else not same


def _constant(number: Any) -> Form:
    value = exact(number)
    assert value is not None
    return Form({}, value)


def _refused(other: Any, what: str) -> Any:
    if isinstance(other, int | float | np.number):
        raise CURRENT.get().fail(f"a number of the data or of noise is {what} {other!r}")
    return NotImplemented


def _opaque(operation: str, *arguments: Form) -> Form:
    return Form.symbol(CURRENT.get().term(operation, arguments))


def _operation(operation: str, *arguments: Any) -> Any:
    forms = [argument if isinstance(argument, Form) else exact(argument) for argument in arguments]
    if None in [form if not isinstance(form, Form) else 0 for form in forms]:
        return _refused(next(a for a in arguments if not isinstance(a, Form)), f"in a {operation} with")
    return _opaque(
        operation, *(form if isinstance(form, Form) else Form({}, form) for form in forms if form is not None)
    )
