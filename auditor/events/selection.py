"""Learn the event that will show a difference best: candidates from one half of the outputs, judged on the other.

Every feature is cut into cells. Two orders of the cells are tried: as they lie on the number line (the side shows
in a shift), and by the log-likelihood ratio learned on the first half, after neighbouring cells that do not
differ have been merged (it shows anywhere else). In each order the rule guesses "left" on a top part and "right"
on a bottom part, and the pair of thresholds with the best forecast on the second half wins.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from auditor.blackbox.mechanism import Sample
from auditor.blackbox.outputs import Column, Outputs, concatenate
from auditor.events.blocks import (
    LEAST_IN_CELL,
    Blocks,
    Choice,
    Forecast,
    RuleCounts,
    cells_for,
    cut,
    log_ratios,
    merge_cells,
    pool,
    sum_runs,
)
from auditor.events.cells import Cells, count_cells, readable_edges
from auditor.events.event import LEFT, RIGHT, Event
from auditor.events.features import MOST_JOINT_ATOMS, EvidenceSum, Feature, LowestBit, Place, Whole
from auditor.events.logistic import LogisticScore, fit_logistic

# What events may look at.
VALUES, BITS = "values", "bits"

# Below this many outputs, regression has nothing to add to the features themselves.
LEAST_TO_LEARN = 500
# A rule that is harder to read must forecast this much more (nats, or this share) to be preferred.
WORTH_COMPLICATING = 0.03


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
    return _refined(best, fit, judge, forecast)


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
    if len(column.numbers) == 0:
        return False
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
    pooled = pool(left, right)
    edges = readable_edges(pooled, cells_for(len(pooled.numbers)))
    (a, a_atoms), (b, b_atoms) = count_cells(edges, left), count_cells(edges, right)
    ends = merge_cells(a, b)
    merged = sum_runs(a, ends), sum_runs(b, ends)
    ratios = log_ratios(*merged)
    atoms = {
        atom: float(log_ratios(np.array([a_atoms.get(atom, 0)]), np.array([b_atoms.get(atom, 0)]))[0])
        for atom in pooled.atoms
    }
    return Cells(tuple(edges[end] for end in ends[:-1]), tuple(ratios.tolist()), atoms)


def _best_rule(feature: Feature, fit: Sample, judge: Sample, forecast: Forecast) -> Choice | None:
    fit_left, fit_right = feature.extract(fit.left), feature.extract(fit.right)
    judge_left, judge_right = feature.extract(judge.left), feature.extract(judge.right)
    blocks, counts = cut(fit_left, fit_right)
    a, b = counts[:, : len(blocks.edges) + 1]
    ends = merge_cells(a, b)
    ratios = log_ratios(sum_runs(a, ends), sum_runs(b, ends))
    merged = Blocks([blocks.edges[end] for end in ends[:-1]], ratios, blocks.atoms, blocks.atom_ranks)
    # Only a feature or an order that was learned from the first half needs the second to itself.
    learned = isinstance(feature, EvidenceSum | LogisticScore) or bool(blocks.atoms)
    whole = pool(fit_left, judge_left), pool(fit_right, judge_right)
    best = _along_the_line(feature, blocks, *((judge_left, judge_right) if learned else whole), forecast)
    choice = merged.best(feature, judge_left, judge_right, forecast)
    if choice is not None and (best is None or choice.forecast > _beaten_at(best.forecast)):
        best = choice
    return best


def _along_the_line(
    feature: Feature, blocks: "Blocks", left: Column, right: Column, forecast: Forecast
) -> Choice | None:
    """Return the best rule with the cells in their order on the line, whichever way up; atoms stand in by their ratio."""
    rising = np.arange(len(blocks.edges) + 1.0) / (len(blocks.edges) + 1) - 0.5
    choices = [replace(blocks, ranks=ranks).best(feature, left, right, forecast) for ranks in (rising, -rising)]
    return max((choice for choice in choices if choice is not None), key=lambda choice: choice.forecast, default=None)


def _refined(choice: Choice, fit: Sample, judge: Sample, forecast: Forecast) -> Choice:
    """Place the thresholds on the chosen feature anew, by whichever of two ways does better on outputs it did not see.

    The best of many thresholds by their counts is partly the luckiest, the more so where evidence is rare; a regression on the
    feature alone says how often guesses in each cell should win, but may miss a sharp edge.
    """
    feature = choice.test.feature
    if not isinstance(feature, Place) or fit.left.size + fit.right.size < LEAST_TO_LEARN:
        return choice
    halves = [(feature.extract(half.left), feature.extract(half.right)) for half in (fit, judge)]
    whole = pool(halves[0][0], halves[1][0]), pool(halves[0][1], halves[1][1])
    by_counts, by_regression = (_held_out(way, feature, halves, forecast) for way in (_by_counts, _by_regression))
    if by_regression <= by_counts:
        return choice
    return _by_regression(feature, *whole, forecast) or choice


Way = Callable[[Feature, Column, Column, Forecast], Choice | None]


def _held_out(way: Way, feature: Feature, halves: Sequence[tuple[Column, Column]], forecast: Forecast) -> float:
    """Return the mean forecast of thresholds placed on one half, judged on the other."""
    total = 0.0
    for placed_on, judged_on in ((halves[0], halves[1]), (halves[1], halves[0])):
        choice = way(feature, *placed_on, forecast)
        total += -np.inf if choice is None else _forecast_on(choice.test.rule, *judged_on, forecast)
    return total / 2


def _forecast_on(rule: Cells, left: Column, right: Column, forecast: Forecast) -> float:
    a, b = rule.look_up(left), rule.look_up(right)
    hits = [
        np.array([float(np.count_nonzero(x == side))]) for x, side in ((a, LEFT), (b, LEFT), (b, RIGHT), (a, RIGHT))
    ]
    return float(forecast(RuleCounts(hits[0], hits[1], hits[2], hits[3], len(a) + len(b)))[0])


def _by_counts(feature: Feature, left: Column, right: Column, forecast: Forecast) -> Choice | None:
    return _along_the_line(feature, cut(left, right)[0], left, right, forecast)


def _by_regression(feature: Feature, left: Column, right: Column, forecast: Forecast) -> Choice | None:
    alone = Sample(Outputs(len(left.numbers), (left,)), Outputs(len(right.numbers), (right,)))
    score = fit_logistic(alone)
    if score is None:
        return None
    blocks, counts = cut(left, right)
    pooled = pool(left, right)
    at = blocks.locate(pooled)
    seen, inside = counts.sum(axis=0), at >= 0
    scores = score.extract(Outputs(len(pooled.numbers), (pooled,))).numbers
    totals = np.bincount(at[inside], weights=scores[inside], minlength=len(seen))
    ratios = totals / np.maximum(seen, 1)
    chance = 1 / (1 + np.exp(-ratios))
    cells = len(blocks.edges) + 1
    expected = seen * chance, seen * (1 - chance)
    size = len(pooled.numbers)
    rising = np.arange(cells, dtype=np.float64)
    best: Choice | None = None
    # A rule with one threshold for a side is easier to read than the best set of cells.
    for ranks, is_simple in ((rising, True), (-rising, True), (ratios[:cells], False)):
        ranked = replace(blocks, ranks=ranks, atom_ranks=ratios[cells:])
        choice = ranked.choose(feature, *expected, size, forecast)
        if choice is not None and (
            best is None or choice.forecast > (best.forecast if is_simple else _beaten_at(best.forecast))
        ):
            best = choice
    return best
