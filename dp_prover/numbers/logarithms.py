"""Logarithms and exponentials rounded to a chosen side: ``decimal`` rounds both correctly, so one further step encloses them."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_DOWN, _UP = Context(prec=60, rounding=ROUND_FLOOR), Context(prec=60, rounding=ROUND_CEILING)


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


# Exceeds the checker's rounding tolerance, so that it accepts exact results.
MARGIN = Fraction(1, 10**39)


def log_above(value: Fraction) -> Fraction:
    """Return an upper bound on ln(value), short enough for the checker. It is off by less than 1e-38, absolutely and relatively.

    >>> log_above(Fraction(1)), 0 < log_above(Fraction(2)) - Fraction("0.693147180559945309417232") < Fraction(1, 10**23)
    (Fraction(0, 1), True)
    """
    if value == 1:
        return Fraction(0)
    return Fraction(_DOWN.next_plus(_UP.ln(_decimal(value, _UP)))) * (1 + MARGIN * (1 if value > 1 else -1)) + MARGIN


def exp_above(value: Fraction) -> Fraction:
    """Return an upper bound on e^value, with a relative error below 1e-50."""
    return Fraction(_UP.next_plus(_UP.exp(_decimal(value, _UP))))


def exp_below(value: Fraction) -> Fraction:
    """Return a lower bound on e^value, with a relative error below 1e-50."""
    return Fraction(_DOWN.next_minus(_DOWN.exp(_decimal(value, _DOWN))))
