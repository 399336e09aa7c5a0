"""Enclosures of δ for selections by Gaussian noise, against closed forms, quadrature, simulation and a plain checker."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from auditor.proofs.chains import chain, chain_above
from auditor.proofs.selections import (
    CURVATURE,
    MARGIN,
    _corners,
    _Grid,
    _nearer,
    bound,
    enclosed_on_pair,
    lengths,
    over_box,
)
from auditor.proofs.stars import DataRange, Halfspace, Selection, StarPath, stars_of


def condition(noise, data, constant=0) -> Halfspace:
    return Halfspace(
        {n: Fraction(v) for n, v in noise.items()}, {at: Fraction(v) for at, v in data.items()}, Fraction(constant)
    )


def larger(one: int, other: int) -> Halfspace:
    return condition({f"n{one}": 1, f"n{other}": -1}, {one: 1, other: -1})


def selection(outputs: list[list[list[Halfspace]]], deviations: dict[str, float]) -> Selection:
    paths = tuple(tuple(tuple(path) for path in paths) for paths in outputs)
    return Selection(paths, {name: Fraction(value) for name, value in deviations.items()})


def noisy_max(n: int, sigma: float = 4) -> Selection:
    rows = [[[larger(i, j) for j in range(n) if j != i]] for i in range(n)]
    return selection(rows, {f"n{i}": sigma for i in range(n)})


def noisy_max_loop(n: int, sigma: float = 4) -> Selection:
    """As `if value > best` makes it: 2ⁿ⁻¹ paths."""
    found: list[list[list[Halfspace]]] = [[] for _ in range(n)]

    def go(i: int, best: int, path: list[Halfspace]) -> None:
        if i == n:
            found[best].append(path)
            return
        go(i + 1, i, [*path, larger(i, best)])
        go(i + 1, best, [*path, larger(best, i)])

    go(1, 0, [])
    return selection(found, {f"n{i}": sigma for i in range(n)})


def above_threshold(n: int, threshold: float = 4, query: float = 8, shared: bool = True) -> Selection:
    """Without ``shared`` noise of the threshold, a twin with a fault."""

    def row(i: int, sign: int) -> Halfspace:
        return condition({f"n{i}": sign} | ({"t": -sign} if shared else {}), {i: sign})

    outputs = [[[*(row(j, -1) for j in range(i)), row(i, 1)]] for i in range(n)]
    outputs.append([[row(j, -1) for j in range(n)]])
    return selection(outputs, {"t": threshold} | {f"n{i}": query for i in range(n)})


def between(k: int, sigma: float = 4) -> Selection:
    """Whether value k is between the least and the largest of those before, as a loop."""
    inside: list[list[Halfspace]] = []
    outside: list[list[Halfspace]] = []

    def go(i: int, low: int, high: int, path: list[Halfspace]) -> None:
        if i == k:
            outside.extend([[*path, larger(i, high)], [*path, larger(high, i), larger(low, i)]])
            inside.append([*path, larger(high, i), larger(i, low)])
            return
        go(i + 1, low, i, [*path, larger(i, high)])
        if low == high:
            go(i + 1, i, high, [*path, larger(high, i)])
        else:
            go(i + 1, i, high, [*path, larger(high, i), larger(low, i)])
            go(i + 1, low, high, [*path, larger(high, i), larger(i, low)])

    go(1, 0, 0, [])
    return selection([inside, outside], {f"n{i}": sigma for i in range(k + 1)})


def ranges(m: int, sigma: float = 4) -> Selection:
    """The first of m values outside of its own noisy range."""
    outputs: list[list[list[Halfspace]]] = []
    path: list[Halfspace] = []
    for j in range(m):
        low = condition({f"q{j}": 1, f"l{j}": -1}, {j: 1}, 1)
        high = condition({f"q{j}": -1, f"u{j}": 1}, {j: -1}, 1)
        outputs.append([[*path, _not(low)], [*path, low, _not(high)]])
        path = [*path, low, high]
    outputs.append([path])
    return selection(outputs, {f"{kind}{j}": sigma for j in range(m) for kind in "qlu"})


def _not(row: Halfspace) -> Halfspace:
    return condition({n: -v for n, v in row.noise.items()}, {at: -v for at, v in row.data.items()}, -row.constant)


def vector(*numbers: float) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def cube(n: int, low: float, high: float, integer: bool = False, reach: float = 1) -> DataRange:
    return DataRange(vector(*[low] * n), vector(*[high] * n), integer, vector(*[-reach] * n), vector(*[reach] * n))


def soon(seconds: float = 30) -> float:
    return time.monotonic() + seconds


def chosen(some: Selection, x: np.ndarray, noise: dict[str, np.ndarray]) -> np.ndarray:
    """Run a selection on many draws; each must follow one path."""
    size = len(next(iter(noise.values())))
    result = np.full(size, -1)

    def holds(row: Halfspace) -> np.ndarray:
        fixed = float(row.constant) + sum(float(v) * x[at] for at, v in row.data.items())
        return fixed + sum(float(v) * noise[n] for n, v in row.noise.items()) > 0

    for at, paths in enumerate(some.outputs):
        for path in paths:
            here = np.logical_and.reduce([holds(row) for row in path])
            assert not (here & (result >= 0)).any()
            result[here] = at
    assert (result >= 0).all()
    return result


ALL = [noisy_max(3), noisy_max_loop(4), above_threshold(3), between(2), between(3), between(4), ranges(2)]


def count_of(some: Selection) -> int:
    return 1 + max(at for paths in some.outputs for path in paths for row in path for at in row.data)


def test_two_values_are_a_gaussian():
    law = stars_of(noisy_max(2))
    assert not isinstance(law, str)
    points = np.array([[0, 0], [3.5, 1], [-20, 20], [8, 1]], dtype=float)
    expected = norm.cdf((points[:, 0] - points[:, 1]) / math.sqrt(32))
    assert np.abs(law.masses(points)[0] - expected).max() <= law.off_by(np.array([20.0, 20.0])) < 1e-11
    # The worst threshold is that of the Gaussian mechanism with μ = 2/√32; a grid of integers comes close to it.
    mu, e = 2 / math.sqrt(32), 0.5
    exact = norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu)
    found = over_box(noisy_max(2), cube(2, 0, 1000), Fraction(1, 2), exact + 2e-4, soon())
    assert found.above is not None
    assert exact - 2e-4 <= found.below <= exact <= found.above <= exact + 2e-4


@pytest.mark.parametrize("x", [(1, 1, 1, -1), (0.5, -3, 2.25, 7), (-40, 0, 3, 1)])
def test_masses_are_those_of_a_quadrature(x):
    law = stars_of(noisy_max_loop(4))
    chain_law = stars_of(above_threshold(4))
    assert not isinstance(law, str)
    assert not isinstance(chain_law, str)

    def winner(z: float) -> float:
        return float(norm.pdf(z) * math.prod(norm.cdf(z + (x[3] - x[j]) / 4) for j in range(3)))

    def third(z: float) -> float:
        first = math.prod(norm.cdf((4 * z - x[j]) / 8) for j in range(2))
        return float(norm.pdf(z) * first * norm.sf((4 * z - x[2]) / 8))

    points = np.array([x], dtype=float)
    for some, output, function in ((law, 3, winner), (chain_law, 2, third)):
        expected = quad(function, -12, 12, epsabs=1e-13, limit=200)[0]
        assert abs(some.masses(points)[output, 0] - expected) < 1e-12 + some.off_by(np.abs(points[0]))


@pytest.mark.parametrize("some", ALL)
def test_masses_are_those_of_a_simulation(some):
    """Each of 22 counts is outside of its quantiles at 5e-9 with probability 1e-8: below 1e-6 for one of them to be."""
    rng = np.random.default_rng(20)
    n, size = count_of(some), 400_000
    x = rng.normal(scale=2, size=n)
    law = stars_of(some)
    assert not isinstance(law, str)
    noise = {name: rng.normal(scale=float(scale), size=size) for name, scale in some.deviations.items()}
    counts = np.bincount(chosen(some, x, noise), minlength=len(some.outputs))
    masses = law.masses(x[None, :])[:, 0]
    assert masses.sum() == pytest.approx(1, abs=1e-11)
    for count, mass in zip(counts, masses, strict=True):
        assert binom.ppf(5e-9, size, mass) <= count <= binom.isf(5e-9, size, mass)


def test_what_is_left_out_of_the_sum_is_enclosed():
    """Steep slopes need more nodes: one value has a twentieth of the noise of the others."""
    some = selection(noisy_max_rows(3), {"n0": 1, "n1": 20, "n2": 3})
    law = stars_of(some)
    assert not isinstance(law, str)
    scales = (1, 20, 3)
    points = np.random.default_rng(1).normal(scale=5, size=(20, 3))
    for x, masses in zip(points, law.masses(points).T, strict=True):
        for i in range(3):
            others = [j for j in range(3) if j != i]
            breaks = sorted((x[j] - x[i]) / scales[i] for j in others)
            expected = quad(
                lambda z, i=i, x=x, others=others: norm.pdf(z)
                * math.prod(norm.cdf((x[i] - x[j] + scales[i] * z) / scales[j]) for j in others),
                -12, 12, epsabs=1e-13, limit=500, points=[b for b in breaks if abs(b) < 12],
            )[0]  # fmt: skip
            assert abs(expected - masses[i]) < 2e-11


def noisy_max_rows(n: int) -> list[list[list[Halfspace]]]:
    return [[[larger(i, j) for j in range(n) if j != i]] for i in range(n)]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_above_every_pair(seed):
    """On random selections, domains and ε, random pairs lose no more than the bound, and ``pair`` loses ``below``."""
    rng = np.random.default_rng(seed)
    some = [noisy_max(3, 1.5), noisy_max_loop(3, 2), above_threshold(2, 1, 2), between(2, 1.5), ranges(2, 1.5)][
        seed % 5
    ]
    n = count_of(some)
    some = Selection(
        some.outputs, {name: v * Fraction(int(rng.integers(2, 7)), 4) for name, v in some.deviations.items()}
    )
    width = int(rng.integers(1, 5))
    steps = (vector(*rng.integers(-1, 2, n)), vector(*rng.integers(-1, 2, n)))
    domain = (
        DataRange(vector(*[0] * n), vector(*[width] * n), False, steps=steps) if seed % 3 == 0 else cube(n, 0, width)
    )
    epsilon = Fraction(int(rng.integers(0, 5)), 4)
    found = over_box(some, domain, epsilon, 0.0, soon(1.0))
    assert found.above is not None
    law = stars_of(some)
    assert not isinstance(law, str)
    left = rng.uniform(0, width, (20_000, n))
    left[::2] = rng.choice([0, width], left[::2].shape)  # corners, and all between
    move = rng.choice([-1.0, 1.0], left.shape) * rng.choice([1.0, 1.0, 0.5], left.shape)
    if domain.steps:
        move = np.array([list(map(float, steps[k])) for k in rng.integers(0, 2, len(left))])
    right = left + move if domain.steps else np.clip(left + move, 0, width)
    inside = ((right >= 0) & (right <= width)).all(axis=1)
    one, other = law.masses(left[inside]), law.masses(right[inside])
    lost = np.maximum(0, one - math.exp(float(epsilon)) * other).sum(axis=0)
    assert lost.max(initial=0) <= found.above
    if found.pair is not None:
        a, b = (np.array(list(map(float, x))) for x in found.pair)
        difference = tuple(y - x for x, y in zip(*found.pair, strict=True))
        assert difference in steps if domain.steps else max(map(abs, difference)) <= 1
        assert min(a.min(), b.min()) >= 0
        assert max(a.max(), b.max()) <= width
        exact = enclosed_on_pair(some, *found.pair, epsilon)
        assert found.below == pytest.approx(exact.below, abs=1e-10)
    whole = DataRange(domain.low, domain.high, True, domain.least, domain.most, domain.steps)
    integers = over_box(some, whole, epsilon, 0.0, soon(5))
    assert integers.above is not None
    assert integers.above <= found.above + 1e-9
    assert integers.above == pytest.approx(integers.below, abs=1e-9)
    every = itertools.product(range(width + 1), repeat=n)
    table = {x: law.masses(np.array([x], dtype=float))[:, 0] for x in every}
    best = max(
        float(np.maximum(0, table[x] - math.exp(float(epsilon)) * table[y]).sum())
        for x in table for y in table
        if (vector(*np.subtract(y, x)) in steps if domain.steps else np.abs(np.subtract(x, y)).max() <= 1)
    ) if not domain.steps or integers.above else 0.0  # fmt: skip
    assert integers.above == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0])
def test_masses_lie_between_what_is_interpolated(width):
    """Of sets of three intervals under N(x, 1), and of the sets with the largest curvatures."""
    rng = np.random.default_rng(5)
    tight = np.zeros(2)
    for trial in range(300):
        ends = np.sort(rng.normal(scale=3, size=6))
        if trial % 3 == 0:
            half = rng.uniform(0, 4)
            ends = np.array([-60, -half, half, 60, 61, 62]) if trial % 2 else np.array([-half, half, 60, 61, 62, 63])
        x = width * np.arange(-40, 41) / 8 + (rng.uniform() if trial % 3 else 0.0)
        mass = sum(norm.cdf(high - x) - norm.cdf(low - x) for low, high in ends.reshape(3, 2))
        over, under = _corners(np.clip(mass, 0, 1), width**2, width**2, width, 1e-9)
        for above, corners in ((True, over), (False, under)):
            line = (corners[:-8] + corners[8:]) / 2
            error = (line - mass[4:-4]) * (1 if above else -1)
            assert error.min() >= -1e-12
            truth = (mass[:-8] + mass[8:]) / 2 - mass[4:-4]
            tight[int(above)] = max(tight[int(above)], (-truth if above else truth).max() / (width**2 / 8 * CURVATURE))
    assert (tight > (0.9 if width < 1 else 0.5)).all()


@pytest.mark.parametrize("few", [0, 200_000])
@pytest.mark.parametrize(("some", "reach"), [(noisy_max(2, 0.7), 1), (noisy_max(3, 0.8), 1), (between(2, 0.7), 1)])
def test_coarse_grids_are_above_what_lies_between(monkeypatch, few, some, reach):
    """One grid, as wide as the differences, misses the worst pair by far more than rounding."""
    monkeypatch.setattr("auditor.proofs.selections.FEW_POINTS", few)
    n = count_of(some)
    rng = np.random.default_rng(3)
    law = stars_of(some)
    assert not isinstance(law, str)
    missed = 0
    for numerator in (1, 2, 4, 6, 8):
        epsilon = Fraction(numerator, 2)
        domain = cube(n, 0, 5, reach=reach)
        coarse = over_box(some, domain, epsilon, 1.0, soon())
        left = rng.uniform(0, 5, (12_000, n))
        right = np.clip(left + reach * rng.choice([-1.0, 1.0], left.shape), 0, 5)
        one, other = law.masses(left), law.masses(right)
        lost = np.maximum(0, one - math.exp(float(epsilon)) * other).sum(axis=0).max()
        assert coarse.above is not None
        assert lost <= coarse.above
        missed += lost > coarse.below + 1e-3
    assert missed


@pytest.mark.parametrize("integer", [False, True])
def test_grids_of_differences_agree_with_grids_of_data(monkeypatch, integer):
    some, domain = noisy_max_loop(3, 2), cube(3, 0, 4, integer)
    plain = over_box(some, domain, Fraction(1, 2), 0.0, soon(1))
    monkeypatch.setattr("auditor.proofs.selections.FEW_POINTS", 0)
    pinned = over_box(some, domain, Fraction(1, 2), 0.0, soon(1))
    assert plain.above is not None
    assert pinned.above is not None
    assert plain.below == pytest.approx(pinned.below, abs=1e-3)
    assert plain.below <= pinned.above
    assert pinned.below <= plain.above
    if integer:
        assert plain.above == pytest.approx(pinned.above, abs=1e-9)


def test_far_values_are_brought_together():
    near = over_box(noisy_max(3, 2), cube(3, 0, 60, integer=True), Fraction(1, 2), 0.0, soon())
    far = over_box(noisy_max(3, 2), cube(3, 0, 10**9, integer=True), Fraction(1, 2), 0.0, soon())
    assert near.above is not None
    assert far.above is not None
    assert near.below <= far.above <= near.above + 1e-4


def test_what_is_brought_together_has_the_same_masses():
    rng = np.random.default_rng(8)
    for some, sigma in ((noisy_max_loop(3, 2), 2.0), (between(3), 4.0), (above_threshold(2), 8.0)):
        n = count_of(some)
        law = stars_of(some)
        assert not isinstance(law, str)
        domain, share = _nearer(cube(n, 0, 10**6), law, some.deviations)
        if some.outputs == above_threshold(2).outputs:  # the threshold is no number of the data
            assert (domain.high[0], share) == (10**6, 0)
            continue
        width = float(domain.high[0])
        gap = (width - 2) / (n - 1)
        assert gap < 20 * sigma
        for _ in range(50):
            x = np.cumsum(rng.choice([1.0, gap / 2, gap + 3, 10 * gap], n))
            places = rng.permutation(n)
            nearer = np.cumsum(np.minimum(np.diff(x, prepend=x[0]), gap))
            move = rng.choice([-1.0, 1.0], n)
            assert nearer[-1] + 2 <= width
            far, near = (law.masses(np.stack([y[places], (y + move)[places]])) for y in (x, nearer))
            assert np.abs(far - near).max() <= share <= 1e-5


@pytest.mark.parametrize("n", [2, 3])
def test_all_cells_of_a_domain_have_their_corners(n):
    """Every pair of data sets lies between corners that are not left out."""
    rng = np.random.default_rng(n)
    size = 3 + MARGIN
    one = Fraction(1)
    grid = _Grid(cube(n, 0, 3), (one,) * n, (size,) * n, True, ((-1,) * n, (1,) * n))
    outside = grid.impossible(MARGIN)
    for x in rng.uniform(0, 3, (300, n)):
        other = np.clip(x + rng.uniform(-1, 1, n), 0, 3)
        left, right = np.floor(x - x[-1]).astype(int), np.floor(other - x[-1]).astype(int)
        for corner in itertools.product((0, 1), repeat=n - 1):
            assert outside[tuple(left[:-1] + corner + size)] == 0
            for last in (0, 1):
                assert outside[tuple(right[:-1] + corner - right[-1] - last + size)] == 0


def test_values_with_two_sides():
    """A value within noise of a constant range; and within a moving range, which may be empty."""

    def within(noise: dict[str, int], low: float, high: float) -> list[Halfspace]:
        return [condition(noise, {0: 1}, -low), condition({k: -v for k, v in noise.items()}, {0: -1}, high)]

    for noise in ({"q": 1}, {"q": 1, "t": -1}):
        deviations = {"q": 2, "t": 3, "r": 1}
        chained = [condition({"r": 1, "t": -1}, {1: 1})] if "t" in noise else []
        for low, high in ((-1, 2), (2, -1)):
            inside = within(noise, low, high)
            some = selection([[[*inside, *chained]], [[condition({"z": 1}, {})]]], {**deviations, "z": 1})
            law = stars_of(some)
            assert not isinstance(law, str)
            for x in ((0.0, 0.0), (1.5, -2.0)):

                def mass(t: float, x: tuple[float, float] = x, low: float = low, high: float = high) -> float:
                    one = max(0.0, norm.cdf((high - x[0] + t) / 2) - norm.cdf((low - x[0] + t) / 2))
                    return float(norm.pdf(t, scale=3) * one * norm.cdf(x[1] - t))

                expected = max(0.0, norm.cdf((high - x[0]) / 2) - norm.cdf((low - x[0]) / 2))
                if chained:
                    expected = quad(mass, -36, 36, epsabs=1e-13, limit=400, points=[x[1]])[0]
                found = law.masses(np.array([x])[:, : len(law.places)])[0, 0]
                assert abs(found - expected) < 2e-11


def test_lengths_are_the_least():
    law = stars_of(noisy_max(4))
    assert not isinstance(law, str)
    moves = [vector(1, 0, 0, 0), vector(1, 1, -1, -1), vector(1, 1, 1, 1)]
    assert lengths(law.conditions, noisy_max(4).deviations, moves) == [Fraction(3, 64), Fraction(1, 4), 0]
    alone = selection([[[condition({"a": 1}, {0: 1})]], [[condition({"a": -1}, {0: -2})]]], {"a": 1})
    assert (
        lengths([row for paths in alone.outputs for path in paths for row in path], alone.deviations, [vector(1)])
        is None
    )


def test_claims_are_decided():
    """The programs of DiPApprox at σ = 2/ε and 4/ε of ε = .5, on data from −1 to 1, as real numbers."""
    claims = [
        *((above_threshold(n), cube(n, -1, 1), Fraction("1.24")) for n in (2, 5, 25)),
        *((noisy_max_loop(n), cube(n, -1, 1), Fraction("0.5")) for n in (2, 3)),
        *((ranges(m), cube(m, -1, 1), Fraction("0.5")) for m in (2, 3)),
        *((between(k), cube(k + 1, -1, 1), Fraction("0.5")) for k in (3, 4)),
    ]
    for some, domain, epsilon in claims:
        found = bound(some, domain, epsilon, 0.01, soon())
        assert found.above is not None
        assert found.above <= 0.01
    refuted = bound(noisy_max_loop(4), cube(4, -1, 1), Fraction("0.5"), 0.01, soon())
    assert refuted.below > 0.019
    assert refuted.pair is not None


def test_faulty_twins_are_not_proved():
    """Too little noise somewhere: the pair that is found says so."""
    assert chain(above_threshold(5, shared=False), cube(5, -1, 1), Fraction("1.24")).above is None
    twins = [
        (above_threshold(3, 0.25, 0.5), cube(3, -1, 1), Fraction("1.24")),
        (above_threshold(5, 4, 0.5), cube(5, -1, 1), Fraction("1.24")),
        (above_threshold(5, 0.5, 0.5, shared=False), cube(5, -1, 1), Fraction("1.24")),
        (noisy_max_loop(3, 1), cube(3, -1, 1), Fraction("0.5")),
        (between(3, 0.5), cube(4, -1, 1), Fraction("0.5")),
        (ranges(2, 0.5), cube(2, -1, 1), Fraction("0.5")),
    ]
    for some, domain, epsilon in twins:
        found = bound(some, domain, epsilon, 0.01, soon(3))
        assert found.above is not None
        assert 0.01 < found.below <= found.above
    longest = bound(above_threshold(25, 4, 0.5), cube(25, -1, 1), Fraction("1.24"), 0.01, soon(3))
    assert longest.above is not None
    assert longest.above > 0.01


def _mirrored(row: Halfspace) -> Halfspace:
    return condition({k: -v for k, v in row.noise.items()}, {k: -v for k, v in row.data.items()})


def test_chains_are_above_the_truth():
    """The bound of a chain is above all integers' δ, for either side, other orders of data, and moves in one direction."""
    for n, threshold, query, epsilon in ((1, 2, 3, "0.5"), (2, 1, 2, "0.75"), (3, 2, 2, "0.25"), (2, 4, 1, "0.5")):
        some = above_threshold(n, threshold, query)
        turned = Selection(
            tuple(tuple(tuple(_mirrored(row) for row in path) for path in paths) for paths in some.outputs[::-1]),
            some.deviations,
        )
        for one in (some, turned):
            up = DataRange(vector(*[-8] * n), vector(*[8] * n), True, vector(*[0] * n), vector(*[1] * n))
            down = DataRange(up.low, up.high, True, vector(*[-1] * n), vector(*[0] * n))
            for domain in (cube(n, -8, 8, integer=True), up, down):
                above = chain(one, domain, Fraction(epsilon)).above
                below = over_box(one, domain, Fraction(epsilon), 0.0, soon()).below
                assert above is not None
                assert 0 < below <= above


def phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def checked_chain(moved: Fraction, reach: tuple[Fraction, ...], epsilon: Fraction, cells: int = 600) -> float:
    """The bound of a chain without NumPy: what a checker does."""
    total = 2 * phi(-9)
    for cell in range(cells):
        start, end = (-9 + 18 * (cell + by) / cells for by in (0, 1))
        cost = float(epsilon - moved * moved / 2) - float(moved) * end
        lost = max(0.0, -math.expm1(cost))
        for by in map(float, reversed(reach)):
            rest = min(50.0, cost - math.log1p(-min(lost, 1 - 1e-12)))
            one = phi(by / 2 - rest / by) - math.exp(rest) * phi(-by / 2 - rest / by) if by else 0.0
            lost = min(1.0, lost + (1 - lost) * max(one, -math.expm1(rest), 0.0) + 1e-12)
        total += (phi(end) - phi(start) if end < 0 else phi(-start) - phi(-end)) * lost
    return total + 1e-9


def test_chains_are_checked_without_numpy():
    for n in (2, 5, 25):
        found = chain(above_threshold(n), cube(n, -1, 1), Fraction("1.24"))
        moved, reach = found.certificate["moved"], found.certificate["reach"]
        assert (moved, reach) == (Fraction(1, 4), (Fraction(1, 4),) * n)
        assert isinstance(moved, Fraction)
        assert isinstance(reach, tuple)
        assert chain_above(0.25, [0.25] * n, 1.24) == found.above
        assert found.above is not None
        assert 0 <= checked_chain(moved, reach, Fraction("1.24"), 4000) - found.above < 1e-8
        assert checked_chain(moved, reach, Fraction("1.24")) <= 0.01


def test_what_is_not_supported_says_why():
    certain = selection([[[condition({}, {0: 1})]], [[condition({}, {0: -1})]]], {})
    tangled: list[StarPath] = []
    for order in itertools.permutations(range(4)):
        tangled.append(tuple(larger(a, b) for a, b in itertools.pairwise(order)))
    sorted_ = Selection(tuple((path,) for path in tangled), {f"n{i}": Fraction(1) for i in range(4)})
    for some, why in ((certain, "does not depend on noise"), (sorted_, "compared with more")):
        found = bound(some, cube(count_of(some), 0, 1), Fraction(1), 0.1, soon())
        assert found.above is None
        assert why in found.sentence
    assert bound(noisy_max(3), cube(3, 0, 1), Fraction(1), 0.1, time.monotonic() - 1).above is None
