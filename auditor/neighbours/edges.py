"""Edges, where the kind of output changes: a mechanism that refuses below some size leaks most at just that size.

An edge lies between two pairs whose outputs are of different kinds. Bisection finds it in few steps; random pairs rarely hit it.
"""

from collections.abc import Callable, Sequence

from auditor.neighbours.domains import Domain
from auditor.neighbours.pair import Pair

# kinds(pairs) -> for each pair, which kinds of output its sides give.
Kinds = Callable[[Sequence[Pair]], Sequence[str]]

MOST_EDGES = 4
# Enough to bisect a range of a million.
MOST_HALVINGS = 20


def find_edges(domain: Domain, kinds: Kinds, pairs: Sequence[Pair], known: Sequence[str]) -> list[Pair]:
    """Return pairs on either side of edges between pairs of ``known`` kinds; none if there is one kind only."""
    ways = _ways(known)
    ends = [(pairs[i], pairs[j], known[i]) for i, j in ways]
    for _ in range(MOST_HALVINGS):
        halves = [(n, half) for n, (a, b, _) in enumerate(ends) if (half := domain.between(a, b)) is not None]
        if not halves:
            break
        for (n, half), kind in zip(halves, kinds([half for _, half in halves]), strict=True):
            a, b, kind_of_a = ends[n]
            ends[n] = (half, b, kind_of_a) if kind == kind_of_a else (a, half, kind_of_a)
    return [pair for a, b, _ in ends for pair in (a, b)]


def _ways(known: Sequence[str]) -> list[tuple[int, int]]:
    """Return, for each kind but the commonest, its first place and the nearest place of the commonest."""
    commonest = max(dict.fromkeys(known), key=list(known).count, default="")
    firsts = {kind: i for i, kind in reversed([*enumerate(known)]) if kind != commonest}
    others = [i for i, kind in enumerate(known) if kind == commonest]
    return [(i, min(others, key=lambda j: abs(i - j))) for i in sorted(firsts.values())][:MOST_EDGES]
