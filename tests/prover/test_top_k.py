"""The top k by ``np.argsort``: proved with noise for k selections, and not with less noise or where ties could show."""

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dp_prover
from auditor import PureDP, Records, Totals
from dp_prover.certificates.checker.check import check_certificate

# All counts move together, so the order of the first k costs 2k/b; if one count moves alone, it costs k/b.
ALL, ONE = (Totals(cells=4, values=(0, 10), contribution=by) for by in ({"linf": 1}, {"l1": 1}))
THREE = Totals(cells=3, values=(0, 10), contribution={"linf": 1})
GRID = Totals(cells=4, values=(0, 10), contribution={"l1": 1})
WORDS = np.array(["north", "east", "south", "west"])


def by_gumbel(x: Any, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 4, len(x))))[:2]


def by_laplace(x: Any, rng: Any) -> Any:
    return np.argsort(x + rng.laplace(0, 4, len(x)))[::-1][:2]


def by_exponential(x: Any, rng: Any) -> Any:
    return np.argsort(x + rng.exponential(4, len(x)))[-2:].tolist()


def stable(x: Any, rng: Any) -> Any:
    noisy = x + rng.gumbel(0, 4, len(x))
    order = (-noisy).argsort(kind="stable")
    return sorted({int(at) for at in order[:2]})


def in_words(x: Any, rng: Any) -> Any:
    return [str(WORDS[at]) for at in np.argsort(-x + rng.laplace(0, 4, len(x)))[:2]]


def as_a_set(x: Any, rng: Any) -> Any:
    order = np.argsort(-(x + rng.gumbel(scale=4, size=len(x))), stable=True)
    return np.sort(order[:2])


def in_a_loop(x: Any, rng: Any) -> Any:
    chosen = []
    for at in np.argsort(x + rng.gumbel(0, 4, len(x)))[:-3:-1]:
        chosen.append(int(at))
    return tuple(chosen)


def in_a_batch(x: Any, size: int, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 4, (size, len(x)))), axis=-1)[:, :2]


def in_a_batch_by_default(x: Any, size: int, rng: Any) -> Any:
    noisy = -x - rng.exponential(4, (size, len(x)))
    return noisy.argsort()[:, :2]


def row_by_row(x: Any, size: int, rng: Any) -> Any:
    return [np.argsort(x + rng.laplace(0, 4, len(x)))[-2:] for _ in range(size)]


def row_by_row_with_a_name(x: Any, size: int, rng: Any) -> Any:
    out = []
    for _ in range(size):
        order = np.argsort(x + rng.laplace(0, 4, len(x)))
        out.append(order[-2:])
    return out


EVERY = (
    *(by_laplace, by_exponential, stable, in_words, as_a_set, in_a_loop),
    *(in_a_batch, in_a_batch_by_default, row_by_row, row_by_row_with_a_name),
)


@pytest.mark.parametrize("mechanism", EVERY)
def test_k_selections_cost_k_times_as_much(mechanism: Any) -> None:
    proof = dp_prover.prove(mechanism, PureDP(1.0), THREE, seconds=30)
    assert proof.proved, proof.reason
    assert proof.bound <= 1
    check_certificate(json.loads(json.dumps(proof.certificate)))
    assert not dp_prover.prove(mechanism, PureDP(0.49), THREE, seconds=30).proved


@pytest.mark.parametrize(("domain", "bound"), [(ALL, 1), (ONE, Fraction(1, 2))])
def test_two_of_four_cost_two_selections(domain: Totals, bound: Fraction) -> None:
    proof = dp_prover.prove(by_gumbel, PureDP(1.0), domain, seconds=60)
    assert proof.proved, proof.reason
    assert proof.bound == bound


def along_an_axis(x: Any, rng: Any) -> Any:
    table = np.reshape(x + rng.laplace(0, 2, 4), (2, 2))
    return np.argsort(table, axis=0)[0]


def along_the_last_axis(x: Any, rng: Any) -> Any:
    return np.argsort(np.reshape(x, (2, 2)) + rng.laplace(0, 2, (2, 2)))[:, -1]


def test_each_row_of_a_table_is_one_selection() -> None:
    for mechanism in (along_an_axis, along_the_last_axis):
        proof = dp_prover.prove(mechanism, PureDP(0.5), GRID)
        assert proof.proved, proof.reason


def among_eight(x: Any, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 4, len(x))))[:1]


def test_ranks_that_nobody_reads_are_not_decided() -> None:
    """Eight numbers have 40,320 orders, too many for a path each."""
    proof = dp_prover.prove(among_eight, PureDP(0.5), Totals(cells=8, values=(0, 10), contribution={"linf": 1}))
    assert proof.proved, proof.reason


def noise_for_one(x: Any, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 2, 4)))[:2]


def noise_for_one_in_a_batch(x: Any, size: int, rng: Any) -> Any:
    return np.argsort(-(x + rng.laplace(0, 2, (size, 4))), axis=1)[:, :2]


def the_whole_order(x: Any, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 4, 4)))


def one_rank_too_many(x: Any, rng: Any) -> Any:
    return np.argsort(x + rng.exponential(4, 4))[1:]


def without_noise(x: Any, rng: Any) -> Any:
    rng.laplace()
    return np.argsort(-x, kind="stable")[:2]


def one_noise_for_all(x: Any, rng: Any) -> Any:
    return np.argsort(x + rng.laplace(0, 4))[:2]


def counts_of_the_selected(x: Any, rng: Any) -> Any:
    return x[np.argsort(-(x + rng.gumbel(0, 4, 4)))[:2]]


def noise_by_rank(x: Any, rng: Any) -> Any:
    return np.argsort(x, kind="stable")[:1] + rng.laplace(0, 1, 1)


def exponential_below(x: Any, rng: Any) -> Any:
    return np.argsort(x - rng.exponential(4, 4))[-2:]


FALSE = (noise_for_one, noise_for_one_in_a_batch, the_whole_order, one_rank_too_many, without_noise, one_noise_for_all)


@pytest.mark.parametrize("mechanism", [*FALSE, counts_of_the_selected, noise_by_rank])
def test_false_twins_are_not_proved(mechanism: Any) -> None:
    assert not dp_prover.prove(mechanism, PureDP(1.0), ALL, seconds=15).holds


def rounded(x: Any, rng: Any) -> Any:
    return np.argsort(-np.round(x + rng.gumbel(0, 4, 4)))[:2]


def clipped(x: Any, rng: Any) -> Any:
    return np.argsort(np.maximum(x + rng.laplace(0, 4, 4), 0.0))[:2]


def integers(x: Any, rng: Any) -> Any:
    return np.argsort(x + rng.geometric(0.1, 4))[:2]


def coins(x: Any, rng: Any) -> Any:
    return np.argsort(rng.integers(0, 3, 4))[:2]


def heapsort(x: Any, rng: Any) -> Any:
    return np.argsort(rng.random(4) < 0.5, kind="heapsort")


def not_stable(x: Any, rng: Any) -> Any:
    return (x > 5).argsort(stable=False)[0] + rng.laplace(0, 100)


def constants(x: Any, rng: Any) -> Any:
    rng.laplace()
    return np.argsort([1, 1.0])


def zeros_of_both_signs(x: Any, rng: Any) -> Any:
    rng.laplace()
    return np.argsort(np.array([0.0, -0.0, 1.0]))[2]


def two_without_a_number(x: Any, rng: Any) -> Any:
    rng.laplace()
    return np.argsort(np.array([np.nan, 1.0, np.nan]))[0]


TIES = (rounded, clipped, integers, coins, heapsort, not_stable, constants, zeros_of_both_signs, two_without_a_number)


@pytest.mark.parametrize("mechanism", TIES)
def test_an_order_of_equal_numbers_that_numpy_leaves_open_ends_the_attempt(mechanism: Any) -> None:
    proof = dp_prover.prove(mechanism, PureDP(100.0), ONE, seconds=10)
    assert not proof.holds
    assert 'may be equal, whose order NumPy leaves unspecified; use kind="stable"' in str(proof)


def test_equal_records_end_the_attempt() -> None:
    def first(data: Any, rng: Any) -> Any:
        rng.laplace()
        return int(np.argsort(np.array([*data, 5, 5]))[-1]) * 0

    proof = dp_prover.prove(first, PureDP(1.0), Records(choices=[0, 1], size=(0, 2)))
    assert not proof.holds
    assert "may be equal" in str(proof)


def test_stable_orders_are_followed_with_ties() -> None:
    def mechanism(x: Any, rng: Any) -> Any:
        return np.argsort(rng.integers(0, 2, 3), kind="stable")

    proof = dp_prover.prove(mechanism, PureDP(0.0), ONE)
    assert proof.proved, proof.reason


def along_the_batch(x: Any, size: int, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 4, (size, 4))), axis=0)[:, :2]


def the_whole_batch(x: Any, size: int, rng: Any) -> Any:
    return np.argsort(x[0] + rng.gumbel(0, 4, size))


def flat(x: Any, size: int, rng: Any) -> Any:
    return np.argsort(-(x + rng.gumbel(0, 4, (size, 4))), axis=None)


def one_order_for_all(x: Any, size: int, rng: Any) -> Any:
    order = np.argsort(x + rng.gumbel(0, 4, 4))
    return [order[:2] for _ in range(size)]


def test_an_order_that_all_outputs_share_ends_the_attempt() -> None:
    proof = dp_prover.prove(one_order_for_all, PureDP(100.0), ALL, seconds=10)
    assert "all outputs share it" in str(proof.reason)


@pytest.mark.parametrize("mechanism", [along_the_batch, the_whole_batch, flat])
def test_outputs_of_a_batch_are_not_ordered(mechanism: Any) -> None:
    proof = dp_prover.prove(mechanism, PureDP(100.0), ALL, seconds=10)
    assert not proof.holds
    assert "runs along the rows of a batch" in str(proof)


def written_over(x: Any, rng: Any) -> Any:
    order = np.argsort(-(x + rng.gumbel(0, 4, 4)))
    order[1] = 7
    return order[:2]


def test_a_rank_that_is_written_over_is_not_decided() -> None:
    assert dp_prover.prove(written_over, PureDP(0.5), ALL).proved
