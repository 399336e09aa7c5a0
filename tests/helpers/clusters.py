"""A Dask cluster on this machine, and a run that uses it."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MECHANISMS = """
import os, time

def noisy(dataset, size, rng):
    # Workers that another test started may work in another folder.
    with open(os.path.join(os.path.dirname(__file__), "calls"), "a") as calls:
        calls.write("x")
    time.sleep(0.003)
    return len(dataset) + rng.laplace(0.0, 0.8, size)

def ends_its_worker(dataset, rng):
    import psutil
    parent = psutil.Process(os.getppid())
    if any("dask_worker" in argument for argument in parent.cmdline()):
        parent.kill()
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
    """A scheduler and workers, each in a process of its own."""

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


def cluster_in(folder: Path) -> Iterator[Cluster]:
    """Yield a cluster with two workers and a folder of audits."""
    pytest.importorskip("distributed")
    (folder / "m.py").write_text(MECHANISMS)
    (folder / "audits.yaml").write_text(AUDITS)
    begun = Cluster(folder, 2)
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
