# diffprivlib 0.6.6, as built by `python -m auditor.libraries diffprivlib`.
# ruff: noqa
# fmt: off
import diffprivlib.mechanisms
import diffprivlib.tools
import diffprivlib.models
import functools

import numpy
from diffprivlib import mechanisms, models, tools


def with_bounds(tool, **more):
    return functools.partial(tool, epsilon=1.0, bounds=(0, 10), **more)


SQUARE = ([0, 0], [1, 1])


class OfBothClasses:
    """Learns from two records more, which are public: a model reads its classes from the data."""

    def fit(self, X, y):
        return super().fit(numpy.vstack([numpy.zeros((2, X.shape[1])), X]), numpy.append([0.0, 1.0], y))


class BayesOfBoth(OfBothClasses, models.GaussianNB):
    pass


class LogisticOfBoth(OfBothClasses, models.LogisticRegression):
    pass

Binary = diffprivlib.mechanisms.Binary(epsilon=1.0, value0='a', value1='b')
Bingham = diffprivlib.mechanisms.Bingham(epsilon=1.0)
Exponential = mechanisms.Exponential(epsilon=1.0, sensitivity=1, utility=[0, 0, 0])
ExponentialCategorical = diffprivlib.mechanisms.ExponentialCategorical(epsilon=1.0, utility_list=[['a', 'b', 1], ['a', 'c', 2], ['b', 'c', 2]])
ExponentialHierarchical = diffprivlib.mechanisms.ExponentialHierarchical(epsilon=1.0, hierarchy=[['a', 'b'], ['c']])
Gaussian = diffprivlib.mechanisms.Gaussian(epsilon=1.0, delta=0.01, sensitivity=1)
GaussianAnalytic = diffprivlib.mechanisms.GaussianAnalytic(epsilon=1.0, delta=0.01, sensitivity=1)
GaussianDiscrete = diffprivlib.mechanisms.GaussianDiscrete(epsilon=1.0, delta=0.01)
Geometric = diffprivlib.mechanisms.Geometric(epsilon=1.0)
GeometricFolded = diffprivlib.mechanisms.GeometricFolded(epsilon=1.0, lower=0, upper=10)
GeometricTruncated = diffprivlib.mechanisms.GeometricTruncated(epsilon=1.0, lower=0, upper=10)
Laplace = diffprivlib.mechanisms.Laplace(epsilon=1.0, sensitivity=1)
LaplaceBoundedDomain = diffprivlib.mechanisms.LaplaceBoundedDomain(epsilon=1.0, sensitivity=1, lower=0, upper=10)
LaplaceBoundedNoise = diffprivlib.mechanisms.LaplaceBoundedNoise(epsilon=1.0, delta=0.01, sensitivity=1)
LaplaceFolded = diffprivlib.mechanisms.LaplaceFolded(epsilon=1.0, sensitivity=1, lower=0, upper=10)
LaplaceTruncated = diffprivlib.mechanisms.LaplaceTruncated(epsilon=1.0, sensitivity=1, lower=0, upper=10)
PermuteAndFlip = mechanisms.PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=[0, 0, 0])
Snapping = diffprivlib.mechanisms.Snapping(epsilon=1.0, sensitivity=1, lower=0, upper=10)
Staircase = diffprivlib.mechanisms.Staircase(epsilon=1.0, sensitivity=1)
Uniform = diffprivlib.mechanisms.Uniform(delta=0.01, sensitivity=1)
Vector = mechanisms.Vector(epsilon=1.0, function_sensitivity=0.25, dimension=2, alpha=1.0)
Vector_2 = mechanisms.Vector(epsilon=1.0, function_sensitivity=0.25, dimension=1, data_sensitivity=1000, alpha=1.0)
count_nonzero = functools.partial(tools.count_nonzero, epsilon=1.0)
histogram = functools.partial(tools.histogram, epsilon=1.0, bins=3, range=(0, 10))
histogram2d = functools.partial(tools.histogram2d, epsilon=1.0, bins=2, range=[(0, 10), (0, 10)])
histogramdd = functools.partial(tools.histogramdd, epsilon=1.0, bins=2, range=[(0, 10), (0, 10)])
mean = with_bounds(tools.mean)
median = with_bounds(tools.median)
nanmean = with_bounds(tools.nanmean)
nanstd = with_bounds(tools.nanstd)
nansum = with_bounds(tools.nansum)
nanvar = with_bounds(tools.nanvar)
percentile = with_bounds(tools.percentile, percent=20)
quantile = with_bounds(tools.quantile, quant=0.9)
std = with_bounds(tools.std)
sum = with_bounds(tools.sum)
var = with_bounds(tools.var)
DecisionTreeClassifier = models.DecisionTreeClassifier(epsilon=1.0, bounds=SQUARE, classes=[0, 1], max_depth=1)
GaussianNB = BayesOfBoth(epsilon=1.0, bounds=SQUARE)
KMeans = models.KMeans(n_clusters=2, epsilon=1.0, bounds=SQUARE)
KMeans_2 = models.KMeans(n_clusters=2, epsilon=1.0, bounds=SQUARE)
LinearRegression = models.LinearRegression(epsilon=1.0, bounds_X=([-1, -1], [1, 1]), bounds_y=(-1, 1))
LogisticRegression = LogisticOfBoth(epsilon=1.0, data_norm=1.0, fit_intercept=False)
LogisticRegression_2 = LogisticOfBoth(epsilon=1.0, data_norm=1000, fit_intercept=False)
PCA = models.PCA(n_components=1, epsilon=1.0, data_norm=1.5, bounds=SQUARE)
RandomForestClassifier = models.RandomForestClassifier(n_estimators=2, epsilon=1.0, bounds=SQUARE, classes=[0, 1], max_depth=1)
StandardScaler = models.StandardScaler(epsilon=1.0, bounds=SQUARE)
