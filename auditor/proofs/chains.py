"""A chain of comparisons with one noisy value, the *centre* t, which ends at the first value on the far side: above threshold.

Let Q = 1 − Φ, and H(η, s) = sup over a of Q(a) − e^s Q(a + η): the δ of one Gaussian number that moves by η, at s.

Run x' on t + c instead of t, with c so large that each value on the near side stays there. For each t that costs
κ = e^ε φ(t + c)/φ(t). The value that ends the chain moves by at most η of its standard deviations. Let V bound the loss of the
rest of the chain. A value at distance a then loses V Φ(a) + max(0, Q(a) − κ Q(a + η)). For every a, this is at most
V + (1 − V) H(η, ln κ − ln(1 − V)). The end loses max(0, 1 − κ). All of this rises with t. So t is cut into cells, and the loss at
the upper end of each cell counts for all of it. The sum exceeds ∫ φ(t) V(t) dt ≥ δ, for all data sets and any number of values.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from auditor.proofs.stars import NORMAL, ONE, ZERO, DataRange, Enclosed, Halfspace, Selection, StarPath, added

CELLS = 4000  # of the centre


def chain(selection: Selection, domain: DataRange, epsilon: Fraction) -> Enclosed:
    """Bound δ over all data sets, where paths leave one after the other, at the first value on the far side of a centre."""
    paths = sorted((path for paths in selection.outputs for path in paths), key=len)
    refused = Enclosed(None, "it is not a chain of comparisons with one noisy value")
    if len(paths) < 2 or not all(paths) or not domain.ends() or any(len(row.noise) != 2 for row in paths[-1]):
        return refused
    for centre in sorted(set.intersection(*(set(row.noise) for path in paths for row in path))):
        for some in (paths, [*paths[:-2], paths[-1], paths[-2]]):
            order = _in_order(some, centre)
            if order is not None:
                certificate = _moves(order, centre, selection.deviations, domain)
                above = chain_above(float(certificate[0]), [float(by) for by in certificate[1]], float(epsilon))
                return Enclosed(
                    above, f"a chain of {len(order)}", certificate={"moved": certificate[0], "reach": certificate[1]}
                )
    return refused


def _in_order(paths: Sequence[StarPath], centre: str) -> list[tuple[str, Halfspace]] | None:
    """Return what keeps each value on the near side, per unit of its noise, where each path but the last is its end."""
    near: list[tuple[str, Halfspace]] = []
    rest = {name: _per_unit(row, name) for row in paths[-1] for name in row.noise if name != centre}
    signs = {row.noise[centre] > 0 for row in paths[-1]}
    if len(rest) != len(paths[-1]) or len(rest) != len(paths) - 1 or len(signs) != 1:
        return None
    for path in paths[:-1]:
        rows = {name: _per_unit(row, name) for row in path for name in row.noise if name != centre}
        new = [name for name in rows if name in rest]
        if len(rows) != len(path) or len(rows) != len(near) + 1 or len(new) != 1:
            return None
        kept = rest.pop(new[0])
        if added((ONE, rows[new[0]]), (ONE, kept)) != Halfspace({}, {}, ZERO) or any(
            rows[name] != row for name, row in near
        ):
            return None
        near.append((new[0], kept))
    return near


def _per_unit(row: Halfspace, name: str) -> Halfspace:
    return added((1 / abs(row.noise[name]), row))


def _moves(
    near: Sequence[tuple[str, Halfspace]], centre: str, deviations: Mapping[str, Fraction], domain: DataRange
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Return by how many standard deviations the centre is moved, and each value moves at most against it."""
    spans = []
    for _, row in near:
        ends = [sum((v * one[at] for at, v in row.data.items()), ZERO) for one in domain.steps]
        if domain.most:
            sides = [sorted((v * domain.least[at], v * domain.most[at])) for at, v in row.data.items()]
            ends = [sum((side[which] for side in sides), ZERO) for which in (0, 1)]
        spans.append((min(ends), max(ends)))
    by = max([ZERO, *(-low / abs(row.noise[centre]) for (low, _), (_, row) in zip(spans, near, strict=True))])
    reach = tuple(
        max(ZERO, by * abs(row.noise[centre]) + high) / deviations[name]
        for (_, high), (name, row) in zip(spans, near, strict=True)
    )
    return by / deviations[centre], reach


def chain_above(moved: float, reach: Sequence[float], epsilon: float) -> float:
    """Return a number that is at least ∫ φ(t) V(t) dt, for a centre that moves by ``moved`` and values by up to ``reach``."""
    from scipy.special import ndtr

    ends = np.linspace(-9, 9, CELLS + 1)
    cost = epsilon - moved * ends[1:] - moved**2 / 2  # ln κ
    lost = np.maximum(0.0, -np.expm1(cost))
    for by in reversed(reach):
        rest = np.minimum(cost - np.log1p(-np.minimum(lost, 1 - 1e-12)), 50.0)  # H falls: less is more
        alone = np.maximum(0.0, -np.expm1(rest))
        one = ndtr(by / 2 - rest / by) - np.exp(rest) * ndtr(-by / 2 - rest / by) if by else alone
        lost = np.minimum(1.0, lost + (1 - lost) * np.maximum(one, alone) + 10 * NORMAL)
    masses = np.where(ends[1:] < 0, np.diff(ndtr(ends)), -np.diff(ndtr(-ends)))
    return float(masses @ lost) + 2 * float(ndtr(-9.0)) + CELLS * NORMAL
