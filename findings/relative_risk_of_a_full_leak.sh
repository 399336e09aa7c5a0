#!/usr/bin/env bash
# SciPy's interval for a ratio of two rates has no lower end where the leak
# is complete.
#
# Guess:   an event seen 300 times in 1,000 on one side and never on the
#          other has a large, finite lower bound on its ratio.
# Happens: the ratio is infinite and the interval is (nan, inf), since Katz'
#          method divides by both counts. With one count it is (42, 2133).
# Matters: log of the ratio's lower end is the obvious lower bound on
#          epsilon. nan > claim is False, so the check 'bound > claim'
#          passes just where one side never answers so: the stronger the
#          leak, the greener the test. Two Clopper-Pearson bounds give 4.3
#          here.
# Source:  scipy.stats.contingency.relative_risk, confidence_interval: the
#          Katz method.
#
# Seen on 2026-11-28:
#   scipy 1.17.1; lower bounds on log(p/q) from k and m of 1,000
#   300 and 100: Katz 0.890, two exact ones 0.815
#   300 and 1: Katz 3.743, two exact ones 3.889
#   300 and 0: Katz nan, two exact ones 4.301
#   Katz' bound of the last exceeds a claim of 1: False
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import math
import sys

import scipy
from scipy import stats
from scipy.stats.contingency import relative_risk

def by_katz(k, m, n=1000):
    low = float(relative_risk(k, n, m, n).confidence_interval(0.95).low)
    return math.log(low) if low > 0 else low

def by_clopper_pearson(k, m, n=1000):
    low = stats.binomtest(k, n).proportion_ci(0.95).low
    return math.log(low / stats.binomtest(m, n).proportion_ci(0.95).high)

print(f"scipy {scipy.__version__}; lower bounds on log(p/q) from k and m of 1,000")
bounds = {}
for k, m in ((300, 100), (300, 1), (300, 0)):
    bounds[m] = by_katz(k, m), by_clopper_pearson(k, m)
    print(f"{k} and {m}: Katz {bounds[m][0]:.3f}, two exact ones {bounds[m][1]:.3f}")
print(f"Katz' bound of the last exceeds a claim of 1: {bounds[0][0] > 1}")
if not math.isnan(bounds[0][0]) or not bounds[0][1] > 4 or not bounds[1][0] > 3:
    sys.exit("changed: the interval has a lower end")
PYTHON
