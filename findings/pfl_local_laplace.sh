#!/usr/bin/env bash
# pfl: its Laplace mechanism with epsilon = 1, used as the local mechanism
# that it is, tells two users apart with epsilon = 2.
#
# Guess:   a LocalPrivacyMechanism, which turns the statistics of one user
#          into their locally private version, is built with epsilon = 1 and
#          a clipping bound of 1, so any two users' reports have a loss of 1.
# Happens: privatize clips to L1 norm 1 and adds noise of scale 1 / epsilon,
#          the scale for adding or removing a vector of norm 1. Two users
#          lie 2 apart: +1 and -1 have a loss of 2.
# Matters: the same object is right in the centre, where one user is added
#          to a sum, and off by two on the device. No parameter says which
#          of the two it is for.
# Source:  pfl/privacy/laplace_mechanism.py, add_noise: clipping_bound /
#          epsilon; privacy_mechanism.py, LocalPrivacyMechanism.
#
# Seen on 2026-11-29:
#   pfl 0.6.0; LaplaceMechanism(clipping_bound=1, epsilon=1).privatize, 200,000 reports
#   a report of at most -1: 0.5000 from a user of -1, 0.0677 from a user of 1
#   the ratio is exp(2.00), where epsilon = 1 allows exp(1)
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pfl==0.6.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import math
import sys

import numpy as np
from pfl.privacy.laplace_mechanism import LaplaceMechanism
from pfl.stats import MappedVectorStatistics

RUNS = 200_000
mechanism = LaplaceMechanism(clipping_bound=1.0, epsilon=1.0)
np.random.seed(1)

def share(value):
    """Return how often the report of a user with this value is at most -1."""
    user = MappedVectorStatistics({"x": np.array([value])})
    return np.mean([mechanism.privatize(user)[0]["x"][0] <= -1 for _ in range(RUNS)])

low, high = share(-1.0), share(1.0)
loss = math.log(low / high)
print(
    f"pfl {importlib.metadata.version('pfl')}; LaplaceMechanism(clipping_bound=1, epsilon=1).privatize, {RUNS:,} reports"
)
print(f"a report of at most -1: {low:.4f} from a user of -1, {high:.4f} from a user of 1")
print(f"the ratio is exp({loss:.2f}), where epsilon = 1 allows exp(1)")
if not 1.9 < loss < 2.1:
    sys.exit("changed: the noise is for the distance of two users")
PYTHON
