"""A Dask cluster whose run is stopped, and one that loses all its workers."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import AUDITS, Cluster, cluster_in, started, wait_for_calls


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    yield from cluster_in(tmp_path)


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
    """The task kills one worker after another, as a lack of memory would."""
    for _ in range(4):
        cluster.start(
            "worker", cluster.address, "--no-nanny", "--nthreads", "1", "--local-directory", str(cluster.folder)
        )
    text = AUDITS[: AUDITS.index("  - {name: stops")].replace("m.py:noisy", "m.py:ends_its_worker")
    (cluster.folder / "audits.yaml").write_text(text)
    run = started(cluster, "--backend", "dask", "--address", cluster.address)
    assert run.wait(120) == 3
    assert "auditor: the Dask cluster gave up a task" in run.communicate()[1]
