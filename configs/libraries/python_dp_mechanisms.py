"""Algorithms of PyDP, the Python face of Google's C++ library; the claim of each is the ε and δ that the object carries."""

from collections.abc import Callable
from typing import Any

from protocol import Claim, Made, serve
from pydp.algorithms import laplacian, numerical_mechanisms, partition_selection


def _claim(algorithm: Any) -> Claim:
    delta = getattr(algorithm, "delta", 0.0)
    return {"epsilon": algorithm.epsilon, "delta": delta} if delta else {"epsilon": algorithm.epsilon}


def _of_records(make: Callable[[], Any], kind: type) -> Made:
    # An algorithm has one result to give.
    return _claim(make()), lambda dataset: make().quick_result([kind(record) for record in dataset])


def count(epsilon: float) -> Made:
    return _of_records(lambda: laplacian.Count(epsilon=epsilon), int)


def bounded_sum(epsilon: float, lower: float, upper: float) -> Made:
    make = laplacian.BoundedSum
    return _of_records(lambda: make(epsilon=epsilon, lower_bound=lower, upper_bound=upper, dtype="float"), float)


def bounded_mean(epsilon: float, lower: float, upper: float) -> Made:
    make = laplacian.BoundedMean
    return _of_records(lambda: make(epsilon=epsilon, lower_bound=lower, upper_bound=upper, dtype="float"), float)


def median(epsilon: float, lower: float, upper: float) -> Made:
    make = laplacian.Median
    return _of_records(lambda: make(epsilon=epsilon, lower_bound=lower, upper_bound=upper, dtype="float"), float)


def laplace(epsilon: float) -> Made:
    mechanism = numerical_mechanisms.LaplaceMechanism(epsilon, 1.0)
    return _claim(mechanism), lambda dataset: mechanism.add_noise(float(dataset))


def integer_laplace(epsilon: float) -> Made:
    mechanism = numerical_mechanisms.LaplaceMechanism(epsilon, 1.0)
    return _claim(mechanism), lambda dataset: mechanism.add_noise(int(dataset))


def gaussian(epsilon: float, delta: float) -> Made:
    mechanism = numerical_mechanisms.GaussianMechanism(epsilon, delta, 1.0)
    return _claim(mechanism), lambda dataset: mechanism.add_noise(float(dataset))


def above_threshold(epsilon: float, threshold: float) -> Made:
    mechanism = numerical_mechanisms.LaplaceMechanism(epsilon, 1.0)
    return _claim(mechanism), lambda dataset: mechanism.noised_value_above_threshold(float(dataset), threshold)


def truncated_geometric_partitions(epsilon: float, delta: float) -> Made:
    strategy = partition_selection.create_truncated_geometric_partition_strategy(epsilon, delta, 1)
    return _claim(strategy), lambda people: strategy.should_keep(people[0])


def laplace_partitions(epsilon: float, delta: float) -> Made:
    strategy = partition_selection.create_laplace_partition_strategy(epsilon, delta, 1)
    return _claim(strategy), lambda people: strategy.noised_value_if_should_keep(people[0])


serve(
    count,
    bounded_sum,
    bounded_mean,
    median,
    laplace,
    integer_laplace,
    gaussian,
    above_threshold,
    truncated_geometric_partitions,
    laplace_partitions,
)
