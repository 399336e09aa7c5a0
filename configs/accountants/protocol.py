"""What the programs of all packages share: each answers requests to the accountants that it has, a line of JSON for each.

An accountant is a function of its parameters. It returns the number that its package states, and the process that this number
is about by the package's documentation: the keys of ``auditor exact``, or a list of such processes, which are composed. If the
package also states where (the ε of a δ), that is third. What the accountant raises is its answer. All requests are answered
by one process, so that what a package caches stays.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

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


# --- Packages that would load a framework which their accounting does not use ---


def load_submodules_only(*packages: str) -> None:
    """Let the modules of packages be imported without the packages' own ``__init__``."""
    for name in packages:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.submodule_search_locations is not None
        package = types.ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[name] = package


class _StandIn(types.ModuleType):
    """A module of which each name is an empty class."""

    __path__: ClassVar[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


class _StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages: tuple[str, ...]) -> None:
        self.packages = packages

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        known = any(f"{fullname}.".startswith(f"{name}.") for name in self.packages)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def stand_in_for(*packages: str) -> None:
    """Let packages be imported that are not installed, by modules of which only functions without them are used."""
    sys.meta_path.insert(0, _StandInFinder(packages))
