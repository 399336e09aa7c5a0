"""Learn the event that will show a difference best: candidates from one half of the outputs, judged on the other.

Every feature is cut into cells. Two orders of the cells are tried: as they lie on the number line (the side shows
in a shift), and by the log-likelihood ratio learned on the first half, after neighbouring cells that do not
differ have been merged (it shows anywhere else). In each order the rule guesses "left" on a top part and "right"
on a bottom part, and the pair of thresholds with the best forecast on the second half wins.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditor.blackbox.outputs import Outputs, concatenate
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
    Whole,
    looks_at_types,
    varies,
)
from auditor.events.halves import Halves
from auditor.events.logistic import LogisticScore, fit_logistic
from auditor.events.pooled import pooled_evidence
from auditor.events.rare import RareChoice, rare_choice
from auditor.events.separating import separating_event
from auditor.events.sorted_column import Sides
from auditor.events.thresholds import BOLD, WORTH_KEEPING, beaten_at, counts_of, place_thresholds
from auditor.events.vectors import SumOfAnswers, increments, vector_features

# What events may look at.
VALUES: EventKind = "values"
BITS: EventKind = "bits"
# The sum of the answers of a session as well.
ANSWERS = "answers"

# This number of outputs of a half screens all features, and all outputs decide between the best few.
SCREENED = 40_000
KEPT = 3
# Places whose rare events are looked at, at most: those with most outputs that only one side gives.
MOST_RARE_PLACES = 8
# Places that regression looks at, at most; its cost grows with their square.
MOST_REGRESSED = 32
# Below this many outputs, regression has nothing to add to the features themselves.
LEAST_TO_LEARN = 500

# What is guessed where nothing was learned.
ALWAYS = Event(Place("output"), Cells((), (LEFT,), {}, LEFT))
# Features that were learned from one half of the outputs.
LEARNED = (EvidenceSum, LogisticScore)
# Features that are preferred to others that forecast hardly more.
SIMPLE = (Place, LowestBit)
# Places whose evidence makes a score of its own.
MOST_SINGLE = 8
# An odd number of 64 bits: 2⁶⁴ over the golden ratio.
MULTIPLIER = np.int64(-7046029254386353131)


def rare_event(sample: Sample, forecaster: Forecaster) -> RareChoice | None:
    """Return the rule on rare events of one place of the output with the best forecast; None if one side alone shows nothing."""
    halves = Halves.of(*sample.halves())
    places = [Place(column.name) for column in halves.outputs.columns if varies(column)]
    places.sort(key=looks_at_types)
    if len(places) > MOST_RARE_PLACES:
        one_sided = halves.first(SCREENED).coarse(places, look_for_rare=True).one_sided
        places = [places[i] for i in np.argsort(-one_sided, kind="stable")[:MOST_RARE_PLACES]]
    found = [_Extracted.of(place, halves).rare(forecaster) for place in places]
    best = max(filter(None, found), key=lambda choice: choice.forecast, default=None)
    return None if best is None else replace(best, seen=best.seen._replace(rivals=len(places)))


def frequent_rules(
    sample: Sample, forecaster: Forecaster, kinds: Sequence[str] = (VALUES,)
) -> tuple[Choice, Choice | None]:
    """Return the rule with the best careful forecast, and the one with the best bold forecast; many outputs decide on both.

    ``kinds`` says what events may look at: VALUES, BITS, the floating-point representation of numbers, and ANSWERS. A bold
    rule may guess on fewer outputs, on which more is lost, or seems to be lost: other outputs are to judge it. As long as no
    violation is forecast, it is the rule that is surest to refute the claim. With nothing to learn from, the rule guesses left
    always.
    """
    halves = Halves.of(*sample.halves())
    extracted = [_Extracted.of(feature, halves) for feature in _promising(halves, kinds, forecaster.forecast)]
    if not extracted:
        return _placed(_Extracted.of(ALWAYS.feature, halves), lambda: Choice(ALWAYS, -np.inf), forecaster), None
    # That 0 and 0.0 differ must not hide what else is wrong: types come after values that refute the claim.
    values = [one for one in extracted if not looks_at_types(one.feature)] or extracted
    careful = _careful(values, forecaster)
    if len(values) < len(extracted) and not careful.forecast > forecaster.claimed > -np.inf:
        careful, values = _careful(extracted, forecaster), extracted
    return careful, _surest(values, careful, forecaster) or _bold(values, forecaster)


def one_threshold(sample: Sample, kinds: Sequence[str] = (VALUES,)) -> Event:
    """Return the rule of one threshold that guesses most outputs rightly. It guesses left always if no feature varies."""
    outputs = concatenate([sample.left, sample.right])
    return separating_event([*_features(outputs, kinds)], sample) or ALWAYS


def _careful(features: "Sequence[_Extracted]", forecaster: Forecaster) -> Choice:
    """Return the rule with the best forecast, its thresholds placed so that luck has little influence."""
    best, on_best = Choice(ALWAYS, -np.inf), features[0]
    if len(features) == 1:  # with nothing to choose from, rules for a choice are looked for only where they may stand
        return _placed(on_best, functools.cache(lambda: _best_rule(on_best, forecaster.forecast) or best), forecaster)
    for extracted in features:
        choice = _best_rule(extracted, forecaster.forecast)
        # Where all show little, what is gained by a simpler event is lost many times over.
        is_free = isinstance(extracted.feature, SIMPLE) or best.forecast < WORTH_KEEPING
        needed = best.forecast if is_free else beaten_at(best.forecast)
        if choice is not None and choice.forecast > needed:
            best, on_best = choice, extracted
    return _placed(on_best, lambda: best, forecaster)


def _surest(features: "Sequence[_Extracted]", careful: Choice, forecaster: Forecaster) -> Choice | None:
    """Return the rule that is surest to refute the claim, and its usual forecast.

    None if no rule will refute it as far as is seen, or if the careful one is forecast to.
    """
    if careful.forecast > forecaster.claimed:
        return None
    return _best_by(forecaster.clearance, features, forecaster, least=0.0)


def _bold(features: "Sequence[_Extracted]", forecaster: Forecaster) -> Choice | None:
    """Return the rule with the best bold forecast, and its usual forecast."""
    return _best_by(forecaster.with_margin(BOLD).forecast, features, forecaster)


def _best_by(
    score: RuleForecast, features: "Sequence[_Extracted]", forecaster: Forecaster, least: float = -np.inf
) -> Choice | None:
    """Return the rule with the best score, and its usual forecast; None unless the score is above ``least``."""
    found = [(choice, extracted) for extracted in features if (choice := _best_rule(extracted, score)) is not None]
    if not found:
        return None
    best, extracted = max(found, key=lambda pair: pair[0].forecast)
    if best.forecast <= least:
        return None
    return Choice(best.test, float(forecaster.forecast(counts_of(best.test.rule, *extracted.known))[0]))


def _promising(halves: Halves, kinds: Sequence[str], forecast: RuleForecast) -> list[Feature]:
    """Return the features that promise most, the simplest first."""
    few = halves.first(SCREENED)
    known = [*_features(few.fit, kinds)]
    if not known:
        return []
    if len(known) <= KEPT and sum(isinstance(feature, Place) for feature in known) < 2:
        return known
    blocks = few.coarse(known)
    promised = blocks.promises(forecast, are_learned=False)
    order = np.argsort(-promised, kind="stable").tolist()
    learned = list(_learned([known[i] for i in order], halves))
    if learned:
        promised = np.append(promised, few.coarse(learned).promises(forecast, are_learned=True))
    features = [*known, *learned]
    order = np.argsort(-promised, kind="stable").tolist()
    simplest = [i for i in order if isinstance(features[i], SIMPLE) and not looks_at_types(features[i])]
    sums = [i for i, feature in enumerate(known) if isinstance(feature, SumOfAnswers)]
    kept = {*sums, *order[:KEPT], *simplest[:1]}
    if few is not halves:  # what is learned from all outputs may be too weak to show on the first of them
        kept |= {*range(len(known), len(features))}
    return [features[i] for i in sorted(kept)]


def _features(fit: Outputs, kinds: Sequence[str]) -> Iterator[Feature]:
    """List features that need no learning, the simplest first."""
    if ANSWERS in kinds:
        yield SumOfAnswers()
    if BITS in kinds:
        fractions = (column for column in fit.columns if np.any(column.numbers != np.rint(column.numbers)))
        yield from (LowestBit(column.name) for column in fractions)
    if VALUES not in kinds:
        return
    places = [column.name for column in fit.columns if varies(column)]
    yield from map(Place, places)
    yield from (decimals for decimals in map(Decimals, places) if decimals.varies(fit))
    if len(places) > 1:
        yield from vector_features(fit, places)
        if _distinct_at_most(fit, places, MOST_JOINT_ATOMS):
            yield Whole(tuple(places))


def _learned(known: Sequence[Feature], halves: Halves) -> Iterator[Feature]:
    """Suggest scores that are learned from the fit half, where there are several places; ``known`` has the most promising first."""
    most_promising = [feature.name for feature in known if isinstance(feature, Place)]
    there = {*most_promising}
    names = [column.name for column in halves.outputs.columns if column.name in there]
    if len(names) < 2:
        return
    places, steps = [*map(Place, names)], increments(halves.fit, names)
    for parts, name in ((places, "evidence of all places together"), (steps, "evidence of all steps together")):
        tables = pooled_evidence(parts, halves.coarse(parts)) if parts else ()
        if len(tables) > 1:
            yield EvidenceSum(tables, name)
    # On a single place, thresholds placed by a curve do all that a score could.
    if sum(halves.sizes[:2]) >= LEAST_TO_LEARN:
        score = fit_logistic(halves.sample(0, {*most_promising[:MOST_REGRESSED]}))
        if score is not None:
            yield score


def evidence_scores(fit: Sample) -> Iterator[Feature]:
    """Suggest scores that estimate the log-likelihood ratio (nats): of each place, of all, of the whole output."""
    halves = Halves.of(fit, Sample(fit.left[:0], fit.right[:0]))
    names = [column.name for column in halves.outputs.columns if varies(column)]
    places: list[Feature] = [*map(Place, names)]
    if not places:
        return
    tables = pooled_evidence(places, halves.coarse(places))
    shown = sorted(tables, key=lambda table: -np.ptp([*table[1].values, *table[1].atoms.values()]))[:MOST_SINGLE]
    yield from (EvidenceSum((table,), f"evidence of {table[0].name}") for table in tables if table in shown)
    if len(tables) > 1:
        yield EvidenceSum(tables)
    if len(places) > 1 and _distinct_at_most(halves.outputs, names, MOST_JOINT_ATOMS):
        whole = [Whole(tuple(names))]
        for table in pooled_evidence(whole, halves.coarse(whole)):
            yield EvidenceSum((table,), "evidence of the whole output")


def _distinct_at_most(outputs: Outputs, places: Sequence[str], most: int) -> bool:
    """Whether whole outputs take at most so many values, and each of them often enough to learn from."""
    most = min(most, outputs.size // LEAST_IN_CELL)
    kinds = np.zeros(outputs.size, np.int64)
    for place in places:
        column = outputs.column(place)
        # A polynomial of the bits in wrapping arithmetic: two different outputs look alike with a chance of about 2⁻⁶⁴.
        kinds = kinds * MULTIPLIER + column.numbers.view(np.int64)
        if column.codes is not None:
            kinds = kinds * MULTIPLIER + column.codes
    return len(np.unique(kinds)) <= most


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

    sides: Sides

    @functools.cached_property
    def blocks(self) -> Blocks:
        return cut(self.sides[0] + self.sides[1])

    @functools.cached_property
    def counts(self) -> tuple[Ints, Ints]:
        """How many values lie in each block, on either side."""
        return self.blocks.count(self.sides[0]), self.blocks.count(self.sides[1])

    @functools.cached_property
    def merged(self) -> tuple[Blocks, Floats]:
        """The blocks with their log-likelihood ratios (nats, left over right). Blocks that do not differ are merged."""
        return _merged(self.blocks, *self.counts)


@dataclass(frozen=True, slots=True)
class _Extracted:
    """The values of a feature on both sides of both halves, and what was learned of it from the first."""

    feature: Feature
    table: _Table
    judge: Sides

    @classmethod
    def of(cls, feature: Feature, halves: Halves) -> "_Extracted":
        fit, judge = halves.sides(feature)
        return cls(feature, _Table(fit), judge)

    @property
    def fit(self) -> Sides:
        return self.table.sides

    @property
    def is_learned(self) -> bool:
        """Whether the feature was learned from the first half, so that it must be judged on the second alone."""
        return isinstance(self.feature, LEARNED)

    @property
    def known(self) -> Sides:
        """The values by which rules may be placed: those of both halves, unless the feature was learned from one."""
        left, right = self.judge
        return self.judge if self.is_learned else (self.fit[0] + left, self.fit[1] + right)

    def rare(self, forecaster: Forecaster) -> RareChoice | None:
        """Return the best rare event, where the feature is a place of the output."""
        return rare_choice(self.feature, *self.known, forecaster) if isinstance(self.feature, Place) else None


def _size(half: Sides) -> int:
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
    """Place the thresholds on the chosen feature anew."""
    return place_thresholds(extracted.feature, *extracted.known, chosen, forecaster)
