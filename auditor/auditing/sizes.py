"""How many outputs each part of an audit has: where this is decided.

Of a sequential audit, whose searches grow, ``sequential_flow`` says more; under a time limit, ``deadline`` fits them.
"""

import bisect
from dataclasses import dataclass

from auditor.defaults import FEWEST

# Shares of the bound's outputs that are drawn before it, on top. What is rare must show in the selection
# to be counted in the bound.
SEARCH_SHARE = 0.15
SELECTION_SHARE = 0.15
# A search with fewer outputs does not try each of a few values. So small audits give more for it, up to this share.
LEAST_SEARCH, MOST_SEARCH_SHARE = 30_000, 0.375
# Larger audits are asked for what is hard to find: of what goes beyond this, the search has the larger share.
MANY = 1_000_000
# An event learned from fewer is mostly luck. So small audits give up to a quarter of their outputs for it.
LEAST_SELECTION = 2_500
# Larger audits search and select as if they had this number of outputs: what is learned from must fit in memory, and while it
# is learned from, workers wait.
ENOUGH = 10_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """The outputs of search, selection and bound, both sides together."""

    search: int
    selection: int
    bound: int

    @property
    def learning(self) -> int:
        """The number of outputs from which shrinking takes its shares."""
        return min(self.bound, ENOUGH)


def sizes_for(bound: int, search: int | None = None) -> Sizes:
    """Return the sizes for a bound of this number of outputs. ``search`` is the number for the search, if given.

    >>> sizes_for(1_000_000)
    Sizes(search=150000, selection=150000, bound=1000000)
    """
    learning = min(bound, ENOUGH)
    selection = max(FEWEST, round(SELECTION_SHARE * learning), min(LEAST_SELECTION, bound // 4))
    small = min(LEAST_SEARCH, round(MOST_SEARCH_SHARE * bound))
    large = round(SEARCH_SHARE * min(bound, MANY) + MOST_SEARCH_SHARE * max(0, bound - MANY))
    usual = min(ENOUGH, max(small, large))
    return Sizes(usual if search is None else search, selection, bound)


def largest_bound(outputs: int, search: int | None = None) -> int:
    """Return the most outputs that the bound has if search, selection and bound together have this number.

    >>> largest_bound(1_300_000)
    1000000
    """

    def exceeds(bound: int) -> bool:
        sizes = sizes_for(bound, search)
        return sizes.search + sizes.selection + bound > outputs

    return bisect.bisect_left(range(1, outputs + 1), True, key=exceeds)
