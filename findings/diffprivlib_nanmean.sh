#!/usr/bin/env bash
# diffprivlib: nanmean scales its noise by the number of all records, the missing
# ones too: where 10 of 1,000 answered, epsilon = 1 is epsilon = 100.
#
# Guess:   the noise is made for a mean over the values that are there; or their
#          number counts as private, and the noise is larger still.
# Happens: the mean is over the known values, the sensitivity is the width of the
#          bounds over array.size. One of 10 known values moves the mean by .1;
#          among 990 missing ones the scale of the noise is .001. nansum takes
#          the width of the bounds, though a value that goes missing takes all of
#          itself away: with bounds (50, 51) a scale of 1 for a change of 50.
# Matters: questions that few answer are what nanmean is for. The fewer answer,
#          the less they are protected, and the accountant books epsilon = 1 each
#          time. nanvar and nanstd take array.size as well.
# Source:  diffprivlib/tools/utils.py, _mean, _sum and _var: np.nanmean, np.nansum
#          and np.nanvar beside a sensitivity of array.size and the bounds.
#
# Seen on 2026-11-29:
#   diffprivlib 0.6.6; 10 known values of 1,000, bounds (0, 1), epsilon 1; 200 releases of each data set
#   above .95: 200 with ten values of 1, 0 after one of them is 0
#   moves by 0.1 at a noise scale of 0.001: epsilon 100; the accountant books 1
#   nansum, bounds (50, 51): moves by 50 at a noise scale of 1 when a value goes missing
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile diffprivlib==0.6.6 scikit-learn==1.6.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import numpy as np
from diffprivlib import BudgetAccountant, tools


def releases(tool, values, bounds):
    """Return 200 private answers at epsilon 1, and what the accountant books for one."""
    answers = []
    for seed in range(200):
        accountant = BudgetAccountant()
        answers.append(tool(values, epsilon=1.0, bounds=bounds, random_state=seed, accountant=accountant))
    return np.array(answers), accountant.total()[0]


one = np.full(1_000, np.nan)
one[:10] = 1.0
other = one.copy()
other[0] = 0.0
high, booked = releases(tools.nanmean, one, (0, 1))
low, _ = releases(tools.nanmean, other, (0, 1))
moved, scale = np.nanmean(one) - np.nanmean(other), round(float(np.abs(low - 0.9).mean()), 3)
print(f"diffprivlib {importlib.metadata.version('diffprivlib')}; 10 known values of 1,000, bounds (0, 1), epsilon 1; "
      "200 releases of each data set")
print(f"above .95: {(high > 0.95).sum()} with ten values of 1, {(low > 0.95).sum()} after one of them is 0")
print(f"moves by {moved:.1f} at a noise scale of {scale}: epsilon {moved / scale:.0f}; the accountant books {booked:g}")
full = np.full(10, 50.5)
full[0] = 50.0
missing = full.copy()
missing[0] = np.nan
sums, _ = releases(tools.nansum, full, (50, 51))
print(f"nansum, bounds (50, 51): moves by {np.nansum(full) - np.nansum(missing):.0f} "
      f"at a noise scale of {np.abs(sums - np.nansum(full)).mean():.0f} when a value goes missing")
if not ((high > 0.95).all() and (low < 0.95).all()):
    sys.exit("changed: the noise of nanmean hides one of ten known values")
PYTHON
