"""Clusters of several worker processes, one of which is killed during the run: the result is that of one machine."""

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import auditor
from auditor.blackbox.clusters import Dask, close_all
from auditor.cli import main
from auditor.errors import InvalidInputError

pytestmark = pytest.mark.usefixtures("without_plots")

MECHANISM = """
import os, signal

def noisy(dataset, size, rng, flag=None):
    if flag is not None and size > 300:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)  # the first worker that comes here, in the midst of the run
    return rng.laplace(dataset, 0.8, size)
"""


@pytest.fixture
def no_workers_are_left() -> Iterator[None]:
    yield
    close_all()


def audited(folder: Path, flag: Path | None = None, **execution: Any) -> dict[str, Any]:
    (folder / "m.py").write_text(MECHANISM)
    parameters = {"flag": str(flag)} if flag else {}
    result = auditor.audit(
        f"{folder}/m.py:noisy",
        auditor.PureDP(1.0),
        auditor.Value([0, 1, 2]),
        parameters=parameters,
        name="noisy",
        samples=100_000,
        **execution,
    ).to_dict()
    return {key: result[key] for key in ("verdict", "bound", "pair", "event", "smallest", "outputs", "power", "budget")}


@pytest.mark.processes
@pytest.mark.filterwarnings("ignore")  # of the cluster's own sockets and event loops
def test_a_dask_cluster_that_loses_a_worker(tmp_path: Path, no_workers_are_left: None) -> None:
    distributed = pytest.importorskip("distributed")
    flag = tmp_path / "killed"
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster:
        on_cluster = audited(tmp_path, flag, backend="dask", address=cluster.scheduler_address)
    assert flag.exists()
    assert on_cluster == audited(tmp_path, workers=1)


@pytest.mark.processes
@pytest.mark.filterwarnings("ignore")
def test_a_ray_cluster_that_loses_a_worker(tmp_path: Path, no_workers_are_left: None) -> None:
    ray = pytest.importorskip("ray")
    flag = tmp_path / "killed"
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        on_cluster = audited(tmp_path, flag, backend="ray")
    finally:
        close_all()
        ray.shutdown()
    assert flag.exists()
    assert on_cluster == audited(tmp_path, workers=1)


def test_a_cluster_that_is_slow_to_end_is_no_error() -> None:
    ended = []

    class Late:
        def close(self, timeout: float) -> None:
            ended.append(self)
            raise TimeoutError

    client, cluster = Late(), Late()
    pool = object.__new__(Dask)
    pool._client, pool._cluster = client, cluster
    pool.close()
    assert ended == [client, cluster]


@pytest.mark.parametrize(("backend", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_whose_library_is_not_installed_is_told(
    backend: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name == library:
            raise ImportError(name)
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidInputError, match=rf"pip install 'dp-auditor\[{backend}\]'"):
        audited(tmp_path, backend=backend, address="tcp://127.0.0.1:1")


def test_an_address_without_a_cluster_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.py").write_text(MECHANISM)
    file = tmp_path / "audits.yaml"
    file.write_text(
        "version: 1\naudits: [{name: noisy, mechanism: m.py:noisy, claim: {epsilon: 1}, "
        "neighbours: {pairs: [{left: 0, right: 1}]}}]"
    )
    assert main(["run", str(file), "--out", str(tmp_path), "--address", "tcp://127.0.0.1:1"]) == 2
    assert (
        "address is 'tcp://127.0.0.1:1', but backend is loky; an address goes with dask or ray"
        in capsys.readouterr().err
    )
