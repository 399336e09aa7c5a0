"""The log-likelihood ratio of the sides along a line of cells: a sum of as few ramps and boxes as the counts support.

Mechanisms that add noise have ratios that are level, sloped, or jump at some values: Laplace noise makes one ramp
between two plateaus, discrete values make boxes. All cells of a plateau share one ratio, so none looks best by luck.
The fit locates the end of a plateau better than the counts at a single threshold do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats

# Ends of shapes are first searched for on COARSE_ENDS cells, then on all cells.
COARSE_ENDS = 33
# The penalty RIDGE keeps the ratio finite in cells that only one side reaches.
RIDGE = 0.1
# SINGULARITY_GUARD is added to every weight and to every penalty (outputs), so that no system of equations is singular.
SINGULARITY_GUARD = 1e-9
# Scores are clipped at ±MOST_SCORE (nats), where the probability of a side is within e^−30 of 0 or 1.
MOST_SCORE = 30.0


@dataclass(frozen=True, slots=True)
class Curve:
    """The estimated ln P[left]/P[right] (nats) of each cell, and its standard error for known shapes.

    ``gain`` (nats) is the excess of the curve's log-likelihood over that of a constant ratio.
    """

    log_ratios: Floats
    errors: Floats
    gain: float


class _Shape(NamedTuple):
    """A ramp that rises from 0 to 1 between two cells, or a box that is 1 from one cell to another."""

    low: int
    high: int
    is_box: int

    def fits(self, cells: int) -> bool:
        if not 0 <= self.low <= self.high < cells:
            return False
        return self.high - self.low < cells - 1 if self.is_box else self.low < self.high

    def moved(self, low: int, high: int) -> "_Shape":
        return _Shape(self.low + low, self.high + high, self.is_box)


def _columns(x: Floats, shapes: NDArray[np.intp]) -> Floats:
    """Return the value of each shape in each cell, of shape (cells, shapes). Each row of ``shapes`` is one shape."""
    low, high, is_box = shapes.T
    cells, width = np.arange(len(x))[:, None], np.maximum(x[high] - x[low], np.finfo(float).tiny)
    ramps, boxes = np.clip((x[:, None] - x[low]) / width, 0.0, 1.0), (cells >= low) & (cells <= high)
    return np.asarray(np.where(is_box, boxes, ramps))


def fit_curve(x: Floats, left: NDArray[np.int64], right: NDArray[np.int64]) -> Curve:
    """Fit the ratio to counts of cells at the rising positions ``x``. Shapes are added while they improve the fit.

    >>> x = np.arange(20.0)
    >>> left, right = np.full(20, 500), np.where(x < 10, 200, 800)
    >>> np.round(fit_curve(x, left, right).log_ratios[[0, 19]], 1).tolist()
    [0.9, -0.5]
    """
    cells, counts = len(x), Labelled(left.astype(np.float64), (left + right).astype(np.float64))
    design = np.ones((cells, 1))
    flat = beta, likelihood = counts.fit(design, np.zeros(1))
    if cells > 1:
        x = x / max(float(np.abs(x).max()), np.finfo(float).tiny)
        shapes = _candidates(cells)
        columns = _columns(x, shapes)
        for number in range(6):
            gains = counts.gains(design, beta, columns)
            # A box and its complement gain the same, up to last digits that depend on the processor: take the first.
            likeliest = shapes[int(np.argmax(gains >= (1 - 1e-9) * gains.max()))]
            shape, reached = _place_shape(_Shape(*likeliest.tolist()), x, counts, design, beta)
            # The first shape is always added. A superfluous later shape is added with probability of about e^−2.
            if number > 0 and reached - likelihood < np.log(len(shapes)) + 2.0:
                break
            design = np.column_stack([design, _columns(x, np.array([shape]))])
            beta, likelihood = counts.fit(design, np.append(beta, 0.0))
    return Curve(design @ beta, counts.errors(design, beta), likelihood - flat[1])


def _candidates(cells: int) -> NDArray[np.intp]:
    """Return ramps and boxes between coarse ends, and boxes of single cells, as rows."""
    ends = np.unique(np.linspace(0, cells - 1, min(cells, COARSE_ENDS)).round().astype(np.intp))
    spans = ends[np.stack(np.triu_indices(len(ends), 1), axis=1)]
    boxes = np.concatenate([spans, np.repeat(np.arange(cells), 2).reshape(-1, 2)])
    boxes = boxes[boxes[:, 1] - boxes[:, 0] < cells - 1]  # a box of all cells is the intercept
    return np.concatenate([np.insert(spans, 2, 0, axis=1), np.insert(boxes, 2, 1, axis=1)])


def _place_shape(shape: _Shape, x: Floats, counts: "Labelled", design: Floats, beta: Floats) -> tuple[_Shape, float]:
    """Move a shape's ends to the likeliest place, then a ramp's ends outwards. Return the shape and log-likelihood."""

    # The fit of each shape starts from the weights of the shape before, which differ little.
    start = np.append(beta, 0.0)

    def likelihood(tried: _Shape) -> float:
        nonlocal start
        if not tried.fits(len(x)):
            return -np.inf
        start, reached = counts.fit(np.column_stack([design, _columns(x, np.array([tried]))]), start)
        return reached

    best = likelihood(shape)
    for step in _steps(len(x)):
        moving = True
        while moving:
            moving = False
            for low, high in ((-step, 0), (step, 0), (0, -step), (0, step)):
                reached = likelihood(shape.moved(low, high))
                if reached > best + 1e-6:
                    shape, best, moving = shape.moved(low, high), reached, True
    if not shape.is_box:
        # The widest ramp within two standard errors is chosen. A plateau that is too long mixes in outputs that show
        # less, which costs more than the outputs that a plateau loses if it is too short.
        for step in _steps(len(x)):
            for low, high in ((-step, step), (-step, 0), (0, step)):
                while likelihood(shape.moved(low, high)) >= best - 2.0:
                    shape = shape.moved(low, high)
    return shape, best


def _steps(cells: int) -> list[int]:
    step = max(1, cells // COARSE_ENDS)
    return [step >> k for k in range(step.bit_length())]


# --- Logistic regression with a ridge, by Newton's method. Learned scores (logistic.py) are fitted with it too. ---


@dataclass(frozen=True, slots=True)
class Labelled:
    """Counts for each row of a design: ``left`` of ``total`` outputs came from the left side; both of shape (rows,)."""

    left: Floats
    total: Floats

    def steps(self, design: Floats, beta: Floats, penalty: Floats, longest: float) -> Iterator[tuple[Floats, float]]:
        """Yield after each Newton step the weights of the columns, and the largest change of the full step.

        ``penalty`` holds the ridge of each column. No weight changes by more than ``longest`` in a step, since a full
        step overshoots on separable data. The caller decides when to stop; there are at most 25 steps.
        """
        from scipy.linalg.lapack import dposv

        across, ridge = design.T, np.diag(penalty + SINGULARITY_GUARD)
        for _ in range(25):
            weight, rest = self.weights(design, beta)
            curvature, slope = (across * weight) @ design + ridge, across @ rest - penalty * beta
            # For a few columns, NumPy's solver takes ten times as long as LAPACK's dposv.
            _, step, failed = dposv(curvature, slope)
            if failed:  # the curvature is not positive definite
                step = np.linalg.solve(curvature, slope)
            largest = float(np.abs(step).max())
            beta = beta + step * min(1.0, longest / max(largest, 1e-12))
            yield beta, largest

    def log_likelihood(self, design: Floats, beta: Floats, penalty: Floats) -> float:
        """Return the log-likelihood, less the penalty of the ridge."""
        score = np.minimum(np.maximum(design @ beta, -MOST_SCORE), MOST_SCORE)
        return float((self.left * score - self.total * np.logaddexp(0, score)).sum() - penalty @ beta**2 / 2)

    def weights(self, design: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """Return for each row its weight (outputs), and by how much the outputs from the left exceed expectation."""
        from scipy.special import expit

        # np.clip would take longer than the rest of this function.
        chance = expit(np.minimum(np.maximum(design @ beta, -MOST_SCORE), MOST_SCORE))
        expected = self.total * chance
        return expected * (1 - chance) + SINGULARITY_GUARD, self.left - expected

    def fit(self, design: Floats, start: Floats) -> tuple[Floats, float]:
        """Return the likeliest weights with a slight ridge, and their log-likelihood; begin the search at ``start``."""
        penalty = ridge_for(design.shape[1], RIDGE)
        for beta, step in self.steps(design, start, penalty, longest=5.0):  # noqa: B007 - returned below
            if step < 1e-3:  # the remaining error is about the square of the step
                break
        return beta, self.log_likelihood(design, beta, penalty)

    def errors(self, design: Floats, beta: Floats) -> Floats:
        """Return the standard error of the score of each row of the design."""
        weight, _ = self.weights(design, beta)
        curvature = (design * weight[:, None]).T @ design + RIDGE * np.eye(design.shape[1])
        return np.asarray(np.sqrt((design * np.linalg.solve(curvature, design.T).T).sum(axis=1)))

    def gains(self, design: Floats, beta: Floats, columns: Floats) -> Floats:
        """Return by how much each column would raise the log-likelihood if added, to second order (score test)."""
        weight, rest = self.weights(design, beta)
        weighted = (design * weight[:, None]).T
        across = weighted @ columns
        explained = np.linalg.solve(weighted @ design + 1e-9 * np.eye(design.shape[1]), across)
        # The quarter of an output avoids a division by zero for columns without outputs.
        spread = weight @ columns**2 - (across * explained).sum(axis=0) + 0.25
        return np.asarray((rest @ columns) ** 2 / (2 * spread))


def ridge_for(columns: int, ridge: float) -> Floats:
    """Return the penalty of each column: 0 for the first column (the intercept), ``ridge`` for the others."""
    return np.append(0.0, np.full(columns - 1, ridge))
