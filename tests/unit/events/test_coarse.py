"""Coarse counts of all columns at once: they are exact, and their ranking finds the one leaking column among many."""

import math
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.sample import Sample
from auditor.claims import PureDP
from auditor.events.coarse import CoarseBlocks
from auditor.events.features import Place
from auditor.events.selection import Halves
from auditor.methods.guessing import Guesses

METHOD = Guesses(PureDP(0.5), alpha=0.01, planned=100_000)


def test_every_output_is_counted_once_and_where_it_lies() -> None:
    rng = np.random.default_rng(1)
    mixed = [
        [
            float(x),
            None if x > 1 else "low" if x < -1 else round(float(x), 1),
            "a" if x > 0 else "b",
            math.copysign(math.inf, x),
        ]
        for x in rng.normal(size=1_000)
    ]
    outputs, sizes = from_list(mixed), (100, 0, 500, 400)
    columns = [outputs.column(f"output[{place}]") for place in range(4)]
    blocks = CoarseBlocks.of(columns, sizes, look_for_rare=True)
    begin = 0
    for part, size in enumerate(sizes):
        for row, column in enumerate(columns):
            codes = np.full(1_000, -1) if column.codes is None else column.codes
            numbers = column.numbers[begin : begin + size][codes[begin : begin + size] < 0]
            counts = blocks.counts[part, blocks.owner == row]
            cells = blocks.edges.shape[1] + 1
            expected = np.bincount(np.searchsorted(blocks.edges[row], numbers, side="left"), minlength=cells)
            assert counts[:cells].tolist() == expected.tolist()
            names = [column.atoms[code] for code in codes[begin : begin + size] if code >= 0]
            assert counts[cells:].tolist() == [names.count(atom) for atom in blocks.atoms[row]]
        begin += size


def shifted(side: int, size: int, rng: np.random.Generator) -> Any:
    outputs = rng.laplace(0, 1, (size, 500))
    outputs[:, 321] += 2 * side
    return outputs


def wider(side: int, size: int, rng: np.random.Generator) -> Any:
    outputs = rng.normal(0, 1, (size, 500))
    outputs[:, 321] *= 1 + 2 * side
    return outputs


def one_value(side: int, size: int, rng: np.random.Generator) -> Any:
    """One output in fifty is 0.5 at one place, on the left only: too few for a cell, and no other two outputs are equal."""
    outputs = rng.normal(0, 1, (size, 500))
    outputs[rng.random(size) < 0.02 * side, 321] = 0.5
    return outputs


def rounded(side: int, size: int, rng: np.random.Generator) -> Any:
    outputs = rng.normal(0, 1, (size, 500))
    some = rng.random(size) < 0.6 * side
    outputs[some, 321] = np.round(outputs[some, 321], 3)
    return outputs


def narrow_bump(side: int, size: int, rng: np.random.Generator) -> Any:
    """One output in twenty-five is close to 0.5 at one place, on the left only, and no two outputs are equal."""
    outputs = rng.normal(0, 1, (size, 500))
    some = rng.random(size) < 0.04 * side
    outputs[some, 321] = rng.uniform(0.5, 0.5001, np.count_nonzero(some))
    return outputs


@pytest.mark.parametrize("leak", [shifted, wider, one_value, rounded, narrow_bump])
def test_the_one_place_of_five_hundred_that_leaks_is_found(leak: Any) -> None:
    rng = np.random.default_rng(0)
    left, right = (from_batch(leak(side, 2_000, rng), 2_000) for side in (1, 0))
    choice = METHOD.learn(Sample(left, right))
    assert "output[321]" in choice.test.feature.name
    assert choice.forecast > 0.5


def test_a_leaking_text_of_a_thousand_is_found() -> None:
    rng = np.random.default_rng(3)

    def drawn(side: int) -> list[list[str]]:
        letters = rng.choice([*"abcdefgh"], (400, 1_000))
        letters[rng.random(400) < 0.6 * side, 7] = "z"
        return letters.tolist()

    choice = METHOD.learn(Sample(from_list(drawn(1)), from_list(drawn(0))))
    assert choice.test.feature == Place("output[7]")
    assert choice.forecast > 0.5


def test_the_first_outputs_are_those_of_each_part() -> None:
    parts = [from_batch(np.arange(size) + 1000.0 * k, size) for k, size in enumerate((70, 80, 90, 100))]
    few = Halves.of(Sample(parts[0], parts[1]), Sample(parts[2], parts[3])).first(20)
    assert few.sizes == (10, 10, 10, 10)
    assert few.outputs.column("output").numbers.tolist() == [1000.0 * k + i for k in range(4) for i in range(10)]
