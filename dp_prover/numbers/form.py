"""Exact affine forms over symbols, and opaque terms for everything that is not affine.

A symbol is a name: ``n0`` is the noise of draw 0, ``x0`` the data set's value 0, ``o0`` an opaque term. A form is a rational
combination of symbols plus a rational constant. A float stands for exactly the rational it represents.

An opaque term is an uninterpreted operation on forms, such as a product of two. Equal operations on equal arguments are one term,
so a change of noise and data that preserves the arguments preserves the term. Nothing else is ever assumed of it.

Forms are data. They have no operators, so no NumPy or Python function can compute with them.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

Key = tuple[Any, ...]
Law = tuple[Any, ...]  # the name of a distribution, and its parameters
NOISE, INPUT, OPAQUE = "n", "x", "o"


def exact(value: Any) -> Fraction | None:
    """Return a finite real number as a rational; None for anything else.

    >>> exact(0.5), exact(np.int64(2)), exact(float("nan")), exact("1")
    (Fraction(1, 2), Fraction(2, 1), None, None)
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return Fraction(float(value))
    return None


class Form:
    """A rational combination of symbols plus a constant. ``terms`` holds no zero coefficients."""

    __slots__ = ("_key", "constant", "terms")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, terms: Mapping[str, Fraction], constant: Fraction) -> None:
        self.terms = terms
        self.constant = constant
        self._key: Key | None = None

    @classmethod
    def symbol(cls, name: str) -> "Form":
        """Return the form of a single symbol."""
        return cls({name: Fraction(1)}, Fraction(0))

    @classmethod
    def number(cls, value: Fraction) -> "Form":
        """Return a constant."""
        return cls({}, value)

    def key(self) -> Key:
        """Return a key: equal for equal forms, and only for these."""
        if self._key is None:
            self._key = (tuple(sorted(self.terms.items())), self.constant)
        return self._key

    def __repr__(self) -> str:
        return " + ".join([*(f"{value}·{name}" for name, value in self.terms.items()), str(self.constant)])

    def plus(self, other: "Form", factor: Fraction | int = 1) -> "Form":
        """Return the form plus ``factor`` times another."""
        terms = dict(self.terms)
        for name, value in other.terms.items():
            total = terms.pop(name, Fraction(0)) + factor * value
            if total:
                terms[name] = total
        return Form(terms, self.constant + factor * other.constant)

    def times(self, factor: Fraction) -> "Form":
        """Return a multiple of the form."""
        terms = {name: value * factor for name, value in self.terms.items()} if factor else {}
        return Form(terms, self.constant * factor)

    def negated(self) -> "Form":
        """Return the negative of the form."""
        return self.times(Fraction(-1))
