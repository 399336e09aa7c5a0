"""Kills processes of a run at random moments, and fills up its disk: does the run end as if nothing had happened?

Each trial starts a run and signals one of its processes at a random moment within the time of an undisturbed run. If the run
ended without a report, ``--resume`` continues it. Its report must then equal that of the undisturbed run byte for byte, and no
process of the trial may survive. For a full disk the reports go to a small file system, which requires the right to mount one.
"""

import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

KILLS, FULL_DISKS = 100, 20
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
# An environment variable that marks all processes of a trial, however they were started.
MARK = "AUDITOR_TRIAL"

MECHANISM = """
import time

def noisy(dataset, size, rng):
    time.sleep(0.01)
    return len(dataset) + rng.laplace(0.0, 0.8, size)
"""
PROGRAM = """
import json, random, sys

for line in sys.stdin:
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    for _ in range(asked["size"]):
        print(len(asked["dataset"]) + rng.expovariate(1.25) - rng.expovariate(1.25))
    sys.stdout.flush()
"""
AUDITS = """
version: 1
seed: 5
samples: 5_000
prove: false
execution: {{workers: 2}}
audits:
  - {{name: searched, mechanism: {mechanism}, claim: {{epsilon: 1.0}}, expect: violation,
      neighbours: {{domain: records, record: {{low: 0, high: 1}}, size: {{low: 0, high: 3}}, relation: add_remove}}}}
  - {{name: given, mechanism: {mechanism}, claim: {{epsilon: 2.0}},
      neighbours: {{pairs: [{{left: [], right: [1]}}], relation: add_remove}}}}
"""
KINDS = {
    "Python": "m.py:noisy",
    "program": f"{{command: [{sys.executable}, p.py]}}",
}
# Which processes are signalled, by a word on their command lines; the auditor's own has none of these words.
VICTIMS = {"worker": "LokyProcess", "program": "p.py"}
WAYS = [("Python", "worker"), ("program", "program"), *((kind, "auditor") for kind in KINDS)]


def _configuration(folder: Path, kind: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "m.py").write_text(MECHANISM)
    (folder / "p.py").write_text(PROGRAM)
    file = folder / "audits.yaml"
    file.write_text(AUDITS.format(mechanism=KINDS[kind]))
    return file


def _started(file: Path, out: Path, mark: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "auditor", "run", "audits.yaml", "--quiet", "--resume", "--out", str(out)]
    said = (file.parent / "said").open("ab")
    with said:
        return subprocess.Popen(command, cwd=file.parent, env=os.environ | {MARK: mark}, stdout=said, stderr=said)


def _processes(mark: str) -> list[int]:
    """Return the processes of a trial that are alive."""
    alive = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended, or belongs to another user
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == mark:
                alive.append(process.pid)
    return sorted(alive)


def _report(out: Path) -> bytes:
    return (out / "audits" / "report.json").read_bytes()


def _resumed(file: Path, out: Path, mark: str) -> int:
    """Resume a run until it ends, and return its exit status. Anything but a defect needs at most four attempts."""
    for _ in range(4):
        status = _started(file, out, mark).wait(300)
        if status in (0, 1) and (out / "audits" / "report.json").exists():
            break
    return status


def _left(mark: str) -> int:
    """Return how many processes of a trial survive its end by more than a moment."""
    until = time.monotonic() + 10
    while (left := _processes(mark)) and time.monotonic() < until:
        time.sleep(0.1)
    for process in left:
        os.kill(process, signal.SIGKILL)
    return len(left)


def _victims(mark: str, run: int, victim: str) -> list[int]:
    """Return the processes of a trial that may be signalled."""
    if victim == "auditor":
        return [run]
    victims = []
    for process in _processes(mark):
        with suppress(psutil.Error):  # it has ended
            if VICTIMS[victim] in " ".join(psutil.Process(process).cmdline()):
                victims.append(process)
    return victims


def _killed(
    file: Path, out: Path, victim: str, number: signal.Signals, moment: float, rng: random.Random
) -> tuple[bool, int]:
    """Run, kill one process, resume; return whether there was a process to kill, and how many processes survived."""
    mark, until = uuid.uuid4().hex, time.monotonic() + moment
    run, victims = _started(file, out, mark), list[int]()
    while run.poll() is None and not victims:
        time.sleep(max(0.02, until - time.monotonic()))
        victims = _victims(mark, run.pid, victim)
    is_hit = bool(victims) and run.poll() is None
    if is_hit:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(rng.choice(victims), number)
    run.wait(300)
    left = _left(mark)
    _resumed(file, out, mark)
    return is_hit, left + _left(mark)


@contextmanager
def _disk(place: Path, kilobytes: int) -> Iterator[None]:
    """Mount a file system of this size on a folder."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _filled(file: Path, place: Path, kilobytes: int) -> tuple[int, bool]:
    """Run on a disk that fills up, free space, resume; return the first exit status, and whether there was a traceback."""
    mark = uuid.uuid4().hex
    with _disk(place, kilobytes):
        status = _started(file, place, mark).wait(300)
        said = (file.parent / "said").read_text()
        subprocess.run(["mount", "-o", "remount,size=100m", str(place)], check=True)
        _resumed(file, place, mark)
        (file.parent / "report.json").write_bytes(_report(place))
    return status, "Traceback" in said or "defect" in said


def measure(kills: int = KILLS, full_disks: int = FULL_DISKS) -> Iterator[dict[str, Any]]:
    """Yield the figures so far after each trial."""
    rng, kinds_of_kills, disks = random.Random(1), dict[str, Counter[str]](), Counter[str]()
    with tempfile.TemporaryDirectory() as kept:
        base = Path(kept)
        whole, lasts = dict[str, bytes](), dict[str, float]()
        for kind in KINDS:
            file = _configuration(base / kind, kind)
            began = time.monotonic()
            assert _started(file, base / kind / "out", "whole").wait(300) == 0, (file.parent / "said").read_text()
            lasts[kind], whole[kind] = time.monotonic() - began, _report(base / kind / "out")
        ways = list(itertools.product(WAYS, SIGNALS))
        for trial in range(kills):
            (kind, victim), number = ways[trial % len(ways)]
            file = _configuration(base / f"{trial}", kind)
            out, ends = file.parent / "out", kinds_of_kills.setdefault(f"{kind}: {victim}, {number.name}", Counter())
            hit, left = _killed(file, out, victim, number, rng.uniform(0, 0.8 * lasts[kind]), rng)
            equal = (out / "audits" / "report.json").exists() and _report(out) == whole[kind]
            ends.update({"trials": 1, "hit": hit, "same report": equal, "processes left": left})
            yield _figures(kinds_of_kills, disks)
        for trial in range(full_disks):
            file = _configuration(base / f"disk {trial}", "Python")
            # From no room for the first table to nearly enough for the whole run.
            status, shown = _filled(file, base / f"small {trial}", rng.randint(4, 400))
            equal = (file.parent / "report.json").read_bytes() == whole["Python"]
            disks[
                f"exit status {status}{', same report after it' if equal else ', ANOTHER report'}{', traceback' * shown}"
            ] += 1
            yield _figures(kinds_of_kills, disks)


def _figures(kills: dict[str, Counter[str]], disks: Counter[str]) -> dict[str, Any]:
    return {"kills": {name: dict(ends) for name, ends in kills.items()}, "full disks": dict(disks)}
