"""Facts about data sets, on which planted faults depend."""

import numpy as np
import pytest

from auditor.neighbours.facts import facts_of


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ([], {"no records"}),
        (5, {"a certain value, 5"}),
        (np.array([0.5]), {"a certain size, 1", "a certain value, 0.5", "a certain last record, 0.5"}),
        (
            [1, 2],
            {
                "a certain size, 2",
                "a prime size",
                "a certain last record, 2",
                "a certain value, 1",
                "a certain value, 2",
                "two certain records in a row, (1, 2)",
            },
        ),
        (
            [4, 4, 4],
            {
                "a certain size, 3",
                "a prime size",
                "a certain value, 4",
                "a certain last record, 4",
                "a duplicate",
                "all records alike",
                "two certain records in a row, (4, 4)",
            },
        ),
        ([float("nan")], {"a certain size, 1", "a certain value, nan", "a certain last record, nan"}),
    ],
)
def test_the_facts_of_a_data_set(dataset: object, expected: set[str]) -> None:
    assert {str(fact) for fact in facts_of(dataset)} == expected


def test_rows_have_facts_by_column() -> None:
    rows = [{"user": 1, "city": "Bern"}, {"user": 1, "city": None}, {"user": 1, "city": "Oslo"}]
    facts = {str(fact) for fact in facts_of(rows)}
    assert {
        "a certain city, Bern",
        "a missing city",
        "so many rows of one user, 3",
        "one user in all rows",
        "a certain user, 1",
    } <= facts
    assert "one city in all rows" not in facts


def test_fifteen_records_alike_are_a_crowd() -> None:
    crowd = "15 or more records alike"
    assert crowd in {str(fact) for fact in facts_of([2] * 15 + [3])}
    assert crowd not in {str(fact) for fact in facts_of([2] * 14 + [3])}


def test_order_is_a_fact() -> None:
    assert facts_of([1, 2]) != facts_of([2, 1])
