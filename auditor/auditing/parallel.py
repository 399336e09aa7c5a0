"""Several audits at a time, on the same workers."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from auditor.auditing.flow import carry_out, no_listener
from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.plan import Listener, Plan
from auditor.blackbox.process import kill_all
from auditor.blackbox.workers import close_all, processes
from auditor.errors import AuditorError, MechanismError
from auditor.foreign_code import Stopped, describe_error, refused_by_machine


def run_all(plans: Sequence[Plan], listener: Listener = no_listener) -> Iterator[Audit]:
    """Carry out plans, several at a time, and yield their results in order. An audit of a failed mechanism is inconclusive."""
    for plan in plans:
        plan.settings.execution.reach(plan.source)  # before any other audit takes its time
    return run_concurrently(plans, _apart, listener)


def _apart(plan: Plan, listener: Listener) -> Audit:
    """Carry out one plan of several. After a failure the audit is inconclusive, and the others go on."""
    try:
        return carry_out(plan, listener, refuse=True)
    except AuditorError as error:
        if not isinstance(error, MechanismError):
            raise
        why = str(error)
    except Stopped:
        raise
    except BaseException as error:  # raised by a domain that a user wrote, or by the auditor itself
        if refused_by_machine(error):
            raise
        why = f"the audit ended in an error, {describe_error(error)}; please report it, unless the error is of your own code"
    plan.store.end(why)
    return Audit.without_answer(Ledger(plan, listener), why).close()


def run_concurrently(
    plans: Sequence[Plan], run: Callable[[Plan, Listener], Audit], listener: Listener
) -> Iterator[Audit]:
    """Yield the result of ``run`` for each plan, in the order of the plans. Raises what it raises.

    Each audit has a thread of its own, and all share the workers. So a slow audit does not hold the others back. The
    draws of an audit follow from its name and seed, so the results are the same as one after the other.
    """
    workers = [processes(plan.settings.execution.workers) for plan in plans]
    if len(plans) < 2 or 1 in workers:
        yield from (run(plan, listener) for plan in plans)
        return
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Audit | BaseException]] = queue.SimpleQueue()
    lock, under_way, part, since = threading.Lock(), 0, 0.0, time.monotonic()
    for i in range(len(plans)):
        todo.put(i)

    def passed(begun: int) -> float:
        """Return the time so far, each second divided by the audits under way then. Enter ``begun`` more audits."""
        nonlocal under_way, part, since
        with lock:
            part += (time.monotonic() - since) / max(1, under_way)
            since, under_way = time.monotonic(), under_way + begun
            return part

    def work() -> None:
        while not todo.empty():
            i, began = todo.get(), passed(begun=1)
            try:
                audit = run(plans[i], listener)
                done.put((i, audit.with_seconds(passed(begun=-1) - began)))
            except BaseException as error:  # raised below, where results are awaited
                done.put((i, error))

    # More audits than workers would only delay one another, and each keeps outputs to learn from in memory.
    for _ in range(min(6, max(workers), len(plans))):
        threading.Thread(target=work, daemon=True).start()
    early = dict[int, Audit]()  # before others whose turn comes first
    for i in range(len(plans)):
        while i not in early:
            j, result = done.get()
            if isinstance(result, BaseException):
                raise result
            early[j] = result
        yield early.pop(i)


def stop_all() -> None:
    """End all workers and processes at once, even if they are at work."""
    close_all()
    kill_all()
