#!/usr/bin/env bash
# diffprivlib: LinearRegression adds no noise to a feature's sum of squares where
# its bounds start at 0: at epsilon = 1 one person shows in each of 200 fits.
#
# Guess:   a coefficient of the objective gets noise for the largest square in
#          the bounds, 1,000,000 for bounds (0, 1,000).
# Happens: the lower bound is taken twice in place of both bounds. A lower bound
#          of 0 is a sensitivity of 0, and a Laplace mechanism of sensitivity 0
#          returns the value. With an intercept the bounds are first moved by the
#          private mean: what counts is how far the mean lies above the lower
#          end, which for incomes is a small part of the range.
# Matters: bounds from 0 are the usual ones: ages, amounts, counts. Below, one
#          person of 100 has 1,000 where the others have 1, and the slope tells
#          it each time; at epsilon = 1 the two shares may differ by a factor of
#          2.7. The accountant books 1.
# Source:  diffprivlib/models/linear_regression.py, _construct_regression_obj;
#          issue 105 of its repository (2026), open.
#
# Seen on 2026-11-29:
#   diffprivlib 0.6.6; 100 people, feature in (0, 1000), epsilon 1; 200 fits of each data set
#   slopes below .05 in size: 0 where all have 1, 200 after one has 1,000
#   smallest 0.0603, largest of the others 0.0348; the accountant books 1
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile diffprivlib==0.6.6 scikit-learn==1.6.1 numpy==2.4.6 scipy==1.17.1
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import importlib.metadata
import sys

import numpy as np
from diffprivlib import BudgetAccountant
from diffprivlib.models import LinearRegression


def slopes(feature):
    """Return the sizes of 200 private slopes at epsilon 1, and what the accountant books for one."""
    sizes = []
    for seed in range(200):
        accountant = BudgetAccountant()
        model = LinearRegression(
            epsilon=1.0, bounds_X=(0, 1_000), bounds_y=(-1, 1), fit_intercept=False,
            random_state=seed, accountant=accountant,
        )
        sizes.append(abs(float(model.fit(feature, np.zeros(100)).coef_[0])))
    return np.array(sizes), accountant.total()[0]


plain = np.ones((100, 1))
other = plain.copy()
other[0] = 1_000.0
large, booked = slopes(plain)
small, _ = slopes(other)
print(f"diffprivlib {importlib.metadata.version('diffprivlib')}; 100 people, feature in (0, 1000), epsilon 1; "
      "200 fits of each data set")
print(f"slopes below .05 in size: {(large < 0.05).sum()} where all have 1, {(small < 0.05).sum()} after one has 1,000")
print(f"smallest {large.min():.4f}, largest of the others {small.max():.4f}; the accountant books {booked:g}")
if (small < 0.05).mean() < 0.95 or (large < 0.05).mean() > 0.05:
    sys.exit("changed: the noise of the regression hides one person's value")
PYTHON
