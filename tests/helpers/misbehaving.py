"""Misbehaving mechanisms, in a module of their own because each of their processes imports it."""

import ctypes
import os
import signal
import sys
from typing import Any

import numpy as np


def laplace(value: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(value, 1.0, size)


def laplace_one(value: float, rng: np.random.Generator) -> float:
    return float(rng.laplace(value, 1.0))


def mixed(value: float, rng: np.random.Generator) -> Any:
    return [None, 1, 1.0, float("nan"), "text", {"a": [value]}, ValueError("no"), 2**70][rng.integers(8)]


def raising(value: float, size: int, rng: np.random.Generator) -> Any:
    if rng.random() < 0.05:
        raise ValueError("a batch")
    return rng.random(size)


def exits(value: float, size: int, rng: np.random.Generator) -> Any:
    print("a reason", file=sys.stderr, flush=True)
    os._exit(0)


def crashes(value: float, rng: np.random.Generator) -> Any:
    return ctypes.string_at(0)


def hangs(value: float, rng: np.random.Generator) -> Any:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        pass


def holds_the_interpreter(value: float, size: int, rng: np.random.Generator) -> Any:
    return (10**8) ** (10**8)  # one instruction, during which no other thread runs


def exits_on_the_left(value: float, rng: np.random.Generator) -> Any:
    if value == 0:
        os._exit(3)
    return float(rng.random())


def exits_now_and_then_on_the_left(value: float, rng: np.random.Generator) -> Any:
    if value == 0 and rng.random() < 0.3:
        os._exit(3)
    return 0.0


own = np.random.default_rng(5)


def shares_a_state(value: float, size: int) -> Any:
    return own.laplace(value, 1.0, size)


def query_that_exits(records: Any) -> float:
    if len(records) == 3:
        os._exit(3)
    return 0.0


def query_that_hangs(records: Any) -> float:
    while len(records) == 3:
        pass
    return 0.0
