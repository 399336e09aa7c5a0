"""What the programs of all packages share: each answers requests to the accountants that it has, a line of JSON for each.

An accountant is a function of its parameters. It returns the number that its package states, and the process that this number
is about by the package's documentation: the keys of ``auditor exact``, or a list of such processes, which are composed. If the
package also states where (the ε of a δ), that is third. What the accountant raises is its answer. All requests are answered
by one process, so that what a package caches stays.
"""

import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from stand_ins import load_submodules_only, stand_in_for

__all__ = [
    "Process",
    "Statement",
    "fixed_size",
    "gaussian",
    "laplace",
    "load_submodules_only",
    "poisson",
    "serve",
    "stand_in_for",
]

Process = dict[str, Any]
Statement = tuple[float, Process | list[Process]] | tuple[float, Process | list[Process], float]


def serve(*accountants: Callable[..., Statement]) -> None:
    """Answer requests to the accountant named on the command line, until its input ends."""
    states = {accountant.__name__: accountant for accountant in accountants}[sys.argv[1]]
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(_answer(states, json.loads(line)["parameters"]), allow_nan=False) + "\n")
        answers.flush()


def _answer(states: Callable[..., Statement], parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        stated, process, *where = states(**parameters)
        return {"stated": _plain(stated), "process": process, **({"at": _plain(where[0])} if where else {})}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _plain(number: Any) -> float | str:
    number = float(number)
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def gaussian(scale: float, **more: Any) -> Process:
    return {"noise": "gaussian", "scale": float(scale), **more}


def laplace(scale: float, **more: Any) -> Process:
    return {"noise": "laplace", "scale": float(scale), **more}


def poisson(rate: float) -> Process:
    return {"sampling": "poisson", "rate": float(rate)} if rate < 1 else {}


def fixed_size(rate: float) -> Process:
    return {"sampling": "fixed-size", "rate": float(rate)}
