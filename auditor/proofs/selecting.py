"""A selection with Gaussian noise that no rule proves: a bound on δ by quadrature, or a pair that breaks the claim.

No certificate can be checked for such a bound yet, so nothing is proved by it. The reason of a failed proof says what it is.
"""

from fractions import Fraction

from auditor.claims import ApproximateDP
from auditor.neighbours.domains import Domain
from auditor.neighbours.pair import Pair
from auditor.proofs.domains_as_data import Vectors
from auditor.proofs.form import INPUT, Form
from auditor.proofs.moves import Box, Hull
from auditor.proofs.selections import bound
from auditor.proofs.stars import DataRange, Enclosed, Halfspace, Selection, StarPath
from auditor.proofs.trace import Trace


def selection_of(trace: Trace) -> Selection | None:
    """Return a trace as a selection: constants as outputs, and decisions on Gaussian noise alone; None for any other."""
    outputs: dict[str, list[StarPath]] = {}
    for path in trace.paths:
        if path.labels or any(isinstance(leaf, Form) for leaf in path.leaves):
            return None
        rows = []
        for condition in path.conditions:
            terms = condition.form.terms
            noise = {name: value for name, value in terms.items() if trace.names.laws.get(name, ("",))[0] == "normal"}
            data = {int(name[1:]): value for name, value in terms.items() if name[0] == INPUT}
            if not noise or len(noise) + len(data) < len(terms):
                return None
            rows.append(Halfspace(noise, data, condition.form.constant))
        outputs.setdefault(f"{path.structure} {path.leaves}", []).append(tuple(rows))
    deviations = {name: Fraction(law[1]) for name, law in trace.names.laws.items() if law[0] == "normal"}
    return Selection(tuple(map(tuple, outputs.values())), deviations)


def known_of(
    trace: Trace, vectors: Vectors, claim: ApproximateDP, moves: Box | Hull, deadline: float
) -> Enclosed | None:
    """Return the bounds on δ at the claimed ε; None if the trace is not a selection."""
    selection = selection_of(trace)
    if selection is None or len(trace.paths) < 2:
        return None
    ends = [[Fraction(number) for number in side] for side in _box_of(moves)]
    space = DataRange(vectors.low, vectors.high, vectors.integer, tuple(ends[0]), tuple(ends[1]))
    if isinstance(moves, Hull) and moves.alone:
        steps = tuple(tuple(map(Fraction, point)) for point in moves.points)
        space = DataRange(vectors.low, vectors.high, vectors.integer, steps=steps)
    return bound(selection, space, Fraction(claim.epsilon), claim.delta, deadline)


def _box_of(moves: Box | Hull) -> tuple[tuple[Fraction | int, ...], tuple[Fraction | int, ...]]:
    """Return the least box that holds all differences."""
    if isinstance(moves, Box):
        return moves.low, moves.high
    columns = list(zip(*moves.points, strict=True))
    return tuple(map(min, columns)), tuple(map(max, columns))


def words(found: Enclosed, delta: float) -> str:
    """Say what is known."""
    if found.above is not None and found.above <= delta:
        return (
            f"by quadrature, δ is at most {found.above:.2g} at the claimed ε; no certificate of this can be checked yet"
        )
    if found.below > delta:
        return f"by quadrature, δ is at least {found.below:.2g} at the claimed ε"
    return f"by quadrature nothing is decided: {found.sentence}"


def pair_of(found: Enclosed, domain: Domain, integer: bool) -> Pair | None:
    """Return the pair of the domain with the largest δ."""
    if found.pair is None:
        return None
    kind = int if integer else float
    left, right = ([kind(number) for number in side] for side in found.pair)
    return domain.moved(left, [b - a for a, b in zip(left, right, strict=True)])
