"""Divergences between two mass functions: sums, with errors that are proved up to the rounding of the inputs."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from auditor.errors import InvalidInputError
from mechanisms.exact.distributions import LARGEST_PRODUCT, Reals

# A log mass l is assumed accurate to 4 units in the last place of |l| + 1: two operations in constructors, and two here.
ULPS = 4 * float(np.finfo(float).eps)

# Outputs of a product whose privacy losses agree to this many nats are counted as one.
SAME_LOSS = 1e-12


def surplus(left: Reals, right: Reals, order: float) -> tuple[Reals, Reals]:
    """Return q((p/q)^α − 1 − α(p/q − 1)) for log masses or densities ln p, ln q, and its derivative by ln(p/q).

    Its sum is Σ p^α q^(1 − α) − 1 without the cancellation that would cost most digits for α near 1. Requires q > 0
    wherever p > 0, and that no (p/q)^α overflows.
    """
    some, beyond = left > -np.inf, order - 1
    loss = np.where(some, left - np.where(some, right, 0.0), 0.0)
    p, q, tilted = np.exp(left), np.exp(right), np.exp(right + order * loss)
    # Regrouped as p((p/q)^(α − 1) − 1) − (α − 1)(p − q), in which both terms are small with α − 1.
    bent, near = (np.where(np.abs(size) < 1, size, 0.0) for size in (beyond * loss, loss))
    change = np.where(np.abs(beyond * loss) < 1, p * np.expm1(bent), tilted - p)
    value = change - beyond * np.where(np.abs(loss) < 1, q * np.expm1(near), p - q)
    return np.where(some, value, beyond * q), np.where(some, order * np.abs(change), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class MassPair:
    """Log masses of the same outputs on both sides, and the mass that is not listed.

    ``blur`` bounds the error of a privacy loss in nats beyond rounding: from outputs that were merged, and from log masses with
    an error of their own.
    """

    left: Reals
    right: Reals
    missing_left: float = 0.0
    missing_right: float = 0.0
    blur: float = 0.0

    @classmethod
    def of(cls, left: Mapping[Hashable, float], right: Mapping[Hashable, float]) -> "MassPair":
        """Return the pair over all outputs to which either side gives positive mass."""
        outputs = dict.fromkeys((*left, *right))
        both = np.array([[side.get(output, -np.inf) for output in outputs] for side in (left, right)])
        possible = np.max(both, axis=0, initial=-np.inf) > -np.inf
        return cls(both[0, possible], both[1, possible])

    def mirrored(self) -> "MassPair":
        """Swap the sides."""
        return MassPair(self.right, self.left, self.missing_right, self.missing_left, self.blur)

    @property
    def loss(self) -> Reals:
        """The privacy loss ln(left/right) of every output, infinite where one side has no mass."""
        return self.left - self.right

    def times(self, other: "MassPair") -> "MassPair":
        """Return the pair of products of independent coordinates, with outputs of equal privacy loss merged.

        Merging costs only ``blur``, since divergences depend on the outputs through their losses alone. Raises
        InvalidInputError if there are more than LARGEST_PRODUCT outputs before merging.
        """
        size = len(self.left) * len(other.left)
        if size > LARGEST_PRODUCT:
            raise InvalidInputError(f"the product has {size} distinct losses; it must have at most {LARGEST_PRODUCT}")
        left = np.add.outer(self.left, other.left).ravel()
        right = np.add.outer(self.right, other.right).ravel()
        possible = np.maximum(left, right) > -np.inf
        left, right = left[possible], right[possible]
        groups, member = np.unique(np.round((left - right) / SAME_LOSS), return_inverse=True)
        merged = np.full((2, len(groups)), -np.inf)
        for row, side in zip(merged, (left, right), strict=True):
            np.logaddexp.at(row, member, side)
        return MassPair(
            merged[0],
            merged[1],
            1 - (1 - self.missing_left) * (1 - other.missing_left),
            1 - (1 - self.missing_right) * (1 - other.missing_right),
            self.blur + other.blur + SAME_LOSS,
        )

    def largest_loss(self) -> tuple[float, float]:
        """Return the largest loss over the outputs in the support of the left side, and its error; −inf if there are none.

        With mass missing on either side only outputs listed on both count, and the error is infinite.
        """
        cut_off = self.missing_left > 0 or self.missing_right > 0
        counted = (self.left > -np.inf) & ((self.right > -np.inf) | (not cut_off))
        if not counted.any():
            return -np.inf, np.inf if cut_off else 0.0
        loss = self.loss[counted]
        if np.isinf(loss).any():
            return np.inf, 0.0
        rounding = ULPS * (2 + np.abs(self.left[counted]) + np.abs(self.right[counted]))
        return float(loss.max()), np.inf if cut_off else float(rounding.max()) + self.blur

    def hockey_stick(self, epsilon: float) -> tuple[float, float]:
        """Return Σ (left − e^ε right)₊ and its error, which covers every possible placement of the missing mass."""
        active = self.loss > epsilon
        left, right = np.exp(self.left[active]), np.exp(epsilon + self.right[active])
        rounding = left * (8 + np.abs(self.left[active]))
        with np.errstate(invalid="ignore"):
            rounding += np.where(right > 0, right * (8 + abs(epsilon) + np.abs(self.right[active])), 0.0)
        unlisted = self.missing_left + np.exp(min(epsilon, 700.0)) * self.missing_right
        blurred = self.blur * np.exp(self.left[self.loss > epsilon - self.blur]).sum()
        return float(np.sum(left - right)), float(ULPS * rounding.sum() + blurred + unlisted)

    def epsilon_at(self, delta: float) -> tuple[float, float]:
        """Return the smallest ε ≥ 0 (nats) at which the hockey-stick divergence is at most ``delta`` > 0.

        Over the sets S_k of the k outputs of largest loss, Σ (left − e^ε right)₊ = max_k left(S_k) − e^ε right(S_k)
        (Neyman & Pearson 1933), so that ε = max_k ln((left(S_k) − δ)/right(S_k)). The error comes from the same
        formula with every mass, listed or missing, at the worst it may be.
        """
        order = np.argsort(-self.loss, kind="stable")
        left, right = self.left[order], self.right[order]
        mass = np.concatenate([[0.0], np.cumsum(np.exp(left))])
        log_right = np.logaddexp.accumulate(np.concatenate([[-np.inf], right]))
        sizes = np.where(right > -np.inf, np.abs(right), 0.0)
        spread = ULPS * (8 + np.maximum.accumulate(np.concatenate([[0.0], sizes])))
        rounding = ULPS * np.concatenate([[0.0], np.cumsum(np.exp(left) * (8 + np.where(left > -np.inf, -left, 0.0)))])
        rounding += self.blur * mass

        def solve(shift: Reals | float, log_denominator: Reals) -> float:
            with np.errstate(divide="ignore", invalid="ignore"):
                epsilons = np.log(np.maximum(mass + shift - delta, 0.0)) - log_denominator
            return float(np.nanmax(epsilons, initial=0.0))

        log_missing = math.log(self.missing_right) if self.missing_right > 0 else -math.inf
        high = solve(self.missing_left + rounding, log_right - spread) + self.blur
        low = solve(-rounding, np.logaddexp(log_right + spread, log_missing)) - self.blur
        value = solve(0.0, log_right)
        # Where a mass equals δ up to rounding, or mass is missing, an infinite ε is not certain, and the lower end stands for it.
        value = low if math.isinf(value) else value
        return value, 0.0 if low == np.inf else max(high - value, value - low)

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return ln Σ left^order right^(1 − order) for order > 1 and its error; infinite with missing mass."""
        cut_off = self.missing_left > 0 or self.missing_right > 0
        counted = (self.left > -np.inf) & ((self.right > -np.inf) | (not cut_off))
        left, right = self.left[counted], self.right[counted]
        if not counted.any():
            return -np.inf, np.inf if cut_off else 0.0
        terms = order * left + (1 - order) * right
        top = terms.max()
        if top == np.inf:
            return np.inf, 0.0
        weights = np.exp(terms - top)
        rounding = weights * (8 + order * (2 + np.abs(left)) + (order - 1) * np.abs(right))
        total = weights.sum()
        error = ULPS * rounding.sum() / total + order * self.blur
        return float(top + np.log(total)), np.inf if cut_off else float(error)

    def surplus(self, order: float) -> tuple[float, float]:
        """Return Σ left^order right^(1 − order) − 1 where that is small, and its error; no mass may be missing."""
        values, slopes = surplus(self.left, self.right, order)
        finite = np.where(self.left > -np.inf, np.abs(self.left), 0.0) + np.abs(self.right)
        rounding = ULPS * ((8 + np.abs(self.right)) * values + (2 + finite) * slopes)
        return float(values.sum()), float(rounding.sum() + self.blur * (values + slopes).sum())
