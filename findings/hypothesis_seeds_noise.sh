#!/usr/bin/env bash
# A property test of noise under Hypothesis: every example draws the same
# noise.
#
# Guess:   200 examples of a mechanism are 200 independent draws, so a check
#          of its spread or its tail is sound.
# Happens: Hypothesis seeds random and numpy.random with 0 before each
#          example: one noise in all. A numpy Generator of one's own is not
#          seeded, and draws anew.
# Matters: 'the noise of 200 examples stays within 5 scales' looks at one
#          number, and a mechanism with a constant for noise passes. Counts
#          of an event over examples see a deterministic function: a loss of
#          0, or an infinite one.
# Source:  hypothesis.register_random and
#          hypothesis.internal.entropy.deterministic_PRNG (seed 0).
#
# Seen on 2026-11-28:
#   hypothesis 6.170.17, numpy 2.4.6
#   numpy.random: 1 different draws in 200 examples
#   random: 1 different draws in 200 examples
#   own Generator: 200 different draws in 200 examples
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile hypothesis==6.170.17 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import random
import sys
import tempfile

import hypothesis
import numpy as np
from hypothesis import given, settings, strategies as st

draws = {"numpy.random": [], "random": [], "own Generator": []}
rng = np.random.default_rng()

@settings(max_examples=200, database=None)
@given(st.floats(0, 1))
def run(_):
    draws["numpy.random"].append(np.random.laplace())
    draws["random"].append(random.expovariate(1.0))
    draws["own Generator"].append(rng.laplace())

run()
print(f"hypothesis {hypothesis.__version__}, numpy {np.__version__}")
for name, values in draws.items():
    print(f"{name}: {len(set(values))} different draws in {len(values)} examples")
distinct = [len(set(values)) for values in draws.values()]
if distinct[:2] != [1, 1] or distinct[2] < 100:
    sys.exit("changed: the global generators are not seeded for each example")
PYTHON
