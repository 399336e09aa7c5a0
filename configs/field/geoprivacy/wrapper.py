"""GeoPrivacy 0.0.4, as its README calls it; a data set is a point, or the index of one of three points."""

import functools

from GeoPrivacy import mechanism, metrics
from GeoPrivacy.processor import DataProcessor

POINTS, WEIGHTS = [(0, 0), (1, 0), (0, 2)], [3, 2, 5]


def planar_laplace(data, epsilon):
    x, y = mechanism.random_laplace_noise(epsilon)
    return data[0] + x, data[1] + y


# "location = (3, 5); noise = random_laplace_noise(eps); new_location = location + noise"
def readme(data, epsilon):
    return tuple(data) + mechanism.random_laplace_noise(epsilon)


@functools.cache
def _processor(epsilon):
    processor = DataProcessor(POINTS, WEIGHTS)
    processor.customize_metric(metrics.euclidean)
    processor.build_model(epsilon, 1.1, "optimal")
    return processor


def processor(data, epsilon):
    return int(_processor(epsilon).generate_point(data))


@functools.cache
def _matrix(epsilon):
    return mechanism.optql(POINTS, WEIGHTS, metrics.euclidean, epsilon=epsilon)[0]


def optql(data, epsilon):
    return int(mechanism.np.random.choice(3, p=_matrix(epsilon)[data]))
