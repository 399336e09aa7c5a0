"""Side outputs of a call: each kind is observed, and the process is left unchanged."""

from typing import Any

import numpy as np

import auditor


def test_what_is_written_is_part_of_what_the_claim_is_about() -> None:
    def prints(value: int, rng: np.random.Generator) -> float:
        print(value)
        return float(rng.random())

    settings: dict[str, Any] = {"samples": 1_000, "workers": 1, "isolate": False, "seed": 3}
    result = auditor.audit(prints, auditor.PureDP(1.0), auditor.Value([0, 1]), observe=["stdout"], **settings)
    assert result.verdict == "violation"
    assert list(result.tried.observed) == ["stdout"]
