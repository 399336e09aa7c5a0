"""Mechanisms whose outputs have different shapes, each with one Laplace number or more. A configuration names them by this file."""

from typing import Any

import numpy as np

Rng = np.random.Generator
LETTERS = ["a", "b", "c", "d"]


def laplace(value: int, size: int, rng: Rng) -> Any:
    return rng.laplace(value, 1.0, size)


def randomised_response(bit: int, size: int, rng: Rng) -> Any:
    return (rng.random(size) < 0.25) ^ bool(bit)


def vector(value: int, size: int, rng: Rng) -> Any:
    return rng.laplace(value / 10, 1.0, (size, 10))


def one_float(value: int, rng: Rng) -> Any:
    return rng.laplace(value)


def one_dict(value: int, rng: Rng) -> Any:
    return {"count": rng.laplace(value), "keys": LETTERS[: int(rng.integers(1, 4))]}


def one_list(value: int, rng: Rng) -> Any:
    return rng.laplace(value, 1.0, 3).tolist()


def strings(bit: int, size: int, rng: Rng) -> Any:
    return ["yes" if yes else "no" for yes in (rng.random(size) < (0.75 if bit else 0.25)).tolist()]


def tuples(value: int, size: int, rng: Rng) -> Any:
    return list(zip(rng.laplace(value, 1.0, size).tolist(), rng.random(size).tolist(), strict=True))
