"""The sequential flow for privacy claims: outputs are bet on as they come, until the claim is refuted or the budget spent.

If the domain has several pairs, short searches and longer games take turns, each pair of stages four times as long as
the one before. Wealth is carried from game to game: which pair is played next depends on the past only, and the claim
speaks of all pairs.
"""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.draw import Draw, as_drawn
from auditor.auditing.health_checks import all_alike, commonest
from auditor.auditing.outcome import Evidence, Seen, no_answer
from auditor.auditing.pair_search import find_pair
from auditor.auditing.plan import CHANCES, Plan
from auditor.auditing.smallest import shrink
from auditor.blackbox.batches import Phase, rng_at
from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.sample import Sample, join_samples
from auditor.bounds.betting import refuted_up_to
from auditor.bounds.digits import significant
from auditor.bounds.evidence import Bound
from auditor.bounds.intervals import Floats
from auditor.claims import PrivacyClaim
from auditor.errors import how_many
from auditor.events.histogram import Histogram
from auditor.events.observed import ObservedBets
from auditor.methods import game_for
from auditor.methods.game import Game, hypotheses, just_above
from auditor.neighbours.pair import Pair
from auditor.results.result import Illustration, Judgement
from auditor.verdict import judge

FIRST_STAGE, GROWTH_OF_STAGES = 2_000, 4
STAGE_FOR_SEARCH = 0.25  # of the outputs of a stage
# The first outputs of a game are taken in one draw, later draws are this share of what came before.
FIRST_DRAW, GROWTH_OF_DRAWS = 6, 0.25
# Outputs drawn where the first outputs all raise.
DRAW_AFTER_FAILURE = 100
# Outputs to shrink, for each that refuted the claim, but no less than this share of those allowed. Bets may need fewer than a
# hundred, and from a hundred nothing simpler can be learned and confirmed. Of a million outputs, a tenth led to the smallest pair
# with 10 of 12 seeds, and a twentieth with 7.
TO_SHRINK, LEAST_TO_SHRINK = 60, 0.1


@dataclass
class Wealth:
    """Against each hypothesis: ln of the wealth carried from earlier games, and the highest value so far.

    ``looks`` lists the number of outputs at each look, and the highest value until then.
    """

    grid: Floats
    carried: Floats
    highest: Floats
    looks: list[tuple[int, Floats]] = field(default_factory=list)

    def look(self, game: Game, outputs: int) -> None:
        """Note how high the wealth is now, after this number of outputs."""
        self.highest = np.maximum(self.highest, self.carried + game.log_wealth())
        self.looks.append((outputs, self.highest))

    def carry(self, game: Game) -> None:
        """Take the wealth of a game that has ended to the next one."""
        self.carried = self.carried + game.log_wealth()

    def bound(self, alpha: float) -> float:
        """Return the largest hypothesis refuted at a level together with all smaller ones."""
        return self._refuted(self.highest, alpha)

    def growth(self, alpha: float) -> list[tuple[int, float]]:
        """Return (outputs, bound) for each look. All bounds hold together."""
        return [(outputs, self._refuted(highest, alpha)) for outputs, highest in self.looks]

    def _refuted(self, highest: Floats, alpha: float) -> float:
        return refuted_up_to(self.grid, highest >= -math.log(alpha))

    def p_value(self, claim: float) -> float:
        """Return the smallest level at which the bound lies above the claim."""
        return min(1.0, math.exp(-float(self.highest[self.grid <= claim + 1e-12].min())))


def audit_sequentially(plan: Plan, draw: Draw) -> Seen:
    """Audit a claim on pairs of neighbours, stopping as soon as it is refuted.

    The chance that a sound mechanism is ever refuted is at most alpha, however long it runs.
    """
    claim, settings, sizes = plan.claim, plan.settings, plan.settings.sizes
    assert isinstance(claim, PrivacyClaim)
    play = _Play(plan, draw, claim)
    pair = plan.domain.corners()[0]
    while play.stage == 0 or (not play.reason and not play.failure and draw.left() > 0):
        length = FIRST_STAGE * GROWTH_OF_STAGES**play.stage
        most = length if settings.outputs is None else min(length, draw.left())
        found = find_pair(plan, replace(sizes, search=round(STAGE_FOR_SEARCH * most)), draw, play.stage)
        pair, left = found.pair, draw.left()
        # With a single pair there is nothing to search for, and one game takes it all.
        play.on(pair, min(left, length - found.outputs) if found.outputs else left)
    if play.failure:
        return no_answer(f"the mechanism failed on every call: {play.failure}", sizes, pair)
    drawn = draw.spent.bound
    reason = play.reason or f"all {drawn:,} outputs drawn"
    if not drawn:
        return no_answer(f"{reason}: no output was drawn for the bound", sizes, pair)
    evidence = BetEvidence(claim, play.game, play.wealth, play.game.histograms(), reason)
    last = play.game.history.sample()
    if commonest(last) == 1 and not evidence.refutes(plan.alpha):
        return no_answer(all_alike(last.size), sizes, pair)
    to_shrink = min(settings.samples, max(TO_SHRINK * drawn, round(LEAST_TO_SHRINK * settings.samples)))
    return Seen(
        evidence,
        sizes,
        pair,
        last,
        # A game that ends where its bets are won has no equal halves.
        () if play.refuted else play.game.halves(),
        None if play.failures else functools.partial(shrink, plan, sizes, draw, pair, outputs=to_shrink),
    )


@dataclass(frozen=True, slots=True)
class BetEvidence(Evidence):
    """The wealth that bets made on the pairs that were played, and the last game."""

    claim: PrivacyClaim
    game: Game
    wealth: Wealth
    histograms: tuple[Histogram, ...]
    reason: str

    def bound(self, alpha: float) -> float:
        return self.wealth.bound(alpha)

    def p_value(self) -> float:
        """See Evidence; the p-value is the inverse of the highest wealth."""
        return self.wealth.p_value(just_above(self.claim))

    def judge(self, alpha: float) -> Judgement:
        bound = Bound(self.claim.quantity, self.bound(alpha), 1 - alpha, "sequential bets")
        event = ObservedBets(
            "bets on the side of each output, by quantiles of past outputs and by a score learned from them",
            tuple(map(significant, self.wealth.grid.tolist())),
            tuple(map(significant, self.wealth.highest.tolist())),
        )
        power = {name: self.game.detectable(alpha, chance) for name, chance in CHANCES}
        return Judgement(
            judge(self.claim, bound, could_refute=self._could_refute(alpha, power)),
            self.reason,
            bound,
            event,
            power,
            self.p_value(),
            alpha,
            Illustration(self.histograms, self.wealth.growth(alpha)),
        )

    def _could_refute(self, alpha: float, power: Mapping[str, float]) -> bool:
        """Whether some violation refutes the claim by this number of outputs, on these bets or on some that tell all."""
        outputs, chance = self.wealth.looks[-1][0], CHANCES[0][1]
        foreseen = game_for(self.claim).foreseen
        return any(map(math.isfinite, power.values())) or foreseen(self.claim, alpha, outputs, 1.0, chance) < math.inf


class _Play:
    """The games of one audit, one after the other; ``reason`` is why all play stops, ``failure`` what every call ended with.

    ``failures`` counts outputs that were bet on and cost time, by ending their process or being late.
    """

    def __init__(self, plan: Plan, draw: Draw, claim: PrivacyClaim) -> None:
        grid = hypotheses(claim)
        self.plan, self.draw, self.claim = plan, draw, claim
        self.wealth = Wealth(grid, np.zeros(len(grid)), np.zeros(len(grid)))
        self.game = self._new_game()
        self.stage, self.failures = 0, 0
        self.reason, self.failure, self.refuted = "", "", False

    def _new_game(self) -> Game:
        return game_for(self.claim).new(self.claim, self.plan.alpha)

    def on(self, pair: Pair, outputs: int) -> None:
        """Play a new game on a pair until outputs or time run out or the claim is refuted. Then carry its wealth on."""
        before, spent, self.game = self.game, self.draw.spent.bound, self._new_game()
        self._play(pair, outputs)
        self.wealth.carry(self.game)
        self.stage += 1
        if self.draw.spent.bound == spent:  # nothing was seen of this game, so the last one is that before
            self.game = before

    def _play(self, pair: Pair, outputs: int) -> None:
        draw, wealth, alpha = self.draw, self.wealth, self.plan.alpha
        at_claim = int(np.searchsorted(wealth.grid, just_above(self.claim)))
        target = -math.log(alpha) - float(wealth.carried[at_claim])
        played, draws, raised = 0, 0, False
        while played < outputs:
            if draw.time_is_up(draw.spent.bound):
                self.reason = f"{self.plan.settings.seconds:g} seconds were over"
                return
            first = DRAW_AFTER_FAILURE if raised else FIRST_DRAW
            size = min(outputs - played, first if played == 0 else max(FIRST_DRAW, int(GROWTH_OF_DRAWS * played)))
            drawn, labels, sample = self._draw(pair, size, (self.stage, draws))
            self.failures += sample.failures
            if played == 0 and (failure := drawn.failure()):
                if raised:
                    self.failure = failure
                    return
                raised, draws = True, 1
                continue
            # Where the claim is refuted but a smaller hypothesis is not yet, there is nothing to stop at within a draw.
            still_open = wealth.highest[at_claim] < -math.log(alpha)
            used = self.game.play(drawn, labels, at_claim, target if still_open else math.inf)
            played, draws = played + used, draws + 1
            draw.spend(Phase.BOUND, used)
            wealth.look(self.game, draw.spent.bound)
            bound = functools.partial(wealth.bound, alpha)
            draw.report(Phase.BOUND, draw.spent.bound, self.plan.settings.samples, bound)
            if wealth.bound(alpha) > self.claim.value:
                self.reason, self.refuted = f"refuted after {how_many(draw.spent.bound, 'output')}", True
                return

    def _draw(self, pair: Pair, size: int, number: tuple[int, int]) -> tuple[Outputs, NDArray[np.bool_], Sample]:
        """Draw labelled outputs in a random order of the sides; return them, their labels, and them as they were drawn.

        Each output has a call of its own: a game may end on few outputs, too few to see that those of one call are alike.
        """
        sampler = self.draw.sampler()
        batches = sampler.batches(pair, size, Phase.BOUND, one_by_one=True, number=number)
        sample = join_samples(list(sampler.map(batches, as_drawn)))
        # The sides of trials are independent coins. So any order of them is as good as that of the draws.
        order = rng_at(self.plan.settings.seed, Phase.BOUND, *number).permutation(size)
        labels = np.arange(size) < sample.left.size
        return concatenate([sample.left, sample.right])[order], labels[order], sample
