"""The learned log-ratio: close to the exact one where that is known, finite elsewhere, and independent of batching."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.outputs import Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.events.logistic import BENDS, LogisticScore, _design, _quantiles, fit_logistic


def of(array: Any) -> Outputs:
    return from_batch(np.asarray(array), len(array))


def fitted(left: Outputs, right: Outputs) -> LogisticScore:
    score = fit_logistic(Sample(left, right))
    assert score is not None
    return score


def scores(score: LogisticScore, outputs: Outputs) -> Any:
    column = score.extract(outputs)
    assert column.codes is None
    return column.numbers


RNG_SEED = 17
N = 10_000


def normal(mean: float, size: int, rng: np.random.Generator) -> Any:
    return rng.normal(mean, 1.0, size)


def laplace(mean: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(mean, 1.0, size)


# ln of the density at 0 over that at 1.
TRUE = {
    normal: lambda x: 0.5 - x,
    laplace: lambda x: np.abs(x - 1) - np.abs(x),
}


@pytest.mark.parametrize("kind", TRUE)
@pytest.mark.parametrize("right", [N, N // 4])
def test_the_score_comes_near_the_true_log_ratio(kind: Any, right: int) -> None:
    """With n outputs and d weights the mean squared error is near 4d/n of the score's own scale.

    At d = 12 and n = 12 500 that is 0.06² (times 4 for unlike sides, 0.12). The Laplace ratio has its two kinks between bends,
    which costs at most a quarter of a piece's width times the jump of the slope, about 0.2 near a kink. The limit of 0.25 on
    the root mean square is twice the sum of both. The shares of the sides, equal by a fair coin, must not shift the score.
    """
    rng = np.random.default_rng(RNG_SEED)
    score = fitted(of(kind(0.0, N, rng)), of(kind(1.0, right, rng)))
    x = np.concatenate([kind(0.0, 5000, rng), kind(1.0, 5000, rng)])
    # An unnoticed shift would be ln 4 = 1.39.
    error = scores(score, of(x)) - TRUE[kind](x)
    inside = np.abs(x - 0.5) < 3  # beyond the outermost bends the score is constant on purpose
    assert math.sqrt(np.mean(error[inside] ** 2)) < 0.25


def test_evidence_of_independent_places_adds_up() -> None:
    rng = np.random.default_rng(RNG_SEED)
    score = fitted(of(rng.normal(0, 1, (N, 3))), of(rng.normal(0.5, 1, (N, 3))))
    x = rng.normal(0.25, 1, (5000, 3))
    truth = (0.125 - 0.5 * x).sum(axis=1)
    assert math.sqrt(np.mean((scores(score, of(x)) - truth) ** 2)) < 0.25


def test_products_of_two_places_are_learned() -> None:
    """Each place by itself says nothing; the sign of their product is the side."""
    rng = np.random.default_rng(RNG_SEED)

    def draw(side: int, size: int) -> Any:
        x = rng.normal(size=size)
        return np.stack([x, side * 0.8 * x + 0.6 * rng.normal(size=size)], axis=1)

    score = fitted(of(draw(1, N)), of(draw(-1, N)))
    wins = np.concatenate([scores(score, of(draw(1, 5000))) > 0, scores(score, of(draw(-1, 5000))) < 0])
    # A guess by the sign of the product wins with probability ½ + arcsin(0.8)/π = 0.795.
    assert np.mean(wins) > 0.77


# --- Hard data ---


@pytest.mark.parametrize("gap", [1e-9, 1.0, 1e9])
def test_separable_data_stay_finite_and_are_separated(gap: float) -> None:
    rng = np.random.default_rng(RNG_SEED)
    left, right = rng.uniform(-1, 0, 2000) * gap, rng.uniform(1, 2, 2000) * gap
    score = fitted(of(left), of(right))
    on_left, on_right = scores(score, of(left)), scores(score, of(right))
    assert np.all(np.isfinite(on_left)) and np.all(np.isfinite(on_right))
    assert on_left.min() > 0 > on_right.max()
    assert max(abs(on_left).max(), abs(on_right).max()) < 40


def test_a_side_without_outputs_gives_no_score() -> None:
    rng = np.random.default_rng(RNG_SEED)
    assert fit_logistic(Sample(of(rng.normal(size=100)), from_list([]))) is None


# --- Atoms and absent places ---


def test_atoms_are_scored_by_how_often_they_are_seen() -> None:
    rng = np.random.default_rng(RNG_SEED)

    def draw(shares: list[float]) -> Outputs:
        numbers = rng.normal(size=N)
        kinds = rng.choice(3, N, p=shares)
        return from_list([(x, None, "refused")[k] for x, k in zip(numbers.tolist(), kinds, strict=True)])

    score = fitted(draw([0.5, 0.4, 0.1]), draw([0.5, 0.1, 0.4]))
    none, refused, number = scores(score, from_list([None, "refused", 0.0]))
    # ln 4 either way, with an error of about √(2/1000) from a thousand outputs of the rarer kind; the ridge takes little of it.
    assert (none, refused, number) == pytest.approx((math.log(4), -math.log(4), 0.0), abs=0.25)
    # An atom that was not in the sample gets only the part of the score that all outputs share.
    [unseen] = scores(score, from_list(["never seen"]))
    assert math.isfinite(unseen)


# --- The sum of the regressors, which are not made ---


@pytest.mark.parametrize("places", [2, 5, 12])  # with products, with fewer bends, without products
def test_the_score_is_the_sum_of_the_regressors_times_their_weights(places: int) -> None:
    rng = np.random.default_rng(RNG_SEED)

    def draw(mean: float, size: int) -> Outputs:
        rows = rng.normal(mean, 1, (size, places)).tolist()
        kinds = ["yes", "no", None, math.inf, -math.inf]
        return from_list([[*row[:-1], row[-1] if rng.random() < 0.5 else kinds[rng.integers(5)]] for row in rows])

    score = fitted(draw(0.0, 2_000), draw(0.5, 2_000))
    assert bool(score.products) == (places <= 6)
    outputs = draw(0.2, 1_000)
    summed = score.intercept + _design(score.terms, score.products, outputs) @ np.asarray(score.weights)
    assert np.allclose(scores(score, outputs), summed, rtol=0, atol=2e-9)


def test_a_score_with_a_weight_too_few_or_too_many_is_refused() -> None:
    rng = np.random.default_rng(RNG_SEED)
    score = fitted(of(rng.normal(0, 1, (500, 2))), of(rng.normal(1, 1, (500, 2))))
    for weights in (score.weights[:-1], (*score.weights, 0.1), score.weights[:3]):
        with pytest.raises(ValueError, match="argument"):
            replace(score, weights=weights).extract(of(rng.normal(0, 1, (5, 2))))


def test_numbers_that_differ_by_next_to_nothing_are_scored() -> None:
    rng = np.random.default_rng(RNG_SEED)
    tiny = [of(rng.integers(low, low + 9, (600, 2)) * 5e-324) for low in (0, 3)]
    score = fitted(*tiny)
    assert np.all(np.isfinite(scores(score, tiny[0])))


def test_numbers_that_are_one_when_rounded_give_no_score() -> None:
    """Their width would be 0, and the score of the place, and of all others with it, no number."""
    numbers = 2.0**59 + 128.0 * np.arange(40)
    large = Sample(*(from_batch(some, len(some)) for some in (numbers[::2], numbers[1::2])))
    assert fit_logistic(large) is None
    sides = np.stack([numbers, np.repeat([0.0, 1.0], 20)], axis=1)
    score = fit_logistic(Sample(from_batch(sides[:20], 20), from_batch(sides[20:], 20)))
    assert score is not None
    assert [term.place for term in score.terms] == ["output[1]"]


# --- Batches ---


def test_a_batch_is_scored_alike_whole_or_in_parts_and_in_any_order() -> None:
    rng = np.random.default_rng(RNG_SEED)

    def draw(mean: float, size: int) -> list[Any]:
        numbers = rng.normal(mean, 1, (size, 3)).tolist()
        kinds = rng.integers(5, size=size).tolist()
        return [(x, [*x[:2], None], x[:2], "refused", math.nan)[k] for x, k in zip(numbers, kinds, strict=True)]

    score = fitted(from_list(draw(0.0, 3000)), from_list(draw(0.7, 3000)))
    rows = draw(0.3, 500)
    whole = scores(score, from_list(rows))
    assert len(np.unique(whole)) > 100
    parts = [from_list(rows[i : i + 7]) for i in range(0, 500, 7)]
    assert np.concatenate([scores(score, part) for part in parts]).tolist() == whole.tolist()
    assert scores(score, concatenate(parts)).tolist() == whole.tolist()
    assert np.concatenate([scores(score, from_list([row])) for row in rows]).tolist() == whole.tolist()
    assert scores(score, from_list(rows[::-1])).tolist() == whole[::-1].tolist()


def test_beyond_the_outermost_bends_the_score_stays_as_it_is() -> None:
    rng = np.random.default_rng(RNG_SEED)
    score = fitted(of(normal(0.0, N, rng)), of(normal(1.0, N, rng)))
    low, high = scores(score, of([-1e300, 1e300, -math.inf, math.inf]))[:2], scores(score, of([-50.0, 50.0]))
    assert low.tolist() == high.tolist()
    assert scores(score, of([-math.inf, math.inf])).tolist() == high.tolist()


@pytest.mark.parametrize("size", [1, 2, 10])
def test_a_handful_of_outputs_is_enough_for_a_finite_score(size: int) -> None:
    score = fitted(of(np.arange(size) - 0.5), of(np.arange(size) + 0.5))
    assert np.all(np.isfinite(scores(score, of([-1e9, 0.0, 1e9]))))


@pytest.mark.parametrize("constant", [0.0, math.inf, "a"])
def test_where_nothing_varies_there_is_no_score(constant: Any) -> None:
    outputs = from_list([constant] * 100)
    assert fit_logistic(Sample(outputs, outputs)) is None


def test_absent_places_are_atoms_like_others() -> None:
    rng = np.random.default_rng(RNG_SEED)

    def draw(share: float) -> Outputs:
        return from_list([[1.0, x] if rng.random() < share else [1.0] for x in rng.normal(size=4000).tolist()])

    score = fitted(draw(0.8), draw(0.2))
    long, short = scores(score, from_list([[1.0, 0.0], [1.0]]))
    assert (long, short) == pytest.approx((math.log(4), -math.log(4)), abs=0.3)
    # A batch in which no output has the place.
    assert scores(score, from_list([[1.0], [1.0]])).tolist() == [short, short]
    assert np.all(np.isfinite(scores(score, from_list(["something else"]))))


def test_exchanging_the_sides_turns_the_score_round() -> None:
    rng = np.random.default_rng(RNG_SEED)
    left, right = of(laplace(0.0, 3000, rng)), of(laplace(1.0, 2000, rng))
    x = of(np.linspace(-4, 5, 100))
    assert scores(fitted(left, right), x) == pytest.approx(-scores(fitted(right, left), x), abs=1e-3)


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40))
def test_quantiles_are_those_of_numpy(numbers: list[float]) -> None:
    expected = np.quantile(numbers, BENDS)
    np.testing.assert_allclose(
        _quantiles(np.array(numbers), BENDS), expected, rtol=1e-12, atol=1e-12 * np.abs(numbers).max()
    )
