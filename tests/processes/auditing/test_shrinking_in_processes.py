"""Shrinking after a violation, in processes. It never affects the verdict."""

from typing import Any

from ends_on_few import ends_on_few

import auditor
from auditor.verdict import Verdict

CLAIM = auditor.PureDP(0.5)


OPTIONS: Any = {"samples": 100_000, "seed": 7, "workers": 1}


def audit(mechanism: Any, neighbours: Any, claim: Any = CLAIM, **options: Any) -> Any:
    return auditor.audit(mechanism, claim, neighbours, **{**OPTIONS, **options})


def test_a_pair_that_ends_the_process_is_passed_by_whatever_the_workers() -> None:
    pairs = [([0] * 9, [0] * 8), ([0], []), ([0] * 4, [0] * 3)]
    one, two = (audit(ends_on_few, pairs, samples=20_000, search=0, workers=workers) for workers in (1, 2))
    assert (one.verdict, one.warnings) == (Verdict.VIOLATION, ())
    assert one.smallest.pair.left == [0] * 4
    assert (one.smallest, one.outputs, one.bound) == (two.smallest, two.outputs, two.bound)
