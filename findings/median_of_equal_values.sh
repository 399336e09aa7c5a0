#!/usr/bin/env bash
# diffprivlib: the private median of 100 equal values is uniform over the
# bounds, whatever epsilon; at epsilon = 50 it raises.
#
# Guess:   100 people of age 50: at epsilon = 10 the median is 50, almost
#          surely.
# Happens: the exponential mechanism weighs the intervals between sorted
#          values by their length. All inner intervals have length 0, so
#          only the two outer ones are left, and these are equally far from
#          the median. At 50 both weights underflow to 0, and the
#          probabilities are nan.
# Matters: real data have ties (ages, ratings, clamped values): the answer
#          ignores the data exactly where they agree most. It is private, so
#          an audit finds nothing; a test of usefulness on random floats
#          finds nothing either. An audit meets an exception that depends on
#          the data.
# Source:  diffprivlib/tools/quantiles.py (measure = interval_sizes);
#          mechanisms/exponential.py, _find_probabilities.
#
# Seen on 2026-11-28:
#   diffprivlib 0.6.6; 200 medians, bounds 0 and 100
#   100 equal values, epsilon 1: 80 % are more than 10 away
#   100 equal values, epsilon 10: 80 % are more than 10 away
#   100 values in [40, 60], epsilon 1: 0 % are more than 10 away
#   100 values in [40, 60], epsilon 10: 0 % are more than 10 away
#   100 equal values, epsilon 50: Can't find a candidate to return
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile diffprivlib==0.6.6 scikit-learn==1.7.2 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys
import warnings

warnings.simplefilter("ignore")
import diffprivlib
import numpy as np
from diffprivlib.tools import median

def medians(data, epsilon):
    return [
        float(median(data, epsilon=epsilon, bounds=(0, 100), random_state=seed))
        for seed in range(200)
    ]

equal, spread = [50.0] * 100, list(np.linspace(40, 60, 100))
print(f"diffprivlib {diffprivlib.__version__}; 200 medians, bounds 0 and 100")
away = {}
for name, data in (("100 equal values", equal), ("100 values in [40, 60]", spread)):
    for epsilon in (1.0, 10.0):
        away[name, epsilon] = np.mean(np.abs(np.array(medians(data, epsilon)) - 50) > 10)
        print(f"{name}, epsilon {epsilon:.0f}: {100 * away[name, epsilon]:.0f} % are more than 10 away")
try:
    raised = f"median {medians(equal, 50.0)[0]}"
except RuntimeError as error:
    raised = str(error).split(".")[0]
print(f"100 equal values, epsilon 50: {raised}")
if away["100 equal values", 10.0] < 0.6 or away["100 values in [40, 60]", 10.0] > 0.01:
    sys.exit("changed: ties are weighed otherwise")
PYTHON
