"""Workers on this machine and the sizes of their tasks: every batch once, in order, whatever it costs."""

import importlib
import math
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditor
from auditor.auditing.parallel import run_all
from auditor.auditing.plan import Plan, Settings
from auditor.auditing.tally import MOST_SPANS, Tally
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.repeats import REMEMBERED, RepeatGuard
from auditor.blackbox.sampling import LEAST, PIECES, TASK, Execution, Pace, Sampler
from auditor.blackbox.workers import Processes, Task, Threads, Workers
from auditor.bounds.evidence import ScoreCounts
from auditor.errors import MechanismError, WorkerLostError
from auditor.foreign_code import Stopped
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair


def leave_or_nap(leaves: bool) -> float:
    return leave() if leaves else nap(0.05)


def leave() -> float:
    os._exit(3)


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@pytest.mark.parametrize("kind", ["threading", "loky"])
def test_results_are_in_the_order_of_their_tasks_and_tasks_are_taken_as_they_are_needed(kind: str) -> None:
    taken = list[float]()

    def tasks() -> Iterator[Task]:
        for seconds in (0.2, 0.0, 0.1, 0.0, 0.0, 0.0):
            taken.append(seconds)
            yield nap, (seconds,)

    workers = made(kind)
    results = workers.run(tasks(), 3)
    assert (next(results), len(taken)) == (0.2, 3)
    assert (next(results), len(taken)) == (0.0, 4)
    assert list(results) == [0.1, 0.0, 0.0, 0.0]
    workers.close()


@pytest.mark.parametrize("kind", ["threading", "loky"])
def test_closed_workers_interrupt_whoever_waits(kind: str) -> None:
    workers, caught = made(kind), list[BaseException]()

    def wait() -> None:
        try:
            list(workers.run(iter([(nap, (0.6,))] * 100), 6))
        except BaseException as error:
            caught.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    time.sleep(0.5)
    workers.close()
    waiting.join(60)
    assert [type(error) for error in caught] == [Stopped]
    with pytest.raises(Stopped):
        list(workers.run(iter([(nap, (0.0,))]), 1))


def made(kind: str) -> Workers:
    return Threads(2) if kind == "threading" else Processes(2)


def test_workers_look_for_modules_where_their_caller_does_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Processes(1)
    assert list(workers.run(iter([(nap, (0.0,))]), 1)) == [0.0]
    (tmp_path / "came_later.py").write_text("def answer(): return 42")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(workers.run(iter([(importlib.import_module("came_later").answer, ())]), 1)) == [42]
    workers.close()


def test_a_process_that_ends_is_told_and_new_ones_start() -> None:
    workers = Processes(2)
    with pytest.raises(WorkerLostError):
        list(workers.run(((leave_or_nap, (i == 5,)) for i in range(20)), 6))
    assert list(workers.run(iter([(nap, (0.05,))] * 5), 6)) == [0.05] * 5
    workers.close()


def test_a_task_that_nobody_waits_for_does_not_keep_its_worker() -> None:
    workers = Processes(2)
    results = workers.run(iter([(nap, (0.0,)), (nap, (1000.0,)), (nap, (1000.0,))]), 3)
    assert next(results) == 0.0
    results.close()
    assert list(workers.run(iter([(nap, (0.05,))] * 5), 6)) == [0.05] * 5
    workers.close()


# --- How many batches make a task ---


@given(st.integers(1, 3000), st.integers(1, 64), st.floats(1e-7, 100.0))
def test_every_batch_is_handed_out_once_in_tasks_of_one_length(batches: int, workers: int, each: float) -> None:
    pace, left = Pace(workers, "process"), batches
    while left:
        many = pace.next_task(left)
        assert 1 <= many <= left
        assert many * each <= max(TASK, workers / 200) * 1.001 or many == 1
        pace.note(many, many * each)
        left -= many


def noisy(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(dataset, 1, size)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_many_short_tasks_draw_the_same_as_one_worker(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.blackbox.sampling.TASK", 0.002)
    many = 4 * PIECES * LEAST

    def drawn(**how: Any) -> tuple[list[Any], str]:
        sampler = Sampler(PythonSource("m", function=noisy), "a", 0, Execution(batch=LEAST, **how))
        sizes = list(sampler.map(sampler.batches(Pair(0.0, 1.0), many, Phase.BOUND), lambda sample: sample.left.size))
        return sizes, sampler.pace.drawn_by()

    by_two, who = drawn(workers=2, backend=backend)
    assert who == "2 processes"
    assert by_two == drawn(workers=1, isolate=False)[0]


# --- Several audits at once ---


def plan(name: str, mechanism: Any, **options: Any) -> Plan:
    domain = Pairs([(0.0, 1.0)])
    settings = Settings(4_000, execution=Execution(workers=2), **options)
    return Plan(name, PythonSource(name, function=mechanism), auditor.PureDP(1.0), domain, 1e-3, settings)


def test_audits_that_share_the_workers_end_as_one_by_one() -> None:
    def refused(dataset: Any, size: int, rng: Any) -> Any:
        return np.zeros(size + 1)

    def own_entropy(dataset: float, size: int) -> Any:
        return np.full(size, dataset)

    plans = [plan("a", noisy), plan("b", refused), plan("c", own_entropy), plan("d", noisy)]

    def told(result: Any) -> dict[str, Any]:
        return {key: value for key, value in result.to_dict().items() if key not in {"seconds", "drawn_by"}}

    together = [told(ended.result()) for ended in run_all(plans)]
    assert together == [told(ended.result()) for one in plans for ended in run_all([one])]
    assert [result["name"] for result in together] == ["a", "b", "c", "d"]


# --- Nothing grows with the number of outputs ---


def test_a_tally_of_many_batches_is_as_large_as_one_of_few_and_adds_up() -> None:
    tally = Tally()
    for i in range(10_000):
        tally.add([(7, ScoreCounts((i, 1), (0, 2)))], 0, False)
        assert len(tally.spans) <= MOST_SPANS
    assert tally.counts == ScoreCounts((sum(range(10_000)), 10_000), (0, 20_000))
    assert (tally.batches, tally.outputs) == (10_000, 70_000)
    half = len(tally.spans) // 2 * tally.width
    assert sum(span.left[1] for span in tally.spans[: len(tally.spans) // 2]) == half


def test_the_guard_remembers_so_much_and_goes_on_from_its_state() -> None:
    """A guard that was stored and restored detects a mechanism that repeats itself, as does one that was not."""
    rng = np.random.default_rng(0)
    keys = [rng.integers(0, 2**63, (2, 64)).astype(np.uint64) for _ in range(REMEMBERED + 50)]
    one, early = RepeatGuard(), RepeatGuard()
    for i, (left, right) in enumerate(keys):
        one.look(left, right, f"batch {i}")
        if i < REMEMBERED:
            early.look(left, right, f"batch {i}")
    assert len(one.seen) == len(early.seen)
    early.restore(one.state())
    errors = []
    for guard in (one, early):
        with pytest.raises(MechanismError) as caught:
            guard.look(*keys[3], "the next")
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "outputs of the batch 3" in errors[0]


def _laplace(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data + rng.laplace(size=size)


def test_joblib_is_used_beside_an_audit() -> None:
    """If the processes belonged to joblib, joblib.Parallel, for instance in a notebook, would take them over and fail."""
    from joblib import Parallel, delayed

    for _ in range(2):
        result = auditor.audit(_laplace, auditor.PureDP(1.0), [(0, 1)], samples=2_000, workers=2, backend="loky")
        assert result.verdict == "no_violation_found"
        assert Parallel(n_jobs=2)(delayed(math.sqrt)(n) for n in (1, 4)) == [1, 2]
