"""Linear programs whose solutions are made exact. Floats never decide: the caller verifies what it gets in rationals."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dp_prover.clock import check_time, seconds_left
from dp_prover.numbers.form import Form

if TYPE_CHECKING:
    from scipy.sparse import coo_array

Sparse = Mapping[int, Fraction]  # coefficients by variable index
ZERO = 1e-9  # smaller values count as 0 until they are verified exactly
ROUNDED = 10**6  # largest denominator of a value that no equation determines


def solve(
    costs: Sequence[float],
    at_least: Sequence[tuple[Sparse, Fraction]],
    equal: Sequence[tuple[Sparse, Fraction]],
    integral: Sequence[bool],
) -> list[float] | None:
    """Minimise costs·z over z ≥ 0 with rows·z ≥ limits and rows·z = limits; None if that is infeasible.

    ``integral`` says which variables must be integers.
    """
    from scipy.optimize import linprog  # its import takes as long as a short audit, and finite randomness needs none

    size = len(costs)
    upper, limits = _matrix(at_least, size)
    lower, values = _matrix(equal, size)
    check_time()
    answer = linprog(
        costs,
        A_ub=-upper if at_least else None,
        b_ub=-limits if at_least else None,
        A_eq=lower if equal else None,
        b_eq=values if equal else None,
        integrality=list(map(int, integral)) if any(integral) else None,
        method="highs",
        options={"time_limit": seconds_left()} if seconds_left() < math.inf else None,
    )
    check_time()
    return [float(value) for value in answer.x] if answer.status == 0 else None


def _matrix(
    rows: Sequence[tuple[Sparse, Fraction]], size: int
) -> "tuple[coo_array, np.ndarray[tuple[int], np.dtype[np.float64]]]":
    from scipy.sparse import coo_array

    entries = [(at, column, float(value)) for at, (row, _) in enumerate(rows) for column, value in row.items()]
    places = ([at for at, _, _ in entries], [column for _, column, _ in entries])
    matrix = coo_array(([value for _, _, value in entries], places), shape=(len(rows), size))
    return matrix, np.array([float(limit) for _, limit in rows])


def rational(value: float) -> Fraction:
    """Return the simplest rational that a float may stand for."""
    return Fraction(value).limit_denominator(ROUNDED)


def made_exact(values: Sequence[float], equations: Sequence[tuple[Sparse, Fraction]]) -> list[Fraction] | None:
    """Return rationals near ``values`` that solve the equations exactly; None if there are none.

    Gaussian elimination; variables that no equation determines are rounded. If the equations contradict each other, the result is
    None, and the caller tries again with fewer.
    """
    pivots: list[tuple[int, dict[int, Fraction], Fraction]] = []
    for row, limit in equations:
        check_time()
        terms, rest = dict(row), limit
        for column, other, constant in pivots:
            factor = terms.pop(column, None)
            if factor:
                rest -= factor * constant
                for name, value in other.items():
                    total = terms.get(name, Fraction(0)) - factor * value
                    if total:
                        terms[name] = total
                    else:
                        terms.pop(name, None)
        terms = {name: value for name, value in terms.items() if value}
        if not terms:
            if rest:
                return None
            continue
        column = max(terms, key=lambda name: (abs(values[name]) > 1e-9, abs(terms[name])))
        factor = terms.pop(column)
        pivots.append((column, {name: value / factor for name, value in terms.items()}, rest / factor))
    exact = [rational(value) for value in values]
    for column, others, constant in reversed(pivots):
        check_time()
        exact[column] = constant - sum((value * exact[name] for name, value in others.items()), Fraction(0))
    return exact


def combination(given: Sequence[Form], wanted: Form | None) -> tuple[Fraction, ...] | None:
    """Return λ ≥ 0 such that wanted − Σ λ·given is constant, and as large as possible; None if there is none.

    Without ``wanted``, Σ λ·given is constant and as small as possible, for λ that sum to 1.
    """
    if not given:
        return () if wanted is not None and not wanted.terms else None
    symbols = sorted({name for form in given for name in form.terms} | set(wanted.terms if wanted is not None else ()))
    equal: list[tuple[Sparse, Fraction]] = [
        (
            {at: form.terms[name] for at, form in enumerate(given) if name in form.terms},
            wanted.terms.get(name, Fraction(0)) if wanted is not None else Fraction(0),
        )
        for name in symbols
    ]
    if any(not row and limit for row, limit in equal):
        return None
    if wanted is None:
        equal.append(({at: Fraction(1) for at in range(len(given))}, Fraction(1)))
    equal = [row for row in equal if row[0]]
    matrix, limits = _matrix(equal, len(given))
    only, _, rank, _ = np.linalg.lstsq(matrix.toarray(), limits)
    if rank < len(given):
        values = solve([float(form.constant) for form in given], [], equal, [False] * len(given))
    else:  # at most one solution, which needs no linear program
        fits = np.abs(matrix @ only - limits).max() < ZERO and only.min() > -ZERO
        values = only.tolist() if fits else None
    if values is None:
        return None
    zeros = [({at: Fraction(1)}, Fraction(0)) for at, value in enumerate(values) if value < ZERO]
    exact = made_exact(values, [*zeros, *equal])
    return tuple(exact) if exact is not None and min(exact, default=Fraction(0)) >= 0 else None
