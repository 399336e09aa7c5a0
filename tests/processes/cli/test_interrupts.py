"""An interrupt is reported in one line, whenever it arrives and whichever process or thread receives it."""

import inspect
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from loky import process_executor

from auditor.auditing import proof_job
from auditor.auditing.proof_job import ProofJob
from auditor.blackbox.workers import Processes
from auditor.foreign_code import Stopped

AT_AN_IMPORT = """
import os, runpy, signal, sys

wanted = sys.argv.pop()

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
runpy.run_module("auditor", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["auditor.cli", "auditor.cli.options", "rich.table", "auditor.cli.plan_command"])
def test_an_interrupt_while_the_command_starts_is_one_line(module: str) -> None:
    arguments = [sys.executable, "-c", AT_AN_IMPORT, "plan", "audit.yaml", module]
    ended = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 130
    assert ended.stderr.startswith("auditor: interrupted")
    assert ended.stderr.count("\n") == 1


def test_a_worker_that_starts_while_the_terminal_interrupts_prints_nothing(tmp_path: Path) -> None:
    """Every worker is interrupted as it starts, as by Ctrl-C in the terminal, which reaches all processes of the group."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\nif any('auditor.blackbox.forking' in word for word in sys.orig_argv):\n"
        f"    open({str(tmp_path / 'begun')!r}, 'a').close()\n    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    (tmp_path / "m.py").write_text("def noisy(data, size, rng):\n    return sum(data) + rng.laplace(size=size)\n")
    (tmp_path / "c.yaml").write_text(
        "version: 1\nsamples: 2000\nexecution: {workers: 2}\naudits:\n- name: a\n  mechanism: m.py:noisy\n  claim: {epsilon: 1}\n"
        "  neighbours: {pairs: [{left: [0], right: [1]}]}\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-m", "auditor", "run", "c.yaml"],
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (tmp_path / "begun").exists()
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr


def interrupts_heard() -> bool:
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_worker_hears_interrupts_again_once_it_has_a_group_of_its_own() -> None:
    workers = Processes(1)
    try:
        assert list(workers.run(iter([(interrupts_heard, ())]), 1)) == [True]
        assert interrupts_heard()
    finally:
        workers.close()


def test_a_proof_that_is_stopped_prints_nothing_and_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest takes an exception that leaves a thread for an error, and a user gets a traceback."""

    def attempt() -> dict[str, Any]:
        raise Stopped(signal.SIGINT)

    monkeypatch.setattr(proof_job, "_attempt_for", lambda plan: attempt)
    kept = list[Any]()
    store = SimpleNamespace(recalls=lambda name: False, recall=lambda name, make, default: kept.append(make()))
    job = ProofJob(SimpleNamespace(store=store, settings=SimpleNamespace(prove=True)))  # type: ignore[arg-type]
    with pytest.raises(Stopped):
        job.result()
    assert not kept


def test_what_loky_warns_of_replaced_workers_is_not_shown() -> None:
    texts = ["".join(re.findall(r'"([^"]*)"', call)) for call in _warned(inspect.getsource(process_executor))]
    assert len(texts) >= 1
    workers = Processes(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert list(workers.run(iter([(int, ())]), 1)) == [0]
            for text in texts:
                warnings.warn(text, UserWarning, stacklevel=1)
            with pytest.raises(UserWarning, match="another"):
                warnings.warn("another warning", UserWarning, stacklevel=1)
    finally:
        workers.close()


def _warned(source: str) -> list[str]:
    """Return the calls that warn of a worker."""
    calls = re.findall(r"warnings\.warn\((.*?)UserWarning", source, re.DOTALL)
    return [call for call in calls if "A worker" in call]
