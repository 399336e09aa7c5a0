"""diffprivlib-fix 0.6.7, a fork of diffprivlib: mechanisms, and tools with their bounds given."""

import importlib

import numpy as np

PACKAGE = "diffprivlib"
mechanisms, tools = (importlib.import_module(f"{PACKAGE}.{module}") for module in ("mechanisms", "tools"))


def mechanism(data, name, **arguments):
    return getattr(mechanisms, name)(**arguments).randomise(data)


def tool(data, name, epsilon, **arguments):
    return getattr(tools, name)(np.array(data, float), epsilon=epsilon, bounds=(0.0, 2.0), **arguments)


def nan_tool(data, name, epsilon):
    values = np.array([np.nan if value is None else value for value in data], float)
    return getattr(tools, name)(values, epsilon=epsilon, bounds=(0.0, 2.0))
