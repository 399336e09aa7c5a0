"""Python mechanisms that crash or hang give outputs, with any number of workers, in processes or threads, and leave no process."""

import contextlib
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from misbehaving import (
    crashes,
    exits,
    exits_on_the_left,
    hangs,
    holds_the_interpreter,
    laplace,
    laplace_one,
    mixed,
    query_that_exits,
    query_that_hangs,
    raising,
    shares_a_state,
)
from process_table import processes
from test_command import gone

import auditor
from auditor.auditing.check import draw_once
from auditor.auditing.flow import run
from auditor.auditing.plan import Plan, Settings
from auditor.blackbox.batches import Phase
from auditor.blackbox.host import Hosted, isolated, reserve_host
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.process import ProcessEnded, close_idle
from auditor.blackbox.sample import Sample
from auditor.blackbox.sampling import Execution, Sampler
from auditor.errors import MechanismError
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair
from auditor.verdict import Verdict

PAIR = Pair(0, 1)
HOST = "auditor.blackbox.host"
# Each number of workers and each backend occurs once.
EVERYWHERE = [("loky", 2), ("threading", 1)]


def hosts() -> list[int]:
    """Return the processes that this one, or one of its workers, started to run mechanisms."""
    listed = list(processes())
    parents = {number: parent for number, parent, _ in listed}

    def descends(process: int) -> bool:
        return process == os.getpid() or (process in parents and descends(parents[process]))

    return [number for number, _, command in listed if HOST in command and descends(number)]


def drawn(sample: Sample) -> list[Any]:
    return [
        (
            column.name,
            column.numbers.tolist(),
            None if column.codes is None else [column.atoms[c] for c in column.codes],
        )
        for side in (sample.left, sample.right)
        for column in sorted(side.columns, key=lambda c: c.name)
    ]


# --- The same outputs as in the auditor's own process ---


@pytest.mark.parametrize("function", [laplace, laplace_one, mixed, raising])
@pytest.mark.parametrize("phase", [Phase.SELECTION, Phase.BOUND])
def test_isolation_changes_no_output(function: Any, phase: Phase) -> None:
    def sampled(isolate: bool) -> list[Any]:
        sampler = Sampler(
            PythonSource("m", function=function), "a", 0, Execution(workers=1, batch=100, isolate=isolate)
        )
        return list(sampler.map(sampler.batches(PAIR, 500, phase), drawn))

    assert sampled(True) == sampled(False)


def test_what_a_mechanism_prints_and_reads_is_no_part_of_the_conversation() -> None:
    def chatty(value: float, rng: Any) -> str:
        print("answer", flush=True)
        os.write(1, b"more")
        return sys.stdin.read()

    assert isolated(PythonSource("m", function=chatty), 5.0).call_once(PAIR, "left", np.random.default_rng(0)) == ""


def test_a_mechanism_that_cannot_travel_is_told_with_the_way_out() -> None:
    import threading

    lock = threading.Lock()
    with pytest.raises(MechanismError, match=r"cannot be sent to a process of its own .* set `isolate` to false"):
        isolated(PythonSource("m", function=lambda value, rng: lock), None)


def test_outputs_that_cannot_travel_are_told_in_words(tmp_path: Path) -> None:
    """The auditor's process does not know the mechanism's module."""
    (tmp_path / "own.py").write_text(
        "import dataclasses\n@dataclasses.dataclass\nclass Own:\n    a: float\n"
        "class OwnError(Exception): pass\n"
        "def f(value, rng): return Own(1.5)\n"
        "def g(value, rng): raise OwnError('no')\n"
    )
    shown = [
        isolated(PythonSource(f"own.py:{name}", search_path=(str(tmp_path),)), None).call_once(
            PAIR, "left", np.random.default_rng(0)
        )
        for name in "fg"
    ]
    assert shown[0] == "Own(a=1.5)"
    assert str(shown[1]) == "OwnError: no"


@pytest.mark.parametrize("holds", [True, False])
def test_a_mechanism_goes_on_where_it_was_though_others_draw_meanwhile(holds: bool) -> None:
    """In another process its generator would start again, which it does here if its process is not reserved."""
    close_idle("host")
    source, labels, rng = PythonSource("m", function=shares_a_state), np.ones(5, bool), np.random.default_rng(0)
    with reserve_host(source) if holds else contextlib.nullcontext():
        drawer = isolated(source, None)
        first = drawer.draw(PAIR, labels, rng)
        other = isolated(PythonSource("m", function=laplace_one), None)
        assert isinstance(other, Hosted)
        meanwhile = other.pieces(PAIR, labels, rng, None)
        next(meanwhile)
        then = drawer.draw(PAIR, labels, rng)
        meanwhile.close()
    assert (drawn(first) != drawn(then)) is holds


# --- Failures of the process are outputs ---


def test_one_by_one_each_output_is_a_value_or_the_end_of_its_own_process() -> None:
    labels = np.array([True, False, False, True, False])
    sample = isolated(PythonSource("m", function=exits_on_the_left), None).draw(PAIR, labels, np.random.default_rng(0))
    assert sample.left.failure() == "raises ProcessEnded: 'ended with exit status 3'"
    assert len(set(sample.right.column("output").numbers.tolist())) == 3, "no stream is drawn from twice"
    assert sample.failures == 2


def test_a_batch_whose_process_ends_is_this_failure() -> None:
    drawer, labels = isolated(PythonSource("m", function=exits), None), np.array([True, False])
    assert isinstance(drawer.batch(PAIR, labels, np.random.default_rng(0)), ProcessEnded)


@pytest.mark.parametrize(
    ("function", "message", "backend", "workers"),
    [
        (exits, "ended with exit status 0; standard error ends: a reason", "loky", 2),
        (crashes, "killed by SIGSEGV", "threading", 1),
        (hangs, "no answer within the time limit", "threading", 1),
        (holds_the_interpreter, "no answer within the time limit", "loky", 2),
    ],
)
def test_a_mechanism_that_always_fails_is_inconclusive_with_its_error(
    function: Any, message: str, backend: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.auditing.first_look.ALWAYS", 1)
    before = hosts()
    result = auditor.audit(
        function, auditor.PureDP(1.0), [(0, 1)], samples=500, workers=workers, backend=backend, timeout=0.2, batch=100
    )
    assert result.verdict == "inconclusive"
    assert result.stop_reason == f"the mechanism failed on every call: {message}"
    assert set(hosts()) <= set(before), "nothing is left behind"


@pytest.mark.parametrize(("backend", "workers"), EVERYWHERE)
def test_what_a_mechanism_started_ends_with_its_process(
    backend: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.auditing.first_look.ALWAYS", 1)

    def leaves_a_child(value: float, rng: np.random.Generator) -> None:
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass", str(tmp_path)])
        os._exit(3)

    result = auditor.audit(leaves_a_child, auditor.PureDP(1.0), [(0, 1)], samples=100, workers=workers, backend=backend)
    assert result.verdict == "inconclusive"
    assert gone(tmp_path)


def test_without_isolation_a_lost_worker_is_no_answer() -> None:
    result = auditor.audit(exits, auditor.PureDP(1.0), [(0, 1)], samples=500, workers=2, isolate=False)
    assert result.verdict == "inconclusive"
    assert "a worker process ended" in result.stop_reason


def test_checking_a_mechanism_that_ends_its_process_does_not_end_the_auditor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.auditing.first_look.ALWAYS", 1)
    source = PythonSource("m", function=crashes)
    plan = Plan("a", source, auditor.PureDP(1.0), Pairs([(0, 1)]), 0.001, Settings(execution=Execution(workers=1)))
    left = draw_once(plan).left
    assert isinstance(left, ProcessEnded)
    assert run(plan).verdict is Verdict.INCONCLUSIVE


# --- Imports and queries that end their process ---


@pytest.mark.parametrize(
    ("statement", "message", "timeout", "backend", "workers"),
    [
        (
            "import os, sys; print('a reason', file=sys.stderr, flush=True); os._exit(3)",
            "ended with exit status 3; .* a reason",
            *(60.0, "loky", 2),
        ),
        ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV", 60.0, "threading", 1),
        ("while True: pass", "no answer within the time limit", 0.2, "threading", 1),
    ],
)
def test_an_import_that_ends_or_holds_its_process_is_told(
    statement: str,
    message: str,
    timeout: float,
    backend: str,
    workers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("auditor.blackbox.host.IMPORT_SECONDS", 0.0)
    (tmp_path / "faulty.py").write_text(f"{statement}\ndef f(value, rng): ...\n", encoding="utf-8")
    source, execution = (
        PythonSource("faulty.py:f", search_path=(str(tmp_path),)),
        Execution(backend, workers, timeout=timeout),
    )
    plan = Plan("a", source, auditor.PureDP(1.0), Pairs([(0, 1)]), 0.001, Settings(execution=execution))
    before = hosts()
    for use in (Plan.drawer, run, draw_once):
        with pytest.raises(MechanismError, match=rf'"faulty.py:f": importing it failed, {message}'):
            use(plan)
    assert run(plan, refuse=True).verdict is Verdict.INCONCLUSIVE
    assert set(hosts()) <= set(before), "nothing is left behind"


@pytest.mark.parametrize(
    ("function", "message"),
    [(query_that_exits, "ended with exit status 3"), (query_that_hangs, "no answer within the time limit")],
)
def test_a_query_that_ends_or_holds_its_process_is_told_with_its_data(function: Any, message: str) -> None:
    domain = auditor.Records((0.0, 1.0), size=(0, 3))
    with pytest.raises(MechanismError, match=rf"was asked about .*'left': .*: {message}"):
        auditor.audit(function, auditor.Sensitivity(1), domain, samples=1000, timeout=0.5)


def test_a_process_that_is_used_again_finds_modules_where_they_are_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditor.audit(laplace, auditor.PureDP(2.0), [(0, 1)], samples=200, workers=1, shrink=False)
    (tmp_path / "in_a_new_folder.py").write_text(
        "def coin(bit, rng):\n    return rng.random() < 0.5\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("in_a_new_folder")
    result = auditor.audit(module.coin, auditor.PureDP(1.0), [(0, 1)], samples=200, workers=1)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND


class HidesItsClass:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")


@pytest.mark.parametrize("isolate", [True, False])
def test_what_cannot_travel_and_what_hides_its_class_end_no_process(isolate: bool) -> None:
    def bits(value: float, rng: np.random.Generator) -> Any:
        return memoryview(np.array([rng.laplace(value)]))

    def hides(value: float, rng: np.random.Generator) -> Any:
        return HidesItsClass()

    options: dict[str, Any] = {"samples": 400, "workers": 1, "isolate": isolate, "shrink": False}
    assert auditor.audit(bits, auditor.PureDP(2.0), [(0.0, 1.0)], **options).verdict is Verdict.NO_VIOLATION_FOUND
    with pytest.raises(MechanismError, match="reading an output raised RuntimeError: no class"):
        auditor.audit(hides, auditor.PureDP(2.0), [(0.0, 1.0)], **options)
