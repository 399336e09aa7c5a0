"""The search for a pair, by the bound that a method forecasts for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.auditing.plan import Ledger
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.mechanism import Sample
from auditor.blackbox.outputs import Column
from auditor.bounds.power import relative_size
from auditor.claims import PrivacyClaim
from auditor.methods.base import Method
from auditor.neighbours.domains import Pairs
from auditor.neighbours.edges import OUTPUTS_FOR_KIND
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_OUTPUTS, LEAST_ROUNDS, search_pairs


def find_pair(method: Method[Any], ledger: Ledger, outputs: int, stage: int = 0) -> tuple[Pair, int]:
    """Search the domain for the pair with the best forecast; return it, and how many outputs that took."""
    plan, rounds, before = ledger.plan, 0, ledger.spent.search
    assert isinstance(plan.claim, PrivacyClaim)
    # Who spells pairs out wants each of them tried.
    enough = LEAST_OUTPUTS if isinstance(plan.domain, Pairs) else enough_outputs(plan.claim, outputs)
    if enough > LEAST_OUTPUTS:
        method = method.doubting()
    known: dict[str, str] = {}

    def draw(pairs: Sequence[Pair], outputs_each: int) -> list[float]:
        nonlocal rounds
        ledger.pairs.update(pair.key() for pair in pairs)
        batches = [Batch(pair, outputs_each, Phase.SEARCH, (stage, rounds, i)) for i, pair in enumerate(pairs)]
        score = _PairScore(Forecast(method.boldly(CAUTION[min(rounds, len(CAUTION) - 1)])))
        rounds += 1
        seen = ledger.draw_each(batches, score)
        known.update((pair.key(), kind) for pair, (_, kind) in zip(pairs, seen, strict=True))
        return [forecast for forecast, _ in seen]

    def kinds(pairs: Sequence[Pair]) -> list[str]:
        new = [pair for pair in pairs if pair.key() not in known]
        if new:
            batches = [
                Batch(p, OUTPUTS_FOR_KIND, Phase.SEARCH, (stage, EDGES, len(known) + i)) for i, p in enumerate(new)
            ]
            known.update(zip((pair.key() for pair in new), ledger.draw_each(batches, kind_of), strict=True))
        return [known[pair.key()] for pair in pairs]

    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(Phase.SEARCH, stage)))
    pair = search_pairs(plan.domain, draw, outputs, rng, enough_outputs=enough, kinds=kinds)
    return pair, ledger.spent.search - before


# Standard errors on the safe side, by round: a pair that looks good by luck is found out in the next round, one that is
# dismissed is not looked at again.
CAUTION = (1.0, 1.5, 2.0, 3.0)
# Stands for the round in the addresses of outputs drawn for edges.
EDGES = 99
# How many pairs the first round looks at, at least, where each is given what its claim needs.
FEWEST_PAIRS = 16


def enough_outputs(claim: PrivacyClaim, outputs: int) -> int:
    """Return how many outputs each pair should get in a search that has so many.

    To tell a difference takes the inverse square of its size. The cube is a rule of thumb and not derived: it leaves ε = 1 as it
    is, and gives about 50,000 at ε = 0.1, where simulated searches on sparse vectors did better with some 20 to 50 pairs than
    with 100. Where this leaves too few pairs, little can be told of any, and to look at many is taken to be worth more.

    >>> from auditor.claims import PureDP
    >>> enough_outputs(PureDP(1.0), 150_000), enough_outputs(PureDP(0.1), 150_000), enough_outputs(PureDP(0.1), 6_000_000)
    (64, 64, 50654)
    """
    needed = LEAST_OUTPUTS / max(relative_size(claim), 1e-3) ** 3
    affordable = outputs // LEAST_ROUNDS >= FEWEST_PAIRS * needed
    return max(LEAST_OUTPUTS, round(needed)) if affordable else LEAST_OUTPUTS


def has_enough(claim: PrivacyClaim, outputs: int) -> bool:
    """Whether an audit whose search has so many outputs can give a small claim what it needs, so that rules are doubted.

    >>> from auditor.claims import PureDP
    >>> has_enough(PureDP(1.0), 150_000), has_enough(PureDP(0.1), 150_000), has_enough(PureDP(0.1), 6_000_000)
    (False, False, True)
    """
    return enough_outputs(claim, outputs) > LEAST_OUTPUTS


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast the bound on a pair, or on a data set ``alone``, from outputs on it; a class, since it travels to the workers."""

    method: Method[Any]
    alone: bool = False

    def __call__(self, sample: Sample) -> float:
        """Return the forecast; −∞ where there are too few outputs."""
        if min(sample.left.size, sample.right.size) < 4 and not self.alone:
            return -np.inf
        return self.method.learn(sample).forecast


@dataclass(frozen=True, slots=True)
class _PairScore:
    """Score a pair by the bound it is forecast to give, and tell its kind."""

    forecast: Forecast

    def __call__(self, sample: Sample) -> tuple[float, str]:
        return self.forecast(sample), kind_of(sample)


def kind_of(sample: Sample) -> str:
    """Tell what most outputs of either side hold at each place: numbers, or which atom."""
    return " | ".join(", ".join(_commonest(column) for column in side.columns) for side in (sample.left, sample.right))


def _commonest(column: Column) -> str:
    if column.codes is None or np.count_nonzero(column.codes < 0) * 2 >= len(column.codes):
        return f"{column.name}: number"
    return f"{column.name}: {column.atoms[np.bincount(column.codes[column.codes >= 0]).argmax()]}"
