"""privkit 0.5.1: mechanisms on one point; what they share with the rest of the package, maps and networks, is stood in for."""

import importlib
import importlib.util
import sys
import types

from stand_ins import load_submodules_only, stand_in_for

stand_in_for("pyproj", "osmnx", "networkx", "pandas", "privkit.data", "privkit.metrics")
load_submodules_only("privkit", "privkit.ppms", "privkit.utils")
for kind in ("TabularData", "LocationData", "FacialData"):
    getattr(importlib.import_module("privkit.data"), kind).DATA_TYPE_ID = kind
for kind in ("QualityLoss",):
    getattr(importlib.import_module("privkit.metrics"), kind).METRIC_ID = kind
from privkit.ppms.ppm import PPM  # noqa: E402

sys.modules["privkit.ppms"].PPM = PPM
for name in ("constants", "geo_utils", "dev_utils", "plot_utils", "io_utils"):
    where = f"privkit.utils.{name}"
    if importlib.util.find_spec(where) is None:
        continue
    try:
        module = importlib.import_module(where)
    except ImportError:
        module = types.ModuleType(where)
    setattr(sys.modules["privkit.utils"], name, module)
sys.modules["privkit.utils"].GridMap = object
from privkit.ppms.laplace import Laplace  # noqa: E402
from privkit.ppms.planar_laplace import PlanarLaplace  # noqa: E402


def laplace(data, epsilon):
    return Laplace(epsilon).get_obfuscated_point(data)[0]


# The third result is the distance that it was moved, by which the package measures the loss of quality.
def planar(data, epsilon):
    return PlanarLaplace(epsilon).get_obfuscated_point(*data)[:2]
