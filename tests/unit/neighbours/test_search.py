"""What searches ask of a domain."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import Listed, has_one_pair, spread
from auditor.neighbours.totals import Totals, groups


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


class Counting(Value):
    """A range of values that counts how often its pairs are listed."""

    def __init__(self) -> None:
        super().__init__(range=(0, 9))
        self.made = Counter[str]()

    def corners(self) -> list[Pair]:
        self.made["corners"] += 1
        return super().corners()

    def crowds(self) -> Iterator[Pair]:
        for pair in super().corners():
            self.made["crowds"] += 1
            yield pair


def test_what_a_domain_lists_is_made_once_however_it_is_read() -> None:
    domain = Counting()
    listed, all_pairs = Listed(domain), Value(range=(0, 9)).corners()
    one, other = iter(listed.crowds), iter(listed.crowds)
    in_turns = [next(each) for each in (one, other, other, one, other)]
    assert in_turns == [all_pairs[i] for i in (0, 0, 1, 1, 2)]
    assert domain.made == {"crowds": 3}
    assert [*one] == all_pairs[2:] and [*other] == all_pairs[3:]
    assert [*listed.crowds] == listed.corners == listed.corners == all_pairs
    assert domain.made == {"crowds": len(all_pairs), "corners": 1}


def test_totals_of_each_kind_of_people_list_their_own_pairs() -> None:
    whole = Totals([[1, 1], [0, 1]], (0, 3))
    number = len(whole.corners())
    parts = [group.corners() for group in groups(whole, 2)]
    assert all(parts) and sum(map(len, parts)) == number
    assert all({pair.origin[2][1 - kind] for pair in part} == {0} for kind, part in enumerate(parts))
