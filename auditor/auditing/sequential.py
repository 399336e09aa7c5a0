"""The sequential flow for privacy claims: outputs are bet on as they come, until the claim is refuted or the budget spent.

Where the domain has several pairs, short searches and longer games take turns, each pair of stages four times as long as
the one before. Capital is carried from game to game: which pair is played next depends on the past only, and the claim
speaks of all pairs.
"""

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.plan import Ledger
from auditor.auditing.privacy import as_drawn
from auditor.auditing.search import find_pair
from auditor.blackbox.mechanism import Sample
from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.sampling import Batch, Phase
from auditor.bounds.betting import refuted_up_to
from auditor.bounds.evidence import Bound
from auditor.claims import PrivacyClaim
from auditor.methods import method_for
from auditor.methods.sequential import Game, hair_above, hypotheses, new_game
from auditor.neighbours.pair import Pair
from auditor.report.result import AuditResult
from auditor.verdict import Verdict, judge

Floats = NDArray[np.float64]

FIRST_STAGE, GROWTH_OF_STAGES = 2_000, 4
STAGE_FOR_SEARCH = 0.25  # of the outputs of a stage
# The first outputs of a game are taken in one draw, later draws are this share of what came before.
FIRST_DRAW, GROWTH_OF_DRAWS = 6, 0.25


@dataclass
class _Capital:
    """ln of the capital carried from earlier games, and which hypotheses have been refuted at any time."""

    grid: Floats
    target: float
    carried: Floats
    refuted: NDArray[np.bool_]

    def look(self, game: Game) -> None:
        """Note what the capital refutes now."""
        self.refuted |= self.carried + game.log_capital() >= self.target

    def bound(self) -> float:
        return refuted_up_to(self.grid, self.refuted)


def audit_sequentially(claim: PrivacyClaim, ledger: Ledger) -> AuditResult:
    """Audit a claim on pairs of neighbours, stopping as soon as it is refuted.

    The chance that a sound mechanism is ever refuted is at most alpha, however long it runs.
    """
    plan = ledger.plan
    grid = hypotheses(claim)
    capital = _Capital(grid, -math.log(plan.alpha), np.zeros(len(grid)), np.zeros(len(grid), np.bool_))
    stage, left, pair, reason = 0, plan.samples, plan.domain.corners()[0], ""
    while left > 0 and not reason:
        length = FIRST_STAGE * GROWTH_OF_STAGES**stage
        method = method_for(claim, "fixed", plan.alpha, plan.samples)
        pair, searched = find_pair(method, ledger, round(STAGE_FOR_SEARCH * length), stage)
        game = new_game(claim, plan.alpha)
        # With a single pair there is nothing to search for, and one game takes it all.
        stake = min(left, length - searched) if searched else left
        reason = _play(game, pair, stake, stage, capital, ledger, hair_above(claim))
        capital.carried = capital.carried + game.log_capital()
        left = plan.samples - ledger.spent.bound
        stage += 1
    bound = Bound(claim.quantity, capital.bound(), 1 - plan.alpha, "sequential bets")
    at_claim = int(np.searchsorted(grid, hair_above(claim)))
    event = {
        "description": "bets on the side of each output, by quantiles of past outputs and by a score learned from them",
        "log_capital": float(capital.carried[at_claim]),
        "needed": capital.target,
        "hypotheses": grid.tolist(),
        "refuted": capital.refuted.tolist(),
    }
    verdict = judge(claim, bound)
    if reason.startswith("the mechanism failed") and verdict is not Verdict.VIOLATION:
        return ledger.result(Verdict.INCONCLUSIVE, reason, pair=pair)
    return ledger.result(verdict, reason or f"all {plan.samples:,} outputs drawn", pair=pair, event=event, bound=bound)


def _play(game: Game, pair: Pair, outputs: int, stage: int, capital: _Capital, ledger: Ledger, claim: float) -> str:
    """Play on one pair until outputs, time or the claim give out; return the reason to stop all play, or nothing."""
    at_claim = int(np.searchsorted(capital.grid, claim))
    played, draw = 0, 0
    while played < outputs:
        if ledger.plan.seconds is not None and time.monotonic() - ledger.started > ledger.plan.seconds:
            return f"{ledger.plan.seconds:g} seconds were over"
        size = min(outputs - played, FIRST_DRAW if draw == 0 else max(FIRST_DRAW, int(GROWTH_OF_DRAWS * played)))
        drawn, labels = _draw(pair, size, (stage, draw), ledger)
        if played == 0 and drawn.failure():
            return f"the mechanism failed on every call: {drawn.failure()}"
        used = game.play(drawn, labels, at_claim, capital.target - float(capital.carried[at_claim]))
        played, draw = played + used, draw + 1
        ledger.spend(Phase.BOUND, used)
        capital.look(game)
        if capital.bound() > claim - 1e-12:
            return f"refuted after {ledger.spent.bound:,} outputs"
    return ""


def _draw(pair: Pair, size: int, number: tuple[int, int], ledger: Ledger) -> tuple[Outputs, NDArray[np.bool_]]:
    """Draw labelled outputs in a random order of the sides."""
    most = ledger.plan.execution.batch
    batches = [
        Batch(pair, min(most, size - start), Phase.BOUND, (*number, i)) for i, start in enumerate(range(0, size, most))
    ]
    samples: list[Sample] = list(ledger.sampler().map(batches, as_drawn))
    left, right = concatenate([s.left for s in samples]), concatenate([s.right for s in samples])
    # The sides of trials are independent coins, so that any order of them is as good as that of the draws.
    order = np.random.default_rng(
        np.random.SeedSequence(ledger.plan.seed, spawn_key=(Phase.BOUND, *number))
    ).permutation(size)
    labels = np.arange(size) < left.size
    return concatenate([left, right])[order], labels[order]
