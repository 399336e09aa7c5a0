"""Forks of the template: each is as good as a new Python, and none is left behind."""

import contextlib
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import auditor
from auditor.blackbox import forking
from auditor.blackbox.forking import call_apart
from auditor.blackbox.process import Process, ProcessEnded
from auditor.blackbox.workers import Processes

pytestmark = pytest.mark.skipif(not forking.CAN_FORK, reason="this system does not fork")


def tell() -> None:
    """Write what a process finds when it begins."""
    files = list[int]()
    for number in range(256):
        with contextlib.suppress(OSError):
            os.fstat(number)
            files.append(number)
    found = {
        "environment": {**os.environ},
        "folder": str(Path.cwd()),
        "path": sys.path,
        "files": files,
        "numbers": [random.random(), float(np.random.random()), *np.random.get_state()[1][:3].tolist()],  # noqa: NPY002
        "group": os.getpgrp() == os.getsid(0) == os.getpid(),
        "hears": signal.getsignal(signal.SIGINT) is signal.default_int_handler
        and not signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "parent": os.getppid(),
        "number": os.getpid(),
    }
    print(json.dumps(found))


def end() -> None:
    sys.exit(int(sys.stdin.readline()))


def end_with_words() -> None:
    sys.exit("no more")


def fail() -> None:
    raise ValueError("on purpose")


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def told() -> dict[str, Any]:
    with begun("tell") as began:
        found: dict[str, Any] = json.loads(began.stdout.read())
        assert began.wait(60) == 0
        assert found["number"] == began.pid
    return found


@contextlib.contextmanager
def begun(function: str) -> Iterator[Any]:
    process: Any = call_apart(f"{__name__}:{function}")
    with process.stdin, process.stdout, process.stderr:
        yield process


def test_a_fork_finds_what_its_auditor_has_when_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = told()
    monkeypatch.setenv("CAME_LATER", "ä")
    monkeypatch.delenv("HOME")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("/nowhere")
    later = told()
    assert later["environment"] == {**os.environ}
    assert (later["folder"], later["path"]) == (str(tmp_path), sys.path)
    assert later["files"] == [0, 1, 2]
    assert later["group"] and later["hears"]
    assert later["parent"] == first["parent"] != os.getpid()


def test_no_two_forks_have_the_same_global_random_numbers() -> None:
    numbers = [told()["numbers"] for _ in range(3)]
    for of_each in zip(*numbers, strict=True):
        assert len({*of_each}) == 3


def numpys(dataset: float, size: int) -> Any:
    return dataset + np.random.laplace(0, 1, size)  # noqa: NPY002


def test_noise_of_a_global_generator_differs_between_workers_and_passes() -> None:
    """Copies of one generator would repeat each other, and a sound mechanism would be refused."""
    result = auditor.audit(numpys, auditor.PureDP(1.0), [(0.0, 1.0)], samples=20_000, workers=2, seed=3)
    assert result.verdict == "no_violation_found"
    workers = Processes(2)
    try:
        drawn = list(workers.run(iter([(numpys, (0.0, 4))] * 6), 6))
        assert len({float(number) for numbers in drawn for number in numbers}) == 24
    finally:
        workers.close()


@pytest.mark.parametrize("variable", ["PYTHONHASHSEED", "OMP_NUM_THREADS"])
def test_what_is_read_at_the_start_has_a_template_of_its_own(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parents = [told()["parent"]]
    monkeypatch.setenv(variable, "7")
    parents += [told()["parent"], told()["parent"]]
    # Threads of libraries are one in any case.
    assert (parents[1] == parents[0]) == (variable == "OMP_NUM_THREADS")
    assert parents[1] == parents[2]


@pytest.mark.parametrize(
    ("function", "said", "how"),
    [
        ("end", b"3\n", "ended with exit status 3"),
        ("end", b"259\n", "ended with exit status 3"),
        ("end_with_words", b"", "ended with exit status 1; standard error ends: no more"),
        ("fail", b"", "ValueError: on purpose"),
        ("kill_itself", b"", "killed by SIGSEGV"),
    ],
)
def test_a_fork_ends_as_a_python_would(function: str, said: bytes, how: str) -> None:
    process = Process(f"{__name__}:{function}")
    process.send(said)
    with pytest.raises(ProcessEnded) as caught:
        process.receive(time.monotonic() + 60)
    assert how in caught.value.message()


def test_a_fork_goes_on_without_its_template_and_the_next_has_another() -> None:
    with begun("end") as left:
        template = psutil.Process(left.pid).parent()
        assert template is not None
        template.kill()
        template.wait(60)
        assert told()["parent"] != template.pid
        assert psutil.pid_exists(left.pid)
        left.stdin.write(b"3\n")
        assert left.wait(60) == -signal.SIGKILL  # nobody can say how it ended


def test_an_interrupted_start_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    told()
    received = forking._received
    monkeypatch.setattr(forking, "_received", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        told()
    monkeypatch.setattr(forking, "_received", received)
    assert told()["files"] == [0, 1, 2]


LEFT = """
import os, sys, time
from auditor.blackbox.process import Process
process = Process("time:tzset"), Process(sys.argv[1] + ":end")
print(process[1]._child.pid, os.getpid(), flush=True)
time.sleep(600 if sys.argv[2] == "killed" else 0)
"""


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_the_template_and_its_forks_end_with_the_auditor(how: str) -> None:
    folder = str(Path(__file__).parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([folder, *filter(None, sys.path)])}
    arguments = [sys.executable, "-c", LEFT, __name__, how]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as running:
        assert running.stdout is not None
        fork, own = map(int, running.stdout.readline().split())
        if how == "killed":
            of_it = psutil.Process(own).children(recursive=True)
            running.kill()
        else:
            of_it = []
    left = [*of_it, *([psutil.Process(fork)] if psutil.pid_exists(fork) else [])]
    _, alive = psutil.wait_procs(left, timeout=60)
    assert not alive


def test_modules_of_the_template_are_those_of_the_auditor() -> None:
    for module in forking.IMPORTED:
        importlib.import_module(module)
