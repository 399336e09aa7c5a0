"""The search for a pair, by the bound that a method forecasts for it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from auditor.auditing.plan import Ledger
from auditor.blackbox.mechanism import Sample
from auditor.blackbox.sampling import Batch, Phase
from auditor.methods.base import Method
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import search_pairs


def find_pair(method: Method[Any], ledger: Ledger, outputs: int, stage: int = 0) -> tuple[Pair, int]:
    """Search the domain for the pair with the best forecast; return it, and how many outputs that took."""
    plan, rounds, before = ledger.plan, 0, ledger.spent.search

    def evaluate(pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (stage, rounds, i)) for i, pair in enumerate(pairs)]
        score = _PairScore(method.boldly(CAUTION[min(rounds, len(CAUTION) - 1)]))
        rounds += 1
        return ledger.draw_each(batches, score)

    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(Phase.SEARCH, stage)))
    return search_pairs(plan.domain, evaluate, outputs, rng), ledger.spent.search - before


# Standard errors on the safe side, by round: a pair that looks good by luck is found out in the next round, one that is
# dismissed is not looked at again.
CAUTION = (1.0, 1.5, 2.0, 3.0)


class _PairScore:
    """Score a pair by the bound it is forecast to give; a class, since it travels to the workers."""

    def __init__(self, method: Method[Any]) -> None:
        self._method = method

    def __call__(self, sample: Sample) -> float:
        if min(sample.left.size, sample.right.size) < 4:
            return -np.inf
        return self._method.learn(sample).forecast
