"""Mechanisms that misbehave in ways that once fooled the auditor: no false alarm, and no silent pass."""

import re
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.errors import MechanismError

PURE = auditor.PureDP(1.0)


def too_large(value: float, size: int, rng: np.random.Generator) -> Any:
    """ε = 4, but batches of more than 500 are refused."""
    if size > 500:
        raise MemoryError("too large a batch")
    return rng.laplace(value, 0.25, size)


@pytest.mark.parametrize("method", ["fixed", "two-intervals"])
def test_batches_that_raise_do_not_hide_a_violation(method: str) -> None:
    result = auditor.audit(too_large, PURE, [(0, 1)], samples=5000, seed=1, workers=1, method=method, isolate=False)
    assert result.verdict == "violation"


def rarely_a_float(value: int, size: int, rng: np.random.Generator) -> Any:
    """ε = 1 exactly: one output in a thousand is 0.5 instead of 1, e times as often on one side."""
    rare = rng.random(size) < (1e-3 * np.e if value else 1e-3)
    return np.array([0.5 if r else 1 for r in rare])


def rarely_a_text(value: int, size: int, rng: np.random.Generator) -> Any:
    rare = rng.random(size) < (1e-3 * np.e if value else 1e-3)
    return np.array(["none" if r else 1.0 for r in rare])


def test_one_rare_output_does_not_give_away_its_batch() -> None:
    """At α = 0.001, 4 of 40 audits raise a false alarm with probability 9e-8; when a batch revealed its rare output,
    4 to 16 did."""
    verdicts = [
        str(
            auditor.audit(
                rarely_a_float, PURE, [(0, 1)], samples=2000, seed=s, workers=1, confidence=0.999, isolate=False
            ).verdict
        )
        for s in range(40)
    ]
    assert verdicts.count("violation") < 4


def test_batches_of_changing_form_are_an_error_with_a_name() -> None:
    """With 31 of 60 seeds the audit raises an error, so with probability 1e-9 none of 40 does; either form may come first."""
    forms = r"an array of (numbers|str) .* for one batch and an array of (numbers|str)"
    with pytest.raises(MechanismError, match=forms) as raised:
        for seed in range(40):
            auditor.audit(rarely_a_text, PURE, [(0, 1)], samples=2000, seed=seed, workers=1, isolate=False)
    match = re.search(forms, str(raised.value))
    assert match is not None
    assert {*match.groups()} == {"numbers", "str"}


shared = np.random.default_rng(5)


class Drifting:
    """ε = 1 at any time, but the noise is shifted after 20,000 outputs."""

    def __init__(self, after: int) -> None:
        self.drawn, self.after = 0, after

    def __call__(self, value: float, size: int, rng: np.random.Generator) -> Any:
        self.drawn += size
        return rng.laplace(value, 1.0, size) + (self.drawn > self.after)


def test_a_batch_that_raises_is_no_drift() -> None:
    """A batch of 100 raises, and none before did; all its outputs abstain, which no single output did."""
    calls = 0

    def seldom(value: float, size: int, rng: np.random.Generator) -> Any:
        nonlocal calls
        calls += 1
        if calls == 300:
            raise ValueError("once")
        return rng.laplace(value, 0.2, size)

    result = auditor.audit(seldom, PURE, [(0, 1)], samples=30_000, batch=1_000, workers=1, isolate=False)
    assert calls > 300
    assert result.warnings == ()


@pytest.mark.parametrize(("after", "warnings"), [(20_000, 1), (1_000_000, 0)])
def test_drift_is_a_warning_and_no_false_alarm(after: int, warnings: int) -> None:
    """False-failure rate below 1e-6: α = 1e-7 for an alarm, and 1e-9 for a warning without drift; the drift is 30 errors wide."""
    result = auditor.audit(
        Drifting(after),
        auditor.PureDP(1.0),
        [(0, 1)],
        samples=30_000,
        batch=1_000,
        workers=1,
        isolate=False,
        confidence=1 - 1e-7,
    )
    assert result.verdict == "no_violation_found"
    assert len(result.warnings) == warnings
    assert all("early and late" in warning for warning in result.to_dict()["warnings"])


class Session:
    """Answers nothing and raises the given exception; it may report its remaining budget."""

    def __init__(self, text: Any) -> None:
        self.text = text

    def __call__(self, question: Any) -> Any:
        raise ValueError(self.text() if callable(self.text) else self.text)


class SessionWithBudget(Session):
    remaining = 0.5


@pytest.mark.parametrize("kind", [Session, SessionWithBudget])
@pytest.mark.parametrize("text", ["no such column", lambda: f"no such column {shared.random()}"])
def test_a_session_that_raises_at_every_question_has_no_answer(kind: type[Session], text: Any) -> None:
    questions = auditor.Dialogues([(0.0, 1.0)], ["count", "sum"])
    result = auditor.audit(
        lambda value, rng: kind(text), PURE, questions, samples=2_000, seed=1, workers=1, isolate=False
    )
    assert result.verdict == "inconclusive"
    assert result.judgement.stop_reason.startswith("every question raises ValueError: 'no such column")
