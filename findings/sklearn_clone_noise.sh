#!/usr/bin/env bash
# scikit-learn's clone copies a random generator together with its state:
# every output of a multi-output model gets the same noise.
#
# Guess:   with a RandomState instance clones are 'statistical clones',
#          which share one stream and therefore differ, as the guide says.
# Happens: clone deep-copies the instance: each copy starts from the same
#          state. MultiOutputRegressor, OneVsRestClassifier and cross
#          validation clone for each target, class or fold, so all of them
#          draw one noise.
# Matters: the noise cancels in the difference of two outputs, which is then
#          exact. The accountant adds up three releases; the analyst holds
#          two differences without noise. random_state=None draws from the
#          global generator and differs.
# Source:  sklearn.base.clone, Notes ('statistical clone'); sklearn/base.py,
#          the deep copy of parameters that are not estimators.
#
# Seen on 2026-11-28:
#   scikit-learn 1.9.1; true means 10, 20, 50
#   RandomState instance: [10.1027 20.1027 50.1027], differences [10. 30.]
#   random_state=None: differences exact: False
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -qq --no-compile scikit-learn==1.9.1 scipy==1.17.1 numpy==2.4.6
"$work/venv/bin/python" - <<'PYTHON'
import sys

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import check_random_state

class NoisyMean(RegressorMixin, BaseEstimator):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        noise = check_random_state(self.random_state).laplace()
        self.n_features_in_ = X.shape[1]
        self.mean_ = float(np.mean(y) + noise)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)

X, Y = np.zeros((4, 1)), np.tile([10.0, 20.0, 50.0], (4, 1))

def means(random_state):
    return MultiOutputRegressor(NoisyMean(random_state)).fit(X, Y).predict(X[:1])[0]

instance, unseeded = means(np.random.RandomState(0)), means(None)
print(f"scikit-learn {sklearn.__version__}; true means 10, 20, 50")
print(f"RandomState instance: {instance.round(4)}, differences {np.diff(instance).round(4)}")
exact = bool(np.allclose(np.diff(unseeded), [10, 30]))
print(f"random_state=None: differences exact: {exact}")
if not np.allclose(np.diff(instance), [10, 30]) or exact:
    sys.exit("changed: clones draw noise of their own")
PYTHON
