"""localprivacy-martaajonees 1.0.2: a client's report of one value; the hash functions are public, and the same for all clients."""

import functools
import sys
import types

import pandas as pd
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("matplotlib", "tabulate", "sklearn", "scipy", "seaborn", "colorama", "optuna", "sympy", "rich")
load_submodules_only(
    "localPrivacy_martaajonees",
    "localPrivacy_martaajonees.count_mean",
    "localPrivacy_martaajonees.hadamard_count_mean",
    "localPrivacy_martaajonees.utils",
)
# The package imports itself from a folder of its repository.
sys.modules["src"] = types.ModuleType("src")
sys.modules["src"].__path__ = [
    str(path).rsplit("/", 1)[0] for path in sys.modules["localPrivacy_martaajonees"].__path__
]
VALUES = pd.DataFrame({"value": ["a", "b", "c", "d"]})


@functools.cache
def _client(module, name, epsilon):
    # All primes below ten million are listed for one of them, which takes seconds.
    module_of = __import__(f"localPrivacy_martaajonees.{module}", fromlist=[name])
    module_of.primerange = lambda low, high: [1_000_003]
    kind = getattr(module_of, name)
    return kind(epsilon, 2, 8, VALUES)


def report(data, module, name, epsilon):
    return [part.tolist() if hasattr(part, "tolist") else part for part in _client(module, name, epsilon).client(data)]
