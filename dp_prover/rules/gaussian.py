"""Rule 3: Gaussian noise that the same shift moves on every path.

Let the shift k preserve every condition of every path, and every output. Then M(x') on noise n is M(x) on noise n − k, and by
post-processing the two are no further apart than N(0, Σ) and N(k, Σ): μ² = Σ kᵢ²/σᵢ², with equality if the output consists of the
noisy numbers. The least such k is Σ Aᵀ(AΣAᵀ)⁻¹ b, where A k = b states what is preserved. It is linear in the difference of the
data, so μ² is convex in it, and largest at a vertex.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dp_prover.interfaces import Compared, Trace
from dp_prover.numbers.form import NOISE, Form
from dp_prover.numbers.linear import Sparse, made_exact
from dp_prover.numbers.moves import Box, Hull, Vector
from dp_prover.rules.alignment import Failure, Shift, gap
from dp_prover.rules.path_cells import Cell, KeptRow

MOST_VERTICES = 1024


@dataclass(frozen=True, slots=True)
class Moved:
    """The shift for each vertex of a set of differences, and the largest μ²."""

    squared: Fraction
    shifts: tuple[Shift, ...]


def everything_read(trace: Trace) -> tuple[str, list[Form]]:
    """Return all that any path reads: a text without constants, and the affine forms."""
    texts: list[object] = []
    forms: list[Form] = []
    for path in trace.paths:
        nodes = [node.relations if isinstance(node, Compared) else (node.name, node.outcomes) for node in path.nodes]
        texts.append((path.taken, nodes, path.structure, path.law(), sorted(path.labels.items())))
        for relation, form in [*((c.relation, c.form) for c in path.conditions), *(("", leaf) for leaf in path.leaves)]:
            text, some = trace.names.spelled(form) if isinstance(form, Form) else (form, ())
            texts.append((relation, text))
            forms += some
    return str(texts), forms


def least_shift(left: Trace, right: Trace, moves: Box | Hull) -> Moved | Failure | None:
    """Return the least shifts at the vertices of a set; None for too many vertices, or for paths that differ."""
    (what, ours), (same, theirs) = everything_read(left), everything_read(right)
    if what != same:
        return None
    pairs = {(a.key(), b.key()): KeptRow(a, b, "=", "the output") for a, b in zip(ours, theirs, strict=True)}
    rows = list(pairs.values())
    points = (
        moves.points if isinstance(moves, Hull) else moves.vertices() if 2 ** len(moves.low) <= MOST_VERTICES else None
    )
    if points is None:
        return None
    variances = {name: Fraction(law[1]) ** 2 for name, law in left.names.laws.items() if law[0] == "normal"}
    noise = [{n: v for n, v in row.right.terms.items() if n.startswith(NOISE)} for row in rows]
    products = [_products(row, noise, variances) for row in noise]
    shifts, largest = [], Fraction(0)
    for point in points:
        difference: Vector = tuple(map(Fraction, point))
        gaps = [gap(row, difference) for row in rows]
        shift = _solved(noise, products, gaps, variances)
        if shift is None:
            return Failure(Cell((), (), (), tuple(rows)), difference)
        shifts.append(Shift(difference, shift))
        largest = max(largest, sum((by * by / variances[name] for name, by in shift.items()), Fraction(0)))
    return Moved(largest, tuple(shifts))


def _products(
    row: Mapping[str, Fraction], rows: Sequence[Mapping[str, Fraction]], variances: Mapping[str, Fraction]
) -> Sparse:
    products = {}
    for at, other in enumerate(rows):
        value = sum((a * other[n] * variances[n] for n, a in row.items() if n in other and n in variances), Fraction(0))
        if value:
            products[at] = value
    return products


def _solved(
    noise: Sequence[Mapping[str, Fraction]],
    products: Sequence[Sparse],
    gaps: Sequence[Fraction],
    variances: Mapping[str, Fraction],
) -> dict[str, Fraction] | None:
    weights = made_exact([0.0] * len(noise), [(row, -g) for row, g in zip(products, gaps, strict=True)])
    if weights is None:
        return None
    shift: dict[str, Fraction] = {}
    for weight, row in zip(weights, noise, strict=True):
        for name, value in row.items():
            if name in variances and weight:
                shift[name] = shift.get(name, Fraction(0)) + weight * value * variances[name]
    moved = [
        g + sum((a * shift.get(n, Fraction(0)) for n, a in row.items()), Fraction(0))
        for row, g in zip(noise, gaps, strict=True)
    ]
    return None if any(moved) else {name: by for name, by in shift.items() if by}
