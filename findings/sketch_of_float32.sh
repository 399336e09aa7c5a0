#!/usr/bin/env bash
# DataSketches counts 1,000 different float32 amounts as 2: a number that is
# no Python float is cut to an integer, silently.
#
# Guess:   a distinct count takes any number, or raises; a float32 is
#          widened to a float, as everywhere in Python.
# Happens: the sketch chooses an overload: int and float are hashed as such,
#          and a numpy.float32 (also float16, Fraction, Decimal) matches the
#          integer one and is truncated. numpy.float64 is a float and works.
#          And 3 and 3.0, equal in Python, are two items, so a column of ids
#          that became float64 by one missing value doubles its people in a
#          union.
# Matters: a private distinct count adds noise of scale 1/epsilon to 2 in
#          place of 1,000; and where the ids of one file are float64, one
#          person moves the count by 2, so the sensitivity depends on
#          somebody else's missing id.
# Source:  datasketches, update_theta_sketch.update(int), .update(float),
#          .update(str); the same for hll_sketch and cpc_sketch.
#
# Seen on 2026-11-28:
#   datasketches 5.2.0, numpy 2.4.6
#   1,000 amounts, float64: 1000
#   1,000 amounts, float32: 2
#   ids 1 to 1000, int and int: 1000
#   ids 1 to 1000, int and float: 2000
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile datasketches==5.2.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import datasketches
import numpy as np

def theta(values):
    sketch = datasketches.update_theta_sketch()
    for value in values:
        sketch.update(value)
    return sketch

def distinct(*files):
    union = datasketches.theta_union()
    for values in files:
        union.update(theta(values))
    return round(union.get_result().get_estimate())

print(f"datasketches {importlib.metadata.version('datasketches')}, numpy {np.__version__}")
amounts = np.linspace(0, 1, 1000)
seen = {
    "1,000 amounts, float64": distinct(amounts),
    "1,000 amounts, float32": distinct(amounts.astype(np.float32)),
    "ids 1 to 1000, int and int": distinct(range(1, 1001), range(1, 1001)),
    "ids 1 to 1000, int and float": distinct(range(1, 1001), map(float, range(1, 1001))),
}
for name, count in seen.items():
    print(f"{name}: {count}")
if list(seen.values()) != [1000, 2, 1000, 2000]:
    sys.exit("changed: numbers of another type are hashed otherwise")
PYTHON
