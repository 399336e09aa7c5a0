#!/usr/bin/env bash
# OpenDP: a sum over data of known size, for one contribution of each person
# and epsilon = 1, is released with noise of scale 4e-13.
#
# Guess:   'contributions=1' makes the usual noise, sensitivity over
#          epsilon, 10 here; or it is refused for data of fixed size.
# Happens: two data sets of one size differ by an even number of additions
#          and removals, so at distance 1 there is only the data set itself:
#          the sensitivity is the float error of the sum, and the noise
#          follows. contributions=2 (one person replaced) gives scale 10.
#          For integers the map is exactly 0.
# Matters: the promise holds, and is empty. Naming the size silently changes
#          which data sets are neighbours: the true total is printed to 13
#          digits under 'epsilon = 1'.
# Source:  OpenDP documentation, SymmetricDistance; Measurement.map(1) of a
#          sized domain.
#
# Seen on 2026-11-28:
#   opendp 0.16.0; 20 numbers in [0, 10], total 20, epsilon 1
#   contributions=1: scale 3.84e-13; the true total came out: True
#   contributions=2: scale 10; the true total came out: False
#   integers, sensitivity at distance 1 to 4: [0, 10, 10, 20]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile opendp==0.16.0
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import opendp.prelude as dp

dp.enable_features("contrib")
sized = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=20)
print(f"opendp {importlib.metadata.version('opendp')}; 20 numbers in [0, 10], total 20, epsilon 1")
scales = {}
for contributions in (1, 2):
    context = dp.Context.compositor(
        data=[1.0] * 20,
        privacy_unit=dp.unit_of(contributions=contributions),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        domain=sized,
    )
    query = context.query().clamp((0.0, 10.0)).sum().laplace()
    scales[contributions] = query.param()
    near = abs(query.release() - 20) < 1e-9
    print(f"contributions={contributions}: scale {query.param():.3g}; the true total came out: {near}")
whole = dp.vector_domain(dp.atom_domain(bounds=(0, 10)), size=20)
integers = dp.t.make_sum(whole, dp.symmetric_distance())
print(f"integers, sensitivity at distance 1 to 4: {[integers.map(d) for d in range(1, 5)]}")
if scales[1] > 1e-9 or not 9.9 < scales[2] < 10.1:
    sys.exit("changed: the noise at one contribution is another one")
PYTHON
