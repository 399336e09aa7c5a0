#!/usr/bin/env bash
# pfl: the clipping bound that adaptive clipping sets for the next round tells
# exactly how many clients took part, although a noisy indicator was released.
#
# Guess:   the indicator of each client has its share of the noise, so the next
#          bound is as private as the model's update when a client comes or goes.
# Happens: the noisy sum of the indicators is divided by the exact number of
#          clients before the bound is set. The noise on the logarithm of the
#          bound has a standard deviation of step / clients.
# Matters: the accounting covers the sum. If the number of clients is no secret
#          and stays fixed, nothing is wrong. If a client may come or go, two
#          cohorts of one and two clients are told apart by the spread alone.
# Source:  pfl/privacy/adaptive_clipping.py, _get_noisy_norm_quantile: data /
#          weight; weight is the number of clients, without noise.
#
# Seen on 2026-11-29:
#   pfl 0.6.0; all updates clipped; step 0.2, indicator noise 2.0
#   1 client:  log of the next bound 0.100, standard deviation 0.199
#   2 clients: log of the next bound 0.100, standard deviation 0.100
#   4 clients: log of the next bound 0.100, standard deviation 0.050
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pfl==0.6.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import copy
import functools
import importlib.metadata
import operator
import sys

import numpy as np
from pfl.common_types import Population
from pfl.context import CentralContext, UserContext
from pfl.metrics import Metrics
from pfl.privacy.adaptive_clipping import AdaptiveClippingGaussianMechanism
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.stats import MappedVectorStatistics

adaptive = AdaptiveClippingGaussianMechanism(
    lambda bound: GaussianMechanism(bound, 1.0),
    initial_clipping_bound=1.0,
    clipping_indicator_noise_stddev=2.0,
    adaptive_clipping_norm_quantile=0.5,
)


def next_bound(clients, seed):
    """Return the logarithm of the bound after one round in which all updates are clipped."""
    mechanism = copy.deepcopy(adaptive)
    sent = [
        mechanism.postprocess_one_user(
            stats=MappedVectorStatistics({"update": np.full(4, 10.0)}, weight=1.0), user_context=UserContext(1, seed)
        )[0]
        for _ in range(clients)
    ]
    context = CentralContext(0, False, clients, Population.TRAIN, None, None, None, seed=seed)
    total = functools.reduce(operator.add, sent)
    mechanism.postprocess_server(stats=total, central_context=context, aggregate_metrics=Metrics())
    return np.log(mechanism.mutable_clipping_bound.value())


print(f"pfl {importlib.metadata.version('pfl')}; all updates clipped; step 0.2, indicator noise 2.0")
spread = {}
for clients in (1, 2, 4):
    bounds = np.array([next_bound(clients, seed) for seed in range(1, 4001)])
    spread[clients] = bounds.std()
    name = f"{clients} client{'s' if clients > 1 else ''}:"
    print(f"{name:10} log of the next bound {bounds.mean():.3f}, standard deviation {spread[clients]:.3f}")
if not all(1.8 < spread[few] / spread[2 * few] < 2.2 for few in (1, 2)):
    sys.exit("changed: the spread of the bound does not tell the number of clients")
PYTHON
