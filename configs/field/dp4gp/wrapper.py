"""dp4gp 1.1: the means of two bins; where the values were measured is public."""

import importlib

import numpy as np
from stand_ins import stand_in_for

stand_in_for("GPy", "sklearn", "scipy", "matplotlib")
histogram = importlib.import_module("dp4gp.histogram")


def means(data, places, epsilon, delta):
    model = histogram.DPGP_histogram(1.0, epsilon, delta)
    corners, step = np.array([[0.0], [1.0]]), np.array([1.0])
    return model.prepare_model(corners, np.array(places, float)[:, None], step, np.array(data, float))[-1]
