"""Faults on tables: group-bys, joins, several rows per person, missing values, the order of steps, data-dependent categories."""

from typing import Any

import numpy as np
import pandas as pd

import auditor
from benchmarks._faults import Fault, Mechanism, Rng, by_key, with_laplace

CITIES = ["Bern", "Lima", "Oslo", "Rome"]
CITY = {"type": "categorical", "choices": CITIES}
DAYS = [f"2024-03-{day:02}" for day in range(1, 32)]
EPSILON = auditor.PureDP(1.0)


def _frame(columns: dict[str, Any], **given: Any) -> auditor.Frame:
    return auditor.Frame(columns, **{"size": (0, 30), "form": "pandas", **given})


def _table(rows: list[dict[str, Any]], columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def _by_city(values: pd.Series) -> Any:
    return values.reindex(CITIES, fill_value=0).to_numpy(dtype=float)


# The mean income of each city.


def mean_by_city(noise_on_number: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        groups = df.assign(income=df["income"].astype(float).clip(0, 100)).groupby("city")["income"]
        totals, numbers = _by_city(groups.sum()), _by_city(groups.size())
        if noise_on_number:
            numbers = with_laplace(numbers, size, rng, 2.0)
            return with_laplace(totals, size, rng, 200.0) / np.maximum(numbers, 1)
        return with_laplace(totals, size, rng, 100.0) / np.maximum(numbers, 1)

    return release


# The number of users seen in each city.


def users_by_city(one_row_each: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        rows = df.drop_duplicates("user" if one_row_each else ["user", "city"])
        return with_laplace(_by_city(rows.groupby("city").size()), size, rng, 1.0)

    return release


# A total in which missing values are replaced.


def total_with_nulls_filled(by_mean: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        value = df["value"].astype(float)
        filled = value.fillna(value.mean() if by_mean else 0.0).clip(0, 10)
        return with_laplace(filled.sum(), size, rng, 10.0)

    return release


# Orders joined with returns.


def orders_with_returns(all_pairs: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        rows = df if all_pairs else df.drop_duplicates()
        orders, returns = (rows[rows["kind"] == kind] for kind in ("order", "return"))
        return with_laplace(len(orders.merge(returns, on="product")), size, rng, 1.0)

    return release


# The total spent, clipped to 10 for each user.


def total_spent(clip_rows: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        amounts = df["amount"].astype(float)
        each = amounts if clip_rows else amounts.groupby(df["user"]).sum()
        return with_laplace(each.clip(0, 10).sum(), size, rng, 10.0)

    return release


# A histogram in which rare cities become "other".


def histogram_with_other(from_data: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        counts = _by_city(df.groupby("city").size())
        rare = counts < 3 if from_data else np.array([False, False, True, True])
        folded = [*np.where(rare, 0.0, counts), counts[rare].sum()]
        return by_key([*CITIES, "other"], with_laplace(folded, size, rng, 1.0))

    return release


# A histogram with a bin for missing cities.


def histogram_with_unknown(always: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        missing = int(df["city"].isna().sum())
        counts = [*_by_city(df.groupby("city").size()), *([missing] if always or missing else [])]
        return by_key([*CITIES, "unknown"][: len(counts)], with_laplace(counts, size, rng, 1.0))

    return release


# Counts over the first ten rows.


def counts_of_first_rows(scale: float) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        return with_laplace(_by_city(df.head(10).groupby("city").size()), size, rng, scale)

    return release


# A balance with refunds, which are negative.


def balance(low: float | None) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        return with_laplace(df["amount"].astype(float).clip(low, 50).sum(), size, rng, 50.0)

    return release


# Visits by day.


def visits_by_day(calendar_of_data: bool) -> Mechanism:
    def release(df: pd.DataFrame, size: int, rng: Rng) -> Any:
        day = pd.to_datetime(df["day"])
        if calendar_of_data and df.empty:
            return [{}] * size
        first, last = (day.min(), day.max()) if calendar_of_data else (DAYS[0], DAYS[-1])
        days = pd.date_range(first, last)
        counts = day.value_counts().reindex(days, fill_value=0).to_numpy()
        return by_key(days.strftime("%m-%d"), with_laplace(counts, size, rng, 1.0))

    return release


def _rows(city: str, number: int, **values: Any) -> list[dict[str, Any]]:
    return [{"city": city, **values}] * number


def _visits(*days: int) -> pd.DataFrame:
    return _table([{"day": pd.Timestamp(DAYS[day])} for day in days], "day")


TABLES = {
    "table: mean by city, over the true number": Fault(
        mean_by_city(False), mean_by_city(True), EPSILON,
        _frame({"city": CITY, "income": {"type": "number", "low": 0, "high": 100}}),
        (_table(_rows("Bern", 1, income=0.0), "city income"), _table(_rows("Bern", 2, income=0.0), "city income")),
        "One row of income 0 or two: noise of scale 100 or 50. |mean| > 300 has chance 0.050 or 0.0025, a loss of 3.",
        "A row is in one city; half of ε for its total (at most 100, scale 200), half for the number (1, scale 2).",
    ),
    "table: rows capped for each user and city": Fault(
        users_by_city(False), users_by_city(True), EPSILON,
        _frame({"city": CITY}, id="user", rows_per_person=(1, 4)),
        (_table([], "user city"), _table([{"user": 1, "city": city} for city in CITIES], "user city")),
        "A user with a row in each of 4 cities moves 4 counts by 1, with noise of scale 1: a loss of 4.",
        "One row is left of each user, so a user moves one count by 1.",
    ),
    "table: missing values filled with the mean": Fault(
        total_with_nulls_filled(True), total_with_nulls_filled(False), EPSILON,
        _frame({"value": {"type": "number", "low": 0, "high": 10, "null": True}}),
        (_table([{"value": np.nan}] * 29, "value"), _table([{"value": np.nan}] * 29 + [{"value": 10.0}], "value")),
        "29 rows without a value, then one of 10: the total goes from 0 to 300, with noise of scale 10: a loss of 30.",
        "A missing value counts as 0, so a row moves the total by at most 10.",
    ),
    "table: a join counts all pairs": Fault(
        orders_with_returns(True), orders_with_returns(False), EPSILON,
        _frame({
            "kind": {"type": "categorical", "choices": ["order", "return"]},
            "product": {"type": "categorical", "choices": ["book", "lamp", "mug", "pen", "rug", "vase"]},
        }),
        (
            _table([{"kind": "order", "product": "mug"}] * 9, "kind product"),
            _table([{"kind": "order", "product": "mug"}] * 9 + [{"kind": "return", "product": "mug"}], "kind product"),
        ),
        "A return joins with each of 9 orders of its product: the count moves by 9, with noise of scale 1: a loss of 9.",
        "Each product has at most one order and one return, so a row makes or breaks one pair.",
    ),
    "table: clipped before the sum of a user": Fault(
        total_spent(True), total_spent(False), EPSILON,
        _frame({"amount": {"type": "number", "low": 0, "high": 50}}, id="user", rows_per_person=(1, 5)),
        (_table([], "user amount"), _table([{"user": 1, "amount": 10.0}] * 5, "user amount")),
        "A user with 5 rows of 10 or more moves the total by 50, with noise of scale 10: a loss of 5.",
        "The total of each user is clipped to 10.",
    ),
    "table: rare cities become other by their true count": Fault(
        histogram_with_other(True), histogram_with_other(False), EPSILON, _frame({"city": CITY}),
        (_table(_rows("Oslo", 2), "city"), _table(_rows("Oslo", 3), "city")),
        "With 2 rows of Oslo Oslo is 0 and other 2; with 3 it is 3 and 0: together 5, with noise of scale 1: a loss of 5.",
        "Which cities are rare is fixed, so a row is in one count.",
    ),
    "table: missing cities get a place if there are any": Fault(
        histogram_with_unknown(False), histogram_with_unknown(True), EPSILON,
        _frame({"city": {**CITY, "null": True}}),
        (_table([], "city"), _table([{"city": None}], "city")),
        "The key for missing cities is there only if a city is missing: an infinite loss.",
        "All keys are always there, and a row is in one count.",
    ),
    "table: first ten rows, noise for one": Fault(
        counts_of_first_rows(1.0), counts_of_first_rows(2.0), EPSILON, _frame({"city": CITY}),
        (_table(_rows("Bern", 10), "city"), _table(_rows("Oslo", 1) + _rows("Bern", 10), "city")),
        "A row at the front pushes out the tenth: one count rises and one falls by 1, with scale 1: a loss of 2.",
        "One row comes and one goes, so counts move by 2 in all, with noise of scale 2.",
    ),
    "table: refunds are not clipped from below": Fault(
        balance(None), balance(-50.0), EPSILON,
        _frame({"amount": {"type": "number", "low": -200, "high": 200}}),
        (_table([], "amount"), _table([{"amount": -200.0}], "amount")),
        "A refund of −200 moves the balance by 200, with noise of scale 50: a loss of 4.",
        "An amount is clipped to −50 … 50.",
    ),
    "table: the days are those of the data": Fault(
        visits_by_day(True), visits_by_day(False), EPSILON,
        _frame({"day": {"type": "date", "low": DAYS[0], "high": DAYS[-1]}}),
        (_visits(9), _visits(9, 11)),
        "A visit on a later day adds that day to the keys: an infinite loss.",
        "All days of the month are keys, and a row is in one count.",
        samples=20_000,
    ),
}  # fmt: skip
