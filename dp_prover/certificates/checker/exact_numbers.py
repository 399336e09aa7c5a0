"""The checker's arithmetic: short rationals, and exponentials and logarithms rounded to a known side."""

import math
import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,1499})(/[1-9][0-9]{0,1499})?")
# Digits of exponentials and logarithms, and tolerances for their rounding: relative, and absolute near 0.
DIGITS, ROUNDED, TINY = Context(60), 1 + Fraction(1, 10**40), Fraction(1, 10**50)


def need(holds: Any, what: str) -> None:
    """Refuse the certificate unless a requirement holds."""
    if not holds:
        raise ValueError(f"the certificate does not hold: {what}")


def Q(value: Any) -> Fraction:  # noqa: N802 - rationals are called so
    """Parse a number, and refuse one that is too long to compute with."""
    need(type(value) in (int, float, Fraction) or (type(value) is str and NUMBER.fullmatch(value)), "a number")
    need(type(value) is not float or math.isfinite(value), "a number that is finite")
    return Fraction(value)


def decimal(value: Fraction) -> Decimal:
    """Round a number to the digits used in computations."""
    return DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def exp_at_least(value: Fraction) -> Fraction:
    """Return an upper bound on the exponential, even where it underflows."""
    return Fraction(DIGITS.exp(decimal(value))) * ROUNDED + TINY


def exp_at_most(value: Fraction) -> Fraction:
    """Return a lower bound on the exponential; that of 0 is exact."""
    return max(Fraction(DIGITS.exp(decimal(value))) / ROUNDED - TINY, Fraction(0)) if value else Fraction(1)


def log_beyond(value: Fraction) -> Fraction:
    """Return a number at least as far from 0 as the logarithm; that of 1 is exact."""
    rounded = Fraction(DIGITS.ln(decimal(value))) * ROUNDED
    return rounded + (value > 1) * TINY - (value < 1) * TINY


def says(claim: Any, number: Fraction, bound: Fraction, gaussian: bool) -> bool:
    """Whether ε (μ² for Gaussian noise) implies a bound on a claim's quantity."""
    rho = (number if gaussian else number**2) / 2
    if "rho" in claim or "order" in claim:
        return rho * Q(claim.get("order", 1)) <= bound or ("order" in claim and not gaussian and number <= bound)
    if gaussian and "mu" not in claim and not Q(claim.get("delta", 0)) > 0:
        return number == 0
    if "mu" in claim or not gaussian or number == 0:
        return number <= (bound if "mu" not in claim else bound**2 if gaussian else 0)
    mu, epsilon = math.sqrt(number), float(bound)
    tails = [math.erfc((epsilon / mu - side * mu / 2) / math.sqrt(2)) / 2 for side in (1, -1)]
    return bool(tails[0] - math.exp(epsilon) * tails[1] + 1e-15 <= claim.get("delta", 0) * (1 + 1e-6))
