"""A sampler of noisy numbers, and the outputs it draws."""

from typing import Any

import numpy as np

from auditor.blackbox.batches import Phase
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sample import Sample
from auditor.blackbox.sampling import Execution, Sampler
from auditor.neighbours.pair import Pair

PAIR = Pair(0.0, 1.0)
Drawn = tuple[list[float], list[float]]


def noisy(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.normal(dataset, 1, size)


def as_drawn(sample: Sample) -> Drawn:
    left, right = (outputs.column("output").numbers.tolist() for outputs in (sample.left, sample.right))
    return left, right


def sampler(function: Any = noisy, name: str = "audit", seed: int = 0, **execution: Any) -> Sampler:
    how = Execution(**{"workers": 1, "batch": 50, "isolate": False, **execution})
    return Sampler(PythonSource("m", function=function), name, seed, how)


def draw(drawer: Sampler, outputs: int = 230, phase: Phase = Phase.BOUND, pair: Pair = PAIR) -> list[Drawn]:
    return list(drawer.map(drawer.batches(pair, outputs, phase), as_drawn))
