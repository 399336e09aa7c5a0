"""A simplified event keeps its content, and is simpler."""

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch
from auditor.blackbox.sample import Sample
from auditor.claims import GaussianDP, PureDP
from auditor.events.cells import LEFT, RIGHT, Cells
from auditor.events.event import Event
from auditor.events.features import Place
from auditor.events.simplify import simplify_event
from auditor.methods.guessing import GaussianGuesses, Guesses

N = 20_000
METHOD = Guesses(PureDP(0.5), 0.001, N)


def laplace(shift: float = 1.0) -> Sample:
    rng = np.random.default_rng(7)
    return Sample(from_batch(rng.laplace(0, 0.5, N // 2), N // 2), from_batch(rng.laplace(shift, 0.5, N // 2), N // 2))


TWO_TAILS = Event(Place("output"), Cells((0.0123, 0.9876), (LEFT, 0.0, RIGHT), {}))


def test_two_tails_become_one_with_a_round_threshold() -> None:
    rule = simplify_event(TWO_TAILS, laplace(), METHOD, 1.5).rule
    assert len(rule.edges) == 1
    assert sorted(rule.values) in ([0.0, LEFT], [RIGHT, 0.0])
    assert len(repr(rule.edges[0])) <= 3


def test_what_cannot_be_simpler_above_the_floor_stays_as_it_is() -> None:
    assert simplify_event(TWO_TAILS, laplace(), METHOD, 2.0) == TWO_TAILS


def test_several_intervals_become_one_threshold() -> None:
    pieces = Cells((-3.333, -1.234, -1.111, 0.0456), (0.0, LEFT, 0.0, LEFT, 0.0), {})
    rule = simplify_event(Event(Place("output"), pieces), laplace(), METHOD, 1.2).rule
    assert len(rule.edges) == 1
    assert rule.values == (LEFT, 0.0)


@pytest.mark.parametrize("other", [LEFT, 0.0])
def test_an_atom_that_tells_it_all_is_all_that_is_left(other: float) -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=N // 2)
    sample = Sample(from_batch(np.where(rng.random(N // 2) < 0.3, np.nan, values), N // 2), from_batch(values, N // 2))
    atom = next(iter(sample.left.column("output").atoms))
    event = Event(Place("output"), Cells((-1.2345,), (other, 0.0), {atom: LEFT}))
    simple = simplify_event(event, sample, METHOD, 2.0)
    assert simple.describe(LEFT) == f"output is {atom}"


def test_an_event_that_may_not_abstain_never_does() -> None:
    method = GaussianGuesses(GaussianDP(0.5), 0.001, N)
    event = Event(Place("output"), Cells((0.51234,), (LEFT, RIGHT), {}, LEFT))
    rule = simplify_event(event, laplace(), method, 1.5).rule
    assert rule == Cells((0.5,), (LEFT, RIGHT), {}, LEFT)
