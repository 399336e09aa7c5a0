"""Logistic regression with a ridge, by Newton's method: what learned scores and curves are fitted with."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from auditor.bounds.intervals import Floats

NEWTON_STEPS = 25
# Added to every weight and to every penalty (outputs), so that no system of equations is singular.
TINY = 1e-9
# Scores are clipped here (nats), where a chance differs from 0 or 1 by no more than e^−30.
MOST_SCORE = 30.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """In each row of a design, ``left`` of ``total`` outputs came from the left side; both have shape (rows,)."""

    left: Floats
    total: Floats

    def steps(self, design: Floats, beta: Floats, penalty: Floats, longest: float) -> Iterator[tuple[Floats, float]]:
        """Yield ever likelier weights of the columns, and the largest change that the step wanted; the caller says when to stop.

        ``penalty`` holds the ridge of each column. No weight changes by more than ``longest`` in a step, since a full step
        overshoots on separable data.
        """
        across, ridge = design.T, np.diag(penalty + TINY)
        for _ in range(NEWTON_STEPS):
            weight, rest = self.weights(design, beta)
            step = _solved((across * weight) @ design + ridge, across @ rest - penalty * beta)
            largest = float(np.abs(step).max())
            beta = beta + step * min(1.0, longest / max(largest, 1e-12))
            yield beta, largest

    def log_likelihood(self, design: Floats, beta: Floats, penalty: Floats) -> float:
        """Return ln of the likelihood, less the ridge."""
        score = np.minimum(np.maximum(design @ beta, -MOST_SCORE), MOST_SCORE)
        return float((self.left * score - self.total * np.logaddexp(0, score)).sum() - penalty @ beta**2 / 2)

    def weights(self, design: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Return for each row its weight (outputs), and the excess of outputs from the left over the expectation."""
        from scipy.special import expit

        # np.clip takes longer than all else here.
        chance = expit(np.minimum(np.maximum(design @ beta, -MOST_SCORE), MOST_SCORE))
        expected = self.total * chance
        return expected * (1 - chance) + TINY, self.left - expected


def _solved(curvature: Floats, slope: Floats) -> Floats:
    """Return the step for a positive definite curvature. NumPy's own solver takes ten times as long for a few columns."""
    from scipy.linalg.lapack import dposv

    _, step, failed = dposv(curvature, slope)
    return np.asarray(np.linalg.solve(curvature, slope) if failed else step)


def ridge_for(columns: int, ridge: float) -> Floats:
    """Return the penalty of each column: none for the first, the intercept."""
    return np.append(0.0, np.full(columns - 1, ridge))
