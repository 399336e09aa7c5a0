#!/usr/bin/env bash
# pfl: two mechanisms that are joined in one JointMechanism add the same
# noise to both parts, and the difference of the parts has none.
#
# Guess:   JointMechanism applies one mechanism to the model's update and
#          another to a second statistic, with noise of its own for each; its
#          accountant composes them as independent.
# Happens: one seed, drawn for the round, is handed to each part, and each
#          seeds NumPy's generator with it: the first values of both parts
#          get the same draw, times their scales. The same holds with
#          PyTorch.
# Matters: whoever sees both parts cancels the noise: 3.0 below is the exact
#          difference of two aggregates, in every round. Composition counts
#          two noisy releases where there is one noisy and one exact.
# Source:  pfl/privacy/joint_mechanism.py, add_noise: mechanism.add_noise(...,
#          seed); pfl/algorithm/base.py, _get_seed for each context.
#
# Seen on 2026-11-29:
#   pfl 0.6.0; two Gaussian mechanisms of one scale; true difference 3
#   seed 1: noise 1.62 and 1.62; released difference 3.000000
#   seed 2: noise -0.42 and -0.42; released difference 3.000000
#   seed 3: noise 1.79 and 1.79; released difference 3.000000
#   seed None: noise of two draws: True
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile pfl==0.6.0 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import importlib.metadata
import sys

import numpy as np
from pfl.common_types import Population
from pfl.context import CentralContext
from pfl.hyperparam import AlgorithmHyperParams, ModelHyperParams
from pfl.metrics import Metrics
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.joint_mechanism import JointMechanism
from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism
from pfl.stats import MappedVectorStatistics

joint = JointMechanism({
    "model": (GaussianMechanism(clipping_bound=1.0, relative_noise_stddev=1.0), ["update"]),
    "metric": (GaussianMechanism(clipping_bound=1.0, relative_noise_stddev=1.0), ["loss"]),
})
central = CentrallyAppliedPrivacyMechanism(joint)

def noise(seed):
    """Return the noise of both parts in one round."""
    context = CentralContext(0, False, 10, Population.TRAIN, AlgorithmHyperParams(), ModelHyperParams(), seed=seed)
    totals = MappedVectorStatistics({"update": np.array([5.0, 7.0, 9.0]), "loss": np.array([2.0])})
    noisy, _ = central.postprocess_server(stats=totals, central_context=context, aggregate_metrics=Metrics())
    return noisy["update"][0] - 5.0, noisy["loss"][0] - 2.0

print(f"pfl {importlib.metadata.version('pfl')}; two Gaussian mechanisms of one scale; true difference 3")
for seed in (1, 2, 3):
    update, loss = noise(seed)
    print(f"seed {seed}: noise {update:.2f} and {loss:.2f}; released difference {3 + update - loss:.6f}")
    if abs(update - loss) > 1e-9:
        sys.exit("changed: each part has noise of its own")
free = noise(None)
print(f"seed None: noise of two draws: {abs(free[0] - free[1]) > 1e-9}")
PYTHON
