"""Document 003, "Beyond Local Sensitivity via Down Sensitivity": the shifted inverse sensitivity mechanism.

f maps data sets of integer records to Y = {low, …, high}. The loss ℓ(x, y) is the smallest number of records to remove from x
so that f ≤ y (Equation 4), and ℓ̄(x, y) so that f < y (Equation A; infinite if impossible).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import MassFunction
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
# (records, y, strictly) -> the least number of records to remove so that f ≤ y, or f < y, for each y.
Loss = Callable[[Integers, Integers, bool], Reals]


def loss_of_max(records: Integers, y: Integers, strictly: bool = False) -> Reals:
    """Return ℓ (or ℓ̄) for the maximum: the number of records above y (or not below). The maximum of none is low.

    >>> loss_of_max(np.array([0, 1, 1, 2]), np.array([0, 1, 2])).tolist()
    [3.0, 1.0, 0.0]
    """
    above = np.subtract.outer(records, y)
    removed = (above >= 0 if strictly else above > 0).sum(axis=0).astype(np.float64)
    # Even for no records the maximum is not below low, the first y.
    return np.where((y == y[0]) & strictly, np.inf, removed)


def loss_of_sum(records: Integers, y: Integers, strictly: bool = False) -> Reals:
    """Return ℓ (or ℓ̄) for the sum: largest records go first until the rest sums to at most y (or less).

    >>> loss_of_sum(np.array([1, 1, 1]), np.array([0, 1, 2, 3])).tolist()
    [3.0, 2.0, 1.0, 0.0]
    >>> loss_of_sum(np.array([1, 1, 1, -3]), np.array([0, 1, 2, 3])).tolist()
    [0.0, 0.0, 0.0, 0.0]
    """
    largest_first = np.sort(records)[::-1]
    left_over = records.sum() - np.concatenate([[0], np.cumsum(largest_first[largest_first > 0])])
    enough = np.less.outer(left_over, y) if strictly else np.less_equal.outer(left_over, y)
    return np.where(enough.any(axis=0), enough.argmax(axis=0), np.inf)


def loss_of_monotonised_sum(records: Integers, y: Integers, strictly: bool = False) -> Reals:
    """Return ℓ (or ℓ̄) for f(x) = max{Σ x̌ : x̌ ⊆ x}, the sum of the positive records."""
    return loss_of_sum(np.maximum(records, 0), y, strictly)


def tau_of(outputs: int, epsilon: float, beta: float) -> int:
    """Return τ = ⌈(2/ε) ln(|Y|/β)⌉ (Theorem 4)."""
    return math.ceil(2 / epsilon * math.log(outputs / beta))


def absolute(loss: Loss, records: Integers, y: Integers, tau: int) -> Reals:
    """Return |ℓ − τ|, the loss of Fang, Dong & Yi 2022."""
    return np.abs(loss(records, y, False) - tau)


def footnote_4(loss: Loss, records: Integers, y: Integers, tau: int) -> Reals:
    """Return ℓ* = max{ℓ − τ, τ − ℓ̄} (Equation B)."""
    return np.maximum(loss(records, y, False) - tau, tau - loss(records, y, True))


def chances(
    records: Integers, loss: Loss, *, low: int, high: int, epsilon: float, beta: float, shifted: str = "absolute"
) -> Reals:
    """Return P[M(x) = y] for each y of Y: the exponential mechanism, e^(−ε/2 · shifted loss), normalised."""
    y = np.arange(low, high + 1)
    shift = {"absolute": absolute, "footnote_4": footnote_4}[shifted]
    scores = -epsilon / 2 * shift(loss, np.asarray(records, np.int64), y, tau_of(len(y), epsilon, beta))
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def _draw(chance: Reals, low: int, size: int, rng: np.random.Generator) -> Integers:
    return low + rng.choice(len(chance), size, p=chance)


def _exact(loss: Loss) -> Callable[..., tuple[MassFunction, MassFunction]]:
    def masses(records: Integers, *, low: int, **parameters: Any) -> MassFunction:
        chance = chances(records, loss, low=low, **parameters)
        return MassFunction.of({low + i: float(p) for i, p in enumerate(chance)})

    return each(masses)


@truth(_exact(loss_of_max))
@specimen(17, "003", "ε", "records; add/remove; f = max", holds=True)
def shifted_inverse_max(
    records: Integers,
    size: int,
    rng: np.random.Generator,
    *,
    low: int,
    high: int,
    epsilon: float,
    beta: float,
    shifted: str = "absolute",
) -> Integers:
    """Run the mechanism for the maximum, which is monotone: its loss has sensitivity 1 (Proposition 3)."""
    chance = chances(records, loss_of_max, low=low, high=high, epsilon=epsilon, beta=beta, shifted=shifted)
    return _draw(chance, low, size, rng)


@truth(_exact(loss_of_sum))
@specimen(18, "003", "ε", "signed records; add/remove; f = sum", holds=False)
def shifted_inverse_sum(
    records: Integers,
    size: int,
    rng: np.random.Generator,
    *,
    low: int,
    high: int,
    epsilon: float,
    beta: float,
    shifted: str = "absolute",
) -> Integers:
    """Run the mechanism for the sum, which is not monotone: one record of −n can change the loss from n to 0."""
    chance = chances(records, loss_of_sum, low=low, high=high, epsilon=epsilon, beta=beta, shifted=shifted)
    return _draw(chance, low, size, rng)


@truth(_exact(loss_of_monotonised_sum))
@specimen(19, "003", "ε", "signed records; add/remove; f = monotonised sum", holds=True)
def shifted_inverse_monotonised_sum(
    records: Integers,
    size: int,
    rng: np.random.Generator,
    *,
    low: int,
    high: int,
    epsilon: float,
    beta: float,
    shifted: str = "absolute",
) -> Integers:
    """Run the mechanism for max{Σ x̌ : x̌ ⊆ x}, which is monotone."""
    chance = chances(records, loss_of_monotonised_sum, low=low, high=high, epsilon=epsilon, beta=beta, shifted=shifted)
    return _draw(chance, low, size, rng)


def down_sensitivity_of_max(records: Integers, k: int, low: int) -> int:
    """Return DS^k (Equation 1) of the maximum: by how much it falls when the k largest records are removed."""
    ordered = np.sort(records)
    rest = ordered[: max(0, len(ordered) - k)]
    return int((ordered[-1] if len(ordered) else low) - (rest[-1] if len(rest) else low))


def down_sensitivity_of_sum(records: Integers, *, k: int) -> int:
    """Return DS^k (Equation 1) of the sum: the most that removing up to k records can move it, either way.

    >>> down_sensitivity_of_sum(np.array([1, 1, 1]), k=2), down_sensitivity_of_sum(np.array([1, 1, 1, -3]), k=2)
    (2, 3)
    """
    ordered = np.sort(records)
    gains, losses = ordered[:k], ordered[::-1][:k]
    return int(max(-gains[gains < 0].sum(), losses[losses > 0].sum()))


def theorem_4_accuracy(
    records: Integers, size: int, rng: np.random.Generator, *, low: int, high: int, epsilon: float, beta: float
) -> NDArray[np.bool_]:
    """Return whether f(x) ≥ M(x) ≥ f(x) − DS^{2τ}(x) for the maximum, M with footnote 4's ℓ*: claimed for 1 − β."""
    outputs = shifted_inverse_max(
        records, size, rng, low=low, high=high, epsilon=epsilon, beta=beta, shifted="footnote_4"
    )
    truth = max(records, default=low)
    reach = down_sensitivity_of_max(records, 2 * tau_of(high - low + 1, epsilon, beta), low)
    return (outputs <= truth) & (outputs >= truth - reach)
