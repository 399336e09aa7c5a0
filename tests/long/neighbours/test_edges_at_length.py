"""Boundaries between kinds of output, located by bisection on every domain that has points in between."""

from typing import Any

import numpy as np

import auditor


def bails_out(count: Any, rng: np.random.Generator) -> Any:
    """A sound count that gives no answer below an unusual size."""
    return None if count[0] < 7_777 else float(rng.laplace(count[0], 1.0))


def test_an_audit_finds_the_size_below_which_a_mechanism_bails_out() -> None:
    domain = auditor.Totals([[1]], (0, 100_000))
    result = auditor.audit(bails_out, auditor.PureDP(1.0), domain, samples=80_000, seed=1, workers=1)
    assert result.verdict == "violation"
    assert result.pair is not None
    assert {result.pair.left[0], result.pair.right[0]} == {7_776, 7_777}
