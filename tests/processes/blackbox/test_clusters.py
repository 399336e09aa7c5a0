"""A Dask cluster of a scheduler and two workers, one of which is killed during the run: the report equals that of one machine."""

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import AUDITS, MECHANISMS, Cluster, cluster_in, started, wait_for_calls

import auditor
from auditor.blackbox.workers import close_all
from auditor.cli import main
from auditor.errors import InvalidInputError


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    yield from cluster_in(tmp_path)


def test_a_cluster_that_loses_a_worker_draws_what_one_machine_draws(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = started(cluster, "--out", "cluster", "--backend", "dask", "--address", cluster.address)
    wait_for_calls(cluster.folder, 60)
    cluster.workers[0].kill()
    assert run.poll() is None, "it was killed in the midst of the run"
    assert run.wait(300) == 0, run.communicate()
    run.communicate()
    monkeypatch.chdir(cluster.folder)
    assert main(["run", "audits.yaml", "--quiet", "--out", "here", "--workers", "2"]) == 0
    assert capsys.readouterr().err == ""
    reports = [(cluster.folder / out / "audits" / "report.json").read_bytes() for out in ("cluster", "here")]
    assert reports[0] == reports[1]


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
    ("options", "message"),
    [
        (
            ("--address", "tcp://127.0.0.1:1"),
            "address is 'tcp://127.0.0.1:1', but backend is loky; an address goes with dask",
        ),
        (("--backend", "dask"), "backend is dask, but there is no address; give that of the scheduler"),
    ],
)
def test_a_backend_and_an_address_go_together(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.py").write_text(MECHANISMS)
    file = tmp_path / "audits.yaml"
    file.write_text(AUDITS)
    assert main(["run", str(file), "--out", str(tmp_path), *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
