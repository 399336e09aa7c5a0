"""dpcrpy 1.0.0: the counts that are released of a stream, one after each value."""

import importlib

import numpy as np
from dpcrpy.framework.noiMech import GaussNoiMech, LapNoiMech


def stream(data, module, name, arguments, epsilon, delta=None):
    noise = LapNoiMech(epsilon) if delta is None else GaussNoiMech(epsilon, delta)
    mechanism = getattr(importlib.import_module(f"dpcrpy.{module}"), name)(noiMech=noise, **arguments)
    return [float(np.ravel(mechanism.dpRelease(value)[0])[0]) for value in data]


def noise(data, epsilon):
    return data + LapNoiMech(epsilon).genNoise()
