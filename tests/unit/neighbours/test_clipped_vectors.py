"""Vectors that a mechanism clips: every pair is neighbouring, and the worst cases come first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor import Vectors
from auditor.errors import InvalidInputError
from auditor.neighbours.pair import Pair, check_neighbours, relation_named

DOMAINS = [
    Vectors(2, 1.0, size=(0, 4)),
    Vectors(1, 0.5, size=(3, 3), relation="substitute"),
    Vectors(3, 1.0, size=(2, 5), weights=(0, 50), relation="substitute"),
    Vectors(2, 2.0, size=(0, 3), weights=(1, 100)),
    Vectors(2, 1.0, size=(1, 1), reach=1, relation="substitute"),
]


def all_pairs(domain: Vectors) -> list[Pair]:
    rng = np.random.default_rng(0)
    drawn = [domain.random(rng) for _ in range(20)]
    return [*domain.corners(), *domain.simplest(), *drawn, *(domain.mutate(pair, rng) for pair in drawn)]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_every_pair_is_neighbouring_and_in_range(domain: Vectors) -> None:
    far = domain.norm * domain.reach
    for pair in all_pairs(domain):
        check_neighbours(pair.left, pair.right, relation_named(domain.relation))
        for side in (pair.left, pair.right):
            vectors = np.array(side).reshape(len(side), domain.cells + (domain.weights is not None))
            assert np.all(np.abs(vectors[:, : domain.cells]) <= far)
            if domain.weights is not None and len(side):
                assert np.all((vectors[:, -1] >= domain.weights.low) & (vectors[:, -1] <= domain.weights.high))


def released(data: np.ndarray, norm: float) -> np.ndarray:
    lengths = np.maximum(1.0, np.linalg.norm(data, axis=1, keepdims=True) / norm)
    return (data / lengths).sum(axis=0)


@pytest.mark.parametrize(("relation", "most"), [("add_remove", 1.0), ("substitute", 2.0)])
def test_the_first_pair_moves_a_clipped_sum_as_far_as_any(relation: str, most: float) -> None:
    domain = Vectors(3, 0.5, size=(2, 6), relation=relation)
    first = domain.simplest()[0]
    one, other = first.dataset("left"), first.dataset("right")
    assert np.linalg.norm(released(one, 0.5) - released(other, 0.5)) == pytest.approx(0.5 * most)


@pytest.mark.parametrize("relation", ["add_remove", "substitute"])
def test_worst_cases_are_among_the_simplest(relation: str) -> None:
    domain = Vectors(3, 1.0, size=(0 if relation == "add_remove" else 1, 6), weights=(1, 80), relation=relation)
    sides = [(pair.dataset("left"), pair.dataset("right")) for pair in domain.simplest()]
    both = [side for pair in sides for side in pair]
    assert any(len(side) == 1 for side in both)
    assert any(len(side) == 0 for side in both) or relation == "substitute"
    assert any((side[:, :-1] == 0).all(axis=1).any() for side in both)  # a client without a change
    assert any(len(set(side[:, -1])) == 2 for side in both)  # uneven weights
    # A vector that is long in another norm.
    assert any((np.abs(side[:, :-1]) == 10).all(axis=1).any() for side in both)
    # A mean that weighs them: the heavy vector stands against all others.
    assert any(len(side) == 6 and (side[:, 0] < 0).sum() == 5 and side[:, -1].max() == 80 for side in both)


@given(st.integers(1, 4), st.floats(1e-3, 1e3), st.integers(0, 3), st.integers(0, 4))
def test_a_pair_of_a_report_is_recognised(cells: int, norm: float, low: int, more: int) -> None:
    domain = Vectors(cells, norm, size=(low, low + more + 1), weights=(0, 9))
    pair = domain.simplest()[0]
    written = pair.to_dict()
    own = domain.own(written["left"], written["right"])
    assert own is not None and own.key() == pair.key()
    assert domain.own([[1e9] * (cells + 1)] * (low + 1), [[1e9] * (cells + 1)] * low) is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"cells": 0, "norm": 1.0, "size": (0, 2)}, "cells is 0"),
        ({"cells": 2, "norm": 0.0, "size": (0, 2)}, "norm is 0.0"),
        ({"cells": 2, "norm": 1.0, "size": (0, 2), "reach": 0.5}, "reach is 0.5"),
        ({"cells": 2, "norm": 1.0, "size": (0, 2), "weights": (-1, 2)}, "no weight may be below 0"),
        ({"cells": 2, "norm": 1.0, "size": (0, 0), "relation": "substitute"}, "has no pairs"),
    ],
)
def test_impossible_vectors_are_refused(arguments: dict, text: str) -> None:
    with pytest.raises(InvalidInputError, match=text):
        Vectors(**arguments)
