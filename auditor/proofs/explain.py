"""Why a proof failed, in words: which line looks at what, and which output it is about."""

from collections.abc import Sequence
from fractions import Fraction

from auditor.neighbours.moves import Box, Hull
from auditor.proofs.alignment import Aligned, Aligner, Failure, gap
from auditor.proofs.cells import Cell
from auditor.proofs.form import NOISE, Form
from auditor.proofs.trace import Trace

DATA = "looks at data without noise that could hide them"


def cost_of(found: Sequence[Aligned]) -> Fraction:
    """Return the cost of the dearest cell."""
    return max(one.cost for one in found)


def worst_difference(aligned: Aligned, moves: Box | Hull) -> tuple[Fraction, ...]:
    """Return the difference of data at which the noise of a cell moves furthest."""
    if aligned.shifts:
        return max(aligned.shifts, key=lambda shift: sum(map(abs, shift.by.values()), Fraction(0))).difference
    return tuple(map(Fraction, moves.high)) if isinstance(moves, Box) else ()


def why(failure: Failure, aligner: Aligner) -> str:
    """Say which line stands in the way."""
    for row in (*failure.cell.rows, *failure.cell.kept):
        noise = {name for name in row.right.terms if name.startswith(NOISE)} & aligner.rates.keys()
        if not noise and failure.difference and (gap(row, failure.difference) < 0 or row.relation == "="):
            moved = gap(row, failure.difference)
            if moved:
                return f"{row.place} {DATA}"
    places = dict.fromkeys(row.place for row in (*failure.cell.rows, *failure.cell.kept))
    return f"no shift of the noise keeps what is seen at {', '.join(places)} all at once"


def event_of(found: Trace, cell: Cell) -> str:
    """Return the output of a cell in words."""
    path = found.paths[cell.left[0]]
    words = [
        f"a number (from noise {', '.join(n for n in leaf.terms)})" if isinstance(leaf, Form) else leaf
        for leaf in path.leaves
    ]
    return f"output {', '.join(map(str, words))}"
