"""The type I error of whole audits is at most the level; a test fails by chance with probability below 1e-6."""

from typing import Any

import pytest
from scipy.stats import binom
from sound_mechanisms import ALPHA, CASES, alarms

RUNS = 400


@pytest.mark.parametrize("method", ["fixed", "two-intervals"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_alarms_on_sound_mechanisms_stay_below_their_rate(case: Any, method: str) -> None:
    assert alarms(case, method, RUNS) <= binom.isf(1e-6, RUNS, ALPHA)
