"""Canaries that the auditor crafts: gradients with a direction of their own, and a score that looks along it."""

import numpy as np
import pytest

from auditor import Canaries
from auditor.errors import InvalidInputError
from auditor.neighbours.canaries import seen_along


def test_each_canary_has_a_direction_and_a_length_of_its_own() -> None:
    canaries = Canaries.crafted(5, 0.5, runs=2)
    gradients = np.asarray(canaries.canaries)
    assert np.allclose(gradients @ gradients.T, 0.25 * np.eye(5))
    assert (canaries.runs, len(canaries.records)) == (2, 0)


def test_a_score_tells_a_canary_that_is_in_the_sum_of_a_step() -> None:
    canaries = Canaries.crafted(4, 2.0)
    inside = np.array([True, False, True, False])
    summed = canaries.dataset(inside).sum(axis=0)
    steps = [*np.zeros(4), *summed]  # two steps, one after the other
    assert [seen_along(steps, canary) for canary in canaries.canaries] == [4.0, 0.0, 4.0, 0.0]


def test_other_gradients_are_always_in_the_data() -> None:
    others = [[9.0, 0, 0], [0, 8.0, 0]]
    canaries = Canaries.crafted(3, 1.0, records=others, initial=[0.5])
    assert canaries.dataset(np.array([False, False, True])).tolist() == [*others, [0, 0, 1.0]]
    assert canaries.initial == [0.5]


@pytest.mark.parametrize(("number", "norm"), [(0, 1.0), (True, 1.0), (3, 0.0), (3, float("nan"))])
def test_impossible_numbers_are_refused(number: int, norm: float) -> None:
    with pytest.raises(InvalidInputError, match=r"number is|norm is"):
        Canaries.crafted(number, norm)


@pytest.mark.parametrize("records", [[[1.0, 0]], [1.0, 0, 0], [["a", "b", "c"]], [[1.0, 0, 0], [1.0, 0]]])
def test_other_gradients_have_as_many_coordinates_as_there_are_canaries(records: list[object]) -> None:
    with pytest.raises(InvalidInputError, match=r"records must be gradients of 3 numbers each, of shape \(n, 3\)"):
        Canaries.crafted(3, 1.0, records=records)
