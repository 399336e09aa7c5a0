"""Batches are proved row by row: programs with independent outputs are proved, and refusals name the use of the size or the
index."""

import json
from typing import Any

import numpy as np
import pytest

import dp_prover
from auditor import PureDP, Totals
from dp_prover.certificates.checker.check import check_certificate

TWO = Totals(cells=2, values=(0, 100), contribution={"l1": 1})


def filled(x: Any, size: int, rng: Any) -> Any:
    out = np.zeros(size)
    for i in range(size):
        out[i] = x[0] + rng.laplace(0, 1)
    return out


def appended(x: Any, size: int, rng: Any) -> Any:
    out = []
    for _ in range(size):
        noisy = x[0] + rng.laplace(0, 1)
        if noisy > 3:
            out.append((noisy, "large"))
        else:
            out.append((0.0, "small"))
    return out


def cell_by_cell(x: Any, size: int, rng: Any) -> Any:
    noise, out = rng.laplace(0, 1, (size, 2)), np.zeros((size, 2))
    for i in range(size):
        for j in range(2):
            out[i, j] = x[j] + noise[i][j]
    return out


def by_function(x: Any, size: int, rng: Any) -> Any:
    def total() -> float:
        running = 0.0
        for count in x:
            running += count + rng.laplace(0, 1)
        return running

    return np.array([total() for _ in range(size)])


def masked(x: Any, size: int, rng: Any) -> Any:
    noisy = x[0] + rng.laplace(0, 1, size)
    noisy[noisy < 0] = 0
    return noisy


def in_place(x: Any, size: int, rng: Any) -> Any:
    noisy = np.full(size, 0.0)
    noisy += x[0]
    noisy += rng.laplace(0, 1, size)
    return noisy


def counted_rows(x: Any, size: int, rng: Any) -> Any:
    out = np.zeros(size)
    for i, row in enumerate(x + rng.laplace(0, 1, (size, 2))):
        out[i] = row[0]
    return out


def two_lists(x: Any, size: int, rng: Any) -> Any:
    out, words = [], []
    for _ in range(size):
        noisy = x[0] + rng.laplace()
        words.append("large" if noisy > 3 else "small")
        out.append(noisy)
    return out


def rows_of(x: Any, noisy: Any) -> Any:
    out: list[float] = []
    for noise in noisy:
        out.append(x[0] + noise)
    return out


def list_of_a_helper(x: Any, size: int, rng: Any) -> Any:
    return np.array(rows_of(x, rng.laplace(0, 1, size)))


PROVED = [
    *(filled, appended, cell_by_cell, by_function, masked, in_place, counted_rows, two_lists, list_of_a_helper),
    lambda x, size, rng: [x[0] + rng.laplace() for _ in range(size)],
    lambda x, size, rng: [float(x[0] + noise) for noise in rng.laplace(0, 1, size)],
    lambda x, size, rng: np.maximum(x[0] + rng.laplace(size=size), 0).round(2).tolist(),
    lambda x, size, rng: np.stack([x[0] + rng.laplace(0, 1, size), x[1] + rng.laplace(0, 1, size)], axis=1),
    lambda x, size, rng: (x + rng.laplace(0, 1, (size, len(x)))).sum(axis=1),
    lambda x, size, rng: np.argmax(x + rng.laplace(0, 1, (size, len(x))), axis=-1),
    lambda x, size, rng: (x + rng.laplace(0, 1, size=[size, len(x)])) @ np.array([[1, 1], [0, 1]]),
    lambda x, size, rng: np.broadcast_to(x, (size, 2)) + rng.laplace(0, 1, (size, 2)),
    lambda x, size, rng: np.tile(x, (size, 1)) + rng.laplace(0, 1, (size, 2)),
    lambda x, size, rng: rng.laplace(np.full(size, x[0]), 1.0),
    lambda x, size, rng: x + rng.laplace(0, 1, (size, *x.shape)),
    lambda x, size, rng: rng.laplace(x, 1, (size,) + x.shape),  # noqa: RUF005
    lambda x, size, rng: rng.laplace(x, np.full((size, 2), 1.0)),
    lambda x, size, rng: [tuple(row) for row in x + rng.laplace(0, 1, (size, 2))],
    lambda x, size, rng: list(x[0] + rng.laplace(0, 1, size)),
    lambda x, size, rng: [a + b for a, b in zip(rng.laplace(x[0], 1, size), np.zeros(size), strict=True)],
    lambda x, size, rng: (x + rng.laplace(0, 1, (size, 2)))[np.arange(size), rng.integers(0, 2, size)],
    lambda x, size, rng: (x + rng.laplace(0, 1, (size, 2)))[:, [1, 0]][:, None, ..., 0],
    lambda x, size, rng: np.array([0.0, 1.0])[np.argmax(x + rng.laplace(0, 2, (size, 2)), axis=1)],
    lambda x, size, rng: x[0] + rng.choice([-1, 1], size) * rng.exponential(1, size),
]


@pytest.mark.parametrize("mechanism", PROVED, ids=lambda one: f"{one.__name__} {one.__code__.co_firstlineno}")
def test_outputs_that_are_apart_are_proved(mechanism: Any) -> None:
    proof = dp_prover.prove(mechanism, PureDP(1.0), TWO, seconds=10)
    assert proof.proved, proof.reason
    check_certificate(json.loads(json.dumps(proof.certificate)))
    rng = np.random.default_rng(0)
    assert len(mechanism(np.array([3, 4]), 3, rng)) == 3


def counts(x: Any, size: int, rng: Any) -> Any:
    out, rows = [], 0
    for _ in range(size):
        rows += 1  # noqa: SIM113
        out.append(x[0] + rng.laplace(0, 1 / rows))
    return out


def counts_in_an_object(x: Any, size: int, rng: Any) -> Any:
    out: list[Any] = []
    rows = [0]
    for _ in range(size):
        rows.append(1)
        out.append(x[0] + rng.laplace())
    return out


def counts_in_a_dict(x: Any, size: int, rng: Any) -> Any:
    count = {"rows": 0}

    def row() -> float:
        count["rows"] += 1
        return x[0] + rng.laplace()

    return [row() for _ in range(size)]


def sees_an_iterator(x: Any, size: int, rng: Any) -> Any:
    scales = zip([1.0, 0.1], [1, 2], strict=True)
    return [x[0] + rng.laplace(0, 1) + 0 * sum(1 for _ in scales) for _ in range(size)]


def stops_early(x: Any, size: int, rng: Any) -> Any:
    out = []
    for _ in range(size):
        out.append(x[0] + rng.laplace())
        break
    return out


def two_names(x: Any, size: int, rng: Any) -> Any:
    out: list[Any] = []
    other = out
    for _ in range(size):
        out.append(x[0] + rng.laplace(0, 1) + 0 * len(other))
    return out


def one_item_only(x: Any, size: int, rng: Any) -> Any:
    def fill(rows: Any) -> None:
        for _ in range(size):
            rows.append(rng.laplace())

    rows: list[Any] = []
    fill(rows)
    (_,) = rows  # which raises for a size above 1
    return x[0] + rng.laplace(0, 1, size)


def raises_on_some(x: Any, size: int, rng: Any) -> Any:
    out = []
    for _ in range(size):
        noisy = x[0] + rng.laplace()
        if noisy > 60:
            raise ValueError("too large")
        out.append(noisy)
    return out


def inside_out(x: Any, size: int, rng: Any) -> Any:
    noise = rng.laplace(0, 1, size)
    return [x[0] + noise.max() for _ in range(size)]


def shared(x: Any, size: int, rng: Any) -> Any:
    return np.full(size, x[0]) + rng.laplace(0, 1)


def chosen_rows(x: Any, size: int, rng: Any) -> Any:
    return (x[0] + rng.laplace(0, 1, size))[:1]


def other_axes(x: Any, size: int, rng: Any) -> Any:
    return x[0] + rng.laplace(0, 1, size) + rng.laplace(0, 1, (size, 1))


def reads_a_table(x: Any, size: int, rng: Any) -> Any:
    scales = np.array([1.0])
    return [x[0] + rng.laplace(0, scales[i]) for i in range(size)]


def takes_turns(x: Any, size: int, rng: Any) -> Any:
    return rng.permutation(x[0] + rng.laplace(0, 1, size))


def not_replaced(x: Any, size: int, rng: Any) -> Any:
    return x[0] + rng.laplace(0, 1, size) + 0 * rng.choice(5, size, replace=False)


def one_for_all(x: Any, size: int, rng: Any) -> Any:
    return [x[0] + rng.laplace()]


NAMED = [
    (counts, "rows has no value here"),
    (counts_in_an_object, "does more with a list"),
    (counts_in_a_dict, "the next output can see"),
    (sees_an_iterator, "can reach an iterator"),
    (stops_early, "is left early"),
    (two_names, "may have two names"),
    (one_item_only, "may have two names"),
    (raises_on_some, "one output raises ValueError"),
    (
        lambda x, size, rng: np.array([1 if rng.random() < 0.5 else 1.5 for _ in range(size)]),
        "different types or shapes",
    ),
    (lambda x, size, rng: np.array(["a" if rng.random() < 0.5 else "bc" for _ in range(size)]), "array of texts"),
    (lambda x, size, rng: rng.laplace(x, 1, (size, 2))[np.arange(size), [[0]]], "not indexed by one index each"),
    (lambda x, size, rng: rng.laplace(x, 1, (size, 2))[:, True, :, True], "some rows of a batch are selected"),
    (lambda x, size, rng: np.array([0.0, 1.0])[rng.laplace(x[0], 1, size) > 0], "that are not integers"),
    (inside_out, "computes with all rows"),
    (shared, "all outputs share it"),
    (chosen_rows, "some rows of a batch are selected"),
    (other_axes, "different numbers of axes"),
    (reads_a_table, "an index is the size of a batch or the index of a row"),
    (takes_turns, "rng.permutation has something of a batch"),
    (not_replaced, "draws without replacement"),
    (one_for_all, "all outputs share it"),
    (lambda x, size, rng: x[0] + rng.laplace(0, 1 / size, size), "the size of the batch is computed with"),
    (lambda x, size, rng: x[0] + rng.laplace(0, 1.0 if size == 1 else 0.01, size), "the size of the batch is computed"),
    (lambda x, size, rng: [x[0] + rng.laplace(0, 1 / (1 + i)) for i in range(size)], "the place of an output"),
    (lambda x, size, rng: np.mean(x[0] + rng.laplace(0, 1, (size, 2)), axis=0), "along the rows"),
    (lambda x, size, rng: x[0] + rng.laplace(0, 1, (2, size)), "not as its first length"),
    (lambda x, size, rng: x[0] + rng.laplace(0, 1, size + 0), "the size of the batch is computed with"),
    (lambda x, size, rng: [rng.laplace(x[0], 1, size)], "neither an array nor a list of the batch"),
    (lambda x, size, rng: [0.0] * size, "the size of the batch is computed with"),
    (lambda x, size, rng: x[0] + rng.laplace(0, 1, int(size)), "int has something of a batch"),
    (lambda x, size, rng: x[0] + rng.laplace(0, 1, size) if size else None, "a condition has something of a batch"),
    (lambda x, size, rng: x[:size] + rng.laplace(0, 1, size), "the size of the batch"),
    (lambda x, size, rng: f"{size}", "the size of the batch"),
    (lambda x, size, rng: {size: x}, "the size of the batch"),
    (lambda x, size, rng: [n for n in rng.laplace(x[0], 1, size) if n > 0], "more or fewer items"),
    (lambda x, size, rng: list(set(rng.laplace(x[0], 1, size))), "set has something of a batch"),
]


@pytest.mark.parametrize("one", NAMED, ids=lambda one: f"{one[0].__name__} {one[0].__code__.co_firstlineno}")
def test_what_depends_on_the_batch_is_named(one: Any) -> None:
    mechanism, words = one
    proof = dp_prover.prove(mechanism, PureDP(1.0), TWO, seconds=10)
    assert not proof.holds
    assert words in str(proof.reason)
