"""Learn the event that will show a difference best: candidates from one half of the outputs, judged on the other.

Every feature is cut into cells. Two orders of the cells are tried: as they lie on the number line (the side shows
in a shift), and by the log-likelihood ratio learned on the first half, after neighbouring cells that do not
differ have been merged (it shows anywhere else). In each order the rule guesses "left" on a top part and "right"
on a bottom part, and the pair of thresholds with the best forecast on the second half wins.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.mechanism import Sample
from auditor.blackbox.outputs import Column, Outputs, concatenate
from auditor.events.cells import Cells, count_cells, readable_edges
from auditor.events.event import ABSTAIN, LEFT, RIGHT, Event
from auditor.events.features import MOST_JOINT_ATOMS, EvidenceSum, Feature, LowestBit, Place, Whole
from auditor.events.logistic import LogisticScore, fit_logistic

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """Counts of many rules at once, as arrays of one shape: hits of the event for the left and for the right side.

    ``left_wins`` are hits of the left event on the left, ``left_losses`` on the right; the right event likewise.
    """

    left_wins: Floats
    left_losses: Floats
    right_wins: Floats
    right_losses: Floats
    trials: int


# What events may look at.
VALUES, BITS = "values", "bits"

Forecast = Callable[[RuleCounts], Floats]

# Intervals a column is cut into at first: 200 put a threshold within 0.5 % of the outputs of its best place, and
# a cell of fewer than 8 outputs tells nothing of its own.
MOST_CELLS = 200
LEAST_IN_CELL = 8
# Atoms ranked one by one; the rarest beyond these are left to abstention.
MOST_ATOMS = 400
# Below this many outputs, regression has nothing to add to the features themselves.
LEAST_TO_LEARN = 200
# A rule that is harder to read must forecast this much more (nats, or this share) to be preferred.
WORTH_COMPLICATING = 0.03


@dataclass(frozen=True, slots=True)
class Choice:
    """An event and the bound it is forecast to give (an estimate, not proved)."""

    test: Event
    forecast: float


def select_event(fit: Sample, judge: Sample, forecast: Forecast, kinds: Sequence[str] = (VALUES,)) -> Choice:
    """Return the event with the best forecast on ``judge`` among those suggested by ``fit``.

    ``kinds`` says what events may look at: VALUES, and BITS, the floating-point representation of numbers.
    Neither sample may serve for the bound. With nothing to learn from, the event guesses left always.
    """
    always = Event(Place("output"), Cells((), (LEFT,), {}, LEFT))
    best = Choice(always, -np.inf)
    for feature in _features(fit, kinds):
        choice = _best_rule(feature, fit, judge, forecast)
        needed = best.forecast if isinstance(feature, Place | LowestBit) else _beaten_at(best.forecast)
        if choice is not None and choice.forecast > needed:
            best = choice
    return best


def _beaten_at(forecast: float) -> float:
    """Return what a more complicated choice must forecast to be preferred."""
    return forecast + WORTH_COMPLICATING * max(1.0, abs(forecast)) if forecast > -np.inf else forecast


def _features(fit: Sample, kinds: Sequence[str]) -> Iterator[Feature]:
    """List features, the simplest first."""
    both = concatenate([fit.left, fit.right])
    places = [column.name for column in both.columns if _varies(column)]
    if BITS in kinds:
        yield from (LowestBit(column.name) for column in both.columns if _has_fractions(column))
    if VALUES not in kinds:
        return
    yield from (Place(name) for name in places)
    if len(places) > 1:
        if _distinct_at_most(both, places, MOST_JOINT_ATOMS):
            yield Whole(tuple(places))
        tables = _informative_tables([Place(name) for name in places], fit)
        if len(tables) > 1:
            yield EvidenceSum(tables)
    if places and fit.left.size + fit.right.size >= LEAST_TO_LEARN:
        learned = fit_logistic(fit)
        if learned is not None:
            yield learned


def _has_fractions(column: Column) -> bool:
    return bool(np.any(column.numbers != np.rint(column.numbers)))


def evidence_scores(fit: Sample) -> Iterator[Feature]:
    """Suggest scores that estimate the log-likelihood ratio (nats): of each place, of all, of the whole output."""
    both = concatenate([fit.left, fit.right])
    places = [column.name for column in both.columns if _varies(column)]
    tables = _informative_tables([Place(name) for name in places], fit)
    yield from (EvidenceSum((table,), f"evidence of {table[0].name}") for table in tables)
    if len(tables) > 1:
        yield EvidenceSum(tables)
    if len(places) > 1 and _distinct_at_most(both, places, MOST_JOINT_ATOMS):
        for table in _informative_tables([Whole(tuple(places))], fit):
            yield EvidenceSum((table,), "evidence of the whole output")


def _informative_tables(features: Sequence[Feature], fit: Sample) -> tuple[tuple[Feature, Cells], ...]:
    tables = [(feature, _evidence_table(feature.extract(fit.left), feature.extract(fit.right))) for feature in features]
    return tuple((f, cells) for f, cells in tables if len({*cells.values, *cells.atoms.values()}) > 1)


def _varies(column: Column) -> bool:
    if column.codes is None:
        return bool(np.any(column.numbers != column.numbers[0]))
    return bool(np.any(column.codes != column.codes[0]) or (column.codes[0] < 0 and np.ptp(column.numbers) > 0))


def _distinct_at_most(outputs: Outputs, places: list[str], most: int) -> bool:
    distinct = 1
    for place in places:
        column = outputs.column(place)
        distinct = max(distinct, len(np.unique(column.numbers[: 10 * most])))
        if distinct > most:
            return False
    return len(Whole(tuple(places)).extract(outputs).atoms) <= min(most, outputs.size // LEAST_IN_CELL)


def _evidence_table(left: Column, right: Column) -> Cells:
    """Learn the log-likelihood ratio (nats, left over right) of each value in a column."""
    pooled = _pool(left, right)
    edges = readable_edges(pooled, _cells_for(len(pooled.numbers)))
    (a, a_atoms), (b, b_atoms) = count_cells(edges, left), count_cells(edges, right)
    ends = merge_cells(a, b)
    merged = _sum_runs(a, ends), _sum_runs(b, ends)
    ratios = _log_ratios(*merged)
    atoms = {
        atom: float(_log_ratios(np.array([a_atoms.get(atom, 0)]), np.array([b_atoms.get(atom, 0)]))[0])
        for atom in pooled.atoms
    }
    return Cells(tuple(edges[end] for end in ends[:-1]), tuple(ratios.tolist()), atoms)


def _best_rule(feature: Feature, fit: Sample, judge: Sample, forecast: Forecast) -> Choice | None:
    fit_left, fit_right = feature.extract(fit.left), feature.extract(fit.right)
    judge_left, judge_right = feature.extract(judge.left), feature.extract(judge.right)
    pooled = _pool(fit_left, fit_right)
    edges = readable_edges(pooled, _cells_for(len(pooled.numbers)))
    a, a_atoms = count_cells(edges, fit_left)
    b, b_atoms = count_cells(edges, fit_right)
    atoms = sorted(pooled.atoms, key=lambda atom: -a_atoms.get(atom, 0) - b_atoms.get(atom, 0))[:MOST_ATOMS]
    atom_ratios = _log_ratios(
        np.array([a_atoms.get(atom, 0) for atom in atoms]), np.array([b_atoms.get(atom, 0) for atom in atoms])
    )
    ends = merge_cells(a, b)
    merged_edges = [edges[end] for end in ends[:-1]]
    merged_ratios = _log_ratios(_sum_runs(a, ends), _sum_runs(b, ends))
    # As they lie on the line, whichever way up: atoms stand in by their ratio, at the ends.
    rising = np.arange(len(edges) + 1.0) / (len(edges) + 1) - 0.5
    all_sides = _pool(fit_left, judge_left), _pool(fit_right, judge_right)
    # Only a feature or an order that was learned from the first half needs the second to itself.
    learned = isinstance(feature, EvidenceSum | LogisticScore) or bool(atoms)
    sides = (judge_left, judge_right) if learned else all_sides
    best: Choice | None = None
    for cut, ranks in ((edges, rising), (edges, -rising), (merged_edges, merged_ratios)):
        is_learned = ranks is merged_ratios
        blocks = _Blocks(cut, ranks, atoms, atom_ratios)
        choice = blocks.best(feature, *((judge_left, judge_right) if is_learned else sides), forecast)
        if choice is not None and (
            best is None or choice.forecast > (_beaten_at(best.forecast) if is_learned else best.forecast)
        ):
            best = choice
    return best


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Cells with a rank each; rules guess left on the highest ranks and right on the lowest."""

    edges: list[float]
    ranks: Floats
    atoms: list[str]
    atom_ranks: Floats

    def best(self, feature: Feature, left: Column, right: Column, forecast: Forecast) -> Choice | None:
        on_left, on_right = self._count(left), self._count(right)
        ranks = np.concatenate([self.ranks, self.atom_ranks])
        order = np.argsort(-ranks, kind="stable")
        m = len(order)
        tops = np.arange(m + 1)
        top_left, top_right = (np.concatenate([[0], np.cumsum(x[order])]) for x in (on_left, on_right))
        bottom_left, bottom_right = (np.concatenate([[0], np.cumsum(x[order][::-1])]) for x in (on_left, on_right))
        i, j = (grid.ravel() for grid in np.meshgrid(tops, tops, indexing="ij"))
        allowed = (i + j <= m) & (i + j > 0)
        i, j = i[allowed], j[allowed]
        seen = RuleCounts(
            top_left[i].astype(float),
            top_right[i].astype(float),
            bottom_right[j].astype(float),
            bottom_left[j].astype(float),
            len(left.numbers) + len(right.numbers),
        )
        values = forecast(seen)
        at = int(np.argmax(values))
        if not values[at] > -np.inf:
            return None
        guess = np.full(m, ABSTAIN)
        guess[order[: i[at]]] = LEFT
        guess[order[m - j[at] :]] = RIGHT
        return Choice(Event(feature, self._rule(guess)), float(values[at]))

    def _count(self, column: Column) -> NDArray[np.int64]:
        cells, atoms = count_cells(self.edges, column)
        return np.concatenate([cells, np.array([atoms.get(atom, 0) for atom in self.atoms], np.int64)])

    def _rule(self, guess: Floats) -> Cells:
        numbers, atoms = guess[: len(self.ranks)].tolist(), guess[len(self.ranks) :].tolist()
        ends = [k for k in range(len(numbers)) if k + 1 == len(numbers) or numbers[k] != numbers[k + 1]]
        return Cells(
            tuple(self.edges[k] for k in ends[:-1]),
            tuple(numbers[k] for k in ends),
            {atom: worth for atom, worth in zip(self.atoms, atoms, strict=True) if worth != ABSTAIN},
        )


def merge_cells(left: NDArray[np.int64], right: NDArray[np.int64]) -> list[int]:
    """Merge neighbouring cells whose sides are mixed alike; return the last cell of each run.

    The best segmentation by likelihood, with a price for each run (dynamic programming over all of them), so
    that a run stands for a difference that the counts support.
    """
    m = len(left)
    a = np.concatenate([[0], np.cumsum(left)]).astype(np.float64)
    b = np.concatenate([[0], np.cumsum(right)]).astype(np.float64)
    # A false split gains a χ²/2 with one degree of freedom, the best of about m of them ln m.
    price = 1.0 + np.log(m)
    best = np.zeros(m + 1)
    came_from = np.zeros(m + 1, np.intp)
    for end in range(1, m + 1):
        likelihood = _log_likelihood(a[end] - a[:end], b[end] - b[:end])
        total = best[:end] + likelihood - price
        came_from[end] = np.argmax(total)
        best[end] = total[came_from[end]]
    ends, end = [], m
    while end > 0:
        ends.append(end - 1)
        end = int(came_from[end])
    return ends[::-1]


def _log_likelihood(left: Floats, right: Floats) -> Floats:
    from scipy.special import xlogy

    total = left + right
    return np.asarray(xlogy(left, left) + xlogy(right, right) - xlogy(total, total))


def _log_ratios(left: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
    """Return ln of left over right, each with half an output more, which keeps it finite."""
    return np.asarray(np.log((left + 0.5) / (right + 0.5)))


def _sum_runs(counts: NDArray[np.int64], ends: list[int]) -> NDArray[np.int64]:
    return np.diff(np.concatenate([[0], np.cumsum(counts)[ends]]))


def _pool(left: Column, right: Column) -> Column:
    sides = [Outputs(len(c.numbers), (c,)) for c in (left, right)]
    return concatenate(sides).columns[0]


def _cells_for(outputs: int) -> int:
    return int(min(MOST_CELLS, max(2, outputs // LEAST_IN_CELL)))
