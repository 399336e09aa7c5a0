"""Several audits at once, which share the workers: each in a thread of its own. So a slow one does not hold the others back.

The draws of an audit follow from its name and seed. So the results are those of one audit after the other.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from auditor.auditing.outcome import Ended
from auditor.auditing.plan import Listener, Plan
from auditor.blackbox.process import kill_all
from auditor.blackbox.workers import close_all, processes

# Audits under way, each of which keeps in memory what it learns from.
AT_ONCE = 6


def run_concurrently(
    plans: Sequence[Plan], run: Callable[[Plan, Listener], Ended], listener: Listener
) -> Iterator[Ended]:
    """Yield the result of ``run`` for each plan, in the order of the plans. Raises what it raises."""
    if len(plans) == 1 or any(processes(plan.settings.execution.workers) == 1 for plan in plans):
        yield from (run(plan, listener) for plan in plans)
        return
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Ended | BaseException]] = queue.SimpleQueue()
    lock, under_way, part, since = threading.Lock(), 0, 0.0, time.monotonic()
    for i in range(len(plans)):
        todo.put(i)

    def passed(begun: int) -> float:
        """Return the seconds of an audit that has had an equal part of every moment; now ``begun`` more are under way."""
        nonlocal under_way, part, since
        with lock:
            part += (time.monotonic() - since) / max(1, under_way)
            since, under_way = time.monotonic(), under_way + begun
            return part

    def work() -> None:
        while not todo.empty():
            i, began = todo.get(), passed(begun=1)
            try:
                ended = run(plans[i], listener)
                seconds = passed(begun=-1) - began
                done.put((i, replace(ended, provenance=replace(ended.provenance, seconds=seconds))))
            except BaseException as error:  # it is raised where results are waited for
                done.put((i, error))

    for _ in range(min(AT_ONCE, len(plans))):
        threading.Thread(target=work, daemon=True).start()
    known = dict[int, Ended]()
    for i in range(len(plans)):
        while i not in known:
            j, result = done.get()
            if isinstance(result, BaseException):
                raise result
            known[j] = result
        yield known.pop(i)


def stop_all() -> None:
    """End all workers and processes at once, even if they are at work."""
    close_all()
    kill_all()
