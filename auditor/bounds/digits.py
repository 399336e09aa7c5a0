"""The digits of computed numbers that reports keep, so that a report is the same on every processor."""

import math
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

# Results of numerical libraries differ between processors in the last two or three of a float's 17 digits.
DIGITS = 10
# A program's parameters are floats. So a bound counts as within the claim if its relative excess is at most TOLERANCE.
TOLERANCE = Fraction(1, 10**9)


def significant(number: float, digits: int = DIGITS) -> float:
    """Return a number rounded to ``digits`` significant digits. With ten, the relative error is at most 5·10⁻¹⁰.

    >>> significant(0.1 + 0.2), significant(2 / 3, 3), significant(float("inf"))
    (0.3, 0.667, inf)
    """
    return float(f"{number:.{digits}g}")


def error_bound(number: float) -> float:
    """Return a bound on an error, rounded up to two digits, since further digits depend on the processor.

    >>> error_bound(1.2301e-13), error_bound(0.0)
    (1.3e-13, 0.0)
    """
    return float(Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(number))


def with_significant_digits(data: Any) -> Any:
    """Return plain data with all floats rounded to ten significant digits."""
    if isinstance(data, dict):
        return {key: with_significant_digits(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [with_significant_digits(item) for item in data]
    return significant(data) if isinstance(data, float) else data


def shown_above(bound: Fraction | float | None) -> str:
    """Write a bound to four decimals, rounded up. An excess within TOLERANCE, the rounding of a parameter, is dropped.

    >>> shown_above(Fraction(1)), shown_above(Fraction(1) + Fraction(1, 10**12)), shown_above(Fraction(2, 3))
    ('1.0000', '1.0000', '0.6667')
    """
    if bound is None:
        return "∞"
    digits = 10**4
    return f"{math.ceil(Fraction(bound) * (1 - TOLERANCE) * digits) / digits:.4f}"
