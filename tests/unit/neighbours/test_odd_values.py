"""Values that calendars and floats treat unlike their neighbours."""

import math

import pytest

from auditor.neighbours.columns import Column
from auditor.neighbours.numbers import Range


@pytest.mark.parametrize(
    ("low", "high", "days"),
    [
        ("1950-01-01", "2005-12-30", ["2000-02-29", "2000-12-31"]),
        ("2001-03-01", "2030-01-01", ["2004-02-29", "2001-12-31"]),
        ("1895-06-01", "1899-12-01", ["1896-02-29", "1895-12-31"]),
        ("2001-03-02", "2001-03-09", []),
    ],
)
def test_a_range_of_days_holds_a_leap_day_and_the_end_of_a_year(low: str, high: str, days: list[str]) -> None:
    found = Column("date", low=low, high=high).first()
    assert {*days} <= {*found}
    assert bool(days) == any(day.endswith("02-29") for day in found)
    assert {f"{day}T00:00:00" for day in days} <= {
        *Column("datetime", low=f"{low}T00:00:00", high=f"{high}T00:00:00").first()
    }


@pytest.mark.parametrize("power", [53, 54, 55, 60, 63, 80])
def test_an_integer_halfway_between_floats_and_the_next_one_are_far_apart_as_floats(power: int) -> None:
    for sign, numbers in ((1, Range(0, 2**power, True)), (-1, Range(-(2**power), 0, True))):
        halves = numbers.halfway()
        assert bool(halves) == (power > 53)
        assert {*halves} <= {*numbers.ladder()}
        apart = [abs(float(half + sign) - float(half)) for half in halves]
        assert apart == [2 * math.ulp(half / 2) for half in halves], "where the next integer is only 1 away"
        assert not halves or max(apart) == 2.0 ** (power - 1 - 52)
