"""diffpriv-pure 0.1.0, as its README calls it."""

import diffpriv_pure


def private_sum(data, low, high, epsilon, delta=0.0):
    return diffpriv_pure.private_sum(values=data, bounds=(low, high), epsilon=epsilon, delta=delta)


def private_mean(data, low, high, epsilon, delta=0.0):
    return diffpriv_pure.private_mean(values=data, bounds=(low, high), epsilon=epsilon, delta=delta)


def private_count(data, epsilon):
    return diffpriv_pure.private_count(condition_count=data, epsilon=epsilon)


def laplace_noise(data, epsilon):
    return data + diffpriv_pure.laplace_noise(scale=1 / epsilon, epsilon=epsilon)
