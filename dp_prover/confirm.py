"""The function itself, on numbers and with NumPy's own generator, against the paths that were followed.

The real function runs with a generator of NumPy that notes what it draws. Then the evaluator walks the function once more. It gives
each symbol the number that was drawn, and takes the decisions that these numbers make. It must come out on a path that was
followed, with an output that is what the function returned.
"""

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import Mechanism
from dp_prover.form import INPUT, OPAQUE, Form, exact
from dp_prover.generator import METHODS
from dp_prover.lazy import CURRENT, Cuts, Lazy, NotProvedError
from dp_prover.run import Compared, Drawn, Names, NoiseDraw, TracedRun, label_of
from dp_prover.trace import Dataset, Trace, output_of, path_of_run, without_warnings
from dp_prover.values import Array, RaisesError, Term

Note = tuple[str, Any, Sequence[float]]  # a method, what it drew, and the parameters of its law
OWN = object()  # stands in a script for what NumPy draws itself
# How far computed numbers may be from exact ones, relative to the sizes of what they are added up of: functions of numbers, sums of
# them, and comparisons, which must not be nearer to equality than this.
OPAQUE_CLOSE, PRECISE, CLOSE = 1e-7, 1e-11, 1e-6
OF_NOISE = 2.0**-6  # how far they may be in scales of the noise, however large the numbers are


class TooCloseError(Exception):
    """A comparison too near to equality for floating point."""


class Noting(np.random.Generator):
    """NumPy's generator, which notes each number that it draws, in order, with the parameters that it was asked for.

    If there is a script, it gives those numbers in place of its own: see ``directed``.
    """

    def __init__(self, seed: int, script: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[Note] = []
        self.script: Iterator[tuple[str, Any]] = iter(script)
        self._inside = False  # of a method, which may call others

    def quietly(self, method: str, /, *arguments: Any, **keywords: Any) -> Any:
        """Return the draw of NumPy's own method, without a note."""
        inside, self._inside = self._inside, True
        try:
            return getattr(np.random.Generator, method)(self, *arguments, **keywords)
        finally:
            self._inside = inside

    def note(self, method: str, value: Any, parameters: Sequence[Any] = ()) -> Any:
        """Note the draw of a method, unless another method asked for it. Return the draw, or the number of the script in its
        place.
        """
        if self._inside:
            return value
        values = value.ravel().tolist() if isinstance(value, np.ndarray) else [value]
        for at, one in enumerate(values):
            scripted, number = next(self.script, ("", OWN))
            if scripted != method:
                self.script = iter(())
            elif number is not OWN:
                values[at] = type(one)(number)
        each = np.broadcast_arrays(np.empty(np.shape(value)), *parameters)[1:]
        rows = zip(*(one.ravel().tolist() for one in each), strict=True) if each else itertools.repeat(())
        self.drawn += [(method, one, row) for one, row in zip(values, rows, strict=False)]
        return np.array(values, value.dtype).reshape(value.shape) if isinstance(value, np.ndarray) else values[0]

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Permute, and note the order."""
        if self._inside:
            return self.quietly("permutation", x, axis)
        order = self.note("permutation", self.quietly("permutation", len(x) if np.ndim(x) else int(x)))
        return np.asarray(x)[order] if np.ndim(x) else order

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle, and note the order."""
        if self._inside:
            self.quietly("shuffle", x, axis)
            return
        items = list(x)
        order = self.note("permutation", self.quietly("permutation", len(items)))
        x[:] = [items[at] for at in order]


# The parameters of a law, by the draws that have some, and what they are where they are not given.
PARAMETERS: dict[str, Mapping[str, float]] = {
    **{name: {"loc": 0.0, "scale": 1.0} for name in ("laplace", "logistic", "gumbel", "normal")},
    "exponential": {"scale": 1.0},
    "geometric": {"p": math.nan},
    "uniform": {"low": 0.0, "high": 1.0},
    "binomial": {"n": math.nan, "p": math.nan},
}


def _parameters(method: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Sequence[Any]:
    """Return the parameters of the law that a draw was asked for."""
    if method == "integers":
        given = dict(zip(("low", "high", "size", "dtype", "endpoint"), arguments, strict=False)) | dict(keywords)
        low, high = (0, given["low"]) if given.get("high") is None else (given["low"], given["high"])
        return low, np.asarray(high) + bool(given.get("endpoint"))
    if method == "choice":
        given = dict(zip(("a", "size", "replace", "p"), arguments, strict=False)) | dict(keywords)
        count = len(given["a"]) if np.ndim(given["a"]) else given["a"]
        chances = () if given.get("p") is None else given["p"]
        return float(bool(given.get("replace", True))), count, *chances
    if method in ("standard_normal", "standard_exponential"):
        return 0.0, 1.0
    known = PARAMETERS.get(method, {})
    given = dict(known) | dict(zip(known, arguments, strict=False))
    values = {name: keywords.get(name, value) for name, value in given.items()}
    return (0.0, values["scale"]) if method == "exponential" else tuple(values.values())


def _noting(method: str) -> Callable[..., Any]:
    def draw(self: Noting, *arguments: Any, **keywords: Any) -> Any:
        value = self.quietly(method, *arguments, **keywords)
        return self.note(method, value, _parameters(method, arguments, keywords))

    return draw


for _method in METHODS.keys() - {"permutation", "shuffle"}:
    setattr(Noting, _method, _noting(_method))


def _are_close(expected: Sequence[float], given: Sequence[float]) -> bool:
    """Whether the parameters of a law are the expected ones. The place of noise may be off by a little of its scale."""
    if len(expected) != len(given):
        return False
    widths = [0.0] * len(expected) if len(expected) != 2 else [abs(expected[1]), 0.0]
    return all(
        abs(one - other) <= min(PRECISE * max(abs(one), abs(other), width), OF_NOISE * width if width else math.inf)
        for one, other, width in zip(expected, given, widths, strict=True)
    )


class GuidedRun(TracedRun):
    """A run on numbers, which decide every branch."""

    def __init__(self, names: Names, data: Mapping[str, float], drawn: Iterable[Note]) -> None:
        super().__init__(names, ())
        self._numbers: dict[str, Any] = dict(data)
        self._drawn = iter(drawn)

    def drew(self, draw: NoiseDraw) -> None:
        real, value, given = next(self._drawn, ("nothing", None, ()))
        if real != draw.method:
            raise NotProvedError(f"on numbers, the function draws {real}, but the evaluator draws {draw.method}")
        expected = draw.parameters()
        if not _are_close(expected, given):
            raise NotProvedError(
                f"on numbers, the function draws {draw.method}{tuple(given)}, and not {tuple(expected)}"
            )
        if draw.name is not None:
            self._numbers[draw.name] = draw.decode(value)

    def computed(self, name: str, value: Callable[[], float]) -> None:
        self._numbers[name] = value()

    def value(self, form: Form) -> float:
        return float(form.constant) + math.fsum(float(value) * self._symbol(name) for name, value in form.terms.items())

    def error(self, form: Form) -> float:
        """Return how far a form may be from its value in floats."""
        sizes = [abs(float(form.constant)), *(abs(float(by) * self._symbol(name)) for name, by in form.terms.items())]
        precise = all(name[0] != OPAQUE for name in form.terms)
        finest = self.names.finest(form)
        most = math.inf if finest is None else OF_NOISE * float(finest)
        return min((PRECISE if precise else OPAQUE_CLOSE) * sum(sizes), most)

    def _symbol(self, name: str) -> float:
        if name not in self._numbers and name[0] == OPAQUE:
            operation, arguments = self.names.terms[name]
            with np.errstate(all="ignore"):
                given = [self.value(argument) for argument in arguments]
                self._numbers[name] = float(self.names.functions[operation](*given))
        return float(self._numbers[name])

    def number(self, value: Any) -> Any:
        if isinstance(value, Term):
            return self.value(value.form)
        return value.function(self._outcomes(value)) if isinstance(value, Lazy) else value

    def _outcomes(self, value: Lazy) -> dict[str, Any]:
        return {name: self._of_source(name) for name in value.sources}

    def _of_source(self, name: str) -> Any:
        drawn = self._numbers[name]
        return Fraction(drawn) if self.names.laws[name] == ("uniform",) else drawn

    def fork(self, node: Compared | Drawn) -> int:
        choice = self._compared(node) if isinstance(node, Compared) else self._ended(node)
        self.taken.append(choice)
        self.nodes.append(node)
        return choice

    def _compared(self, node: Compared) -> int:
        value = self.value(node.form)
        size = sum(abs(float(factor) * self._symbol(name)) for name, factor in node.form.terms.items())
        of_data = all(name[0] == INPUT for name in node.form.terms)
        if not of_data and abs(value) < CLOSE * (size + abs(float(node.form.constant))):
            raise TooCloseError
        holds = {">": value > 0, ">=": value >= 0, "=": value == 0, "<": value < 0, "<=": value <= 0}
        found = [at for at, relation in enumerate(node.relations) if holds[relation]]
        if len(found) != 1:
            raise NotProvedError("on numbers, a comparison has a result that the evaluator takes to be impossible")
        return found[0]

    def _ended(self, node: Drawn) -> int:
        drawn = self._numbers[node.name]
        for at, (label, _) in enumerate(node.outcomes):
            if " to " in label and node.name not in self.outcomes:
                low, high = map(Fraction, label.split(" to "))
                if low <= Fraction(drawn) < high:
                    return at
            elif label.partition(" ")[2] == label_of(drawn):
                return at
        raise NotProvedError("on numbers, a draw has a result that the evaluator takes to be impossible")

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        super().settle(sources, cuts)
        return {name: self._of_source(name) for name in sources}


def confirmed(
    mechanism: Mechanism,
    real: Any,
    dataset: Dataset,
    data: Mapping[str, float],
    trace: Trace,
    noting: Noting,
) -> int | None:
    """Run the function once on numbers, and return the index of its path; None if a comparison is too close to call.

    ``real`` is the data set of the function, and ``data`` are its numbers. ``dataset`` is the data set of symbols. Raises
    NotProvedError that names the difference between the evaluator and the function.
    """
    keywords = copy.deepcopy(dict(mechanism.copied)) | {"rng": noting} | ({"size": 1} if mechanism.batched else {})
    with without_warnings():
        try:
            shown = mechanism.function(copy.deepcopy(real), **keywords)
        except Exception as error:
            shown = error
    run = GuidedRun(trace.names, data, noting.drawn)
    token = CURRENT.set(run)
    try:
        with without_warnings():
            output = output_of(mechanism, dataset, run)
            said = output.error if isinstance(output, RaisesError) else shown_at(output, run)
            path_of_run(run, output)
    except TooCloseError:
        return None
    finally:
        CURRENT.reset(token)
    if next(run._drawn, None) is not None:
        raise NotProvedError("on numbers, the function draws more than the evaluator does")
    place = trace.place(tuple(run.taken))
    if place is None:
        raise NotProvedError("on numbers, a run follows none of the paths that the evaluator found")
    if not _alike(said, shown):
        raise NotProvedError(f"on numbers, the function gives {_short(shown)}, and exact arithmetic {_short(said)}")
    return place


def _short(value: Any) -> str:
    text = repr(_bare(value))
    return text if len(text) < 60 else f"{text[:50]} …"


def _bare(value: Any) -> Any:
    """Return what an output shows, without types."""
    if isinstance(value, _Number):
        return value.value
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], np.dtype):
        return [_bare(item) for item in value[2]]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@dataclass(frozen=True, slots=True)
class _Number:
    """A term's number, and what is known of its type and of its sign where it is 0."""

    value: float
    kind: Any
    plus_zero: bool | None
    error: float  # of a computed number


def shown_at(value: Any, run: GuidedRun) -> Any:
    """Return an output with the numbers and types of its terms."""
    if isinstance(value, Term):
        return _Number(run.number(value), value.kind, value.plus_zero, run.error(value.form))
    if isinstance(value, Lazy | RaisesError):
        return run.number(value) if isinstance(value, Lazy) else value.error
    if isinstance(value, Array):
        return value.dtype, value.shape, [shown_at(item, run) for item in value.flat()]
    if isinstance(value, list | tuple):
        return type(value)(shown_at(item, run) for item in value)
    if type(value) is dict:
        return {key: shown_at(item, run) for key, item in value.items()}
    return value


def _alike(said: Any, shown: Any) -> bool:  # noqa: PLR0911 - a case each
    """Whether what the evaluator says is what the function gives, with its types and signs."""
    if isinstance(said, BaseException):
        return type(said) is type(shown) and repr(said.args) == repr(shown.args)
    if isinstance(shown, np.ndarray):
        if not (isinstance(said, tuple) and len(said) == 3 and isinstance(said[0], np.dtype)):
            return False
        dtype, shape, items = said
        each = zip(items, shown.ravel().tolist(), strict=True) if shown.shape == shape else ()
        return (
            dtype == shown.dtype and shown.shape == shape and all(_item_alike(one, real, dtype) for one, real in each)
        )
    if isinstance(said, _Number):
        kind = said.kind.type if isinstance(said.kind, np.dtype) else said.kind
        return kind is type(shown) and _same(said, shown)
    if type(said) is not type(shown):
        return False
    if isinstance(said, list | tuple):
        return len(said) == len(shown) and all(map(_alike, said, shown))
    if isinstance(said, dict):
        return list(said) == list(shown) and all(_alike(said[key], shown[key]) for key in said)
    return _same(said, shown)


def _item_alike(said: Any, real: Any, dtype: np.dtype[Any]) -> bool:
    if isinstance(said, _Number):
        return said.kind == dtype and _same(said, real)
    return type(said) is type(real) and _same(said, real)


def _same(said: Any, real: Any) -> bool:
    value = said.value if isinstance(said, _Number) else said
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        return bool(value == real)
    if isinstance(said, int) and isinstance(real, int):  # which may be too large for a float
        return said == real
    if value != value or real != real:  # noqa: PLR0124 - NaN
        return bool(value != value and real != real)  # noqa: PLR0124
    one, other = exact(value), exact(real)
    if one is None or other is None:
        return bool(value == real)
    if one == 0 and other == 0 and isinstance(real, float | np.floating):
        sure = not isinstance(said, _Number) or said.plus_zero
        return not sure or math.copysign(1.0, real) == (1.0 if isinstance(said, _Number) else math.copysign(1.0, value))
    return abs(float(one) - float(other)) <= (said.error if isinstance(said, _Number) else PRECISE * abs(float(one)))


def compared_numbers(
    constants: Sequence[float], low: Sequence[Any], high: Sequence[Any], integer: bool
) -> list[list[float]]:
    """Return data at the ends of ranges, and data with one number at a constant of the code, one below it, or one above it."""
    middle = [(float(a) + float(b)) / 2 for a, b in zip(low, high, strict=True)]
    start = [float(math.floor(one)) if integer else one for one in middle]
    found = [[float(one) for one in low], [float(one) for one in high]]
    for at, (a, b) in enumerate(zip(low, high, strict=True)):
        for number in (float(a), float(b), *(c + step for c in constants for step in (-1.0, 0.0, 1.0))):
            whole = float(math.floor(number)) if integer else number
            if float(a) <= whole <= float(b):
                found.append([*start[:at], whole, *start[at + 1 :]])
    return found
