"""Predefined distributions over outputs that can be listed: randomised response, RAPPOR, discrete Laplace."""

import math
from collections.abc import Sequence

import numpy as np

from auditor.errors import InvalidInputError, require_number
from mechanisms.exact.distributions import MassFunction, Product


def kary_randomised_response(value: int, k: int, epsilon: float) -> MassFunction:
    """Return the output of k-ary randomised response on ``value``, over 0 … k − 1 (document 002).

    The value itself has probability e^ε/(k − 1 + e^ε), every other one 1/(k − 1 + e^ε).

    Raises InvalidInputError unless 0 ≤ value < k and epsilon ≥ 0.
    """
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    _require_value(value, k)
    log_other = -float(np.logaddexp(math.log(k - 1), epsilon)) if k > 1 else -epsilon
    return MassFunction({output: log_other + (epsilon if output == value else 0.0) for output in range(k)})


def bernoulli(log_one: float, log_zero: float) -> MassFunction:
    """Return a bit by the logarithms of its two probabilities, outputs True and False."""
    return MassFunction({True: log_one, False: log_zero})


def basic_rappor(value: int, k: int, epsilon: float) -> Product:
    """Return the output of basic one-time RAPPOR on ``value``: k bits of a one-hot vector, each flipped independently.

    A bit is flipped with probability f/2 = 1/(1 + e^(ε/2)) (document 002; Erlingsson et al. 2014).

    Raises InvalidInputError unless 0 ≤ value < k and epsilon ≥ 0.
    """
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    _require_value(value, k)
    log_kept = -math.log1p(math.exp(-epsilon / 2))
    log_flipped = log_kept - epsilon / 2
    on, off = bernoulli(log_kept, log_flipped), bernoulli(log_flipped, log_kept)
    return Product(tuple(on if bit == value else off for bit in range(k)))


def discrete_laplace(location: int, rate: float, window: tuple[int, int]) -> MassFunction:
    """Return ``location`` plus discrete Laplace noise, P[X = x] = tanh(a/2) e^(−a|x|) with a = ``rate``.

    The ends of ``window`` = (low, high) stand for all outputs at or beyond them. This loses nothing if both sides of a
    pair have the same window and locations inside it: beyond both locations the ratio is constant.

    Raises InvalidInputError unless low ≤ location ≤ high, low < high and rate > 0.

    >>> discrete_laplace(0, math.log(3), (0, 1)).log_masses[0] == math.log(0.75)
    True
    """
    rate = require_number("rate", rate, 0, math.inf, low_open=True)
    low, high = window
    if not low <= location <= high or low == high:
        raise InvalidInputError(
            f"window is {window!r} around the location {location!r}; it must hold it and two outputs"
        )
    log_peak = math.log(math.tanh(rate / 2))
    # P[X ≥ m] = e^(−am)/(1 + e^(−a)) for m ≥ 0, the sum of a geometric series.
    log_tail = -math.log1p(math.exp(-rate))
    return MassFunction(
        {
            output: (log_tail if output in window else log_peak) - rate * abs(output - location)
            for output in range(low, high + 1)
        }
    )


def discrete_laplace_totals(
    totals: Sequence[int], sensitivity: float, epsilon: float, windows: Sequence[tuple[int, int]]
) -> Product:
    """Return integer totals plus independent discrete Laplace noise of rate ε/Δ (document 002), each in its window."""
    return Product(
        tuple(
            discrete_laplace(total, epsilon / sensitivity, window)
            for total, window in zip(totals, windows, strict=True)
        )
    )


def _require_value(value: int, k: int) -> None:
    if not 0 <= value < k:
        raise InvalidInputError(f"value is {value!r}; it must be one of the k = {k} values 0 to {k - 1}")
