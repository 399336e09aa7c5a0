"""Report noisy max (Ding et al. 2018, "Detecting violations of differential privacy"): the index is private, the value is not.

One person moves each of the answers by at most 1.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen
from mechanisms.truths.noise import Exponential, Laplace
from mechanisms.truths.noisy_max import noisy_max_index, noisy_max_value

WHERE = "answers, each moved by up to 1"
Reals = NDArray[np.float64]


def _index(noisy: Reals) -> NDArray[np.int64]:
    largest: NDArray[np.int64] = np.argmax(noisy, axis=1)
    return largest


def _value(noisy: Reals) -> Reals:
    largest: Reals = np.max(noisy, axis=1)
    return largest


@truth(each(lambda answers, epsilon: noisy_max_index(answers, Laplace(2 / epsilon))))
@specimen(31, "Ding et al. 2018", "ε", f"{WHERE}; index, Laplace noise", holds=True)
def index_with_laplace(
    answers: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float
) -> NDArray[np.int64]:
    """Return which answer is largest after Laplace noise of scale 2/ε (Algorithm 5; "ReportNoisyMax1" of DP-Sniper)."""
    return _index(rng.laplace(answers, 2 / epsilon, (size, len(answers))))


@truth(each(lambda answers, epsilon: noisy_max_index(answers, Exponential(2 / epsilon))))
@specimen(32, "Ding et al. 2018", "ε", f"{WHERE}; index, exponential noise", holds=True)
def index_with_exponential(
    answers: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float
) -> NDArray[np.int64]:
    """Return which answer is largest after exponential noise of scale 2/ε (Algorithm 6; "ReportNoisyMax2")."""
    return _index(answers + rng.exponential(2 / epsilon, (size, len(answers))))


@truth(each(lambda answers, epsilon: noisy_max_value(answers, Laplace(2 / epsilon))))
@specimen(33, "Ding et al. 2018", "ε", f"{WHERE}; value, Laplace noise", holds=False)
def value_with_laplace(answers: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float) -> Reals:
    """Return the largest noisy answer itself (Algorithm 7; "ReportNoisyMax3").

    A low output means that all k noisy answers are low, so that moving k answers by 1 loses kε/2.
    """
    return _value(rng.laplace(answers, 2 / epsilon, (size, len(answers))))


@truth(each(lambda answers, epsilon: noisy_max_value(answers, Exponential(2 / epsilon))))
@specimen(34, "Ding et al. 2018", "ε", f"{WHERE}; value, exponential noise", holds=False)
def value_with_exponential(answers: NDArray[Any], size: int, rng: np.random.Generator, *, epsilon: float) -> Reals:
    """Return the largest answer with exponential noise instead of its index (Algorithm 8; "ReportNoisyMax4").

    It is never below the largest answer, so an output below the largest answer on one data set can only come from the other.
    """
    return _value(answers + rng.exponential(2 / epsilon, (size, len(answers))))
