"""Clopper-Pearson limits of a binomial proportion, and the textbook bound from two of them."""

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auditor.bounds.evidence import Counts
from auditor.errors import InvalidInputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Exponents are capped at MOST_EXPONENT, since e^ε of a claim may exceed the largest double.
MOST_EXPONENT = 700.0


def finite_exp(exponent: ArrayLike) -> Floats:
    """Return e to the power of each exponent, but at most e^700, so that the result is finite.

    >>> float(finite_exp(0.0)), bool(np.isfinite(finite_exp(1e9)))
    (1.0, True)
    """
    return np.asarray(np.exp(np.minimum(exponent, MOST_EXPONENT)))


def _check(hits: ArrayLike, trials: ArrayLike, alpha: float) -> tuple[Floats, Floats]:
    hits_, trials_ = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is {alpha!r}; it must lie strictly between 0 and 1")
    if not np.all((hits_ >= 0) & (hits_ <= trials_)):
        raise InvalidInputError(
            f"hits are {hits!r}, trials are {trials!r}; hits must be from 0 to the number of trials"
        )
    return hits_, trials_


def clopper_pearson_lower(hits: ArrayLike, trials: ArrayLike, alpha: float) -> Floats:
    """Return the one-sided lower limit: it exceeds the true proportion with probability at most ``alpha``.

    The limit is the proportion p at which P[Bin(trials, p) ≥ hits] = alpha, and 0 if hits = 0
    (Clopper & Pearson 1934). ``hits`` and ``trials`` are integers of one shape, or broadcast to one.

    >>> float(clopper_pearson_lower(10, 10, 0.05).round(4))
    0.7411
    """
    from scipy.special import betaincinv

    hits_, trials_ = _check(hits, trials, alpha)
    with np.errstate(invalid="ignore"):
        limit = betaincinv(np.maximum(hits_, 1), trials_ - np.maximum(hits_, 1) + 1, alpha)
    return np.asarray(np.where(hits_ == 0, 0.0, limit))


def clopper_pearson_upper(hits: ArrayLike, trials: ArrayLike, alpha: float) -> Floats:
    """Return the one-sided upper limit: it falls below the true proportion with probability at most ``alpha``.

    The limit is the proportion p at which P[Bin(trials, p) ≤ hits] = alpha, and 1 if hits = trials.

    >>> float(clopper_pearson_upper(0, 10, 0.05).round(4))
    0.2589
    """
    from scipy.special import betainccinv

    hits_, trials_ = _check(hits, trials, alpha)
    with np.errstate(invalid="ignore"):
        limit = betainccinv(np.minimum(hits_, trials_ - 1) + 1, trials_ - np.minimum(hits_, trials_ - 1), alpha)
    return np.asarray(np.where(hits_ == trials_, 1.0, limit))


def clopper_pearson_limits(hits: int, trials: int, alpha: float) -> tuple[float, float]:
    """Return the lower and the upper limit of a proportion; each is wrong with probability at most ``alpha``."""
    return float(clopper_pearson_lower(hits, trials, alpha)), float(clopper_pearson_upper(hits, trials, alpha))


def two_intervals_epsilon(counts: Counts, delta: float, alpha: float) -> float:
    """Return the textbook lower bound on ε (nats) from one event: ln((p_L − δ)/q_U).

    p_L is the lower Clopper-Pearson limit of the event on the left, q_U the upper one on the right, at alpha/2 each. So
    the bound exceeds the true ε at ``delta`` with probability at most ``alpha``, if the event is fixed beforehand. The
    result is at least 0. The limits are computed by statsmodels. Source: Ding et al. 2018, Bichsel et al. 2021
    (Equation 9).

    >>> round(two_intervals_epsilon(Counts(60, 100, 10, 100), 0.0, 0.05), 3)
    1.037
    """
    low, high = _two_limits(counts, alpha)
    excess = low - delta
    return float(max(0.0, np.log(excess / high))) if excess > 0 else 0.0


def two_intervals_deltas(counts: Counts, epsilons: Floats, alpha: float) -> Floats:
    """Return lower bounds on δ, in the shape of ``epsilons`` (nats): p_L − e^ε q_U, at least 0.

    The limits are those of :func:`two_intervals_epsilon`. With probability 1 − alpha, no bound on δ or ε is too large.

    >>> two_intervals_deltas(Counts(60, 100, 10, 100), np.array([0.0, 2.0]), 0.05).round(3).tolist()
    [0.321, 0.0]
    """
    low, high = _two_limits(counts, alpha)
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(low - np.exp(epsilons) * high, 0.0, 1.0))


def _two_limits(counts: Counts, alpha: float) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportion_confint

    # proportion_confint is two-sided, so each of its limits errs with probability alpha/2.
    with warnings.catch_warnings():
        # At levels below 1e-100, which p-values need, statsmodels' root finder may warn and return NaN.
        warnings.simplefilter("ignore", RuntimeWarning)
        low, _ = proportion_confint(counts.hits_left, counts.trials_left, alpha=alpha, method="beta")
        _, high = proportion_confint(counts.hits_right, counts.trials_right, alpha=alpha, method="beta")
    return 0.0 if math.isnan(low) else float(low), 1.0 if math.isnan(high) else float(high)


def wilson_lower(rate: Floats, trials: Floats, z: float) -> Floats:
    """Return the Wilson lower limit of a proportion, a fast approximation; 0 if there are no trials."""
    n = np.maximum(trials, 1e-9)
    squared = z * z / n
    centre = rate + squared / 2
    spread = z * np.sqrt(np.maximum(rate * (1 - rate), 0) / n + z * z / (4 * n * n))
    return np.asarray(np.where(trials > 0, (centre - spread) / (1 + squared), 0.0))


def z_of(alpha: float) -> float:
    """Return the normal quantile that is exceeded with probability ``alpha``."""
    from scipy.special import ndtri

    return -float(ndtri(alpha))
