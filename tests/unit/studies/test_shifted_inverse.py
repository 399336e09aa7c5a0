"""The study of document 003: its numbers, recomputed from the formulas and from samples."""

import math

import numpy as np
import pytest

from mechanisms.shifted_inverse import shifted_inverse_max
from studies.shifted_inverse import numbers as study
from studies.study import read

NUMBERS = read("shifted_inverse")


def test_the_loss_of_figure_1_counts_the_records_above() -> None:
    data = np.repeat(np.arange(6), [1, 5, 10, 10, 5, 1])
    assert NUMBERS["figure_1"]["loss"] == [int((data > y).sum()) for y in NUMBERS["figure_1"]["y"]]


def test_on_tau_ones_the_failure_is_what_the_formula_says_and_below_half_of_beta() -> None:
    for entry in NUMBERS["worst"]:
        q = math.exp(-entry["epsilon"] * entry["tau"] / 2)
        others = entry["outputs"] - 2
        assert entry["failure"] == pytest.approx(others * q / (2 + others * q), rel=1e-8)
        assert entry["failure"] < entry["beta"] / 2
        # One record fewer than the sufficient number does not suffice.
        q = math.exp(-entry["epsilon"] * (entry["enough"] - 1) / 2)
        assert others * q / (2 + others * q) > entry["beta"]


def test_the_sum_reaches_the_epsilon_of_the_formula() -> None:
    for row in NUMBERS["sums"]["rows"]:
        epsilon, n, tau = row["claimed"], row["n"], row["tau"]
        assert row["monotone"]["epsilon"] <= epsilon
        if n >= 2 * tau:
            z = sum(math.exp(-epsilon * abs(y - (n - tau)) / 2) for y in range(n + 1))
            assert row["sum"]["epsilon"] == pytest.approx(
                epsilon * (n - tau) / 2 - math.log(n + 1) + math.log(z), rel=1e-8
            )


def test_no_small_data_set_is_worse_than_tau_ones() -> None:
    for entry in NUMBERS["search"]:
        assert entry["failure"] == pytest.approx(entry["on_tau_ones"], rel=1e-9)
        assert entry["records"] == [1] * entry["tau"]
    # The search has room for twice its largest τ.
    assert max(entry["tau"] for entry in NUMBERS["search"]) * 2 <= study.MOST_RECORDS


def test_ties_defeat_the_absolute_loss_whatever_epsilon_and_beta() -> None:
    for entry in NUMBERS["ties"]["at_two_tau"]:
        assert entry["success"] == pytest.approx(2 / 11, rel=1e-9)


@pytest.mark.parametrize("shifted", ["absolute", "footnote_4"])
def test_the_chance_of_success_is_that_of_draws(shifted: str) -> None:
    ties, n = NUMBERS["ties"], 100_000
    for m in (5, 20):
        outputs = shifted_inverse_max(
            np.ones(m, np.int64), n, np.random.default_rng(5), low=0, high=10, epsilon=1.0, beta=0.1, shifted=shifted
        )
        p = ties[shifted][m]
        # 5.5 standard deviations of a binomial, and an allowance for the smallest p.
        assert abs(float(np.mean(outputs <= 1)) - p) < 5.5 * math.sqrt(p * (1 - p) / n) + 10 / n
