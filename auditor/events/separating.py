"""A rule from few outputs: one threshold on the feature that separates the sides best.

From a few dozen outputs nothing finer can be learned. A search looks at hundreds of pairs with so few, and what is gross shows.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import OutputColumn, concatenate
from auditor.blackbox.sample import Sample
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, shortest_decimal
from auditor.events.event import Event
from auditor.events.features import Feature

# Below this number of outputs one threshold is all that can be learned.
FEW_OUTPUTS = 500


def separating_event(features: Iterable[Feature], fit: Sample) -> Event | None:
    """Return the rule that guesses most outputs of ``fit`` rightly, the first of equal ones; None without features.

    It guesses one side up to a threshold, and the other beyond. At an atom it guesses the side that gave it more often.
    """
    both, is_left = concatenate([fit.left, fit.right]), np.arange(fit.size) < fit.left.size
    # The sides count alike, however often each was drawn.
    weights = np.where(is_left, 1 / max(1, fit.left.size), -1 / max(1, fit.right.size))
    best, most = None, -np.inf
    for feature in features:
        rule, right = _separating(feature.extract(both), weights)
        if right > most + 1e-12:
            best, most = Event(feature, rule), right
    return best


def _separating(column: OutputColumn, weights: NDArray[np.float64]) -> tuple[Cells, float]:
    """Return the rule on a column, and by how much more it hits the side that it guesses than the other."""
    atoms, worth = dict[str, float](), 0.0
    numbers = column.numbers
    if column.codes is not None:
        is_atom = column.codes >= 0
        excess = np.bincount(column.codes[is_atom], weights[is_atom], minlength=len(column.atoms))
        atoms = {
            atom: LEFT if more > 0 else RIGHT for atom, more in zip(column.atoms, excess.tolist(), strict=True) if more
        }
        worth = float(np.abs(excess).sum())
        numbers, weights = numbers[~is_atom], weights[~is_atom]
    if not len(numbers):
        return Cells((), (ABSTAIN,), atoms), worth
    order = np.argsort(numbers, kind="stable")
    numbers, reached = numbers[order], np.cumsum(weights[order])
    # A threshold lies between two numbers that differ; beyond the last there is none.
    between = np.append(numbers[1:] != numbers[:-1], True)
    gains = np.where(between, np.abs(2 * reached - reached[-1]), -np.inf)
    at = int(np.argmax(gains))
    if at == len(numbers) - 1:
        return Cells((), (LEFT if reached[-1] > 0 else RIGHT,), atoms), worth + abs(float(reached[-1]))
    below = LEFT if 2 * reached[at] > reached[-1] else RIGHT
    edge = shortest_decimal(float(numbers[at]), float(numbers[at + 1]))
    return Cells((edge,), (below, -below), atoms), worth + float(gains[at])
