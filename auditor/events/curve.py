"""The log-likelihood ratio of the sides along a line of cells, learned as few ramps and boxes as the counts support.

Mechanisms that add noise have ratios that are level, sloped, or jump at some values: Laplace noise makes one ramp between two
plateaus, discrete values make boxes. On a plateau all cells then share one ratio. So no cell looks best by luck, and
where the plateau ends is known better than by any threshold's own counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.intervals import Floats

# The number of cells on which ends of shapes are looked for first; then all of them.
COARSE_ENDS = 33
# Enough to keep cells that only one side reaches at a ratio which their number of outputs supports.
RIDGE = 0.1
# Added to every weight and to every penalty (outputs), so that no system of equations is singular.
TINY = 1e-9
# Scores are clipped here (nats), where a chance differs from 0 or 1 by no more than e^−30.
MOST_SCORE = 30.0


@dataclass(frozen=True, slots=True)
class Curve:
    """The estimated ln P[left]/P[right] (nats) of each cell, and its standard error as if the shapes were known.

    ``gain`` (nats) is what the curve adds to ln of the likelihood.
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
    """Return the value of shapes, which are rows, in each cell; of shape (cells, shapes)."""
    low, high, is_box = shapes.T
    cells, width = np.arange(len(x))[:, None], np.maximum(x[high] - x[low], np.finfo(float).tiny)
    ramps, boxes = np.clip((x[:, None] - x[low]) / width, 0.0, 1.0), (cells >= low) & (cells <= high)
    return np.asarray(np.where(is_box, boxes, ramps))


def fit_curve(x: Floats, left: NDArray[np.int64], right: NDArray[np.int64]) -> Curve:
    """Fit the ratio to counts of cells in rising order of their places ``x``. Shapes are added while they improve the fit.

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
            # A box gains as much as the rest of all cells does, but for the last digits, which depend on the processor.
            likeliest = shapes[int(np.argmax(gains >= (1 - 1e-9) * gains.max()))]
            shape, reached = _placed(_Shape(*likeliest.tolist()), x, counts, design, beta)
            # The first shape is added whatever it gains. The false-positive rate of others is about e^−2.
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
    boxes = boxes[boxes[:, 1] - boxes[:, 0] < cells - 1]  # one of all cells tells none apart
    return np.concatenate([np.insert(spans, 2, 0, axis=1), np.insert(boxes, 2, 1, axis=1)])


def _placed(shape: _Shape, x: Floats, counts: "Labelled", design: Floats, beta: Floats) -> tuple[_Shape, float]:
    """Move the ends of a shape to where it is likeliest, then those of a ramp outwards; return it and the likelihood."""

    # A shape that was moved a little has nearly the weights of the one before it.
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
        # Two standard errors are given up for the widest ramp: a plateau that ends too late mixes in outputs that show less. One
        # that ends too early loses some of its outputs.
        for step in _steps(len(x)):
            for low, high in ((-step, step), (-step, 0), (0, step)):
                while likelihood(shape.moved(low, high)) >= best - 2.0:
                    shape = shape.moved(low, high)
    return shape, best


def _steps(cells: int) -> list[int]:
    step = max(1, cells // COARSE_ENDS)
    return [step >> k for k in range(step.bit_length())]


# --- Logistic regression with a ridge, by Newton's method: what learned scores are fitted with too ---


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
        from scipy.linalg.lapack import dposv

        across, ridge = design.T, np.diag(penalty + TINY)
        for _ in range(25):
            weight, rest = self.weights(design, beta)
            curvature, slope = (across * weight) @ design + ridge, across @ rest - penalty * beta
            # NumPy's own solver takes ten times as long for a few columns.
            _, step, failed = dposv(curvature, slope)
            if failed:  # the curvature is not positive definite
                step = np.linalg.solve(curvature, slope)
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

    def fit(self, design: Floats, start: Floats) -> tuple[Floats, float]:
        """Return the likeliest weights, from a start, and ln of their likelihood (with a slight ridge)."""
        penalty = ridge_for(design.shape[1], RIDGE)
        for beta, step in self.steps(design, start, penalty, longest=5.0):  # noqa: B007 - returned below
            if step < 1e-3:  # what is left is about its square
                break
        return beta, self.log_likelihood(design, beta, penalty)

    def errors(self, design: Floats, beta: Floats) -> Floats:
        """Return the standard error of the score of each row of the design."""
        weight, _ = self.weights(design, beta)
        curvature = (design * weight[:, None]).T @ design + RIDGE * np.eye(design.shape[1])
        return np.asarray(np.sqrt((design * np.linalg.solve(curvature, design.T).T).sum(axis=1)))

    def gains(self, design: Floats, beta: Floats, columns: Floats) -> Floats:
        """Return the gain in ln of likelihood from adding each column, to second order (score test)."""
        weight, rest = self.weights(design, beta)
        weighted = (design * weight[:, None]).T
        across = weighted @ columns
        explained = np.linalg.solve(weighted @ design + 1e-9 * np.eye(design.shape[1]), across)
        # A quarter of an output more keeps columns that nothing was seen on from dividing by zero.
        spread = weight @ columns**2 - (across * explained).sum(axis=0) + 0.25
        return np.asarray((rest @ columns) ** 2 / (2 * spread))


def ridge_for(columns: int, ridge: float) -> Floats:
    """Return the penalty of each column: none for the first, the intercept."""
    return np.append(0.0, np.full(columns - 1, ridge))
