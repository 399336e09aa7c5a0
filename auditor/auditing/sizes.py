"""The number of outputs of each round of an audit, and its share of the level.

The bound of a round counts about four times the outputs of the one before, up to ``samples``. A small round refutes
only a claim that is far exceeded. So the last round has most of the level, and the small ones share the rest.
"""

import math
from dataclasses import dataclass

from auditor.defaults import FEWEST

# The bound of the first round counts about FIRST_ROUND outputs, enough to refute a claim of ε = 1 if the truth is 2.
# The bound of each later round counts about GROWTH times the outputs of the one before.
FIRST_ROUND, GROWTH = 400, 4
# The share of the level that the last round has.
OF_LAST = 0.85
# A refuted claim has one more round, for a sharp bound, with the share SHARPENING of the samples. Its search has the share
# OF_SHARPENING of the round. If the round is below ENOUGH_TO_CLIMB outputs, too few to find a better pair, it is OF_SHORT.
SHARPENING, OF_SHARPENING, OF_SHORT, ENOUGH_TO_CLIMB = 0.08, 0.5, 0.15, 20_000
# A round's search has this share of the number of the bound's outputs, in addition to them.
SEARCH_SHARE = 0.15
# A search proposes new pairs if it has this many times the outputs of the largest one before. Otherwise they would add little,
# and it compares the best known pairs, with the share OF_COMPARISON of its outputs.
WORTH_SEARCHING, OF_COMPARISON = 1.4, 0.5
# A search with fewer outputs than LEAST_SEARCH drops pairs after so few outputs that chance decides. So a small round may use up
# to MOST_SEARCH_SHARE instead of SEARCH_SHARE. With 30,000, 200,000 outputs found 30 of 40 exponential-mechanism quantiles without
# their factor ½, although pairs with 1.8 times the claim were looked at each time; with 60,000, 39 of 40.
LEAST_SEARCH, MOST_SEARCH_SHARE = 60_000, 0.375
# Large audits look for faults that are hard to find: beyond MANY outputs of the bound, the share is MOST_SEARCH_SHARE.
MANY = 1_000_000
# A round learns from this share of the number of the bound's outputs at least. Only events that show there are counted.
SELECTION_SHARE = 0.15
# An event learned from fewer is mostly luck. So small rounds learn from up to a quarter as many outputs as they count.
LEAST_SELECTION = 2_500
# A search has at most this number of outputs.
ENOUGH = 10_000_000
# A round learns from at most MOST_LEARNED outputs, which hold at most MOST_NUMBERS numbers, or LEAST_LEARNED outputs if
# that is more. The outputs must fit in memory, and workers wait while a test is learned.
MOST_LEARNED, MOST_NUMBERS, LEAST_LEARNED = 400_000, 4_000_000, 15_000


@dataclass(frozen=True, slots=True)
class Round:
    """One round of an audit, in outputs of both sides. Its search draws ``search`` outputs; with 0 the last pair is
    kept. A search for ``new`` pairs asks all sources, any other compares the best known pairs. A test is learned from at least
    ``selection`` outputs. The bound counts ``bound`` others, at this ``share`` of the level.
    """

    number: int
    search: int
    selection: int
    bound: int
    share: float
    new: bool = True

    @property
    def planned(self) -> int:
        """The outputs of the whole round, if no outputs to learn from are kept from earlier rounds."""
        return self.search + self.selection + self.bound


def rounds_for(samples: int, search: int | None = None) -> list[Round]:
    """Return the rounds up to a bound of ``samples`` outputs. All searches have at most ``search`` outputs, if given.

    >>> [(one.bound, round(one.share, 3)) for one in rounds_for(100_000)]
    [(400, 0.038), (1591, 0.038), (6325, 0.038), (25149, 0.038), (100000, 0.85)]
    """
    steps = max(0, round(math.log(samples / FIRST_ROUND, GROWTH)))
    sizes = [round(FIRST_ROUND * (samples / FIRST_ROUND) ** (i / steps)) for i in range(steps)] + [samples]
    shares = [*([(1 - OF_LAST) / steps] * steps), OF_LAST] if steps else [1.0]
    rounds, searched = list[Round](), 0
    for i, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        own = search_of(size) if search is None else search * size // sum(sizes)
        new = own >= WORTH_SEARCHING * searched
        searched = max(own, searched)
        own = own if new or search is not None else round(OF_COMPARISON * own)
        rounds.append(Round(i, own, selection_of(size), size, share, new))
    return rounds


def search_of(bound: int) -> int:
    """Return how many outputs the search of a round has."""
    small = min(LEAST_SEARCH, round(MOST_SEARCH_SHARE * bound))
    large = round(SEARCH_SHARE * min(bound, MANY) + MOST_SEARCH_SHARE * max(0, bound - MANY))
    return min(ENOUGH, max(small, large))


def selection_of(bound: int) -> int:
    """Return the smallest number of outputs that a round learns from."""
    return min(MOST_LEARNED, max(FEWEST, round(SELECTION_SHARE * bound), min(LEAST_SELECTION, bound // 4)))


def learned_from(width: int) -> int:
    """Return the largest number of outputs that a round learns from, if each output holds ``width`` numbers."""
    return min(MOST_LEARNED, max(LEAST_LEARNED, MOST_NUMBERS // max(1, width)))


def sharpening(samples: int, *, searches: bool) -> tuple[int, int]:
    """Return the outputs of the search and of the bound in the last round of a refuted claim.

    >>> sharpening(1_000_000, searches=True), sharpening(100_000, searches=True), sharpening(100_000, searches=False)
    ((40000, 40000), (1200, 6800), (0, 8000))
    """
    outputs = math.ceil(SHARPENING * samples)
    share = OF_SHARPENING if outputs >= ENOUGH_TO_CLIMB else OF_SHORT
    search = round(share * outputs) if searches else 0
    return search, outputs - search
