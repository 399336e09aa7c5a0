"""One traced run of a mechanism: its draws, its decisions, and what it returned."""

import itertools
import math
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dp_prover.clock import check_time
from dp_prover.form import INPUT, NOISE, OPAQUE, Form, Key, Law, exact
from dp_prover.lazy import Cuts, Lazy, NotProvedError, State, compared_lazily

Spelled = tuple[str, tuple[Form, ...]]
UnitInterval = tuple[Fraction, Fraction]
CONTINUOUS = {"laplace", "logistic", "gumbel", "normal", "exponential", "uniform"}
SIGNS: dict[str, frozenset[int]] = {
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
    "=": frozenset({0}),
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
}
# Draws stay in these many scales with all but a probability of 2⁻¹⁰⁰. Integers that no such draw makes overflow count as unbounded.
LIKELY = {
    "laplace": Fraction(70),
    "logistic": Fraction(71),
    "gumbel": Fraction(71),
    "exponential": Fraction(70),
    "normal": Fraction(12),
}
# The scale of a uniform number, in units of its range, for which floats must be fine enough: small chances are looked at.
FINEST_UNIFORM = Fraction(1, 2**30)
COARSE = Fraction(1, 2**50)  # steps of a number from which noise of a law is computed
# Functions that take no value with a chance above 0, if their argument takes none.
STRICT = frozenset({"abs", "np.exp", "np.log", "np.sqrt", "np.sinh", "math.exp", "math.log", "math.sqrt"})
MOST_EXACT = 2**53  # up to this number, floats hold all integers
# Functions whose values are integers. (``round`` is one without a number of digits.)
WHOLE = frozenset({"floor", "ceil", "rint", "trunc", "round", "floor_divide"})
FINER = 2**10  # by which an interval of a uniform number is wider than the steps of its floats


@dataclass(frozen=True, slots=True)
class NoiseDraw:
    """A number that a method of the generator draws, with the parameters of its law in a run on numbers.

    ``decode`` turns NumPy's number into the symbol's value. ``encode`` turns an outcome into NumPy's number. Without randomness,
    there is no symbol and no ``name``.
    """

    method: str
    name: str | None
    decode: Callable[[Any], Any]
    parameters: Callable[[], Sequence[float]] = tuple
    encode: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a path: ``form`` ``relation`` 0, with the relation >, >= or =. ``place`` is its line."""

    form: Form
    relation: str
    place: str

    def key(self) -> Key:
        """Return a key that equal conditions share."""
        return (self.relation, self.form.key())


@dataclass(frozen=True, slots=True)
class Compared:
    """A decision: a form against 0. ``relations`` are those that are possible, one for each branch."""

    form: Form
    relations: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A decision: how a finite draw ended. ``outcomes`` are labels, each with its share of the remaining outcomes."""

    name: str
    outcomes: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A run with its decisions. It happens where its conditions hold and its settled sources are as in ``labels``.

    ``structure`` is the output without its numbers, and ``leaves`` are its numbers: constants as text, forms, or numbers of groups.
    ``labels`` give each settled source its outcome and that outcome's mass. ``nodes`` are the decisions, ``taken`` the branch of
    each. ``groups`` hold the laws of finite leaves, which only a path without any decision has. ``output`` is what was returned.
    """

    conditions: tuple[Condition, ...]
    labels: Mapping[str, tuple[str, Fraction]]
    structure: Any
    leaves: tuple[Any, ...]
    taken: tuple[int, ...]
    nodes: tuple[Compared | Drawn, ...] = ()
    groups: tuple["Masses", ...] | None = None
    output: Any = field(default=None, repr=False, compare=False)

    def law(self) -> Key | None:
        """Return the law of lazy leaves."""
        return None if not self.groups else tuple((g.places, tuple(sorted(g.masses.items()))) for g in self.groups)

    def mass(self) -> Fraction:
        """Return the probability of the outcomes of finite draws that the path has."""
        return math.prod((share for _, share in self.labels.values()), start=Fraction(1))


@dataclass(frozen=True, slots=True)
class Masses:
    """The joint law of the leaves at some places of an output, independent of all other leaves. Place −1 is its structure."""

    places: tuple[int, ...]
    masses: Mapping[tuple[str, ...], Fraction]


@dataclass(slots=True)
class Names:
    """The symbols of a mechanism's runs. A draw of one number and one law is one symbol on every path.

    ``bounds`` are the ranges of the numbers of the data, and ``moved`` is by how much one person changes one of them at most, if
    that is known. ``whole`` says that they are integers.
    """

    bounds: Mapping[str, UnitInterval] = field(default_factory=dict)
    moved: Fraction | None = None
    whole: bool = False
    laws: dict[str, Law] = field(default_factory=dict)
    terms: dict[str, tuple[str, tuple[Form, ...]]] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)  # what the operations of terms compute
    ranges: dict[str, UnitInterval | None] = field(default_factory=dict)  # of terms
    wild: set[str] = field(default_factory=set)  # terms that may be NaN or infinite
    compared: set[float] = field(default_factory=set)  # constants that data and noise are compared with
    read: dict[str, str] = field(default_factory=dict)  # functions that were evaluated, with a digest of their source
    raised: dict[str, type] = field(
        default_factory=dict
    )  # exceptions of the mechanism's own, by the names that outputs have
    # The type and the shape of each array that is made of a list of a batch's rows, by how many were made before.
    arrays_of_rows: dict[int, tuple[Any, tuple[int, ...]]] = field(default_factory=dict)
    _known: dict[Key, str] = field(default_factory=dict)
    _spelled: dict[Key, Spelled] = field(default_factory=dict)

    def noise(self, index: int, law: Law) -> str:
        """Return the name of a draw."""
        name = self._known.get((index, law))
        if name is None:
            same = sum(1 for other in self.laws if other.partition(".")[0] == f"{NOISE}{index}")
            name = self._known[index, law] = f"{NOISE}{index}" + (f".{same}" if same else "")
            self.laws[name] = law
        return name

    def term(
        self,
        operation: str,
        function: Callable[..., Any],
        arguments: tuple[Form, ...],
        reach: UnitInterval | None,
        finite: bool,
    ) -> str:
        """Return the name of an opaque term: a function of forms.

        ``reach`` is the range of its values, None if it has none, and ``finite`` says that no value is NaN or infinite.
        """
        key = (operation, tuple(argument.key() for argument in arguments))
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"{OPAQUE}{len(self.terms)}"
            self.terms[name] = (operation, arguments)
            self.functions[operation] = function
            self.ranges[name] = reach
            if not finite or any(map(self.is_wild, arguments)):
                self.wild.add(name)
        return name

    def symbols(self, form: Form) -> Iterator[str]:
        """Yield the symbols of a form and of its opaque terms."""
        for name in form.terms:
            yield name
            if name[0] == OPAQUE:
                for argument in self.terms[name][1]:
                    yield from self.symbols(argument)

    def is_wild(self, form: Form) -> bool:
        """Whether a form may be NaN or infinite."""
        return not self.wild.isdisjoint(form.terms)

    def is_noisy(self, form: Form) -> bool:
        """Whether some noise is in a form, or in a term of it."""
        return any(
            name[0] == NOISE or (name[0] == OPAQUE and any(map(self.is_noisy, self.terms[name][1])))
            for name in form.terms
        )

    def is_dense(self, form: Form) -> bool:
        """Whether a form has a density given all other symbols. Then it equals any number with probability 0."""
        dense = any(self.laws.get(name, ("",))[0] in CONTINUOUS for name in form.terms)
        return dense and not any(name[0] == OPAQUE for name in form.terms)

    def is_smooth(self, form: Form) -> bool:
        """Whether no number but 0 has a chance above 0, and floats are 0 where a form is 0.

        So it is for a form with a density, for one strictly monotone function (or absolute value) of such a form, and for a sum
        of what exceeds 0 of some, since none of these cancel.
        """
        if self.is_dense(form):
            return True
        if not form.terms or any(name[0] != OPAQUE for name in form.terms):
            return False
        known = [(factor, *self.terms[name]) for name, factor in form.terms.items()]
        if len(known) == 1 and known[0][1].partition("[")[0] in STRICT:
            return all(map(self.is_dense, known[0][2]))
        ways = set()
        for factor, operation, arguments in known:
            kind = operation.partition("[")[0]
            zeros = [one for one in arguments if not one.terms and not one.constant]
            others = [one for one in arguments if one.terms]
            if kind not in ("maximum", "minimum") or len(zeros) != 1 or not all(map(self.is_dense, others)):
                return False
            ways.add((factor > 0) == (kind == "maximum"))
        return len(ways) == 1 and not form.constant

    def is_lattice(self, form: Form) -> bool:
        """Whether all noise of a form is random integers or functions of noise, so that it may equal a number."""
        if self.is_smooth(form):
            return False
        return self.is_noisy(form) and not any(self.laws.get(name, ("",))[0] in CONTINUOUS for name in form.terms)

    def is_whole(self, name: str) -> bool:
        """Whether a symbol stands for integers."""
        if name[0] == INPUT:
            return self.whole
        if name[0] == OPAQUE:
            operation, arguments = self.terms[name]
            kind = operation.partition("[")[0]
            return self.ranges[name] is not None and kind in WHOLE and (kind != "round" or len(arguments) == 1)
        return bool(self.laws[name][0] == "geometric")

    def is_exact(self, form: Form) -> bool:
        """Whether floats hold all values of a form, where they hold the values of its symbols.

        So they do for a multiple by a power of two, and for sums of multiples of such a power that are not too large.
        """
        numbers = [*form.terms.values(), form.constant]
        if len(form.terms) == 1 and not form.constant:
            [factor] = form.terms.values()
            return _is_power_of_two(abs(factor))
        finest = max(number.denominator for number in numbers)
        reach = self.reach(form)
        return (
            reach is not None
            and all(map(self.is_whole, form.terms))
            and all(_is_power_of_two(Fraction(number.denominator)) for number in numbers)
            and max(-reach[0], reach[1]) * finest <= MOST_EXACT
        )

    def reach(self, form: Form) -> UnitInterval | None:
        """Return the range of a form, except for noise of probability 2⁻¹⁰⁰ a draw; None without a range."""
        low = high = form.constant
        for name, value in form.terms.items():
            ends = self._ends(name)
            if ends is None:
                return None
            low += min(value * ends[0], value * ends[1])
            high += max(value * ends[0], value * ends[1])
        return low, high

    def finest(self, form: Form) -> Fraction | None:
        """Return the smallest scale of noise in a form, outside of its opaque terms; None without noise that has a scale."""
        laws = ((factor, self.laws[name]) for name, factor in form.terms.items() if name[0] == NOISE)
        scales = (abs(factor) * _scale_of(law) for factor, law in laws if law[0] in CONTINUOUS or law[0] == "geometric")
        return min(scales, default=None)

    def _ends(self, name: str) -> UnitInterval | None:
        if name[0] == INPUT:
            return self.bounds[name]
        if name[0] == OPAQUE:
            return self.ranges[name]
        law = self.laws[name]
        if law[0] == "uniform":
            return Fraction(0), Fraction(1)
        if law[0] == "geometric":
            return Fraction(1), Fraction(math.ceil(70 / -math.log1p(-float(law[1])))) + 1 if law[1] < 1 else Fraction(1)
        end = LIKELY[law[0]] * Fraction(law[1])
        return (Fraction(0) if law[0] == "exponential" else -end), end

    def spelled(self, form: Form) -> Spelled:
        """Return a form as text without constants, and the affine forms inside of it. The first is its own affine form.

        Two forms are equal if their texts are equal and their affine forms are equal, one by one.
        """
        key = form.key()
        if key not in self._spelled:
            opaque = sorted(self._spelled_term(name, value) for name, value in form.terms.items() if name[0] == OPAQUE)
            rest = affine(form)
            text = " + ".join(
                [*(f"{value} {name}" for name, value in sorted(rest.terms.items())), *(t for t, _, _ in opaque), "#"]
            )
            self._spelled[key] = (text, (rest, *(number for _, _, some in opaque for number in some)))
        return self._spelled[key]

    def _spelled_term(self, name: str, factor: Fraction) -> tuple[str, list[Fraction], tuple[Form, ...]]:
        operation, arguments = self.terms[name]
        each = [self.spelled(argument) for argument in arguments]
        numbers = tuple(number for _, some in each for number in some)
        text = f"{factor} {operation}({', '.join(text for text, _ in each)})"
        return text, [number.constant for number in numbers], numbers


def _is_power_of_two(number: Fraction) -> bool:
    above, below = number.numerator, number.denominator
    return above > 0 and above & (above - 1) == 0 and below & (below - 1) == 0


def _scale_of(law: Law) -> Fraction:
    """Return the scale of noise; geometric noise moves by integers."""
    if law[0] == "uniform":
        return FINEST_UNIFORM
    return Fraction(law[1]) if law[0] in LIKELY else Fraction(1)


def affine(form: Form) -> Form:
    """Return a form without its opaque terms."""
    return Form({name: value for name, value in form.terms.items() if name[0] != OPAQUE}, form.constant)


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
        self.rounded: set[str] = set()  # symbols of numbers that floats may have rounded
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

    def is_rounded(self, form: Form) -> bool:
        """Whether floats may have rounded a form that equals some numbers with a chance above 0.

        Then the exact form does not tell whether the float is above, equal to or below such a number. Floats of one form that were
        computed in two ways may differ.
        """
        return not self.names.is_smooth(form) and not self.rounded.isdisjoint(form.terms)

    def reach(self, form: Form) -> UnitInterval | None:
        """Return the range of a form as floats compute it: of data that may have been rounded, by a rounding more.

        None without a range, and for functions of rounded numbers, since these may be off by much more.
        """
        found = self.names.reach(form)
        if found is None or not self.is_rounded(form):
            return found
        if any(name[0] == OPAQUE for name in form.terms):
            return None
        slack = 2 * self.rounding * max(map(abs, form.terms.values()))
        return found[0] - slack, found[1] + slack

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
