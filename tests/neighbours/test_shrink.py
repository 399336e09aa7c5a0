"""What shrinking proposes: neighbours by the definition, inside the domain, strictly simpler, and an end to it."""

import contextlib
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Domain, Pairs, Value
from auditor.neighbours.numbers import Range, spelling
from auditor.neighbours.pair import Arrays, Pair
from auditor.neighbours.records import Records
from auditor.neighbours.shrink import complexity, simpler
from auditor.neighbours.totals import Totals

SEEDS = st.integers(0, 2**32)


def member(domain: Domain, seed: int) -> Pair:
    """Return a corner, a random member, or one some steps away from it."""
    rng = np.random.default_rng(seed)
    corners = domain.corners()
    pair = corners[rng.integers(len(corners))]
    with contextlib.suppress(InvalidInputError):  # where there is hardly a pair but the corners
        pair = pair if rng.random() < 0.3 else domain.random(rng)
        for _ in range(rng.integers(3)):
            pair = domain.mutate(pair, rng)
    return pair


def made(make: Callable[[], Domain]) -> Domain | None:
    try:
        return make()
    except InvalidInputError:
        return None


def steps_between(left: Any, right: Any) -> int:
    """Count the fewest insertions and removals that lead from one sequence to the other (longest common one)."""
    common = np.zeros((len(left) + 1, len(right) + 1), int)
    for i, j in itertools.product(range(len(left)), range(len(right))):
        longest = max(common[i, j + 1], common[i + 1, j])
        common[i + 1, j + 1] = common[i, j] + 1 if left[i] == right[j] else longest
    return len(left) + len(right) - 2 * int(common[-1, -1])


@given(
    low=st.integers(-5, 3),
    width=st.integers(1, 200),
    size=st.tuples(st.integers(0, 3), st.integers(1, 6)),
    columns=st.none() | st.integers(1, 2),
    relation=st.sampled_from(["add_remove", "substitute"]),
    distance=st.integers(1, 3),
    integer=st.booleans(),
    seed=SEEDS,
)
def test_fewer_and_simpler_records_are_as_near_as_before_and_in_their_ranges(
    low: int,
    width: int,
    size: tuple[int, int],
    columns: int | None,
    relation: str,
    distance: int,
    integer: bool,
    seed: int,
) -> None:
    fewest, most = size[0], size[0] + size[1]
    ends = (low, low + width)
    domain = made(
        lambda: Records(
            ends, size=(fewest, most), columns=columns, relation=relation, distance=distance, integer=integer
        )
    )
    if domain is None:
        return
    pair = member(domain, seed)
    for found in itertools.islice(simpler(pair, domain), 300):
        assert complexity(found) < complexity(pair)
        assert found.left != found.right
        assert found.form == pair.form
        assert all(fewest <= len(side) <= most for side in (found.left, found.right))
        records = [*found.left, *found.right]
        values = [v for record in records for v in (record if columns else (record,))]
        assert {type(v) for v in values} <= {int if integer else float}
        assert all(ends[0] <= v <= ends[1] for v in values)
        if relation == "substitute":
            assert len(found.left) == len(found.right)
            assert sum(a != b for a, b in zip(found.left, found.right, strict=True)) <= distance
        else:
            assert steps_between(found.left, found.right) <= distance


@given(
    contributions=st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=3),
    people=st.tuples(st.integers(0, 3), st.integers(0, 30)),
    relation=st.sampled_from(["add_remove", "substitute"]),
    seed=SEEDS,
)
def test_smaller_totals_are_those_of_people_that_are_allowed(
    contributions: list[tuple[int, int]], people: tuple[int, int], relation: str, seed: int
) -> None:
    low, high = people[0], people[0] + people[1]
    domain = made(lambda: Totals(contributions, (low, high), relation=relation))
    if domain is None:
        return
    pair = member(domain, seed)
    for found in simpler(pair, domain):
        assert complexity(found) < complexity(pair)
        crowd, (leaves, arrives) = found.origin
        moved = np.array(crowd)
        moved[arrives] += 1
        if relation == "substitute":
            moved[leaves] -= 1
        else:
            assert leaves is None
        assert all(low <= n <= high for n in (*crowd, *moved))
        assert found.left == tuple(np.array(crowd) @ np.array(contributions))
        assert found.right == tuple(moved @ np.array(contributions))


@given(
    cells=st.integers(1, 4),
    low=st.integers(-1000, 1000),
    width=st.integers(1, 2000),
    norm=st.sampled_from(["l1", "linf"]),
    reach=st.integers(1, 20),
    integer=st.booleans(),
    seed=SEEDS,
)
def test_smaller_vectors_stay_in_their_range_and_within_reach(
    cells: int, low: int, width: int, norm: str, reach: int, integer: bool, seed: int
) -> None:
    ends = (low, low + width)
    domain = made(lambda: Totals(cells=cells, values=ends, contribution={norm: reach}, integer=integer))  # type: ignore[arg-type]
    if domain is None:
        return
    pair = member(domain, seed)
    for found in simpler(pair, domain):
        assert complexity(found) < complexity(pair)
        steps = [abs(Fraction(b) - Fraction(a)) for a, b in zip(found.left, found.right, strict=True)]
        assert 0 < (sum(steps) if norm == "l1" else max(steps)) <= reach
        assert {type(v) for v in (*found.left, *found.right)} == {int if integer else float}
        assert all(ends[0] <= v <= ends[1] for v in (*found.left, *found.right))


@given(low=st.integers(-(10**6), 10**6), width=st.integers(1, 10**6), real=st.booleans(), seed=SEEDS)
def test_simpler_values_are_two_different_values_of_the_range(low: int, width: int, real: bool, seed: int) -> None:
    ends = (float(low), float(low + width)) if real else (low, low + width)
    domain = Value(range=ends)
    pair = member(domain, seed)
    for found in itertools.islice(simpler(pair, domain), 100):
        assert complexity(found) < complexity(pair)
        assert {type(found.left), type(found.right)} == {float if real else int}
        assert ends[0] <= min(found.left, found.right) < max(found.left, found.right) <= ends[1]


def test_pairs_spelled_out_shrink_to_others_that_are_spelled_out() -> None:
    domain = Pairs([([7, 7], [7]), ([0], []), ([3, 2, 1], [3, 2])])
    largest = domain.corners()[2]
    assert [(pair.left, pair.right) for pair in simpler(largest, domain)] == [([7, 7], [7]), ([0], [])]
    assert list(simpler(domain.corners()[1], domain)) == []


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


@given(st.floats(allow_nan=False, allow_infinity=False), SEEDS)
def test_simpler_numbers_are_in_the_range_and_shorter_or_smaller(value: float, seed: int) -> None:
    low, high = sorted((value, float(np.random.default_rng(seed).normal(0, 100))))
    for number in Range(low, high, integer=False).simpler(value):
        assert low <= number <= high
        assert type(number) is float
        assert spelling(number) < spelling(value)


@given(st.integers(-(10**20), 10**20))
def test_simpler_integers_are_exact(value: int) -> None:
    for number in Range(-(10**20), 10**20, integer=True).simpler(value):
        assert type(number) is int
        assert spelling(number) < spelling(value)
        assert abs(number) <= 10**20


def test_data_sets_of_ten_thousand_records_are_shrunk_without_delay() -> None:
    domain = Records((0, 1), size=(0, 20_000), integer=True)
    pair = Pair((0, 1) * 5000, (0, 1) * 5000 + (1,), domain.relation, Arrays())
    sizes = [len(found.left) for found in itertools.islice(simpler(pair, domain), 3)]
    assert sizes == [0, 10_000, 5_000], "without all, with all of them simpler, without half"
