"""One traced run of a mechanism: its draws and decisions."""

import itertools
import math
import pathlib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from dp_prover.clock import check_time
from dp_prover.errors import NotProvedError
from dp_prover.interfaces import (
    SIGNS,
    Compared,
    Condition,
    Drawn,
    Names,
    NoiseDraw,
    UnitInterval,
)
from dp_prover.models.lazy import Cuts, Lazy, State, compared_lazily
from dp_prover.numbers.form import OPAQUE, Form, Key, Law, exact

COARSE = Fraction(1, 2**50)  # the coarsest float steps of a draw from which noise is computed
FINER = 2**10  # how many float steps an interval of a uniform draw must span


class TracedRun:
    """Follows one run: the decisions in ``prefix``, then the first branch of every later decision.

    ``line`` is the current file and line. ``rounding`` bounds the accumulated rounding error of noiseless numbers, in units of
    the data: a later factor scales the error along with the number.
    """

    def __init__(self, names: Names, prefix: tuple[int, ...]) -> None:
        self.names = names
        self.line = ("", 0)
        self._prefix = prefix
        self._draws = 0
        self._signs: dict[Key, frozenset[int]] = {}
        self.taken: list[int] = []
        self.nodes: list[Compared | Drawn] = []
        self.conditions: list[Condition] = []
        self.labels: dict[str, tuple[str, Fraction]] = {}
        self.outcomes: dict[str, list[State]] = {}
        self._intervals: dict[str, UnitInterval] = {}
        self.rounding = Fraction(0)
        self.rounded: set[str] = set()  # symbols of numbers that floats may have rounded
        self._arrays_of_rows = 0
        self._steps: dict[str, Fraction] = {}  # float steps of noisy numbers, by symbol
        self.consumed: dict[str, Key] = {}  # draws consumed by computed noise, and how; see ``laws``

    def at(self, file: str, line: int) -> None:
        """Record the current line."""
        self.line = (file, line)

    @property
    def place(self) -> str:
        """The current line, as text."""
        file, line = self.line
        return f"{'/'.join(pathlib.PurePath(file).parts[-2:])}, line {line}"

    def draw(self, law: Law) -> str:
        """Return the symbol of a fresh draw."""
        self._draws += 1
        return self.names.noise(self._draws - 1, law)

    def drew(self, draw: NoiseDraw) -> None:
        """Record a generator method's draw. A run on numbers reads its number; see ``confirm``."""

    def computed(self, name: str, value: Callable[[], float]) -> None:
        """Record noise computed from draws. A run on numbers reads its number."""

    def value(self, form: Form) -> float:
        """Return a form's value; for runs on numbers."""
        raise AssertionError("this run is on symbols")

    def number(self, value: Any) -> Any:
        """Return a scalar's value; for runs on numbers."""
        raise AssertionError("this run is on symbols")

    def coarsen(self, name: str, step: Fraction) -> None:
        """Record the step of floats that a symbol enters, in the symbol's own units."""
        self._steps[name] = max(step, self._steps.get(name, step))

    def is_rounded(self, form: Form) -> bool:
        """Whether floats may have rounded a form that equals some number with positive probability.

        If so, the exact form does not tell whether its float is above, equal to or below that number. Floats of one form that
        are computed in two ways may differ.
        """
        return not self.names.is_smooth(form) and not self.rounded.isdisjoint(form.terms)

    def reach(self, form: Form) -> UnitInterval | None:
        """Return the range of a form's floats: for data that may be rounded, the form's range and a rounding error.

        None if unbounded, and for functions of rounded numbers, since these may be off by much more.
        """
        reach = self.names.reach(form)
        if reach is None or not self.is_rounded(form):
            return reach
        if any(name[0] == OPAQUE for name in form.terms):
            return None
        error = 2 * self.rounding * max(map(abs, form.terms.values()))
        return reach[0] - error, reach[1] + error

    def is_coarse(self, name: str) -> bool:
        """Whether a symbol entered floats that are about as coarse as those on [0, 1], or coarser."""
        return self._steps.get(name, Fraction(0)) > COARSE

    def next_array_of_rows(self) -> int:
        """Return the index of a new array made of a list of batch rows."""
        self._arrays_of_rows += 1
        return self._arrays_of_rows - 1

    def check_time(self) -> None:
        """Raise NotProvedError after the deadline."""
        check_time()

    # Decisions -------------------------------------------------------------------------------------------------------

    def fork(self, node: Compared | Drawn) -> int:
        """Record a decision, and return the branch that this run takes."""
        self.check_time()
        at = len(self.taken)
        choice = self._prefix[at] if at < len(self._prefix) else 0
        self.taken.append(choice)
        self.nodes.append(node)
        return choice

    def uniform_of(self, form: Form) -> tuple[str, Fraction, Fraction] | None:
        """Return (name, slope, constant) of a form of a single uniform draw; None for other forms."""
        if len(form.terms) != 1:
            return None
        [(name, slope)] = form.terms.items()
        return (name, slope, form.constant) if self.names.laws.get(name) == ("uniform",) else None

    def is_above(self, form: Form, strict: bool) -> bool | Lazy:
        """Decide whether a form is above 0 (at least 0 unless ``strict``). The answer is lazy for a uniform draw."""
        self._require_finite(form)
        if not form.terms:
            return form.constant > 0 or (form.constant == 0 and not strict)
        uniform = self.uniform_of(form)
        if uniform is not None:
            name, slope, constant = uniform
            above, below = (Fraction.__gt__, Fraction.__lt__) if strict else (Fraction.__ge__, Fraction.__le__)
            return compared_lazily(name, above if slope > 0 else below, -constant / slope)
        return self._decide(form, (">", "<=") if strict else (">=", "<")) == 0

    def is_zero(self, form: Form) -> bool:
        """Decide whether a form is 0."""
        self._require_finite(form)
        if not form.terms:
            return form.constant == 0
        return 0 in self._known(form)[1] and self._decide(form, ("=", ">", "<")) == 0

    def require_unused(self, form: Form) -> None:
        """Raise NotProvedError if computed noise consumed a draw in the form, since the two depend on each other."""
        if self.consumed and not self.consumed.keys().isdisjoint(self.names.symbols(form)):
            raise NotProvedError("a draw that computed noise consumes is also used for something else; draw twice")

    def _require_finite(self, form: Form) -> None:
        self.require_unused(form)
        if self.names.may_be_nonfinite(form):
            raise NotProvedError(
                "a number that may be NaN or infinite is compared; compare the numbers it is computed from"
            )

    def _known(self, form: Form) -> tuple[Key, frozenset[int], int]:
        """Return a form's key in units of its first symbol, its possible signs in these units, and the unit's sign."""
        slope = form.terms[min(form.terms)]
        unit = form.times(1 / slope)
        key = unit.key()
        return key, self._signs.get(key) or self._possible(unit), -1 if slope < 0 else 1

    def _decide(self, form: Form, relations: tuple[str, ...]) -> int:
        """Return which relation of a form to 0 holds, forking if several are possible."""
        key, signs, flip = self._known(form)
        each = [signs & {flip * sign for sign in SIGNS[relation]} for relation in relations]
        possible = [place for place, overlap in enumerate(each) if overlap]
        if len(possible) == 1:
            choice = possible[0]
        else:
            node = Compared(form, tuple(relations[place] for place in possible), self.place)
            choice = possible[self.fork(node)]
            relation = relations[choice]
            turned = form if relation in (">", ">=", "=") else form.negated()
            self.conditions.append(Condition(turned, relation.replace("<", ">"), self.place))
        self._signs[key] = frozenset(each[choice])
        return choice

    def _possible(self, form: Form) -> frozenset[int]:
        """Return the signs that a form has with positive probability, judging by the ranges and laws of its symbols."""
        low = high = form.constant
        for name, value in form.terms.items():
            if name not in self.names.bounds:
                return frozenset({-1, 1} if self.names.is_dense(form) else {-1, 0, 1})
            ends = [value * end for end in self.names.bounds[name]]
            low, high = low + min(ends), high + max(ends)
        return frozenset(sign for sign, can in ((-1, low < 0), (0, low <= 0 <= high), (1, high > 0)) if can)

    # Discrete sources ------------------------------------------------------------------------------------------------

    def states(self, name: str, cuts: Iterable[Fraction]) -> list[State]:
        """Return a source's remaining outcomes; those of a uniform source are the midpoints between cuts."""
        if name in self.outcomes:
            return self.outcomes[name]
        low, high = self._intervals.get(name, (Fraction(0), Fraction(1)))
        ends = [low, *sorted(cut for cut in set(cuts) if low < cut < high), high]
        step = self._steps.get(name, Fraction(0)) * FINER
        if len(ends) > 2 and any(b - a < step for a, b in itertools.pairwise(ends)):
            raise NotProvedError(
                "a uniform draw decides with a probability too small for its floats; draw from [0, 1), and use larger probabilities"
            )
        return [((a + b) / 2, (b - a) / (high - low)) for a, b in itertools.pairwise(ends)]

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        """Fork over the outcomes of sources, and return the outcomes of this run."""
        settled = {}
        for name in sorted(sources):
            possible = self.states(name, cuts.get(name, frozenset()))
            if name in self.outcomes:
                labels = [f"{at} {label_of(value)}" for at, (value, _) in enumerate(possible)]
            else:
                labels = [f"{low} to {high}" for low, high in self._pieces(name, possible)]
            nodes = tuple((label, share) for label, (_, share) in zip(labels, possible, strict=True))
            place = self.fork(Drawn(name, nodes)) if len(possible) > 1 else 0
            settled[name], mass = possible[place]
            if len(possible) == 1 and mass == 1:
                continue
            self.labels[name] = (labels[place], self.labels.get(name, ("", Fraction(1)))[1] * mass)
            if name in self.outcomes:
                self.outcomes[name] = [(settled[name], Fraction(1))]
            else:
                self._intervals[name] = self._pieces(name, possible)[place]
        return settled

    def _pieces(self, name: str, possible: Sequence[State]) -> list[UnitInterval]:
        """Return the intervals of a uniform source that its states stand for."""
        low, high = self._intervals.get(name, (Fraction(0), Fraction(1)))
        ends = [low + (high - low) * mass for mass in itertools.accumulate((mass for _, mass in possible))]
        return list(itertools.pairwise([low, *ends]))


def label_of(value: Any) -> str:
    """Return an outcome as text, equal for equal Python and NumPy numbers."""
    number = exact(value)
    if number is None or (number == 0 and math.copysign(1.0, value) < 0):
        return f"{type(value).__name__} {value!r}"
    return str(number)
