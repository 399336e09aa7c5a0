"""Learn the event that will show a difference best: candidates from one half of the outputs, judged on the other.

Every feature is cut into cells. Two orders of the cells are tried: as they lie on the number line (the side shows
in a shift), and by the log-likelihood ratio learned on the first half, after neighbouring cells that do not
differ have been merged (it shows anywhere else). In each order the rule guesses "left" on a top part and "right"
on a bottom part, and the pair of thresholds with the best forecast on the second half wins.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from auditor.blackbox.outputs import OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.bounds.intervals import Floats, Ints
from auditor.defaults import EventKind
from auditor.events.blocks import (
    LEAST_IN_CELL,
    Blocks,
    Choice,
    Forecaster,
    RuleCounts,
    RuleForecast,
    cut,
    log_ratios,
    merge_cells,
    sum_runs,
)
from auditor.events.cells import LEFT, Cells
from auditor.events.event import Event
from auditor.events.features import (
    MOST_JOINT_ATOMS,
    Decimals,
    EvidenceSum,
    Feature,
    LowestBit,
    Place,
    Where,
    Whole,
    varies,
)
from auditor.events.logistic import LogisticScore, fit_logistic
from auditor.events.rare import RareChoice, rare_choice
from auditor.events.sorted_column import SortedColumn, sorted_sides
from auditor.events.thresholds import beaten_at, place_thresholds
from auditor.events.vectors import increments, vector_features

# What events may look at.
VALUES: EventKind = "values"
BITS: EventKind = "bits"

# Where a half has more outputs, this number of them screens all features, and all outputs decide between the best few.
SCREENED = 40_000
KEPT = 5
# Below this many outputs, regression has nothing to add to the features themselves.
LEAST_TO_LEARN = 500

# Features that were learned from one half of the outputs.
LEARNED = (EvidenceSum, LogisticScore)


def select_event(
    fit: Sample,
    judge: Sample,
    forecaster: Forecaster,
    kinds: Sequence[str] = (VALUES,),
    given: Sequence[Feature] = (),
) -> Choice:
    """Return the event with the best forecast on ``judge`` among those suggested by ``fit``.

    ``kinds`` says what events may look at: VALUES, and BITS, the floating-point representation of numbers. The features that
    are ``given`` are looked at too. Neither sample may serve for the bound. With nothing to learn from, the event guesses left
    always. A rare event is returned where it is better with the same margin, or where it is forecast to refute the claim and the
    best event is not.
    """
    choice, rare = _select(fit, judge, forecaster, kinds, given)
    refutes = beaten_at(forecaster.claimed)
    if rare is not None and (rare.careful > beaten_at(choice.forecast) or rare.forecast > refutes >= choice.forecast):
        return rare
    return choice


def _select(
    fit: Sample, judge: Sample, forecaster: Forecaster, kinds: Sequence[str], given: Sequence[Feature]
) -> tuple[Choice, RareChoice | None]:
    """Return the best of all events, and the best rare one."""
    always = Event(Place("output"), Cells((), (LEFT,), {}, LEFT))
    best, on_best, rare = Choice(always, -np.inf), None, list[RareChoice | None]()
    learned = _LearnedFrom(fit)
    features = [*given, *_features(learned, kinds)]
    if len(features) == 1:  # with nothing to choose from, rules for a choice are looked for only where they may stand
        only = _Extracted.of(features[0], learned, judge)
        placed = _placed(only, functools.cache(lambda: _best_rule(only, forecaster.forecast) or best), forecaster)
        return placed, only.rare(forecaster)
    if fit.size > SCREENED and len(features) > KEPT:
        features = [*given, *_screened(features[len(given) :], fit, judge, forecaster.forecast)]
    for feature in features:
        extracted = _Extracted.of(feature, learned, judge)
        choice = _best_rule(extracted, forecaster.forecast)
        needed = best.forecast if isinstance(feature, Place | LowestBit | Where) else beaten_at(best.forecast)
        if choice is not None and choice.forecast > needed:
            best, on_best = choice, extracted
        rare.append(extracted.rare(forecaster))
    placed = _placed(on_best or _Extracted.of(always.feature, learned, judge), lambda: best, forecaster)
    return placed, max(filter(None, rare), key=lambda choice: choice.forecast, default=None)


def _screened(features: list[Feature], fit: Sample, judge: Sample, forecast: RuleForecast) -> list[Feature]:
    """Return the features that promise most on a part of the outputs, in their order."""
    few_fit, few_judge = (Sample(half.left[: SCREENED // 2], half.right[: SCREENED // 2]) for half in (fit, judge))
    learned = _LearnedFrom(few_fit)
    choices = [_best_rule(_Extracted.of(feature, learned, few_judge), forecast) for feature in features]
    forecasts = np.array([-np.inf if choice is None else choice.forecast for choice in choices])
    return [features[i] for i in sorted(np.argsort(-forecasts, kind="stable")[:KEPT])]


def _features(learned: "_LearnedFrom", kinds: Sequence[str]) -> Iterator[Feature]:
    """List features, the simplest first."""
    fit = learned.fit
    both = concatenate([fit.left, fit.right])
    places = [column.name for column in both.columns if varies(column)]
    if BITS in kinds:
        yield from (LowestBit(column.name) for column in both.columns if _has_fractions(column))
    if VALUES not in kinds:
        return
    yield from (Place(name) for name in places)
    yield from (decimals for decimals in map(Decimals, places) if decimals.varies(both))
    if len(places) > 1:
        yield from vector_features(both, places)
        if _distinct_at_most(both, places, MOST_JOINT_ATOMS):
            yield Whole(tuple(places))
        sums = (
            (list(map(Place, places)), "summed evidence of all places"),
            (increments(both, places), "summed evidence of all steps"),
        )
        for parts, name in sums:
            tables = _informative_tables(parts, learned)
            if len(tables) > 1:
                yield EvidenceSum(tables, name)
    # On a single place, thresholds placed by a curve do all that a score could.
    if len(places) > 1 and fit.size >= LEAST_TO_LEARN:
        score = fit_logistic(fit)
        if score is not None:
            yield score


def _has_fractions(column: OutputColumn) -> bool:
    return bool(np.any(column.numbers != np.rint(column.numbers)))


def evidence_scores(fit: Sample) -> Iterator[Feature]:
    """Suggest scores that estimate the log-likelihood ratio (nats): of each place, of all, of the whole output."""
    both = concatenate([fit.left, fit.right])
    places = [column.name for column in both.columns if varies(column)]
    learned = _LearnedFrom(fit)
    tables = _informative_tables([Place(name) for name in places], learned)
    yield from (EvidenceSum((table,), f"evidence of {table[0].name}") for table in tables)
    if len(tables) > 1:
        yield EvidenceSum(tables)
    if len(places) > 1 and _distinct_at_most(both, places, MOST_JOINT_ATOMS):
        for table in _informative_tables([Whole(tuple(places))], learned):
            yield EvidenceSum((table,), "evidence of the whole output")


def _informative_tables(features: Sequence[Feature], learned: "_LearnedFrom") -> tuple[tuple[Feature, Cells], ...]:
    tables = [(feature, learned.of(feature).evidence()) for feature in features]
    return tuple((f, cells) for f, cells in tables if len({*cells.values, *cells.atoms.values()}) > 1)


def _distinct_at_most(outputs: Outputs, places: list[str], most: int) -> bool:
    distinct = 1
    for place in places:
        column = outputs.column(place)
        distinct = max(distinct, len(np.unique(column.numbers[: 10 * most])))
        if distinct > most:
            return False
    return len(Whole(tuple(places)).extract(outputs).atoms) <= min(most, outputs.size // LEAST_IN_CELL)


def _merged(blocks: Blocks, on_left: Ints, on_right: Ints) -> tuple[Blocks, Floats]:
    """Merge neighbouring intervals that do not differ; return the blocks, and the log-ratio of each."""
    cells = len(blocks.edges) + 1
    ends = merge_cells(on_left[:cells], on_right[:cells])
    ratios = log_ratios(sum_runs(on_left[:cells], ends), sum_runs(on_right[:cells], ends))
    merged = Blocks([blocks.edges[end] for end in ends[:-1]], blocks.atoms)
    return merged, np.concatenate([ratios, log_ratios(on_left[cells:], on_right[cells:])])


@dataclass(frozen=True)
class _Table:
    """What a half of the outputs says of a feature: its values on either side, cut into blocks when that is asked for."""

    sides: tuple[SortedColumn, SortedColumn]

    @functools.cached_property
    def blocks(self) -> Blocks:
        return cut(self.sides[0] + self.sides[1])

    @functools.cached_property
    def counts(self) -> tuple[Ints, Ints]:
        """How many values lie in each block, on either side."""
        return self.blocks.count(self.sides[0]), self.blocks.count(self.sides[1])

    @functools.cached_property
    def merged(self) -> tuple[Blocks, Floats]:
        """The blocks, merged where they do not differ, with their log-likelihood ratios (nats, left over right)."""
        return _merged(self.blocks, *self.counts)

    def evidence(self) -> Cells:
        """Return the log-likelihood ratio of each value of the feature."""
        blocks, ratios = self.merged
        cells = len(blocks.edges) + 1
        atoms = dict(zip(blocks.atoms, ratios[cells:].tolist(), strict=True))
        return Cells(tuple(blocks.edges), tuple(ratios[:cells].tolist()), atoms)


@dataclass(frozen=True, slots=True)
class _LearnedFrom:
    """Tables of features by one half of the outputs. Of few outputs they are kept, since sums of evidence ask for them again."""

    fit: Sample
    kept: dict[Feature, _Table] = field(default_factory=dict)

    def of(self, feature: Feature) -> _Table:
        """Return the table of a feature."""
        if self.fit.size > SCREENED or isinstance(feature, LEARNED):
            return _Table(sorted_sides(feature.extract, self.fit))
        if feature not in self.kept:
            self.kept[feature] = _Table(sorted_sides(feature.extract, self.fit))
        return self.kept[feature]


@dataclass(frozen=True, slots=True)
class _Extracted:
    """The values of a feature on both sides of both halves, and what was learned of it from the first."""

    feature: Feature
    table: _Table
    judge: tuple[SortedColumn, SortedColumn]

    @classmethod
    def of(cls, feature: Feature, learned: _LearnedFrom, judge: Sample) -> "_Extracted":
        return cls(feature, learned.of(feature), sorted_sides(feature.extract, judge))

    @property
    def fit(self) -> tuple[SortedColumn, SortedColumn]:
        return self.table.sides

    @property
    def is_learned(self) -> bool:
        """Whether the feature was learned from the first half, so that it must be judged on the second alone."""
        return isinstance(self.feature, LEARNED)

    def rare(self, forecaster: Forecaster) -> RareChoice | None:
        """Return the best rare event, where the feature is a place of the output."""
        return rare_choice(self.feature, self.fit, self.judge, forecaster) if isinstance(self.feature, Place) else None


def _size(half: tuple[SortedColumn, SortedColumn]) -> int:
    return half[0].size + half[1].size


def _best_rule(extracted: _Extracted, forecast: RuleForecast) -> Choice | None:
    feature, judged, table = extracted.feature, extracted.judge, extracted.table
    blocks, (merged, ranks) = table.blocks, table.merged
    counts, merged_counts = ((one.count(judged[0]), one.count(judged[1])) for one in (blocks, merged))
    trials = _size(judged)
    choice = merged.choose(feature, ranks, RuleCounts.of(*merged_counts, trials), forecast)
    if not (extracted.is_learned or blocks.atoms):
        # Nor was any order of the line learned: both halves may judge.
        counts = counts[0] + table.counts[0], counts[1] + table.counts[1]
        trials += _size(extracted.fit)
    of_atoms = ranks[len(merged.edges) + 1 :]
    best = blocks.choose_in_order(feature, of_atoms, RuleCounts.of(*counts, trials), forecast)
    if choice is not None and (best is None or choice.forecast > beaten_at(best.forecast)):
        best = choice
    return best


def _placed(extracted: _Extracted, chosen: Callable[[], Choice], forecaster: Forecaster) -> Choice:
    """Place the thresholds on the chosen feature anew; both halves say where, unless the feature was learned from one."""
    left, right = extracted.judge
    if not extracted.is_learned:
        left, right = extracted.fit[0] + left, extracted.fit[1] + right
    return place_thresholds(extracted.feature, left, right, chosen, forecaster)
