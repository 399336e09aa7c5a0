"""Mechanisms and generators for test_fuzz.py, some valid and some not."""


def count(dataset, rng, epsilon=1.0):
    return len(dataset) + rng.laplace(scale=1 / epsilon)


def batch(dataset, size, rng, epsilon=1.0):
    return rng.laplace(0.0, 1 / epsilon, size)


def total(dataset, rng, k=2, epsilon=1.0):
    return sum(dataset) * range(k)[-1] + rng.normal(scale=epsilon)


def raising(dataset, rng):
    raise ValueError("no data is right")


def constant(dataset):
    return 1


def pairs():
    yield [1], [1, 2]


def domain():
    from auditor import Records

    return Records((0, 10), size=(0, 3))


def fails():
    raise KeyError("no such file")


def needs_more(path):
    yield path, path


nothing = None
