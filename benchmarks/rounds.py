"""Audits in rounds against the auditor before rounds: outputs, bounds, exact values and effort, measured in one run.

The old auditor is the commit before rounds, in a work tree of its own; both use the packages of this environment. Both run at
the same time in a process with one worker, so that seconds are processor seconds and comparable. Only the new auditor is run on
the further faults.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import numpy as np

PROJECT = Path(__file__).parent.parent
BEFORE = "2bb42a4"
DOCUMENTS = ("quickstart", *(f"00{number}-*" for number in range(5)), "classics")
FAULT_SEEDS, SEEDS = range(1, 6), range(40)


def measure() -> dict[str, Any]:
    """Return the figures of both auditors and their comparison."""
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(old), BEFORE], cwd=PROJECT, check=True)
        try:
            with ThreadPoolExecutor() as both:
                sides = dict(zip(("old", "new"), both.map(_of, (old, PROJECT)), strict=True))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(old)], cwd=PROJECT, check=True)
    return {"compared": compared(sides["old"], sides["new"]), **sides}


def _of(tree: Path) -> dict[str, Any]:
    from auditor.defaults import ONE_THREAD  # the old auditor has no such module

    figures: dict[str, Any] = {}
    for name in [name for name in PARTS if tree == PROJECT or name != "faults"]:
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(tree)}
        command = [sys.executable, __file__, name]
        printed = subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, text=True).stdout
        figures[name] = json.loads(printed.splitlines()[-1])
        print(tree.name, name, json.dumps(figures[name])[:200], flush=True)
    return figures


def compared(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return medians over the audits of documents and classics, separately for refuted and passed claims."""
    both = [(old["audits"][name], new["audits"][name]) for name in old["audits"] if name in new["audits"]]
    refuted, passed = ([pair for pair in both if (pair[0]["verdict"] == "violation") is so] for so in (True, False))
    return {
        "other verdicts": [
            name for name in old["audits"] if old["audits"][name]["verdict"] != new["audits"][name]["verdict"]
        ],
        "outputs of the refuted": _ratio(refuted, "outputs"),
        "bounds of the refuted": _ratio(refuted, "bound"),
        "bounds of the passed": _ratio(passed, "bound"),
        "least bound of the passed": min((b["bound"] / a["bound"] for a, b in passed if a["bound"]), default=math.nan),
        "seconds of the passed": _ratio(passed, "seconds"),
    }


def _ratio(pairs: list[tuple[dict[str, Any], dict[str, Any]]], key: str) -> float:
    return float(np.median([new[key] / old[key] for old, new in pairs if old[key]]))


def audits() -> dict[str, Any]:
    """Run every output audit of the documents and the classics without proofs: verdict, bound, outputs, seconds."""
    from dataclasses import replace

    from auditor.auditing.flow import carry_out
    from auditor.config.load import load_configuration

    figures = {}
    for file in [file for pattern in DOCUMENTS for file in sorted(Path("configs").glob(f"{pattern}.yaml"))]:
        for plan in load_configuration(file, prove=False).plans:
            if plan.kind in ("query", "canaries"):
                continue
            execution = replace(plan.settings.execution, workers=1, isolate=False)
            began = time.process_time()
            result = carry_out(plan.with_settings(execution=execution), refuse=True).result()
            figures[f"{file.stem}: {plan.name}"] = {
                "verdict": str(result.verdict),
                "bound": result.bound.value if result.bound and math.isfinite(result.bound.value) else None,
                "outputs": result.outputs.total,
                "seconds": round(time.process_time() - began, 2),
            }
    return figures


def faults() -> dict[str, Any]:
    """Return how many of the further faults each seed finds, and the total seconds."""
    from benchmarks._faults_of_people import FAULTS

    began = time.process_time()
    verdicts = {
        seed: [
            name
            for name, case in FAULTS.items()
            if case.audit(case.faulty, seed, workers=1, isolate=False).verdict != "violation"
        ]
        for seed in FAULT_SEEDS
    }
    return {"faults": len(FAULTS), "missed": verdicts, "seconds": round(time.process_time() - began, 1)}


def _laplace(dataset: float, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return dataset + rng.laplace(0.0, scale, size)


def _one(dataset: float, rng: np.random.Generator, scale: float = 1.0) -> float:
    return float(dataset + rng.laplace(0.0, scale))


def _audited(mechanism: Callable[..., Any], scale: float, seed: int, **settings: Any) -> Any:
    import auditor

    alone: dict[str, Any] = {"workers": 1, "isolate": False, "planted": 0, **settings}
    return auditor.audit(
        mechanism, auditor.PureDP(1.0), [(0.0, 1.0)], parameters={"scale": scale}, seed=seed, name="laplace", **alone
    )


def expensive() -> dict[str, Any]:
    """Return the total number of outputs until a claim of ε = 1 is refuted, with one output per call; the old auditor stopped early
    by sequential bets.
    """
    from auditor.defaults import MethodName

    early: dict[str, Any] = {"method": "sequential", "shrink": False} if "sequential" in get_args(MethodName) else {}
    each = {
        truth: [_audited(_one, 1 / truth, seed, **early).outputs.total for seed in range(20)] for truth in (2.0, 1.5)
    }
    return {f"truth {truth:g}": float(np.median(outputs)) for truth, outputs in each.items()}


def efficiency() -> dict[str, Any]:
    """Return the least bound and the mean efficiency over 40 seeds: the Laplace mechanism at ε = 1, pair given, 95 %."""
    figures = {}
    for samples in (10_000, 100_000):
        results = [_audited(_laplace, 1.0, seed, samples=samples, confidence=0.95) for seed in SEEDS]
        bounds = [result.bound.value for result in results]
        gaps = [max(1 - bound, 1e-3) for bound in bounds]
        limit = 2 * (1 + math.e) * 1.645**2
        shares = [limit / gap**2 / result.outputs.total for gap, result in zip(gaps, results, strict=True)]
        figures[f"{samples:,}"] = {
            "least": min(bounds),
            "mean efficiency": float(np.mean(shares)),
            "median": float(np.median(shares)),
        }
    return figures


PARTS = {"audits": audits, "faults": faults, "expensive": expensive, "efficiency": efficiency}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]]()))
