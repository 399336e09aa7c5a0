"""The sparse vector technique: a noisy threshold, and for each query whether its noisy answer reaches it."""

from collections.abc import Hashable, Iterator, Sequence

from mechanisms.exact.distributions import MassFunction, Reals
from mechanisms.truths.noise import (
    TAIL,
    Laplace,
    NoNoise,
    log_rounding,
    log_sum,
    nodes_and_log_weights,
    panel_edges,
)

ABOVE, BELOW, STOPPED = 1, 0, -1


class _Thresholds:
    """The integrals over the threshold's noise z, on nodes that suit all queries of a data set."""

    def __init__(self, answers: Sequence[float], threshold: float, noise: Laplace, query: Laplace | NoNoise) -> None:
        kinks = [0.0, *(float(answer) - threshold for answer in answers)]
        widest = min(noise.scale, query.scale) if isinstance(query, Laplace) else noise.scale
        nodes, log_weights = nodes_and_log_weights(panel_edges(kinks, widest, noise.scale, len(answers)))
        z = nodes.ravel()
        # The noise of query j is above threshold + z − a_j, or below it.
        gaps = [threshold + z - float(answer) for answer in answers]
        self.start = noise.log_density(z) + log_weights.ravel()
        self.above = [query.log_above(gap) for gap in gaps]
        self.below = [query.log_below(gap) for gap in gaps]
        spread = (max(kinks) - min(kinks)) / widest
        self.log_error = log_rounding(len(answers) + 1, spread + TAIL + len(answers))


def sparse_vector(
    answers: Sequence[float],
    threshold: float,
    noise: Laplace,
    query: Laplace | NoNoise,
    cutoff: int | None = None,
    fresh: bool = False,
) -> MassFunction:
    """Return the answers ABOVE, BELOW or STOPPED to all queries, as tuples.

    Query j is above when a_j + ν_j ≥ T + ρ, with ``noise`` for ρ and ``query`` for ν_j. After ``cutoff`` answers above
    (never, where None) it stops. Where ``fresh``, ρ is drawn anew after each answer above. The probability of a sequence
    is ∫ f(z) ∏_above P[ν ≥ T + z − a_j] ∏_below P[ν < T + z − a_j] dz, a product of such integrals where ρ is drawn
    anew (Lyu, Su & Li 2017, Algorithms 1 to 6), by quadrature to rounding.

    >>> from math import exp
    >>> masses = sparse_vector([0.0, 0.0], 0.0, Laplace(1.0), NoNoise()).log_masses
    >>> sorted((output, round(exp(mass), 14)) for output, mass in masses.items() if mass > -100)
    [((0, 0), 0.5), ((1, 1), 0.5)]
    """
    thresholds = _Thresholds(answers, threshold, noise, query)
    masses: dict[Hashable, float] = dict(_sequences(thresholds, (), 0.0, thresholds.start, cutoff, fresh))
    segments = 1 if not fresh else min(len(answers), cutoff or len(answers)) + 1
    return MassFunction(masses, log_error=segments * thresholds.log_error)


def _sequences(
    thresholds: _Thresholds, answered: tuple[int, ...], done: float, terms: Reals, cutoff: int | None, fresh: bool
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every sequence that begins with ``answered``, and its log probability.

    ``done`` is that of the segments whose threshold was drawn anew, ``terms`` the integrand of the one under way.
    """
    query, queries = len(answered), len(thresholds.above)
    if query == queries or answered.count(ABOVE) == cutoff:
        yield answered + (STOPPED,) * (queries - query), done + log_sum(terms)
        return
    yield from _sequences(thresholds, (*answered, BELOW), done, terms + thresholds.below[query], cutoff, fresh)
    reached: Reals = terms + thresholds.above[query]
    if fresh:
        done, reached = done + log_sum(reached), thresholds.start
    yield from _sequences(thresholds, (*answered, ABOVE), done, reached, cutoff, fresh)
