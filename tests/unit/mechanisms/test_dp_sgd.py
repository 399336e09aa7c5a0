"""DP-SGD: each step has sensitivity at most the clipping norm, canaries do not interfere, and each fault is as documented."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from mechanisms import dp_sgd
from mechanisms.dp_sgd import Training, gradient_canaries, people, seen_in_iterates, seen_in_the_model, train

Reals = NDArray[np.float64]
CONFIG = Path(__file__).parents[3] / "configs" / "dp-sgd.yaml"
OPTIONS: dict[str, Any] = {"steps": 10, "rate": 0.1, "noise": 0.5}


def random_records(seed: int, number: int) -> Reals:
    rng = np.random.default_rng(seed)
    return np.hstack([rng.normal(0, 3, (number, 5)), rng.choice([-1.0, 0.0, 1.0], (number, 1))])


@pytest.mark.parametrize("clip", [0.5, 2.0])
def test_a_record_moves_a_step_by_at_most_the_clipping_length(clip: float) -> None:
    """On full batches without noise, from the same first weights."""
    for seed in range(20):
        records = random_records(seed, 8)
        with_it, without = (
            train(some, np.random.default_rng(0), steps=1, rate=1.0, noise=0.0, clip=clip)["sums"][0]
            for some in (records, records[1:])
        )
        assert 0 < np.linalg.norm(with_it - without) <= clip * (1 + 1e-12)


def test_the_gradient_is_that_of_the_logistic_loss() -> None:
    records = random_records(0, 6)
    records[:, -1] = [1, -1, 1, -1, 1, -1]
    weights, step = np.linspace(-0.3, 0.3, 5), 1e-6

    def loss(at: Reals) -> Reals:
        return np.asarray(np.logaddexp(0.0, -records[:, -1] * (records[:, :-1] @ at)))

    numeric = np.stack([(loss(weights + step * e) - loss(weights - step * e)) / (2 * step) for e in np.eye(5)], axis=1)
    assert np.allclose(dp_sgd._gradients(weights, records), numeric, atol=1e-6)


def test_gradient_canaries_do_not_affect_each_other() -> None:
    """Whether the others are in or out, a canary's axis has only noise and the canary's own coins: here with rate 1
    and no noise."""
    all_of_them = np.vstack([people(), gradient_canaries()[:50]])
    few = np.vstack([people()[:20], gradient_canaries()[:1]])
    axis = dp_sgd.FEATURES
    for records in (all_of_them, few):
        run = train(records, np.random.default_rng(0), steps=3, rate=1.0, noise=0.0)
        assert run["sums"][:, axis].tolist() == [1.0, 1.0, 1.0]


def test_noise_and_samples_have_the_stated_sizes() -> None:
    """40 runs of 10 steps over 1,000 axes; 6 standard errors."""
    sums = np.concatenate([train(people(), np.random.default_rng(i), **OPTIONS)["sums"] for i in range(40)])
    noise = sums[:, dp_sgd.FEATURES :]
    assert abs(noise.std() - 0.5) < 6 * 0.5 / math.sqrt(2 * noise.size)
    canaries = gradient_canaries()
    observed = np.concatenate([train(canaries, np.random.default_rng(i), **OPTIONS)["sums"] for i in range(40)])
    mean = observed[:, dp_sgd.FEATURES :].mean()
    assert abs(mean - 0.1) < 6 * math.sqrt((0.25 + 0.09) / noise.size)


def ran(function: Any) -> Training:
    training: Training = function(gradient_canaries(), np.random.default_rng(1), **OPTIONS)
    return training


def test_a_clipped_average_lets_canaries_move_a_step_by_more_than_their_own_length() -> None:
    assert ran(train)["sums"][0].max() < 4
    # About 100 canaries of length 100 share a length of 1, which is multiplied by the batch size.
    assert ran(dp_sgd.train_clipping_the_average)["sums"][0].max() > 6


def test_every_other_step_has_no_noise() -> None:
    bare = ran(dp_sgd.train_with_noise_every_other_step)["sums"]
    assert set(bare[0]) == {0.0, 1.0} != set(bare[1])


def test_unscaled_noise_is_too_small_by_the_clipping_length() -> None:
    for function, spread in ((train, 2.0), (dp_sgd.train_with_unscaled_noise, 0.5)):
        sums = function(people(), np.random.default_rng(1), steps=10, rate=0.1, noise=0.5, clip=4.0)["sums"]
        assert sums[:, dp_sgd.FEATURES :].std() == pytest.approx(spread, rel=0.05)


def test_the_spread_of_a_step_shows_the_size_where_noise_is_divided_by_it() -> None:
    for faulty, ratio in ((False, 1.0), (True, 0.5)):
        one, two = (
            np.array(
                [
                    dp_sgd.train_on_few(np.zeros(size), np.random.default_rng(i), steps=50, noise=2.0, faulty=faulty)
                    for i in range(20)
                ]
            ).std()
            for size in (1, 2)
        )
        assert two / one == pytest.approx(ratio, rel=0.15)


def test_shuffled_batches_take_each_record_once_an_epoch() -> None:
    run = dp_sgd.train_on_shuffled_batches(gradient_canaries(), np.random.default_rng(1), steps=20, rate=0.1, noise=0.0)
    assert np.all(run["sums"][:10, dp_sgd.FEATURES :].sum(axis=0) == 1)
    assert np.all(run["sums"][10:, dp_sgd.FEATURES :].sum(axis=0) == 1)


def test_scores_are_larger_for_what_was_in() -> None:
    canaries = gradient_canaries()
    inside = np.arange(1000) < 500
    run = train(np.vstack([people(), canaries[inside]]), np.random.default_rng(2), **OPTIONS)
    for score in (seen_in_iterates, dp_sgd.seen_in_an_epoch, seen_in_the_model):
        scores = np.array([score(run, canary) for canary in canaries])
        assert scores[inside].mean() > scores[~inside].mean()
    bare = Training(sums=np.array([[0.0, 1.0]]), weights=np.zeros(2), rate=0.1, spread=0.5)
    assert seen_in_iterates(bare, np.array([0.0, 1.0, 0.0])) > 100
    assert seen_in_iterates(bare, np.array([1.0, 0.0, 0.0])) < 0


def test_the_claim_is_what_dp_accounting_says() -> None:
    pytest.importorskip("dp_accounting")
    audits = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["audits"]
    epsilons, deltas = zip(*audits[0]["claim"]["profile"], strict=True)
    for claimed, exact in zip(deltas, dp_sgd.accounted(10, 0.1, 0.5, epsilons), strict=True):
        assert exact <= claimed <= 1.02 * exact
    assert audits[-1]["claim"]["mu"] == pytest.approx(math.sqrt(10) / 2, abs=1e-4)
