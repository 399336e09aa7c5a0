"""Why a proof failed, in words: which line looks at what, and which output it is about."""

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


def cost_of(found: Sequence[Aligned]) -> Fraction:
    """Return the cost of the dearest cell."""
    return max(one.cost for one in found)


def pair_inside(domain: Domain, vectors: Vectors, failure: Failure) -> Pair | None:
    """Return a pair of the domain with the difference of a failure. On it the failing cell's noise is most likely.

    Its data come as close as possible to the cell's conditions without noise. Otherwise they are in the middle of their ranges.
    """
    given = [row.left for row in failure.cell.rows]
    # The data above the lowest that allows for the difference, of a range that allows for it.
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
    found = solve(costs, [*rows, *inside], [], [False] * len(starts)) if rows else None
    middle = [float(width) / 2 for width in widths]
    offsets = middle if found is None else found
    left = [float(start) + offset for start, offset in zip(starts, offsets, strict=True)]
    if vectors.integer:
        left = [round(x) for x in left]
    by = [int(d) if vectors.integer else float(d) for d in failure.difference]
    return moved(domain, left, by) or _corner(domain, failure.difference)


def _corner(domain: Domain, difference: Sequence[Fraction]) -> Pair | None:
    """Return a corner of a domain whose sides differ by so much, whichever side is called left."""
    for pair in domain.corners():
        found = [Fraction(b) - Fraction(a) for a, b in zip(pair.left, pair.right, strict=True)]
        if found in (list(difference), [-number for number in difference]):
            return pair
    return None


def why(failure: Failure, aligner: Aligner) -> str:
    """Say which line stands in the way."""
    for row in (*failure.cell.rows, *failure.cell.kept):
        noise = {name for name in row.right.terms if name.startswith(NOISE)} & aligner.rates.keys()
        if not noise and failure.difference and (gap(row, failure.difference) < 0 or row.relation == "="):
            moved = gap(row, failure.difference)
            if moved:
                return f"{row.place} {DATA}"
    places = dict.fromkeys(row.place for row in (*failure.cell.rows, *failure.cell.kept))
    return f"no shift of the noise keeps the results at {', '.join(places)} all at once"


def event_of(path: Path) -> str:
    """Return the output of a path in words."""
    words = [
        f"a number (from noise {', '.join(n for n in leaf.terms)})" if isinstance(leaf, Form) else leaf
        for leaf in path.leaves
    ]
    return f"output {', '.join(map(str, words))}"


def outputs_of(path: Path) -> tuple[Any, Any] | None:
    """Return two outputs of a path that differ in the numbers with symbols; None if coins choose some of these numbers."""
    try:
        return tuple(at_numbers(path.output, functools.partial(_number, share)) for share in (0.25, 0.75))
    except _CoinError:
        return None


class _CoinError(Exception):
    """A place of an output is chosen by a coin."""


def _number(share: float, value: Any) -> Any:
    if not isinstance(value, Term):
        raise _CoinError
    return share if value.form.terms else float(value.form.constant)
