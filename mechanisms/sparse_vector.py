"""The sparse vector technique in the six variants of Lyu, Su & Li 2017, two of which are private, and two mechanisms built on
them.

Each compares the noisy answer of every query with a noisy threshold, and stops after ``cutoff`` answers above. One person
changes each answer by at most 1. Answers are 1 (above), 0 (below) and −1 (not answered, after the stop).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import MassFunction
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import F, specimen
from mechanisms.truths.noise import Laplace, NoNoise
from mechanisms.truths.sparse_vector import sparse_vector

Answers = NDArray[Any]
Codes = NDArray[np.int8]
Reals = NDArray[np.float64]
PAPER = "Lyu, Su & Li 2017"
WHERE = "answers, each moved by up to 1"


def _stopped(above: NDArray[np.bool_], cutoff: int) -> NDArray[np.bool_]:
    """Return which queries follow the ``cutoff``-th answer above."""
    before: NDArray[np.int64] = np.cumsum(above, axis=1) - above
    return before >= cutoff


def _codes(above: NDArray[np.bool_], cutoff: int) -> Codes:
    return np.where(_stopped(above, cutoff), -1, above).astype(np.int8)


def _limits(threshold: float, scale: float, size: int, rng: np.random.Generator) -> Reals:
    """Return a noisy threshold for each output, as a column."""
    return threshold + rng.laplace(0.0, scale, (size, 1))


def _exact(scales: Callable[[float, int], tuple[float, float]], fresh: bool = False) -> Callable[[F], F]:
    """Return the exact distributions of a variant, given ``scales(epsilon, cutoff)`` of the threshold and of the queries."""

    def masses(answers: Sequence[float], epsilon: float, threshold: float, cutoff: int | None = None) -> MassFunction:
        first, second = scales(epsilon, cutoff or 0)
        return sparse_vector(
            answers, threshold, Laplace(first), Laplace(second) if second else NoNoise(), cutoff, fresh
        )

    return truth(each(masses))


@_exact(lambda epsilon, cutoff: (2 / epsilon, 4 * cutoff / epsilon))
@specimen(39, PAPER, "ε", f"{WHERE}; Algorithm 1", holds=True)
def svt_1(
    answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float, cutoff: int
) -> Codes:
    """Run Algorithm 1: threshold noise of scale 1/ε₁, query noise of scale 2c/ε₂, with ε₁ = ε₂ = ε/2 (their own)."""
    limits = _limits(threshold, 2 / epsilon, size, rng)
    return _codes(rng.laplace(answers, 4 * cutoff / epsilon, (size, len(answers))) >= limits, cutoff)


@_exact(lambda epsilon, cutoff: (2 * cutoff / epsilon, 4 * cutoff / epsilon), fresh=True)
@specimen(40, PAPER, "ε", f"{WHERE}; Algorithm 2", holds=True)
def svt_2(
    answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float, cutoff: int
) -> Codes:
    """Run Algorithm 2 (Dwork & Roth 2014): threshold noise of scale c/ε₁, drawn anew after each answer above."""
    noisy = rng.laplace(answers, 4 * cutoff / epsilon, (size, len(answers)))
    limits = threshold + rng.laplace(0.0, 2 * cutoff / epsilon, (size, cutoff))
    above = np.zeros(noisy.shape, np.bool_)
    so_far, rows = np.zeros(size, np.int64), np.arange(size)
    for query in range(len(answers)):
        # Queries after the last threshold are not answered.
        above[:, query] = noisy[:, query] >= limits[rows, np.minimum(so_far, cutoff - 1)]
        so_far += above[:, query]
    return _codes(above, cutoff)


@specimen(41, PAPER, "ε", f"{WHERE}; Algorithm 3", holds=False)
def svt_3(
    answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float, cutoff: int
) -> Reals:
    """Run Algorithm 3 (Roth 2011), which releases noisy answers above the threshold; query noise c/ε₂.

    NaN stands for an answer without a number; whether it was below or not answered follows from the numbers before it. A number
    far below reveals that the threshold is lower still, which then protects nothing: each earlier query loses up to ε₂/c,
    without a bound on their number.
    """
    noisy = rng.laplace(answers, 2 * cutoff / epsilon, (size, len(answers)))
    above = noisy >= _limits(threshold, 2 / epsilon, size, rng)
    return np.where(above & ~_stopped(above, cutoff), noisy, np.nan)


@_exact(lambda epsilon, cutoff: (4 / epsilon, 4 / (3 * epsilon)))
@specimen(42, PAPER, "ε", f"{WHERE}; Algorithm 4", holds=False)
def svt_4(
    answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float, cutoff: int
) -> Codes:
    """Run Algorithm 4 (Lee & Clifton 2014): ε₁ = ε/4, ε₂ = 3ε/4, query noise of scale 1/ε₂ whatever the cutoff.

    It is ((1 + 6c)/4) ε-private (Lyu, Su & Li 2017, Figure 2), and 10 queries come within a thousandth of ε of this.
    """
    limits = _limits(threshold, 4 / epsilon, size, rng)
    return _codes(rng.laplace(answers, 4 / (3 * epsilon), (size, len(answers))) >= limits, cutoff)


@_exact(lambda epsilon, cutoff: (2 / epsilon, 0.0))
@specimen(43, PAPER, "ε", f"{WHERE}; Algorithm 5", holds=False)
def svt_5(answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float) -> Codes:
    """Run Algorithm 5 (Stoddard et al. 2014): no noise on queries, no cutoff. Equal answers get equal outputs."""
    above = np.asarray(answers) >= _limits(threshold, 2 / epsilon, size, rng)
    return above.astype(np.int8)


@_exact(lambda epsilon, cutoff: (2 / epsilon, 2 / epsilon))
@specimen(44, PAPER, "ε", f"{WHERE}; Algorithm 6", holds=False)
def svt_6(answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float) -> Codes:
    """Run Algorithm 6 (Chen et al. 2015): query noise of scale 1/ε₂ and no cutoff, so that each query loses more."""
    limits = _limits(threshold, 2 / epsilon, size, rng)
    return (rng.laplace(answers, 2 / epsilon, (size, len(answers))) >= limits).astype(np.int8)


@specimen(45, "Wang et al. 2019", "ε", f"{WHERE}; numbers with fresh noise", holds=True)
def numerical_svt(
    answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float, cutoff: int
) -> Reals:
    """Return the answers of queries above the threshold with fresh noise ("NumSVT").

    Scales are 3/ε for the threshold, 6c/ε for the comparison and 3c/ε for the numbers. NaN stands for a missing number.
    """
    limits = _limits(threshold, 3 / epsilon, size, rng)
    above = rng.laplace(answers, 6 * cutoff / epsilon, (size, len(answers))) >= limits
    numbers = rng.laplace(answers, 3 * cutoff / epsilon, (size, len(answers)))
    return np.where(above & ~_stopped(above, cutoff), numbers, np.nan)


@specimen(46, "Bichsel et al. 2021", "2ε", f"{WHERE}; Algorithms 3 and 4 in parallel", holds=False)
def svt_3_and_4(
    answers: Answers, size: int, rng: np.random.Generator, *, epsilon: float, threshold: float, cutoff: int
) -> Reals:
    """Run Algorithms 3 and 4 on the same queries, independently, and return both ("SVT34Parallel" of DP-Sniper)."""
    parameters = {"epsilon": epsilon, "threshold": threshold, "cutoff": cutoff}
    both = (svt_3(answers, size, rng, **parameters), svt_4(answers, size, rng, **parameters))  # type: ignore[arg-type]
    return np.concatenate(both, axis=1)
