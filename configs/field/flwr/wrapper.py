"""flwr 1.42.0: what `localdp_mod` does to a client's update, whose norm is clipped to 1."""

import logging
import sys

import numpy as np
from stand_ins import load_submodules_only

load_submodules_only("flwr", "flwr.compat", "flwr.compat.common", "flwr.supercore")
sys.modules["flwr.supercore"].log = logging.getLogger("flwr").log
from flwr.compat.common.parameter import ndarrays_to_parameters, parameters_to_ndarrays  # noqa: E402
from flwr.supercore import differential_privacy as dp  # noqa: E402


def noise(data, sensitivity, epsilon, delta):
    parameters = ndarrays_to_parameters([np.array(data, float)])
    noisy = dp.add_localdp_gaussian_noise_to_params(parameters, sensitivity, epsilon, delta)
    return parameters_to_ndarrays(noisy)[0]


def clipped(data, sensitivity, epsilon, delta):
    update = [np.array(data, float)]
    dp.compute_clip_model_update(update, [np.zeros(len(data))], 1.0)
    return noise(update[0], sensitivity, epsilon, delta)


# The server's noise: the mean of the clients' clipped updates, with the noise multiplier that gives (0.9, 0.05) for one client.
def mean_of_clients(data, multiplier):
    updates = []
    for client in data:
        update = [np.array([client], float)]
        dp.compute_clip_model_update(update, [np.zeros(1)], 1.0)
        updates.append(update[0])
    mean = ndarrays_to_parameters([np.mean(updates, axis=0)])
    return parameters_to_ndarrays(dp.add_gaussian_noise_to_params(mean, multiplier, 1.0, len(data)))[0]
