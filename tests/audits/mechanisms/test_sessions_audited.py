"""Sessions: a short dialogue exposes each fault, and the sound twin does not answer it that way."""

import auditor
from mechanisms import adaptive_sessions as adaptive


def test_an_audit_knows_the_exact_loss_on_the_pair_and_comes_near_it() -> None:
    """The bound exceeds the truth with probability 0.1 % at most, and not with this seed."""
    ask = {"parts": {"epsilon": [0.1, 0.3, 0.7]}}
    asked = auditor.Dialogues(auditor.Value([0, 1]), ask, rounds=2)
    result = auditor.audit(
        adaptive.answering,
        auditor.PureDP(1.0),
        asked,
        parameters={"budget": 1.0},
        samples=30_000,
        workers=1,
        planted=0,
        isolate=False,
    )
    assert result.verdict == "no_violation_found"
    assert result.exact is not None
    assert result.bound is not None
    assert 0.8 * result.exact.value <= result.bound.value <= result.exact.value <= 1.0 + 1e-9
