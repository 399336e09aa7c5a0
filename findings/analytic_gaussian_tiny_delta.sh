#!/usr/bin/env bash
# autodp: for every delta below 1e-17 its analytic calibration returns the
# same Gaussian noise; at 1e-15 the noise has 41 times the delta.
#
# Guess:   the 'analytic' calibration is exact for every epsilon and delta, as
#          its paper says: a smaller delta costs a little more noise.
# Happens: it compares normal distribution functions as .5 (1 + erf(x)), whose
#          steps near 0 are 1e-16 wide. At 1e-15 the answer is rounding; below
#          1e-17 the search ends where the difference is 0 exactly, sigma 9.85
#          for epsilon 1, whose delta is 6e-25 for a target of 1e-30.
# Matters: the docstring allows every delta above 0, and a tiny one is an
#          ordinary request where many releases about one population add up.
#          Nothing warns. dpcrpy 1.0.0 carries a copy, and diffprivlib 0.6.6
#          (GaussianAnalytic) stops at sigma 8.24 in the same way.
# Source:  autodp/calibrator_zoo.py, ana_gaussian_calibrator, line 121 (Phi);
#          erfc keeps the digits.
#
# Seen on 2026-11-28:
#   autodp 0.2.3.1, epsilon 1
#   target 1e-05: sigma 3.7306, whose delta is 1.00e-05
#   target 1e-10: sigma 5.8677, whose delta is 1.00e-10
#   target 1e-15: sigma 6.9996, whose delta is 4.15e-14
#   target 1e-18: sigma 9.8487, whose delta is 5.78e-25
#   target 1e-20: sigma 9.8487, whose delta is 5.78e-25
#   target 1e-30: sigma 9.8487, whose delta is 5.78e-25
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile autodp==0.2.3.1 numpy==1.26.4 scipy==1.13.1
"$work/venv/bin/python" -W ignore - <<'PYTHON'
import importlib.metadata
import math
import sys

from autodp.calibrator_zoo import ana_gaussian_calibrator
from autodp.mechanism_zoo import ExactGaussianMechanism
from scipy.special import log_ndtr

print(f"autodp {importlib.metadata.version('autodp')}, epsilon 1")
noise = {}
for target in (1e-5, 1e-10, 1e-15, 1e-18, 1e-20, 1e-30):
    sigma = ana_gaussian_calibrator()(ExactGaussianMechanism, 1.0, target).params["sigma"]
    upper, lower = (log_ndtr(s / (2 * sigma) - sigma) for s in (1, -1))
    delta = math.exp(upper) - math.exp(1 + lower)
    noise[target] = sigma
    print(f"target {target:.0e}: sigma {sigma:.4f}, whose delta is {delta:.2e}")
if not noise[1e-5] < noise[1e-10] < 8 or noise[1e-20] != noise[1e-30]:
    sys.exit("changed: the noise depends on a tiny delta")
PYTHON
