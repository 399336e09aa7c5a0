"""Learn the event that best tells the sides apart: one half of the outputs suggests events, the other judges them.

Every feature is cut into cells, which are put into two orders. The order along the number line suits a shift. The
order by log-likelihood ratio suits any other difference; it is learned on the first half, after neighbouring cells that
do not differ were merged. In each order, a rule guesses "left" on a top part and "right" on a bottom part. The two
thresholds with the best forecast on the second half win.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import ABSENT, OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.intervals import Floats, finite_exp
from auditor.defaults import BITS, VALUES
from auditor.events.blocks import LEAST_IN_CELL, BlockTable, Choice, Forecaster, RuleCounts, RuleForecast
from auditor.events.bumps import bump_choice
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, SortedColumn, shortest_decimal, stacked
from auditor.events.coarse import CoarseBlocks, pooled_evidence
from auditor.events.event import Event
from auditor.events.features import (
    MOST_JOINT_ATOMS,
    Decimals,
    EvidenceSum,
    LowestBit,
    Place,
    SumOfAnswers,
    Whole,
    increments,
    looks_at_types,
    plainness,
    varies,
    vector_features,
)
from auditor.events.logistic import LogisticScore, fit_logistic
from auditor.events.rare import RARE, RareChoice, rare_choice
from auditor.events.related import related_numbers
from auditor.events.text import features_of_texts
from auditor.events.thresholds import BOLD, WORTH_KEEPING, beaten_at, place_thresholds
from auditor.interfaces import Feature

# SESSION_ANSWERS is a kind of event, besides VALUES and BITS: events that look at the sum of the answers of a session.
SESSION_ANSWERS = "answers"

# All features are screened on SCREENED outputs of each half. All outputs decide between the best FINALIST_FEATURES features.
SCREENED = 40_000
FINALIST_FEATURES = 3
# Below FEW_OUTPUTS outputs, regression adds nothing to the features, and only one threshold can be learned.
FEW_OUTPUTS = 500
# The search, which only ranks pairs, learns one threshold from up to FEW_IN_LOOKS outputs in each half. All rules would
# cost ten times as much.
FEW_IN_LOOKS = 4_500

# A place with more atoms than MOST_FORMS holds texts, most of which occur once.
MOST_FORMS = 8
# ALWAYS_LEFT is the rule if nothing was learned: it guesses left for every output.
ALWAYS_LEFT = Event(Place("output"), Cells((), (LEFT,), {}, LEFT))
# The features in SIMPLE are preferred to features with a slightly better forecast.
SIMPLE = (Place, LowestBit)


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Outputs in four parts of these ``sizes``: the half that suggests rules (left, right), the half that judges."""

    outputs: Outputs
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, fit: Sample, judge: Sample) -> "Halves":
        """Return the outputs of both halves."""
        parts = [fit.left, fit.right, judge.left, judge.right]
        return cls(concatenate(parts), tuple(part.size for part in parts))

    @property
    def fit(self) -> Outputs:
        """The outputs of the half that suggests rules."""
        return self.outputs[: sum(self.sizes[:2])]

    def half(self, number: int, columns: Iterable[OutputColumn]) -> Sample:
        """Return some columns of one of the halves."""
        some, ends = Outputs(self.outputs.size, tuple(columns)), np.cumsum([0, *self.sizes]).tolist()
        left, right = (some[a:b] for a, b in itertools.pairwise(ends[2 * number : 2 * number + 3]))
        return Sample(left, right)

    def first(self, most: int) -> "Halves":
        """Return the first outputs of each half, at most ``most`` in each."""
        if max(sum(self.sizes[:2]), sum(self.sizes[2:])) <= most:
            return self
        begin = np.cumsum(self.sizes) - self.sizes
        sizes = tuple(min(size, most // 2) for size in self.sizes)
        rows = np.concatenate([np.arange(b, b + size) for b, size in zip(begin, sizes, strict=True)])
        return Halves(self.outputs[rows], sizes)

    def coarse(self, features: Sequence[Feature], look_for_rare: bool = False) -> CoarseBlocks:
        """Return the coarse blocks of some features."""
        return CoarseBlocks.of([feature.extract(self.outputs) for feature in features], self.sizes, look_for_rare)


def rare_event(sample: Sample, forecaster: Forecaster, most: float = RARE) -> RareChoice | None:
    """Return the rule with the best forecast on rare events of one place, in which a number may have the share ``most`` of all
    outputs. Return None if there are no such events.
    """
    halves = Halves.of(*sample.halves())
    places = [Place(column.name) for column in halves.outputs.columns if varies(column)]
    places.sort(key=plainness)
    if len(places) > 8:  # keep those with most outputs that only one side gives
        one_sided = halves.first(SCREENED).coarse(places, look_for_rare=True).one_sided
        places = [places[i] for i in np.argsort(-one_sided, kind="stable")[:8]]
    choices = list[RareChoice | None]()
    for each in (_Extracted.of(place, halves) for place in places):
        choices += rare_choice(each.known, forecaster, most), bump_choice(each.fit, each.judge, forecaster)
    best = max(filter(None, choices), key=lambda choice: choice.forecast, default=None)
    return None if best is None else replace(best, wins=best.wins._replace(rivals=len(places)))


def frequent_rules(
    sample: Sample, forecaster: Forecaster, kinds: Sequence[str] = (VALUES,)
) -> tuple[Choice, Choice | None]:
    """Return a careful and a bold rule, chosen with a large and a small margin for luck. The bold one may be None.

    ``kinds`` says what events may look at: VALUES, BITS (how floats are represented) or SESSION_ANSWERS. A bold rule may guess
    on fewer outputs, where the loss is larger or by luck seems larger, so other outputs must judge it. If the careful
    rule forecasts no violation, the bold rule is the surest to refute the claim. If nothing varies, the rule is ALWAYS_LEFT.
    """
    halves = Halves.of(*sample.halves())
    extracted = [_Extracted.of(feature, halves) for feature in _screened_features(halves, kinds, forecaster.forecast)]
    if not extracted:
        always = _Extracted.of(ALWAYS_LEFT.feature, halves)
        return place_thresholds(always.known, lambda: Choice(ALWAYS_LEFT, -np.inf), forecaster), None
    extracted.sort(key=lambda each: plainness(each.fit.feature))
    # A difference of types (0 or 0.0) must not hide other faults, so types count only if values refute nothing.
    values = [feature for feature in extracted if not looks_at_types(feature.fit.feature)] or extracted
    careful = _careful(values, forecaster)
    if len(values) < len(extracted) and not careful.forecast > forecaster.claimed > -np.inf:
        careful, values = _careful(extracted, forecaster), extracted
    careful = _in_plain_words(careful, extracted, forecaster)
    # If a violation is forecast, or if no clearance is positive, the bold rule is the one with the best bold forecast.
    surest = None
    if not careful.forecast > forecaster.claimed:
        surest = _best_by(forecaster.clearance, values, forecaster, least=0.0)
    return careful, surest or _best_by(forecaster.with_margin(BOLD).forecast, values, forecaster)


@dataclass(frozen=True, eq=False)
class FewOutputs:
    """The columns of all features for a few outputs, from which only one threshold can be learned.

    A search tries hundreds of pairs with a few dozen outputs each, so all columns are sorted in one NumPy call.
    ``order`` sorts the outputs by each column, of shape (columns, outputs). ``numbers`` holds the sorted numbers, then
    NaN for each atom, and one more NaN. ``is_left`` says which of the ``outputs`` are of the left side, which come first.
    """

    outputs: Outputs
    columns: Sequence[tuple[Feature, OutputColumn]]
    is_left: NDArray[np.bool_]
    order: NDArray[np.intp]
    numbers: Floats

    @classmethod
    def of(cls, sample: Sample, kinds: Sequence[str] = (VALUES,)) -> "FewOutputs":
        """Return the outputs of a sample with the features of these kinds."""
        both = concatenate([sample.left, sample.right])
        columns = [(feature, feature.extract(both)) for feature in _features(both, kinds)]
        numbers = stacked([column for _, column in columns]).reshape(len(columns), both.size)
        order = np.argsort(numbers, axis=1, kind="stable")
        in_order = np.full((len(columns), both.size + 1), np.nan)
        in_order[:, :-1] = numbers[np.arange(len(columns))[:, None], order]
        return cls(both, columns, np.arange(both.size) < sample.left.size, order, in_order)

    @functools.cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which entries of ``order`` are numbers."""
        return ~np.isnan(self.numbers[:, :-1])

    @functools.cached_property
    def is_last(self) -> NDArray[np.bool_]:
        """Which of the sorted numbers differ from the next, as the last of all does from the NaN that follows."""
        return np.asarray(self.is_number & (self.numbers[:, :-1] != self.numbers[:, 1:]))

    @functools.cached_property
    def tails(self) -> NDArray[np.int64]:
        """How many numbers of each side lie up to each number, and beyond; of shape (sides, columns, low or high, numbers)."""
        is_left = self.is_left[self.order]
        reached = np.stack([is_left & self.is_number, ~is_left & self.is_number]).cumsum(axis=2, dtype=np.int64)
        return np.stack([reached, reached[:, :, -1:] - reached], axis=2)

    def count(self, event: Event) -> GuessCounts:
        """Return what ``Event.count`` does. Most events are about a column that is known."""
        known = (column for feature, column in self.columns if feature == event.feature)
        guesses = event.rule.look_up(next(known, None) or event.feature.extract(self.outputs))
        on_left = int(np.count_nonzero(self.is_left))
        sides, trials = (guesses[:on_left], guesses[on_left:]), (on_left, len(guesses) - on_left)
        (ll, rl), (lr, rr) = ([int(np.count_nonzero(side == guess)) for guess in (LEFT, RIGHT)] for side in sides)
        left, right = Counts(ll, trials[0], lr, trials[1]), Counts(rl, trials[0], rr, trials[1])
        return GuessCounts(left, right, event.is_one_tailed)

    def threshold(self) -> Event:
        """Return the rule with most right guesses, the first of equal ones. Return ALWAYS_LEFT if no feature varies.

        The rule guesses one side up to a threshold and the other beyond. For an atom it guesses its more frequent side.
        """
        if not self.order.size:
            return ALWAYS_LEFT
        # Both sides have the same total weight, even if one has more outputs.
        n_left = int(self.is_left.sum())
        weights = np.where(self.is_left, 1 / max(1, n_left), -1 / max(1, len(self.is_left) - n_left))
        low, high = self.numbers[:, :-1], self.numbers[:, 1:]
        reached = np.cumsum(np.where(self.is_number, weights[self.order], 0.0), axis=1)
        # The gain of a threshold is the weight of its wins less that of its losses. It is −∞ where no threshold can be.
        gains = np.where(self.is_last, np.abs(2 * reached - reached[:, -1:]), -np.inf)
        of_atoms = [_excess(column, weights) for _, column in self.columns]
        best, most = 0, -np.inf
        for row, gain in enumerate(gains.max(axis=1).tolist()):
            right = float(np.abs(of_atoms[row]).sum()) + max(0.0, gain)
            if right > most + 1e-12:
                best, most = row, right
        (feature, column), at = self.columns[best], int(gains[best].argmax())
        below = LEFT if 2 * reached[best, at] > reached[best, -1] else RIGHT
        excess = zip(column.atoms, of_atoms[best].tolist(), strict=True)
        atoms = {atom: LEFT if more > 0 else RIGHT for atom, more in excess if more}
        if np.isnan(high[best, at]):
            return Event(feature, Cells((), (ABSTAIN if np.isnan(low[best, at]) else below,), atoms))
        edge = shortest_decimal(float(low[best, at]), float(high[best, at]))
        return Event(feature, Cells((edge,), (below, -below), atoms))

    def tail(self) -> Event | None:
        """Return the rule that guesses one side beyond a threshold and abstains elsewhere.

        Return None if no tail separates the sides. The tail has the largest absolute log-odds, less their standard
        error. A large loss may lie in a tail with few outputs, which a rule that guesses on all outputs would not show.
        """
        if not self.order.size:
            return None
        low, high = self.numbers[:, :-1], self.numbers[:, 1:]
        tails = self.tails + 0.5  # one half is added to each count
        left, right = np.log(tails)
        log_odds = left - right
        sure = np.abs(log_odds) - np.sqrt((1 / tails).sum(axis=0))
        sure = np.where((self.is_last & ~np.isnan(high))[:, None], sure, -np.inf)
        row, is_high, at = best = tuple(map(int, np.unravel_index(sure.argmax(), sure.shape)))
        if not sure[best] > 0:
            return None
        guess = LEFT if log_odds[best] > 0 else RIGHT
        edge = shortest_decimal(float(low[row, at]), float(high[row, at]))
        return Event(self.columns[row][0], Cells((edge,), (ABSTAIN, guess) if is_high else (guess, ABSTAIN), {}))

    def spending(self, epsilon: float) -> Event | None:
        """Return the event that spends most of δ at this ε (nats): P − e^ε Q is largest, by which (ε, δ) is defined.

        The event is a value that is no number, any number, or the numbers up to a threshold or beyond it. One standard error is
        taken off, since the best of many is lucky. Return None if no event spends anything.
        """
        if not self.order.size:
            return None
        factor = float(finite_exp(np.float64(epsilon)))
        low, high = self.numbers[:, :-1], self.numbers[:, 1:]
        spent = np.where(self.is_last[:, None], _spent(self.tails, self.tails[::-1], factor), -np.inf)
        own, row, is_high, at = best = tuple(map(int, np.unravel_index(spent.argmax(), spent.shape)))
        most, guess = float(spent[best]), (LEFT, RIGHT)[own]
        if np.isnan(high[row, at]):  # any number
            event = Event(self.columns[row][0], Cells((), (guess,), {}))
        else:
            edge = shortest_decimal(float(low[row, at]), float(high[row, at]))
            event = Event(self.columns[row][0], Cells((edge,), (ABSTAIN, guess) if is_high else (guess, ABSTAIN), {}))
        for feature, column in self.columns:
            if column.codes is None:
                continue
            of_left, of_right = (_times(column, side) for side in (self.is_left, ~self.is_left))
            for guess, one, other in ((LEFT, of_left, of_right), (RIGHT, of_right, of_left)):
                of_atoms = _spent(one, other, factor)
                if len(of_atoms) and of_atoms.max() > most:
                    most, atom = float(of_atoms.max()), column.atoms[int(of_atoms.argmax())]
                    event = Event(feature, Cells((), (ABSTAIN,), {atom: guess}))
        return event if most > 0 else None


def unusual_forms(sample: Sample) -> tuple[int, int]:
    """Return how many outputs of each side do not have the commonest form: which places are numbers, and which hold which atom.

    In a place with many atoms, all atoms are alike. Rare outcomes, such as a key that is released or a failure, have another
    form than most outputs. The event needs no learning, so it can be counted in every output of a search.
    """
    both = concatenate([sample.left, sample.right])
    if all(column.codes is None or column.only_atom is not None for column in both.columns):
        return 0, 0
    form = np.zeros(both.size, np.int64)
    for column in both.columns:
        if column.codes is not None:
            codes = column.codes.astype(np.int64)
            form = form * 31 + (codes if len(column.atoms) <= MOST_FORMS else np.minimum(codes, 0)) + 1
    _, which, times = np.unique(form, return_inverse=True, return_counts=True)
    is_usual = which == times.argmax()
    usual_left = int(np.count_nonzero(is_usual[: sample.left.size]))
    return sample.left.size - usual_left, sample.right.size - (int(np.count_nonzero(is_usual)) - usual_left)


def _spent(own: NDArray[Any], other: NDArray[Any], factor: float) -> Floats:
    """Return own − factor · other for counts of events, less its standard error."""
    return np.asarray(own - factor * other - np.sqrt(own + factor**2 * other), np.float64)


def _times(column: OutputColumn, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how often each atom of a column occurs among the chosen outputs."""
    if column.codes is None:
        return np.zeros(0, np.int64)
    return np.bincount(column.codes[(column.codes >= 0) & chosen], minlength=len(column.atoms)).astype(np.int64)


def _excess(column: OutputColumn, weights: Floats) -> Floats:
    """Return, for each atom of a column, the sum of the weights of the outputs with this atom."""
    if column.codes is None:
        return np.zeros(0)
    is_atom = column.codes >= 0
    return np.asarray(np.bincount(column.codes[is_atom], weights[is_atom], len(column.atoms)), np.float64)


def _careful(features: "Sequence[_Extracted]", forecaster: Forecaster) -> Choice:
    """Return the rule with the best forecast. Its thresholds are placed so that luck has little influence."""
    best, on_best = Choice(ALWAYS_LEFT, -np.inf), features[0]
    if len(features) == 1:  # no feature to choose, so a rule is chosen only if place_thresholds asks for it
        chosen = functools.cache(lambda: _best_rule(on_best, forecaster.forecast) or best)
        return place_thresholds(on_best.known, chosen, forecaster)
    for extracted in features:
        choice = _best_rule(extracted, forecaster.forecast)
        # If the best forecast is small, any larger one wins: the usual margin for simpler events would cost too much.
        is_free = isinstance(extracted.fit.feature, SIMPLE) or best.forecast < WORTH_KEEPING
        needed = best.forecast if is_free else beaten_at(best.forecast)
        if choice is not None and choice.forecast > needed:
            best, on_best = choice, extracted
    return place_thresholds(on_best.known, lambda: best, forecaster)


def _in_plain_words(choice: Choice, features: "Sequence[_Extracted]", forecaster: Forecaster) -> Choice:
    """Return a rule on a plainer feature that guesses the same on as many outputs; the given choice if there is none.

    "The output is yes" says more than "the length of the output is 3", and neither refutes more than the other.
    """
    chosen = next((each for each in features if each.fit.feature == choice.test.feature), None)
    if chosen is None:
        return choice
    for extracted in features:  # the plainest first
        is_plainer = plainness(extracted.fit.feature) < plainness(choice.test.feature)
        if not is_plainer or extracted.may_hold_others:
            continue
        other = _best_rule(extracted, forecaster.forecast)
        if other is not None and _is_told(other.test) and extracted.counts(other.test) == chosen.counts(choice.test):
            return replace(choice, test=other.test)
    return choice


def _is_told(event: Event) -> bool:
    """Whether an event says what an output is, and not only that a place of it is absent."""
    return event.feature.name == "output" or event.rule.atoms.get(ABSENT, ABSTAIN) == ABSTAIN


def _best_by(
    score: RuleForecast, features: "Sequence[_Extracted]", forecaster: Forecaster, least: float = -np.inf
) -> Choice | None:
    """Return the rule with the best score, with its forecast. Return None unless the score is above ``least``."""
    choices = [(choice, extracted) for extracted in features if (choice := _best_rule(extracted, score)) is not None]
    if not choices:
        return None
    best, extracted = max(choices, key=lambda pair: pair[0].forecast)
    if best.forecast <= least:
        return None
    return Choice(best.test, float(forecaster.forecast(extracted.known.of_rule(best.test.rule))[0]))


def _screened_features(halves: Halves, kinds: Sequence[str], forecast: RuleForecast) -> list[Feature]:
    """Return the features with the best coarse forecasts, the simplest first."""
    few = halves.first(SCREENED)
    plain = [*_features(few.fit, kinds)]
    if not plain:
        return []
    if len(plain) <= FINALIST_FEATURES and sum(isinstance(feature, Place) for feature in plain) < 2:
        return plain
    forecasts = few.coarse(plain).best_forecasts(forecast, are_learned=False)
    order = np.argsort(-forecasts, kind="stable").tolist()
    learned = list(_learn_scores([plain[i] for i in order], halves))
    if learned:
        forecasts = np.append(forecasts, few.coarse(learned).best_forecasts(forecast, are_learned=True))
    features = [*plain, *learned]
    order = np.lexsort((np.array([*map(plainness, features)]), -forecasts)).tolist()
    simplest = [i for i in order if isinstance(features[i], SIMPLE) and not looks_at_types(features[i])]
    sums = [i for i, feature in enumerate(plain) if isinstance(feature, SumOfAnswers)]
    kept = {*sums, *order[:FINALIST_FEATURES], *simplest[:1]}
    if few is not halves:  # a score learned from all outputs may be too weak to show on the screened ones
        kept |= {*range(len(plain), len(features))}
    return [features[i] for i in sorted(kept)]


def _features(fit: Outputs, kinds: Sequence[str]) -> Iterator[Feature]:
    """Yield the features that need no learning, the simplest first."""
    if SESSION_ANSWERS in kinds:
        yield SumOfAnswers()
    if BITS in kinds:
        fractions = (column for column in fit.columns if np.any(column.numbers != np.rint(column.numbers)))
        yield from (LowestBit(column.name) for column in fractions)
    if VALUES not in kinds:
        return
    places = [column.name for column in fit.columns if varies(column) and _is_shared(column)]
    features: list[Feature] = [*map(Place, places)]
    features += [decimals for decimals in map(Decimals, places) if decimals.varies(fit)]
    features += features_of_texts(fit, places)
    features += vector_features(fit, places) if len(places) > 1 else ()
    yield from features
    yield from related_numbers(fit, features)
    if len(places) > 1 and _distinct_at_most(fit, places, MOST_JOINT_ATOMS):
        yield Whole(tuple(places))


def _is_shared(column: OutputColumn) -> bool:
    """Whether more than one output has the place. Thousands of places of one output each would hide the others by luck."""
    if column.codes is None or ABSENT not in column.atoms:
        return True
    return bool(np.count_nonzero(column.codes != column.atoms.index(ABSENT)) > 1)


def _learn_scores(features: Sequence[Feature], halves: Halves) -> Iterator[Feature]:
    """Yield scores learned from the fit half, if there are several places. ``features`` has the most promising first."""
    most_promising = [feature.name for feature in features if isinstance(feature, Place)]
    there = {*most_promising}
    names = [column.name for column in halves.outputs.columns if column.name in there]
    if len(names) < 2:
        return
    places, steps = [*map(Place, names)], increments(halves.fit, names)
    for parts, name in ((places, "evidence of all places together"), (steps, "evidence of all steps together")):
        tables = pooled_evidence(parts, halves.coarse(parts)) if parts else ()
        if len(tables) > 1:
            yield EvidenceSum(tables, name)
    # Scores need several places, since thresholds on a curve (thresholds.py) do the same for one place.
    if sum(halves.sizes[:2]) >= FEW_OUTPUTS:
        regressed = {*most_promising[:32]}  # the cost grows with the square of their number
        score = fit_logistic(halves.half(0, (c for c in halves.outputs.columns if c.name in regressed)))
        if score is not None:
            yield score


def evidence_scores(fit: Sample) -> Iterator[Feature]:
    """Yield scores that estimate the log-likelihood ratio (nats): of each place, of all places, of the whole output."""
    halves = Halves.of(fit, Sample(fit.left[:0], fit.right[:0]))
    names = [column.name for column in halves.outputs.columns if varies(column)]
    places: list[Feature] = [*map(Place, names), *features_of_texts(halves.outputs, names)]
    if not places:
        return
    tables = pooled_evidence(places, halves.coarse(places))
    shown = sorted(tables, key=lambda table: -np.ptp([*table[1].values, *table[1].atoms.values()]))[:8]
    yield from (EvidenceSum((table,), f"evidence of {table[0].name}") for table in tables if table in shown)
    if len(tables) > 1:
        yield EvidenceSum(tables)
    if len(places) > 1 and _distinct_at_most(halves.outputs, names, MOST_JOINT_ATOMS):
        whole = [Whole(tuple(names))]
        for table in pooled_evidence(whole, halves.coarse(whole)):
            yield EvidenceSum((table,), "evidence of the whole output")


def _distinct_at_most(outputs: Outputs, places: Sequence[str], most: int) -> bool:
    """Whether there are at most ``most`` distinct outputs, with LEAST_IN_CELL outputs for each on average."""
    most = min(most, outputs.size // LEAST_IN_CELL)
    kinds = np.zeros(outputs.size, np.int64)
    odd = np.int64(-7046029254386353131)  # 2⁶⁴ over the golden ratio
    for place in places:
        column = outputs.column(place)
        # A polynomial hash in wrapping arithmetic: two different outputs collide with probability of about 2⁻⁶⁴.
        kinds = kinds * odd + column.numbers.view(np.int64)
        if column.codes is not None:
            kinds = kinds * odd + column.codes
    return len(np.unique(kinds)) <= most


@dataclass(frozen=True)
class _Extracted:
    """The values of a feature in each of the two halves."""

    fit: BlockTable
    judge: BlockTable

    @classmethod
    def of(cls, feature: Feature, halves: Halves) -> "_Extracted":
        column = feature.extract(halves.outputs)
        samples = [halves.half(i, [column]) for i in (0, 1)]
        return cls(
            *(
                BlockTable(feature, *map(SortedColumn.of, (half.left.columns[0], half.right.columns[0])))
                for half in samples
            )
        )

    @property
    def is_learned(self) -> bool:
        """Whether the feature was learned from the first half, so that it must be judged on the second half alone."""
        return isinstance(self.fit.feature, EvidenceSum | LogisticScore)

    @property
    def may_hold_others(self) -> bool:
        """Whether later outputs may hold atoms that were not seen, on which a rule would abstain: some were seen rarely."""
        frequencies = (self.known.left + self.known.right).atoms.values()
        return min(frequencies, default=LEAST_IN_CELL) < LEAST_IN_CELL

    def counts(self, event: Event) -> list[Any]:
        """Return the wins and losses of an event on this feature in each half."""
        return [(*map(float, half.of_rule(event.rule).hits),) for half in (self.fit, self.judge)]

    @functools.cached_property
    def known(self) -> BlockTable:
        """The values that may place thresholds: of both halves, or of the second half for a learned feature."""
        return self.judge if self.is_learned else self.fit + self.judge


def _best_rule(extracted: _Extracted, forecast: RuleForecast) -> Choice | None:
    judge, fit = extracted.judge, extracted.fit
    blocks, (merged, ranks) = fit.blocks, fit.merged
    counts, merged_counts = ((table.count(judge.left), table.count(judge.right)) for table in (blocks, merged))
    trials = judge.trials
    choice = merged.choose(fit.feature, ranks, RuleCounts.of(*merged_counts, trials), forecast)
    if not (extracted.is_learned or blocks.atoms):
        # Nothing was learned from the first half, not even a rank of atoms, so both halves may judge.
        counts = counts[0] + fit.counts[0], counts[1] + fit.counts[1]
        trials += fit.trials
    best = fit.best(RuleCounts.of(*counts, trials), forecast)
    if choice is not None and (best is None or choice.forecast > beaten_at(best.forecast)):
        best = choice
    return best
