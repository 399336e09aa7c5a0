"""DiffPriv 1.0.3: its module ``diff``, loaded without the package's own ``__init__``, which asks the package index on import."""

import importlib
import io
import math
import random
import tempfile

import numpy
from stand_ins import load_submodules_only

load_submodules_only("DiffPriv")
import DiffPriv  # noqa: E402

DiffPriv.numpy, DiffPriv.random, DiffPriv.math = numpy, random, math
diff = importlib.import_module("DiffPriv.diff")


def randresponse(data):
    diff.randresponse(data)  # it changes the list
    return data


def _written(mechanism, data, *arguments, **named):
    with tempfile.NamedTemporaryFile("r", dir="/dev/shm") as file:
        mechanism(io.StringIO("".join(f"{value}\n" for value in data)), file.name, *arguments, **named).close()
        return [
            float(entry) for line in file.read().splitlines() for entry in line.replace(" ", "").strip(",").split(",")
        ]


def lapmech(data, epsilon, sensitivity=None):
    return _written(
        diff.lapmech, data, epsilon, lambda column: sum(column) / len(column), delta_f=sensitivity and [sensitivity]
    )


def expmech(data, epsilon):
    return _written(diff.expmech, data, epsilon, lambda column, k: column.count(k), range(3), delta_u=[1])
