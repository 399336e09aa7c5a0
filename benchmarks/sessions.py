"""The sessions of configs/sessions.yaml: which faulty ones the default settings refute, and how often a sound twin is refuted.

Each faulty session is audited once per seed. Its row has the length of the shortest dialogue, whether a question in it depends
on earlier answers, the bound, the outputs of all phases and the processor seconds. Each sound twin is audited by many small
audits at 90 % confidence. The rate of false alarms comes with its 95 % Clopper-Pearson interval. ``LOKY_MAX_CPU_COUNT`` limits
the number of processes.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from auditor.auditing.flow import run
from auditor.auditing.plan import Plan
from auditor.blackbox.sampling import Execution
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper
from auditor.config.load import load_configuration
from auditor.defaults import CONFIDENCE, SAMPLES
from auditor.neighbours.scripts import LAST_ANSWER
from auditor.verdict import Verdict

SEED = 1
# Small audits: outputs of the bound, and of the search, which has just enough to take place.
RUNS, FEW, SEARCHED, SMALL_CONFIDENCE = 1_000, 500, 300, 0.9
CHUNK = 25
# Audits run in this process, so that their seconds are counted, and no small audit waits for another process.
HERE = Execution(workers=1, isolate=False)
ROOT = Path(__file__).parent
RESULTS = ROOT / "results" / "sessions.json"


def _plans(verdict: Verdict) -> dict[str, Plan]:
    plans = load_configuration(ROOT.parent / "configs" / "sessions.yaml").plans
    return {
        plan.name: replace(plan.with_settings(search=None, planted=0, execution=HERE), alpha=1 - CONFIDENCE)
        for plan in plans
        if plan.expect == verdict
    }


def _looks_at_answers(step: dict[str, Any]) -> bool:
    return "if" in step or str(LAST_ANSWER) in str(step)


def refuted(plan: Plan) -> dict[str, Any]:
    """Return the row of a faulty session."""
    before = time.process_time()
    result = run(plan.with_settings(samples=SAMPLES, seed=SEED))
    small, bound = result.smallest, result.bound
    script = [] if small is None else small.pair.left["ask"]
    return {
        "found": result.verdict == Verdict.VIOLATION,
        "questions": len(script) or None,
        "adaptive": any(map(_looks_at_answers, script)),
        "bound": None if bound is None else round(bound.value, 3),
        "outputs": result.outputs.total,
        "seconds": round(time.process_time() - before, 1),
    }


def _alarms(name: str, seeds: range) -> int:
    plan = replace(_plans(Verdict.NO_VIOLATION_FOUND)[name], alpha=1 - SMALL_CONFIDENCE)
    small = plan.with_settings(search=SEARCHED, samples=FEW, shrink=False)
    return sum(run(small.with_settings(seed=seed)).verdict == Verdict.VIOLATION for seed in seeds)


def alarms(name: str) -> dict[str, Any]:
    """Return the row of a sound twin."""
    chunks = (range(first, min(first + CHUNK, RUNS)) for first in range(0, RUNS, CHUNK))
    count = sum(Parallel(n_jobs=-1)(delayed(_alarms)(name, seeds) for seeds in chunks))
    limits = (float(limit(count, RUNS, 0.025)) for limit in (clopper_pearson_lower, clopper_pearson_upper))
    return {"runs": RUNS, "alarms": count, "rate": count / RUNS, "interval": list(limits)}


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures after each row. Existing rows are kept; to measure a session again, delete its row."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["figures"] if RESULTS.exists() else {}
    figures: dict[str, Any] = {
        "faulty, at defaults": {**kept.get("faulty, at defaults", {})},
        "sound, small audits": {"samples": FEW, "confidence": SMALL_CONFIDENCE}
        | {**kept.get("sound, small audits", {})},
    }
    faulty, sound = figures.values()
    for name, plan in _plans(Verdict.VIOLATION).items():
        if name not in faulty:
            faulty[name] = refuted(plan)
            yield figures
    for name in _plans(Verdict.NO_VIOLATION_FOUND):
        if name not in sound:
            sound[name] = alarms(name)
            yield figures
