"""isage-privacy 0.1.0.2: its mechanisms, loaded without the registration in a framework that its ``__init__`` asks for."""

import numpy as np
from stand_ins import load_submodules_only

load_submodules_only("sage_privacy", "sage_privacy.dp")
from sage_privacy.dp.gaussian import GaussianMechanism  # noqa: E402
from sage_privacy.dp.laplace import LaplaceMechanism  # noqa: E402


def laplace(data, epsilon):
    return data + LaplaceMechanism(epsilon).compute_noise()


def laplace_vector(data, epsilon):
    return LaplaceMechanism(epsilon).perturb_vector(np.array(data, float))


def gaussian(data, epsilon, delta):
    return data + GaussianMechanism(epsilon, delta).compute_noise()


def gaussian_vector(data, epsilon, delta):
    return GaussianMechanism(epsilon, delta).perturb_vector(np.array(data, float))


def two_answers(data, epsilon, delta):
    mechanism = GaussianMechanism(epsilon, delta)
    return [data + mechanism.compute_noise(), data + mechanism.compute_noise()]
