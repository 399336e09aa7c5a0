"""Events that occur on one side only."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from auditor.blackbox.outputs import OutputColumn
from auditor.claims import ApproximateDP, PureDP
from auditor.events.blocks import BlockTable
from auditor.events.cells import LEFT, SortedColumn
from auditor.events.features import Place
from auditor.events.rare import MOST_RARE, RareChoice, rare_choice
from auditor.methods.guessing import Guesses

METHOD = Guesses(PureDP(1.0), 0.05, planned=10_000)


def side(*, at_the_end: int) -> SortedColumn:
    """Return two hundred numbers from 0 to 1, and some that are 5."""
    return numbers(*np.linspace(0, 1, 200), *[5.0] * at_the_end)


def chosen(left: SortedColumn, right: SortedColumn) -> RareChoice | None:
    return rare_choice(BlockTable(Place("output"), left, right), METHOD)


def test_what_lies_beyond_the_other_side_is_guessed() -> None:
    event = chosen(side(at_the_end=40), side(at_the_end=0))
    assert event is not None
    assert {*event.test.rule.values, *event.test.rule.atoms.values()} == {0.0, 1.0}


def test_no_event_is_made_of_an_end_that_the_other_side_reaches() -> None:
    event = chosen(side(at_the_end=40), side(at_the_end=3))
    assert event is None or event.wins.wins == 0


def numbers(*values: float) -> SortedColumn:
    return SortedColumn.of(OutputColumn("output", np.array(values)))


def test_no_event_is_made_of_a_short_run() -> None:
    assert chosen(numbers(*range(12)), numbers(2.5, 3.5)) is None


def test_no_event_is_made_of_sides_that_do_not_overlap() -> None:
    assert chosen(numbers(*range(20)), numbers(*range(20, 40))) is None


def table(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> BlockTable:
    return BlockTable(Place("output"), numbers(*np.concatenate(left)), numbers(*np.concatenate(right)))


STRICT = Guesses(PureDP(1.0), 0.001, 100_000)


def test_values_that_repeat_on_one_side_among_others_that_do_not_are_a_rare_event() -> None:
    rng = np.random.default_rng(1)
    noise = [rng.laplace(size=2_000) for _ in range(4)]
    noise[0][:4], noise[2][:3], noise[1][:1], noise[3][:2] = 7.25, 7.25, 3.0, 3.0
    choice = rare_choice(table(noise[::2], noise[1::2]), STRICT)
    assert choice is not None
    assert choice.forecast > 1.0
    assert choice.test.describe(1.0) == "output is 7.25"
    assert choice.test.describe(-1.0) == "output is 3"


@pytest.mark.parametrize("shift", [0, 1])
def test_a_few_of_many_values_that_repeat_on_one_side_are_a_rare_event(shift: int) -> None:
    """Noise made of few random bits has thousands of values, which another data set has not."""
    rng = np.random.default_rng(shift)
    parts = [rng.integers(5_000, size=2_000) + 0.5 * shift * right for right in (0, 1, 0, 1)]
    choice = rare_choice(table(parts[::2], parts[1::2]), STRICT)
    assert choice is not None
    assert (choice.forecast > 1.0) == bool(shift)
    assert len(choice.test.rule.values) <= 2 * MOST_RARE + 1


@pytest.mark.parametrize(("times", "most"), [(2, math.log(3)), (5, math.log(9)), (30, math.log(59))])
def test_a_value_that_repeats_on_one_side_may_do_so_by_luck(times: int, most: float) -> None:
    """The ends of truncated noise are such values: a sample often contains one twice on one side, and never on the other."""
    rng = np.random.default_rng(1)
    noise = [rng.laplace(size=300) for _ in range(4)]
    noise[0][:times] = 3.4
    choice = rare_choice(table(noise[::2], noise[1::2]), STRICT)
    assert choice is not None
    assert choice.forecast == pytest.approx(most)


@pytest.mark.parametrize("seed", range(10))
def test_values_that_repeat_on_both_sides_show_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = [rng.laplace(size=2_000) for _ in range(4)]
    for half in noise:
        half[rng.random(2_000) < 0.004] = 5.5
    choice = rare_choice(table(noise[::2], noise[1::2]), STRICT)
    assert choice is None or choice.forecast < 1.0


@pytest.mark.parametrize("seed", range(10))
def test_the_ends_of_sound_noise_are_no_rare_event(seed: int) -> None:
    rng = np.random.default_rng(seed)
    halves = [rng.laplace(shift, size=5_000) for shift in (0, 1, 0, 1)]
    choice = rare_choice(table(halves[::2], halves[1::2]), STRICT)
    assert choice is None or choice.forecast < 1.1


def test_what_delta_allows_to_be_rare_is_no_evidence() -> None:
    """No refutation is forecast from a value that occurs as often as δ allows, even if it never occurs on the other side."""
    method = Guesses(ApproximateDP(1.0, 0.01), 0.001, 100_000)
    assert method.forecast_unbeaten(100, 20_000, 1) == -np.inf
    assert method.forecast_unbeaten(200, 20_000, 1) > 1.0


def test_a_run_at_an_end_is_so_many_wins_and_a_loss() -> None:
    event = chosen(numbers(*range(21)), numbers(2.5, 3.5))
    assert event is not None
    # Up to a quarter of a run is left out, beside the other side: here 4 alone, for the sake of a round threshold.
    assert (event.wins.wins, event.wins.losses) == (3 + 16, 2)
    assert event.test.describe(LEFT) == "output ≤ 2 or output > 4"
