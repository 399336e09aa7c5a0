"""False alarms on the sound twins of the faults in _faults_of_people.py, at 90 % confidence.

Audits are small, so that there can be many: search, selection and bound draw a few thousand outputs. "upper limit" is a 95 %
upper confidence limit on each twin's false-alarm rate; the rate over all twins should not exceed 10 %.
"""

from typing import Any

from joblib import Parallel, delayed

from auditor.bounds.intervals import clopper_pearson_upper
from benchmarks._faults_of_people import FAULTS

RUNS, SAMPLES, CONFIDENCE = 1_000, 1_000, 0.9


def _alarms(name: str) -> int:
    case = FAULTS[name]
    settings: dict[str, Any] = {"samples": SAMPLES, "confidence": CONFIDENCE, "workers": 1, "isolate": False}
    return sum(case.audit(case.sound, seed, **settings).verdict == "violation" for seed in range(RUNS))


def measure(only: str = "") -> dict[str, Any]:
    names = [name for name in FAULTS if only in name]
    rows = {}
    counts = Parallel(n_jobs=-1, return_as="generator")(delayed(_alarms)(name) for name in names)
    for name, alarms in zip(names, counts, strict=True):
        rows[name] = {"alarms": alarms, "upper limit": float(clopper_pearson_upper(alarms, RUNS, 0.05))}
        print(name, rows[name], flush=True)
    total = sum(row["alarms"] for row in rows.values())
    return {
        "runs": RUNS,
        "samples": SAMPLES,
        "confidence": CONFIDENCE,
        "rate of all": total / RUNS / len(rows),
        "twins": rows,
    }
