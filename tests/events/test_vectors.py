"""Features of vectors: their values, and leaks that only they show. Seeds fixed; thresholds far from chance."""

import math
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.blackbox.canonical import from_batch, from_list
from auditor.events.vectors import Difference, HowMany, OrderStatistic, WhereLargest, vector_features

PLACES = ("output[0]", "output[1]", "output[2]")


def test_values_are_what_their_names_say() -> None:
    outputs = from_batch(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 5.0]]), 2)
    assert Difference(*PLACES[:2]).extract(outputs).numbers.tolist() == [2.0, -5.0]
    assert [OrderStatistic(PLACES, rank).extract(outputs).numbers[0] for rank in range(3)] == [1.0, 2.0, 3.0]
    assert WhereLargest(PLACES).extract(outputs).numbers.tolist() == [0.0, 1.0]
    assert HowMany(PLACES, 5.0).name == "count of 5 in the output"
    assert HowMany(PLACES, 5.0).extract(outputs).numbers.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("odd", [None, math.nan, "text", math.inf])
def test_an_output_with_anything_else_at_a_place_is_a_category_of_its_own(odd: Any) -> None:
    outputs = from_list([[1.0, 2.0, 4.0], [odd, 2.0, 4.0]])
    for feature in (Difference(*PLACES[:2]), OrderStatistic(PLACES, 0), WhereLargest(PLACES)):
        column = feature.extract(outputs)
        assert column.codes is not None
        assert column.codes.tolist() == [-1, 0]
        assert column.atoms == ("not all finite numbers",)
        assert np.all(np.isfinite(column.numbers))


def test_the_difference_of_the_largest_doubles_is_no_number() -> None:
    outputs = from_batch(np.array([[1.7e308, -1.7e308], [1.0, 0.0]]), 2)
    assert Difference(*PLACES[:2]).extract(outputs).atoms == ("not all finite numbers",)


def test_single_numbers_have_no_such_features() -> None:
    assert list(vector_features(from_batch(np.zeros(5), 5), ["output"])) == []


def in_the_difference(side: Any, size: int, rng: np.random.Generator) -> Any:
    """Both places spread over thousands; they lie ε = 3 apart by side only in their difference."""
    base = rng.normal(0, 10_000, size)
    return np.stack([base, base + rng.laplace(3 * side, 1.0, size), rng.normal(size=size)], axis=1)


def in_the_order(side: Any, size: int, rng: np.random.Generator) -> Any:
    """Twenty places, shuffled: one is out of the way on the left."""
    outputs = rng.normal(0, 1, (size, 20))
    outputs[:, 0] += 4 * side
    return rng.permuted(outputs, axis=1)


def in_the_count(side: Any, size: int, rng: np.random.Generator) -> Any:
    """Thirty places, shuffled zeros and ones: twenty ones on the left, ten on the right."""
    outputs = np.zeros((size, 30))
    outputs[:, : 10 + 10 * side] = 1.0
    return rng.permuted(outputs, axis=1)


@pytest.mark.parametrize("leak", [in_the_difference, in_the_order, in_the_count])
def test_leaks_of_no_single_place_are_found(leak: Any) -> None:
    result = auditor.audit(leak, auditor.PureDP(1.0), [(0, 1)], samples=20_000, seed=1, workers=1)
    assert result.verdict == "violation"
    assert result.bound is not None
    assert result.bound.value > 2
