"""Whole privacy profiles from the counts of several events, all points of which hold together."""

from collections.abc import Sequence

import numpy as np

from auditor.bounds.evidence import GuessCounts
from auditor.bounds.guesses import guess_deltas
from auditor.bounds.intervals import Floats


def privacy_profile(events: Sequence[GuessCounts], epsilons: Floats, alpha: float) -> Floats:
    """Return lower bounds on δ(ε) for each ε (nats), of that shape.

    With probability at least 1 − alpha none exceeds the truth: each of the m events, fixed beforehand, has alpha/m of its own,
    and the bounds from one event hold for all ε together (:func:`~auditor.bounds.guesses.guess_deltas`).
    """
    share = alpha / len(events)
    return np.asarray(np.max([guess_deltas(counts, epsilons, share) for counts in events], axis=0))
