"""Facts of data sets, by which faults are planted."""

import numpy as np
import pytest

from auditor.neighbours.facts import facts_of


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ([], {"no records"}),
        (5, {"the value 5"}),
        (np.array([0.5]), {"size 1", "the value 0.5"}),
        ([1, 2], {"size 2", "a prime size", "the value 1", "the value 2", "neighbouring records (1, 2)"}),
        (
            [4, 4, 4],
            {
                "size 3",
                "a prime size",
                "the value 4",
                "a duplicate",
                "all records alike",
                "neighbouring records (4, 4)",
            },
        ),
        ([float("nan")], {"size 1", "the value nan"}),
    ],
)
def test_the_facts_of_a_data_set(dataset: object, expected: set[str]) -> None:
    assert {str(fact) for fact in facts_of(dataset)} == expected


def test_rows_have_facts_by_column() -> None:
    rows = [{"user": 1, "city": "Bern"}, {"user": 1, "city": None}, {"user": 1, "city": "Oslo"}]
    found = {str(fact) for fact in facts_of(rows)}
    assert {"the city Bern", "city is missing", "rows with one user 3", "all rows in one user", "the user 1"} <= found
    assert "all rows in one city" not in found


def test_order_is_a_fact() -> None:
    assert facts_of([1, 2]) != facts_of([2, 1])
