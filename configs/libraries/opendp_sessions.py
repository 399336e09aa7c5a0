"""Sessions of OpenDP: queryables that compose adaptively, filter, and keep count, of noisy counts of records.

The claim of a composition and of a filter is that of its privacy map. The odometer's is the loss at which its dialogue is cut, as
it says itself.
"""

import functools
from collections.abc import Callable
from typing import Any

import opendp.prelude as dp
from protocol import Made, played, serve

dp.enable_features("contrib")
SPACE = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


@functools.cache
def noisy_count(scale: float) -> Any:
    """Return a count with Laplace noise of a scale, of loss 1/scale."""
    return SPACE >> dp.t.then_count() >> dp.m.then_laplace(scale=scale)


class Counts:
    """A queryable that is asked for noisy counts."""

    def __init__(self, queryable: Callable[[Any], Any]) -> None:
        self.queryable = queryable

    def __call__(self, question: dict[str, float]) -> Any:
        return self.queryable(noisy_count(question["scale"]))


class MeteredCounts(Counts):
    """The same, of an odometer."""

    @property
    def spent(self) -> float:
        """What the odometer says was lost to somebody who adds or removes a record."""
        return float(self.queryable.privacy_loss(1))  # type: ignore[attr-defined]


def adaptive_composition(epsilons: list[float]) -> Made:
    made = dp.c.make_adaptive_composition(*SPACE, output_measure=dp.max_divergence(), d_in=1, d_mids=epsilons)
    return {"epsilon": made.map(1)}, played(lambda records: Counts(made(records)))


def privacy_filter(epsilon: float) -> Made:
    odometer = dp.c.make_fully_adaptive_composition(*SPACE, output_measure=dp.max_divergence())
    made = dp.c.make_privacy_filter(odometer, d_in=1, d_out=epsilon)
    return {"epsilon": made.map(1)}, played(lambda records: Counts(made(records)))


def odometer(at: float) -> Made:
    made = dp.c.make_fully_adaptive_composition(*SPACE, output_measure=dp.max_divergence())
    return {"epsilon": at}, played(lambda records: MeteredCounts(made(records)))


serve(adaptive_composition, privacy_filter, odometer)
