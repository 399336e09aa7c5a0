"""Scores are counted in cells as a scan counts them, in parts as in whole."""

import itertools
import math

import numpy as np
import pytest

from auditor.blackbox.canonical import from_list
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import ScoreCounts
from auditor.events.features import Place
from auditor.methods.score_cells import count_in_cells

DRAWN = np.round(np.random.default_rng(0).normal(size=400), 1).tolist()  # many are equal, also to edges
SCORES = [*DRAWN, math.inf, -math.inf, 0.0, -0.0, 2.5, 2.5]
EDGES = {
    "none": (),
    "one": (0.5,),
    "some": (-math.inf, -1.0, 0.0, 0.5, 2.5),
    "many": tuple(np.arange(-2, 2, 0.05).tolist()),
}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("parts", [1, 3])
def test_each_score_is_counted_in_its_cell(edges: tuple[float, ...], parts: int) -> None:
    sides = SCORES, SCORES[100:]
    counted = count_in_cells(Place("output"), edges, Sample(*map(from_list, sides)), parts)
    ends = [-math.inf, *edges, math.inf]

    def scan(scores: list[float]) -> tuple[int, ...]:
        return tuple(
            sum((low < x or at == 0) and x <= high for x in scores)
            for at, (low, high) in enumerate(itertools.pairwise(ends))
        )

    expected = [
        ScoreCounts(*(scan(side[len(side) * at // parts : len(side) * (at + 1) // parts]) for side in sides))
        for at in range(parts)
    ]
    assert counted == expected
