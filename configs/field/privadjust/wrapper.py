"""privadjust 1.0.13: a client's report of one value; the hash functions are public, and the same for all clients."""

import functools

import pandas as pd
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("matplotlib", "tabulate", "sklearn", "scipy", "seaborn", "colorama", "optuna", "sympy", "rich")
load_submodules_only("privadjust", "privadjust.count_mean", "privadjust.hadamard_count_mean", "privadjust.utils")
VALUES = pd.DataFrame({"value": ["a", "b", "c", "d"]})


@functools.cache
def _client(module, name, epsilon):
    # All primes below ten million are listed for one of them, which takes seconds.
    module_of = __import__(f"privadjust.{module}", fromlist=[name])
    module_of.primerange = lambda low, high: [1_000_003]
    kind = getattr(module_of, name)
    return kind(epsilon, 2, 8, VALUES)


def report(data, module, name, epsilon):
    return [part.tolist() if hasattr(part, "tolist") else part for part in _client(module, name, epsilon).client(data)]
