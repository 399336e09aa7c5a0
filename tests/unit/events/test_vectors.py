"""Features of vectors: their values, and leaks that only they reveal. Fixed seeds; thresholds far from chance."""

import math
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch, from_list
from auditor.events.features import (
    Difference,
    HowMany,
    HowManyDiffer,
    OrderStatistic,
    Total,
    WhereLargest,
    vector_features,
)

PLACES = ("output[0]", "output[1]", "output[2]")


def test_values_are_what_their_names_say() -> None:
    outputs = from_batch(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 5.0]]), 2)
    assert Difference(*PLACES[:2]).extract(outputs).numbers.tolist() == [2.0, -5.0]
    assert [OrderStatistic(PLACES, rank).extract(outputs).numbers[0] for rank in range(3)] == [1.0, 2.0, 3.0]
    assert WhereLargest(PLACES).extract(outputs).numbers.tolist() == [0.0, 1.0]
    assert Total(PLACES).extract(outputs).numbers.tolist() == [6.0, 10.0]
    assert HowMany(PLACES, 5.0).name == "count of 5 in the output"
    assert HowMany(PLACES, 5.0).extract(outputs).numbers.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("odd", [None, math.nan, "text", math.inf])
def test_an_output_with_anything_else_at_a_place_is_a_category_of_its_own(odd: Any) -> None:
    outputs = from_list([[1.0, 2.0, 4.0], [odd, 2.0, 4.0]])
    for feature in (Difference(*PLACES[:2]), Total(PLACES), OrderStatistic(PLACES, 0), WhereLargest(PLACES)):
        column = feature.extract(outputs)
        assert column.codes is not None
        assert column.codes.tolist() == [-1, 0]
        assert column.atoms == ("not all finite numbers",)
        assert np.all(np.isfinite(column.numbers))


def test_the_difference_of_the_largest_doubles_is_no_number() -> None:
    outputs = from_batch(np.array([[1.7e308, -1.7e308], [1.0, 0.0]]), 2)
    assert Difference(*PLACES[:2]).extract(outputs).atoms == ("not all finite numbers",)
    assert Total(PLACES[:2]).extract(from_batch(np.full((2, 2), 1.7e308), 2)).atoms == ("not all finite numbers",)


def test_single_numbers_have_no_such_features() -> None:
    assert list(vector_features(from_batch(np.zeros(5), 5), ["output"])) == []


def test_the_number_of_different_values_counts_numbers_and_atoms_but_no_absent_place() -> None:
    outputs = from_list([["a", "a", 1.0, 1.0], ["a", "b", "1", 2.0], [None, math.nan, math.nan, -0.0], ["a", "b"]])
    places = tuple(f"output[{at}]" for at in range(4))
    feature = HowManyDiffer(places)
    assert feature.extract(outputs).numbers.tolist() == [2.0, 4.0, 3.0, 2.0]
    for at in range(outputs.size):  # an output's value does not depend on the other outputs
        assert feature.extract(outputs[at : at + 1]).numbers == feature.extract(outputs).numbers[at]


def test_few_places_are_compared_for_equality() -> None:
    outputs = from_list([["a", "b"], ["a", "c"]])
    assert HowManyDiffer(PLACES[:2]) in [*vector_features(outputs, PLACES[:2])]
    many = tuple(f"output[{at}]" for at in range(40))
    assert not any(isinstance(each, HowManyDiffer) for each in vector_features(from_list([[0.5] * 40]), many))
