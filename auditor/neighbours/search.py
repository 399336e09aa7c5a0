"""What searches ask of a domain: candidates, paths, and the edges at which the kind of output changes."""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditor.interfaces import Domain
from auditor.neighbours.pair import Pair, distinct

# evaluate(pairs, outputs for each pair) -> a score for each pair; a larger score is more evidence of a broken claim.
Evaluate = Callable[[Sequence[Pair], int], Sequence[float]]

# kinds(pairs) -> for each pair, the kinds of output on its sides.
Kinds = Callable[[Sequence[Pair]], Sequence[str]]


class Remembered(Iterable[Pair]):
    """Pairs that are made when they are first read, and kept: reading them again makes none."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._made, self._rest = list[Pair](), iter(pairs)

    def __iter__(self) -> Iterator[Pair]:
        for at in itertools.count():
            if at == len(self._made):
                if (pair := next(self._rest, None)) is None:
                    return
                self._made.append(pair)
            yield self._made[at]


@dataclass(frozen=True)
class Listed:
    """What a domain lists. All rounds of an audit ask for it, and so does the search for each planted fault."""

    domain: Domain

    @functools.cached_property
    def corners(self) -> list[Pair]:
        """See Domain."""
        return self.domain.corners()

    @functools.cached_property
    def simplest(self) -> list[Pair]:
        """See Domain."""
        return self.domain.simplest()

    @functools.cached_property
    def each_value(self) -> Remembered:
        """See Domain."""
        return Remembered(self.domain.each_value())

    @functools.cached_property
    def crowds(self) -> Remembered:
        """See Domain."""
        return Remembered(self.domain.crowds())

    @functools.cached_property
    def has_paths(self) -> bool:
        """Whether the move of some corner can be repeated."""
        return any(len(path(self.domain, pair, 2)) > 1 for pair in self.corners)


# A text in a kind of output, as Python writes it.
_TEXT = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")
# Enough halvings to bisect a range of a million.
MOST_HALVINGS = 20


def has_one_pair(domain: Domain, rng: np.random.Generator) -> bool:
    """Return whether the domain has one pair only."""
    corners = domain.corners()
    return len(corners) == 1 and domain.random(rng).key() == corners[0].key()


def candidates(listed: Listed, rng: np.random.Generator, most: int | None = None) -> list[Pair]:
    """Return a domain's corners and half as many random pairs; if there are too many, ``most`` drawn from these."""
    corners = listed.corners
    found = distinct([*corners, *(listed.domain.random(rng) for _ in range(len(corners) // 2))])
    if most is None or len(found) <= most:
        return found
    return [found[i] for i in sorted(rng.permutation(len(found))[:most])]


def spread(pairs: Sequence[Pair], most: int) -> list[Pair]:
    """Return at most ``most`` of the pairs, evenly spaced from the first to the last."""
    if len(pairs) <= most:
        return list(pairs)
    return [pairs[round(i * (len(pairs) - 1) / max(1, most - 1))] for i in range(most)]


def path(domain: Domain, pair: Pair, most: int) -> list[Pair]:
    """Return at most ``most`` pairs by the same move, ``pair`` among them. Each begins where the one before ends."""
    steps = [pair]
    for way in (1, -1):
        while len(steps) < most and (further := domain.step(steps[-1 if way == 1 else 0], way)) is not None:
            steps.insert(len(steps) if way == 1 else 0, further)
    return steps


def ends(along: Sequence[Pair]) -> Pair:
    """Return the two data sets at the ends of a path. The two are neighbours only if the path has one step."""
    return replace(along[0], right=along[-1].right)


def find_edges(domain: Domain, kinds: Kinds, pairs: Sequence[Pair], known: Sequence[str], most: int = 4) -> list[Pair]:
    """Return the pairs on both sides of each of at most ``most`` edges between pairs of different ``known`` kinds of output.

    At an edge, the kind of output changes: a mechanism that refuses below some size leaks most at this size. Random
    pairs rarely hit an edge, but bisection finds the edge in few steps.
    """
    halved = [(pairs[i], pairs[j], _told_apart(known[i], known[j])) for i, j in _ways(known)[:most]]
    for _ in range(MOST_HALVINGS):
        halves = [(n, half) for n, (a, b, _) in enumerate(halved) if (half := domain.between(a, b)) is not None]
        if not halves:
            break
        for (n, half), kind in zip(halves, kinds([half for _, half in halves]), strict=True):
            a, b, is_of_a = halved[n]
            halved[n] = (half, b, is_of_a) if is_of_a(kind) else (a, half, is_of_a)
    return [pair for a, b, _ in halved for pair in (a, b)]


def _told_apart(one: str, other: str) -> Callable[[str], bool]:
    """Return whether a kind is like ``one``: but for its texts if ``one`` and ``other`` differ in more, such as an exception with
    another message.
    """
    if _form(one) != _form(other):
        return lambda kind: _form(kind) == _form(one)
    return lambda kind: kind == one


def _form(kind: str) -> str:
    """Return a kind of output without its texts."""
    return _TEXT.sub("", kind)


def _ways(known: Sequence[str]) -> list[tuple[int, int]]:
    """Return, for each kind but the commonest, its first index and the nearest index of the commonest kind.

    Kinds that differ from all before in more than texts come first: there are few, and a mechanism that answers by one of many
    names has a kind for each.
    """
    commonest = max(dict.fromkeys(known), key=list(known).count, default="")
    firsts = {kind: i for i, kind in reversed([*enumerate(known)]) if kind != commonest}
    others = [i for i, kind in enumerate(known) if kind == commonest]
    forms = {_form(known[i]): i for i in sorted(firsts.values(), reverse=True)}
    of_other_forms = {i for form, i in forms.items() if form != _form(commonest)}
    in_order = sorted(firsts.values(), key=lambda i: (i not in of_other_forms, i))
    return [(i, min(others, key=lambda j: abs(i - j))) for i in in_order]
