"""Divergences between two densities on a shared mesh: integrals and suprema with estimated errors."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor.errors import InvalidInputError
from mechanisms.exact.discrete import surplus
from mechanisms.exact.distributions import Density, Reals
from mechanisms.exact.quadrature import (
    COARSEST,
    FINEST,
    GROWTH,
    KRONROD,
    Mesh,
    evaluate,
    integrate,
    make_mesh,
    peaks_between,
)

# A log density is accurate to 8 units in the last place of its size at best, after a handful of operations.
ULPS = 8 * float(np.finfo(float).eps)

# Integrals are refined to this share of themselves; two rules of 15 nodes agree to it without trouble.
PRECISION = 1e-11

# A density whose integral is off by more than this was not resolved, or is no density.
NORMALISATION = 1e-6

# A δ below this counts as 0, which ends the refinement where the divergence is 0.
NO_DELTA = 1e-25

# Terms e^−40 below the largest do not move a double.
NEGLIGIBLE = 40.0

# Beyond this rounding of its exponents (nats), a sum of exponentials says no more than its largest term.
COARSE = 0.1

# A privacy loss that rounding may move by more than this (nats), as in far tails, is ignored.
LARGEST_NOISE = 1e-6

# The fall of ln √distance, in nats, when the distance to a point shrinks a thousandfold.
LEAST_GROWTH = 0.5 * math.log(1000)


def nothing(outputs: Reals) -> Reals:
    """Return the log density of a side that consists of atoms only."""
    return np.full(outputs.shape, -np.inf)


@dataclass(slots=True, eq=False)
class DensityPair:
    """A pair of densities (None for a side without one) on a mesh that only ever gets finer.

    ``masses`` are the integrals that the densities must have.
    Raises InvalidInputError if an integral differs from its mass: then either a peak has no breakpoint near it, or the function is
    not a density.
    """

    mesh: Mesh
    breakpoints: Reals
    log_errors: tuple[float, float]
    defect: float

    @classmethod
    def of(cls, left: Density | None, right: Density | None, masses: tuple[float, float]) -> "DensityPair":
        """Resolve both densities."""
        sides = [side for side in (left, right) if side is not None]
        points = tuple(sorted({point for side in sides for point in side.breakpoints}))
        functions = (left.log_density if left else nothing, right.log_density if right else nothing)
        mesh = make_mesh(functions, points)
        log_errors = (left.log_error if left else 0.0, right.log_error if right else 0.0)

        def both(mesh: Mesh) -> tuple[Reals, Reals, Reals]:
            logs = np.stack([mesh.left, mesh.right])
            noise = np.stack([_noise(log, error) for log, error in zip(logs, log_errors, strict=True)])
            values = np.exp(logs)
            return values, np.zeros(1), (values * noise * mesh.measure) @ KRONROD

        mesh, totals, errors = integrate(mesh, both, PRECISION / 10, 1e-300)
        for name, total, mass, error in zip(("left", "right"), totals, masses, errors, strict=True):
            if not abs(total - mass) <= NORMALISATION + error:
                raise InvalidInputError(
                    f"the {name} density integrates to {total!r}, not {mass!r}; give breakpoints beside every peak, kink and jump"
                )
        # A deviation within the rounding of a few thousand terms is not a defect.
        defect = max(0.0, float(np.max(np.abs(totals - masses))) - 1e-13)
        return cls(mesh, np.array(points), log_errors, defect)

    def mirrored(self) -> "DensityPair":
        """Swap the sides."""
        mesh = self.mesh
        swapped = Mesh(
            mesh.densities[::-1], mesh.reach, mesh.low, mesh.high, mesh.outputs, mesh.measure, mesh.right, mesh.left
        )
        return DensityPair(swapped, self.breakpoints, self.log_errors[::-1], self.defect)

    def hockey_stick(self, epsilon: float) -> tuple[float, float, float]:
        """Return ∫ (left − e^ε right)₊, its error, and −d/dε of it.

        Besides the difference between the two quadrature rules, the error accounts for kinks, losses that may cross ε between
        nodes, rounding, and ``log_errors``.
        """

        def integrand(mesh: Mesh) -> tuple[Reals, Reals, Reals]:
            loss = mesh.loss
            left, right = np.exp(mesh.left), _scaled(mesh.right, epsilon)
            active, difference = loss > epsilon, left - right
            values = np.where(active, difference, 0.0)
            noise = left * _noise(mesh.left, self.log_errors[0]) + right * _noise(mesh.right, self.log_errors[1])
            rounding = (np.where(active, noise, 0.0) * mesh.measure) @ KRONROD
            # Between two nodes on the same side of ε, a loss may cross ε unseen.
            over = np.where(active, 0.0, loss + peaks_between(mesh, loss) - epsilon)
            under = np.where(active, epsilon - loss + peaks_between(mesh, -loss), 0.0)
            hidden = -np.expm1(-np.maximum(over, 0.0)) + np.expm1(np.clip(under, 0.0, math.log(2)))
            unseen = (left * mesh.measure * hidden) @ KRONROD
            return values[None], unseen + _kinks(mesh, active, difference), rounding

        self.mesh, totals, errors = integrate(self.mesh, integrand, PRECISION, NO_DELTA)
        active = self.mesh.loss > epsilon
        slope = _sum(self.mesh, np.where(active, _scaled(self.mesh.right, epsilon), 0.0))
        return float(totals[0]), float(errors[0]) + self.defect, slope

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return ln ∫ left^order right^(1 − order) for order > 1, and its error; infinite where it diverges."""

        def exponent(mesh: Mesh) -> Reals:
            with np.errstate(invalid="ignore"):
                terms = order * mesh.left + (1 - order) * mesh.right
            return np.where(mesh.left == -np.inf, -np.inf, terms)

        def rounding(mesh: Mesh) -> Reals:
            return order * _noise(mesh.left, self.log_errors[0]) + (order - 1) * _noise(mesh.right, self.log_errors[1])

        def integrand(mesh: Mesh) -> tuple[Reals, Reals, Reals]:
            terms = exponent(mesh)
            below = terms - terms.max()
            values = np.exp(below)
            rise = np.where(below < -NEGLIGIBLE, peaks_between(mesh, terms), 0.0)
            hidden = np.exp(np.minimum(below + rise, 0.0)) - values
            # Rounding of a nat or more (at a huge order) must not pass for a peak that is resolved.
            noise = np.minimum(rounding(mesh), COARSE)
            return values[None], (hidden * mesh.measure).sum(axis=1), (values * noise * mesh.measure) @ KRONROD

        top = exponent(self.mesh).max()
        if math.isinf(top):
            return float(top), 0.0
        self.mesh, totals, errors = integrate(self.mesh, integrand, PRECISION)
        terms = exponent(self.mesh)
        peak = np.unravel_index(terms.argmax(), terms.shape)
        if abs(self.mesh.outputs[peak]) > self.mesh.reach:
            return np.inf, 0.0
        beyond = max(0.0, float(rounding(self.mesh)[peak]) - COARSE)
        return float(terms[peak] + math.log(totals[0])), float(errors[0] / totals[0]) + beyond + self.defect

    def surplus(self, order: float) -> tuple[float, float]:
        """Return the integral of :func:`~mechanisms.exact.discrete.surplus`, and its error; the moment must be small."""

        def integrand(mesh: Mesh) -> tuple[Reals, Reals, Reals]:
            values, slopes = surplus(mesh.left, mesh.right, order)
            left, right = _noise(mesh.left, self.log_errors[0]), _noise(mesh.right, self.log_errors[1])
            noise = values * right + slopes * (left + right)
            return values[None], np.zeros(1), (noise * mesh.measure) @ KRONROD

        self.mesh, totals, errors = integrate(self.mesh, integrand, PRECISION, NO_DELTA)
        return float(totals[0]), float(errors[0])

    def largest_loss(self) -> tuple[float, float]:
        """Return the supremum of the privacy loss and its error; infinite if the loss is unbounded.

        It may be unbounded in a tail, or towards a breakpoint where the right density vanishes with a higher power than the
        left one. Losses are evaluated at every node of the mesh, next to every breakpoint and along both tails; the best
        candidates are refined between their neighbours. Any value found is a lower bound up to rounding.
        """
        scale = float(np.ptp(self.breakpoints)) or 1.0
        ladder = scale * GROWTH ** np.arange(-FINEST, COARSEST + 1)
        tails = [self.breakpoints[0] - ladder, self.breakpoints[-1] + ladder]
        limits = [_limit(*self._losses(tail)) for tail in tails]
        value, error = max(limits)
        beside = np.concatenate([np.nextafter(self.breakpoints, side) for side in (-np.inf, np.inf)])
        if value == np.inf or np.any(self.mesh.loss == np.inf) or np.any(self._losses(beside)[0] == np.inf):
            return np.inf, 0.0
        if self._grows_beside(scale):
            return np.inf, 0.0
        losses, doubt = self._climb(np.unique(np.concatenate([self.mesh.outputs.ravel(), beside, *tails])))
        return (losses, doubt) if losses >= value else (value, error)

    def _grows_beside(self, scale: float) -> bool:
        """Whether the loss grows steadily towards a breakpoint: by at least half a power whenever the distance shrinks
        a thousandfold."""
        steps = scale * np.array([1e-7, 1e-10, 1e-13])
        resolved = steps[-1] > 16 * np.spacing(np.abs(self.breakpoints))
        for side in (-1.0, 1.0):
            loss = self._losses(self.breakpoints[resolved, None] + side * steps)[0]
            with np.errstate(invalid="ignore"):
                first, second = loss[:, 1] - loss[:, 0], loss[:, 2] - loss[:, 1]
            if np.any((second >= LEAST_GROWTH) & (second >= 0.9 * first) & (first >= LEAST_GROWTH)):
                return True
        return False

    def _losses(self, outputs: Reals) -> tuple[Reals, Reals]:
        """Return losses and their rounding errors; −inf where the left density is 0 or rounding dominates."""
        left, right = (evaluate(density, outputs) for density in self.mesh.densities)
        with np.errstate(invalid="ignore"):
            loss = np.where((left == -np.inf) | (left == np.inf), -np.inf, left - right)
            noise = _noise(left, self.log_errors[0]) + _noise(right, self.log_errors[1])
        return np.where((noise > LARGEST_NOISE) & (loss < np.inf), -np.inf, loss), noise

    def _climb(self, outputs: Reals) -> tuple[float, float]:
        """Refine the largest losses between their neighbours on ever finer grids."""
        loss, noise = self._losses(outputs)
        score = loss - 2 * noise
        score[np.isnan(score)] = -np.inf
        # 32 candidates and 10 grids of 17 points: each grid is 8 times finer than the one before, and the last 8^10 ≈ 10⁹ times.
        best = np.argsort(score)[-32:]
        low, high = outputs[np.maximum(best - 1, 0)], outputs[np.minimum(best + 1, len(outputs) - 1)]
        value = float(loss[best[-1]])
        error, change = float(noise[best[-1]]), 0.0
        for _ in range(10):
            grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, 17)
            losses, doubt = self._losses(grid)
            with np.errstate(invalid="ignore"):
                worth = np.where(losses > -np.inf, losses - 2 * doubt, -np.inf)
            at = worth.argmax(axis=1)
            rows = np.arange(len(at))
            top = int(worth[rows, at].argmax())
            change = 0.0
            if losses[top, at[top]] > value:
                change = float(losses[top, at[top]]) - value
                value, error = float(losses[top, at[top]]), float(doubt[top, at[top]])
            low, high = grid[rows, np.maximum(at - 1, 0)], grid[rows, np.minimum(at + 1, 16)]
        return value, error + change


def _kinks(mesh: Mesh, active: NDArray[np.bool_], difference: Reals) -> Reals:
    """Return a bound on the error that kinks cause in each panel.

    The difference between the two rules is no estimate of it: for one in seven positions of a kink within a panel it is smaller
    than the error. If the integrand starts or ends between two nodes, it is a ramp no larger than their distance times the
    larger difference. The 15-point rule errs by at most a fifth of that, wherever the kink lies.
    """
    sides, heights = active.ravel(), np.abs(difference).ravel()
    ramps = np.abs(np.diff(mesh.outputs.ravel())) * np.maximum(heights[1:], heights[:-1]) * (sides[1:] != sides[:-1])
    costs = np.zeros(len(sides))
    costs[1:] += ramps / 2
    costs[:-1] += ramps / 2
    return np.asarray(costs.reshape(difference.shape).sum(axis=1))


def _scaled(log_density: Reals, epsilon: float) -> Reals:
    """Return e^ε times the density, 0 where that density is 0, capped where it overflows."""
    with np.errstate(invalid="ignore"):
        return np.where(log_density == -np.inf, 0.0, np.exp(np.minimum(log_density + epsilon, 700.0)))


def _noise(log_density: Reals, log_error: float) -> Reals:
    """Return how far computed log densities may be from the exact ones; 0 where the density is 0."""
    return np.where(np.isfinite(log_density), ULPS * (2 + np.abs(log_density)) + log_error, 0.0)


def _sum(mesh: Mesh, values: Reals) -> float:
    return float(np.sum((values * mesh.measure) @ KRONROD))


def _limit(loss: Reals, noise: Reals) -> tuple[float, float]:
    """Return the limit of losses along a tail whose points grow by GROWTH, and its error; −inf where it is unknown.

    The last three points decide. Steps that do not shrink (a loss that grows like a power or a logarithm) have no
    limit; steps that shrink geometrically (a loss like 1/y^p) are summed. The limit of a tail that has settled is its value
    where rounding is least.
    """
    finite = np.flatnonzero(loss > -np.inf)
    if len(finite) < 3:
        return -np.inf, 0.0
    loss, noise = loss[finite], noise[finite]
    first, second, third = loss[-3:]
    if third == np.inf:
        return np.inf, 0.0
    step, before = third - second, second - first
    if step <= max(1e-9, 4 * noise[-1]):
        unsettled = np.flatnonzero(np.abs(loss - third) > 2 * (noise + noise[-1]))
        start = int(unsettled[-1]) + 1 if len(unsettled) else 0
        return float(loss[start]), float(noise[start])
    if not step < 0.9 * before:
        return np.inf, 0.0
    rest = step * step / (before - step)
    return float(third + rest), float(rest + noise[-1])
