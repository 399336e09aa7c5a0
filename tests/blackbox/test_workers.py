"""Who gets the workers, and how much at a time: a fair share of time for each audit, every batch once, whatever it costs."""

import importlib
import math
import os
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditor
from auditor.auditing import Plan, Settings, run_all
from auditor.auditing.tally import MOST_SPANS, Tally
from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.repeats import REMEMBERED, RepeatGuard
from auditor.blackbox.sampling import LEAST, PIECES, Execution, Sampler
from auditor.blackbox.task_sizing import TASK, Pace
from auditor.blackbox.workers import Processes, Share, Task, Workers
from auditor.bounds.evidence import ScoreCounts
from auditor.errors import MechanismError, WorkerLostError
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import Pair


class ByHand:
    """A pool whose tasks end when the test says so."""

    size = 2

    def __init__(self) -> None:
        self.at_work: list[tuple[str, Future[Any]]] = []

    def submit(self, function: Any, *arguments: Any) -> "Future[Any]":
        self.at_work.append((arguments[0], Future()))
        return self.at_work[-1][1]

    def stop(self) -> None:
        at_work, self.at_work = self.at_work, []
        for _, future in at_work:
            future.set_exception(WorkerLostError("stopped"))

    def close(self) -> None:
        """Nothing is left."""

    def names(self) -> str:
        return "".join(name for name, _ in self.at_work)

    def end(self, name: str) -> None:
        i = self.names().index(name)
        self.at_work.pop(i)[1].set_result(name)


def ask(workers: Workers, share: Share, name: str, times: int = 1, expected: float | None = None) -> list[Task]:
    return [workers.submit(share, Task(str, (name,), expected=expected)) for _ in range(times)]


def test_a_slow_audit_leaves_a_worker_to_the_others() -> None:
    pool = ByHand()
    workers, slow, quick = Workers(pool), Share(), Share()
    ask(workers, slow, "s", 1)
    ask(workers, quick, "q", 50)
    ask(workers, slow, "s", 50)
    assert pool.names() == "sq"
    slow.seconds = 10.0  # as when the first of its tasks was long
    for _ in range(49):
        pool.end("q")
        assert pool.names() == "sq"
    pool.end("q")
    assert pool.names() == "ss", "alone, it has all of them"


def test_quick_tasks_are_queued_at_busy_workers_and_long_ones_are_not() -> None:
    for expected, started in ((0.01, 4), (10.0, 2), (None, 2)):
        pool = ByHand()
        ask(Workers(pool), Share(), "t", 9, expected)
        assert len(pool.at_work) == started


def test_what_is_lost_for_another_s_sake_is_done_again() -> None:
    pool = ByHand()
    workers, hung, other = Workers(pool), Share(), Share()
    ask(workers, hung, "h")
    [task] = ask(workers, other, "o")
    workers.drop(hung)
    assert pool.names() == "o"
    pool.end("o")
    assert task.result() == "o"


def test_a_worker_that_is_lost_is_told_to_the_audit() -> None:
    pool = ByHand()
    [task] = ask(Workers(pool), Share(), "t")
    pool.stop()
    with pytest.raises(WorkerLostError):
        task.result()


def test_closed_workers_interrupt_whoever_waits() -> None:
    workers, share = Workers(ByHand()), Share()
    tasks = ask(workers, share, "t", 5)
    workers.close()
    for task in tasks:
        with pytest.raises(KeyboardInterrupt):
            task.result()
    with pytest.raises(KeyboardInterrupt):
        ask(workers, share, "t")


def leave() -> None:
    os._exit(3)


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def told(tasks: list[Task]) -> list[Any]:
    answers = []
    for task in tasks:
        try:
            answers.append(task.answer.result(60))
        except WorkerLostError:
            answers.append("lost")
    return answers


def test_workers_look_for_modules_where_their_caller_does_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Processes(1)
    pool.submit(nap, 0.0).result(60)
    (tmp_path / "came_later.py").write_text("def answer(): return 42")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert pool.submit(importlib.import_module("came_later").answer).result(60) == 42
    pool.stop()


def test_a_process_that_ends_is_lost_and_others_go_on() -> None:
    """Those at work beside it may be lost with it, which their audits see to; nothing else may happen to them."""
    workers, share, other = Workers(Processes(2)), Share(), Share()
    before = [workers.submit(other, Task(nap, (0.05,), expected=0.05)) for _ in range(3)]
    ends = workers.submit(share, Task(leave, ()))
    after = [workers.submit(other, Task(nap, (0.05,), expected=0.05)) for _ in range(20)]
    assert told([ends]) == ["lost"]
    answers = told(before + after)
    assert set(answers) <= {0.05, "lost"}
    assert answers.count("lost") <= 3, "as many as are given to two processes at once, less one"
    workers.close()


def test_processes_are_stopped_for_one_audit_while_others_wait_for_them() -> None:
    """New ones must not be asked for by a thread for whose end the stop waits: that would be for ever."""
    workers, hung, other = Workers(Processes(2)), Share(), Share()
    workers.submit(hung, Task(nap, (1000.0,)))
    tasks = [workers.submit(other, Task(nap, (1.0,))) for _ in range(3)]
    dropping = threading.Thread(target=workers.drop, args=(hung,), daemon=True)
    dropping.start()
    dropping.join(60)
    assert not dropping.is_alive()
    assert told(tasks) == [1.0] * 3
    workers.close()


# --- How many batches are a task ---


@given(st.integers(1, 3000), st.integers(1, 64), st.floats(1e-7, 100.0))
def test_every_batch_is_handed_out_once_in_tasks_of_one_length(batches: int, workers: int, each: float) -> None:
    pace, left = Pace(), batches
    pace.open(workers, "process")
    while left:
        many = pace.next_task(left)
        assert 1 <= many <= left
        assert many * each <= max(TASK, workers / 200) * 1.001 or many == 1
        pace.note(many, many * each)
        left -= many


def noisy(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(dataset, 1, size)


@pytest.mark.processes
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_many_short_tasks_draw_the_same_as_one_worker(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.blackbox.task_sizing.TASK", 0.002)
    many = 30 * PIECES * LEAST

    def drawn(**how: Any) -> tuple[list[Any], str]:
        sampler = Sampler(PythonSource("m", function=noisy), "a", 0, Execution(batch=LEAST, **how))
        seen = list(sampler.map(sampler.batches(Pair(0.0, 1.0), many, Phase.BOUND), lambda sample: sample.left.size))
        return seen, sampler.pace.drawn_by()

    by_two, who = drawn(workers=2, backend=backend)
    assert who == "2 processes"
    assert by_two == drawn(workers=1, isolate=False)[0]


# --- Several audits at once ---


def plan(name: str, mechanism: Any, **options: Any) -> Plan:
    domain = Pairs([(0.0, 1.0)])
    settings = Settings(20_000, execution=Execution(workers=2), **options)
    return Plan(name, PythonSource(name, function=mechanism), auditor.PureDP(1.0), domain, 1e-3, settings)


@pytest.mark.processes
def test_audits_that_share_the_workers_end_as_one_by_one() -> None:
    def refused(dataset: Any, size: int, rng: Any) -> Any:
        return np.zeros(size + 1)

    def own_entropy(dataset: float, size: int) -> Any:
        return np.full(size, dataset)

    plans = [plan("a", noisy), plan("b", refused), plan("c", own_entropy), plan("d", noisy, method="sequential")]

    def told(result: Any) -> dict[str, Any]:
        return {key: value for key, value in result.to_dict().items() if key not in {"seconds", "drawn_by"}}

    together = [told(ended.result()) for ended in run_all(plans)]
    assert together == [told(ended.result()) for one in plans for ended in run_all([one])]
    assert [result["name"] for result in together] == ["a", "b", "c", "d"]


def test_a_mechanism_that_is_refused_costs_the_others_nothing() -> None:
    def short(dataset: Any, size: int, rng: Any) -> Any:
        return np.zeros(size - 1)

    results = [ended.result() for ended in run_all([plan("short", short), plan("sound", noisy)])]
    assert [str(result.verdict) for result in results] == ["inconclusive", "no_violation_found"]


# --- What grows with the number of outputs: nothing ---


def test_a_tally_of_many_batches_is_as_large_as_one_of_few_and_adds_up() -> None:
    tally = Tally()
    for i in range(10_000):
        tally.add(ScoreCounts((i, 1), (0, 2)), 0, 7)
        assert len(tally.spans) <= MOST_SPANS
    assert tally.counts == ScoreCounts((sum(range(10_000)), 10_000), (0, 20_000))
    assert (tally.batches, tally.outputs) == (10_000, 70_000)
    half = len(tally.spans) // 2 * tally.width
    assert sum(span.left[1] for span in tally.spans[: len(tally.spans) // 2]) == half


def test_the_guard_remembers_so_much_and_goes_on_from_its_state() -> None:
    """A mechanism that repeats itself is found by the guard that was stored and restored as by the one that was not."""
    rng, pair = np.random.default_rng(0), Pair(0, 1)
    keys = [rng.integers(0, 2**63, (2, 64)).astype(np.uint64) for _ in range(REMEMBERED + 50)]
    one, early = RepeatGuard(), RepeatGuard()
    for i, (left, right) in enumerate(keys):
        one.look(pair, left, right, f"batch {i}")
        if i < REMEMBERED:
            early.look(pair, left, right, f"batch {i}")
    assert len(one.seen) == len(early.seen)
    early.restore(one.state())
    told = []
    for guard in (one, early):
        with pytest.raises(MechanismError) as caught:
            guard.look(pair, *keys[3], "the next")
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "outputs of the batch 3" in told[0]


def _laplace(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data + rng.laplace(size=size)


def test_joblib_is_used_beside_an_audit() -> None:
    """Were the processes joblib's own, its Parallel would take them for its, and fail, in a notebook for instance."""
    from joblib import Parallel, delayed

    for _ in range(2):
        found = auditor.audit(_laplace, auditor.PureDP(1.0), [(0, 1)], samples=20_000, workers=2, backend="loky")
        assert found.verdict == "no_violation_found"
        assert Parallel(n_jobs=2)(delayed(math.sqrt)(n) for n in (1, 4)) == [1, 2]
