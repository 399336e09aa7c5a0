"""Evidence apart from judgement: counts for or against a claim, which are judged once the level is known."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auditor.auditing.plan import CHANCES
from auditor.auditing.tally import Tally
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Bound
from auditor.bounds.one_run import OneRunGuesses
from auditor.claims import Claim, PrivacyClaim, Probability
from auditor.events.histogram import Histogram
from auditor.events.observed import ObservedCanaries
from auditor.interfaces import AnyMethod, Test
from auditor.methods.probability import SelfReportedEvent
from auditor.neighbours.pair import Pair
from auditor.results.result import Illustration, Judgement, Turn
from auditor.verdict import Verdict, judge, smallest_level


class Evidence(ABC):
    """The counts for or against a claim. They can be judged at any level."""

    claim: Claim

    @abstractmethod
    def bound(self, alpha: float) -> float:
        """Return a bound on the claim's quantity. It lies beyond the truth with probability at most alpha."""

    @abstractmethod
    def judge(self, alpha: float) -> Judgement:
        """Return the judgement of the claim by the evidence, at a level."""

    def refutes(self, alpha: float) -> bool:
        """Whether the claim is refuted at a level."""
        return self.claim.excess(self.bound(alpha)) > 0

    def p_value(self) -> float:
        """Return the smallest level at which the claim is refuted."""
        return smallest_level(self.refutes)


@dataclass(frozen=True, slots=True)
class CountedTest:
    """The counts of a test in fresh outputs, for a bound by a method at a share of the level.

    The test was frozen before these outputs were drawn. ``round`` is the number of the round that drew them.
    """

    method: AnyMethod
    test: Test[Any]
    counts: Any
    outputs: int
    share: float
    round: int

    def at(self, alpha: float) -> AnyMethod:
        """Return the method at this test's share of a level."""
        return replace(self.method, alpha=self.share * alpha)

    def bound(self, alpha: float) -> float:
        """Return the bound. All bounds of all rounds hold together with probability at least 1 − alpha."""
        return float(self.at(alpha).bound(self.test, self.counts))


@dataclass(frozen=True, slots=True)
class Finding:
    """A pair, the ``sample`` of outputs on it from which a test was learned (None for a given test), and the test's counts.

    ``tally`` holds the counts of all tests of the same round.
    """

    pair: Pair
    sample: Sample | None
    counted: CountedTest
    tally: Tally


def best_of(claim: Claim, alpha: float, findings: Sequence[Finding]) -> Finding:
    """Return the finding with the largest bound at a level; ties go to the later round, then to the larger share."""
    return max(
        findings,
        key=lambda each: (claim.excess(each.counted.bound(alpha)), each.counted.round, each.counted.share),
    )


@dataclass(frozen=True, slots=True)
class CountEvidence(Evidence):
    """The ``counted`` tests of all rounds. The test with the largest bound at the level of the plan is ``shown``.

    All bounds hold together, so the choice among them costs nothing. ``histograms`` and ``dialogue`` show the outputs from which
    the test was learned. ``reason`` says why no more outputs were drawn.
    """

    claim: Claim
    shown: CountedTest
    counted: Sequence[CountedTest]
    reason: str
    histograms: Sequence[Histogram] = ()
    dialogue: Sequence[Turn] = ()

    def bound(self, alpha: float) -> float:
        return self.shown.bound(alpha)

    def judge(self, alpha: float) -> Judgement:
        method, test, counts = self.shown.at(alpha), self.shown.test, self.shown.counts
        bound = replace(method.proved(test, counts), confidence=1 - alpha)
        power = {name: method.detectable(test, counts, chance) for name, chance in CHANCES}
        is_measured = not self.claim.is_stated
        return Judgement(
            judge(self.claim, bound, could_refute=self._could_refute(method, power)),
            self.reason,
            bound,
            test.report(counts),
            None if is_measured else power,
            self.p_value(),
            alpha,
            self.shown.share,
            self.shown.round,
            Illustration(
                self.histograms, self._growth(alpha), method.profile(counts), self.dialogue, method.curve(counts)
            ),
        )

    def _growth(self, alpha: float) -> list[tuple[int, float]]:
        """Return the outputs and the largest bound of each round; for the shown test's round, the shown bound."""
        largest = dict[int, tuple[int, float]]()
        for each in self.counted:
            _, before = largest.get(each.round, (0, -math.inf))
            largest[each.round] = each.outputs, max(before, each.bound(alpha))
        return list({**largest, self.shown.round: (self.shown.outputs, self.bound(alpha))}.values())

    def _could_refute(self, method: AnyMethod, power: Mapping[str, float]) -> bool:
        """Whether so many outputs can refute the claim, on this event or on one that distinguishes all outputs."""
        on_event = any(map(math.isfinite, power.values()))
        planned = replace(method, planned=self.shown.outputs)
        return on_event or planned.foreseen(1.0, CHANCES[0][1]) < math.inf


@dataclass(frozen=True, slots=True)
class RateEvidence(CountEvidence):
    """The counts of an event on single data sets. The bound on its probability is on the side that could refute the claim.

    On a data set, such a claim can be refuted or confirmed. Only one of the two can be wrong, so each may use all of alpha.
    """

    def judge(self, alpha: float) -> Judgement:
        claim, counts = self.claim, self.shown.counts
        assert isinstance(claim, Probability)
        rate: Any = self.shown.at(alpha)
        test = SelfReportedEvent(claim, rate.alpha)
        refuted, event = self.refutes(alpha), test.report(counts)
        # If the claim is refuted, show the limit that lies beyond the claim; otherwise show the other limit.
        is_lower = refuted if claim.at_most else not refuted
        power = {name: rate.detectable(test, counts, chance) for name, chance in CHANCES}
        return Judgement(
            Verdict.VIOLATION if refuted else Verdict.NO_VIOLATION_FOUND,
            "confirmed on the worst data set found" if event.confirmed else self.reason,
            replace(test.limit(counts, lower=is_lower), confidence=1 - alpha),
            event,
            power if all(map(math.isfinite, power.values())) else None,
            self.p_value(),
            alpha,
            self.shown.share,
            self.shown.round,
            Illustration(growth=[(each.outputs, each.bound(alpha)) for each in self.counted]),
        )


@dataclass(frozen=True, slots=True)
class CanaryEvidence(Evidence):
    """How many guesses were right in ``runs``, each with the same number of ``canaries``, for a bound at a share of the level."""

    claim: PrivacyClaim
    guesses: OneRunGuesses
    canaries: int
    runs: int
    reason: str
    share: float

    def bound(self, alpha: float) -> float:
        return self.guesses.bound(self.claim, self.share * alpha)

    def refutes(self, alpha: float) -> bool:
        """See Evidence; faster, since it does not compute the bound."""
        return self.guesses.refute(self.claim, self.share * alpha)

    def p_value(self) -> float:
        """See Evidence; in closed form if canaries are ``apart``: no canary affects another's score."""
        if not self.guesses.apart:
            return Evidence.p_value(self)
        return min(1.0, self.guesses.p_value_independent(self.claim) / self.share)

    def judge(self, alpha: float) -> Judgement:
        name = "guesses in one run" if self.runs == 1 else f"guesses in {self.runs:,} runs"
        bound = Bound(self.claim.quantity, self.bound(alpha), 1 - alpha, name)
        own, epsilons = self.share * alpha, np.linspace(0.0, max(1.0, 2 * self.claim.value), 17).tolist()
        best = self.guesses.best(self.claim, own)
        event = ObservedCanaries(
            f"the surest guesses at which of {self.canaries:,} canaries were in the data",
            self.canaries,
            self.runs,
            self.guesses.apart,
            tuple(
                (each.guesses, each.wins) for each in (best, *(each for each in self.guesses.tallies if each != best))
            ),
        )
        return Judgement(
            judge(self.claim, bound),
            self.reason,
            bound,
            event,
            {name: self.guesses.detectable(self.claim, own, chance) for name, chance in CHANCES},
            self.p_value(),
            alpha,
            self.share,
            illustration=Illustration(profile=tuple((each, self.guesses.delta(each, own)) for each in epsilons)),
        )
