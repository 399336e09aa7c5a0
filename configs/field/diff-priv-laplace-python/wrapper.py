"""diff-priv-laplace-python 1.0.5, as its README calls it."""

import numpy as np
from diffpriv_laplace import (
    DiffPrivLaplaceMechanism,
    DiffPrivLaplaceSanitizer,
    DiffPrivSequentialStatisticsQuery,
    DiffPrivStatisticKind,
    DiffPrivStatistics,
)


def anonymize_count(data, epsilon):
    return DiffPrivLaplaceMechanism(epsilon).anonymize_count(data)


def anonymize_mean(data, epsilon):
    return DiffPrivLaplaceMechanism(epsilon).anonymize_mean(np.mean(data), 0.0, 1.0, len(data))


def statistic(data, name, epsilon):
    return getattr(DiffPrivStatistics, name)(np.array(data), epsilon)


def count(data, epsilon):
    return DiffPrivStatistics.count(np.array(data, bool), epsilon)


def two_statistics(data, epsilon):
    kinds = DiffPrivStatisticKind.count | DiffPrivStatisticKind.proportion
    [answers] = DiffPrivSequentialStatisticsQuery.query(np.array(data, bool), kinds, epsilon)
    return [float(answers[kind]) for kind in (DiffPrivStatisticKind.count, DiffPrivStatisticKind.proportion)]


def sanitizer(data, epsilon, postprocess=False):
    selectors = [lambda values: values >= 0.0, lambda values: values < 0.0]
    return DiffPrivLaplaceSanitizer.count(np.array(data, float), selectors, epsilon, postprocess=postprocess)[0]
