"""The checker's interval arithmetic: decimals rounded outwards, and the probabilities of noise distributions.

An interval is a pair of decimals that encloses a real number. Noise parameters, probabilities and constants were computed in
floating point, so each is widened by what such computations round.
"""

import functools
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dp_prover.certificates.checker.exact_numbers import Q, need

Interval = tuple[Decimal, Decimal]
DIGITS = 40
DOWN, UP = (Context(DIGITS, rounding, MIN_EMIN, MAX_EMAX) for rounding in (ROUND_FLOOR, ROUND_CEILING))
FINE_DOWN, FINE_UP = (Context(2 * DIGITS, rounding, MIN_EMIN, MAX_EMAX) for rounding in (ROUND_FLOOR, ROUND_CEILING))
ZERO, HALF, ONE, INFINITE = Decimal(0), Decimal("0.5"), Decimal(1), Decimal("Infinity")
EVERYWHERE: Interval = (-INFINITE, INFINITE)
CERTAIN: Interval = (ONE, ONE)
NEVER: Interval = (ZERO, ZERO)
FARTHEST = Decimal(10**6)  # exponents beyond this are rounded to it
# How far rounding may have moved a constant, a scale, and a probability. Smaller integers are exact.
OF_CONSTANT, OF_SCALE, OF_SHARE = Fraction(1, 2**45), Fraction(1, 2**40), Fraction(1, 2**50)
EXACT = 2**30
SMALLEST = Decimal(f"1e-{2 * DIGITS}")  # a term at which a series is cut
CENTRAL = Decimal(10)  # where the two expansions of the normal distribution meet


def enclosed(low: Fraction, high: Fraction) -> Interval:
    """Return an interval that holds all numbers between two rationals."""
    return (
        DOWN.divide(Decimal(low.numerator), Decimal(low.denominator)),
        UP.divide(Decimal(high.numerator), Decimal(high.denominator)),
    )


@functools.lru_cache(100_000)
def constant(text: Any) -> Interval:
    """Return a constant of a certificate, widened by its rounding."""
    value = Q(text)
    room = Fraction(0) if value.denominator == 1 and abs(value) <= EXACT else abs(value) * OF_CONSTANT
    return enclosed(value - room, value + room)


@functools.lru_cache(100_000)
def exactly(text: Any) -> Interval:
    """Return a number of a certificate that nothing rounded."""
    return enclosed(Q(text), Q(text))


@functools.lru_cache(100_000)
def share(text: Any) -> Interval:
    """Return a probability of a certificate, widened by its rounding."""
    value = Q(text)
    need(0 <= value <= 1, "a probability")
    room = OF_SHARE + value * OF_CONSTANT
    return CERTAIN if value == 1 else enclosed(max(value - room, Fraction(0)), min(value + room, Fraction(1)))


def plus(a: Interval, b: Interval) -> Interval:
    """Return a sum."""
    return DOWN.add(a[0], b[0]), UP.add(a[1], b[1])


def negative(a: Interval) -> Interval:
    """Return the negative of an interval."""
    return a[1].copy_negate(), a[0].copy_negate()


def minus(a: Interval, b: Interval) -> Interval:
    """Return a difference."""
    return plus(a, negative(b))


def _times(context: Context, a: Decimal, b: Decimal) -> Decimal:
    return ZERO if not a or not b else context.multiply(a, b)  # 0 times an unbounded number of the interval is 0


def times(a: Interval, b: Interval) -> Interval:
    """Return a product."""
    if a[0] >= 0 and b[0] >= 0:
        return _times(DOWN, a[0], b[0]), _times(UP, a[1], b[1])
    return (
        min(_times(DOWN, x, y) for x in a for y in b),
        max(_times(UP, x, y) for x in a for y in b),
    )


def over(a: Interval, b: Interval) -> Interval:
    """Return a quotient; the divisor must not hold 0."""
    need(b[0] > 0 or b[1] < 0, "a divisor")
    if b[1] < 0:
        a, b = negative(a), negative(b)
    ends = [INFINITE if y == INFINITE else y for y in b]
    below = ends[1] if a[0] >= 0 else ends[0]
    above = ends[0] if a[1] >= 0 else ends[1]
    low = ZERO if below == INFINITE else DOWN.divide(a[0], below)
    high = ZERO if above == INFINITE else UP.divide(a[1], above)
    return low, high


def power_of_e(a: Interval) -> Interval:
    """Return the exponential."""
    low, high = (max(min(end, FARTHEST), -FARTHEST) for end in a)
    below = DOWN.next_minus(DOWN.exp(low)) if a[0] >= -FARTHEST else ZERO
    above = UP.next_plus(UP.exp(high)) if a[1] <= FARTHEST else INFINITE
    return max(below, ZERO) if a[0] else ONE, above if a[1] else ONE


def logarithm(a: Interval) -> Interval:
    """Return the logarithm of a positive number, or of 0."""
    need(a[0] >= 0, "a logarithm")
    low = -INFINITE if not a[0] else DOWN.next_minus(DOWN.ln(a[0])) if a[0] != 1 else ZERO
    high = -INFINITE if not a[1] else UP.next_plus(UP.ln(a[1])) if a[1] != 1 else ZERO
    return low, high


def root(a: Interval) -> Interval:
    """Return the square root."""
    need(a[0] >= 0, "a square root")
    return max(DOWN.next_minus(DOWN.sqrt(a[0])), ZERO), UP.next_plus(UP.sqrt(a[1]))


def between(a: Interval, b: Interval) -> Interval:
    """Return b − a for two probabilities of which b is the larger."""
    low, high = minus(b, a)
    return max(low, ZERO), min(max(high, ZERO), ONE)


# Distributions -----------------------------------------------------------------------------------------------------------


@functools.cache
def _pi() -> Interval:
    """Return π = 16 arctan(1/5) − 4 arctan(1/239), in integers."""
    unit = 10 ** (3 * DIGITS)

    def arctan(inverse: int) -> tuple[int, int]:
        power, total, at = unit // inverse, 0, 0
        while power:
            total += (-1) ** at * (power // (2 * at + 1))
            power, at = power // inverse**2, at + 1
        return total - 2 * at - 2, total + 2 * at + 2  # each term is cut by less than 1 twice

    (a, b), (c, d) = arctan(5), arctan(239)
    low, high = 16 * a - 4 * d, 16 * b - 4 * c
    return FINE_DOWN.divide(Decimal(low), Decimal(unit)), FINE_UP.divide(Decimal(high), Decimal(unit))


@functools.cache
def _fine_root_of_two_pi() -> Interval:
    low, high = _pi()
    low, high = FINE_DOWN.multiply(low, Decimal(2)), FINE_UP.multiply(high, Decimal(2))
    return FINE_DOWN.next_minus(FINE_DOWN.sqrt(low)), FINE_UP.next_plus(FINE_UP.sqrt(high))


def _density(z: Decimal) -> Interval:
    """Return the normal density."""
    half = FINE_DOWN.multiply(FINE_DOWN.multiply(z, z), HALF), FINE_UP.multiply(FINE_UP.multiply(z, z), HALF)
    low = FINE_DOWN.next_minus(FINE_DOWN.exp(half[1].copy_negate()))
    high = FINE_UP.next_plus(FINE_UP.exp(half[0].copy_negate()))
    below, above = _fine_root_of_two_pi()
    return max(FINE_DOWN.divide(low, above), ZERO), FINE_UP.divide(high, below)


@functools.lru_cache(100_000)
def normal_tail(z: Decimal) -> Interval:
    """Return P[N(0, 1) > z] for z ≥ 0."""
    if z > 10**4:
        return ZERO, normal_tail(Decimal(10**4))[1]
    density = _density(z)
    if z < CENTRAL:
        # P[0 < N < z] = φ(z) Σ z^(2k+1) / (2k+1)!!, whose terms are positive, and fall by z²/(2k+3) from one to the next.
        low = high = term_low = term_high = z
        square, at = (FINE_DOWN.multiply(z, z), FINE_UP.multiply(z, z)), 1
        while term_high > SMALLEST or square[1] > at:
            at += 1
            term_low = FINE_DOWN.divide(FINE_DOWN.multiply(term_low, square[0]), Decimal(2 * at - 1))
            term_high = FINE_UP.divide(FINE_UP.multiply(term_high, square[1]), Decimal(2 * at - 1))
            low, high = FINE_DOWN.add(low, term_low), FINE_UP.add(high, term_high)
        high = FINE_UP.add(high, term_high)  # all further terms: each is at most half of the one before
        inside = FINE_DOWN.multiply(density[0], low), FINE_UP.multiply(density[1], high)
        return max(DOWN.subtract(HALF, inside[1]), ZERO), UP.subtract(HALF, inside[0])
    # φ(z)/z (1 − 1/z² + 3/z⁴ − …), which lies between any two successive partial sums.
    inverse = over(CERTAIN, (DOWN.multiply(z, z), UP.multiply(z, z)))
    total, term, at = CERTAIN, CERTAIN, 1
    sums = [total]
    while at < min(int(z) ** 2 // 2 - 1, 2 * DIGITS):
        term = times(term, times(inverse, (Decimal(2 * at - 1),) * 2))
        total = minus(total, term) if at % 2 else plus(total, term)
        sums, at = [sums[-1], total], at + 1
    bracket = min(end for some in sums for end in some), max(end for some in sums for end in some)
    return times(times(density, bracket), over(CERTAIN, (z, z)))


def _normal(a: Decimal, b: Decimal) -> Interval:
    if a >= 0:
        return between(_tail_of(b), _tail_of(a))
    if b <= 0:
        return _normal(b.copy_negate(), a.copy_negate())
    return minus(CERTAIN, plus(_tail_of(a.copy_negate()), _tail_of(b)))


def _tail_of(z: Decimal) -> Interval:
    return NEVER if z == INFINITE else normal_tail(z)


def normal_below(z: Decimal) -> Interval:
    """Return P[N(0, 1) < z]."""
    return normal_tail(z.copy_negate()) if z <= 0 else between(normal_tail(z), CERTAIN)


def _falling(z: Decimal) -> Interval:
    return NEVER if z == INFINITE else power_of_e((z.copy_negate(),) * 2)


def _exponential(a: Decimal, b: Decimal) -> Interval:
    return between(_falling(max(b, ZERO)), _falling(max(a, ZERO)))


def _laplace(a: Decimal, b: Decimal) -> Interval:
    if a >= 0:
        low, high = _exponential(a, b)
        return DOWN.divide(low, Decimal(2)), UP.divide(high, Decimal(2))
    if b <= 0:
        return _laplace(b.copy_negate(), a.copy_negate())
    return plus(_laplace(ZERO, a.copy_negate()), _laplace(ZERO, b))


def _logistic_tail(z: Decimal) -> Interval:
    """Return 1 / (1 + e^z) for z ≥ 0."""
    falling = _falling(z)
    return over(falling, plus(CERTAIN, falling))


def _logistic(a: Decimal, b: Decimal) -> Interval:
    if a >= 0:
        return between(_logistic_tail(b), _logistic_tail(a))
    if b <= 0:
        return _logistic(b.copy_negate(), a.copy_negate())
    return minus(CERTAIN, plus(_logistic_tail(a.copy_negate()), _logistic_tail(b)))


def _gumbel_below(z: Decimal) -> Interval:
    if z in EVERYWHERE:
        return NEVER if z < 0 else CERTAIN
    return power_of_e(negative(power_of_e((z.copy_negate(),) * 2)))


def _gumbel(a: Decimal, b: Decimal) -> Interval:
    if a >= 20:  # 1 − e^−x lies between x − x²/2 and x
        rates = [NEVER if z == INFINITE else power_of_e((z.copy_negate(),) * 2) for z in (a, b)]
        above = [(DOWN.subtract(low, UP.multiply(high, high)), high) for low, high in rates]
        return between(above[1], above[0])
    return between(_gumbel_below(a), _gumbel_below(b))


STANDARD = {
    "laplace": _laplace,
    "normal": _normal,
    "exponential": _exponential,
    "logistic": _logistic,
    "gumbel": _gumbel,
}
LATTICE = {"geometric"}


def scale_of(law: str, parameter: Any) -> Interval:
    """Return the scale of a distribution, widened by its rounding; for geometric noise, −ln(1 − p)."""
    value = Q(parameter)
    if law == "geometric":
        need(0 < value < 1, "a chance of success")
        room = OF_SHARE + min(value, 1 - value) * OF_CONSTANT
        need(room < min(value, 1 - value), "a chance of success that rounding leaves")
        return negative(logarithm(enclosed(1 - value - room, 1 - value + room)))
    need(value > 0 and (law in STANDARD or (law == "uniform" and value == 1)), "a distribution")
    return CERTAIN if law == "uniform" else enclosed(value * (1 - OF_SCALE), value * (1 + OF_SCALE))


@functools.lru_cache(200_000)
def probability(law: str, scale: Interval, low: Decimal, high: Decimal) -> Interval:
    """Return the probability that noise lies between two numbers, which are integers or infinite for geometric noise."""
    if low > high:
        return NEVER
    if law == "geometric":
        # P[n ≥ a] = (1 − p)^(a − 1)
        tails = [NEVER if end == INFINITE else _fallen(scale, end) for end in (DOWN.subtract(max(low, ONE), ONE), high)]
        return between(tails[1], tails[0]) if high >= 1 else NEVER
    if law == "uniform":
        top, bottom = min(high, ONE), max(low, ZERO)
        if top < bottom:
            return NEVER
        room = enclosed(-OF_SHARE, OF_SHARE)
        width = plus((DOWN.subtract(top, bottom), UP.subtract(top, bottom)), room)
        return CERTAIN if low <= 0 and high >= 1 else (max(width[0], ZERO), min(width[1], ONE))
    exact = STANDARD[law]
    ends = [(end, end) if end in EVERYWHERE else over((end, end), scale) for end in (low, high)]
    outer, inner = exact(ends[0][0], ends[1][1]), (ends[0][1], ends[1][0])
    return (exact(*inner)[0] if inner[0] < inner[1] else ZERO), outer[1]


def _fallen(rate: Interval, times_: Decimal) -> Interval:
    return power_of_e(negative(times(rate, (times_, times_))))
