"""What searches ask of a domain."""

import numpy as np
import pytest

from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.search import has_one_pair, spread
from auditor.neighbours.totals import Totals


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("domain", [Pairs([(0, 1)]), Value(["a", "b"]), Totals([[1]], (0, 1))])
def test_a_domain_with_one_pair_only_is_known(domain: Domain, seed: int) -> None:
    assert has_one_pair(domain, np.random.default_rng(seed))


@pytest.mark.parametrize("domain", [Pairs([(0, 1), (0, 2)]), Value(["a", "b", "c"]), Totals([[1]], (0, 2))])
def test_a_domain_with_more_pairs_is_searched(domain: Domain) -> None:
    assert not has_one_pair(domain, np.random.default_rng(0))


def test_pairs_are_spread_from_the_first_to_the_last() -> None:
    pairs = Pairs([(i, i + 0.5) for i in range(10)]).corners()
    assert [pair.left for pair in spread(pairs, 4)] == [0, 3, 6, 9]
    assert (spread(pairs, 10), spread(pairs, 0), spread(pairs, 1)) == (pairs, [], pairs[:1])
