"""Batches, drawn from a data set as the loader of a training framework draws them: which records take part in which step."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from auditor.errors import InvalidInputError, how_many, require_known
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Valid
from auditor.neighbours.pair import FormAround, Pair

SamplingName = Literal["poisson", "fixed", "shuffled", "ordered"]
MOST_BATCHES = 10_000
_WORDS = {
    "poisson": "each record is in each batch by a coin of its own",
    "fixed": "each batch is drawn without replacement",
    "shuffled": "all records are shuffled, and cut into batches",
    "ordered": "the records are cut into batches in their order",
}


@dataclass(frozen=True, slots=True)
class Loader:
    """How an epoch draws its batches.

    Args:
        sampling: "poisson": each record is in each of ``batches`` batches with probability 1/``batches``; "fixed": each of
            ``batches`` batches has ``batch_size`` records, drawn without replacement; "shuffled" or "ordered": all records are cut
            into batches of ``batch_size``, in random order or as they are.
        batches: the number of batches of an epoch, for "poisson" and "fixed".
        batch_size: the number of records in a batch, for all others than "poisson".
        drop_last: whether "shuffled" and "ordered" leave out a last batch that is not full.
        epochs: how often all this is done; each epoch draws anew.

    Raises InvalidInputError for a number that is missing, out of range, or not used.
    """

    sampling: SamplingName = "shuffled"
    batches: int | None = None
    batch_size: int | None = None
    drop_last: bool = False
    epochs: int = 1

    def __post_init__(self) -> None:
        require_known("sampling is", [self.sampling], get_args(SamplingName))
        needed = {"poisson": ("batches",), "fixed": ("batches", "batch_size")}.get(self.sampling, ("batch_size",))
        for name in ("batches", "batch_size", "epochs"):
            number = getattr(self, name)
            if number is None and name in needed:
                raise InvalidInputError(
                    f"{name} is missing; sampling {self.sampling} needs it: {_WORDS[self.sampling]}"
                )
            if number is not None and name not in (*needed, "epochs"):
                raise InvalidInputError(f"{name} is {number!r}, and sampling {self.sampling} has none; leave it out")
            wrong = isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST_BATCHES
            if number is not None and wrong:
                raise InvalidInputError(f"{name} is {number!r}; it must be an integer from 1 to {MOST_BATCHES:,}")
        if not isinstance(self.drop_last, bool) or (self.drop_last and "batches" in needed):
            raise InvalidInputError(
                f"drop_last is {self.drop_last!r}; it must be true or false, and true for shuffled or ordered batches only"
            )

    def __str__(self) -> str:
        size = "" if self.batch_size is None else f" of {how_many(self.batch_size, 'record')}"
        number = "batches" if self.batches is None else f"{self.batches:,} batches"
        dropped = ", the last one dropped unless it is full" if self.drop_last else ""
        times = f", {self.epochs:,} times" if self.epochs > 1 else ""
        return f"in {number}{size} ({_WORDS[self.sampling]}{dropped}){times}"

    def places(self, n: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Return the places of the records of each batch, of a data set of ``n`` records."""
        return [places for _ in range(self.epochs) for places in self._one_epoch(n, rng)]

    def draw(self, records: Any, rng: np.random.Generator) -> list[Any]:
        """Return the batches of a data set, each in the container of the data set."""
        if isinstance(records, np.ndarray):
            return [records[places] for places in self.places(len(records), rng)]
        return [[records[place] for place in places] for places in self.places(len(records), rng)]

    def _one_epoch(self, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        if self.batches is not None:
            for _ in range(self.batches):
                if self.batch_size is None:
                    yield np.flatnonzero(rng.random(n) < 1 / self.batches)
                else:
                    yield rng.permutation(n)[: self.batch_size]
            return
        assert self.batch_size is not None
        order = rng.permutation(n) if self.sampling == "shuffled" else np.arange(n)
        for first in range(0, n, self.batch_size):
            places = order[first : first + self.batch_size]
            if len(places) == self.batch_size or not self.drop_last:
                yield places


@dataclass(frozen=True, slots=True)
class EpochForm(FormAround):
    """A data set in the form of its own domain, of which a mechanism receives batches."""

    loader: Loader

    def __str__(self) -> str:
        return f"{self.inside or 'data'}, in batches"

    def build(self, data: Any, other: Any) -> Any:
        return Pair(data, other, form=self.inside).dataset("left")

    def code(self, built: Any) -> str:
        return self.inside.code(built) if self.inside else repr(built)

    def call(self, left: Any, right: Any) -> str:
        default = Loader(self.loader.sampling, self.loader.batches, self.loader.batch_size)
        given = [
            f"{name}={getattr(self.loader, name)!r}"
            for name in ("batches", "batch_size", "drop_last", "epochs")
            if getattr(self.loader, name) is not None
            and (name in ("batches", "batch_size") or getattr(self.loader, name) != getattr(default, name))
        ]
        pairs = f"[({self.code(left)}, {self.code(right)})]"
        return f"auditor.Epoch({', '.join([pairs, repr(self.loader.sampling), *given])})"


class Epoch(Domain):
    """The neighbours of a domain, of which a mechanism receives batches: f(batches, rng), one list of records for each step.

    The batches are drawn anew for each output, so the sampling is part of what is audited. A claim that was accounted for Poisson
    sampling is held against what the loader really does.

    Args:
        neighbours: a domain of records, such as ``Vectors`` or ``Records``, or a list of (left, right) pairs of records.
        sampling: "poisson", "fixed", "shuffled" or "ordered".
        batches: the number of batches, for "poisson" (each record is in each batch with probability 1/``batches``) and "fixed".
        batch_size: the number of records in a batch, for all others than "poisson".
        drop_last: whether "shuffled" and "ordered" leave out a last batch that is not full.
        epochs: how many epochs there are, each of which draws anew.

    Raises InvalidInputError for numbers that are missing or out of range.

    >>> loader = Epoch([([1, 2, 3, 4], [1, 2, 3])], "ordered", batch_size=2, drop_last=True).loader
    >>> loader.draw([1, 2, 3], np.random.default_rng(0))
    [[1, 2]]
    """

    def __init__(
        self,
        neighbours: Domain | Sequence[tuple[Any, Any]],
        sampling: SamplingName = "shuffled",
        *,
        batches: int | None = None,
        batch_size: int | None = None,
        drop_last: bool = False,
        epochs: int = 1,
    ) -> None:
        self.base: Domain = Pairs(list(neighbours)) if isinstance(neighbours, Sequence) else neighbours
        if not hasattr(self.base, "corners") or hasattr(self.base, "questions") or loader_of(self.base):
            raise InvalidInputError(
                f"neighbours is {neighbours!r}; it must be a domain of records, such as auditor.Vectors, or a list of pairs"
            )
        self.loader = Loader(sampling, batches, batch_size, drop_last, epochs)
        self.relation = getattr(self.base, "relation", "")

    def __str__(self) -> str:
        return f"{self.base}, {self.loader}"

    def limits(self) -> dict[str, Any]:
        return {**self.base.limits(), "batches": str(self.loader)}

    def corners(self) -> list[Pair]:
        return self._all(self.base.corners())

    def simplest(self) -> list[Pair]:
        return self._all(self.base.simplest())

    def each_value(self) -> Iterable[Pair]:
        return map(self._in_batches, self.base.each_value())

    def crowds(self) -> Iterable[Pair]:
        return map(self._in_batches, self.base.crowds())

    def closely(self, best: Sequence[Pair], most: int) -> list[Pair]:
        return self._all(self.base.closely(best, most))

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        # Shuffled or sampled records have no order of their own.
        return self._all(self.base.rearranged(rng)) if self.loader.sampling == "ordered" else ()

    def step(self, pair: Pair, way: int) -> Pair | None:
        return self._if_any(self.base.step(pair, way))

    def random(self, rng: np.random.Generator) -> Pair:
        return self._in_batches(self.base.random(rng))

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        return self._in_batches(self.base.mutate(pair, rng))

    def between(self, one: Pair, other: Pair) -> Pair | None:
        return self._if_any(self.base.between(one, other))

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        return map(self._in_batches, self.base.simpler(pair))

    def own(self, left: Any, right: Any) -> Pair | None:
        return self._if_any(self.base.own(left, right))

    def _in_batches(self, pair: Pair) -> Pair:
        inside = pair.form.inside if isinstance(pair.form, EpochForm) else pair.form
        return replace(pair, form=EpochForm(inside, self.loader))

    def _if_any(self, pair: Pair | None) -> Pair | None:
        return None if pair is None else self._in_batches(pair)

    def _all(self, pairs: Iterable[Pair]) -> list[Pair]:
        return [*map(self._in_batches, pairs)]


def loader_of(neighbours: Any) -> Loader | None:
    """Return what draws the batches that a mechanism receives of these neighbours; None if it receives the data sets."""
    while isinstance(neighbours, Valid):
        neighbours = neighbours.domain
    return neighbours.loader if isinstance(neighbours, Epoch) else None
