"""Comparing two runs at length: another seed or sample size raises no alarm."""

import itertools

import numpy as np
from scipy.stats import binom

import auditor
from auditor.bounds.divergences import renyi_divergence
from auditor.bounds.evidence import ScoreCounts
from auditor.methods import method_for


def test_limits_of_a_divergence_are_those_of_one_event_of_the_score() -> None:
    """Two cells are one event, whose true divergence is known: each limit fails with probability 0.05 at most, which is
    enumerated here."""
    claim, n, p, q = auditor.RenyiDP(2, 1), 60, 0.45, 0.2
    truth = max(
        renyi_divergence(2, np.array(a), np.array(b)) for a, b in itertools.permutations([[p, 1 - p], [q, 1 - q]])
    )
    method = method_for(claim, "fixed", 0.01, n)
    below = above = 0.0
    for left, right in itertools.product(range(n + 1), repeat=2):
        chance = binom.pmf(left, n, p) * binom.pmf(right, n, q)
        limits = method.interval(ScoreCounts((n - left, left), (n - right, right)), 0.05)
        assert limits is not None
        assert limits[0] <= limits[1]
        below, above = below + chance * (truth < limits[0]), above + chance * (truth > limits[1])
    assert 0 < below <= 0.05
    assert 0 < above <= 0.05
