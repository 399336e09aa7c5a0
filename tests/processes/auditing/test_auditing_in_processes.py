"""Audits that cannot conclude anything report that, whatever draws their outputs."""

from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import planned
from auditor.auditing.flow import carry_out


def forgetful(records: Any, rng: np.random.Generator) -> None:
    len(records) + rng.laplace()


def blind(records: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(size=size)


def of_letters(records: Any, size: int, rng: np.random.Generator) -> Any:
    return [
        {k: int(np.sum(records == k)) + x for k, x in zip("ab", rng.laplace(size=2), strict=True)} for _ in range(size)
    ]


NUMBERS = auditor.Records((0, 10), size=(0, 4))
HOW = [{"workers": 1}, {"workers": 2}]


@pytest.mark.parametrize("options", HOW, ids=str)
def test_outputs_that_are_all_one_and_the_same_are_no_answer(options: dict[str, Any]) -> None:
    result = auditor.audit(forgetful, auditor.PureDP(0.5), NUMBERS, samples=1000, seed=7, **options)
    assert result.verdict == "inconclusive"
    assert "are None on both data sets: check that the mechanism ends with `return`" in str(result.stop_reason)
    assert result.bound is None


@pytest.mark.parametrize(
    ("mechanism", "options"), [(blind, HOW[0]), (of_letters, HOW[1]), (of_letters, {"workers": 1, "isolate": False})]
)
def test_an_audit_in_which_nothing_told_data_sets_apart_says_so(mechanism: Any, options: dict[str, Any]) -> None:
    ended = carry_out(planned(mechanism, auditor.PureDP(1.0), NUMBERS, samples=1000, seed=8, **options))
    result = ended.result()
    assert result.verdict == "no_violation_found"
    *weak, last = result.warnings
    assert all(warning.startswith("weak: ") for warning in weak)
    assert "with the same seed, outputs were identical on both data sets of all " in last
    assert ended.result(0.01).warnings == result.warnings
