"""How many outputs each round of an audit has, and which share of the level: where this is decided.

Sizes grow by a factor of about four up to ``samples``. A small round refutes what is far from its claim. So the last round has most
of the level, and the small ones share the rest.
"""

import math
from dataclasses import dataclass

from auditor.defaults import FEWEST

# The outputs of the first round: about as many as show ε = 2 to a claim of 1. The factor from round to round, about.
FIRST_ROUND, GROWTH = 400, 4
# The share of the level that the last round has.
OF_LAST = 0.85
# A refuted claim has one round more, for a sharp bound: this share of the samples. Its search has a share of that: the second one,
# if it is too few outputs to climb to a better pair.
SHARPENING, OF_SHARPENING, OF_SHORT, ENOUGH_TO_CLIMB = 0.08, 0.5, 0.15, 20_000
# The share of the bound's outputs that the search of a round has, on top.
SEARCH_SHARE = 0.15
# A search with less than this many times the outputs of the one before adds little. Its round goes on with the pair before.
WORTH_SEARCHING = 2
# A search with fewer outputs does not try each of a few values. So small rounds give more for it, up to this share.
LEAST_SEARCH, MOST_SEARCH_SHARE = 30_000, 0.375
# Larger audits look for faults that are hard to find: the search has the larger share of outputs beyond this number.
MANY = 1_000_000
# The share of the bound's outputs that are learned from at least. A rare event must show there to be counted in the bound.
SELECTION_SHARE = 0.15
# An event learned from fewer is mostly luck. So small rounds learn from up to a quarter as many outputs as they count.
LEAST_SELECTION = 2_500
# Larger rounds search as if they had this number of outputs.
ENOUGH = 10_000_000
# The most outputs to learn from, and the most numbers in them unless that leaves too few outputs. They must fit in memory, and
# workers wait while a test is learned.
MOST_LEARNED, MOST_NUMBERS, LEAST_LEARNED = 400_000, 4_000_000, 15_000


@dataclass(frozen=True, slots=True)
class Round:
    """One round of an audit. ``search``, ``selection`` and ``bound`` are numbers of outputs, both sides together: those of its
    search, the fewest that a test is learned from, and those that its bound counts. The bound has this ``share`` of the level.
    """

    number: int
    search: int
    selection: int
    bound: int
    share: float

    @property
    def planned(self) -> int:
        """The outputs of all its parts, if the pair is a new one."""
        return self.search + self.selection + self.bound


def rounds_for(samples: int, search: int | None = None) -> list[Round]:
    """Return the rounds up to a bound of ``samples`` outputs. ``search`` outputs are for the search, if given, in all rounds.

    >>> [(one.bound, round(one.share, 3)) for one in rounds_for(100_000)]
    [(400, 0.038), (1591, 0.038), (6325, 0.038), (25149, 0.038), (100000, 0.85)]
    """
    steps = max(0, round(math.log(samples / FIRST_ROUND, GROWTH)))
    sizes = [round(FIRST_ROUND * (samples / FIRST_ROUND) ** (i / steps)) for i in range(steps)] + [samples]
    shares = [*([(1 - OF_LAST) / steps] * steps), OF_LAST] if steps else [1.0]
    rounds, searched = list[Round](), 0
    for i, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        own = search_of(size) if search is None else search * size // sum(sizes)
        own = own if own >= WORTH_SEARCHING * searched else 0
        searched = max(own, searched)
        rounds.append(Round(i, own, selection_of(size), size, share))
    return rounds


def search_of(bound: int) -> int:
    """Return how many outputs the search of a round has."""
    small = min(LEAST_SEARCH, round(MOST_SEARCH_SHARE * bound))
    large = round(SEARCH_SHARE * min(bound, MANY) + MOST_SEARCH_SHARE * max(0, bound - MANY))
    return min(ENOUGH, max(small, large))


def selection_of(bound: int) -> int:
    """Return how many outputs a round learns from at least."""
    return min(MOST_LEARNED, max(FEWEST, round(SELECTION_SHARE * bound), min(LEAST_SELECTION, bound // 4)))


def learned_from(width: int) -> int:
    """Return how many outputs of so many numbers a round learns from at most."""
    return min(MOST_LEARNED, max(LEAST_LEARNED, MOST_NUMBERS // max(1, width)))


def sharpening(samples: int, *, searches: bool) -> tuple[int, int]:
    """Return the outputs of the search and of the bound of the round that a refuted claim has at last.

    >>> sharpening(1_000_000, searches=True), sharpening(100_000, searches=True), sharpening(100_000, searches=False)
    ((40000, 40000), (1200, 6800), (0, 8000))
    """
    outputs = math.ceil(SHARPENING * samples)
    share = OF_SHARPENING if outputs >= ENOUGH_TO_CLIMB else OF_SHORT
    search = round(share * outputs) if searches else 0
    return search, outputs - search
