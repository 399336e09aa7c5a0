"""Compares the mechanism, run on numbers with NumPy's generator, with the paths that were traced.

The mechanism runs with a generator that records its draws. The evaluator then interprets the mechanism once more, gives each symbol
the number drawn, and follows the decisions that these numbers make. It must end on a traced path, and with the mechanism's output.
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
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import Compared, Dataset, Drawn, Names, NoiseDraw, Trace
from dp_prover.language.trace import output_of, path_of_run, without_warnings
from dp_prover.models.generator import METHODS
from dp_prover.models.lazy import CURRENT, Cuts, Lazy
from dp_prover.models.run import TracedRun, label_of
from dp_prover.models.values import Array, RaisesError, Term
from dp_prover.numbers.form import INPUT, OPAQUE, Form, exact

Note = tuple[str, Any, Sequence[float]]  # a method, the number drawn, and the parameters of its distribution
OWN = object()  # in a script: NumPy's own draw
# Tolerances for computed numbers, relative to the sizes of their summands: for functions, for sums, and for comparisons, which must
# not be closer to equality than this.
OPAQUE_CLOSE, PRECISE, CLOSE = 1e-7, 1e-11, 1e-6
OF_NOISE = 2.0**-6  # the largest tolerance, in noise scales


class TooCloseError(Exception):
    """A comparison is too close to equality for floating point."""


class RecordingGenerator(np.random.Generator):
    """A NumPy generator that records each number it draws, in order, with the parameters requested.

    A script replaces its draws: see ``directed``.
    """

    def __init__(self, seed: int, script: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__(np.random.PCG64(seed))
        self.drawn: list[Note] = []
        self.script: Iterator[tuple[str, Any]] = iter(script)
        self._inside = False  # a method, which may call other methods

    def quietly(self, method: str, /, *arguments: Any, **keywords: Any) -> Any:
        """Draw by NumPy's own method, without recording."""
        inside, self._inside = self._inside, True
        try:
            return getattr(np.random.Generator, method)(self, *arguments, **keywords)
        finally:
            self._inside = inside

    def note(self, method: str, value: Any, parameters: Sequence[Any] = ()) -> Any:
        """Record a method's draw, unless another method requested it, and return the draw or the script's number for it."""
        if self._inside:
            return value
        values = value.ravel().tolist() if isinstance(value, np.ndarray) else [value]
        for at, own in enumerate(values):
            scripted, number = next(self.script, ("", OWN))
            if scripted != method:
                self.script = iter(())
            elif number is not OWN:
                values[at] = type(own)(number)
        each = np.broadcast_arrays(np.empty(np.shape(value)), *parameters)[1:]
        rows = zip(*(column.ravel().tolist() for column in each), strict=True) if each else itertools.repeat(())
        self.drawn += [(method, number, row) for number, row in zip(values, rows, strict=False)]
        return np.array(values, value.dtype).reshape(value.shape) if isinstance(value, np.ndarray) else values[0]

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Permute, and record the order."""
        if self._inside:
            return self.quietly("permutation", x, axis)
        order = self.note("permutation", self.quietly("permutation", len(x) if np.ndim(x) else int(x)))
        return np.asarray(x)[order] if np.ndim(x) else order

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle, and record the order."""
        if self._inside:
            self.quietly("shuffle", x, axis)
            return
        items = list(x)
        order = self.note("permutation", self.quietly("permutation", len(items)))
        x[:] = [items[at] for at in order]


# The parameters of distributions, with their defaults.
PARAMETERS: dict[str, Mapping[str, float]] = {
    **{name: {"loc": 0.0, "scale": 1.0} for name in ("laplace", "logistic", "gumbel", "normal")},
    "exponential": {"scale": 1.0},
    "geometric": {"p": math.nan},
    "uniform": {"low": 0.0, "high": 1.0},
    "binomial": {"n": math.nan, "p": math.nan},
}


def _parameters(method: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Sequence[Any]:
    """Return the parameters that a draw was requested with."""
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
    defaults = PARAMETERS.get(method, {})
    given = dict(defaults) | dict(zip(defaults, arguments, strict=False))
    values = {name: keywords.get(name, value) for name, value in given.items()}
    return (0.0, values["scale"]) if method == "exponential" else tuple(values.values())


def _noting(method: str) -> Callable[..., Any]:
    def draw(self: RecordingGenerator, *arguments: Any, **keywords: Any) -> Any:
        value = self.quietly(method, *arguments, **keywords)
        return self.note(method, value, _parameters(method, arguments, keywords))

    return draw


for _method in METHODS.keys() - {"permutation", "shuffle"}:
    setattr(RecordingGenerator, _method, _noting(_method))


def _are_close(expected: Sequence[float], given: Sequence[float]) -> bool:
    """Whether a distribution's parameters are as expected. Locations may be off by a small fraction of the scale."""
    if len(expected) != len(given):
        return False
    widths = [0.0] * len(expected) if len(expected) != 2 else [abs(expected[1]), 0.0]
    return all(
        abs(a - b) <= min(PRECISE * max(abs(a), abs(b), width), OF_NOISE * width if width else math.inf)
        for a, b, width in zip(expected, given, widths, strict=True)
    )


class GuidedRun(TracedRun):
    """A run on numbers, which determine every branch."""

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
        """Return a form's tolerance in floats."""
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
        if isinstance(value, Lazy):
            return value.function({name: self._of_source(name) for name in value.sources})
        return value

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
        branches = [at for at, relation in enumerate(node.relations) if holds[relation]]
        if len(branches) != 1:
            raise NotProvedError("on numbers, a comparison has a result that the evaluator holds impossible")
        return branches[0]

    def _ended(self, node: Drawn) -> int:
        drawn = self._numbers[node.name]
        for at, (label, _) in enumerate(node.outcomes):
            if " to " in label and node.name not in self.outcomes:
                low, high = map(Fraction, label.split(" to "))
                if low <= Fraction(drawn) < high:
                    return at
            elif label.partition(" ")[2] == label_of(drawn):
                return at
        raise NotProvedError("on numbers, a draw has a result that the evaluator holds impossible")

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        super().settle(sources, cuts)
        return {name: self._of_source(name) for name in sources}


def confirmed(
    mechanism: Mechanism,
    real: Any,
    dataset: Dataset,
    data: Mapping[str, float],
    trace: Trace,
    noting: RecordingGenerator,
) -> int | None:
    """Run the mechanism once on numbers, and return the index of its path; None if a comparison is too close to call.

    ``real`` is the mechanism's data set, ``data`` its numbers by symbol, ``dataset`` the evaluator's. Raises NotProvedError that
    names a difference between the evaluator and the mechanism.
    """
    keywords = copy.deepcopy(dict(mechanism.copied)) | {"rng": noting} | ({"size": 1} if mechanism.batched else {})
    with without_warnings():
        try:
            actual = mechanism.function(copy.deepcopy(real), **keywords)
        except Exception as error:
            actual = error
    run = GuidedRun(trace.names, data, noting.drawn)
    token = CURRENT.set(run)
    try:
        with without_warnings():
            output = output_of(mechanism, dataset, run)
            evaluated = output.error if isinstance(output, RaisesError) else shown_at(output, run)
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
    if not _alike(evaluated, actual):
        raise NotProvedError(
            f"on numbers, the function gives {_short(actual)}, and exact arithmetic {_short(evaluated)}"
        )
    return place


def _short(value: Any) -> str:
    text = repr(_bare(value))
    return text if len(text) < 60 else f"{text[:50]} …"


def _bare(value: Any) -> Any:
    """Return an output without types, to be shown."""
    if isinstance(value, _Number):
        return value.value
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], np.dtype):
        return [_bare(item) for item in value[2]]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@dataclass(frozen=True, slots=True)
class _Number:
    """A term's number and type, and what is known of its sign where it is 0."""

    value: float
    kind: Any
    plus_zero: bool | None
    error: float  # the number's tolerance


def shown_at(value: Any, run: GuidedRun) -> Any:
    """Return an output with its terms replaced by numbers of their types."""
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


def _alike(evaluated: Any, actual: Any) -> bool:
    """Whether the evaluator's output is the mechanism's, types and signs included."""
    if isinstance(evaluated, BaseException):
        return type(evaluated) is type(actual) and repr(evaluated.args) == repr(actual.args)
    if isinstance(actual, np.ndarray):
        if not (isinstance(evaluated, tuple) and len(evaluated) == 3 and isinstance(evaluated[0], np.dtype)):
            return False
        dtype, shape, items = evaluated
        each = zip(items, actual.ravel().tolist(), strict=True) if actual.shape == shape else ()
        return (
            dtype == actual.dtype
            and actual.shape == shape
            and all(_item_alike(item, real, dtype) for item, real in each)
        )
    if isinstance(evaluated, _Number):
        kind = evaluated.kind.type if isinstance(evaluated.kind, np.dtype) else evaluated.kind
        return kind is type(actual) and _same(evaluated, actual)
    if type(evaluated) is not type(actual):
        return False
    if isinstance(evaluated, list | tuple):
        return len(evaluated) == len(actual) and all(map(_alike, evaluated, actual))
    if isinstance(evaluated, dict):
        return list(evaluated) == list(actual) and all(_alike(evaluated[key], actual[key]) for key in evaluated)
    return _same(evaluated, actual)


def _item_alike(evaluated: Any, actual: Any, dtype: np.dtype[Any]) -> bool:
    if isinstance(evaluated, _Number):
        return evaluated.kind == dtype and _same(evaluated, actual)
    return type(evaluated) is type(actual) and _same(evaluated, actual)


def _same(evaluated: Any, actual: Any) -> bool:
    value = evaluated.value if isinstance(evaluated, _Number) else evaluated
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        return bool(value == actual)
    if isinstance(evaluated, int) and isinstance(actual, int):  # which may be too large for a float
        return evaluated == actual
    if value != value or actual != actual:  # noqa: PLR0124 - NaN
        return bool(value != value and actual != actual)  # noqa: PLR0124
    computed, drawn = exact(value), exact(actual)
    if computed is None or drawn is None:
        return bool(value == actual)
    if computed == 0 and drawn == 0 and isinstance(actual, float | np.floating):
        sure = not isinstance(evaluated, _Number) or evaluated.plus_zero
        return not sure or math.copysign(1.0, actual) == (
            1.0 if isinstance(evaluated, _Number) else math.copysign(1.0, value)
        )
    tolerance = evaluated.error if isinstance(evaluated, _Number) else PRECISE * abs(float(computed))
    return abs(float(computed) - float(drawn)) <= tolerance


def compared_numbers(
    constants: Sequence[float], low: Sequence[Any], high: Sequence[Any], integer: bool
) -> list[list[float]]:
    """Return data at the ends of their ranges, and data with one value at a constant of the code, or just below or above it."""
    middle = [(float(a) + float(b)) / 2 for a, b in zip(low, high, strict=True)]
    start = [float(math.floor(value)) if integer else value for value in middle]
    vectors = [[float(end) for end in low], [float(end) for end in high]]
    for at, (a, b) in enumerate(zip(low, high, strict=True)):
        for number in (float(a), float(b), *(c + step for c in constants for step in (-1.0, 0.0, 1.0))):
            whole = float(math.floor(number)) if integer else number
            if float(a) <= whole <= float(b):
                vectors.append([*start[:at], whole, *start[at + 1 :]])
    return vectors
