"""distributed-random-forest 0.4.0: a forest of two trees on records of one feature and a label."""

import numpy as np
from distributed_random_forest.models.dp_rf import DPRandomForest


def _fitted(data, epsilon, mechanism, delta):
    forest = DPRandomForest(n_estimators=2, max_depth=1, epsilon=epsilon, delta=delta, dp_mechanism=mechanism, n_jobs=1)
    table = np.array(data, float)
    return forest.fit(table[:, :1], table[:, 1].astype(int))


def predictions(data, epsilon, mechanism="laplace", delta=1e-3):
    return _fitted(data, epsilon, mechanism, delta).predict(np.arange(4.0).reshape(-1, 1))
