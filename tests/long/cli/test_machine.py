"""A machine without disk space or permission: one sentence and exit status 3, and a later run continues to the same report."""

import argparse
import ast
import errno
import os
import queue
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import auditor
from auditor.cli import _ended_by, _run
from auditor.foreign_code import refused_by_machine

AUDITS = """
version: 1
seed: 5
samples: 20_000
prove: false
execution: {workers: WORKERS, isolate: ISOLATE}
audits:
  - {name: noisy, mechanism: MECHANISM, claim: {epsilon: 2.0},
      neighbours: {pairs: [{left: 0, right: 1}]}}
"""
PROGRAM = """
import json, random, sys

for line in sys.stdin:
    asked = json.loads(line)
    rng = random.Random(asked["seed"])
    for _ in range(asked["size"]):
        print(asked["dataset"] + rng.expovariate(1.25) - rng.expovariate(1.25))
    sys.stdout.flush()
"""
MECHANISM = "def noisy(dataset, size, rng):\n    return dataset + rng.laplace(0.0, 0.8, size)\n"


# How outputs are drawn: here, by workers, in a process of their own, or by a program.
WAYS = {
    "here": ("1", "false", "m.py:noisy"),
    "workers": ("2", "false", "m.py:noisy"),
    "isolated": ("1", "true", "m.py:noisy"),
    "program": ("1", "true", f"{{command: [{sys.executable}, p.py]}}"),
}


def configuration(folder: Path, way: str = "here") -> Path:
    (folder / "m.py").write_text(MECHANISM)
    (folder / "p.py").write_text(PROGRAM)
    file, (workers, isolate, mechanism) = folder / "audits.yaml", WAYS[way]
    file.write_text(AUDITS.replace("WORKERS", workers).replace("ISOLATE", isolate).replace("MECHANISM", mechanism))
    return file


def run(
    file: Path, out: Path, limit: Callable[[], None] | None = None, before: Sequence[str] = (), **environment: str
) -> "subprocess.CompletedProcess[str]":
    command = [*before, sys.executable, "-m", "auditor", "run", str(file), "--quiet", "--resume", "--out", str(out)]
    # A thread for each core of a library would meet limits of processes and memory sooner on machines with many cores.
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # Under a limit on files Python itself leaves half of a compiled module, which no later run can read.
    threads["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env=os.environ | threads | environment,
        timeout=100,
        check=False,
    )


def undisturbed(file: Path) -> bytes:
    out = file.parent / "undisturbed"
    assert run(file, out).returncode == 0
    return (out / "audits" / "report.json").read_bytes()


def is_one_sentence(ended: "subprocess.CompletedProcess[str]") -> bool:
    lines = ended.stderr.strip().splitlines()
    return ended.returncode == 3 and len(lines) == 1 and lines[0].startswith("auditor: ") and "no verdict" in lines[0]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a file system with options; skip the test where mounting is not allowed."""
    place = tmp_path / "disk"
    place.mkdir()

    def mounted(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs the right to mount a file system")
        return place

    yield mounted
    subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


@pytest.mark.parametrize("kilobytes", [4, 40, 120])
def test_a_full_disk(kilobytes: int, disk: Callable[[str], Path], tmp_path: Path) -> None:
    file, out = configuration(tmp_path), disk(f"size={kilobytes}k")
    assert is_one_sentence(ended := run(file, out)), ended.stderr
    disk("remount,size=100m")
    assert is_kept(file, out)


def test_a_read_only_folder(disk: Callable[[str], Path], tmp_path: Path) -> None:
    out = disk("size=1m,ro")
    assert is_one_sentence(ended := run(configuration(tmp_path), out)), ended.stderr
    assert str(out) in ended.stderr


def test_too_little_memory_within_the_auditor(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended_by(MemoryError(), with_traceback=False) == 3
    assert capsys.readouterr().err.startswith("auditor: there is not enough memory; no verdict")


def is_kept(file: Path, out: Path) -> bool:
    """Whether the run goes on to the report that it would have had."""
    return run(file, out).returncode == 0 and (out / "audits" / "report.json").read_bytes() == undisturbed(file)


# A limit on the size of files, on open files, and on memory. How much memory is needed depends on the machine.
LIMITS = [
    *(("here", resource.RLIMIT_FSIZE, size) for size in (100, 5_000, 60_000)),
    *((way, resource.RLIMIT_NOFILE, n) for way, n in (("here", 8), ("isolated", 10), ("program", 12), ("program", 20))),
    *(("workers", resource.RLIMIT_NOFILE, n) for n in (9, 16)),
    *((way, resource.RLIMIT_AS, megabytes << 20) for way, megabytes in (("workers", 260), ("isolated", 400))),
]


@pytest.mark.parametrize(("way", "resource_", "most"), LIMITS)
def test_a_limit(way: str, resource_: int, most: int, tmp_path: Path) -> None:
    """This holds while a process starts, too: a program that cannot be started is not an output.

    A C library that runs out of memory may end the process itself, but never with a pass.
    """
    file, out = configuration(tmp_path, way), tmp_path / "out"
    ended = run(file, out, lambda: resource.setrlimit(resource_, (most, most)))
    is_of_a_library = resource_ == resource.RLIMIT_AS and "OpenBLAS" in ended.stderr
    must_fail = resource_ == resource.RLIMIT_FSIZE
    assert is_one_sentence(ended) or is_of_a_library or (ended.returncode == 0 and not must_fail), ended.stderr
    assert is_kept(file, out)


def in_a_namespace(commands: str) -> list[str]:
    """Return a command that runs another in a namespace with file systems mounted by these commands; skip where
    mounting is not allowed."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    return ["unshare", "--mount", "sh", "-c", f'{commands}; exec "$@"', "sh"]


@pytest.mark.parametrize("options", ["size=4k", "size=1m,ro"])
def test_no_room_in_shared_memory(options: str, tmp_path: Path) -> None:
    """Workers need it. Other ways to draw go on without."""
    fill = f"mount -t tmpfs -o {options} tmpfs /dev/shm; head -c 9k /dev/zero 2>&- > /dev/shm/full"
    before = in_a_namespace(f"({fill}) 2>/dev/null")
    file, out = configuration(tmp_path, "workers"), tmp_path / "out"
    ended = run(file, out, before=before)
    assert is_one_sentence(ended) and "/dev/shm" in ended.stderr, ended.stderr
    assert is_kept(file, out)
    (alone := tmp_path / "alone").mkdir()
    ended = run(configuration(alone, "isolated"), alone / "out", before=before)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("way", ["workers", "isolated"])
def test_no_folder_for_temporary_files(way: str, tmp_path: Path) -> None:
    """The folder is missing, or full like all others: a run keeps nothing there."""
    ended = run(configuration(tmp_path, way), tmp_path / "out", TMPDIR=str(tmp_path / "missing"))
    assert (ended.returncode, ended.stderr) == (0, "")
    full = tmp_path / "full"
    full.mkdir()
    before = in_a_namespace(
        f"for at in {full} /var/tmp; do mount -t tmpfs -o size=4k tmpfs $at; head -c 9k /dev/zero > $at/full; done 2>/dev/null"
    )
    ended = run(configuration(tmp_path, way), tmp_path / "again", before=before, TMPDIR=str(full))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "again" / "audits" / "report.json").read_bytes() == (
        tmp_path / "out" / "audits" / "report.json"
    ).read_bytes()


@pytest.mark.parametrize("most", [10, 12, 16])
def test_a_limit_on_processes(most: int, tmp_path: Path) -> None:
    """The limit does not apply to root, so the run has the number of another user and the right to read all files.

    If no process can be started for a mechanism, the report gives the reason why it has no answer.
    """
    rights = "+dac_override,+dac_read_search"
    before = ["setpriv", "--reuid=64321", "--clear-groups", f"--inh-caps={rights}", f"--ambient-caps={rights}"]
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to run as another user")
    file, out = configuration(tmp_path, "workers"), tmp_path / "out"
    ended = run(file, out, lambda: resource.setrlimit(resource.RLIMIT_NPROC, (most, most)), before)
    has_reason = (
        ended.returncode == 3 and not ended.stderr and "inconclusive" in (out / "audits" / "summary.md").read_text()
    )
    assert ended.returncode == 0 or has_reason or is_one_sentence(ended), ended.stderr
    assert is_kept(file, out)


# As `python -m auditor`, on a machine whose clock jumps by up to a day, back and forth.
LEAPING = """
import random, sys, time
from auditor.cli import main

now, leap, leap_ns = time.time, random.Random(1), time.time_ns
time.time = lambda: now() + leap.uniform(-86_400, 86_400)
time.time_ns = lambda: leap_ns() + leap.randrange(-86_400 * 10**9, 86_400 * 10**9)
sys.exit(main())
"""


@pytest.mark.parametrize("way", WAYS)
def test_a_clock_that_leaps(way: str, tmp_path: Path) -> None:
    file, out = configuration(tmp_path, way), tmp_path / "out"
    command = [sys.executable, "-c", LEAPING, "run", str(file), "--quiet", "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (out / "audits" / "report.json").read_bytes() == undisturbed(file)


def test_nothing_is_decided_by_a_clock_that_can_leap() -> None:
    """The wall clock is read in one place only, to record the date."""
    asked = [
        (path.name, node.attr)
        for path in sorted(Path(auditor.__file__).parent.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and (
            (node.attr in ("now", "utcnow", "today") and "date" in ast.unparse(node.value))
            or (node.attr in ("time", "time_ns") and ast.unparse(node.value) == "time")
        )
    ]
    assert asked == [("store.py", "now")]


def test_what_the_machine_refused_is_found_in_the_errors_that_it_led_to() -> None:
    refused = OSError(errno.EMFILE, "Too many open files")
    try:
        try:
            raise refused
        finally:
            raise UnboundLocalError
    except UnboundLocalError as error:
        assert refused_by_machine(error) is refused
    assert refused_by_machine(thread := RuntimeError("can't start new thread")) is thread
    assert refused_by_machine(OSError(errno.ENOENT, "")) is refused_by_machine(ValueError()) is None


def test_a_thread_that_ends_for_lack_of_memory_ends_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The workers' thread would end like this while the main thread waits for its answers."""

    def ends(error: BaseException) -> None:
        raise error

    def waits(error: BaseException) -> Callable[[object], int]:
        def command(options: object) -> int:
            threading.Thread(target=ends, args=(error,)).start()
            queue.SimpleQueue[int]().get(timeout=1 if isinstance(error, ValueError) else 60)
            return 0

        return command

    for error in (MemoryError(), SystemError("error return without exception set")):
        assert _run(argparse.Namespace(command=waits(error), traceback=False)) == 3
        assert capsys.readouterr().err.startswith("auditor: there is not enough memory; no verdict")
    recorded = list[object]()
    monkeypatch.setattr(threading, "excepthook", recorded.append)
    assert _run(argparse.Namespace(command=waits(ValueError()), traceback=False)) == 3
    assert len(recorded) == 1
