"""The proposals of shrinking: neighbours by the definition, inside the domain, strictly simpler, and finitely many."""

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Value
from auditor.neighbours.frames import Frame
from auditor.neighbours.numbers import Range, spelling
from auditor.neighbours.pair import Arrays, Pair
from auditor.neighbours.records import Records
from auditor.neighbours.scripts import read_script
from auditor.neighbours.shrinking import Screening, complexity, shrink_pair, simpler
from auditor.neighbours.totals import Totals
from auditor.sessions.dialogues import Dialogues


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
    assert sizes == [0, 10_000, 1], "without all, with all of them simpler, only one of the first kind"


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


def _persons_of(number: int) -> list[dict[str, int]]:
    """Return the rows of so many persons, two each."""
    return [{"who": 1 + i // 2, "x": i % 10} for i in range(2 * number)]


# The candidates of a usual audit: 24,000 outputs, 500 each.
CANDIDATES = 48

# The pair that is shrunk, in what domain, the smallest number of items on both sides that break it, and when a pair breaks it.
IDLE: dict[str, tuple[Domain, tuple[Any, Any], int, Callable[[Any, Any], bool]]] = {
    "zeros around a record that is rounded": (
        Records((0.0, 1.0), size=(0, 20)),
        ([0.0] * 7 + [0.5] + [0.0] * 7, [0.0] * 7 + [0.5, 1.0] + [0.0] * 7),
        3,
        lambda left, right: bool(abs(np.round(np.sum(right)) - np.round(np.sum(left))) > 1),
    ),
    "different records around two that matter": (
        Records((0, 100), size=(0, 40), integer=True, relation="substitute"),
        ([*range(31, 43), 77, *range(51, 63), 78, 0], [*range(31, 43), 77, *range(51, 63), 78, 9]),
        6,
        lambda left, right: {77, 78} <= {*left} and {77, 78} <= {*right},
    ),
    "persons of two rows beside the one who matters": (
        Frame({"x": {"type": "integer", "low": 0, "high": 9}}, size=(0, 30), id="who", rows_per_person=(2, 3)),
        (_persons_of(9), _persons_of(9) + [{"who": 10, "x": 5}] * 2),
        6,
        lambda left, right: any(row["x"] == 6 for row in left) and len(right) > len(left),
    ),
    "rows of persons who move one row": (
        Frame(
            {"x": {"type": "integer", "low": 0, "high": 9}}, size=(0, 40), id="who", rows_per_person=(1, 4), unit="row"
        ),
        (_persons_of(9), [*_persons_of(9), {"who": 10, "x": 5}]),
        3,
        lambda left, right: any(row["x"] == 6 for row in left) and len(right) > len(left),
    ),
    "rows of a join": (
        Frame({"key": {"type": "categorical", "choices": [f"k{i:02}" for i in range(30)]}}, size=(0, 20)),
        ([{"key": f"k{i:02}"} for i in range(5, 20)], [{"key": f"k{i:02}"} for i in [*range(5, 20), 27]]),
        3,
        lambda left, right: {"key": "k17"} in left and {"key": "k27"} in right,
    ),
    "most of one person's rows": (
        Frame({"x": {"type": "integer", "low": 0, "high": 9}}, size=(0, 20), id="who", rows_per_person=(1, 16)),
        ([], [{"who": 1, "x": i % 10} for i in range(16)]),
        1,
        lambda left, right: any(row["x"] == 6 for row in right),
    ),
    "totals of other keys": (
        Totals(cells=24, values=(0, 50), contribution={"l1": 3}),
        ((*range(1, 25),), (2, *range(2, 25))),
        2,
        lambda left, right: left[16] > 0 and [*right] != [*left],
    ),
    "records of a session": (
        Dialogues(Records((0.0, 1.0), size=(0, 20)), ["count"], rounds=1),
        ([0.0] * 7 + [0.5] + [0.0] * 7, [0.0] * 7 + [0.5, 1.0] + [0.0] * 7),
        3,
        lambda left, right: bool(abs(np.round(np.sum(right["data"])) - np.round(np.sum(left["data"]))) > 1),
    ),
}


@pytest.mark.parametrize("name", IDLE)
def test_rows_records_and_persons_who_do_not_matter_go_within_the_budget(name: str) -> None:
    domain, sides, most, breaks = IDLE[name]
    if isinstance(domain, Dialogues):
        base = domain.base.own(*sides)
        assert base is not None
        pair: Pair | None = domain.with_script(base, read_script(["count"]))
    else:
        pair = domain.own(*sides)
        if pair is None:  # totals do not say what their own pairs are
            rng = np.random.default_rng(1)
            pair = next(p for p in iter(lambda: domain.random(rng), None) if breaks(p.left, p.right))
    assert pair is not None
    assert breaks(pair.left, pair.right)

    def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
        return [float(breaks(tried.dataset("left"), tried.dataset("right"))) for tried in pairs]

    path = shrink_pair(pair, domain, evaluate, 0.5, Screening(outputs=CANDIDATES * 500, each=500))
    assert path, "nothing went"
    smallest = path[-1]
    sizes = [
        len(side["data"]) if isinstance(domain, Dialogues) else len(side) for side in (smallest.left, smallest.right)
    ]
    others = sum(number != 0 for number in smallest.left)
    assert (others if isinstance(domain, Totals) else sum(sizes)) <= most, f"{smallest.left} | {smallest.right}"
