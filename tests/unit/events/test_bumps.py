"""Bumps much narrower than the noise around them."""

import numpy as np

from auditor.blackbox.outputs import OutputColumn
from auditor.claims import PureDP
from auditor.events.blocks import BlockTable
from auditor.events.bumps import bump_choice
from auditor.events.cells import ABSTAIN, LEFT, SortedColumn
from auditor.events.features import Place
from auditor.events.rare import RareChoice
from auditor.methods.guessing import Guesses

METHOD = Guesses(PureDP(1.0), 0.05, planned=10_000)


def choice_on(left: np.ndarray, right: np.ndarray) -> RareChoice | None:
    first, second = (
        BlockTable(Place("output"), *(SortedColumn.of(OutputColumn("output", side[half::2])) for side in (left, right)))
        for half in (0, 1)
    )
    return bump_choice(first, second, METHOD)


def bumpy(rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return 300 outputs with Laplace noise; a share of them lies in a bump a ten-thousandth as wide as the noise."""
    return np.where(rng.random(300) < rate, rng.uniform(1, 1.0006, 300), rng.laplace(0, 6, 300))


def guesses(choice: RareChoice, *values: float) -> list[float]:
    return choice.test.rule.look_up(OutputColumn("output", np.array(values))).tolist()


def test_a_bump_is_found_from_few_outputs_and_judged_by_others() -> None:
    rng = np.random.default_rng(0)
    choices = [choice_on(bumpy(0.15, rng), bumpy(0.0, rng)) for _ in range(50)]
    found = [each for each in choices if each is not None and guesses(each, 1.0003) == [LEFT]]
    # 45 of 300 outputs lie in the bump: fewer than 30 with probability 0.005. Fewer than 40 of 50 have probability below 1e-12.
    assert len([each for each in found if each.wins.wins >= 30 and each.wins.losses <= 8]) >= 40
    # Besides the bump, at most the numbers up to the next one of the other side are guessed.
    assert all(guesses(each, 0.0, 2.0) == [ABSTAIN, ABSTAIN] for each in found)


def test_noise_that_keeps_the_claim_wins_no_more_than_the_claim_allows() -> None:
    """A run is lucky on the outputs that suggest it, and not on others: with a loss of ε = 1 everywhere, at most 73 % are wins."""
    rng = np.random.default_rng(1)
    choices = [choice_on(rng.laplace(0, 1, 300), rng.laplace(1, 1, 300)) for _ in range(400)]
    wins, of = (sum(getattr(each.wins, name) for each in choices if each is not None) for name in ("wins", "guesses"))
    assert of > 1_000
    # Five standard errors of 0.44 / √of.
    assert wins / of < 0.7311 + 5 * 0.444 / of**0.5


def test_the_same_noise_and_the_same_integers_hardly_suggest_a_bump() -> None:
    rng = np.random.default_rng(2)
    pairs = [(rng.laplace(size=300), rng.laplace(size=300)) for _ in range(200)]
    pairs += [(rng.geometric(0.3, 300).astype(float), rng.geometric(0.3, 300).astype(float)) for _ in range(200)]
    # A run is so much longer than by luck on either side with probability 1/8. 90 or more of 400 have probability below 1e-7.
    assert sum(choice_on(*pair) is not None for pair in pairs) < 90


def test_a_repeated_value_that_both_sides_return_is_no_bump() -> None:
    left = np.concatenate([np.linspace(0, 1, 200), [5.0] * 60, [9.0]])
    right = np.concatenate([np.linspace(0, 1, 200) + 1e-4, [5.0] * 60, [8.0]])
    assert choice_on(left, right) is None
    assert choice_on(left, np.array([])) is None
