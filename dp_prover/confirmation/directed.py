"""Runs the mechanism along every traced path: a search finds numbers that lead there, and a generator plays them back.

So a rare event hides nothing. The mechanism takes each path at an interior point of its conditions, and at some extremes of its
data. Otherwise there is no proof.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.mechanism import Mechanism
from dp_prover.clock import check_time
from dp_prover.confirmation.confirm import OWN, GuidedRun, RecordingGenerator, TooCloseError, confirmed
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import CONTINUOUS, Condition, Dataset, Names, NoiseDraw, Path, Trace
from dp_prover.language.trace import output_of, path_of_run, without_warnings
from dp_prover.models.lazy import CURRENT
from dp_prover.numbers.form import INPUT, OPAQUE, Form
from dp_prover.rules.path_cells import bound_conditions, contradiction

# Random attempts at a path whose conditions are not linear; runs at data extremes for each path, if there are few paths.
ATTEMPTS, ENDS, FEW = 40, 3, 64
# The range of noise in scales, and relative to what it is compared with; the depth of interior points; the rounding margin.
SCALES, BEYOND, INSIDE, ROUNDING = 50.0, 4.0, 1.0, 1e-6
Numbers = dict[str, float]
Real = Callable[[Mapping[str, float]], Any]  # makes the mechanism's data set of these numbers


class _Directed(GuidedRun):
    """A run on chosen numbers. It writes the script that makes a generator draw them."""

    def __init__(self, names: Names, data: Mapping[str, float], wanted: Numbers, path: Path, attempt: int) -> None:
        super().__init__(names, data, ())
        self.script: list[tuple[str, Any]] = []
        self._wanted, self._path = wanted, path
        self._attempt, self._rng = attempt, np.random.default_rng(attempt)

    def drew(self, draw: NoiseDraw) -> None:
        drawn = OWN
        if draw.name is not None:
            drawn = self._drawn_for(draw, self._number(draw.name))
            self._numbers[draw.name] = draw.decode(drawn)
        self.script.append((draw.method, drawn))

    def _number(self, name: str) -> Any:
        """Return a draw's number: the chosen one, one that the path requires, or a random one."""
        law, label = self.names.laws[name], self._path.labels.get(name, ("", Fraction(1)))[0]
        if law[0] == "finite":
            possible = self.outcomes[name]
            if label:
                return possible[int(label.partition(" ")[0])][0]
            shares = np.array([float(mass) for _, mass in possible])
            return possible[int(self._rng.choice(len(possible), p=shares / shares.sum()))][0]
        if law == ("uniform",):
            low, high = map(Fraction, label.split(" to ")) if label else (Fraction(0), Fraction(1))
            middle = self._wanted.get(name)
            inside = middle is not None and low < middle < high
            return middle if inside else float(low) + float(high - low) * self._rng.uniform(0.01, 0.99)
        if name in self._wanted:
            return self._wanted[name]
        if law[0] == "geometric":
            return int(self._rng.geometric(float(law[1])))
        draw = float(getattr(self._rng, law[0])(scale=float(law[1])))
        # Rare noise: all of it large, on one side or on either.
        farthest = max((abs(float(end)) for ends in self.names.bounds.values() for end in ends), default=0.0)
        farther = (1.0, 10.0, 100.0 + BEYOND * farthest / float(law[1]))
        times, side = farther[self._attempt % 3], self._attempt // 3 % 3 - 1
        return times * (side * abs(draw) if side and law[0] != "exponential" else draw)

    def _drawn_for(self, draw: NoiseDraw, number: Any) -> Any:
        """Return the number that NumPy must draw for a symbol's value."""
        if draw.encode is not None:
            return draw.encode(number)
        if draw.method in ("geometric", "choice", "permutation", "binomial") or isinstance(number, np.generic):
            return number
        if not isinstance(number, float):
            return number
        start, step = draw.decode(0), draw.decode(1) - draw.decode(0)
        if not step:
            return OWN
        drawn = (number - start) / step
        return round(drawn) if draw.method == "integers" else drawn


def confirm_each(
    mechanism: Mechanism, dataset: Dataset, trace: Trace, real: Real, integer: bool, confirmed_paths: set[int]
) -> None:
    """Make the mechanism take each path of a trace, apart from ``confirmed_paths``, which it has taken already.

    Raises NotProvedError if the mechanism differs from the evaluator, or if no numbers lead to a path.
    """
    for place, path in enumerate(trace.paths):
        check_time()
        at_ends = bool(trace.names.bounds) and bool(path.conditions) and len(trace.paths) <= FEW
        if place in confirmed_paths and not at_ends:
            continue
        points = list(_points(path, trace.names, integer, place, 1 + ENDS * at_ends))
        if not points and _excluded(path, trace.names):
            continue
        for attempt in range(len(points) + ATTEMPTS):
            directed = attempt < len(points)
            if not directed and place in confirmed_paths:
                break
            point = points[attempt] if directed else {}
            data = _data(trace.names, point if directed else {}, integer, attempt)
            run = _Directed(trace.names, data, point, path, attempt)
            try:
                _walked(mechanism, dataset, run)
            except TooCloseError:
                continue
            place_taken = confirmed(
                mechanism, real(data), dataset, data, trace, RecordingGenerator(attempt, run.script)
            )
            confirmed_paths |= set() if place_taken is None else {place_taken}
        if place not in confirmed_paths and not _excluded(path, trace.names):
            where = path.conditions[-1].place if path.conditions else "its draws"
            raise NotProvedError(
                f"the search found no numbers on which the function takes a path, after the decision at {where}"
            )


def _excluded(path: Path, names: Names) -> bool:
    """Whether a path's conditions contradict each other, given the ranges of data, draws and functions of these."""
    certain = list(bound_conditions(names))
    for name in {name for condition in path.conditions for name in condition.form.terms}:
        if names.laws.get(name, ("",))[0] in ("exponential", "geometric", "uniform"):
            certain.append(Condition(Form.symbol(name), ">=", ""))
        if name[0] != OPAQUE:
            continue
        operation, arguments = names.terms[name]
        kind, symbol = operation.partition("[")[0].rpartition(".")[2], Form.symbol(name)
        constants = [argument for argument in arguments if not argument.terms]
        if kind in ("maximum", "minimum"):
            sign = 1 if kind == "maximum" else -1
            certain += [Condition(symbol.plus(form, -1).times(Fraction(sign)), ">=", "") for form in constants]
        if kind in ("abs", "sqrt", "exp", "square"):
            certain.append(Condition(symbol, ">=", ""))
    return contradiction([*path.conditions, *certain], names) is not None


def _walked(mechanism: Mechanism, dataset: Dataset, run: _Directed) -> None:
    token = CURRENT.set(run)
    try:
        with without_warnings():
            path_of_run(run, output_of(mechanism, dataset, run))
    finally:
        CURRENT.reset(token)


def _data(names: Names, point: Mapping[str, float], integer: bool, seed: int) -> Numbers:
    """Return a point's data values, random where it has none."""
    rng, numbers = np.random.default_rng(seed), {}
    for name, (low, high) in names.bounds.items():
        number = min(max(point.get(name, rng.uniform(float(low), float(high))), float(low)), float(high))
        numbers[name] = float(min(max(round(number), math.ceil(low)), math.floor(high))) if integer else number
    return numbers


# Points ------------------------------------------------------------------------------------------------------------------


def _points(path: Path, names: Names, integer: bool, seed: int, count: int) -> Iterator[Numbers]:
    """Yield numbers that satisfy a path's linear conditions: an interior point, then some at extremes of the data."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    forms = [condition.form for condition in path.conditions]
    symbols = sorted({name for form in forms for name in form.terms} | (set(names.bounds) if count > 1 else set()))
    rng = np.random.default_rng(seed)
    if not symbols:
        yield {}
        return
    low, high = _ends(symbols, forms, names)
    whole = [integer if name[0] == INPUT else names.laws.get(name, ("",))[0] == "geometric" for name in symbols]
    rows, least, most = _rows(path, symbols, names)

    def solved(objective: NDArray[np.float64], deepest: float) -> NDArray[np.float64] | None:
        # The last variable is the depth of a point inside the conditions on noise.
        answer = milp(
            -objective,
            constraints=LinearConstraint(rows, least, most),
            integrality=np.array([*whole, False], np.int8),
            bounds=Bounds(np.array([*low, deepest]), np.array([*high, INSIDE])),
        )
        return None if answer.x is None else answer.x

    depth = np.zeros(len(symbols) + 1)
    depth[-1] = 1.0
    inner = solved(depth, ROUNDING)
    if inner is None:
        return
    yield dict(zip(symbols, map(float, inner[:-1]), strict=True))
    for number in range(count - 1):
        # All data large, all small, then mixtures.
        signs = [1.0, -1.0] if number < 2 else [rng.normal()]
        direction = np.array([signs[number % len(signs)] if name[0] == INPUT else 0.0 for name in symbols] + [0.0])
        end = solved(direction, inner[-1] / 2)
        if end is not None:
            yield dict(zip(symbols, map(float, end[:-1]), strict=True))


def _ends(symbols: Sequence[str], forms: Sequence[Form], names: Names) -> tuple[list[float], list[float]]:
    """Return the search range of each symbol."""
    reach = {name: max(abs(float(end)) for end in ends) for name, ends in names.bounds.items()}
    # The largest number that noise is compared with.
    against = max(
        (
            abs(float(form.constant)) + sum(abs(float(by)) * reach.get(name, 0.0) for name, by in form.terms.items())
            for form in forms
        ),
        default=0.0,
    )
    low, high = [], []
    for name in symbols:
        ends, law = names.bounds.get(name), names.laws.get(name)
        if ends is not None:
            low.append(float(ends[0]))
            high.append(float(ends[1]))
        elif law == ("uniform",):
            low.append(0.0)
            high.append(1.0)
        else:
            scale = float(law[1]) if law is not None and law[0] in CONTINUOUS else 1.0
            far = SCALES * scale + BEYOND * against
            positive = law is not None and law[0] in ("exponential", "geometric")
            low.append(float(law is not None and law[0] == "geometric") if positive else -far)
            high.append(far)
    return low, high


def _rows(
    path: Path, symbols: Sequence[str], names: Names
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return a path's conditions as rows over the symbols and the depth, with their bounds."""
    place = {name: at for at, name in enumerate(symbols)}
    rows, least, most = np.zeros((len(path.conditions), len(symbols) + 1)), [], []
    for at, condition in enumerate(path.conditions):
        for name, by in condition.form.terms.items():
            rows[at, place[name]] = float(by)
        size = float(np.abs(rows[at]).max()) or 1.0
        rows[at] /= size
        constant = float(condition.form.constant) / size
        of_noise = names.is_noisy(condition.form)
        if condition.relation != "=":
            rows[at, -1] = -1.0 if of_noise else 0.0
        strict = condition.relation == ">" and not of_noise
        least.append(-constant + (ROUNDING if strict else 0.0))
        most.append(-constant if condition.relation == "=" else np.inf)
    return rows, np.array(least), np.array(most)
