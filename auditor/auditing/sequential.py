"""The sequential flow for privacy claims: outputs are bet on as they come, until the claim is refuted or the budget spent.

Where the domain has several pairs, short searches and longer games take turns, each pair of stages four times as long as
the one before. Capital is carried from game to game: which pair is played next depends on the past only, and the claim
speaks of all pairs.
"""

import functools
import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.oracle import exact_value
from auditor.auditing.plan import CHANCES, Ledger, as_drawn
from auditor.auditing.search import find_pair
from auditor.auditing.shrink import shrink
from auditor.blackbox.batches import Phase
from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.sample import Sample, join_samples
from auditor.bounds.betting import refuted_up_to
from auditor.bounds.evidence import Bound
from auditor.claims import PrivacyClaim
from auditor.events.histogram import Histogram
from auditor.events.observed import ObservedBets
from auditor.methods import game_for, method_for
from auditor.methods.game import Game, hypotheses, just_above
from auditor.neighbours.pair import Pair
from auditor.results.result import AuditResult, Illustration, Judgement, Smallest
from auditor.verdict import Verdict, judge

Floats = NDArray[np.float64]

FAILED, REFUTED = "the mechanism failed on every call", "refuted"
FIRST_STAGE, GROWTH_OF_STAGES = 2_000, 4
STAGE_FOR_SEARCH = 0.25  # of the outputs of a stage
# The first outputs of a game are taken in one draw, later draws are this share of what came before.
FIRST_DRAW, GROWTH_OF_DRAWS = 6, 0.25
# Where the first outputs all raise, so many are drawn one by one: a whole batch raises where one of its outputs does.
DRAW_AFTER_FAILURE = 100
# Outputs to shrink: so many for each that refuted the claim, but no less than this share of those allowed. Bets may need fewer than
# a hundred, and from so few nothing simpler can be learned and confirmed.
TO_SHRINK, LEAST_TO_SHRINK = 20, 0.01


@dataclass
class _Capital:
    """ln of the capital carried from earlier games, and the highest it has ever been, against each hypothesis.

    ``looks`` lists after how many outputs it was looked at, and the highest until then.
    """

    grid: Floats
    carried: Floats
    highest: Floats
    looks: list[tuple[int, Floats]] = field(default_factory=list)

    def look(self, game: Game, outputs: int) -> None:
        """Note how high the capital is now, after so many outputs."""
        self.highest = np.maximum(self.highest, self.carried + game.log_wealth())
        self.looks.append((outputs, self.highest))

    def bound(self, alpha: float) -> float:
        """Return the largest hypothesis refuted at a level together with all smaller ones."""
        return self._refuted(self.highest, alpha)

    def growth(self, alpha: float) -> list[tuple[int, float]]:
        """Return (outputs, bound) for each look; all of them hold together."""
        return [(outputs, self._refuted(highest, alpha)) for outputs, highest in self.looks]

    def _refuted(self, highest: Floats, alpha: float) -> float:
        return refuted_up_to(self.grid, highest >= -math.log(alpha))

    def p_value(self, claim: float) -> float:
        """Return the smallest level at which the bound lies above the claim."""
        return min(1.0, math.exp(-float(self.highest[self.grid <= claim + 1e-12].min())))


def audit_sequentially(claim: PrivacyClaim, ledger: Ledger) -> AuditResult:
    """Audit a claim on pairs of neighbours, stopping as soon as it is refuted.

    The chance that a sound mechanism is ever refuted is at most alpha, however long it runs.
    """
    plan = ledger.plan
    grid = hypotheses(claim)
    capital = _Capital(grid, np.zeros(len(grid)), np.zeros(len(grid)))
    method = method_for(claim, "fixed", plan.alpha, plan.settings.samples)
    stage, left, pair, reason = 0, plan.settings.samples, plan.domain.corners()[0], ""
    while left > 0 and not reason:
        length = FIRST_STAGE * GROWTH_OF_STAGES**stage
        found = find_pair(method, ledger, round(STAGE_FOR_SEARCH * length), stage)
        pair, searched = found.pair, found.outputs
        game = game_for(claim).new(claim, plan.alpha)
        # With a single pair there is nothing to search for, and one game takes it all.
        outputs = min(left, length - searched) if searched else left
        reason = _play(game, pair, outputs, stage, capital, ledger)
        capital.carried = capital.carried + game.log_wealth()
        left = plan.settings.samples - ledger.spent.bound
        stage += 1
    if reason.startswith(FAILED):
        return ledger.inconclusive(reason, pair=pair)
    if not reason.startswith(REFUTED):  # a game that ends where its bets are won has no equal halves
        ledger.look_for_drift(game.halves())
    ledger.exact = exact_value(plan, pair)
    reason = reason or f"all {plan.settings.samples:,} outputs drawn"
    result = _at_level(plan.alpha, game, ledger, pair, capital, reason, game.histograms())
    if result.verdict is not Verdict.VIOLATION or not plan.settings.shrinks or ledger.failures:
        return result
    outputs = max(TO_SHRINK * ledger.spent.bound, round(LEAST_TO_SHRINK * plan.settings.samples))
    smallest = shrink(claim, ledger, pair, outputs=min(plan.settings.samples, outputs))
    return _at_level(plan.alpha, game, ledger, pair, capital, reason, game.histograms(), smallest)


def _at_level(
    alpha: float,
    game: Game,
    ledger: Ledger,
    pair: Pair,
    capital: _Capital,
    reason: str,
    histograms: tuple[Histogram, ...],
    smallest: Smallest | None = None,
) -> AuditResult:
    claim = game.claim
    bound = Bound(claim.quantity, capital.bound(alpha), 1 - alpha, "sequential bets")
    event = ObservedBets(
        "bets on the side of each output, by quantiles of past outputs and by a score learned from them",
        tuple(capital.grid.tolist()),
        tuple(capital.highest.tolist()),
    )
    judgement = Judgement(
        judge(claim, bound),
        reason,
        bound,
        event,
        {name: game.detectable(alpha, chance) for name, chance in CHANCES},
        capital.p_value(just_above(claim)),
        alpha,
        Illustration(histograms, capital.growth(alpha)),
    )
    return ledger.result(
        judgement,
        pair,
        smallest,
        lambda level: _at_level(level, game, ledger, pair, capital, reason, histograms, smallest),
    )


def _play(game: Game, pair: Pair, outputs: int, stage: int, capital: _Capital, ledger: Ledger) -> str:
    """Play on one pair until outputs, time or the claim give out; return the reason to stop all play, or nothing."""
    claim: PrivacyClaim = game.claim
    at_claim = int(np.searchsorted(capital.grid, just_above(claim)))
    target = -math.log(ledger.plan.alpha) - float(capital.carried[at_claim])
    played, draw, raised, form = 0, 0, False, ""
    while played < outputs:
        if ledger.time_is_up(ledger.spent.bound):
            return f"{ledger.plan.settings.seconds:g} seconds were over"
        first = DRAW_AFTER_FAILURE if raised else FIRST_DRAW
        size = min(outputs - played, first if played == 0 else max(FIRST_DRAW, int(GROWTH_OF_DRAWS * played)))
        drawn, labels, sample = _draw(pair, size, (stage, draw), ledger, one_by_one=raised, form=form)
        form, ledger.failures = sample.form or form, ledger.failures + sample.failures
        if played == 0 and drawn.failure():
            if raised:
                return f"{FAILED}: {drawn.failure()}"
            raised, draw = True, 1
            continue
        raised = raised or drawn.has_exceptions()
        # Where the claim is refuted but a smaller hypothesis is not yet, there is nothing to stop at within a draw.
        still_open = capital.highest[at_claim] < -math.log(ledger.plan.alpha)
        used = game.play(drawn, labels, at_claim, target if still_open else math.inf)
        played, draw = played + used, draw + 1
        ledger.spend(Phase.BOUND, used)
        capital.look(game, ledger.spent.bound)
        ledger.so_far = functools.partial(capital.bound, ledger.plan.alpha)
        ledger.tell(Phase.BOUND, ledger.spent.bound, ledger.plan.settings.samples)
        if capital.bound(ledger.plan.alpha) > claim.value:
            return f"{REFUTED} after {ledger.spent.bound:,} outputs"
    return ""


def _draw(
    pair: Pair, size: int, number: tuple[int, int], ledger: Ledger, *, one_by_one: bool, form: str
) -> tuple[Outputs, NDArray[np.bool_], Sample]:
    """Draw labelled outputs in a random order of the sides; return them, their labels, and them as they were drawn."""
    sampler = ledger.sampler()
    batches = sampler.batches(pair, size, Phase.BOUND, one_by_one, form, number)
    sample = join_samples(list(sampler.map(batches, as_drawn)))
    # The sides of trials are independent coins, so that any order of them is as good as that of the draws.
    order = np.random.default_rng(
        np.random.SeedSequence(ledger.plan.settings.seed, spawn_key=(Phase.BOUND, *number))
    ).permutation(size)
    labels = np.arange(size) < sample.left.size
    return concatenate([sample.left, sample.right])[order], labels[order], sample
