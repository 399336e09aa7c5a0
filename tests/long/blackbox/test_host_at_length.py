"""A mechanism whose process ends now and then: each time a new process takes over."""

import re
from typing import Any

import pytest
from misbehaving import exits_now_and_then_on_the_left

import auditor


def test_a_failure_now_and_then_on_one_side_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each failure costs a new process, so the audit draws no more failures than it needs: a dozen on one side and none
    on the other."""
    monkeypatch.setattr("auditor.auditing.rounds.MOST_FAILURES", 12)
    options: dict[str, Any] = {"samples": 400, "workers": 2, "batch": 50, "confidence": 0.99, "seed": 1}
    result = auditor.audit(exits_now_and_then_on_the_left, auditor.PureDP(0.1), [(0, 1)], **options)
    assert result.verdict == "violation"
    assert result.event is not None and result.event.description == "output is raises ProcessEnded"
    assert "raises ProcessEnded: 'ended with exit status 3'" in result.warnings[0]
    note = r"refuted after 100 outputs; more would take long: \d+ of \d+ ended their process or were late"
    assert re.fullmatch(note, result.stop_reason)
