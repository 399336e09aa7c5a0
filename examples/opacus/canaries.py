"""Canaries with a feature of their own, and their score."""

import numpy as np

NUMBER = 300


def canaries():
    """Return records of label 1, each with a feature that no other one has."""
    return np.hstack([10 * np.eye(NUMBER), np.ones((NUMBER, 1))]).tolist()


def score(weights, canary):
    """Return how far the weight of the canary's feature has moved towards its label."""
    return weights[canary.index(10.0)]
