"""Rounding of computed numbers, so that a report is the same on every processor."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from typing import Any

# Numerical libraries differ between processors in the last two or three of a float's 17 digits.
SIGNIFICANT_DIGITS = 10
# A program's parameters are floats, so a bound is within the claim if its relative excess is at most TOLERANCE.
TOLERANCE = Fraction(1, 10**9)


def round_significant(number: float, digits: int = SIGNIFICANT_DIGITS) -> float:
    """Return a number rounded to ``digits`` significant digits. With ten, the relative error is at most 5·10⁻¹⁰.

    >>> round_significant(0.1 + 0.2), round_significant(2 / 3, 3), round_significant(float("inf"))
    (0.3, 0.667, inf)
    """
    return float(f"{number:.{digits}g}")


def round_error_up(number: float) -> float:
    """Return an error bound rounded up to two digits, since further digits depend on the processor.

    >>> round_error_up(1.2301e-13), round_error_up(0.0)
    (1.3e-13, 0.0)
    """
    return float(Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(number))


def round_to_side(number: float, up: bool, digits: int = SIGNIFICANT_DIGITS) -> float:
    """Return a number rounded to significant digits, up or down; ``round_floats`` leaves it as it is.

    >>> round_to_side(2 / 3, up=False, digits=4), round_to_side(2 / 3, up=True, digits=2), round_to_side(math.inf, up=False)
    (0.6666, 0.67, inf)
    """
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return float(Context(prec=digits, rounding=rounding).create_decimal_from_float(number))


def round_floats(data: Any) -> Any:
    """Return plain data with every float rounded to ten significant digits."""
    if isinstance(data, dict):
        return {key: round_floats(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [round_floats(item) for item in data]
    return round_significant(data) if isinstance(data, float) else data


def format_rounded_up(bound: Fraction | float | None) -> str:
    """Write a bound to four decimals, rounded up. An excess within TOLERANCE, which a rounded parameter causes, is dropped.

    >>> format_rounded_up(Fraction(1)), format_rounded_up(Fraction(1) + Fraction(1, 10**12)), format_rounded_up(Fraction(2, 3))
    ('1.0000', '1.0000', '0.6667')
    """
    if bound is None:
        return "∞"
    digits = 10**4
    return f"{math.ceil(Fraction(bound) * (1 - TOLERANCE) * digits) / digits:.4f}"


def format_rounded_down(bound: Fraction | float) -> str:
    """Write a lower bound to four decimals, rounded down; a small bound to four digits.

    >>> format_rounded_down(Fraction(2, 3)), format_rounded_down(1.99999), format_rounded_down(1.23456e-5)
    ('0.6666', '1.9999', '1.234e-05')
    """
    value = Fraction(bound)
    if 0 < value < Fraction(1, 100):
        return f"{round_to_side(float(value), up=False, digits=4):.3e}"
    return f"{math.floor(value * 10**4) / 10**4:.4f}"
