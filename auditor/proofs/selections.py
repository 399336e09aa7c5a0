"""Rule 4: Gaussian noise decides between finitely many outputs. δ(ε) = sup Σ max(0, P[M(x) = o] − e^ε P[M(x') = o]) is enclosed.

Let moving xᵢ by 1 be the same as moving the noise by a vector of length κᵢ, in standard deviations. Then P[M(x) ∈ S] is the
mass of a moved set under N(0, I), whatever S is, so that ∂²P/∂xᵢ² lies within ± 2φ(1) κᵢ², and closer to 0 where P is small;
Φ⁻¹(P) moves by at most κᵢ. On a grid of width wᵢ, P is its interpolation but for Σ wᵢ² κᵢ²/8 of that. The pairs of a box with
xᵢ' − xᵢ between multiples of wᵢ are triangles of the grid, where interpolations of P[M(x) ∈ S] − e^ε P[M(x') ∈ S] are largest in
a corner. So a table of masses bounds δ over all pairs; its corners are pairs that bound δ from below. Integers need no
interpolation.

Where masses depend on differences xᵢ − xⱼ only, the last number of x is kept at 0. Where only noisy values xᵢ + nᵢ are
compared, and two that follow each other in x are further apart than g + 2r, they may be brought to g + 2r, in x and x' alike: a
comparison across changes with probability Φ(−g/σ) at most. So a cube of (n − 1) (g + 2r) + 2r holds all data sets.
"""

import itertools
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.proofs.chains import chain
from auditor.proofs.moves import Vector
from auditor.proofs.stars import (
    ONE,
    PEAK,
    UNIT,
    ZERO,
    DataRange,
    Enclosed,
    Halfspace,
    Selection,
    StarLaw,
    compared_values,
    stars_of,
    unique,
)

MOST_OUTPUTS = 8
MOST_POINTS = 6_000_000
FEW_POINTS = 200_000
MARGIN = 1  # widths that a grid of differences goes beyond the domain
NEGLIGIBLE = 1e-5  # of δ, for bringing values together
CURVATURE = 2 * PEAK * math.exp(-0.5)  # 2φ(1)


def bound(selection: Selection, domain: DataRange, epsilon: Fraction, delta: float, deadline: float) -> Enclosed:
    """Return bounds on δ(ε) over all pairs of a domain: by a chain if that is enough, else by a grid."""
    first = chain(selection, domain, epsilon)
    if first.above is not None and first.above <= delta:
        return first
    found = over_box(selection, domain, epsilon, delta, deadline)
    if first.above is not None and (found.above is None or first.above < found.above):
        return replace(first, below=found.below, pair=found.pair)
    return found


def _factor(epsilon: Fraction) -> tuple[float, float]:
    """Return e^ε, and what a mass less e^ε times a mass is off by from rounding."""
    factor = math.exp(float(epsilon))
    return factor, 8 * UNIT * (2 + float(epsilon)) * factor


def enclosed_on_pair(selection: Selection, left: Vector, right: Vector, epsilon: Fraction) -> Enclosed:
    """Enclose Σ max(0, P[M(left) = o] − e^ε P[M(right) = o])."""
    law = stars_of(selection)
    return Enclosed(None, law) if isinstance(law, str) else _on_pair(law, left, right, epsilon)


def _on_pair(law: StarLaw, left: Vector, right: Vector, epsilon: Fraction) -> Enclosed:
    points = np.array([[float(x[at]) for at in law.places] for x in (left, right)]).reshape(2, len(law.places))
    one, other = law.masses(points).T
    factor, rounding = _factor(epsilon)
    lost = float(np.maximum(0.0, one - factor * other).sum())
    off = (1 + factor) * law.off_by(np.abs(points).max(axis=0)) + rounding * len(one)
    return Enclosed(lost + off, "the masses on a pair", max(0.0, lost - off), (left, right))


def lengths(
    conditions: Iterable[Halfspace], deviations: Mapping[str, Fraction], moves: Sequence[Vector]
) -> list[Fraction] | None:
    """Return the least squared lengths, in standard deviations, of moves of the noise with the effect of moves of the data."""
    basis: list[tuple[dict[str, Fraction], list[Fraction], Fraction]] = []
    for row in unique(conditions):
        noise = dict(row.noise)
        moved = [sum((v * move[at] for at, v in row.data.items()), ZERO) for move in moves]
        for other, by, size in basis:
            part = sum((v * other.get(n, ZERO) * deviations[n] ** 2 for n, v in noise.items()), ZERO) / size
            for n, v in other.items():
                noise[n] = noise.get(n, ZERO) - part * v
            moved = [one - part * two for one, two in zip(moved, by, strict=True)]
        size = sum(((v * deviations[n]) ** 2 for n, v in noise.items()), ZERO)
        if size:
            basis.append((noise, moved, size))
        elif any(moved):
            return None
    return [sum((by[at] ** 2 / size for _, by, size in basis), ZERO) for at in range(len(moves))]


def over_box(selection: Selection, domain: DataRange, epsilon: Fraction, delta: float, deadline: float) -> Enclosed:
    """Enclose δ over all pairs of a domain, as closely as it takes to decide on ``delta`` before the deadline."""
    law = stars_of(selection)
    if isinstance(law, str):
        return Enclosed(None, law)
    if len(law.outputs) > MOST_OUTPUTS:
        return Enclosed(None, f"there are {len(law.outputs)} outputs")
    whole, domain = domain, _looked_at(domain, law)
    ordered = [(domain.low, domain.high), (domain.least, domain.most)]
    if not law.places or not domain.ends() or any(a > b for x, y in ordered for a, b in zip(x, y, strict=True)):
        return Enclosed(0.0, "neighbours look alike, or there are none")
    count = len(law.places)
    units = [tuple(Fraction(int(at == place)) for place in range(count)) for at in range(count)]
    squared = lengths(law.conditions, selection.deviations, units)
    smaller, share = _nearer(domain, law, selection.deviations)
    extra = share * (1 + math.exp(float(epsilon)))
    best = Enclosed(None, "there was no time")
    finer, taken = 1, 0.0
    while time.monotonic() + taken * 2 ** (count - _is_pinned(smaller, law)) < deadline:
        started = time.monotonic()
        found = _on_grid(law, smaller, squared, finer, epsilon)
        if found.above is None:
            return found if best.above is None else best
        tighter = found.above + extra if best.above is None else min(best.above, found.above + extra)
        best = replace(found if found.below >= best.below else best, above=tighter, sentence=found.sentence)
        if domain.integer or tighter <= delta or best.below > delta:
            break
        finer, taken = 2 * finer, time.monotonic() - started
    return (
        best
        if best.pair is None
        else replace(best, pair=(_whole(best.pair[0], law, whole.low), _whole(best.pair[1], law, whole.low)))
    )


def _whole(vector: Vector, law: StarLaw, rest: Vector) -> Vector:
    known = dict(zip(law.places, vector, strict=True))
    return tuple(known.get(at, value) for at, value in enumerate(rest))


def _looked_at(domain: DataRange, law: StarLaw) -> DataRange:
    """Return a domain of the data that is looked at; of integers with ends that are."""

    def kept(vector: Vector) -> Vector:
        return tuple(vector[at] for at in law.places) if vector else ()

    low, high, least, most = (kept(x) for x in (domain.low, domain.high, domain.least, domain.most))
    steps = tuple(dict.fromkeys(kept(step) for step in domain.steps))
    if domain.integer:
        low, least = (tuple(Fraction(math.ceil(v)) for v in x) for x in (low, least))
        high, most = (tuple(Fraction(math.floor(v)) for v in x) for x in (high, most))
        steps = tuple(step for step in steps if all(v.denominator == 1 for v in step))
    return DataRange(low, high, domain.integer, least, most, steps)


def _is_cube(domain: DataRange) -> bool:
    return bool(domain.most) and all(len(set(x)) == 1 for x in (domain.low, domain.high, domain.least, domain.most))


def _is_pinned(domain: DataRange, law: StarLaw) -> bool:
    return _is_cube(domain) and len(law.places) > 1 and not any(sum(row.data.values()) for row in law.conditions)


def _nearer(domain: DataRange, law: StarLaw, deviations: Mapping[str, Fraction]) -> tuple[DataRange, float]:
    """Return a smaller cube that stands for all data sets, and a total variation that this may be off by."""
    from scipy.special import ndtri

    values = compared_values([law.conditions])
    count = len(law.places)
    if (
        not values
        or len(values) != count
        or count < 2
        or not _is_cube(domain)
        or any(v.constant for v in values.values())
    ):
        return domain, 0.0
    root, *others = values.values()
    pairs = [tuple(sorted(v.data.items(), key=lambda one: one[1])) for v in others]  # ((the root's, −1), (its own, 1))
    forms = [[by for _, by in pair] for pair in pairs]
    if root.data or any(form != [-1, 1] for form in forms) or len({pair[0][0] for pair in pairs}) > 1:
        return domain, 0.0
    if len({pair[1][0] for pair in pairs}) < len(pairs):
        return domain, 0.0
    spreads = sorted(float(by * deviations[name]) ** 2 for v in values.values() for name, by in v.noise.items())
    share = NEGLIGIBLE / (10 * (count - 1) * (count // 2) * (count - count // 2))
    gap = Fraction(math.ceil(-float(ndtri(share)) * math.sqrt(sum(spreads[-2:])) + 1))
    reach = max(-domain.least[0], domain.most[0], ZERO)
    width = (count - 1) * (gap + 2 * reach) + 2 * reach
    if domain.high[0] - domain.low[0] <= width:
        return domain, 0.0
    return replace(domain, high=tuple(low + width for low in domain.low)), NEGLIGIBLE / 10


def _divisor(numbers: Iterable[Fraction]) -> Fraction:
    found = ZERO
    for x in numbers:
        over = math.gcd(found.numerator * x.denominator, x.numerator * found.denominator)
        found = Fraction(over, found.denominator * x.denominator)
    return found


@dataclass(frozen=True, slots=True)
class _Grid:
    """Data sets on a grid. Where ``pinned``, x is x − xₙ from −size to size, without the last."""

    domain: DataRange
    widths: tuple[Fraction, ...]
    sizes: tuple[int, ...]
    pinned: bool
    moves: tuple[tuple[int, ...], ...]  # the ends of the differences, in widths

    def shape(self) -> tuple[int, ...]:
        return tuple(2 * size + 1 for size in self.sizes[:-1]) if self.pinned else tuple(s + 1 for s in self.sizes)

    def points(self) -> Floats:
        if self.pinned:
            lines = [float(w) * np.arange(-s, s + 1) for w, s in zip(self.widths, self.sizes, strict=True)]
            lines[-1] = np.zeros(1)
        else:
            ends = zip(self.domain.low, self.widths, self.sizes, strict=True)
            lines = [float(low) + float(w) * np.arange(s + 1) for low, w, s in ends]
        return np.stack([line.ravel() for line in np.meshgrid(*lines, indexing="ij")], axis=-1)

    def impossible(self, beyond: int) -> Floats:
        """Return infinity for data outside of the domain by more than the given widths, and 0 for all others."""
        places = np.indices(self.shape())
        outside = np.zeros(self.shape(), dtype=bool)
        if self.pinned:
            most = self.sizes[0] - (MARGIN - beyond) * (not self.domain.integer)
            for one, other in itertools.combinations([*places, np.full((), self.sizes[0])], 2):
                outside |= np.abs(one - other) > most
        return np.where(outside, np.inf, 0.0)

    def nearest(self, table: Floats) -> Floats:
        """Return the least over all neighbours."""
        if not self.domain.most:
            return np.asarray(np.min([_moved(table, step) for step in self.moves], axis=0))
        least, most = self.moves
        if not self.pinned:
            for axis, (first, last) in enumerate(zip(least, most, strict=True)):
                table = _lowest(table, axis, -first, last)
            return table
        margin = max(abs(least[0]), abs(most[0]))
        wide = np.pad(table, margin, constant_values=np.inf)
        for axis in range(table.ndim):
            wide = _lowest(wide, axis, -least[0], most[0])
        parts = [tuple(slice(margin - k, margin - k + s) for s in table.shape) for k in range(least[0], most[0] + 1)]
        return np.asarray(np.min([wide[part] for part in parts], axis=0))

    def pair(self, mass: Floats, at: Sequence[int]) -> tuple[Vector, Vector] | None:
        """Return a data set of the domain and the neighbour of the least mass; ``mass`` is infinite if there is none."""
        steps: Iterable[tuple[int, ...]] = self.moves
        if self.domain.most:
            spans = [range(first, last + 1) for first, last in zip(*self.moves, strict=True)]
            steps = itertools.product(*spans)
        here = [i - s for i, s in zip(at, self.sizes, strict=False)] + [0] if self.pinned else list(at)
        best: tuple[float, list[int]] | None = None
        for step in steps:
            there = [i + by for i, by in zip(here, step, strict=True)]
            index = [i - there[-1] + s for i, s in zip(there, self.sizes, strict=True)][:-1] if self.pinned else there
            if all(0 <= i < count for i, count in zip(index, mass.shape, strict=True)):
                found = float(mass[tuple(index)])
                if best is None or found < best[0]:
                    best = found, there
        if best is None or best[0] == math.inf:
            return None
        base = -min(*here, *best[1]) if self.pinned else 0
        ends = list(zip(self.domain.low, self.widths, strict=True))
        left, right = (
            tuple(low + (i + base) * w for i, (low, w) in zip(x, ends, strict=True)) for x in (here, best[1])
        )
        inside = all(v <= top for x in (left, right) for v, top in zip(x, self.domain.high, strict=True))
        return (left, right) if inside else None


def _lowest(table: Floats, axis: int, before: int, after: int) -> Floats:
    """Return the least of each number and as many before and after it on an axis; infinity where there are none."""
    table = np.moveaxis(table, axis, 0)
    count, width = len(table), before + after + 1
    if width < 1:
        return np.full_like(np.moveaxis(table, 0, axis), np.inf)
    margins = [np.full((max(0, by), *table.shape[1:]), np.inf) for by in (before, after)]
    wide = np.concatenate([margins[0], table, margins[1]])[max(0, -before) :]
    done = 1
    while done < width:
        step = min(done, width - done)
        wide = np.minimum(wide[: len(wide) - step], wide[step:])
        done += step
    return np.moveaxis(wide[:count], 0, axis)


def _moved(table: Floats, by: Sequence[int]) -> Floats:
    for axis, step in enumerate(by):
        table = _lowest(table, axis, -step, step)
    return table


def _on_grid(
    law: StarLaw, domain: DataRange, squared: Sequence[Fraction] | None, finer: int, epsilon: Fraction
) -> Enclosed:
    """Enclose δ over all pairs of a domain, by a grid ``finer`` times as fine as the differences."""
    ends = domain.ends()
    spans = [high - low for low, high in zip(domain.low, domain.high, strict=True)]
    widths = tuple(
        ONE if domain.integer else _divisor(one[at] for one in ends) / finer or span / finer or ONE
        for at, span in enumerate(spans)
    )
    pinned = (
        _is_pinned(domain, law)
        and math.prod(math.ceil(s / w) + 1 for s, w in zip(spans, widths, strict=True)) > FEW_POINTS
    )
    # A cell of xᵢ' − xₙ' that the edge of the domain passes through has corners one width further out.
    sizes = tuple(
        math.ceil(span / width) + MARGIN * (pinned and not domain.integer)
        for span, width in zip(spans, widths, strict=True)
    )
    moves = tuple(tuple(int(by / width) for by, width in zip(one, widths, strict=True)) for one in ends)
    grid = _Grid(domain, widths, sizes, pinned, moves)
    name = f"a grid of {' × '.join(map(str, grid.shape()))} data sets"
    if math.prod(grid.shape()) > MOST_POINTS:
        return Enclosed(None, f"{name} is too large")
    if squared is None and not domain.integer:
        return Enclosed(None, "a move of the data does not act like a move of the noise")
    bends = [
        0.0 if domain.integer else 1.001 * float(s * w * w) for s, w in zip(squared or widths, widths, strict=True)
    ]
    wander = sum(map(math.sqrt, bends))
    points = grid.points()
    tables = law.masses(points).reshape(-1, *grid.shape())
    factor, rounding = _factor(epsilon)
    off = (1 + factor) * (law.off_by(np.abs(points).max(axis=0)) + 1e-15) + rounding
    impossible = grid.impossible(MARGIN)
    above = 0.0
    worst: Floats | None = None
    for chosen in itertools.product((False, True), repeat=len(tables)):
        if any(chosen) and not all(chosen):
            mass = np.clip(tables[np.array(chosen)].sum(axis=0), 0.0, 1.0)
            over, under = _corners(mass, sum(bends[:-1] if grid.pinned else bends), sum(bends), wander, max(off, 1e-9))
            lost = over - impossible - factor * grid.nearest(under + impossible)
            if (most := float(lost.max()) + off) > above:
                above, worst = most, mass
    pair = None
    if worst is not None:
        outside = grid.impossible(0)
        lost = worst - outside - factor * grid.nearest(worst + outside)
        at = np.unravel_index(int(lost.argmax()), lost.shape)
        pair = grid.pair(worst + outside, [int(i) for i in at])
    below = 0.0 if pair is None else _on_pair(replace(law, places=tuple(range(len(widths)))), *pair, epsilon).below
    return Enclosed(above, name, below, pair if below else None)


def _corners(mass: Floats, over: float, under: float, wander: float, off: float) -> tuple[Floats, Floats]:
    """Return numbers at corners whose interpolations are above and below a mass, with ``over`` and ``under`` for Σ wᵢ² κᵢ².

    It moves by up to ``wander`` of Φ⁻¹ in a cell. Of sets of some mass under N(0, 1), |z| ≤ a has the least ∫ (z² − 1), −2aφ(a);
    and |z| ≥ b has the largest, 2bφ(b).
    """
    from scipy.special import ndtr, ndtri

    if not wander:
        return mass, mass
    largest = ndtr(ndtri(np.clip(mass + off, 1e-9, 1 - 1e-12)) + wander + 1e-9)
    inside, outside = np.minimum(ndtri((1 + largest) / 2), 9.0), -ndtri(largest / 2)
    down = np.where(inside < 1, 2 * inside * PEAK * np.exp(-(inside**2) / 2) + 1e-9, CURVATURE)
    up = np.where(outside > 1, 2 * outside * PEAK * np.exp(-(outside**2) / 2) + 1e-9, CURVATURE)
    return mass + over / 8 * down, mass - under / 8 * up
