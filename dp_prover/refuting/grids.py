"""Where to cut outputs and noise: numbers in floating point, which only propose."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Json = Any
STEPS = 40  # of noise on either side, in the outer and in the inner part of its range
PAD = 2.0**-36
MOST_LATTICE = 400

_WHOLE: dict[str, Callable[..., Any]] = {"floor": np.floor, "ceil": np.ceil, "rint": np.rint, "trunc": np.trunc}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_WHOLE,
    **{name: getattr(np, name) for name in ("maximum", "minimum", "abs", "sign", "exp", "log", "sqrt")},
    **{name: getattr(np, name) for name in ("multiply", "divide", "add", "subtract")},
    "round": lambda a, digits=0.0: np.round(a * 10.0**digits) / 10.0**digits,
}


def grid_of(law: str, parameter: Fraction) -> Numbers:
    """Return numbers across the range of a distribution, denser in its middle."""
    scale = float(parameter)
    if law == "geometric":
        most = math.ceil(80 / -math.log1p(-scale))
        near = np.arange(1.0, min(most, MOST_LATTICE) + 1)
        return near if most <= MOST_LATTICE else np.unique(np.r_[near, np.geomspace(MOST_LATTICE, most, 40).round()])
    if law == "uniform":
        return np.linspace(0.0, 1.0, 4 * STEPS + 1)
    inner, outer = (3.5, 10.8) if law == "normal" else (3.0, 60.0)
    half = np.unique(np.r_[np.linspace(0, inner, STEPS + 1), np.linspace(inner, outer, STEPS + 1)])
    if law == "exponential":
        return half * scale
    low = -half if law != "gumbel" else -np.linspace(0, 4.0, STEPS + 1)
    return np.unique(np.r_[low, half]) * scale


class Outputs:
    """A law of outputs as floating point: its paths, and the values of forms at numbers of its noise."""

    def __init__(self, trace: Json, noise: Mapping[str, Sequence[str]]) -> None:
        self.trace, self.noise = trace, noise
        self.outputs: list[tuple[str, list[Json], list[Json]]] = [tuple(output) for output in trace["outputs"]]
        self.is_single = trace["tree"].keys() == {"output"}

    def symbols(self, form: Mapping[str, str]) -> set[str]:
        """Return the noise in a form."""
        found = set[str]()
        for name in form:
            if name[:1] == "o":
                found.update(*(self.symbols(argument) for argument in self.trace["terms"][name][1]))
            elif name:
                found.add(name)
        return found

    def of_leaf(self, leaf: Json) -> set[str]:
        """Return the noise and the choices behind a leaf of an output."""
        return (
            {f"c{leaf['choice'][0]}"} if "choice" in leaf else self.symbols(leaf["form"]) if "form" in leaf else set()
        )

    def is_affine(self, leaf: Json) -> bool:
        """Whether a leaf is a number, or noise times constants, plus a constant."""
        return "number" in leaf or ("form" in leaf and all(name[:1] != "o" for name in leaf["form"]))

    def value(self, form: Mapping[str, str], at: Mapping[str, Numbers]) -> Numbers | None:
        """Return a form at numbers of its noise; None if it has an unknown function."""
        total: Any = float(Fraction(form.get("", "0")))
        for name, factor in form.items():
            if not name:
                continue
            inner: Any = at.get(name)
            if name[:1] == "o":
                operation, arguments = self.trace["terms"][name]
                function = FUNCTIONS.get(operation.partition("[")[0].rpartition(".")[2])
                values = [self.value(argument, at) for argument in arguments]
                if function is None or any(value is None for value in values):
                    return None
                with np.errstate(all="ignore"):
                    inner = function(*values)
            total = total + float(Fraction(factor)) * inner
        return np.asarray(total, float)

    def middle(self, names: Sequence[str]) -> dict[str, Any]:
        """Return a typical number of each draw."""
        centres = {"exponential": 0.7, "uniform": 0.5, "geometric": 1.0}
        return {
            name: centres.get(self.noise[name][0], 0.0)
            * (float(Fraction(self.noise[name][1])) if self.noise[name][0] == "exponential" else 1.0)
            for name in names
        }

    def values_of(self, form: Mapping[str, str]) -> Numbers | None:
        """Return values that a form takes as one of its draws moves and the others stay."""
        names = sorted(self.symbols(form))
        found = []
        for name in names:
            law, parameter = self.noise[name]
            value = self.value(form, {**self.middle(names), name: grid_of(law, Fraction(parameter))})
            if value is None:
                return None
            found.append(np.atleast_1d(value))
        values = np.concatenate(found) if found else np.atleast_1d(self.value(form, {}))  # type: ignore[arg-type]
        return values[np.isfinite(values)]


def ends_of_cells(values: Sequence[Numbers], most: int) -> list[float]:
    """Return numbers that separate the values of both sides, and tell apart those that noise takes often."""
    every = np.sort(np.concatenate(values))
    if not every.size:
        return []
    different, counts = np.unique(every, return_counts=True)
    size = max(float(np.abs(different).max()), 1.0)
    ends = [side[extreme] for side in map(np.sort, values) if side.size for extreme in (0, -1)]
    gaps = np.diff(different)
    middles = [float(a + gap / 2) for a, gap in zip(different, gaps, strict=False) if gap > 1e-9 * size]
    atoms = different[counts >= 5]
    # No end is a value itself, which would then be in two cells.
    apart = [*(atoms if atoms.size <= 20 else []), *ends]
    around = [float(value) + by for value in apart for by in (-1e-6 * size, 1e-6 * size)]
    if len(middles) > most:
        middles = [middles[round(at)] for at in np.linspace(0, len(middles) - 1, most)]
    return sorted({*middles, *around})


def cuts_for(outputs: Outputs, form: Mapping[str, str], ends: Sequence[float]) -> dict[str, list[float]]:
    """Return where to cut the single draw of a form with functions, so that each piece is on one side of each end."""
    names = outputs.symbols(form)
    if len(names) != 1 or all(name[:1] != "o" for name in form):
        return {}
    [name] = names
    law, parameter = outputs.noise[name]
    grid = grid_of(law, Fraction(parameter))
    if law == "geometric":
        return {name: [float(at) for at in grid]}
    found = outputs.value(form, {name: grid})
    if found is None:
        return {}
    low, high = grid[:-1], grid[1:]
    wanted = np.array([end for end in ends if math.isfinite(end)])
    with np.errstate(invalid="ignore"):
        crossed = (found[:-1, None] - wanted) * (found[1:, None] - wanted) <= 0
        crossed &= (found[:-1] != found[1:])[:, None] & np.isfinite(found[:-1] + found[1:])[:, None]
    place, end = np.nonzero(crossed)
    left, right, target, rises = low[place], high[place], wanted[end], (found[:-1] < found[1:])[place]
    for _ in range(60):
        centre = (left + right) / 2
        value = outputs.value(form, {name: centre})
        assert value is not None
        up = (value < target) == rises
        left, right = np.where(up, centre, left), np.where(up, right, centre)
    pad = PAD * (np.abs(left) + (1.0 if law == "uniform" else float(Fraction(parameter))))
    return {name: np.unique(np.r_[grid, left - pad, right + pad]).tolist()}
