"""A learned log-likelihood ratio: logistic regression on piecewise linear terms, categories, and products of places."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor.blackbox.outputs import OutputColumn, Outputs, concatenate
from auditor.blackbox.sample import Sample
from auditor.bounds.digits import round_significant
from auditor.bounds.intervals import Floats
from auditor.events.curve import Labelled, ridge_for
from auditor.events.features import LARGEST_FLOAT

# BENDS are the quantiles of a place's numbers at which its log-ratio may bend. The score is constant beyond the
# outermost quantiles, so that heavy tails cannot make the score explode.
BENDS = (0.002, 0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 0.998)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The regressors of one place: piecewise linear functions of its number, and an indicator for each of ``atoms``."""

    place: str
    bends: tuple[float, ...]
    atoms: tuple[str, ...]

    @property
    def width(self) -> int:
        """The number of columns."""
        return max(0, len(self.bends) - 1) + len(self.atoms)

    def columns(self, outputs: Outputs) -> list[Floats]:
        column = outputs.column(self.place)
        is_number = np.ones(outputs.size) if column.codes is None else (column.codes < 0).astype(np.float64)
        terms: list[Floats] = []
        if self.bends:
            low, high = self.bends[0], self.bends[-1]
            width = high - low
            x = np.clip(column.numbers, low, high)
            terms.append((x - low) / width * is_number)
            terms += [np.maximum(x - bend, 0.0) / width * is_number for bend in self.bends[1:-1]]
        if column.codes is not None:
            codes = {atom: i for i, atom in enumerate(column.atoms)}
            terms += [(column.codes == codes.get(atom, -2)).astype(np.float64) for atom in self.atoms]
        else:
            terms += [np.zeros(outputs.size) for _ in self.atoms]
        return terms

    def line(self, outputs: Outputs) -> Floats:
        """Return the place's number, scaled to [0, 1]; 0 for an atom. This is the first of the ``columns`` of a numeric place."""
        return self._bent(outputs.column(self.place), self.bends[:1], (1.0,))

    def score(self, outputs: Outputs, weights: Sequence[float]) -> Floats:
        """Return the sum of the ``columns`` times their ``weights``, without making the columns."""
        column, bends = outputs.column(self.place), self.bends[:-1]
        score = self._bent(column, bends, weights[: len(bends)])
        worth = dict(zip(self.atoms, weights[len(bends) :], strict=True))
        if column.codes is not None and worth:
            # The code NUMBER, which is -1, finds the last entry.
            score += np.array([*(worth.get(atom, 0.0) for atom in column.atoms), 0.0])[column.codes]
        return score

    def _bent(self, column: OutputColumn, bends: Sequence[float], weights: Sequence[float]) -> Floats:
        score = np.zeros(len(column.numbers))
        if not bends:
            return score
        low, high = self.bends[0], self.bends[-1]
        x, beyond = np.clip(column.numbers, low, high), np.empty(len(score))
        for bend, weight in zip(bends, weights, strict=True):
            np.subtract(x, bend, out=beyond)
            np.maximum(beyond, 0.0, out=beyond)
            beyond /= high - low  # apart from the weight, which over a tiny width would be infinite
            beyond *= weight
            score += beyond
        if column.codes is not None:
            score[column.codes >= 0] = 0.0
        return score


@dataclass(frozen=True, slots=True)
class LogisticScore:
    """An estimate of ln P[left]/P[right] (nats) of an output. It proves nothing by itself."""

    terms: tuple[_Terms, ...]
    products: tuple[tuple[int, int], ...]
    intercept: float
    weights: tuple[float, ...]
    name: str = "learned evidence"

    def extract(self, outputs: Outputs) -> OutputColumn:
        score, at = np.full(outputs.size, self.intercept), 0
        for term in self.terms:
            score += term.score(outputs, self.weights[at : at + term.width])
            at += term.width
        lines = {i: self.terms[i].line(outputs) - 0.5 for i in {*itertools.chain.from_iterable(self.products)}}
        for (i, j), weight in zip(self.products, self.weights[at:], strict=True):
            score += weight * lines[i] * lines[j]
        # The score is rounded, so that the order of additions in a batch cannot move a score across a threshold.
        return OutputColumn(self.name, np.round(score, 9) + 0.0)


def fit_logistic(sample: Sample, most: int = 20_000) -> LogisticScore | None:
    """Fit the score to the first ``most`` outputs by penalised maximum likelihood. Return None if nothing varies.

    The score has a few dozen weights, which more outputs would hardly change.
    """
    sample = Sample(sample.left[: most // 2], sample.right[: most // 2])
    both = concatenate([sample.left, sample.right])
    terms = tuple(t for t in (_terms_of(column, len(both.columns)) for column in both.columns) if t is not None)
    if not terms or min(sample.left.size, sample.right.size) == 0:
        return None
    numeric = [i for i, term in enumerate(terms) if term.bends]
    few = 2 <= len(numeric) <= 6
    products = tuple(itertools.combinations(numeric, 2)) if few else ()
    design = _design(terms, products, both)
    labels = np.concatenate([np.ones(sample.left.size), np.zeros(sample.right.size)])
    intercept, weights = _fit(design, labels)
    # The intercept is for sides that are equally likely, not for the sides' shares of this sample.
    intercept -= math.log(sample.left.size / sample.right.size)
    return LogisticScore(terms, products, round_significant(intercept), tuple(map(round_significant, weights.tolist())))


def _terms_of(column: OutputColumn, places: int) -> _Terms | None:
    numbers = column.numbers if column.codes is None else column.numbers[column.codes < 0]
    bends: tuple[float, ...] = ()
    if len(numbers):
        # More than about fifty weights cost time and improve little. So each place gets fewer bends if there are more
        # than four places, and a straight line if there are more than ten.
        fewer: tuple[float, ...] = (0.01, 0.15, 0.5, 0.85, 0.99) if places <= 10 else (BENDS[0], BENDS[-1])
        levels = BENDS if places <= 4 else fewer
        finite = np.clip(
            numbers[np.isfinite(numbers)], -LARGEST_FLOAT / 4, LARGEST_FLOAT / 4
        )  # no difference overflows
        quantiles = _quantiles(finite, levels).tolist() if len(finite) else []
        # Numbers near each other may be one when rounded.
        bends = tuple(dict.fromkeys(map(round_significant, quantiles)))
        bends = bends if len(bends) > 1 else ()
    atoms: tuple[str, ...] = ()
    if column.codes is not None:
        frequencies = np.bincount(column.codes[column.codes >= 0], minlength=len(column.atoms))
        order = [i for i in np.argsort(-frequencies, kind="stable")[:16] if 8 <= frequencies[i] < len(column.codes)]
        atoms = tuple(column.atoms[i] for i in order)
    return _Terms(column.name, bends, atoms) if bends or atoms else None


def _quantiles(numbers: Floats, levels: Sequence[float]) -> Floats:
    """Return what ``np.quantile`` does, in a quarter of the time that it takes for a few numbers."""
    numbers, at = np.sort(numbers), np.multiply(levels, len(numbers) - 1)
    below = np.floor(at).astype(np.intp)
    low, high = numbers[below], numbers[np.minimum(below + 1, len(numbers) - 1)]
    return np.asarray(low + (high - low) * (at - below))


def _design(terms: Sequence[_Terms], products: Sequence[tuple[int, int]], outputs: Outputs) -> Floats:
    columns = [term.columns(outputs) for term in terms]
    # The first regressor of a numeric place is its number, scaled to [0, 1]. Products are of the centred numbers.
    multiplied = [(columns[i][0] - 0.5) * (columns[j][0] - 0.5) for i, j in products]
    return np.stack([*itertools.chain.from_iterable(columns), *multiplied], axis=1)


def _fit(design: Floats, labels: Floats) -> tuple[float, Floats]:
    """Return the likeliest intercept and weights, with a ridge penalty on the standardised columns."""
    mean, scale = design.mean(axis=0), design.std(axis=0)
    scale[scale == 0] = np.inf  # a regressor that does not vary gets no weight
    standard = np.column_stack([np.ones(len(labels)), (design - mean) / scale])
    # A ridge of one output keeps the weights finite if the data are separable.
    penalty, labelled = ridge_for(standard.shape[1], 1.0), Labelled(labels, np.ones(len(labels)))
    reached = -np.inf
    for beta, _ in labelled.steps(standard, np.zeros(len(penalty)), penalty, longest=10.0):
        before, reached = reached, labelled.log_likelihood(standard, beta, penalty)
        if reached - before < 0.01:  # nats
            break
    weights = beta[1:] / scale
    return float(beta[0] - weights @ mean), weights
