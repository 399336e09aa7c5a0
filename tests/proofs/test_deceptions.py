"""Programs that look private and are not: none is proved. Their sound twins are proved, or a reason is given."""

import itertools
import time
from typing import Any

import deceptions_behind_a_gate
import deceptions_of_language
import deceptions_of_numbers
import pytest

import auditor

FILES = (deceptions_of_language, deceptions_of_numbers)
DECEPTIONS = [one for file in FILES for one in file.DECEPTIONS]
TWINS = [one for file in FILES for one in file.TWINS]
SHARES = 16  # tests that share the programs, so that a failure names few of them
# What a sound twin is told that is not proved: at least a sentence.
FEWEST_LETTERS = 20


def test_there_are_many_of_many_kinds() -> None:
    assert len(DECEPTIONS) >= 500
    assert len({one.kind for one in DECEPTIONS}) >= 40
    assert {one.kind for one in DECEPTIONS} == {one.kind for one in TWINS}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_none_is_proved(share: int) -> None:
    wrong = []
    for one in itertools.islice(DECEPTIONS, share, None, SHARES):
        proof = auditor.prove(one.mechanism, one.claim, one.domain, seconds=5)
        if proof.proved or str(proof).startswith("proved:"):
            wrong.append((one.kind, one.name, str(proof)))
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_a_proof_for_pairs_does_not_hold_a_pair_that_breaks_the_claim(share: int) -> None:
    """Each is tried on the pair that breaks it, given by itself: that is never proved, not even for this pair."""
    wrong = []
    for one in itertools.islice(DECEPTIONS, share, None, SHARES):
        proof = auditor.prove(one.mechanism, one.claim, [_as_given(one)], seconds=2)
        if proof.holds and one.kind not in getattr(deceptions_of_numbers, "FLOATING", ()):
            wrong.append((one.kind, one.name, str(proof)))
    assert wrong == []


def _as_given(one: Any) -> tuple[Any, Any]:
    import numpy as np

    left, right = one.pair
    dtype = np.asarray(one.domain.corners()[0].dataset("left")).dtype if hasattr(one.domain, "corners") else None
    if isinstance(left, list | tuple) and dtype is not None and dtype.kind in "if":
        return np.array(left, dtype=dtype), np.array(right, dtype=dtype)
    return left, right


@pytest.mark.parametrize("mechanism", deceptions_behind_a_gate.GATED, ids=lambda one: one.__name__)
def test_a_fault_that_no_run_meets_is_refused(mechanism: Any) -> None:
    domain = auditor.Totals(cells=3, values=(0, 100), contribution={"l1": 1})
    assert not auditor.prove(mechanism, auditor.PureDP(1.0), domain, seconds=5).proved


@pytest.mark.filterwarnings("ignore")
def test_a_sound_twin_is_proved_or_told_why_not() -> None:
    untold = []
    for one in TWINS:
        proof = auditor.prove(one.mechanism, one.claim, one.domain, seconds=5)
        if not proof.holds and len(str(proof.reason)) < FEWEST_LETTERS:
            untold.append((one.kind, one.name, str(proof)))
    assert untold == []


def test_the_time_limit_is_kept() -> None:
    """A histogram of 400 cells, whose linear programs are large. Five times the limit would be a loop without a clock."""

    def histogram(x: Any, rng: Any) -> Any:
        return x + rng.laplace(0.0, 1.0, len(x))

    domain = auditor.Totals(cells=400, values=(0, 100), contribution={"linf": 1})
    begun = time.monotonic()
    auditor.prove(histogram, auditor.PureDP(1.0), domain, seconds=2)
    assert time.monotonic() - begun < 10
