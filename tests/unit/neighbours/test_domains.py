"""Every pair of a domain is neighbouring, checked from the definition without the domain's own bookkeeping."""

import itertools
import math
import pickle
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs_of_domains import made, pairs_of, with_simpler

from auditor.auditing import planned
from auditor.claims import PureDP
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs, Valid, Value
from auditor.neighbours.frames import Frame
from auditor.neighbours.numbers import Range, _uniform
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records
from auditor.neighbours.search import path
from auditor.neighbours.totals import OneNumber, Totals, TotalsByKey
from auditor.neighbours.vectors import Vectors
from auditor.sessions.dialogues import Dialogues

Number = int | float


# --- Totals over people ---

CONTRIBUTIONS = st.integers(1, 3).flatmap(
    lambda cells: st.lists(st.lists(st.integers(-3, 3), min_size=cells, max_size=cells), min_size=1, max_size=3)
)


def totals_of(crowd: Sequence[int], contributions: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(np.array(crowd) @ np.array(contributions))


def all_neighbours(
    contributions: list[list[int]], low: int, high: int, relation: str
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Enumerate the definition: all crowds, and every person who can be added, removed or substituted."""
    kinds = range(len(contributions))
    crowds = set(itertools.product(range(low, high + 1), repeat=len(contributions)))
    steps = []
    for kind in kinds:
        if relation == "add_remove":
            steps.append({kind: 1})
            steps.append({kind: -1})
        else:
            steps += [{kind: 1, other: -1} for other in kinds if other != kind]
    pairs = set()
    for crowd, step in itertools.product(crowds, steps):
        moved = tuple(n + step.get(kind, 0) for kind, n in enumerate(crowd))
        if moved in crowds:
            pairs.add((totals_of(crowd, contributions), totals_of(moved, contributions)))
    return pairs


@given(CONTRIBUTIONS, st.integers(0, 3), st.integers(0, 3), st.sampled_from(["add_remove", "substitute"]))
def test_totals_differ_by_one_person_among_crowds_that_are_allowed(
    contributions: list[list[int]], low: int, more: int, relation: str
) -> None:
    allowed = all_neighbours(contributions, low, low + more, relation)
    domain = made(lambda: Totals(contributions, (low, low + more), relation=relation))
    assert (domain is None) == (not allowed)
    if domain is not None:
        pairs = with_simpler(domain)
        assert {(pair.left, pair.right) for pair in pairs} <= allowed
        assert {pair.relation for pair in pairs} == {relation}


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_the_difference_of_large_totals_is_exactly_one_contribution(relation: str) -> None:
    people = 10**15
    domain = Totals([[1, 1], [0, 1]], (0, people), relation=relation)
    steps = {(1, 1), (0, 1)} if relation == "add_remove" else {(1, 0), (-1, 0)}
    for pair in pairs_of(domain, walk=100):
        assert tuple(r - m for m, r in zip(pair.left, pair.right, strict=True)) in steps
        for a, b in (pair.left, pair.right):
            assert 0 <= a <= people  # of the first kind
            assert 0 <= b - a <= people  # of the second


# --- Vectors of totals that one person moves within a reach ---


def reach_of(pair: Pair, norm: str) -> Fraction:
    """Compute the reach exactly, without rounding."""
    steps = [abs(Fraction(b) - Fraction(a)) for a, b in zip(pair.left, pair.right, strict=True)]
    return sum(steps, Fraction(0)) if norm == "l1" else max(steps)


@given(
    cells=st.integers(1, 6),
    low=st.integers(-(10**6), 10**6),
    span=st.integers(1, 10**6),
    norm=st.sampled_from(["l1", "linf"]),
    reach=st.integers(1, 20),
)
def test_integer_vectors_stay_in_their_range_and_within_reach(
    cells: int, low: int, span: int, norm: str, reach: int
) -> None:
    domain = made(
        lambda: Totals(cells=cells, values=(low, low + span), contribution={norm: reach})  # type: ignore[arg-type]
    )
    if domain is None:
        # A single cell moved by the whole reach would fit if its range were as long.
        assert reach > span
        return
    for pair in with_simpler(domain):
        assert {type(v) for v in (*pair.left, *pair.right)} == {int}
        assert all(low <= v <= low + span for v in (*pair.left, *pair.right))
        assert 0 < reach_of(pair, norm) <= reach
        assert len(pair.left) == len(pair.right) == cells


@given(
    cells=st.integers(1, 6),
    low=st.floats(-1e6, 1e6),
    span=st.floats(1e-3, 1e6),
    norm=st.sampled_from(["l1", "linf"]),
    share=st.floats(0.001, 0.5),
)
def test_real_vectors_stay_in_their_range_and_within_reach_however_they_are_rounded(
    cells: int, low: float, span: float, norm: str, share: float
) -> None:
    reach = share * span
    domain = made(lambda: Totals(cells=cells, values=(low, low + span), contribution={norm: reach}, integer=False))
    if domain is None:
        return
    for pair in with_simpler(domain):
        assert {type(v) for v in (*pair.left, *pair.right)} == {float}
        assert all(low <= v <= low + span for v in (*pair.left, *pair.right))
        assert 0 < reach_of(pair, norm) <= Fraction(reach)


@pytest.mark.parametrize("norm", ["l1", "linf"])
def test_the_whole_reach_is_used(norm: str) -> None:
    domain = Totals(cells=3, values=(0, 100), contribution={norm: 4})  # type: ignore[arg-type]
    assert {1, 4} <= {reach_of(pair, norm) for pair in domain.corners()}
    changed = {sum(a != b for a, b in zip(pair.left, pair.right, strict=True)) for pair in domain.corners()}
    assert 1 in changed, "a single cell"
    assert max(changed) > 1, "several at once"


# --- Single values ---


@given(st.lists(st.integers(-5, 5) | st.text(max_size=2) | st.none() | st.floats(), max_size=6))
def test_values_are_paired_with_other_values_of_the_list(values: list[Any]) -> None:
    if len(values) < 2 or len({repr(v) for v in values}) < len(values):
        with pytest.raises(InvalidInputError, match=r"once only|two values"):
            Value(values)
        return
    allowed = {(repr(a), repr(b)) for a, b in itertools.permutations(values, 2)}
    pairs = pairs_of(Value(values))
    assert {(repr(pair.left), repr(pair.right)) for pair in pairs} <= allowed
    assert {frozenset((repr(p.left), repr(p.right))) for p in Value(values).corners()} == set(map(frozenset, allowed))


@given(
    st.tuples(st.integers(-(10**9), 10**9), st.integers(1, 10**9))
    | st.tuples(st.floats(-1e300, 1e300), st.floats(1e-3, 1e300)).filter(lambda ends: ends[0] < ends[0] + ends[1])
)
def test_values_of_a_range_are_two_different_numbers_in_it(ends: tuple[Number, Number]) -> None:
    low, high = ends[0], ends[0] + ends[1]
    for pair in with_simpler(Value(range=(low, high))):
        assert {type(pair.left), type(pair.right)} == {type(low)}
        assert low <= min(pair.left, pair.right) < max(pair.left, pair.right) <= high


# --- Numbers near each other, vectors in L2, totals by key ---


@settings(max_examples=40)
@given(st.integers(-50, 50), st.integers(1, 100), st.integers(1, 30))
def test_integers_near_each_other_are_at_most_so_far_apart(low: int, span: int, distance: int) -> None:
    domain = made(lambda: OneNumber((low, low + span), distance))
    assert (domain is None) == (distance > span)
    for pair in with_simpler(domain) if domain else []:
        assert {type(pair.left), type(pair.right)} == {int}
        assert low <= min(pair.left, pair.right) < max(pair.left, pair.right) <= low + span
        assert abs(pair.left - pair.right) <= distance


@settings(max_examples=40)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(1e-3, 1.0))
def test_numbers_near_each_other_are_at_most_so_far_apart(low: float, span: float, share: float) -> None:
    high, distance = low + span, share * span
    for pair in with_simpler(OneNumber((low, high), distance)):
        assert {type(pair.left), type(pair.right)} == {float}
        assert low <= min(pair.left, pair.right) < max(pair.left, pair.right) <= high
        assert abs(Fraction(pair.left) - Fraction(pair.right)) <= Fraction(distance)


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 60), st.booleans())
def test_a_person_moves_a_vector_by_no_more_than_allowed_in_l2(cells: int, reach: int, integer: bool) -> None:
    by = reach if integer else reach / 7
    domain = Totals(cells=cells, values=(-100, 100), contribution={"l2": by}, integer=integer)
    longest = 0.0
    for pair in with_simpler(domain):
        squares = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(pair.left, pair.right, strict=True))
        assert 0 < squares <= Fraction(by) ** 2
        longest = max(longest, math.sqrt(squares) / by)
    assert longest == pytest.approx(1)


CHANGES = st.fixed_dictionaries(
    {"l0": st.integers(1, 4), "linf": st.integers(1, 9)},
    optional={"l1": st.integers(1, 20), "l2": st.integers(1, 20)},
)


@settings(max_examples=40)
@given(st.integers(1, 5), CHANGES, st.booleans())
def test_a_person_changes_no_more_keys_and_by_no_more_than_allowed(
    keys: int, changes: dict[str, Number], integer: bool
) -> None:
    names = list("abcde"[:keys])
    domain = TotalsByKey(names, (0, 50) if integer else (0.0, 50.0), contribution=changes)
    for pair in with_simpler(domain):
        assert {type(total) for side in (pair.left, pair.right) for total in side.values()} <= {
            int if integer else float
        }
        assert all(0 < total <= 50 for side in (pair.left, pair.right) for total in side.values())
        moved = [abs(Fraction(pair.left.get(name, 0)) - Fraction(pair.right.get(name, 0))) for name in names]
        assert 0 < sum(map(bool, moved)) <= changes["l0"]
        assert max(moved) <= changes["linf"]
        assert sum(moved) <= changes.get("l1", math.inf)
        assert sum(move**2 for move in moved) <= changes.get("l2", math.inf) ** 2


# --- All domains ---

ROWS = {
    "age": {"type": "integer", "low": 0, "high": 90, "null": True},
    "kind": {"type": "categorical", "choices": ["a", "b"]},
}
DOMAINS: dict[str, Callable[[], Domain]] = {
    "values": lambda: Value(["a", "b", "c"]),
    "range": lambda: Value(range=(0.0, 5.0)),
    "people": lambda: Totals([[1, 1], [0, 1]], (0, 2000)),
    "people of ten kinds": lambda: Totals(np.eye(10, dtype=int).tolist(), (0, 100), relation="substitute"),
    "l1": lambda: Totals(cells=3, values=(0, 1000), contribution={"l1": 2}),
    "linf": lambda: Totals(cells=50, values=(0.0, 1.0), contribution={"linf": 0.1}, integer=False),
    "l2": lambda: Totals(cells=3, values=(0, 1000), contribution={"l2": 2}),
    "l2 of reals": lambda: Totals(cells=7, values=(0.0, 5.0), contribution={"l2": 0.3}, integer=False),
    "integers near each other": lambda: OneNumber((0, 1000), 2),
    "numbers near each other": lambda: OneNumber((-1.0, 1.0), 0.1),
    "keys": lambda: TotalsByKey(["a", "b", "c"], (0, 1000), contribution={"l0": 2, "linf": 3, "l1": 5}),
    "records": lambda: Records((0, 1), size=(0, 30)),
    "columns": lambda: Records((-1, 1), size=(1, 10), columns=2, relation="substitute", integer=True),
    "pairs": lambda: Pairs([(0, 1), ([1], [1, 2])]),
    "vectors": lambda: Vectors(3, 1.0, size=(1, 9)),
    "rows": lambda: Frame(ROWS, size=(0, 30)),
    "persons": lambda: Frame(ROWS, size=(0, 30), id="id", rows_per_person=(1, 3), order="shuffled", form="pandas"),
    "valid": lambda: Valid(Records((0, 1), size=(0, 30)), len),
    "sessions": lambda: Dialogues(Records((0, 1), size=(0, 9)), ask=["sum", "count"], rounds=3),
}
every_domain = pytest.mark.parametrize("make", DOMAINS.values(), ids=DOMAINS)


@every_domain
def test_the_same_generator_gives_the_same_pairs(make: Callable[[], Domain]) -> None:
    first, second, other = ([repr((p.left, p.right)) for p in pairs_of(make(), seed, walk=40)] for seed in (1, 1, 2))
    assert first == second
    assert first != other


@every_domain
def test_pairs_travel_to_workers_and_are_the_same_there(make: Callable[[], Domain]) -> None:
    for pair in pairs_of(make())[:50]:
        assert pickle.loads(pickle.dumps(pair)) == pair


@every_domain
def test_a_domain_that_has_travelled_gives_the_same_pairs(make: Callable[[], Domain]) -> None:
    """joblib sends the domain of ``auditor.audit`` to its workers, with the pairs that it has listed by then."""
    domain = make()
    first = [*domain.corners(), *domain.simplest()]
    arrived = cloudpickle.loads(cloudpickle.dumps(domain))
    assert [pair.key() for pair in (*arrived.corners(), *arrived.simplest())] == [pair.key() for pair in first]
    assert [pair.key() for pair in with_simpler(arrived)] == [pair.key() for pair in with_simpler(domain)]
    one, other = arrived.corners()[0], arrived.corners()[-1]
    between = domain.between(domain.corners()[0], domain.corners()[-1])
    assert arrived.between(one, other) == between
    assert [*map(Pair.key, arrived.closely([one], 9))] == [*map(Pair.key, domain.closely(domain.corners()[:1], 9))]


@every_domain
def test_a_path_holds_its_pair_and_each_step_begins_where_the_one_before_ends(make: Callable[[], Domain]) -> None:
    domain, long = make(), 0
    for pair in pairs_of(domain):
        along = path(domain, pair, 5)
        assert pair in along
        assert len(along) <= 5
        assert all(one.right == other.left for one, other in itertools.pairwise(along))
        assert len({repr(step.left) for step in along}) == len(along), "a path does not come back"
        long += len(along) == 5
    assert bool(long) == (not isinstance(domain, Value | Pairs))


# --- What cannot be meant ---

ILL: list[tuple[Callable[[], Any], str]] = [
    (Value, "either values or range"),
    (lambda: Value([0, 1], range=(0, 1)), "not both"),
    (lambda: Value([]), "two values or more"),
    (lambda: Value([1, 2, 1]), "once only"),
    (lambda: Value(range=(3, 3)), "two values or more"),
    (lambda: Value(range=(0, math.inf)), "high end of range is inf"),
    (lambda: Value(range=(-1e308, 1e308)), "finite float"),
    (lambda: Value(range=(0, 10**400)), "high end of range is 1000"),
    (lambda: Value(range=("a", 1)), "low end of range is 'a'"),  # type: ignore[arg-type]
    (lambda: Value(range=(1,)), "two ends"),
    (lambda: OneNumber((0, 1), 2), "does not fit"),
    (lambda: OneNumber((0, 1), 0), "contribution l1 is 0"),
    (lambda: TotalsByKey([], (0, 1), contribution={"l0": 1, "linf": 1}), "one or more"),
    (lambda: TotalsByKey(["a", "a"], (0, 1), contribution={"l0": 1, "linf": 1}), "once only"),
    (lambda: TotalsByKey(["a"], (1, 2), contribution={"l0": 1, "linf": 1}), "0 must be among the values"),
    (lambda: TotalsByKey(["a"], (0, 1), contribution={"l0": 1}), "{l0: k, linf: m}"),
    (lambda: TotalsByKey(["a"], (0, 1), contribution={"l0": 0.5, "linf": 1}), "a number of keys"),
    (lambda: TotalsByKey(["a"], (0, 1), contribution={"l0": 1, "linf": 2}), "are neighbours"),
    (Totals, "either contributions and people, or cells"),
    (lambda: Totals([[1]], (0, 1), cells=2), "not a mixture"),
    (
        lambda: Totals(cells=2, values=(0, 1), contribution={"l1": 1}, relation="substitute"),
        "A relation goes with contributions",
    ),
    (lambda: Totals([], (0, 1)), "vectors of one length"),
    (lambda: Totals([[math.nan]], (0, 1)), "contributions is nan"),
    (lambda: Totals([["1"]], (0, 1)), "contributions is '1'"),  # type: ignore[list-item]
    (lambda: Totals([[1]], (5, 4)), "people goes from 5 to 4"),
    (lambda: Totals([[1]], (-1, 4)), "integer from 0 up"),
    (lambda: Totals([[1]], (0, 1.5)), "integer from 0 up"),  # type: ignore[arg-type]
    (lambda: Totals([[1]], (3, 3)), "no pairs under add_remove"),
    (lambda: Totals([[1]], (0, 3), relation="substitute"), "no pairs under substitute"),
    (lambda: Totals([[1]], (0, 3), relation="as_given"), "as_given"),
    (lambda: Pairs([(0, 1)], "alone"), "allowed: add_remove, as_given, substitute"),
    (lambda: Records((0, 1), size=(0, 1), relation="as_given"), "allowed: add_remove, substitute"),
    (lambda: Totals(cells=0, values=(0, 1), contribution={"l1": 1}), "cells is 0"),
    (
        lambda: Totals(cells=10**13, values=(0, 1), contribution={"l1": 1}),
        "cells is 10,000,000,000,000: a data set then",
    ),
    (lambda: Totals(cells=1.5, values=(0, 1), contribution={"l1": 1}), "cells is 1.5"),  # type: ignore[arg-type]
    (lambda: Totals(cells=2, values=(0, 1), contribution={}), "{l1: s}, {l2: s} or {linf: s}"),
    (lambda: Totals(cells=2, values=(0, 1), contribution={"l1": 1, "linf": 1}), "{l1: s}, {l2: s} or {linf: s}"),
    (lambda: Totals(cells=2, values=(0, 1), contribution={"l1": 0}), "contribution l1 is 0"),
    (lambda: Totals(cells=2, values=(0, 1), contribution={"l1": 0.5}), "unless integer: false"),
    (lambda: Totals(cells=2, values=(0, 1), contribution={"l1": 5}), "does not fit"),
]


@pytest.mark.parametrize(("make", "message"), ILL, ids=[message for _, message in ILL])
def test_what_cannot_be_meant_is_told(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (Pairs([(0, 1), (1, 2)]), "the 2 pairs given"),
        (Records([0, 10], size=[1, 5000]), "1 to 5,000 records (numbers from 0 to 10)"),
        (
            Records(choices=["a", "b"], size=[1, 5], columns=2, distance=2),
            "1 to 5 records (2 values, each one of 2 choices); up to 2 changes apart",
        ),
        (
            Totals([[1, 1], [0, 1]], (0, 2000)),
            "totals over people who each add (1, 1) or (0, 1), 0 to 2,000 people of each kind",
        ),
        (
            Totals(cells=3, values=(0, 10), contribution={"l1": 2}),
            "3 integers from 0 to 10, which one person moves by at most 2 in L1",
        ),
    ],
)
def test_a_domain_says_in_words_which_data_sets_it_holds(domain: Any, message: str) -> None:
    assert str(domain) == message


def test_both_sides_are_floats_where_the_ends_of_the_range_are_whole() -> None:
    domain = Totals(cells=3, values=(0, 1000), contribution={"l1": 2}, integer=False)
    types = {pair.dataset(side).dtype for pair in pairs_of(domain) for side in ("left", "right")}  # type: ignore[arg-type]
    assert types == {np.dtype(float)}


def test_values_may_be_arrays() -> None:
    pairs = pairs_of(Value([np.array([0, 1]), np.array([1, 0])]))
    assert all(pair.left.tolist() != pair.right.tolist() for pair in pairs)


def test_the_ends_of_a_range_are_a_pair() -> None:
    assert (0.0, 1.5) in {(pair.left, pair.right) for pair in Value(range=(0, 1.5)).corners()}


def test_some_neighbours_are_nearer_than_the_distance_allows() -> None:
    for domain in (OneNumber((0, 1000), 50), OneNumber((0.0, 1.0), 0.1)):
        apart = {abs(pair.left - pair.right) for pair in pairs_of(domain, walk=60)}
        assert max(apart) == pytest.approx(domain.distance)
        assert min(apart) < domain.distance / 2


def test_all_cells_of_a_vector_move_together_in_l2() -> None:
    domain = Totals(cells=4, values=(0, 100), contribution={"l2": 4})
    moves = {tuple(np.subtract(pair.right, pair.left).tolist()) for pair in domain.corners()}
    assert {(2, 2, 2, 2), (-2, -2, -2, -2), (2, -2, 2, -2), (4, 0, 0, 0)} <= moves


def test_a_key_that_nobody_has_is_absent() -> None:
    domain = TotalsByKey(["a", "b"], (0, 5), contribution={"l0": 1, "linf": 1})
    assert (domain.corners()[0].left, domain.corners()[0].right) == ({}, {"a": 1})


@every_domain
def test_corners_are_some_and_each_stands_once(make: Callable[[], Domain]) -> None:
    corners = make().corners()
    assert corners
    assert len({repr((pair.left, pair.right)) for pair in corners}) == len(corners)


def test_a_path_turns_round_at_the_end_of_its_range() -> None:
    domain = Totals(cells=2, values=(0, 10), contribution={"linf": 3})
    steps = path(domain, next(pair for pair in domain.corners() if pair.origin[1] == (3, 3)), 9)
    assert [(step.left, step.right) for step in steps] == [((0, 0), (3, 3)), ((3, 3), (6, 6)), ((6, 6), (9, 9))]
    for step in steps:
        assert path(domain, step, 9) == steps


def test_a_path_of_substitutions_goes_on_to_records_that_are_not_yet_alike() -> None:
    domain = Records(choices=[0, 1], size=(3, 3), relation="substitute")
    [start] = [pair for pair in domain.corners() if (pair.left, pair.right) == ((1, 1, 0), (0, 1, 0))]
    assert [step.right for step in path(domain, start, 9)] == [(0, 1, 0), (0, 0, 0)]


@given(
    st.tuples(st.integers(-(10**12), 10**12), st.integers(0, 10**12))
    | st.tuples(st.floats(-1e150, 1e150), st.floats(0, 1e150))
)
def test_the_ladder_rises_from_one_end_to_the_other(ends: tuple[Number, Number]) -> None:
    low, high, integer = ends[0], ends[0] + ends[1], isinstance(ends[0], int)
    marks = Range(low, high, integer).ladder()
    assert (marks[0], marks[-1]) == (low, high)
    assert all(a < b for a, b in itertools.pairwise(marks))
    assert {type(mark) for mark in marks} == {int if integer else float}
    assert 0 in marks or not low < 0 < high
    if integer and high > low + 1:
        assert {low + 1, high - 1} <= set(marks), "the smallest step from either end"


def test_a_domain_that_forgets_a_method_is_refused() -> None:
    """Without `mutate` a search would stay at the corners, and without `random` it would try nothing else."""

    class Forgetful(Domain):
        def corners(self) -> list[Pair]:
            return [Pair([0], [1])]

    with pytest.raises(TypeError, match=r"abstract method.* mutate, random, simpler"):
        Forgetful()  # type: ignore[abstract]

    class Alike:
        """A domain that lacks a method, by mistake."""

        corners = Forgetful.corners

    with pytest.raises(
        InvalidInputError, match=r"the domain Alike has no .*mutate.*random.*; derive it from auditor\.extending"
    ):
        planned(lambda data, rng: 0.0, PureDP(1.0), Alike())  # type: ignore[arg-type]


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.integers(0, 2**32))
def test_numbers_are_drawn_as_numpy_draws_them(low: float, span: float, seed: int) -> None:
    """Records that were drawn before stay the same."""
    ours, its = np.random.default_rng(seed), np.random.default_rng(seed)
    for _ in range(5):
        assert _uniform(low, low + span, ours) == pytest.approx(its.uniform(low, low + span), rel=1e-14)
    assert ours.bit_generator.state == its.bit_generator.state
