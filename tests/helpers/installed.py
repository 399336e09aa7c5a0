"""Third-party libraries for the tests of their adapters, from this environment or one of `make libraries` and `make training`."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENTS = Path(__file__).parents[2] / ".libraries"


# A short audit, which raises a false alarm once in 10⁹ runs.
QUICK: dict[str, Any] = {
    "samples": 6000,
    "search": 3000,
    "workers": 1,
    "isolate": False,
    "seed": 1,
    "confidence": 1 - 1e-9,
}


def library(module: str, environment: str) -> Any:
    """Import a module, if necessary from the environment of that name; skip the tests if neither has it.

    That environment's packages come last on the path, so none of them shadows one that is installed here.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        sys.path += map(str, (ENVIRONMENTS / environment).glob("lib/python3.*/site-packages"))
        return pytest.importorskip(module)
