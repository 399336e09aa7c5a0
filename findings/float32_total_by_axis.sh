#!/usr/bin/env bash
# A column total of float32: the same ones, added along another axis, stop
# at 16,777,216.
#
# Guess:   numpy.sum adds in pairs, so that its error is small; the axis
#          cannot matter.
# Happens: the pairs are used along the fast axis in memory only. Over the
#          rows of a C-ordered array a float32 total of ones stays at 2**24,
#          whatever is added; the same sum of a transposed copy is exact.
#          numba's sum stops there too.
# Matters: a noisy count that no longer counts: from 2**24 records on,
#          adding one changes nothing, and on real values the sensitivity of
#          the float sum is not that of the mathematical one, in either
#          direction. Gradients are float32 and summed over the batch, the
#          slow axis.
# Source:  numpy.sum, notes on partial pairwise summation and the fast axis.
#
# Seen on 2026-11-28:
#   numpy 2.4.6, numba 0.68.1; records: 16,777,316
#   numpy, over rows: 16,777,216
#   numpy, transposed copy: 16,777,316
#   numba, one column: 16,777,216
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile numpy==2.4.6 numba==0.68.1
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numba
import numpy as np

rows = 2**24 + 100
ones = np.ones((rows, 2), np.float32)
over_rows = float(ones.sum(axis=0)[0])
transposed = float(np.ascontiguousarray(ones.T).sum(axis=1)[0])
compiled = float(numba.njit(lambda x: x.sum())(np.ones(rows, np.float32)))
print(f"numpy {np.__version__}, numba {numba.__version__}; records: {rows:,}")
print(f"numpy, over rows: {over_rows:,.0f}")
print(f"numpy, transposed copy: {transposed:,.0f}")
print(f"numba, one column: {compiled:,.0f}")
if (over_rows, transposed, compiled) != (2**24, rows, 2**24):
    sys.exit("changed: a float32 total is added in another order")
PYTHON
