"""multi-freq-ldpy 0.2.5: each client's report of one value, or of a tuple of values."""

import importlib

import xxhash


def report(data, module, name, **arguments):
    answer = getattr(importlib.import_module(f"multi_freq_ldpy.{module}"), name)(data, **arguments)
    return (
        [part.tolist() if hasattr(part, "tolist") else part for part in answer]
        if isinstance(answer, tuple | list)
        else answer
    )


# The seed of the hash is public. What is left to tell two values apart is whether the report is the hash of a value.
def hashed(data, k, epsilon, optimal):
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client, np

    value, seed = LH_Client(data, k, epsilon, optimal)
    g = round(np.exp(epsilon)) + 1 if optimal else 2
    return [int(xxhash.xxh32(str(v).encode(), seed=seed).intdigest() % g == value) for v in range(k)]
