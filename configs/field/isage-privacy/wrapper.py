"""isage-privacy 0.1.0.2: its mechanisms, on a class of their own in place of the framework's."""

import importlib

import numpy as np
from stand_ins import load_submodules_only, stand_in_for

stand_in_for("sage")
load_submodules_only("sage_privacy", "sage_privacy.dp")


class Base:
    """What the mechanisms take of the framework's class."""

    def __init__(self, epsilon, delta, sensitivity, name):
        self.epsilon, self.delta, self.sensitivity, self.name = epsilon, delta, sensitivity, name
        self._privacy_spent = 0.0


importlib.import_module("sage.libs.privacy.interface").BasePrivacyMechanism = Base
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
