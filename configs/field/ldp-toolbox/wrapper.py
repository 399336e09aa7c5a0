"""ldp-toolbox 0.1.3: each protocol's report of one value of ``k``."""

import functools
import importlib


@functools.cache
def _protocol(module, name, k, epsilon, flag):
    kind = getattr(importlib.import_module(f"ldp_toolbox.protocols.frequency.{module}"), name)
    return kind(k, epsilon) if flag is None else kind(k, epsilon, flag)


def report(data, module, name, k, epsilon, flag=None):
    answer = _protocol(module, name, k, epsilon, flag).obfuscate(data)
    return [int(part) for part in answer] if isinstance(answer, tuple) else answer


# The seed of the hash is public. What is left to tell two values apart is whether the report is the hash of a value.
def hashed(data, module, name, k, epsilon, flag=None):
    import xxhash

    protocol = _protocol(module, name, k, epsilon, flag)
    value, seed = protocol.obfuscate(data)
    return [int(xxhash.xxh32(str(v).encode(), seed=seed).intdigest() % protocol.g == value) for v in range(k)]
