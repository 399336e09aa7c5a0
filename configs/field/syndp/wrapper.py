"""syndp 0.5.2: noise on a value and on a series."""

import importlib
import types

from stand_ins import load_submodules_only

load_submodules_only("syndp")
bounded = importlib.import_module("syndp.bounded_laplace_mechanism")
laplace_module = importlib.import_module("syndp.laplace_mechanism")
for module in (bounded, laplace_module):
    module.np = importlib.import_module("numpy")


def laplace(data, epsilon):
    return laplace_module.laplace_mechanism(data, sensitivity=1.0, epsilon=epsilon)


def laplace_seeded(data, epsilon):
    seed = int(laplace_module.np.random.SeedSequence().generate_state(1)[0])
    return laplace_module.laplace_mechanism(data, sensitivity=1.0, epsilon=epsilon, seed=seed)


def bounded_laplace(data, epsilon, delta):
    return bounded.boundedlaplacemechanism(data, (0, 1), 0.1, epsilon, delta)


def _original() -> types.ModuleType:
    return importlib.import_module("syndp.original_timedp")


def value(data, epsilon):
    return _original().get_differential_privacy_value(_original().np.array([data]), epsilon)


def series(data, epsilon):
    return _original().timeseries_dp(data, epsilon)
