"""Sequential bets against a divergence."""

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Labels
from auditor.bounds.evidence import ScoreCounts
from auditor.bounds.intervals import Floats
from auditor.claims import DivergenceClaim
from auditor.events.histogram import Histogram
from auditor.methods.divergence import Divergence, ScoreTest
from auditor.methods.game import Game, hypotheses
from auditor.methods.history import LEAST_TO_LEARN, MOST_KEPT, History, reached

# Outputs that show what earlier wagers would have earned.
MOST_TO_FORESEE = 50_000


@dataclass
class DivergenceGame(Game):
    """Bets against a divergence, by wagers on a score that are learned anew as outputs accumulate.

    With each wager a bettor joins, who plays that wager and all later ones. The k-th bettor starts with 1/(k(k + 1)) of the wealth,
    unused until it joins. So losses of early wagers, learned from few outputs, do not reduce the wealth of later ones.
    """

    grid: Floats
    claim: DivergenceClaim
    alpha: float
    history: History = field(default_factory=History)
    test: ScoreTest | None = None
    learned_at: int = 0
    # ln of what each bettor has made of one unit, against each hypothesis.
    made: Floats = field(init=False)
    # Tests that were played, and on how many outputs each.
    played: list[tuple[ScoreTest, int]] = field(default_factory=list)
    seen: list[tuple[ScoreTest, ScoreCounts, int]] | None = None  # with what they see in all outputs so far

    def __post_init__(self) -> None:
        self.made = np.zeros((0, len(self.grid)))

    @classmethod
    def new(cls, claim: DivergenceClaim, alpha: float) -> Self:
        return cls(hypotheses(claim), claim, alpha)

    @staticmethod
    def foreseen(claim: DivergenceClaim, alpha: float, planned: int, share: float, chance: float) -> float:
        """See Game; as for a fixed number of trials."""
        return Divergence(claim, alpha, planned).foreseen(share, chance)

    def log_wealth(self) -> Floats:
        """See Game; half of the wealth against each smaller hypothesis is bet against the claim, which the hypothesis implies.

        Wagers are not played against all hypotheses. By themselves, those that were played against the small ones only may have
        lost there what was won later against the claim, which would be refuted, and still no bound above it be proved.
        """
        wealth, at_claim = self._all_together(self.made), int(np.searchsorted(self.grid, self.claim.value))
        smaller = np.logaddexp(wealth[:at_claim], wealth[at_claim]) - math.log(2)
        return np.concatenate([smaller, wealth[at_claim:]])

    @staticmethod
    def _all_together(made: Floats) -> Floats:
        """Return ln of all bettors' wealth, for the first axis of theirs; those who have not joined keep what they have aside."""
        from scipy.special import logsumexp

        with_rest = np.concatenate([made, np.zeros((1, *made.shape[1:]))])
        return np.asarray(logsumexp(with_rest, axis=0, b=_shares(len(made)).reshape(-1, *[1] * (made.ndim - 1))))

    def detectable(self, alpha: float, chance: float) -> float:
        """See Game; an estimate for the wagers played. A worse mechanism would have led to better wagers."""
        if self.seen is None:
            sample = self.history.sample(MOST_TO_FORESEE)
            self.seen = [(test, test.count(sample), outputs) for test, outputs in self.played]
        bettors = enumerate(zip(_shares(len(self.seen)), self.seen, strict=False))
        return min(
            (
                Divergence(self.claim, alpha * share, self.history.size).caught(self.seen[k:], chance)
                for k, (share, _) in bettors
            ),
            default=math.inf,
        )

    def histograms(self) -> tuple[Histogram, ...]:
        return self.test.histograms(self.history.sample()) if self.test is not None else ()

    def play(self, outputs: Outputs, labels: Labels, claim: int, target: float) -> int:
        played = outputs.size
        if self.test is not None:
            increments = self._increments(self.test, outputs, labels)
            path = self._all_together(self.made[:, claim, None] + increments[:, claim].cumsum())
            played = reached(path, target)
            self.made = self.made + increments[:played].sum(0)
            self._note(self.test, played)
        self.history.add(outputs[:played], labels[:played])
        if LEAST_TO_LEARN <= self.history.size >= 1.5 * self.learned_at and self.learned_at < MOST_KEPT:
            self.learned_at = self.history.size
            # As if three times as many outputs as were seen so far were still to come.
            self.test = Divergence(self.claim, self.alpha, 3 * self.history.size).learn(self.history.sample()).test
            self.made = np.concatenate([self.made, np.zeros((1, len(self.grid)))])
        return played

    def halves(self) -> list[list[list[int]]]:
        return self.history.halves()

    def _note(self, test: ScoreTest, played: int) -> None:
        before = self.played.pop()[1] if self.played and self.played[-1][0] is test else 0
        self.played.append((test, before + played))
        self.seen = None

    def _increments(self, test: ScoreTest, outputs: Outputs, labels: Labels) -> Floats:
        wager = test.wager
        factors = wager.factors(self.claim.scale(wager.order) * self.grid)
        # Against a hypothesis under which the wealth could fall below 0, nothing is bet.
        playable = np.all(factors > 0, axis=(0, 1))
        logs = np.where(playable, np.log(np.where(playable, factors, 1.0)), 0.0)
        on_p_side = labels != wager.swapped
        return np.asarray(logs[np.where(on_p_side, 0, 1), test.cells(outputs)])


def _shares(bettors: int) -> Floats:
    """Return the share of the starting wealth that each has who joined, and at the end what is still aside."""
    joined = np.arange(1, bettors + 1)
    return np.append(1 / (joined * (joined + 1)), 1 / (bettors + 1))
