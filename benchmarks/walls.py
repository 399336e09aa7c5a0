"""The walls hold: a copy without the prover and the room of libraries passes its tests, and its audits end as those of the whole.

Both rooms and their tests are deleted from a copy of the committed files. `make test` must pass there, and `make audit` must
give the verdicts and bounds of the committed reports, without proofs.
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
# Verdicts and bounds do not depend on these: a proof, the warning about a proof that outputs refute, and who drew the
# outputs.
LEFT_OUT = ("proof", "seconds", "drawn_by")
OF_PROOF = "the claim is proved"


def copied(to: Path) -> None:
    """Copy the committed files without the two rooms."""
    subprocess.run(["git", "clone", "--quiet", str(PROJECT), str(to)], check=True)
    for room in ROOMS:
        shutil.rmtree(to / room)


def without_proofs(report: Path) -> dict[str, Any]:
    """Read a report without the parts that depend on a proof or on the machine."""
    whole: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    audits = [{key: value for key, value in audit.items() if key not in LEFT_OUT} for audit in whole["audits"]]
    for audit in audits:
        audit["warnings"] = [each for each in audit["warnings"] if not each.startswith(OF_PROOF)]
    return {**whole, "audits": audits}


def measure() -> dict[str, Any]:
    """Test and audit the copy. Raises CalledProcessError if either fails there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copied(copy)
        for target in ("test", "audit"):
            subprocess.run(["make", target], cwd=copy, check=True)
        reports = sorted((PROJECT / "reports").glob("0*/report.json"))
        pairs = [(report, copy / report.relative_to(PROJECT)) for report in reports]
        different = [before.parent.name for before, after in pairs if without_proofs(before) != without_proofs(after)]
    return {"reports": len(reports), "different": different}
