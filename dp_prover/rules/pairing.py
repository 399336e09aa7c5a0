"""Pairs the paths of two traces: which left path maps to which right one, at what cost, and what δ pays for.

Three ways are tried. (1) Paths map to paths with the same output and the same discrete outcomes. (2) The right side's draws are
renamed, since one more record may mean one more draw: noise of the same distribution is exchangeable. (3) Discrete outcomes may
change: path i of probability m_i moves w_ij to path j at the cost c_ij, where Σ_j w_ij ≥ m_i. Then P ≤ e^ε P' if
Σ_i w_ij e^(c_ij) ≤ e^ε m_j for each j. (Amplification by subsampling is such a mixture.)

Noise that only one side draws may be assumed to stay within a limit; the probability that it does not counts towards δ. (A
stability histogram releases a key that only one record has only if its noise exceeds the threshold.)
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dp_prover.interfaces import Condition, Names, Path, Trace
from dp_prover.numbers.form import NOISE, OPAQUE, Form
from dp_prover.numbers.linear import Sparse, solve
from dp_prover.numbers.logarithms import exp_above, log_above
from dp_prover.numbers.moves import Box, Hull
from dp_prover.rules.alignment import Aligned, Aligner, Failure
from dp_prover.rules.explain import cost_of, why
from dp_prover.rules.path_cells import Cell, cells, crossed

MOST_CROSSED = 600  # pairs of paths in a mixture
FINE = 10**12  # the largest denominator of a weight


@dataclass(frozen=True, slots=True)
class Matched:
    """A pairing of two traces' paths: its cells and their largest cost.

    ``assumed`` are conditions on the noise, which fail with probability ``lost``. ``names`` renames the right side's noise.
    """

    cells: Sequence[Aligned]
    cost: Fraction
    assumed: tuple[Condition, ...] = ()
    lost: Fraction = Fraction(0)
    names: Mapping[str, str] = field(default_factory=dict)


class NotMatchedError(Exception):
    """Some paths have no counterpart: the reason, and where."""

    def __init__(self, reason: str, failure: Failure | None = None, path: Path | None = None) -> None:
        super().__init__(reason)
        self.failure, self.path = failure, path


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs the paths of traces. ``delta`` is the probability with which assumptions on noise may fail."""

    aligner: Aligner
    delta: Fraction

    def match(self, left: Trace, right: Trace, moves: Box | Hull, listed: bool) -> Matched:
        """Return the cheapest pairing that the three ways yield. Raises NotMatchedError if none does."""
        best: Matched | None = None
        failure: NotMatchedError | None = None
        for attempt in self._attempts(left, right, moves, listed):
            try:
                matched = attempt()
            except NotMatchedError as error:
                failure = failure or error
                continue
            if matched is not None and (best is None or matched.cost < best.cost):
                best = matched
            if best is not None and best.cost <= self.aligner.goal:
                break
        if best is not None:
            return best
        assert failure is not None
        raise failure

    def _attempts(self, left: Trace, right: Trace, moves: Box | Hull, listed: bool):  # type: ignore[no-untyped-def]
        yield lambda: self._plain(left, right, moves, {})
        if not listed:
            return
        for names in noise_renamings(left, right):
            other = rename_noise(right, names)
            if other is not None:
                yield lambda names=names, other=other: self._plain(left, other, moves, names)
        if any(path.labels for trace in (left, right) for path in trace.paths):
            for names in ({}, *noise_renamings(left, right)):
                other = rename_noise(right, names) if names else right
                if other is not None:
                    yield lambda names=names, other=other: self._mixed(left, other, moves, names)

    # Equal discrete outcomes -----------------------------------------------------------------------------------------

    def _plain(self, left: Trace, right: Trace, moves: Box | Hull, names: Mapping[str, str]) -> Matched:
        assumed, lost = self._likely(left, right)
        if assumed:
            paths = (replace(path, conditions=(*path.conditions, *assumed)) for path in left.paths)
            left = Trace(left.names, tuple(paths))
        aligned: list[Aligned] = []
        for group, ways in cells(left, right):
            aligned += self._cheapest(left, right, group, ways, moves)
        return Matched(aligned, cost_of(aligned), assumed, lost, names)

    def _likely(self, left: Trace, right: Trace) -> tuple[tuple[Condition, ...], Fraction]:
        """Return assumptions on noise that only one side draws, and the probability, at most δ, that they fail."""
        ours, theirs = set(_noise_of(left)), set(_noise_of(right))
        assumptions: dict[object, tuple[Condition, Fraction]] = {}
        for condition in (c for trace in (left, right) for path in trace.paths for c in path.conditions):
            mass = _tail(condition, left.names)
            if mass is not None and not (ours ^ theirs).isdisjoint(condition.form.terms):
                turned = Condition(condition.form.negated(), ">=", condition.place)
                assumptions[turned.form.key()] = turned, mass
        total = sum((mass for _, mass in assumptions.values()), Fraction(0))
        if not assumptions or total > self.delta * (1 + Fraction(1, 10**9)):
            return (), Fraction(0)
        return tuple(condition for condition, _ in assumptions.values()), total

    def _cheapest(
        self, left: Trace, right: Trace, group: Sequence[int], ways: Sequence[Sequence[Cell]], moves: Box | Hull
    ) -> list[Aligned]:
        """Return the cheapest alignment of one output's paths."""
        best: list[Aligned] | None = None
        failure: Failure | None = None
        for way in ways:
            cells: list[Aligned] = []
            for cell in way:
                aligned = self.aligner.align(cell, moves)
                if (isinstance(aligned, Failure) or aligned.cost > self.aligner.goal) and len(cell.left) == 1:
                    aligned = self.aligner.empty(cell, left.paths[cell.left[0]].conditions) or aligned
                if isinstance(aligned, Failure):
                    failure = failure or aligned
                    break
                cells.append(aligned)
            else:
                if best is None or cost_of(cells) < cost_of(best):
                    best = cells
                if cost_of(best) <= self.aligner.goal:
                    break
        if best is None:
            none = [self.aligner.empty(Cell((at,), (), (), ()), left.paths[at].conditions) for at in group]
            best = [aligned for aligned in none if aligned is not None] if None not in none else None
        if best is not None:
            return best
        if failure is None:
            raise NotMatchedError(_no_counterpart(left.paths[group[0]], right))
        raise NotMatchedError(why(failure, self.aligner), failure, left.paths[failure.cell.left[0]])

    # Mixtures --------------------------------------------------------------------------------------------------------

    def _mixed(self, left: Trace, right: Trace, moves: Box | Hull, names: Mapping[str, str]) -> Matched | None:
        """Return the best mixture of paths; None without one."""
        if len(left.paths) * len(right.paths) > MOST_CROSSED:
            return None
        costs: dict[tuple[int, int], Aligned] = {}
        for i, j, cell in crossed(left, right):
            aligned = self.aligner.align(cell, moves)
            if isinstance(aligned, Aligned):
                costs[i, j] = aligned
        masses = [[path.mass() for path in trace.paths] for trace in (left, right)]
        weights = _weights({ij: aligned.cost for ij, aligned in costs.items()}, *masses)
        if weights is None:
            return None
        cells_used = [replace(costs[ij], cell=replace(costs[ij].cell, weight=weight)) for ij, weight in weights.items()]
        used: dict[int, Fraction] = {}
        for (i, j), weight in weights.items():
            used[j] = used.get(j, Fraction(0)) + weight * exp_above(costs[i, j].cost)
        largest = max(total / masses[1][j] for j, total in used.items())
        # The checker rounds each term up.
        return Matched(cells_used, max(log_above(largest), Fraction(0)) * (1 + Fraction(1, 10**30)), names=names)


def _weights(
    costs: Mapping[tuple[int, int], Fraction], left: Sequence[Fraction], right: Sequence[Fraction]
) -> dict[tuple[int, int], Fraction] | None:
    """Return the weights w with Σ_j w_ij ≥ m_i and Σ_i w_ij e^(c_ij) ≤ t m_j for the least t."""
    keys = list(costs)
    if {i for i, _ in keys} != set(range(len(left))) or max(costs.values()) > 200:
        return None
    last = len(keys)
    at_least: list[tuple[Sparse, Fraction]] = [
        ({at: Fraction(1) for at, (i, _) in enumerate(keys) if i == path}, mass) for path, mass in enumerate(left)
    ]
    for path, mass in enumerate(right):
        row = {at: -Fraction(math.exp(costs[i, j])) for at, (i, j) in enumerate(keys) if j == path}
        at_least.append(({**row, last: mass}, Fraction(0)))
    answer = solve([0.0] * last + [1.0], at_least, [], [False] * (last + 1))
    if answer is None:
        return None
    weights = {ij: Fraction(max(answer[at], 0.0)).limit_denominator(FINE) for at, ij in enumerate(keys)}
    for path, mass in enumerate(left):
        mine = [ij for ij in keys if ij[0] == path]
        missing = mass - sum(weights[ij] for ij in mine)
        largest = max(mine, key=lambda ij: weights[ij])
        weights[largest] += missing  # corrects the rounding
    return {ij: weight for ij, weight in weights.items() if weight > 0} if min(weights.values()) >= 0 else None


def _no_counterpart(path: Path, right: Trace) -> str:
    """Explain why an output has no counterpart. The same number in another type is another output."""
    ours = _types(path.structure)
    for other in right.paths:
        theirs = _types(other.structure)
        if path.labels == other.labels and len(ours) == len(theirs) and ours != theirs:
            ours_type, theirs_type = next((a, b) for a, b in zip(ours, theirs, strict=True) if a != b)
            if "raises" in (ours_type, theirs_type):
                return "an answer is an exception on one data set, and not on its neighbour"
            return f"an output is a {ours_type} on one data set and a {theirs_type} on its neighbour; convert it to one type"
    return "an output of one data set has no counterpart on its neighbour"


def _types(structure: object) -> list[str]:
    """Return the types in an output, in order."""
    if isinstance(structure, tuple):
        return [text for part in structure for text in _types(part)]
    return [str(structure)]


# Names and tails -----------------------------------------------------------------------------------------------------


def _noise_of(trace: Trace) -> list[str]:
    """Return the noise symbols of all paths, in drawing order."""
    forms = [c.form for path in trace.paths for c in path.conditions]
    forms += [leaf for path in trace.paths for leaf in path.leaves if isinstance(leaf, Form)]
    names = {name for form in forms for name in form.terms if name[0] == NOISE}
    return sorted(names, key=lambda name: [int(part) for part in name[1:].split(".")])


def noise_renamings(left: Trace, right: Trace) -> Iterator[dict[str, str]]:
    """Yield renamings of the right side's draws to the left side's, with one run of draws left out or added."""
    ours, theirs = _noise_of(left), _noise_of(right)
    gap = len(ours) - len(theirs)
    if not ours or not theirs:
        return
    laws = left.names.laws
    for start in range(min(len(ours), len(theirs)) + 1):
        if gap >= 0:
            pairs = list(zip(theirs, [*ours[:start], *ours[start + gap :]], strict=False))
        else:
            kept = [*theirs[:start], *theirs[start - gap :]]
            spare = [name for name in theirs if name not in kept]
            free = [name for name in theirs if name not in ours][: len(spare)]
            pairs = [*zip(kept, ours, strict=False), *zip(spare, free, strict=False)]
        names = dict(pairs)
        whole = len(names) == len(theirs) == len(set(names.values()))
        if whole and all(laws[a] == laws[b] for a, b in names.items()) and any(a != b for a, b in names.items()):
            yield names


def rename_noise(trace: Trace, names: Mapping[str, str]) -> Trace | None:
    """Return a trace with its noise renamed; None if it has opaque terms."""
    forms = [c.form for path in trace.paths for c in path.conditions]
    forms += [leaf for path in trace.paths for leaf in path.leaves if isinstance(leaf, Form)]
    if any(name[0] == OPAQUE for form in forms for name in form.terms):
        return None

    def new(form: Form) -> Form:
        return Form({names.get(name, name): value for name, value in form.terms.items()}, form.constant)

    paths = [
        replace(
            path,
            conditions=tuple(Condition(new(c.form), c.relation, c.place) for c in path.conditions),
            leaves=tuple(new(leaf) if isinstance(leaf, Form) else leaf for leaf in path.leaves),
        )
        for path in trace.paths
    ]
    return Trace(trace.names, tuple(paths))


def _tail(condition: Condition, names: Names) -> Fraction | None:
    """Return the probability of a condition on a single Laplace draw, if it is a tail; None for other conditions."""
    form = condition.form
    law = names.laws.get(next(iter(form.terms), ""), ("",)) if len(form.terms) == 1 else ("",)
    if law[0] != "laplace" or form.constant > 0 or condition.relation == "=":
        return None
    [factor] = form.terms.values()
    return exp_above(form.constant / abs(factor) / Fraction(law[1])) / 2
