"""The histogram of outputs: every output counts once, and the event's thresholds are visible."""

import math
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_list
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.features import Place
from auditor.events.histogram import CELLS, MOST_ATOM_BARS, NO_RULE, Bar, Histogram, histogram

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(0, 1, 4000).tolist()
KINDS: dict[str, list[Any]] = {
    "numbers": NORMAL,
    "a heavy tail": RNG.standard_cauchy(4000).tolist(),
    "integers": RNG.integers(0, 1000, 4000).tolist(),
    "few integers": RNG.integers(0, 5, 4000).tolist(),
    "infinities and NaN": [*NORMAL, math.inf, -math.inf, math.nan],
    "only infinities": [math.inf, -math.inf, math.inf] * 20,
    "huge": [*(1e308 * x for x in NORMAL if abs(x) < 1.7)],
    "tiny steps": [1.0 + i * 2.0**-52 for i in range(100)],
    "texts": [f"text {i % 30}" for i in range(3000)],
    "all kinds": [*NORMAL, *(None, "x", True, [1]) * 10],
    "one value": [3.0] * 100,
}


def of(left: list[Any], right: list[Any], rule: Cells | None = None) -> Histogram:
    place = Place("output")
    return histogram(place.name, [place.extract(from_list(side)) for side in (left, right)], rule or NO_RULE)


def counted(shown: Histogram) -> tuple[int, int]:
    return sum(shown.left) + sum(bar.left for bar in shown.bars), sum(shown.right) + sum(
        bar.right for bar in shown.bars
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_output_is_shown_once(kind: str) -> None:
    outputs = KINDS[kind]
    left, right = outputs[::2], outputs[1::2]
    shown = of(left, right, Cells((0.5,), (LEFT, RIGHT), {"NaN": LEFT}))
    assert counted(shown) == shown.outputs == (len(left), len(right))
    assert list(shown.edges) == sorted(set(shown.edges))
    assert all(math.isfinite(edge) for edge in shown.edges)
    assert len(shown.edges) <= 3 * CELLS


def test_few_values_are_bars_with_the_side_that_is_guessed_on_them() -> None:
    rule = Cells((0.0, 1.0), (LEFT, ABSTAIN, RIGHT), {"None": LEFT})  # a threshold belongs to the cell below it
    shown = of([0, 0, 1, None], [2, 2, 1, None], rule)
    assert shown.bars == (
        Bar("0", 2, 0, "left"),
        Bar("1", 1, 1, None),
        Bar("2", 0, 2, "right"),
        Bar("None", 1, 1, "left"),
    )
    assert (shown.edges, shown.left, shown.right) == ((), (), ())


def test_atoms_beyond_the_commonest_are_one_bar() -> None:
    shown = of(KINDS["texts"], KINDS["texts"])
    assert [bar.label for bar in shown.bars][-1] == "18 others"
    assert len(shown.bars) == MOST_ATOM_BARS + 1
    assert shown.bars[-1].left == 18 * 100


def test_marks_are_where_the_rule_guesses() -> None:
    shown = of(NORMAL, NORMAL, Cells((-1.0, 1.0), (LEFT, ABSTAIN, RIGHT), {}))
    assert [(mark.guess, mark.low, mark.high) for mark in shown.marks] == [
        ("left", -math.inf, -1.0),
        ("right", 1.0, math.inf),
    ]


def test_infinite_values_are_guessed_on_too() -> None:
    shown = of([-math.inf, 1.0], [math.inf, 1.0], Cells((0.0, 2.0), (LEFT, ABSTAIN, RIGHT), {}))
    assert [(bar.label, bar.guess) for bar in shown.bars] == [("-inf", "left"), ("1", None), ("inf", "right")]


def test_thresholds_close_together_are_looked_at_from_near() -> None:
    shown = of(NORMAL, NORMAL, Cells((0.1, 0.12), (ABSTAIN, LEFT, ABSTAIN), {}))
    assert 0.05 < shown.edges[0] < 0.1
    assert 0.12 < shown.edges[-1] < 0.15


def test_a_heavy_tail_does_not_squeeze_the_rest_into_one_cell() -> None:
    shown = of(KINDS["a heavy tail"], KINDS["a heavy tail"], Cells((-1e6,), (LEFT, RIGHT), {}))
    assert max(shown.left) < 0.5 * shown.outputs[0]
    assert shown.edges[0] > -1e6


def test_cells_of_integers_hold_the_same_number_of_them() -> None:
    shown = of(KINDS["integers"], KINDS["integers"])
    widths = np.diff(shown.edges)
    assert np.all(widths == np.rint(widths[0]))
    assert shown.edges[0] % 1 == 0.5
