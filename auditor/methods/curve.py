"""The method for a claimed trade-off curve: a band at all thresholds of a learned score; see :mod:`auditor.bounds.curves`."""

import functools
import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from auditor.blackbox.sample import Sample
from auditor.bounds.conversions import profile_points
from auditor.bounds.curves import Box, CurveBand, caught_excess, choose_thresholds, join_lines, largest_excess, lines_of
from auditor.bounds.evidence import ScoreCounts
from auditor.bounds.intervals import Floats, clopper_pearson_limits, finite_exp, wilson_lower
from auditor.bounds.utility import Prospect
from auditor.claims import ApproximateDP, PrivacyProfile, Tradeoff
from auditor.events.event import read_rule, written
from auditor.events.histogram import Histogram, histogram
from auditor.events.logistic import fit_logistic
from auditor.events.observed import ObservedCurve
from auditor.events.selection import evidence_scores
from auditor.interfaces import Feature, Learned, Limits, ManyNumbers, Method
from auditor.methods.guessing import ProfileGuesses
from auditor.methods.score_cells import Constant, count_in_cells, count_score_event

# The score is cut at so many quantiles of each side.
QUANTILES = 64
# The search compares pairs by the claim's lines at these type I errors.
SEARCHED_AT = (0.25, 0.05, 0.005)
# At usual sizes, the band's limits lie √(2 (ln(4/α) + FURTHER)) standard errors from the rates. Forecasts take this for granted.
FURTHER = 3.2


@dataclass(frozen=True, slots=True)
class CurveTest:
    """The cells of a score between ``edges``. Each edge is a threshold of the band."""

    feature: Feature
    edges: tuple[float, ...]

    def count(self, sample: Sample) -> ScoreCounts:
        """Count the outputs of each side in each cell."""
        return self.count_parts(sample, 1)[0]

    def count_parts(self, sample: Sample, number: int) -> list[ScoreCounts]:
        """See Test."""
        return count_in_cells(self.feature, self.edges, sample, number)

    def report(self, counts: ScoreCounts) -> ObservedCurve:
        """Return the score and the counts in each cell."""
        thresholds = len(self.edges)
        rule = written(feature=self.feature, edges=self.edges)
        return ObservedCurve(f"all {thresholds:,} thresholds of {self.feature.name}", thresholds, counts, rule)

    @classmethod
    def of(cls, observed: ObservedCurve) -> "CurveTest":
        """Return the test that was reported. Raises InvalidInputError if the report lacks the score or the edges."""
        feature, edges = read_rule(observed.rule or {}, "feature", "edges")
        return cls(feature, tuple(map(float, edges)))

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        return (histogram(self.feature.name, [*map(self.feature.extract, (sample.left, sample.right))]),)


class CurveMethod(Method[Tradeoff, CurveTest, ScoreCounts]):
    """The largest excess over the ε of a line of the claimed curve, by a band that holds at all thresholds together.

    So the best threshold and the best line may be looked for in the very outputs that are counted. Pairs are compared by guesses at
    a few points of the claim's profile, as for a claimed profile.
    """

    __slots__ = ()
    name: ClassVar[str] = "band at all thresholds"
    looks_at_bits: ClassVar[bool] = False
    learns_at_distance: ClassVar[bool] = False
    may_abstain: ClassVar[bool] = True

    def learn(self, sample: Sample) -> Learned[CurveTest]:
        """See Method. One half of the outputs suggests scores. The other half judges them, and gives the thresholds."""
        fit, judge = sample.halves()
        best = Learned(CurveTest(Constant(), ()), -math.inf)
        learned = fit_logistic(fit, most=200_000)
        for feature in (*evidence_scores(fit), *([learned] if learned is not None else ())):
            scores = [feature.extract(side).numbers for side in (judge.left, judge.right)]
            test = CurveTest(feature, tuple(choose_thresholds(scores, QUANTILES).tolist()))
            forecast = self._forecast(test.count(judge))
            if forecast > best.forecast or not best.test.edges:
                best = Learned(test, forecast)
        return best

    def _forecast(self, counts: ScoreCounts) -> float:
        """Return an estimate of the bound by the planned outputs, ``caution`` standard errors on the safe side."""
        band = CurveBand.of_cells(counts.left, counts.right, self.alpha)
        level = math.sqrt(2 * (math.log(4 / self.alpha) + FURTHER))

        def at_least(hits: Floats) -> Floats:
            trials, later = np.full(len(hits), max(hits.max(), 1.0)), np.full(len(hits), self.planned / 2)
            return wilson_lower(wilson_lower(hits / trials, trials, self.caution), later, level)

        return largest_excess(self.claim, at_least(band.left), 1 - at_least(band.right[-1] - band.right))

    def evidence(self, sample: Sample) -> ManyNumbers:
        return self._of_points().evidence(sample)

    def joined(self, one: ManyNumbers, other: ManyNumbers) -> ManyNumbers:
        return self._of_points().joined(one, other) if one and other else one or other

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        return self._of_points().prospects(evidence)

    def _of_points(self) -> ProfileGuesses:
        """Return the method for a few points of the profile that the claim implies in both directions."""
        points = searched_points(self.claim)
        profile = PrivacyProfile([(point.epsilon, point.delta) for point in points])
        return ProfileGuesses(profile, self.alpha, self.planned, self.caution, self.events)

    def bound(self, test: CurveTest, counts: ScoreCounts) -> float:
        return band_of(counts, self.alpha).excess(self.claim)

    def profile(self, counts: ScoreCounts) -> tuple[tuple[float, float], ...]:
        """See Method. The points are by the band, and hold together with the bound."""
        near = searched_points(self.claim)[-1].epsilon
        return profile_points(band_of(counts, self.alpha).deltas, near)

    def curve(self, counts: ScoreCounts) -> tuple[Box, ...]:
        return band_of(counts, self.alpha).boxes()

    def detectable(self, test: CurveTest, counts: ScoreCounts, chance: float) -> float:
        """See Method. Each threshold is looked at with its best line, and the other side's rate as it was observed."""
        band, lines = band_of(counts, self.alpha), join_lines(*lines_of(self.claim.both_ways()))
        on_left, on_right = int(band.left[-1]), int(band.right[-1])
        caught = math.inf
        for hits, trials in ((band.right, (on_left, on_right)), (band.left[-1] - band.left, (on_right, on_left))):
            rates = np.maximum(hits, 1.0) / max(trials[1], 1)
            slack = lines[1][:, None] + finite_exp(lines[0])[:, None] * rates
            best = np.argmin(slack, axis=0)  # the line that allows least where the other side has this rate
            usable = slack.min(axis=0) < 1
            of_events = lines[0][best][usable], lines[1][best][usable]
            caught = min(caught, caught_excess(of_events, rates[usable], trials, self.alpha, chance))
        return caught

    def foreseen(self, share: float, chance: float) -> float:
        """See Method. The score tells left on half of this share of the outputs, and right on the other half."""
        half = self.planned // 2
        lines = join_lines(*lines_of(self.claim.both_ways()))
        rates = (share - lines[1]) / (1 + finite_exp(lines[0]))
        usable = (rates > 0) & (rates * half >= 1)
        of_lines = lines[0][usable], lines[1][usable]
        return caught_excess(of_lines, rates[usable], (half, half), self.alpha, chance)

    def interval(self, counts: ScoreCounts, error: float) -> Limits:
        """See Method. The limits are for one event, the upper half of the score's cells: a band gives no upper limit on a loss."""
        event = count_score_event(counts, 0.5).left
        low, high = clopper_pearson_limits(event.hits_left, event.trials_left, error / 2)
        other_low, other_high = clopper_pearson_limits(event.hits_right, event.trials_right, error / 2)
        worst = largest_excess(self.claim, np.array([high, 1.0]), np.array([other_low, 1.0]))
        return largest_excess(self.claim, np.array([low, 1.0]), np.array([other_high, 1.0])), worst


@functools.lru_cache(maxsize=256)
def band_of(counts: ScoreCounts, alpha: float) -> CurveBand:
    """Return the band of counts in cells. A p-value takes bands at some twenty levels, and several steps ask for it."""
    return CurveBand.of_cells(counts.left, counts.right, alpha)


def searched_points(claim: Tradeoff) -> list[ApproximateDP]:
    """Return the lines that limit type II errors most at the type I errors of SEARCHED_AT, without repetitions.

    >>> searched_points(Tradeoff([(0, 1), (0.25, 0.25), (1, 0)]))
    [ApproximateDP(epsilon=1.0986122886681098, delta=0.0)]
    """
    lines = list(itertools.chain(*claim.both_ways().lines()))

    def limit(alpha: float, line: ApproximateDP) -> float:
        return 1 - line.delta - math.exp(line.epsilon) * alpha

    best = (max(lines, key=functools.partial(limit, alpha)) for alpha in SEARCHED_AT)
    kept: dict[tuple[float, float], ApproximateDP] = {}
    for line in best:
        kept.setdefault((round(line.epsilon, 9), round(line.delta, 9)), line)
    return list(kept.values())
