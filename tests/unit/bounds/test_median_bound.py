"""The table of canaries and runs in docs/how-to/training.md: each number is computed again, and one of them by simulation."""

import re

import numpy as np
import pytest
from folders import PROJECT

from auditor.bounds.one_run import OneRunGuesses, count_right_guesses, default_guess_numbers, median_bound
from auditor.claims import GaussianDP

ROWS = re.findall(
    r"^\| ([\d,]+) \|((?: [\d.]+ \|){8})$",
    (PROJECT / "docs" / "how-to" / "training.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
COLUMNS = [(mu, apart) for apart in (False, True) for mu in (0.5, 1, 2, 4)]


def test_the_page_has_the_table() -> None:
    assert [int(number.replace(",", "")) for number, _ in ROWS] == [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000]


@pytest.mark.parametrize(("number", "cells"), ROWS)
def test_each_number_of_the_page_is_what_the_bound_gives(number: str, cells: str) -> None:
    shown = [float(cell) for cell in cells.strip(" |").split(" | ")]
    canaries = int(number.replace(",", ""))
    assert shown == [round(median_bound(canaries, mu, 0.001, apart=apart), 2) for mu, apart in COLUMNS]


@pytest.mark.parametrize("apart", [False, True])
def test_half_of_simulated_audits_reach_it(apart: bool) -> None:
    """Of 60 audits, 10 or fewer reach what half of them reach with probability below 1e-7."""
    rng, bounds, shown = np.random.default_rng(0), [], median_bound(1_000, 1.0, 0.001, apart=apart)
    for _ in range(60):
        inside = rng.random(1_000) < 0.5
        scores = rng.normal(size=1_000) + 1.0 * inside
        tallies = tuple(count_right_guesses(scores, inside, guesses) for guesses in default_guess_numbers(1_000))
        bounds.append(OneRunGuesses(tallies, apart).bound(GaussianDP(1.0), 0.001))
    assert sum(bound >= shown - 0.005 for bound in bounds) > 10
    assert np.median(bounds) < shown + 0.1
