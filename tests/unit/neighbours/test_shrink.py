"""The proposals of shrinking: neighbours by the definition, inside the domain, strictly simpler, and finitely many."""

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.numbers import Range, spelling
from auditor.neighbours.pair import Arrays, Pair
from auditor.neighbours.records import Records
from auditor.neighbours.shrinking import complexity, simpler
from auditor.neighbours.totals import Totals


def member(domain: Domain, seed: int) -> Pair:
    """Return a corner, a random pair, or one some mutations away from it."""
    rng = np.random.default_rng(seed)
    corners = domain.corners()
    pair = corners[rng.integers(len(corners))]
    with contextlib.suppress(InvalidInputError):  # for domains with hardly a pair besides the corners
        pair = pair if rng.random() < 0.3 else domain.random(rng)
        for _ in range(rng.integers(3)):
            pair = domain.mutate(pair, rng)
    return pair


@pytest.mark.parametrize(
    "domain",
    [
        Records((0, 10), size=(0, 40), integer=True),
        Records((-1.5, 1.5), size=(1, 9), relation="substitute", columns=2),
        Records(choices=["b", None, "a"], size=(0, 9), distance=2),
        Totals([[1, 1], [0, 1]], (0, 10**6)),
        Totals(cells=3, values=(-50, 10**4), contribution={"l1": 4}),
        Value(range=(-3.7, 10**5 + 0.5)),
        Value([np.array([5, 5]), np.array([0, 1]), "x", None]),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_taking_the_first_proposal_again_and_again_comes_to_an_end(domain: Domain, seed: int) -> None:
    pair, steps = member(domain, seed), 0
    while (following := next(simpler(pair, domain), None)) is not None:
        assert complexity(following) < complexity(pair)
        pair, steps = following, steps + 1
        assert steps < 500


@pytest.mark.parametrize("needed", [1, 4, 17, 39])
def test_exactly_the_records_that_are_needed_remain(needed: int) -> None:
    domain = Records((0, 10), size=(0, 40), integer=True)
    rng = np.random.default_rng(needed)
    pair = next(
        pair for pair in iter(lambda: domain.random(rng), None) if min(len(pair.left), len(pair.right)) >= needed
    )

    def breaks(tried: Pair) -> bool:
        return min(len(tried.left), len(tried.right)) >= needed

    while (following := next(filter(breaks, simpler(pair, domain)), None)) is not None:
        pair = following
    assert sorted((len(pair.left), len(pair.right))) == [needed, needed + 1]
    assert set(pair.left) | set(pair.right) == {0}


def test_the_culprit_among_many_records_remains_and_the_others_go() -> None:
    domain = Records((0, 100), size=(0, 60), integer=True, relation="substitute")
    pair = Pair((5, 8) * 14 + (73, 2), (5, 8) * 14 + (73, 9), domain.relation, Arrays())
    while (following := next((p for p in simpler(pair, domain) if max(p.left) > 50), None)) is not None:
        pair = following
    assert (len(pair.left), sorted(pair.left + pair.right)[:2]) == (2, [0, 1]), (
        "the culprit and the one who is substituted"
    )
    assert max(pair.left) in {60, 70}, "and nobody's number is longer than it needs to be"


@given(st.integers(-(10**20), 10**20))
def test_simpler_integers_are_exact(value: int) -> None:
    for number in Range(-(10**20), 10**20, integer=True).simpler(value):
        assert type(number) is int
        assert spelling(number) < spelling(value)
        assert abs(number) <= 10**20


def test_data_sets_of_ten_thousand_records_are_shrunk_without_delay() -> None:
    domain = Records((0, 1), size=(0, 20_000), integer=True)
    pair = Pair((0, 1) * 5000, (0, 1) * 5000 + (1,), domain.relation, Arrays())
    sizes = [len(proposal.left) for proposal in itertools.islice(simpler(pair, domain), 3)]
    assert sizes == [0, 10_000, 5_000], "without all, with all of them simpler, without half"


SEEDS = st.integers(0, 2**32)


def test_pairs_spelled_out_shrink_to_others_that_are_spelled_out() -> None:
    domain = Pairs([([7, 7], [7]), ([0], []), ([3, 2, 1], [3, 2])])
    largest = domain.corners()[2]
    assert [(pair.left, pair.right) for pair in simpler(largest, domain)] == [([7, 7], [7]), ([0], [])]
    assert list(simpler(domain.corners()[1], domain)) == []


@given(st.floats(allow_nan=False, allow_infinity=False), SEEDS)
def test_simpler_numbers_are_in_the_range_and_shorter_or_smaller(value: float, seed: int) -> None:
    low, high = sorted((value, float(np.random.default_rng(seed).normal(0, 100))))
    for number in Range(low, high, integer=False).simpler(value):
        assert low <= number <= high
        assert type(number) is float
        assert spelling(number) < spelling(value)
