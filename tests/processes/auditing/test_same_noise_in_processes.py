"""Pairs ranked by outputs with common random numbers, in processes."""

from typing import Any

import numpy as np
import pytest

from auditor.blackbox.host import isolated
from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.neighbours.pair import Pair


def noisy_sum(data: Any, rng: np.random.Generator) -> float:
    return float(np.sum(data) + rng.laplace())


def test_a_process_of_its_own_ranks_as_this_one_does() -> None:
    pairs = [Pair([], [x]) for x in (1.0, 3.0, 0.0)]
    here = Mechanism.from_callable(noisy_sum, {}, "sum")
    ranks = [
        [*one.alike(pairs, np.random.default_rng(1), 4)]
        for one in (here, isolated(PythonSource("sum", function=noisy_sum), None))
    ]
    assert ranks[0] == ranks[1]
    assert ranks[0] == pytest.approx([ranks[0][0], 3 * ranks[0][0], 0])
