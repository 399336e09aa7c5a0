"""Whole privacy profiles and trade-off curves from the counts of several events, all points of which hold together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.guesses import guess_deltas
from auditor.bounds.intervals import clopper_pearson_lower, clopper_pearson_upper

Floats = NDArray[np.float64]


def privacy_profile(events: Sequence[GuessCounts], epsilons: Floats, alpha: float) -> Floats:
    """Return lower bounds on δ(ε) for each ε (nats), of that shape.

    With probability at least 1 − alpha none exceeds the truth: each of the m events, fixed beforehand, has alpha/m to itself,
    and one event's bounds hold for all ε together (:func:`~auditor.bounds.guesses.guess_deltas`).
    """
    share = alpha / len(events)
    return np.asarray(np.max([guess_deltas(counts, epsilons, share) for counts in events], axis=0))


def trade_off(events: Sequence[Counts], alpha: float) -> list[tuple[float, float]]:
    """Return points (type I error, type II error) that the true trade-off curve from right to left does not lie above.

    For event S, guessing "left" on S errs with Q(S) and 1 − P(S); upper Clopper-Pearson limits at alpha/2m each make all points
    hold together with probability 1 − alpha, and so does their lower convex hull with (0, 1) and (1, 0), which is returned by
    rising type I error (Dong, Roth & Su 2022, Section 2).
    """
    share = alpha / (2 * len(events))
    points = [(0.0, 1.0), (1.0, 0.0)]
    for counts in events:
        first = float(clopper_pearson_upper(counts.hits_right, counts.trials_right, share))
        second = 1 - float(clopper_pearson_lower(counts.hits_left, counts.trials_left, share))
        if first < 1:  # else the corner (1, 0) says more, and would no longer be the last
            points.append((first, second))
    hull: list[tuple[float, float]] = []
    for point in sorted(points):
        while len(hull) > 1 and _turns_up(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the line from a to c."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])
