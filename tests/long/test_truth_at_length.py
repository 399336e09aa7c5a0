"""Sampled bounds against exact values, for every audit whose mechanism's distribution is known."""

import pytest
from known_truths import ALPHA, PLANS, TIGHT, quick, share_reached

from auditor.auditing.flow import run


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", PLANS)
def test_no_bound_exceeds_the_truth(name: str, seed: int) -> None:
    result = run(quick(PLANS[name], seed, ALPHA, 10_000))
    assert result.bound is not None
    assert result.exact is not None
    assert result.bound.value <= result.exact.value + result.exact.error


@pytest.mark.parametrize("row", TIGHT)
def test_nearly_all_of_the_truth_is_reached_with_a_million_outputs(row: str) -> None:
    assert share_reached(PLANS[TIGHT[row]].with_settings(samples=1_000_000)) >= 0.95
