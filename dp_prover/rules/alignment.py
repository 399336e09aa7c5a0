"""Rule 1, alignment: a shift of the noise for each cell and each difference of data, from linear programs, verified exactly.

A row a·n + b·x + c ≥ 0 still holds after the shift k at x + d if a·k + b·d ≥ 0, and a form is unchanged if a·k + b·d = 0. The
cost of a shift bounds the log-ratio of the densities f(n)/f(n + k):

- Laplace and logistic noise of scale b: |k|/b, since the log-density is 1/b-Lipschitz.
- Exponential noise of scale b: k/b, with k ≥ 0, so that n + k stays in the support.
- Gumbel noise of scale b: k/b, with k ≥ 0: the log-ratio is k/b + e^(−(n+k)/b) − e^(−n/b), where the exponentials sum to at most 0.
- Geometric noise of success probability p: −k ln(1 − p), with an integer k ≥ 0.
- All other noise is not shifted.

Rows, equalities and costs are jointly convex in (d, k). So shifts at the vertices of a set of differences yield shifts on all of
it, as the same convex combinations, at no higher cost. Geometric noise needs integer shifts, so every difference has its own.

For a box with many vertices the shift is linear instead: k = A e + k₀, where d = m + r·e with e in [−1, 1]ⁿ, for the centre m and
the half-widths r of the box. The least value of a row is a·k₀ + b·m − Σ_j |(aA)_j + b_j r_j|.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dp_prover.clock import check_time
from dp_prover.interfaces import Condition, Names
from dp_prover.numbers.form import INPUT, NOISE, Law
from dp_prover.numbers.linear import Sparse, made_exact, solve
from dp_prover.numbers.logarithms import log_above
from dp_prover.numbers.moves import Box, Hull, Vector
from dp_prover.rules.path_cells import Cell, KeptRow, bound_conditions, contradiction

SolverRow = tuple[Mapping[str, Fraction], Fraction, str]  # noise coefficients, gap, relation
MOST_VERTICES = 32  # of a box; for more, only linear shifts are tried
MOST_TO_FAIL = 1024  # differences that are searched to explain a failure
NOTHING = Hull(((),), alone=True)  # the only "difference" where both data sets are concrete


@dataclass(frozen=True, slots=True)
class Shift:
    """The shift for one difference: how far each draw moves."""

    difference: Vector
    by: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class LinearShift:
    """A shift for a whole box: each draw's constant, and its slope along each axis e."""

    constant: Mapping[str, Fraction]
    slopes: Mapping[str, Vector]

    def by_coordinate(self, count: int) -> list[dict[str, Fraction]]:
        """Return the slopes of all draws, axis by axis."""
        return [{name: slopes[at] for name, slopes in self.slopes.items()} for at in range(count)]


@dataclass(frozen=True, slots=True)
class Aligned:
    """A cell with its shifts for a set of differences, and the largest cost. ``empty`` proves that the cell is empty."""

    cell: Cell
    cost: Fraction
    shifts: tuple[Shift, ...] = ()
    linear: LinearShift | None = None
    empty: tuple[Fraction, ...] | None = None

    def at(self, difference: Vector, moves: Box | Hull) -> Mapping[str, Fraction]:
        """Return the shift for a difference."""
        if self.linear is None:
            return next(shift.by for shift in self.shifts if shift.difference == difference)
        assert isinstance(moves, Box)
        ends = [(Fraction(low), Fraction(high)) for low, high in zip(moves.low, moves.high, strict=True)]
        e = [
            (2 * d - low - high) / (high - low) if high > low else Fraction(0)
            for d, (low, high) in zip(difference, ends, strict=True)
        ]
        slopes = self.linear.slopes
        return {
            n: k + sum((s * x for s, x in zip(slopes[n], e, strict=True)), Fraction(0))
            for n, k in self.linear.constant.items()
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """A cell without a shift at some difference; with a ``cost``, one whose shift costs too much."""

    cell: Cell
    difference: Vector
    cost: Fraction | None = None


def rate(law: Law) -> Fraction | None:
    """Return the cost of a unit shift; None for noise that is not shifted."""
    if law[0] in ("laplace", "logistic", "exponential", "gumbel"):
        return 1 / Fraction(law[1])
    return log_above(1 / (1 - Fraction(law[1]))) if law[0] == "geometric" else None


def one_sided(law: Law) -> bool:
    """Whether noise may only be shifted upwards."""
    return law[0] in ("exponential", "gumbel", "geometric")


@dataclass(slots=True)
class Aligner:
    """Finds shifts for cells: of one symbolic trace, or of two traces on concrete data sets."""

    names: Names
    goal: Fraction  # a cost that suffices
    _rates: dict[str, Fraction] = field(default_factory=dict)
    _seen: int = 0  # laws
    _solved: dict[object, "Shift | None"] = field(default_factory=dict)

    @property
    def rates(self) -> dict[str, Fraction]:
        """The cost of a unit shift, for all noise that can be shifted. Tracing further pairs adds symbols."""
        if self._seen < len(self.names.laws):
            new = list(self.names.laws.items())[self._seen :]
            self._rates |= {name: cost for name, law in new if (cost := rate(law)) is not None}
            self._seen = len(self.names.laws)
        return self._rates

    def align(self, cell: Cell, moves: Box | Hull) -> Aligned | Failure:
        """Return shifts of a cell for all differences of a set, as cheap as the search finds."""
        assert not self.needs_integers() or (isinstance(moves, Hull) and moves.alone)
        points = moves.points if isinstance(moves, Hull) else None
        linear = None
        if points is None:
            assert isinstance(moves, Box)
            if len(moves.low) > 1:
                linear = self._linear(cell, moves)
            if linear is not None and linear.cost <= self.goal:
                return linear
            few = 2 ** len(moves.low) <= MOST_VERTICES
            points = tuple(moves.vertices()) if few else None
        if points is None:
            return linear or Failure(cell, tuple(map(Fraction, moves.high)))  # type: ignore[union-attr]
        shifts = []
        for point in points:
            difference = tuple(map(Fraction, point))
            shift = self._at(cell, difference)
            if shift is None:
                return linear or Failure(cell, difference)
            shifts.append(shift)
            if linear is not None and self.cost(shift) > self.goal:
                return linear
        cost = max(self.cost(shift) for shift in shifts)
        return linear if linear is not None and linear.cost <= cost else Aligned(cell, cost, tuple(shifts))

    def needs_integers(self) -> bool:
        """Whether some noise needs integer shifts, so that convex combinations of shifts are none."""
        return any(law[0] == "geometric" for law in self.names.laws.values())

    def empty(self, cell: Cell, conditions: Sequence[Condition]) -> Aligned | None:
        """Return a single-path cell as an empty one, if its conditions contradict each other."""
        given = [*conditions, *bound_conditions(self.names)]
        multipliers = contradiction(given, self.names) if len(cell.left) == 1 else None
        return None if multipliers is None else Aligned(cell, Fraction(0), empty=multipliers)

    def dearest(self, cell: Cell, moves: Box | Hull) -> Vector:
        """Return a difference for which the cell has no shift, or else the one whose cheapest shift costs most.

        Ties go to differences that move all data in one direction: one event then shows the whole loss.
        """
        vertices = moves.points if isinstance(moves, Hull) else tuple(moves.vertices())
        points = vertices[:: max(1, len(vertices) // MOST_TO_FAIL)]
        costs: list[tuple[float, Fraction, Vector]] = []
        for point in points:
            difference = tuple(map(Fraction, point))
            shift = self._at(cell, difference)
            if shift is None:
                return difference
            costs.append((float(self.cost(shift)), abs(sum(difference, Fraction(0))), difference))
        return max(costs)[-1]

    def cost(self, shift: Shift) -> Fraction:
        """Return the cost of a shift."""
        return sum((abs(by) * self.rates[name] for name, by in shift.by.items()), Fraction(0))

    # One difference --------------------------------------------------------------------------------------------------

    def _at(self, cell: Cell, difference: Vector) -> Shift | None:
        rows = [(_noise(row), gap(row, difference), row.relation) for row in (*cell.rows, *cell.kept)]
        key = (tuple((tuple(sorted(a.items())), g, r) for a, g, r in rows), difference)
        if key not in self._solved:
            self._solved[key] = self._solve(rows, difference)
        return self._solved[key]

    def _solve(self, rows: Sequence[SolverRow], difference: Vector) -> Shift | None:
        check_time()
        decided = self._decided([(noise, (constant,), relation) for noise, constant, relation in rows])
        by_substitution = {name: numbers[0] for name, numbers in decided.items()}
        if by_substitution.keys() >= {name for noise, _, _ in rows for name in noise} & self.rates.keys():
            shift = Shift(difference, {name: by for name, by in by_substitution.items() if by})
            return shift if self._holds(shift, rows) else None
        # Each draw that may move has one variable upwards and one downwards.
        used = sorted({name for noise, _, _ in rows for name in noise} & self.rates.keys())
        up = {name: at for at, name in enumerate(used)}
        down = {name: len(used) + at for at, name in enumerate(n for n in used if not one_sided(self.names.laws[n]))}
        costs = [float(self.rates[name]) for name in (*up, *down)]
        integral = [self.names.laws[name][0] == "geometric" for name in (*up, *down)]
        at_least: list[tuple[Sparse, Fraction]] = []
        equal: list[tuple[Sparse, Fraction]] = []
        for noise, constant, relation in rows:
            line = {up[name]: value for name, value in noise.items() if name in up}
            line |= {down[name]: -value for name, value in noise.items() if name in down}
            if not line:
                if constant < 0 or (relation == "=" and constant != 0):
                    return None
                continue
            (equal if relation == "=" else at_least).append((line, -constant))
        if not costs:
            return Shift(difference, {})
        values = solve(costs, at_least, equal, integral)
        if values is None:
            return None
        zeros: list[tuple[Sparse, Fraction]] = [
            ({at: Fraction(1)}, Fraction(0)) for at, v in enumerate(values) if v < 1e-9
        ]
        tight = [
            row for row in at_least if abs(sum(float(a) * values[i] for i, a in row[0].items()) - float(row[1])) < 1e-7
        ]
        for equations in ([*zeros, *equal, *tight], [*zeros, *equal], equal):
            exact = made_exact(values, equations)
            if exact is not None:
                by = {name: exact[at] - (exact[down[name]] if name in down else 0) for name, at in up.items()}
                shift = Shift(difference, {name: value for name, value in by.items() if value})
                if self._holds(shift, rows):
                    return shift
        return None

    def _decided(
        self, rows: Sequence[tuple[Mapping[str, Fraction], Sequence[Fraction], str]]
    ) -> dict[str, Sequence[Fraction]]:
        """Solve equations with a single unknown draw by substitution, for each coordinate of the constants."""
        solved: dict[str, Sequence[Fraction]] = {}
        waiting = [(noise, numbers) for noise, numbers, relation in rows if relation == "="]
        while True:
            rest = []
            for noise, numbers in waiting:
                unknown = [name for name in noise if name in self.rates and name not in solved]
                if len(unknown) != 1:
                    rest.append((noise, numbers))
                    continue
                total = list(numbers)
                for name, factor in noise.items():
                    if name in solved:
                        total = [value + factor * by for value, by in zip(total, solved[name], strict=True)]
                solved[unknown[0]] = [-value / noise[unknown[0]] for value in total]
            if len(rest) == len(waiting):
                return solved
            check_time()
            waiting = rest

    def _holds(self, shift: Shift, rows: Sequence[tuple[Mapping[str, Fraction], Fraction, str]]) -> bool:
        for name, by in shift.by.items():
            law = self.names.laws[name]
            if (one_sided(law) and by < 0) or (law[0] == "geometric" and by.denominator != 1):
                return False
        for noise, constant, relation in rows:
            value = constant + sum((a * shift.by.get(name, Fraction(0)) for name, a in noise.items()), Fraction(0))
            if value < 0 or (relation == "=" and value != 0):
                return False
        return True

    # A whole box -----------------------------------------------------------------------------------------------------

    def _linear(self, cell: Cell, box: Box) -> Aligned | None:
        rows = [(_noise(row), *_in_box(row, box), row.relation) for row in (*cell.rows, *cell.kept)]
        used = sorted({name for noise, _, _, _ in rows for name in noise} & self.rates.keys())
        cells = len(box.low)
        decided = self._decided([(noise, (constant, *slopes), relation) for noise, constant, slopes, relation in rows])
        if decided.keys() >= set(used):
            shift = LinearShift(
                {name: numbers[0] for name, numbers in decided.items()},
                {name: tuple(numbers[1:]) for name, numbers in decided.items()},
            )
            cost = self._linear_cost(shift, rows)
            return None if cost is None else Aligned(cell, cost, linear=shift)
        # Variables of each draw: its constant and its slopes, upwards and downwards.
        width = 2 * (1 + cells)
        base = {name: at * width for at, name in enumerate(used)}
        costs = [float(self.rates[name]) for name in used for _ in range(width)]
        at_least: list[tuple[Sparse, Fraction]] = []
        equal: list[tuple[Sparse, Fraction]] = []
        for name in used:
            if one_sided(self.names.laws[name]):
                start = base[name]
                line = {start: Fraction(1), start + 1: Fraction(-1)}
                line |= {start + 2 + at: Fraction(-1) for at in range(2 * cells)}
                at_least.append((line, Fraction(0)))
        for noise, constant, slopes, relation in rows:
            at_zero = {
                base[name] + way: value * (1 - 2 * way)
                for name, value in noise.items()
                if name in base
                for way in (0, 1)
            }
            each = [
                {
                    base[name] + 2 + 2 * j + way: value * (1 - 2 * way)
                    for name, value in noise.items()
                    if name in base
                    for way in (0, 1)
                }
                for j in range(cells)
            ]
            if relation == "=":
                equal.append((at_zero, -constant))
                equal += [(line, -slope) for line, slope in zip(each, slopes, strict=True)]
                continue
            line = dict(at_zero)
            for j in range(cells):
                if each[j] or slopes[j]:
                    size = len(costs)
                    costs.append(0.0)
                    line[size] = Fraction(-1)  # bounds |slope of the row along e_j|
                    at_least.append(({size: Fraction(1), **{i: -v for i, v in each[j].items()}}, slopes[j]))
                    at_least.append(({size: Fraction(1), **each[j]}, -slopes[j]))
            at_least.append((line, -constant))
        if any(not line and limit for line, limit in equal):
            return None
        values = solve(costs, at_least, [row for row in equal if row[0]], [False] * len(costs)) if costs else []
        if values is None:
            return None
        count = len(used) * width
        zeros: list[tuple[Sparse, Fraction]] = [
            ({at: Fraction(1)}, Fraction(0)) for at in range(count) if values[at] < 1e-9
        ]
        for equations in ([*zeros, *equal], equal):
            exact = made_exact(values[:count], equations)
            if exact is None:
                continue
            signed = {n: [exact[b + 2 * j] - exact[b + 2 * j + 1] for j in range(1 + cells)] for n, b in base.items()}
            signed = {name: numbers for name, numbers in signed.items() if any(numbers)}
            shift = LinearShift({n: s[0] for n, s in signed.items()}, {n: tuple(s[1:]) for n, s in signed.items()})
            cost = self._linear_cost(shift, rows)
            if cost is not None:
                return Aligned(cell, cost, linear=shift)
        return None

    def _linear_cost(
        self, shift: LinearShift, rows: Sequence[tuple[Mapping[str, Fraction], Fraction, Vector, str]]
    ) -> Fraction | None:
        """Return the cost of a linear shift, if it preserves all rows."""
        total = Fraction(0)
        for name, constant in shift.constant.items():
            spread = sum(map(abs, shift.slopes[name]), Fraction(0))
            if one_sided(self.names.laws[name]) and constant < spread:
                return None
            total += self.rates[name] * (abs(constant) + spread)
        for noise, constant, slopes, relation in rows:
            check_time()
            middle = constant + sum((a * shift.constant.get(n, Fraction(0)) for n, a in noise.items()), Fraction(0))
            sides = [
                slope + sum((a * shift.slopes[n][j] for n, a in noise.items() if n in shift.slopes), Fraction(0))
                for j, slope in enumerate(slopes)
            ]
            if middle < sum(map(abs, sides), Fraction(0)) or (relation == "=" and (middle or any(sides))):
                return None
        return total


def _noise(row: KeptRow) -> dict[str, Fraction]:
    return {name: value for name, value in row.right.terms.items() if name.startswith(NOISE)}


def _inputs(row: KeptRow) -> Iterator[tuple[int, Fraction]]:
    yield from ((int(name[1:]), value) for name, value in row.right.terms.items() if name.startswith(INPUT))


def gap(row: KeptRow, difference: Vector) -> Fraction:
    """Return by how much a row's right side exceeds its left side at equal noise."""
    moved = sum((value * difference[cell] for cell, value in _inputs(row)), Fraction(0))
    return row.right.constant - row.left.constant + moved


def _in_box(row: KeptRow, box: Box) -> tuple[Fraction, Vector]:
    """Return a row's gap at the centre of a box, and its slopes along the axes e."""
    low, high = ([Fraction(number) for number in side] for side in (box.low, box.high))
    values = dict(_inputs(row))
    middle = row.right.constant - row.left.constant
    middle += sum((value * (low[cell] + high[cell]) / 2 for cell, value in values.items()), Fraction(0))
    slopes = tuple(values.get(cell, Fraction(0)) * (high[cell] - low[cell]) / 2 for cell in range(len(low)))
    return middle, slopes
