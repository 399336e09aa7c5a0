#!/usr/bin/env bash
# fourier-accountant: the epsilon for delta = 1e-12 belongs, by its own
# function, to a delta 70 times as large.
#
# Guess:   the two functions of a package invert each other, within
#          rounding.
# Happens: get_epsilon_R stops Newton's iteration as soon as delta is within
#          1e-10 of the target. For targets of 1e-5 that is five digits; for
#          1e-10 an error of 38 %, for 1e-12 nothing is left.
# Matters: delta = 1/n**2 for a population of a million is 1e-12. The
#          iteration ends on either side of the target, here on the unsafe
#          one, and prints nothing. A round trip, epsilon(delta) and then
#          delta(epsilon), shows it without a reference.
# Source:  fourier_accountant/compute_eps.py, line 95, tol_newton (the
#          comment there suggests .01 of the target).
#
# Seen on 2026-11-28:
#   fourier-accountant 0.12.11; sigma 1, rate .01, one step
#   target 1e-05: epsilon 0.1995, whose delta is 1.000e-05
#   target 1e-08: epsilon 0.8387, whose delta is 1.006e-08
#   target 1e-10: epsilon 1.3944, whose delta is 1.383e-10
#   target 1e-12: epsilon 1.4855, whose delta is 7.103e-11
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile fourier-accountant==0.12.11 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import contextlib
import importlib.metadata
import io
import sys

import fourier_accountant

version = importlib.metadata.version("fourier-accountant")
print(f"fourier-accountant {version}; sigma 1, rate .01, one step")
step = {"sigma": 1.0, "q": 0.01, "ncomp": 1}
ratios = {}
for target in (1e-5, 1e-8, 1e-10, 1e-12):
    with contextlib.redirect_stdout(io.StringIO()):
        epsilon = float(fourier_accountant.get_epsilon_R(target_delta=target, **step))
        delta = float(fourier_accountant.get_delta_R(target_eps=epsilon, **step))
    ratios[target] = delta / target
    print(f"target {target:.0e}: epsilon {epsilon:.4f}, whose delta is {delta:.3e}")
if not 0.999 < ratios[1e-5] < 1.001 or ratios[1e-12] < 10:
    sys.exit("changed: the iteration stops elsewhere")
PYTHON
