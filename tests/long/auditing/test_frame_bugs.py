"""Faults on tables as they occur with pandas and polars: limits per group instead of per person, late clipping."""

from typing import Any

import numpy as np
import pytest

import auditor

CITY = {"city": {"type": "categorical", "choices": ["a", "b", "c"], "null": True}}
GROUPS = auditor.Frame(CITY, id="user", rows_per_person=(1, 4), size=(0, 40), form="pandas")
AGES = auditor.Frame({"age": {"type": "integer", "low": 0, "high": 500}}, form="polars")


def counts_limited_by_city(df: Any, size: int, rng: np.random.Generator, by: Any = ("user", "city")) -> Any:
    """Two rows of each user count in every city; the noise is for two rows in all."""
    kept = df.fillna({"city": "unknown"}).groupby(list(by)).head(2)
    counts = kept.groupby("city").size().reindex(["a", "b", "c", "unknown"], fill_value=0).to_numpy()
    return counts + rng.laplace(0, 2, (size, 4))


def mean_clipped_late(df: Any, size: int, rng: np.random.Generator, late: bool = True) -> Any:
    """The sum is clipped instead of the rows. Half of ε is for the sum, and half for the number of rows."""
    ages = df["age"] if late else df["age"].clip(0, 100)
    total = min(max(ages.sum(), 0), 100 * df.height)
    return (total + rng.laplace(0, 200, size)) / np.maximum(1, df.height + rng.laplace(0, 2, size))


@pytest.mark.parametrize(
    ("mechanism", "frames", "sound"),
    [
        (counts_limited_by_city, GROUPS, {"by": ["user"]}),
        (mean_clipped_late, AGES, {"late": False}),
    ],
)
def test_a_fault_in_pandas_or_polars_is_found_and_its_sound_twin_passes(
    mechanism: Any, frames: auditor.Frame, sound: dict[str, Any]
) -> None:
    """Seeds are fixed. A false alarm has a chance of 0.1 % each."""
    for seed in range(5):
        how: dict[str, Any] = {"samples": 100_000, "seed": seed, "workers": 1, "shrink": False}
        claim = auditor.PureDP(1.0)
        assert auditor.audit(mechanism, claim, frames, **how).verdict == "violation"
        twin = auditor.audit(mechanism, claim, frames, parameters=sound, **how)
        assert twin.verdict == "no_violation_found"
