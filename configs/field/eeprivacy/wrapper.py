"""eeprivacy 0.0.5: operations on energy data, as their docstrings call them."""

import numpy as np
from eeprivacy import mechanisms, operations


def laplace(data, epsilon):
    return mechanisms.LaplaceMechanism.execute(value=data, epsilon=epsilon, sensitivity=1)


def gaussian(data, epsilon, delta):
    return mechanisms.GaussianMechanism.execute(value=data, epsilon=epsilon, delta=delta, sensitivity=1)


def clamped_sum(data, low, high, epsilon):
    return operations.PrivateClampedSum(lower_bound=low, upper_bound=high).execute(values=data, epsilon=epsilon)


def clamped_mean(data, low, high, epsilon):
    return operations.PrivateClampedMean(lower_bound=low, upper_bound=high).execute(values=data, epsilon=epsilon)


def vector_mean_laplace(data, epsilon):
    mean = operations.PrivateVectorClampedMeanLaplace(lower_bound=0, upper_bound=1, k=2, N=len(data))
    return mean.execute(vectors=data, epsilon=epsilon, delta=0.0)


def vector_mean_gaussian(data, epsilon, delta):
    mean = operations.PrivateVectorClampedMeanGaussian(lower_bound=0, upper_bound=1, k=2, N=len(data))
    return mean.execute(vectors=data, epsilon=epsilon, delta=delta)


def histogram(data, epsilon):
    return operations.PrivateHistogram(bins=[0, 1, 2, 3]).execute(values=data, epsilon=epsilon)


def quantile(data, epsilon, share):
    options = [0.0, 1.0, 2.0, 3.0]
    return operations.PrivateQuantile(options=options).execute(
        values=np.array(data, float), epsilon=epsilon, quantile=share
    )
