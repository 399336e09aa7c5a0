"""Events that one side alone shows."""

import numpy as np

from auditor.blackbox.outputs import OutputColumn
from auditor.claims import PureDP
from auditor.events.features import Place
from auditor.events.rare import Sides, rare_choice
from auditor.events.sorted_column import SortedColumn
from auditor.methods.guessing import Guesses

METHOD = Guesses(PureDP(1.0), 0.05, planned=10_000)


def side(*, at_the_end: int) -> SortedColumn:
    """Return a hundred numbers from 0 to 1, and some that are 5."""
    return SortedColumn.of(OutputColumn("output", np.append(np.linspace(0, 1, 100), np.full(at_the_end, 5.0))))


def chosen(fit: Sides, judge: Sides) -> set[float]:
    found = rare_choice(Place("output"), fit, judge, METHOD)
    return {*found.test.rule.values, *found.test.rule.atoms.values()} if found is not None else set()


def test_what_lies_beyond_the_other_side_in_both_halves_is_guessed() -> None:
    half = side(at_the_end=20), side(at_the_end=0)
    assert chosen(half, half) == {0.0, 1.0}


def test_no_event_is_made_of_an_end_that_the_other_side_reaches_in_one_half() -> None:
    fit, judge = (side(at_the_end=20), side(at_the_end=0)), (side(at_the_end=20), side(at_the_end=3))
    found = rare_choice(Place("output"), fit, judge, METHOD)
    assert found is None or found.seen.wins == 0
