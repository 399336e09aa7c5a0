"""A Dask cluster of a scheduler and two workers, one of which is killed during the run: the report is that of one machine."""

import builtins
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import auditor
from auditor.blackbox.workers import close_all
from auditor.cli import main
from auditor.errors import InvalidInputError

MECHANISMS = """
import os, signal, time

def noisy(dataset, size, rng):
    with open("calls", "a") as calls:
        calls.write("x")
    time.sleep(0.01)
    return len(dataset) + rng.laplace(0.0, 0.8, size)

def ends_its_worker(dataset, rng):
    parent = os.getppid()
    with open(f"/proc/{parent}/cmdline") as file:
        if "dask_worker" in file.read():
            os.kill(parent, signal.SIGKILL)
    return 0.0
"""
AUDITS = """
version: 1
seed: 5
prove: false
audits:
  - {name: searched, mechanism: m.py:noisy, claim: {epsilon: 1.0}, expect: violation, samples: 2_000,
      neighbours: {domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 3}, relation: add_remove}}
  - {name: stops early, mechanism: m.py:noisy, claim: {epsilon: 0.5}, expect: violation, samples: 2_000,
      neighbours: {pairs: [{left: [], right: [1]}], relation: add_remove}}
"""


class Cluster:
    """A scheduler and workers: processes of their own."""

    def __init__(self, folder: Path, workers: int) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address, self.folder, self.started = f"tcp://127.0.0.1:{port}", folder, list[subprocess.Popen[bytes]]()
        self.start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        self.workers = [
            self.start("worker", self.address, "--no-nanny", "--nthreads", "1", "--local-directory", str(folder))
            for _ in range(workers)
        ]

    def start(self, part: str, *options: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.dask_{part}", *options, "--no-dashboard"]
        with (self.folder / f"{part}.log").open("ab") as log:
            self.started.append(subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log))
        return self.started[-1]

    def end(self) -> None:
        for process in reversed(self.started):
            process.kill()
            process.wait(60)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    (tmp_path / "m.py").write_text(MECHANISMS)
    (tmp_path / "audits.yaml").write_text(AUDITS)
    begun = Cluster(tmp_path, 2)
    yield begun
    begun.end()


def started(cluster: Cluster, *options: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "auditor", "run", "audits.yaml", "--quiet", *options]
    return subprocess.Popen(
        command, cwd=cluster.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_calls(folder: Path, calls: int) -> None:
    patience = time.monotonic() + 120
    while not (folder / "calls").exists() or (folder / "calls").stat().st_size < calls:
        assert time.monotonic() < patience
        time.sleep(0.01)


def test_a_cluster_that_loses_a_worker_draws_what_one_machine_draws(cluster: Cluster) -> None:
    run = started(cluster, "--out", "cluster", "--backend", "dask", "--address", cluster.address)
    wait_for_calls(cluster.folder, 60)
    cluster.workers[0].kill()
    assert run.poll() is None, "it was killed in the midst of the run"
    assert run.wait(300) == 0, run.communicate()
    run.communicate()
    here = started(cluster, "--out", "here", "--workers", "2")
    assert (here.wait(300), *here.communicate()[1:]) == (0, "")
    reports = [(cluster.folder / out / "audits" / "report.json").read_bytes() for out in ("cluster", "here")]
    assert reports[0] == reports[1]


def test_ctrl_c_ends_a_run_on_a_cluster_which_serves_the_next_one(cluster: Cluster) -> None:
    options = "--backend", "dask", "--address", cluster.address, "--out", "out"
    run = started(cluster, *options)
    wait_for_calls(cluster.folder, 60)
    run.send_signal(signal.SIGINT)
    assert run.wait(60) == 130
    assert "Traceback" not in run.communicate()[1]
    again = started(cluster, *options, "--resume")
    assert again.wait(300) == 0, again.communicate()
    again.communicate()


def test_a_task_that_a_cluster_gives_up_is_told(cluster: Cluster) -> None:
    """Workers are killed one after the other by what they run, as by a lack of memory."""
    for _ in range(4):
        cluster.start(
            "worker", cluster.address, "--no-nanny", "--nthreads", "1", "--local-directory", str(cluster.folder)
        )
    text = AUDITS[: AUDITS.index("  - {name: stops")].replace("m.py:noisy", "m.py:ends_its_worker")
    (cluster.folder / "audits.yaml").write_text(text)
    run = started(cluster, "--backend", "dask", "--address", cluster.address)
    assert run.wait(120) == 3
    assert "auditor: the Dask cluster gave up a task" in run.communicate()[1]


def audited(folder: Path, **execution: Any) -> Any:
    (folder / "m.py").write_text(MECHANISMS)
    return auditor.audit(f"{folder}/m.py:noisy", auditor.PureDP(1.0), [([], [1])], samples=1_000, **execution)


def test_a_library_that_is_not_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == "distributed":
            raise ImportError(name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidInputError, match=r"pip install 'dp-auditor\[dask\]'"):
        audited(tmp_path, backend="dask", address="tcp://127.0.0.1:1")


@pytest.mark.filterwarnings("ignore")  # of the library's own sockets and event loops
def test_an_address_where_nothing_answers_is_told_before_any_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("auditor.blackbox.workers.WAIT", 0.5)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InvalidInputError, match=r"no Dask cluster with auditor at tcp://127.0.0.1:1 .* `dask scheduler`"
    ):
        audited(tmp_path, backend="dask", address="tcp://127.0.0.1:1")
    close_all()
    assert not (tmp_path / "calls").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--address", "tcp://127.0.0.1:1"),
            "address is 'tcp://127.0.0.1:1', but backend is loky; an address goes with dask",
        ),
        (("--backend", "dask"), "backend is dask, but there is no address; give that of the scheduler"),
    ],
)
def test_a_backend_and_an_address_go_together(
    options: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.py").write_text(MECHANISMS)
    file = tmp_path / "audits.yaml"
    file.write_text(AUDITS)
    assert main(["run", str(file), "--out", str(tmp_path), *options]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
