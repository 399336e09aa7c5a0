"""All paths of a mechanism on one data set, which may be of symbols.

The function is run again and again, each time with the decisions that are to be taken. Each path is run twice, and no run may use
randomness that is not the generator's, so that what differs from run to run is noticed. At the end the function itself is run on
numbers, and must return what the paths say.
"""

import copy
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.proofs.form import CURRENT, Form, NotTracedError
from auditor.proofs.run import Names, Path, TracedRun
from auditor.proofs.symbols import SymbolicGenerator, Symbols

MOST_PATHS = 4096
Call = Callable[[Any, Any], Any]  # (data set, generator) -> output, on fresh copies


@dataclass(frozen=True, slots=True)
class Trace:
    """All paths of a mechanism on one data set."""

    names: Names
    paths: tuple[Path, ...]


def input_symbols(cells: int, scalar: bool = False) -> Any:
    """Return a data set of symbols."""
    made = np.empty(cells, object)
    made[:] = [Form.symbol(f"x{cell}") for cell in range(cells)]
    return made.view(Symbols)


def trace(call: Call, dataset: Callable[[], Any], names: Names) -> Trace:
    """Follow every path. Raises NotTracedError that says what cannot be followed, and where."""
    paths: list[Path] = []
    waiting: list[tuple[int, ...]] = [()]
    with _no_other_randomness():
        while waiting:
            prefix = waiting.pop()
            try:
                run, path = _follow(call, dataset, names, prefix)
                _, again = _follow(call, dataset, names, prefix)
            except NotTracedError:
                if time.monotonic() <= names.deadline:
                    raise
                raise NotTracedError(f"the time for a proof is up, after {len(paths):,} paths") from None
            if path.key() != again.key():
                raise NotTracedError(
                    "two runs with the same draws differ: there is randomness or a memory beside the generator"
                )
            paths.append(path)
            for at in range(len(prefix), len(run.taken)):
                waiting += [(*run.taken[:at], other) for other in range(1, run.options[at])]
            if len(paths) + len(waiting) > MOST_PATHS:
                raise NotTracedError(f"there are more than {MOST_PATHS:,} paths")
    return Trace(names, tuple(paths))


def _follow(call: Call, dataset: Callable[[], Any], names: Names, prefix: tuple[int, ...]) -> tuple[TracedRun, Path]:
    run = TracedRun(names, prefix)
    token = CURRENT.set(run)
    try:
        with np.errstate(all="ignore"):  # NaN among numbers is no fault of symbols
            path = run.finish(call(dataset(), SymbolicGenerator(run)))
    except NotTracedError as error:
        raise NotTracedError(run.reason or str(error)) from None
    except Exception as error:
        raise NotTracedError(run.reason or f"a run ended with {type(error).__name__}: {error}") from None
    finally:
        CURRENT.reset(token)
    if run.reason:  # an error that the mechanism caught itself
        raise NotTracedError(run.reason)
    return run, path


_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def _no_other_randomness() -> Iterator[None]:
    """Refuse entropy of the machine to the runs, and raise where Python's or NumPy's global generator was used."""

    def guarded(size: int, given: Callable[[int], bytes]) -> bytes:
        run = CURRENT.get(None)
        if run is not None:
            raise run.fail("randomness is taken that is not the generator's")
        return given(size)

    with _ONE_AT_A_TIME:
        kept = os.urandom, random._urandom  # type: ignore[attr-defined]
        os.urandom = lambda size, /: guarded(size, kept[0])
        random._urandom = lambda size, /: guarded(size, kept[1])  # type: ignore[attr-defined]
        before = _global_states()
        try:
            yield
        finally:
            os.urandom, random._urandom = kept  # type: ignore[attr-defined]
        if _global_states() != before:
            raise NotTracedError("randomness is taken from a global generator")


def _global_states() -> tuple[str, str]:
    return repr(random.getstate()), repr(np.random.get_state())  # noqa: NPY002 - what a mechanism may have used


def memory(function: Any) -> Any:
    """Return a copy of what a function could remember: the plain values it refers to by name, in its module, closure or object."""
    seen: dict[str, Any] = {}
    inner = getattr(function, "func", function)
    inner = getattr(inner, "__func__", inner)
    code = getattr(inner, "__code__", None) or getattr(getattr(inner, "__call__", None), "__code__", None)  # noqa: B004
    if code is not None:
        module = getattr(inner, "__globals__", {})
        seen |= {name: module[name] for name in code.co_names if name in module}
        cells = zip(code.co_freevars, getattr(inner, "__closure__", None) or (), strict=False)
        seen |= {f"{name} of the closure": cell.cell_contents for name, cell in cells}
    seen |= {f"default {at}": value for at, value in enumerate(getattr(inner, "__defaults__", None) or ())}
    for owner in (inner, getattr(function, "__self__", None)):
        seen |= {
            f"attribute {name}": value for name, value in getattr(owner, "__dict__", {}).items() if name[:2] != "__"
        }
    return {name: copy.deepcopy(value) for name, value in seen.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple | set):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, bool | int | float | str | bytes | np.ndarray | np.generic)


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """Return the name of something a function remembers of its runs; None where there is none."""
    return next((name for name in {**before, **after} if repr(before.get(name)) != repr(after.get(name))), None)
