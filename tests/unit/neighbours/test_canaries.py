"""Canaries: what a mechanism receives, and which options are possible."""

import re

import numpy as np
import pytest

from auditor.errors import InvalidInputError
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.pair import Relation, check_neighbours


def score(output: object, canary: object) -> float:
    return 0.0


def test_the_data_are_the_records_and_the_canaries_that_are_in() -> None:
    inside = np.array([True, False, True])
    assert Canaries([7, 8, 9], score, [1, 2]).dataset(inside) == [1, 2, 7, 9]
    rows = Canaries(np.array([[7.0, 1], [8, 1], [9, 1]]), score, [[1.0, 0]]).dataset(inside)
    assert rows.tolist() == [[1, 0], [7, 1], [9, 1]]
    assert Canaries(np.array([7, 8, 9]), score).dataset(inside).tolist() == [7, 9]
    assert Canaries(np.zeros((3, 2)), score).dataset(np.zeros(3, bool)).shape == (0, 2)


def test_the_pair_to_try_is_of_neighbours() -> None:
    domain = Canaries([7, 8, 9], score, [1])
    [pair] = domain.pairs().corners()
    check_neighbours(pair.left, pair.right, Relation.ADD_REMOVE)
    assert str(domain) == "3 canaries, each in the data or not by a fair coin, in addition to 1 record"


def test_numbers_of_guesses_are_of_all_runs_together() -> None:
    assert Canaries(range(20), score).guesses == (20, 10)
    assert Canaries(range(20), score, runs=2).guesses == (40, 20, 10)
    assert Canaries(range(20), score, runs=2, guesses=40).guesses == (40,)
    assert Canaries(range(20), score, guesses=[4, 2]).guesses == (4, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 0}, "runs is 0; it must be an integer of at least 1"),
        ({"runs": True}, "runs is True"),
        ({"guesses": 4}, "guesses is 4; it must be one or several integers from 1 to 3"),
        ({"guesses": []}, "guesses is []"),
        ({"guesses": [1.5]}, "guesses is [1.5]"),
    ],
)
def test_impossible_options_are_an_error(options: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(words)):
        Canaries([1, 2, 3], score, **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="there are no canaries"):
        Canaries([], score)
