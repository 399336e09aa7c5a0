"""Checks the rule ``chain``: comparisons with one Gaussian value, the centre, that end at the first value on the far side.

Let x' run on t + c in place of t, with c so large that values on the near side stay there. For each t that costs
κ = e^ε φ(t + c)/φ(t), and the value that ends the chain moves by at most η of its deviations. If the rest of the chain loses V,
this value makes it at most V + (1 − V) H(η, ln κ − ln(1 − V)), where H(η, s) is the δ of one Gaussian that moves by η, at s. The
end loses max(0, 1 − κ). All of it rises with t, so cells of t, each with the loss at its upper end, sum to at least δ.
"""

import math
from fractions import Fraction
from typing import Any

from auditor.proofs.checked_numbers import Q, need

CELLS, FAR, MARGIN = 2000, 9.0, 1e-9  # of the centre; its deviations that are looked at; room for floating point
FARTHEST = 1e6


def delta_of_chain(paths: Any, moves: Any, noise: Any, epsilon: Fraction) -> float:
    """Return a bound on δ. ``paths`` are the conditions of each path, and ``moves`` how neighbours differ."""
    ordered = sorted(paths, key=len)
    centres = set.intersection(*({*form} for path in paths for form, _ in path)) & noise.keys() if all(paths) else set()
    for centre in sorted(centres):
        for some in (ordered, [*ordered[:-2], ordered[-1], ordered[-2]]):
            near = _in_order(some, centre, noise)
            if near is not None:
                return _lost(*moved(near, centre, moves, noise), epsilon)
    need(False, "a chain of comparisons with one Gaussian value")
    raise AssertionError


def _in_order(paths: Any, centre: str, noise: Any) -> dict[str, dict[str, Fraction]] | None:
    """Return what keeps each value on the near side, if each path but the last ends at its value, and the last ends at none."""
    near: dict[str, dict[str, Fraction]] = {}
    for at, path in enumerate(paths):
        rows = {}
        for form, _ in path:
            [value, *more] = [name for name in form if name in noise and name != centre and Q(form[name])] or [""]
            if more or value in rows or centre not in form or noise.get(value, [""])[0] != "normal":
                return None
            rows[value] = {name: Q(factor) / abs(Q(form[value])) for name, factor in form.items() if Q(factor)}
        new = [value for value in rows if value not in near]
        kept = all(rows.get(value) == row for value, row in near.items())
        if not kept or len(new) != (at < len(paths) - 1) or noise[centre][0] != "normal":
            return None
        near |= {value: {name: -factor for name, factor in rows[value].items()} for value in new}
    signs = {row.get(centre, Fraction(0)) > 0 for row in near.values()}
    return near if len(signs) == 1 and all(centre in row for row in near.values()) else None


def moved(near: Any, centre: str, moves: Any, noise: Any) -> tuple[float, list[float]]:
    """Return by how many deviations the centre moves, and each value at most against it."""
    spans = {}
    for value, row in near.items():
        data = {name: factor for name, factor in row.items() if name not in ("", centre, value)}
        need(all(name in moves[0][0] for name in data), "a symbol")
        by = [[sum(factor * one.get(name, 0) for name, factor in data.items()) for one in move] for move in moves]
        ends = [first + sign * sum(map(abs, sides)) for first, *sides in by for sign in (1, -1)]
        spans[value] = (min(ends), max(ends))
    far = max([Fraction(0), *(-spans[value][0] / abs(row[centre]) for value, row in near.items())])
    reach = [
        max(Fraction(0), far * abs(row[centre]) + spans[value][1]) / Q(noise[value][1]) for value, row in near.items()
    ]
    return float(far / Q(noise[centre][1])), [float(one) for one in reach]


def phi(x: float) -> float:
    """Return the probability of a standard Gaussian number below x."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _lost(centre: float, reach: list[float], epsilon: Fraction) -> float:
    """Return a bound on δ, for a centre that moves so far and values that move at most so far."""
    need(all(0 <= one <= FARTHEST for one in (centre, *reach, float(epsilon))), "numbers that doubles can compute with")
    total = 2 * phi(-FAR)
    for cell in range(CELLS):
        start, end = (-FAR + 2 * FAR * (cell + by) / CELLS for by in (0, 1))
        cost = float(epsilon) - centre * centre / 2 - centre * end
        share = max(0.0, -math.expm1(cost))
        for by in reversed(reach):
            rest = min(50.0, cost - math.log1p(-min(share, 1 - 1e-12)))
            one = phi(by / 2 - rest / by) - math.exp(rest) * phi(-by / 2 - rest / by) if by else 0.0
            share = min(1.0, share + (1 - share) * max(one, -math.expm1(rest), 0.0) + 1e-12)
        total += (phi(end) - phi(start) if end < 0 else phi(-start) - phi(-end)) * share
    return total + MARGIN
