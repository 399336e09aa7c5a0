"""Explains why a proof failed: the source line, the output and a pair of data sets."""

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair
from dp_prover.domains.domains_as_data import Vectors, moved
from dp_prover.interfaces import Path
from dp_prover.models.values import Term, at_numbers
from dp_prover.numbers.form import NOISE, Form
from dp_prover.numbers.linear import solve
from dp_prover.rules.alignment import Aligned, Aligner, Failure, gap

DATA = "looks at data without noise that could hide them"


def cost_of(cells: Sequence[Aligned]) -> Fraction:
    """Return the cost of the most expensive cell."""
    return max(aligned.cost for aligned in cells)


def pair_inside(domain: Domain, vectors: Vectors, failure: Failure) -> Pair | None:
    """Return a pair of the domain with a failure's difference, on which the failing cell is likely.

    Its data come as close to the cell's noiseless conditions as they can, or else lie in the middle of their ranges.
    """
    given = [row.left for row in failure.cell.rows]
    # Data values are counted from the lowest that leaves room for the difference.
    starts = [low - min(d, Fraction(0)) for low, d in zip(vectors.low, failure.difference, strict=True)]
    widths = [high - low - abs(d) for low, high, d in zip(vectors.low, vectors.high, failure.difference, strict=True)]
    if any(width < 0 for width in widths):
        return None
    slopes = [{at: form.terms[f"x{at}"] for at in range(len(starts)) if f"x{at}" in form.terms} for form in given]
    slack = [
        form.constant + sum(value * starts[at] for at, value in row.items())
        for form, row in zip(given, slopes, strict=True)
    ]
    rows = [(row, -rest) for row, rest in zip(slopes, slack, strict=True) if row]
    inside = [({at: Fraction(-1)}, -width) for at, width in enumerate(widths)]
    costs = [float(sum((row.get(at, Fraction(0)) for row, _ in rows), Fraction(0))) for at in range(len(starts))]
    solution = solve(costs, [*rows, *inside], [], [False] * len(starts)) if rows else None
    middle = [float(width) / 2 for width in widths]
    offsets = middle if solution is None else solution
    left = [float(start) + offset for start, offset in zip(starts, offsets, strict=True)]
    if vectors.integer:
        left = [round(x) for x in left]
    by = [int(d) if vectors.integer else float(d) for d in failure.difference]
    return moved(domain, left, by) or _corner(domain, failure.difference)


def _corner(domain: Domain, difference: Sequence[Fraction]) -> Pair | None:
    """Return a corner of the domain with this difference, in either direction."""
    for pair in domain.corners():
        offsets = [Fraction(b) - Fraction(a) for a, b in zip(pair.left, pair.right, strict=True)]
        if offsets in (list(difference), [-number for number in difference]):
            return pair
    return None


def why(failure: Failure, aligner: Aligner) -> str:
    """Name the source line that prevents a shift."""
    for row in (*failure.cell.rows, *failure.cell.kept):
        noise = {name for name in row.right.terms if name.startswith(NOISE)} & aligner.rates.keys()
        if not noise and failure.difference and (gap(row, failure.difference) < 0 or row.relation == "="):
            moved = gap(row, failure.difference)
            if moved:
                return f"{row.place} {DATA}"
    places = dict.fromkeys(row.place for row in (*failure.cell.rows, *failure.cell.kept))
    return f"no shift of the noise preserves the results at {', '.join(places)} at the same time"


def event_of(path: Path) -> str:
    """Describe a path's output."""
    words = [
        f"a number (from noise {', '.join(n for n in leaf.terms)})" if isinstance(leaf, Form) else leaf
        for leaf in path.leaves
    ]
    return f"output {', '.join(map(str, words))}"


def outputs_of(path: Path) -> tuple[Any, Any] | None:
    """Return two outputs of a path that differ in the symbolic numbers; None if some of these are discrete choices."""
    try:
        return tuple(at_numbers(path.output, functools.partial(_number, share)) for share in (0.25, 0.75))
    except _CoinError:
        return None


class _CoinError(Exception):
    """A discrete draw chooses a number of the output."""


def _number(share: float, value: Any) -> Any:
    if not isinstance(value, Term):
        raise _CoinError
    return share if value.form.terms else float(value.form.constant)
