"""federatedhplearning 1.0.2: one epoch of training on records of one feature and a label."""

import random

import numpy as np
from federated_hplearning import logistic_numpy


def train(data, epsilon, delta):
    table = np.array(data, float)
    weights, _ = logistic_numpy.local_train_dp(table[:, :1], table[:, 1], np.zeros(1), 1, 0.1, epsilon, delta, 1.0)
    return weights


def train_seeded(data, epsilon, delta):
    table = np.array(data, float)
    seed = random.getrandbits(31)
    weights, _ = logistic_numpy.local_train_dp(
        table[:, :1], table[:, 1], np.zeros(1), 1, 0.1, epsilon, delta, 1.0, seed
    )
    return weights
