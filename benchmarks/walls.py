"""Walls are walls: a copy without the prover and without the room of libraries tests and audits as the whole does.

In a copy of what is committed, both rooms and their tests are deleted. `make test` must be green there, and `make audit` must end
with the verdicts and bounds of the committed reports, without proofs.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent
ROOMS = (
    "dp_prover",
    "tests/prover",
    "auditor/libraries",
    *(f"tests/{kind}/libraries" for kind in ("unit", "audits", "processes")),
)
# What no verdict or bound depends on: a proof, the warning of a proof that outputs refute, and who drew.
LEFT_OUT = ("proof", "seconds", "drawn_by")
OF_PROOF = "the claim is proved"


def copied(to: Path) -> None:
    """Copy what is committed, without the rooms."""
    subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(to)], check=True)
    for room in ROOMS:
        shutil.rmtree(to / room)


def without_proofs(report: Path) -> dict[str, Any]:
    """Read a report without what depends on a proof or on the machine."""
    whole: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    audits = [{key: value for key, value in audit.items() if key not in LEFT_OUT} for audit in whole["audits"]]
    for audit in audits:
        audit["warnings"] = [each for each in audit["warnings"] if not each.startswith(OF_PROOF)]
    return {**whole, "audits": audits}


def measure() -> dict[str, Any]:
    """Test and audit the copy. Raises CalledProcessError if one of both fails there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copied(copy)
        for target in ("test", "audit"):
            subprocess.run(["make", target], cwd=copy, check=True)
        reports = sorted((PROJECT / "reports").glob("0*/report.json"))
        pairs = [(report, copy / report.relative_to(PROJECT)) for report in reports]
        different = [one.parent.name for one, other in pairs if without_proofs(one) != without_proofs(other)]
    return {"reports": len(reports), "different": different}
