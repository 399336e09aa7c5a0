"""How many outputs each part of an audit has: where this is decided.

Of a sequential audit, whose searches grow, ``sequential_flow`` says more; under a time limit, ``deadline`` fits them.
"""

from dataclasses import dataclass

from auditor.defaults import FEWEST

# Shares of the bound's outputs that are drawn before it, on top. What is rare must show in the selection
# to be counted in the bound.
SEARCH_SHARE = 0.15
SELECTION_SHARE = 0.15
# A search with fewer outputs does not try each of a few values. So small audits give more for it, up to this share.
LEAST_SEARCH, MOST_SEARCH_SHARE = 30_000, 0.375
# An event learned from fewer is mostly luck. So small audits give up to a quarter of their outputs for it.
LEAST_SELECTION = 2_500
# The same shares of a budget for all of it.
SEARCH_OF_BUDGET, SELECTION_OF_BUDGET = 0.25, 0.1
# Larger audits search and select as if they had this number of outputs: what is learned from must fit in memory, and while it
# is learned from, workers wait.
ENOUGH = 10_000_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """The outputs of search, selection and bound, both sides together.

    If the search has a time limit of its own, ``fitted`` is the number of outputs that fits into it.
    """

    search: int
    selection: int
    bound: int
    fitted: int | None = None

    @property
    def learning(self) -> int:
        """The number of outputs from which shrinking takes its shares."""
        return min(self.bound, ENOUGH)


def sizes_for(bound: int, budget: int | None = None, search: int | None = None) -> Sizes:
    """Return the sizes for a bound of this number of outputs.

    ``budget`` is the number for search, selection and bound together, if they are planned together. ``search`` is the number for
    the search, if given.

    >>> sizes_for(1_000_000)
    Sizes(search=150000, selection=150000, bound=1000000, fitted=None)
    """
    if budget is not None:
        selection = max(FEWEST, min(ENOUGH, round(SELECTION_OF_BUDGET * budget)))
        usual = min(ENOUGH, round(SEARCH_OF_BUDGET * budget))
    else:
        learning = min(bound, ENOUGH)
        selection = max(FEWEST, round(SELECTION_SHARE * learning), min(LEAST_SELECTION, bound // 4))
        usual = max(min(LEAST_SEARCH, round(MOST_SEARCH_SHARE * bound)), round(SEARCH_SHARE * learning))
    return Sizes(usual if search is None else search, selection, bound)
