#!/usr/bin/env bash
# Composing two privacy losses with scipy.signal.convolve: on a finer grid
# the tail becomes noise, partly negative.
#
# Guess:   a finer grid gives a better tail, since the discretisation error
#          falls.
# Happens: with 1,601 cells the product is computed directly and the tail
#          beyond a loss of 14 is right in order (1.6e-20); with 4,001 cells
#          'auto' takes the FFT, whose error is absolute: the tail is some
#          1e-17, three thousand times off, and single masses are negative.
# Matters: delta of a composition lies in that tail. Values below about
#          1e-16 are rounding errors of the transform, of either sign: a
#          claim of delta = 1e-18 is neither proved nor refuted by them, and
#          refining the grid moves away from the truth.
# Source:  scipy.signal.choose_conv_method (the choice by size) and
#          scipy.signal.convolve, method 'auto'.
#
# Seen on 2026-11-28:
#   scipy 1.17.1; losses N(.5, 1) twice, mass beyond 14: 1.9e-20
#   1601 cells, direct: 1.6e-20; directly 1.6e-20; least mass 0e+00
#   4001 cells, fft: 5.9e-17; directly 1.8e-20; least mass -1e-18
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import scipy
from scipy import signal, stats

exact = stats.norm.sf(14, loc=1, scale=np.sqrt(2))
print(f"scipy {scipy.__version__}; losses N(.5, 1) twice, mass beyond 14: {exact:.1e}")
seen = []
for step in (0.05, 0.02):
    x = np.arange(-40, 40 + step / 2, step)
    mass = stats.norm.pdf(x, 0.5, 1) * step
    total = signal.convolve(mass, mass)
    loss = 2 * x[0] + step * np.arange(len(total))
    tail, least = total[loss > 14].sum(), total.min()
    direct = np.convolve(mass, mass)[loss > 14].sum()
    seen.append((signal.choose_conv_method(mass, mass), abs(tail / exact - 1), least))
    print(f"{len(x)} cells, {seen[-1][0]}: {tail:.1e}; directly {direct:.1e}; least mass {least:.0e}")
if [s[0] for s in seen] != ["direct", "fft"] or seen[0][1] > 0.5 or seen[1][1] < 10:
    sys.exit("changed: the method is chosen otherwise, or the tail is exact")
if seen[1][2] >= 0:
    sys.exit("changed: no mass is negative")
PYTHON
