"""The masses of outputs that Gaussian noise decides between, enclosed.

Given the noise of one value, the *centre*, all others are decided on their own: P[path] = ∫ φ(z) Π Φ(αⱼ + βⱼ z) dz. The sum
h Σ φ(kh) Π Φ(αⱼ + βⱼ kh) is off by at most 2 M / (e^{2πa/h} − 1), for any a > 0 and M ≥ ∫ |integrand at z + ib| dz for |b| ≤ a
(Trefethen & Weideman 2014, theorem 5.1). As |Φ(u + iv)| ≤ 1 + φ(0) |v| e^{v²/2}, so M = e^{a²/2} Π (1 + φ(0) |βⱼ| a e^{βⱼ² a²/2})
will do. About 40 terms give 1e-11.

Paths to an output that compare several values with each other are written anew where the output depends only on which values are
below one of them: the largest of all, whether a value is between the least and the largest. One output may be what remains.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from auditor.bounds.intervals import Floats
from auditor.proofs.moves import Vector

ACCURACY = 1e-11  # of a mass, by quadrature
NORMAL = 2e-14  # what SciPy's Φ, and φ and sums of doubles, may be off by, per factor
UNIT = 2.0**-53
PEAK = 1 / math.sqrt(2 * math.pi)  # φ(0)
MOST_ORDERED = 7  # values whose orders are all looked at
MOST_CONDITIONS = 20_000
PART = 8192  # data sets that are computed together
STEPS = (0.5, 0.4, 0.32, 0.25, 0.2, 0.16, 0.125, 0.1, 0.08, 0.0625, 0.05, 0.04, 0.025)
ZERO, ONE = Fraction(0), Fraction(1)


class Halfspace(NamedTuple):
    """Σ noise · n + Σ data · x + constant > 0."""

    noise: Mapping[str, Fraction]
    data: Mapping[int, Fraction]
    constant: Fraction


StarPath = tuple[Halfspace, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The paths of each output, and the standard deviations of all noise. At most one path of an output is followed.

    The paths of all outputs together are followed with probability 1.
    """

    outputs: tuple[tuple[StarPath, ...], ...]
    deviations: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class DataRange:
    """Data sets low ≤ x ≤ high, and neighbours x' with least ≤ x' − x ≤ most, or else with x' − x one of ``steps``."""

    low: Vector
    high: Vector
    integer: bool
    least: Vector = ()
    most: Vector = ()
    steps: tuple[Vector, ...] = ()

    def ends(self) -> list[Vector]:
        """Return differences between which all others lie."""
        return [self.least, self.most] if self.most else list(self.steps)


@dataclass(frozen=True, slots=True)
class Enclosed:
    """``below`` ≤ δ(ε) ≤ ``above``; None if no bound is known. The sentence gives the reason. ``pair`` attains ``below``."""

    above: float | None
    sentence: str
    below: float = 0.0
    pair: tuple[Vector, Vector] | None = None
    certificate: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """Φ(α + βz) with α the least of ``above``; less Φ(−α' + βz) with α' the least of ``below``, if there are any."""

    slope: float
    above: tuple[Floats, ...]  # the factors of the data in α, then its constant
    below: tuple[Floats, ...] = ()

    def at(self, points: Floats, nodes: Floats) -> Floats:
        """Return the leaf for each data set and each z."""
        top = _normal(_least(self.above, points), self.slope * nodes)
        if not self.below:
            return top
        return np.maximum(0.0, top - _normal(-_least(self.below, points), self.slope * nodes))


def _least(sides: Sequence[Floats], points: Floats) -> Floats:
    return np.asarray(np.min([points @ side[:-1] + side[-1] for side in sides], axis=0))


def _normal(offsets: Floats, moved: Floats) -> Floats:
    from scipy.special import ndtr

    some, which = np.unique(offsets, return_inverse=True)
    return np.asarray(ndtr(some[:, None] + moved)[which.reshape(-1)])


@dataclass(frozen=True, slots=True)
class Star:
    """Connected noise in a path: ∫ φ(z) Π leaf(z) dz."""

    leaves: tuple[_Leaf, ...]
    nodes: Floats
    weights: Floats
    error: float

    def at(self, points: Floats) -> Floats:
        """Return the mass for each data set."""
        product = self.leaves[0].at(points, self.nodes)
        for leaf in self.leaves[1:]:
            product *= leaf.at(points, self.nodes)
        return np.clip(product @ self.weights, 0.0, 1.0)

    def off_by(self, reach: Floats) -> float:
        """Return a bound on the error of a mass for |x| ≤ ``reach``. It covers quadrature, Φ, and the rounding of arguments."""
        sides = [side for leaf in self.leaves for side in (*leaf.above, *leaf.below)]
        sizes = sum(float(np.abs(side[:-1]) @ reach) + abs(float(side[-1])) for side in sides)
        sizes += 8 * sum(abs(leaf.slope) * (1 + bool(leaf.below)) for leaf in self.leaves)
        return self.error + NORMAL * (2 + len(sides)) + 8 * (2 + len(reach)) * UNIT * PEAK * sizes


@dataclass(frozen=True, slots=True)
class StarLaw:
    """The stars of each path of each output. None stands for 1 minus all other masses."""

    outputs: tuple[tuple[tuple[Star, ...], ...] | None, ...]
    conditions: tuple[Halfspace, ...]  # what the stars are made of, with ``places`` numbered from 0
    places: tuple[int, ...]  # of the data that is looked at

    def masses(self, points: Floats) -> Floats:
        """Return the mass of each output for each data set."""
        found = np.zeros((len(self.outputs), len(points)))
        for first in range(0, len(points), PART):
            part = points[first : first + PART]
            for at, paths in enumerate(self.outputs):
                for path in paths or ():
                    mass = np.ones(len(part))
                    for star in path:
                        mass *= star.at(part)
                    found[at, first : first + PART] += mass
        for at, paths in enumerate(self.outputs):
            if paths is None:
                found[at] = 1.0 - found.sum(axis=0)
        return np.clip(found, 0.0, 1.0)

    def off_by(self, reach: Floats) -> float:
        """Return a bound on the error of the mass of any set of outputs, for |x| ≤ ``reach``."""
        return sum(star.off_by(reach) for paths in self.outputs for path in paths or () for star in path)


def added(*parts: tuple[Fraction, Halfspace]) -> Halfspace:
    """Return the sum of multiples of conditions."""
    noise: dict[str, Fraction] = {}
    data: dict[int, Fraction] = {}
    for factor, part in parts:
        for name, value in part.noise.items():
            noise[name] = noise.get(name, ZERO) + factor * value
        for place, value in part.data.items():
            data[place] = data.get(place, ZERO) + factor * value
    constant = sum((factor * part.constant for factor, part in parts), ZERO)
    return Halfspace({n: v for n, v in noise.items() if v}, {p: v for p, v in data.items() if v}, constant)


def unique(rows: Iterable[Halfspace]) -> list[Halfspace]:
    """Return each condition once."""
    return list({(*sorted(row.noise.items()), *sorted(row.data.items()), row.constant): row for row in rows}.values())


def stars_of(selection: Selection) -> StarLaw | str:
    """Return how to compute all masses, or why not."""
    all_ = [row for paths in selection.outputs for path in paths for row in path]
    if len(all_) > MOST_CONDITIONS:
        return f"there are {len(all_)} conditions"
    if not all(any(row.noise.values()) for row in all_):
        return "a decision does not depend on noise"
    if not all(selection.deviations.get(name, ZERO) > 0 for row in all_ for name in row.noise):
        return "a noise has no standard deviation"
    places = sorted({at for row in all_ for at, value in row.data.items() if value})
    renumbered = {at: new for new, at in enumerate(places)}
    outputs: list[tuple[tuple[Star, ...], ...] | None] = []
    conditions: list[Halfspace] = []
    for paths in selection.outputs:
        own = [tuple(_renumbered(row, renumbered) for row in path) for path in paths]
        best: tuple[tuple[Star, ...], ...] | None = None
        kept: Sequence[StarPath] = ()
        for some in (_ordered(own), own):
            stars = None if some is None else _stars(some, selection.deviations, len(places))
            if some is not None and stars is not None and (best is None or len(stars) < len(best)):
                best, kept = stars, some
        outputs.append(best)
        conditions += [row for path in kept for row in path]
    if outputs.count(None) > 1:
        return "noise is compared with noise that is compared with more"
    return StarLaw(tuple(outputs), tuple(conditions), tuple(places))


def _renumbered(row: Halfspace, numbers: Mapping[int, int]) -> Halfspace:
    return added((ONE, Halfspace(row.noise, {numbers[at]: v for at, v in row.data.items() if v}, row.constant)))


def _stars(
    paths: Sequence[StarPath], deviations: Mapping[str, Fraction], width: int
) -> tuple[tuple[Star, ...], ...] | None:
    found = []
    for path in paths:
        stars = [_star(part, deviations, width) for part in _parted(path)]
        made = tuple(star for star in stars if star is not None)
        if len(made) < len(stars):
            return None
        found.append(made)
    return tuple(found)


def _parted(path: StarPath) -> list[list[Halfspace]]:
    """Return the conditions of a path, with those that have noise in common together."""
    parts: list[list[Halfspace]] = []
    for row in path:
        near = [part for part in parts if any(set(row.noise) & set(other.noise) for other in part)]
        parts = [part for part in parts if part not in near]
        parts.append([row, *(other for part in near for other in part)])
    return parts


def _side(row: Halfspace, scale: float | Fraction, width: int) -> Floats:
    return np.array([*(float(row.data.get(at, ZERO) / scale) for at in range(width)), float(row.constant / scale)])


def _star(rows: Sequence[Halfspace], deviations: Mapping[str, Fraction], width: int) -> Star | None:
    """Return rows that share noise as a star. Of several centres the one that makes the least slopes is best."""
    first = rows[0].noise
    name = next(iter(first))
    ratios = [row.noise.get(name, ZERO) / first[name] for row in rows]
    if all({n: r * v for n, v in first.items()} == row.noise for r, row in zip(ratios, rows, strict=True)):
        size = math.sqrt(sum((v * deviations[n]) ** 2 for n, v in first.items()))
        up = tuple(_side(row, size * abs(float(r)), width) for r, row in zip(ratios, rows, strict=True) if r > 0)
        down = tuple(_side(row, size * abs(float(r)), width) for r, row in zip(ratios, rows, strict=True) if r < 0)
        return Star((_Leaf(0.0, up, down),), np.zeros(1), np.ones(1), 0.0)
    centres = dict.fromkeys(name for row in rows for name in row.noise)
    made = [leaves for centre in centres if (leaves := _leaves(rows, centre, deviations, width)) is not None]
    if not made:
        return None
    leaves = min(made, key=lambda leaves: max(abs(leaf.slope) for leaf in leaves))
    how = _quadrature(leaves)
    return None if how is None else Star(tuple(leaves), *how)


def _leaves(
    rows: Sequence[Halfspace], centre: str, deviations: Mapping[str, Fraction], width: int
) -> list[_Leaf] | None:
    sides: dict[str, dict[bool, tuple[Fraction, list[Floats]]]] = {}
    for row in rows:
        others = [name for name in row.noise if name != centre]
        if len(others) != 1:
            return None
        scale = abs(row.noise[others[0]]) * deviations[others[0]]
        slope = row.noise.get(centre, ZERO) * deviations[centre] / scale
        known = sides.setdefault(others[0], {}).setdefault(row.noise[others[0]] > 0, (slope, []))
        if known[0] != slope:  # the least of two lines is no line
            return None
        known[1].append(_side(row, scale, width))
    leaves = []
    for found in sides.values():
        (slope, above), *rest = found.values()
        if rest and rest[0][0] != -slope:
            return None
        leaves.append(_Leaf(float(slope), tuple(above), tuple(rest[0][1]) if rest else ()))
    return leaves


def _quadrature(leaves: Sequence[_Leaf]) -> tuple[Floats, Floats, float] | None:
    """Return nodes, weights, and what their sum may be off by."""
    from scipy.special import ndtr

    heights = np.arange(0.25, 14, 0.25)
    size = heights**2 / 2
    for leaf in leaves:
        if leaf.slope:
            moved = abs(leaf.slope) * heights
            size += np.logaddexp(0, math.log((1 + bool(leaf.below)) * PEAK) + np.log(moved) + moved**2 / 2)
    for step in STEPS:
        logarithm = float((size - 2 * math.pi * heights / step).min())
        if logarithm + math.log(2.02) <= math.log(ACCURACY):  # 1/(e^t − 1) ≤ 1.01 e^−t, as t is above 25
            most = math.floor(8 / step)  # what is left out is at most 2 Φ(−step · most)
            nodes = np.asarray(step * np.arange(-most, most + 1), dtype=np.float64)
            weights = step * PEAK * np.exp(-(nodes**2) / 2)
            return nodes, weights, ACCURACY + 2.02 * float(ndtr(-step * most))
    return None


def compared_values(paths: Iterable[StarPath]) -> dict[str, Halfspace] | None:
    """Return values with one noise each. Every condition must compare two of them."""
    rows = unique(row for path in paths for row in path)
    if any(len(row.noise) != 2 or math.prod(row.noise.values()) >= 0 for row in rows):
        return None
    values: dict[str, Halfspace] = {}
    while rows:
        left = []
        for row in rows:
            one, other = sorted(row.noise, key=lambda name: name not in values)
            if values and one not in values:
                left.append(row)
                continue
            start = values.setdefault(one, Halfspace({one: ONE}, {}, ZERO))
            value = added((ONE, start), (-start.noise[one] / row.noise[one], row))
            if values.setdefault(other, value) != value:
                return None
        if len(left) == len(rows):
            return None
        rows = left
    return values


def _ordered(paths: Sequence[StarPath]) -> list[StarPath] | None:
    """Return paths to the same output that compare one value with others, if the output depends on these alone."""
    if len({name for path in paths for row in path for name in row.noise}) > MOST_ORDERED:
        return None
    values = compared_values(paths)
    if not values:
        return None
    pairs = [[sorted(row.noise, key=row.noise.__getitem__) for row in path] for path in paths]
    orders = [{name: at for at, name in enumerate(order)} for order in itertools.permutations(values)]
    taken = [any(all(at[low] < at[high] for low, high in path) for path in pairs) for at in orders]
    found: list[tuple[str, list[dict[str, bool]]]] = []
    for centre in values:
        others = [name for name in values if name != centre]
        answers: dict[tuple[bool, ...], bool] = {}
        for at, yes in zip(orders, taken, strict=True):
            if answers.setdefault(tuple(at[name] < at[centre] for name in others), yes) != yes:
                break
        else:
            found.append((centre, list(_cubes(others, answers, ()))))
    if not found:
        return None
    centre, cubes = min(found, key=lambda one: len(one[1]))
    signs = {True: ONE, False: -ONE}
    return [
        tuple(added((signs[below], values[centre]), (-signs[below], values[name])) for name, below in cube.items())
        for cube in cubes
    ]


def _cubes(
    names: Sequence[str], answers: Mapping[tuple[bool, ...], bool], chosen: tuple[bool, ...]
) -> Iterator[dict[str, bool]]:
    here = {yes for key, yes in answers.items() if key[: len(chosen)] == chosen}
    if here == {True}:
        yield dict(zip(names, chosen, strict=False))
    elif True in here:
        for below in (True, False):
            yield from _cubes(names, answers, (*chosen, below))
