"""Bounds of the committed reports next to exact values, and sample sizes, increased step by step, at which a claim is refuted."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import auditor
from mechanisms.additive import discrete_laplace_totals, laplace
from mechanisms.exact.divergences import exact_epsilon
from mechanisms.group_counts import gaussian_counts
from mechanisms.local_model import kary_randomised_response
from mechanisms.noisy_max import index_with_exponential
from studies.study import REPORTS, truth_of

MISSING = (0.5, 0.2, 0.1, 0.05)
# A size suffices if at least six of eight runs refute the claim; sizes grow by √2.
RUNS, ENOUGH = 8, 6
LADDER = [round(2 ** (half / 2)) for half in range(14, 43)]
CONFIDENCE = 0.999


@dataclass(frozen=True, slots=True)
class Case:
    """A mechanism, its neighbours and its claim, with its ``parameters`` as a function of the share by which noise is too small."""

    name: str
    mechanism: Callable[..., Any]
    pair: tuple[Any, Any]
    claim: Any
    parameters: Callable[[float], dict[str, Any]]


def _epsilon_of(share: float) -> float:
    """Return the ε of noise whose scale is too small by this share for the claim ε = 1."""
    return 1 / (1 - share)


CASES = (
    Case(
        "Laplace", laplace, ([1.0], [0.0]), auditor.PureDP(1.0), lambda s: {"sensitivity": 1, "epsilon": _epsilon_of(s)}
    ),
    Case(
        "discrete Laplace",
        discrete_laplace_totals,
        ([1], [0]),
        auditor.PureDP(1.0),
        lambda s: {"sensitivity": 1, "epsilon": _epsilon_of(s)},
    ),
    Case(
        "Gaussian, claim μ = 1",
        gaussian_counts,
        (np.array([1.0]), np.array([0.0])),
        auditor.GaussianDP(1.0),
        lambda s: {"rho": 0.5 / (1 - s) ** 2},
    ),
    Case(
        "randomised response",
        kary_randomised_response,
        (0, 1),
        auditor.PureDP(1.0),
        lambda s: {"k": 2, "epsilon": _epsilon_of(s)},
    ),
    Case(
        "noisy max, 5 answers",
        index_with_exponential,
        ([0.0] * 5, [1.0, 1.0, 1.0, 1.0, -1.0]),
        auditor.PureDP(1.0),
        lambda s: {"epsilon": _epsilon_of(s)},
    ),
)


def measure() -> dict[str, Any]:
    jobs = [(case, share) for case in range(len(CASES)) for share in MISSING]
    return {
        "confidence": CONFIDENCE,
        "runs": RUNS,
        "enough": ENOUGH,
        "reports": reported(),
        "detection": Parallel(n_jobs=-1)(delayed(detect)(case, share) for case, share in jobs),
    }


def reported() -> list[dict[str, Any]]:
    """Return every audit of the committed reports with a known exact value on its pair."""
    rows = []
    for file in sorted(REPORTS.parent.glob("*/report.json")):
        for audit in json.loads(Path(file).read_text(encoding="utf-8"))["audits"]:
            if audit.get("exact") and audit["bound"]:
                rows.append(
                    {
                        "report": file.parent.name,
                        "name": audit["name"],
                        "quantity": audit["bound"]["quantity"],
                        "bound": audit["bound"]["value"],
                        "exact": audit["exact"]["value"],
                        "verdict": audit["verdict"],
                        "outputs": audit["outputs"],
                    }
                )
    return rows


def _refuted(case: Case, share: float, samples: int, seed: int) -> tuple[bool, int]:
    result = auditor.audit(
        case.mechanism,
        case.claim,
        [case.pair],
        parameters=case.parameters(share),
        name=f"{case.name} {share}",
        confidence=CONFIDENCE,
        samples=samples,
        shrink=False,
        seed=seed,
        workers=1,
        isolate=False,
    )
    spent = result.outputs.search + result.outputs.selection + result.outputs.bound
    return result.verdict == "violation", spent


def detect(which: int, share: float) -> dict[str, Any]:
    """Return the number of outputs of the smallest audits that refute the claim; None if no size does."""
    case = CASES[which]
    enough = None
    for samples in LADDER:
        runs = [_refuted(case, share, samples, seed) for seed in range(RUNS)]
        if sum(refuted for refuted, _ in runs) >= ENOUGH:
            enough = int(np.median([spent for _, spent in runs]))
            break
    entry: dict[str, Any] = {"name": case.name, "share": share, "outputs": enough}
    if hasattr(case.mechanism, "__truth__") and isinstance(case.claim, auditor.PureDP):
        left, right = truth_of(case.mechanism, *case.pair, **case.parameters(share))
        entry["exact"] = exact_epsilon(left, right).value
    return entry
