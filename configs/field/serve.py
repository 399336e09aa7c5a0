"""Answer the auditor's requests with a function of a package's wrapper: ``serve.py PACKAGE FUNCTION``.

A wrapper is a module of functions of a data set and parameters. Each returns one output, as its package draws it. The two
generators that most packages share, Python's and NumPy's, are seeded for each request, so that a row can be made again.
"""

import copy
import importlib
import importlib.util
import random
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PACKAGE, FUNCTION = sys.argv[1:3]
# The folder of this program would offer the packages' folders as packages.
sys.path[:1] = [str(HERE / PACKAGE), str(HERE.parent / "libraries"), str(HERE.parent / "accountants")]
warnings.simplefilter("ignore")

from protocol import answer  # noqa: E402

release = getattr(importlib.import_module("wrapper"), FUNCTION)


def seed(number: int) -> None:
    """Seed what most packages draw from."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % 2**32)


# A package may change what it is given, and the next output must not depend on that.
def draw(parameters: dict[str, Any], dataset: Any) -> Any:
    """Return one output on a data set."""
    return release(copy.deepcopy(dataset), **parameters)


answer(draw, seed)
