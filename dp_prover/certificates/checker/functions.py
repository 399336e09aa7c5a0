"""Ranges of functions on intervals. Of an unknown function, the range is everything, which refutes nothing."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from dp_prover.certificates.checker.enclosures import (
    DOWN,
    EVERYWHERE,
    HALF,
    INFINITE,
    ONE,
    UP,
    ZERO,
    Interval,
    logarithm,
    minus,
    over,
    plus,
    power_of_e,
    root,
    times,
)


def value_of(operation: str, arguments: Any) -> Interval:
    """Return the range of an operation, such as ``round[float64]``, on ranges of its arguments."""
    name = operation.partition("[")[0].rpartition(".")[2]
    function = FUNCTIONS.get((name, len(arguments)))
    return EVERYWHERE if function is None else function(*arguments)


def _whole(value: Decimal, rounding: str) -> Decimal:
    return value if abs(value) == INFINITE else value.to_integral_value(rounding)


def _floor(a: Interval) -> Interval:
    return _whole(a[0], ROUND_FLOOR), _whole(a[1], ROUND_FLOOR)


def _ceil(a: Interval) -> Interval:
    return _whole(a[0], ROUND_CEILING), _whole(a[1], ROUND_CEILING)


def _round(a: Interval) -> Interval:
    """Return the nearest integers; halves may go either way."""
    return _whole(DOWN.subtract(a[0], HALF), ROUND_CEILING), _whole(UP.add(a[1], HALF), ROUND_FLOOR)


def _round_to(a: Interval, digits: Interval) -> Interval:
    if digits[0] != digits[1] or digits[0] != _whole(digits[0], ROUND_FLOOR) or abs(digits[0]) > 30:
        return EVERYWHERE
    unit = Decimal(1).scaleb(int(digits[0]))
    low, high = _round(times(a, (unit, unit)))
    return over((low, high), (unit, unit))


def _trunc(a: Interval) -> Interval:
    ends = [_whole(end, ROUND_FLOOR if end > 0 else ROUND_CEILING) for end in a]
    return ends[0], ends[1]


def _absolute(a: Interval) -> Interval:
    if a[0] >= 0:
        return a
    return (ZERO if a[1] > 0 else a[1].copy_negate()), max(a[0].copy_negate(), a[1])


def _sign(a: Interval) -> Interval:
    signs = [ONE if end > 0 else -ONE if end < 0 else ZERO for end in a]
    return signs[0], signs[1]


def _divide(a: Interval, b: Interval) -> Interval:
    return over(a, b) if b[0] > 0 or b[1] < 0 else EVERYWHERE


def _logarithm(a: Interval) -> Interval:
    return logarithm(a) if a[0] >= 0 else EVERYWHERE


def _root(a: Interval) -> Interval:
    return root(a) if a[0] >= 0 else EVERYWHERE


def _sum(a: Interval, b: Interval) -> Interval:
    return EVERYWHERE if {*a, *b} & {*EVERYWHERE} else plus(a, b)


FUNCTIONS: Any = {
    ("maximum", 2): lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    ("minimum", 2): lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    ("floor", 1): _floor,
    ("ceil", 1): _ceil,
    ("rint", 1): _round,
    ("round", 1): _round,
    ("round", 2): _round_to,
    ("trunc", 1): _trunc,
    ("abs", 1): _absolute,
    ("sign", 1): _sign,
    ("exp", 1): power_of_e,
    ("log", 1): _logarithm,
    ("sqrt", 1): _root,
    ("multiply", 2): times,
    ("divide", 2): _divide,
    ("add", 2): _sum,
    ("subtract", 2): lambda a, b: _sum(a, minus((ZERO, ZERO), b)),
}
