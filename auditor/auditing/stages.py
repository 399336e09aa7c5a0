"""A search as a list of stages, which is data: what each looks at, by which share of the outputs, and why."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from auditor.auditing.looks import Forecast, Looks
from auditor.claims import PrivacyClaim
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import LEAST_OUTPUTS, Found

ScoredPair = tuple[Pair, float]


@dataclass(frozen=True, slots=True)
class Known:
    """The knowledge of a search between two stages. ``claim`` is the claim of the size that is looked for. ``first`` are pairs
    that are always part of the last comparison. If a small loss showed at a distance, ``along`` is the path of pairs, and
    ``by_step`` the score for each of its steps. ``best`` are the pairs for the next stage, and ``found`` is the best pair so far.
    """

    claim: PrivacyClaim
    first: tuple[Pair, ...] = ()
    along: tuple[Pair, ...] = ()
    by_step: float = -np.inf
    simplest: tuple[ScoredPair, ...] = ()
    closely: tuple[ScoredPair, ...] = ()
    tried: tuple[Pair, ...] = ()
    reacting: tuple[Pair, ...] = ()
    best: tuple[Pair, ...] = ()
    found: Found | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """The input of a stage: its name, its share of the outputs, the outputs of the whole list, and its inner stages."""

    name: str
    outputs: float
    whole: int
    parts: "tuple[SearchStage, ...]"


@dataclass(frozen=True, slots=True)
class SearchStage:
    """A stage of the search.

    ``share`` is its part of the outputs of its list; None means the outputs that the other stages leave. A stage may draw fewer.
    ``only`` states the condition of the stage, and ``when`` tests it. A stage without these is always carried out.
    """

    name: str
    share: float | None
    look: Callable[[Looks, Known, Given], Known]
    why: str
    only: str = ""
    when: Callable[[Looks, Known, Given], bool] | None = None
    parts: "tuple[SearchStage, ...]" = ()


def in_stages(stages: Sequence[SearchStage], looks: Looks, known: Known, outputs: int) -> Known:
    """Carry out stages in their order, and return the knowledge after them."""
    before = looks.spent
    for number, stage in enumerate(stages):
        later = sum(one.share or 0.0 for one in stages[number + 1 :])
        left = round((1 - later) * outputs) - (looks.spent - before)
        share = left if stage.share is None else stage.share * outputs
        given = Given(stage.name, share, outputs, stage.parts)
        if stage.when is None or stage.when(looks, known, given):
            known = stage.look(looks, known, given)
    return known


def planned_stages(
    stages: Sequence[SearchStage], outputs: float, depth: int = 0
) -> Iterator[tuple[int, SearchStage, float]]:
    """Yield each stage with its depth and its outputs if all stages are carried out. Inner stages follow their stage.

    >>> from auditor.auditing.pair_search import SEARCH
    >>> next(planned_stages(SEARCH, 100_000))[2]
    15000.0
    """
    fixed = sum(stage.share or 0.0 for stage in stages)
    for stage in stages:
        share = (1 - fixed if stage.share is None else stage.share) * outputs
        yield depth, stage, share
        yield from planned_stages(stage.parts, share, depth + 1)


def look_at(looks: Looks, given: Given, pairs: Sequence[Pair], forecast: Forecast) -> tuple[ScoredPair, ...]:
    """Score as many pairs as the outputs of the stage allow; return each with its forecast."""
    outputs = int(given.outputs)
    pairs = pairs[: max(1, outputs // LEAST_OUTPUTS)]
    if not pairs:
        return ()
    scores = looks.on_pairs(given.name, pairs, outputs // len(pairs), forecast)
    return tuple(zip(pairs, scores, strict=True))
