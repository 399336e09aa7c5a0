"""Events that one side alone shows."""

import math

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch
from auditor.blackbox.outputs import OutputColumn, Outputs
from auditor.blackbox.sample import Sample
from auditor.bounds.prospect import HINT
from auditor.claims import PureDP
from auditor.events.cells import LEFT
from auditor.events.features import Place
from auditor.events.rare import RareChoice, rare_choice, some_end
from auditor.events.sorted_column import SortedColumn
from auditor.methods.guessing import Guesses

METHOD = Guesses(PureDP(1.0), 0.05, planned=10_000)


def side(*, at_the_end: int) -> SortedColumn:
    """Return two hundred numbers from 0 to 1, and some that are 5."""
    return numbers(*np.linspace(0, 1, 200), *[5.0] * at_the_end)


def chosen(left: SortedColumn, right: SortedColumn) -> RareChoice | None:
    return rare_choice(Place("output"), left, right, METHOD)


def test_what_lies_beyond_the_other_side_is_guessed() -> None:
    found = chosen(side(at_the_end=40), side(at_the_end=0))
    assert found is not None
    assert {*found.test.rule.values, *found.test.rule.atoms.values()} == {0.0, 1.0}


def test_no_event_is_made_of_an_end_that_the_other_side_reaches() -> None:
    found = chosen(side(at_the_end=40), side(at_the_end=3))
    assert found is None or found.seen.wins == 0


def numbers(*values: float) -> SortedColumn:
    return SortedColumn.of(OutputColumn("output", np.array(values)))


def test_a_run_at_an_end_is_so_many_wins_and_a_loss() -> None:
    found = chosen(numbers(*range(21)), numbers(2.5, 3.5))
    assert found is not None
    # Up to a quarter of a run is left out, next to the other side: here 4 alone, for the sake of a round threshold.
    assert (found.seen.wins, found.seen.losses) == (3 + 16, 2)
    assert found.test.describe(LEFT) == "output ≤ 2 or output > 4"


def test_no_event_is_made_of_a_short_run() -> None:
    assert chosen(numbers(*range(12)), numbers(2.5, 3.5)) is None


def test_no_event_is_made_of_sides_that_do_not_overlap() -> None:
    assert chosen(numbers(*range(20)), numbers(*range(20, 40))) is None


@pytest.mark.parametrize(("claimed", "longest"), [(0.0, 2), (1.0, 5), (3.0, 33)])
def test_an_end_is_a_hint_if_its_run_is_longer_than_odds_of_the_claim_explain(claimed: float, longest: int) -> None:
    rate = 1 / (1 + math.exp(-claimed))
    assert rate ** (longest + 1) < HINT < rate**longest
    for run in (longest, longest + 1):
        left, right = np.append(np.arange(9.0), 10.0 + np.arange(run)), np.append(np.arange(0.5, 9), 0)
        for sample in (Sample(values(left), values(right)), Sample(values(-right), values(-left))):
            assert some_end(sample, claimed) is (run > longest)


def values(outputs: np.ndarray) -> Outputs:
    return from_batch(outputs, len(outputs))
