"""One traced run of a mechanism: its draws, its decisions, and what it returned."""

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
from dp_prover.numbers.form import Form, Key, Law, exact

COARSE = Fraction(1, 2**50)  # steps of a number from which noise of a law is computed
FINER = 2**10  # by which an interval of a uniform number is wider than the steps of its floats


class TracedRun:
    """Follows one run along ``prefix``, the decisions to take, and takes the first branch of every later one.

    ``line`` is the file and the line that is evaluated. ``rounding`` bounds how far floats of the data without noise are from their
    exact values, in all, in units of the data: a number that is multiplied later counts as rounded by as much more.
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
        self._arrays_of_rows = 0
        self._steps: dict[str, Fraction] = {}  # of the floats with noise that a symbol is computed with
        self.consumed: dict[str, Key] = {}  # draws that noise is computed from, and how; see ``laws``

    def at(self, file: str, line: int) -> None:
        """Note the line that is evaluated."""
        self.line = (file, line)

    @property
    def place(self) -> str:
        """The line that is evaluated."""
        file, line = self.line
        return f"{'/'.join(pathlib.PurePath(file).parts[-2:])}, line {line}"

    def draw(self, law: Law) -> str:
        """Return the name of a fresh random number of a law."""
        self._draws += 1
        return self.names.noise(self._draws - 1, law)

    def drew(self, draw: NoiseDraw) -> None:
        """Note that a method of the generator drew a number. A run on numbers gets the number; see ``confirm``."""

    def computed(self, name: str, value: Callable[[], float]) -> None:
        """Note noise that is computed from draws. A run on numbers gets its number."""

    def value(self, form: Form) -> float:
        """Return a form's value in a run on numbers."""
        raise AssertionError("this run is on symbols")

    def number(self, value: Any) -> Any:
        """Return a scalar's value in a run on numbers."""
        raise AssertionError("this run is on symbols")

    def coarsen(self, name: str, step: Fraction) -> None:
        """Note that a symbol is computed with floats of some step, in its own units."""
        self._steps[name] = max(step, self._steps.get(name, step))

    def is_coarse(self, name: str) -> bool:
        """Whether a symbol is computed with floats that are coarser than those of numbers from 0 to 1, or hardly finer."""
        return self._steps.get(name, Fraction(0)) > COARSE

    def next_array_of_rows(self) -> int:
        """Return how many arrays were made of lists of a batch's rows, and count another."""
        self._arrays_of_rows += 1
        return self._arrays_of_rows - 1

    def check_time(self) -> None:
        """Raise NotProvedError after the deadline."""
        check_time()

    # Decisions -------------------------------------------------------------------------------------------------------

    def fork(self, node: Compared | Drawn) -> int:
        """Return the branch of a decision that this run takes."""
        self.check_time()
        at = len(self.taken)
        choice = self._prefix[at] if at < len(self._prefix) else 0
        self.taken.append(choice)
        self.nodes.append(node)
        return choice

    def uniform_of(self, form: Form) -> tuple[str, Fraction, Fraction] | None:
        """Return (name, slope, constant) of a form of one uniform number alone; None for any other."""
        if len(form.terms) != 1:
            return None
        [(name, slope)] = form.terms.items()
        return (name, slope, form.constant) if self.names.laws.get(name) == ("uniform",) else None

    def is_above(self, form: Form, strict: bool) -> bool | Lazy:
        """Decide whether a form is above 0, or at least 0 unless ``strict``. The decision may wait until the answer is used."""
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
        """Raise NotProvedError if noise was computed from a draw in the form, since that noise depends on the draw."""
        if self.consumed and not self.consumed.keys().isdisjoint(self.names.symbols(form)):
            raise NotProvedError("a draw from which noise is computed is also used for something else; draw twice")

    def _require_finite(self, form: Form) -> None:
        self.require_unused(form)
        if self.names.is_wild(form):
            raise NotProvedError(
                "a number that may be NaN or infinite is compared; compare the numbers from which it is computed"
            )

    def _known(self, form: Form) -> tuple[Key, frozenset[int], int]:
        """Return the form's key in units of its first symbol, the signs it may have in these units, and its own sign in them."""
        slope = form.terms[min(form.terms)]
        unit = form.times(1 / slope)
        key = unit.key()
        return key, self._signs.get(key) or self._possible(unit), -1 if slope < 0 else 1

    def _decide(self, form: Form, relations: tuple[str, ...]) -> int:
        """Return which of the relations of a form to 0 holds, forking where several are possible."""
        key, signs, flip = self._known(form)
        each = [signs & {flip * sign for sign in SIGNS[relation]} for relation in relations]
        possible = [place for place, some in enumerate(each) if some]
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
        """Return the signs that a form can have with a chance above 0, by what is known of its symbols alone."""
        low = high = form.constant
        for name, value in form.terms.items():
            if name not in self.names.bounds:
                return frozenset({-1, 1} if self.names.is_dense(form) else {-1, 0, 1})
            ends = [value * end for end in self.names.bounds[name]]
            low, high = low + min(ends), high + max(ends)
        return frozenset(sign for sign, can in ((-1, low < 0), (0, low <= 0 <= high), (1, high > 0)) if can)

    # Finite sources --------------------------------------------------------------------------------------------------

    def states(self, name: str, cuts: Iterable[Fraction]) -> list[State]:
        """Return the outcomes of a source that are left. Those of a uniform one are the middles of the intervals between cuts."""
        if name in self.outcomes:
            return self.outcomes[name]
        low, high = self._intervals.get(name, (Fraction(0), Fraction(1)))
        ends = [low, *sorted(cut for cut in set(cuts) if low < cut < high), high]
        step = self._steps.get(name, Fraction(0)) * FINER
        if len(ends) > 2 and any(b - a < step for a, b in itertools.pairwise(ends)):
            raise NotProvedError(
                "a uniform number decides with a chance that is too small for its floats; draw from 0 to 1, and use larger chances"
            )
        return [((a + b) / 2, (b - a) / (high - low)) for a, b in itertools.pairwise(ends)]

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        """Fork over the outcomes of sources, and return the outcomes of this run."""
        settled = {}
        for name in sorted(sources):
            possible = self.states(name, cuts.get(name, frozenset()))
            labels = self._labels(name, possible)
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

    def _labels(self, name: str, possible: Sequence[State]) -> list[str]:
        if name in self.outcomes:
            return [f"{at} {label_of(value)}" for at, (value, _) in enumerate(possible)]
        return [f"{low} to {high}" for low, high in self._pieces(name, possible)]

    def _pieces(self, name: str, possible: Sequence[State]) -> list[UnitInterval]:
        """Return the intervals of a uniform number that its states stand for."""
        low, high = self._intervals.get(name, (Fraction(0), Fraction(1)))
        ends = [low + (high - low) * mass for mass in itertools.accumulate((mass for _, mass in possible))]
        return list(itertools.pairwise([low, *ends]))


def label_of(value: Any) -> str:
    """Return an outcome as text, the same for equal numbers of Python and NumPy."""
    number = exact(value)
    if number is None or (number == 0 and math.copysign(1.0, value) < 0):
        return f"{type(value).__name__} {value!r}"
    return str(number)
