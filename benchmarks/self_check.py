"""Check this installation: type I error on mechanisms exactly at their claim, power on mechanisms just above it.

A row is unsound if its false alarms significantly exceed the level; over all rows, a sound installation is called unsound with
probability 1e-6.
"""

from collections.abc import Callable, Iterator
from typing import Any

from auditor.auditing import audit
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim, PureDP, ZeroConcentratedDP
from auditor.verdict import Verdict
from benchmarks._mechanisms import gaussian, laplace, randomised_response, revealing

CONFIDENCE = 0.9
RUNS = 40
OUTPUTS = 3_000
# The probability that a sound installation is called unsound, over all rows.
FALSE_FAILURE = 1e-6

Case = tuple[Callable[..., Any], dict[str, float], dict[str, float], PrivacyClaim]
# Each mechanism with parameters whose loss equals the claim, and with parameters whose loss exceeds it.
CASES: list[Case] = [
    (randomised_response, {"epsilon": 1.0}, {"epsilon": 1.25}, PureDP(1.0)),
    (laplace, {"epsilon": 1.0}, {"epsilon": 1.25}, PureDP(1.0)),
    (revealing, {"epsilon": 1.0, "delta": 0.05}, {"epsilon": 1.3, "delta": 0.05}, ApproximateDP(1.0, 0.05)),
    (gaussian, {"sigma": 1.0}, {"sigma": 1 / 1.2}, GaussianDP(1.0)),
    (gaussian, {"sigma": 1.0}, {"sigma": 1 / 1.6}, ZeroConcentratedDP(0.5)),
]


def measure(runs: int = RUNS) -> Iterator[dict[str, Any]]:
    """Yield all rows so far after each mechanism and each parameter setting."""
    rows: list[dict[str, Any]] = []
    for mechanism, at_claim, over, claim in CASES:
        for parameters, is_at_claim in ((at_claim, True), (over, False)):
            violations = sum(_is_refuted(mechanism, claim, parameters, seed) for seed in range(runs))
            interval = [
                float(limit(violations, runs, 0.025)) for limit in (clopper_pearson_lower, clopper_pearson_upper)
            ]
            said = {"mechanism": mechanism.__name__, **parameters, "claim": str(claim)}
            row = {**said, "violations": violations, "runs": runs, "interval": interval}
            rows.append(row | ({"sound": is_sound(violations, runs)} if is_at_claim else {}))
            yield {"rows": rows, "sound": all(row.get("sound", True) for row in rows)}


def is_sound(violations: int, runs: int) -> bool:
    """Whether the false alarms are consistent with the level."""
    return float(clopper_pearson_lower(violations, runs, FALSE_FAILURE / (2 * len(CASES)))) <= 1 - CONFIDENCE


def _is_refuted(mechanism: Callable[..., Any], claim: PrivacyClaim, parameters: dict[str, float], seed: int) -> bool:
    sizes: dict[str, Any] = {"confidence": CONFIDENCE, "samples": OUTPUTS, "seed": seed}
    pairs = [(0, 1)]
    result = audit(mechanism, claim, pairs, parameters=parameters, workers=1, shrink=False, **sizes)
    return result.verdict is Verdict.VIOLATION
