"""Sessions at length: a short dialogue exposes each fault, and the sound twin does not answer it that way."""

from typing import Any

import auditor
from mechanisms import sessions


def test_a_loss_that_adds_up_over_many_answers_is_found_among_scripts_that_are_at_the_claim() -> None:
    """Four answers at ε = 1/2 lose 2 where the odometer says 1, and single answers lose just the claim.

    The bound exceeds the claim by more than eight standard errors, so it would with any other seed.
    """
    ask = {"parts": {"epsilon": [0.25, 0.5, 1.0]}}
    asked = auditor.Dialogues(auditor.Records((0, 10), size=(0, 4)), ask, rounds=4, meter={"at": 1.0})
    options: dict[str, Any] = {"samples": 200_000, "search": 150_000, "shrink": False, "seed": 1, "workers": 1}
    result = auditor.audit(sessions.OdometerBySquares, auditor.PureDP(1.0), asked, planted=0, **options)
    assert result.verdict == "violation"
