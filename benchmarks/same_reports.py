"""Reports of all configurations at a tenth of the outputs, to show that a change of the code changes no number.

``python -m benchmarks same_reports OUT [NAME ...]`` writes into the folder OUT, for all of ``configs/*.yaml`` or those named:

- ``run``: the reports of a run that is recorded;
- ``replayed``: those of a replay of the recording;
- ``resumed``: those of a run that is killed half-way, and resumed;
- ``repeated``: that of quickstart with false claims, in a folder whose earlier report, also the baseline, shows violations;
- ``checked``: what ``auditor replay --check`` says of quickstart.

Two builds are compared by running it in each, with the root of the build as PYTHONPATH, and ``diff -r`` of the two folders. Reports
hold no times, so the folders are equal byte by byte. Proofs are attempted only for quickstart: whether a brief attempt
succeeds within its three seconds of processor time may differ from run to run.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import auditor
from auditor.config.yaml_text import read_yaml_file
from auditor.defaults import SAMPLES

PROJECT = Path(__file__).parent.parent
SHARE = 10  # one in this many of a configuration's outputs is drawn
FEWEST = 1_000
# The configuration that is run again after a violation, and checked. It is small, and has a violation.
FIRST = "quickstart"
FALSE = {"epsilon": 0.3}


def smaller(entry: Mapping[str, Any], **default: int) -> dict[str, Any]:
    """Return a configuration, or an audit of one, with a tenth of its outputs."""
    numbers = {**default, **{key: entry[key] for key in ("samples", "search") if key in entry}}
    return {**entry, **{key: max(FEWEST, number // SHARE) for key, number in numbers.items()}}


def write_smaller(file: Path, to: Path, *, claim: Mapping[str, float] | None = None) -> None:
    """Write a smaller copy of a configuration as JSON, which YAML contains; with a ``claim``, all audits expect that it holds."""
    attempts = {} if file.stem == FIRST else {"prove": False}
    whole = smaller({**attempts, **read_yaml_file(file).data}, samples=SAMPLES)
    audits = [smaller(audit) for audit in whole["audits"]]
    if claim is not None:
        audits = [{**{key: audit[key] for key in audit if key != "expect"}, "claim": claim} for audit in audits]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps({**whole, "audits": audits}, ensure_ascii=False, indent=1), encoding="utf-8")


def started(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start the auditor of this build in a folder, in a process group of its own."""
    paths = [str(Path(auditor.__file__).parent.parent), str(PROJECT)]
    return subprocess.Popen(
        [sys.executable, "-m", "auditor", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def said(folder: Path, *arguments: str) -> str:
    """Return what the auditor prints. Raises RuntimeError if it ends in an error instead of verdicts."""
    process = started(folder, *arguments)
    text, _ = process.communicate()
    if "Traceback" in text or process.returncode not in (0, 1, 3):
        raise RuntimeError(f"auditor {' '.join(arguments)} ended with {process.returncode}:\n{text}")
    return text


def resumed(folder: Path, seconds: float, *arguments: str) -> str:
    """Kill a run after some seconds, and resume it."""
    process = started(folder, *arguments)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return said(folder, *arguments, "--resume")


def reports_in(work: Path, way: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each report that a way of running wrote."""
    for name in names:
        yield f"{way}/{name}.json", (work / way / name / "report.json").read_text(encoding="utf-8")


def reports_of(work: Path, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Run the configurations in a folder in each way. Yield the name and the text of each file to compare."""
    for name in names:
        write_smaller(PROJECT / "configs" / f"{name}.yaml", work / "configs" / f"{name}.yaml")
    files = [f"configs/{name}.yaml" for name in names]
    began = time.monotonic()
    said(work, "run", *files, "--quiet", "--record", "recording", "--out", "run")
    seconds = time.monotonic() - began
    yield from reports_in(work, "run", names)
    said(work, "replay", "recording", "--run-code", "--quiet", "--out", "replayed")
    yield from reports_in(work, "replayed", names)
    resumed(work, seconds / 2, "run", *files, "--quiet", "--out", "resumed")
    yield from reports_in(work, "resumed", names)
    if FIRST in names:
        yield f"checked/{FIRST}.txt", said(work, "replay", "recording", "--check", f"run/{FIRST}/report.json")
    write_smaller(PROJECT / "configs" / f"{FIRST}.yaml", work / "again" / f"{FIRST}.yaml", claim=FALSE)
    again = "run", f"again/{FIRST}.yaml", "--quiet", "--out", "repeated"
    said(work, *again)
    shutil.copy(work / "repeated" / FIRST / "report.json", work / "baseline.json")
    said(work, *again, "--seed", "5", "--baseline", "baseline.json")
    yield from reports_in(work, "repeated", [FIRST])


def measure(out: str = "build/same_reports", *names: str) -> None:
    """Write the reports into a folder, and nothing to benchmarks/results/."""
    every = sorted(file.stem for file in (PROJECT / "configs").glob("*.yaml"))
    with tempfile.TemporaryDirectory() as work:
        for name, text in reports_of(Path(work), names or every):
            file = Path(out) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(file, flush=True)
