"""Forty faults of differential-privacy code and their sound twins, as a user would audit them, at confidence 99.9 %.

They were written without a look at how the search works. An audit has the domain, the claim and the defaults, and plants no faults,
which change no verdict. "known pair" is the bound on the pair that the fault was written for: it shows that a fault can be proved
once its pair is found.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import auditor
from auditor.neighbours.domains import Pairs
from benchmarks._faults import Fault
from benchmarks._faults_of_accounting import ACCOUNTING
from benchmarks._faults_of_estimators import ESTIMATORS
from benchmarks._faults_of_reports import REPORTS
from benchmarks._faults_of_tables import TABLES
from benchmarks._faults_of_thresholds import THRESHOLDS

FAULTS: dict[str, Fault] = {**TABLES, **ESTIMATORS, **THRESHOLDS, **REPORTS, **ACCOUNTING}
RESULTS = Path(__file__).parent / "results" / "further_faults.json"


def _audit(name: str, fault: Fault, mechanism: Any, **settings: Any) -> auditor.AuditResult:
    # In this process, so that its processor time is that of the audit. A number of workers changes no result.
    given = {"samples": fault.samples, "seed": 1, "workers": 1, "isolate": False, "planted": 0, **settings}
    return auditor.audit(mechanism, fault.claim, fault.domain, name=name, **given)


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it started and that ended, such as an attempt at a proof."""
    return sum(os.times()[:4])


def row_of(name: str, fault: Fault) -> dict[str, Any]:
    """Return what the audits of a fault, of its known pair and of its twin found."""
    start = _processor_seconds()
    found = _audit(name, fault, fault.faulty)
    seconds = _processor_seconds() - start
    known = _audit(name, replace(fault, domain=Pairs([fault.worst])), fault.faulty, shrink=False, prove=False)
    sound = _audit(name, fault, fault.sound, prove=False)
    return {
        "claim": str(found.claim),
        "loss": fault.loss,
        "found": found.verdict == "violation",
        "verdict": str(found.verdict),
        "bound": found.bound and found.bound.value,
        "pair": found.pair and [str(found.pair.left), str(found.pair.right)],
        "cpu seconds": round(seconds, 1),
        "known pair": known.bound and known.bound.value,
        "known pair verdict": str(known.verdict),
        "twin keeps the claim": fault.kept,
        "twin": str(sound.verdict),
        "twin bound": sound.bound and sound.bound.value,
    }


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures after each fault. Rows that are there are kept: to measure one again, delete its row."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["figures"]["faults"] if RESULTS.exists() else {}
    for name, fault in FAULTS.items():
        if name not in kept:
            kept[name] = row_of(name, fault)
        rows = {known: kept[known] for known in FAULTS if known in kept}
        yield {
            "seed": 1,
            "confidence": 0.999,
            "found": sum(row["found"] for row in rows.values()),
            "alarms of twins": sum(row["twin"] == "violation" for row in rows.values()),
            "of": len(rows),
            "faults": rows,
        }
