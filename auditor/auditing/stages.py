"""A search as a list of stages, which is data: what each looks at, by which share of the outputs, and why."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from auditor.auditing.looks import Look, Looks
from auditor.bounds.prospect import WORTH_OF_BOUND, Prior, Promised, prior_of_all
from auditor.claims import PrivacyClaim
from auditor.interfaces import AnyMethod
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import FIRST_LOOK, Found, best_first


@dataclass(frozen=True)
class Known:
    """The knowledge of a search between two of its stages.

    ``claim`` is of the size that is looked for. ``first`` are pairs that are looked at in any case. If a small loss showed at a
    distance, ``along`` is the path of pairs, and ``by_step`` the score for each of its steps. ``seen`` holds the last look at
    each pair, by its key. ``proposed`` are pairs that are to be looked at next. ``farthest`` moves outputs farthest, with the same
    noise on both sides. ``found`` is the pair that the search ends with.
    ``worth`` is that of a bound, next to the certainty to refute the claim.
    """

    claim: PrivacyClaim
    first: tuple[Pair, ...] = ()
    along: tuple[Pair, ...] = ()
    by_step: float = -np.inf
    seen: Mapping[str, Look] = field(default_factory=dict)
    proposed: tuple[Pair, ...] = ()
    farthest: Pair | None = None
    found: Found | None = None
    worth: float = WORTH_OF_BOUND

    def promises(self, enough: float) -> bool:
        """Return whether some look promises enough."""
        return self.most_promising()[1] >= enough

    def judged_by(self, method: AnyMethod) -> "Known":
        """Return what the same looks promise for the claim of another method."""
        seen = {key: look.judged_by(method) for key, look in self.seen.items()}
        return replace(self, claim=method.claim, seen=seen)

    def most_promising(self) -> tuple[Pair, float]:
        """Return the pair that promises most, and what it promises."""
        look, promised = self.best()[0]
        return look.pair, promised

    @functools.cached_property
    def prior(self) -> Prior:
        """The prior of losses, fitted to all pairs that were looked at."""
        return prior_of_all([look.prospects for look in self.seen.values()])

    @functools.cached_property
    def _promised(self) -> Promised:
        return Promised.of([look.prospects for look in self.seen.values()], self.claim.value, self.prior)

    def best(self, worth: float | None = None) -> list[tuple[Look, float]]:
        """Return all looks and what they promise, those first that promise most; ``worth`` is another worth of a bound."""
        looks, promised = list(self.seen.values()), self._promised.utilities(self.worth if worth is None else worth)
        return [(looks[i], promised[i]) for i in best_first(promised)]


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
    """Carry out stages in their order, and return what is known then."""
    before = looks.spent
    for number, stage in enumerate(stages):
        later = sum(one.share or 0.0 for one in stages[number + 1 :])
        left = max(0, round((1 - later) * outputs) - (looks.spent - before))
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


def look_at(looks: Looks, known: Known, given: Given, pairs: Sequence[Pair], **changes: Any) -> Known:
    """Look at pairs, as far as a stage has outputs for them; return what is known then."""
    outputs = int(given.outputs)
    pairs = pairs[: max(1, outputs // FIRST_LOOK)]
    if not pairs:
        return replace(known, **changes)
    found = looks.on_pairs(given.name, pairs, outputs // len(pairs), known.claim, known.seen)
    return replace(known, seen={**known.seen, **{look.pair.key(): look for look in found}}, **changes)
