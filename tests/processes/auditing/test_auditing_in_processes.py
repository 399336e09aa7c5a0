"""One audit from end to end, in Python: options, phases, failures, and leaks of every kind of output."""

from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import planned
from auditor.auditing.flow import carry_out

BITS = [(0, 1)]
HALF = auditor.PureDP(0.5)


def audit(mechanism: Any, claim: Any = HALF, neighbours: Any = BITS, **options: Any) -> Any:
    return auditor.audit(mechanism, claim, neighbours, **{"samples": 4000, "seed": 7, "workers": 1, **options})


# --- Options ---


# --- Audits in vain ---


def forgetful(records: Any, rng: np.random.Generator) -> None:
    len(records) + rng.laplace()


def blind(records: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(size=size)


def of_letters(records: Any, size: int, rng: np.random.Generator) -> Any:
    return [
        {k: int(np.sum(records == k)) + x for k, x in zip("ab", rng.laplace(size=2), strict=True)} for _ in range(size)
    ]


def weak(bit: int, size: int, rng: np.random.Generator) -> Any:
    """Answer by one threshold or another: from one stream the answers differ once in 2,000 times."""
    return rng.random(size) < 0.5 + 0.0005 * bit


NUMBERS = auditor.Records((0, 10), size=(0, 4))


HOW = [{}, {"isolate": False}, {"workers": 2}]


@pytest.mark.parametrize("options", HOW, ids=str)
def test_outputs_that_are_all_one_and_the_same_are_no_answer(options: dict[str, Any]) -> None:
    result = audit(forgetful, neighbours=NUMBERS, samples=1000, **options)
    assert result.verdict == "inconclusive"
    assert "are None on both data sets: check that the mechanism ends with `return`" in result.stop_reason
    assert result.bound is None


@pytest.mark.parametrize("options", HOW, ids=str)
@pytest.mark.parametrize("mechanism", [blind, of_letters])
def test_an_audit_in_which_nothing_told_data_sets_apart_says_so(mechanism: Any, options: dict[str, Any]) -> None:
    given: Any = {"samples": 1000, "seed": 8, "workers": 1, **options}
    ended = carry_out(planned(mechanism, auditor.PureDP(1.0), NUMBERS, **given))
    result = ended.result()
    assert result.verdict == "no_violation_found"
    *weak, last = result.warnings
    assert all(warning.startswith("weak: ") for warning in weak)
    assert "with the same seed, outputs were identical on both data sets of all " in last
    assert ended.result(0.01).warnings == result.warnings
