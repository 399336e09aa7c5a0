"""Resuming: a run killed at any moment loses only what was in flight, and ends with the same report."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from auditor.blackbox.command import Command, Program
from auditor.blackbox.encoding import decode, encode
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.store import Store
from auditor.bounds.evidence import Counts, GuessCounts, ProfileCounts, ScoreCounts
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.neighbours.pair import Pair

MECHANISMS = """
import os, time

LOG = os.path.join(os.path.dirname(__file__), "log")

def noisy(dataset, size, rng):
    with open(LOG, "ab", buffering=0) as file:
        file.write(b"%d\\n" % size)
    time.sleep(0.001)
    return rng.laplace(dataset, 0.8, size)
"""
CONFIG = """
version: 1
seed: 5
samples: 1_000
planted: 1
execution: {{workers: {workers}, isolate: false}}
audits:
  - {{name: searched, mechanism: m.py:noisy, claim: {{epsilon: 1.0}}, expect: violation,
      neighbours: {{domain: value, values: [0, 1, 2]}}}}
  - {{name: Renyi, mechanism: m.py:noisy, claim: {{order: 2, epsilon: 3.0}},
      neighbours: {{pairs: [{{left: 0, right: 1}}]}}}}
  - {{name: pure, mechanism: m.py:noisy, claim: {{epsilon: 2.0}},
      neighbours: {{pairs: [{{left: 0, right: 1}}]}}}}
"""


def configuration(folder: Path, workers: int = 1) -> Path:
    folder.mkdir()
    (folder / "m.py").write_text(MECHANISMS)
    file = folder / "audits.yaml"
    file.write_text(CONFIG.format(workers=workers))
    return file


def start(file: Path, *options: str, stderr: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "auditor", "run", str(file), "--out", str(file.parent), *options]
    folder = Path(__file__).parents[3]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, text=True, cwd=folder)


def report(file: Path) -> Any:
    """Return the report, without the command, which names the file."""
    data = json.loads((file.parent / "audits" / "report.json").read_text())
    for audit in data["audits"]:
        audit.pop("reproduce")
    return data


def calls(file: Path) -> int:
    log = file.parent / "log"
    return len(log.read_bytes().splitlines()) if log.exists() else 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """Return the configuration of a run without interruptions, and the seconds it took."""
    file = configuration(tmp_path_factory.mktemp("runs") / "whole")
    started = time.monotonic()
    assert start(file).wait() == 0
    return file, time.monotonic() - started


def test_a_run_killed_at_random_ends_as_if_it_had_not_been(whole: tuple[Path, float], tmp_path: Path) -> None:
    """If a batch were counted twice or left out, the numbers would differ; only batches in flight are drawn again."""
    (uninterrupted, lasts), killed = whole, configuration(tmp_path / "killed")
    rng, died, kills = random.Random(7), 0, 2
    while died < kills:
        run = start(killed, "--resume")
        try:
            run.wait(rng.uniform(0, lasts * (1.2 if died < kills // 2 else 0.6)))
        except subprocess.TimeoutExpired:
            run.kill()
            died += 1
            run.wait()
        else:
            assert run.returncode == 0  # the run ended before the last kills, which apply to the next run
            assert report(killed) == report(uninterrupted)
    assert start(killed, "--resume").wait() == 0
    assert report(killed) == report(uninterrupted)


def test_control_c_ends_at_once_and_keeps_what_is_done(whole: tuple[Path, float], tmp_path: Path) -> None:
    (uninterrupted, _), stopped = whole, configuration(tmp_path / "stopped", 2)
    run = start(stopped, stderr=subprocess.PIPE)
    while calls(stopped) < calls(uninterrupted) // 2:
        time.sleep(0.005)
    run.send_signal(signal.SIGINT)
    _, message = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "finished work is kept, and the same command with --resume continues from there" in message
    assert "Traceback" not in message
    before = calls(stopped)
    assert start(stopped, "--resume").wait() == 0
    assert report(stopped) == report(uninterrupted)
    assert calls(stopped) - before < calls(uninterrupted)


@pytest.mark.parametrize(
    ("sent", "status", "workers", "isolate"),
    [(signal.SIGINT, 130, 1, "false"), (signal.SIGTERM, 143, 1, "true"), (signal.SIGKILL, -9, 2, "true")],
)
def test_a_signal_does_not_wait_for_a_slow_output_and_leaves_no_process(
    sent: signal.Signals, status: int, workers: int, isolate: str, tmp_path: Path
) -> None:
    """An output that takes ten minutes is being drawn; the test's own limit is a fraction of that."""
    begun, file = tmp_path / "begun", tmp_path / "slow.yaml"
    (tmp_path / "m.py").write_text(
        "import os, pathlib, time\n\ndef slow(dataset, rng):\n"
        f"    pathlib.Path({str(begun)!r}).write_text(str(os.getpid()))\n    time.sleep(600)\n"
    )
    file.write_text(
        f"version: 1\nexecution: {{workers: {workers}, isolate: {isolate}}}\naudits: [{{name: slow, mechanism: m.py:slow, "
        "claim: {epsilon: 1}, neighbours: {pairs: [{left: 0, right: 1}]}}]"
    )
    run = start(file)
    while not begun.is_file() or not begun.read_text():
        time.sleep(0.01)
    time.sleep(0.2)
    run.send_signal(sent)
    run.communicate(timeout=60)
    assert run.returncode == status
    worker, until = int(begun.read_text()), time.monotonic() + 60
    while psutil.pid_exists(worker) and time.monotonic() < until:
        time.sleep(0.02)
    assert not psutil.pid_exists(worker)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the configuration of a killed run."""
    file = configuration(tmp_path_factory.mktemp("runs") / "cut")
    run = start(file)
    while calls(file) < 20:
        time.sleep(0.005)
    run.kill()
    run.wait()
    return file


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("seed: 5", "seed: 6", "file, seed: 5 before, 6 now"),
        ("order: 2", "order: 3", "file, audits, Renyi, claim, order: 2 before, 3 now"),
        ("name: Renyi", "name: Rényi", 'audits run: ["searched", "Renyi", "pure"] before'),
    ],
)
def test_another_run_is_refused_with_what_differs(
    before: str, after: str, message: str, cut: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(cut.parent, tmp_path / "run")
    file = tmp_path / "run" / cut.name
    file.write_text(file.read_text().replace(before, after))
    assert main(["run", str(file), "--out", str(file.parent), "--resume"]) == 2
    assert message in capsys.readouterr().err


def test_a_mechanism_tells_its_files(tmp_path: Path) -> None:
    """The files follow from names alone: if anything were imported, the last of these would raise an error."""
    (tmp_path / "package").mkdir()
    files = [tmp_path / name for name in ("m.py", "package/__init__.py", "package/inner.py", "program.awk")]
    for path in files:
        path.write_text("raise RuntimeError")
    search = (str(tmp_path),)
    assert PythonSource("m.py:noisy", search_path=search).files() == [files[0]]
    assert PythonSource("m:noisy", search_path=search).files() == [files[0]]
    assert PythonSource("package:noisy", search_path=search).files() == [files[1]]
    assert PythonSource("package.inner:noisy", search_path=search).files() == [files[2]]
    assert PythonSource("nowhere:noisy", search_path=search).files() == []
    assert PythonSource("noisy", function=max).files() == []
    command = Command(["awk", "-f", "program.awk", "-v", "m=3"], str(tmp_path))
    assert Program(command).files() == [files[3], Path(command.find())]


def test_another_seed_on_the_command_line_or_another_version_is_refused(tmp_path: Path) -> None:
    journal = Store(tmp_path / "runs.sqlite")
    journal.begin({"version": "1", "command line": {"seed": None}}, resume=False)
    with pytest.raises(InvalidInputError, match='version: "1" before, "2" now'):
        journal.begin({"version": "2", "command line": {"seed": None}}, resume=True)
    with pytest.raises(InvalidInputError, match="command line, seed: null before, 3 now"):
        journal.begin({"version": "1", "command line": {"seed": 3}}, resume=True)
    assert journal.begin({"version": "1", "command line": {"seed": None}}, resume=True)
    journal.close()


def test_two_runs_do_not_write_to_one_file(tmp_path: Path) -> None:
    first = Store(tmp_path / "runs.sqlite")
    with pytest.raises(InvalidInputError, match="if another run is writing there, wait for it or use --out"):
        Store(tmp_path / "runs.sqlite")
    first.close()
    Store(tmp_path / "runs.sqlite").close()


def test_what_was_observed_is_kept_exactly() -> None:
    guesses = GuessCounts(Counts(1, 9, 2, 8), Counts(0, 9, 1, 8), one_tailed=False)
    for value in (
        guesses,
        (ScoreCounts((1, 2), (3, 4)), 17),
        ProfileCounts((guesses, guesses)),
        (float("-inf"), "output: number"),
        [0.1 + 0.2, 5e-324, None, True],
        {"spans": [guesses], "width": 2},
    ):
        assert decode(encode(value)) == value


def test_a_batch_is_kept_with_all_that_is_said_of_it() -> None:
    drawer = PythonSource("m", function=lambda value, rng: value + rng.random()).drawer()
    drawn = drawer.draw(Pair(0, 1), np.array([True, False, True]), np.random.default_rng(1))
    sample = replace(drawn, calls=2, redrawn=True, failures=1)
    again = decode(encode(sample))
    assert again == replace(sample, left=again.left, right=again.right)
    for ours, theirs in ((sample.left, again.left), (sample.right, again.right)):
        assert theirs.column("output").numbers.tolist() == ours.column("output").numbers.tolist()
