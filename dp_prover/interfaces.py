"""What the rooms exchange: the symbols, decisions, paths and traces of a mechanism. Read it first."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dp_prover.numbers.form import INPUT, NOISE, OPAQUE, Form, Key, Law

Spelled = tuple[str, tuple[Form, ...]]
UnitInterval = tuple[Fraction, Fraction]
Dataset = Callable[[], Any]  # makes a fresh data set, as a value of the evaluator
CONTINUOUS = {"laplace", "logistic", "gumbel", "normal", "exponential", "uniform"}
SIGNS: dict[str, frozenset[int]] = {
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
    "=": frozenset({0}),
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
}
# A draw stays within this many scales, except with probability 2⁻¹⁰⁰. Overflow beyond that is ignored.
LIKELY = {
    "laplace": Fraction(70),
    "logistic": Fraction(71),
    "gumbel": Fraction(71),
    "exponential": Fraction(70),
    "normal": Fraction(12),
}
# Floats must resolve this share of a uniform draw's range, since mechanisms compare draws with small probabilities.
FINEST_UNIFORM = Fraction(1, 2**30)
LARGEST_INTEGER = 2**53  # floats represent all integers up to this
# Functions whose value has a continuous distribution if their argument has one.
STRICT = frozenset({"abs", "np.exp", "np.log", "np.sqrt", "np.sinh", "math.exp", "math.log", "math.sqrt"})
# Functions with integer values; ``round`` only if it is called without a number of digits.
INTEGRAL = frozenset({"floor", "ceil", "rint", "trunc", "round", "floor_divide"})


@dataclass(frozen=True, slots=True)
class NoiseDraw:
    """A draw by a generator method, with the parameters of its distribution in a run on numbers.

    ``decode`` turns NumPy's number into the symbol's value, ``encode`` an outcome into NumPy's number. A degenerate draw has no
    symbol, and no ``name``.
    """

    method: str
    name: str | None
    decode: Callable[[Any], Any]
    parameters: Callable[[], Sequence[float]] = tuple
    encode: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A path condition: ``form`` ``relation`` 0, where the relation is >, >= or =. ``place`` is its source line."""

    form: Form
    relation: str
    place: str

    def key(self) -> Key:
        """Return a key that equal conditions share."""
        return (self.relation, self.form.key())


@dataclass(frozen=True, slots=True)
class Compared:
    """A decision: a form compared with 0. ``relations`` are the possible ones, one for each branch."""

    form: Form
    relations: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A decision: the outcome of a discrete draw. ``outcomes`` are labels, each with its share of the remaining probability."""

    name: str
    outcomes: tuple[tuple[str, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Masses:
    """The joint distribution of some leaves of an output, independent of all others. Place −1 stands for its structure."""

    places: tuple[int, ...]
    masses: Mapping[tuple[str, ...], Fraction]


@dataclass(frozen=True, slots=True)
class Path:
    """One path through a mechanism: taken where its conditions hold and its discrete draws end as in ``labels``.

    ``structure`` is the output without its leaves; ``leaves`` are constants as text, forms, or group indices. ``labels``
    maps each settled source to its outcome and that outcome's probability. ``nodes`` are the decisions, ``taken`` the branch of
    each. ``groups`` are the joint distributions of discrete leaves, for a path without decisions. ``output`` is the value returned.
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
        """Return a key of the leaves' joint distribution; None without lazy leaves."""
        return None if not self.groups else tuple((g.places, tuple(sorted(g.masses.items()))) for g in self.groups)

    def mass(self) -> Fraction:
        """Return the probability of the path's discrete outcomes."""
        return math.prod((share for _, share in self.labels.values()), start=Fraction(1))


@dataclass(slots=True)
class Names:
    """The symbols of a mechanism's runs. The i-th draws of all paths share a symbol if they have the same distribution.

    ``bounds`` are the ranges of the data values, ``moved`` is the largest change that one person can make to a single
    value, if known. ``integer`` says that the data values are integers.
    """

    bounds: Mapping[str, UnitInterval] = field(default_factory=dict)
    moved: Fraction | None = None
    integer: bool = False
    laws: dict[str, Law] = field(default_factory=dict)
    terms: dict[str, tuple[str, tuple[Form, ...]]] = field(default_factory=dict)
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)  # what each operation computes
    ranges: dict[str, UnitInterval | None] = field(default_factory=dict)  # of terms
    nonfinite: set[str] = field(default_factory=set)  # terms that may be NaN or infinite
    compared: set[float] = field(default_factory=set)  # constants that data or noise are compared with
    read: dict[str, str] = field(default_factory=dict)  # evaluated functions, with a digest of their source
    raised: dict[str, type] = field(default_factory=dict)  # the mechanism's own exception classes, by name
    # The type and shape of each array made of a list of batch rows, by its index among such arrays.
    arrays_of_rows: dict[int, tuple[Any, tuple[int, ...]]] = field(default_factory=dict)
    _known: dict[Key, str] = field(default_factory=dict)
    _spelled: dict[Key, Spelled] = field(default_factory=dict)

    def noise(self, index: int, law: Law) -> str:
        """Return the symbol of a draw."""
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
        """Return the symbol of an opaque term: an operation on forms.

        ``reach`` is the range of its values, None if unbounded; ``finite`` says that no value is NaN or infinite.
        """
        key = (operation, tuple(argument.key() for argument in arguments))
        name = self._known.get(key)
        if name is None:
            name = self._known[key] = f"{OPAQUE}{len(self.terms)}"
            self.terms[name] = (operation, arguments)
            self.functions[operation] = function
            self.ranges[name] = reach
            if not finite or any(map(self.may_be_nonfinite, arguments)):
                self.nonfinite.add(name)
        return name

    def symbols(self, form: Form) -> Iterator[str]:
        """Yield the symbols of a form, including those inside its opaque terms."""
        for name in form.terms:
            yield name
            if name[0] == OPAQUE:
                for argument in self.terms[name][1]:
                    yield from self.symbols(argument)

    def may_be_nonfinite(self, form: Form) -> bool:
        """Whether a form may be NaN or infinite."""
        return not self.nonfinite.isdisjoint(form.terms)

    def is_noisy(self, form: Form) -> bool:
        """Whether a form contains noise, directly or inside an opaque term."""
        return any(
            name[0] == NOISE or (name[0] == OPAQUE and any(map(self.is_noisy, self.terms[name][1])))
            for name in form.terms
        )

    def is_dense(self, form: Form) -> bool:
        """Whether a form has a density conditional on all other symbols, so that it equals any given number with probability 0."""
        dense = any(self.laws.get(name, ("",))[0] in CONTINUOUS for name in form.terms)
        return dense and not any(name[0] == OPAQUE for name in form.terms)

    def is_smooth(self, form: Form) -> bool:
        """Whether 0 is the only number that a form equals with positive probability, and its float is then 0 too.

        This holds for a form with a density, for a strictly monotone function (or the absolute value) of such a form, and for a sum
        of positive parts, or of negative parts, of such forms, since these do not cancel.
        """
        if self.is_dense(form):
            return True
        if not form.terms or any(name[0] != OPAQUE for name in form.terms):
            return False
        parts = [(factor, *self.terms[name]) for name, factor in form.terms.items()]
        if len(parts) == 1 and parts[0][1].partition("[")[0] in STRICT:
            return all(map(self.is_dense, parts[0][2]))
        signs = set()
        for factor, operation, arguments in parts:
            function = operation.partition("[")[0]
            zeros = [argument for argument in arguments if not argument.terms and not argument.constant]
            others = [argument for argument in arguments if argument.terms]
            if function not in ("maximum", "minimum") or len(zeros) != 1 or not all(map(self.is_dense, others)):
                return False
            signs.add((factor > 0) == (function == "maximum"))
        return len(signs) == 1 and not form.constant

    def is_lattice(self, form: Form) -> bool:
        """Whether all noise in a form is integer or inside opaque terms, so that the form may equal a given number with
        positive probability."""
        if self.is_smooth(form):
            return False
        return self.is_noisy(form) and not any(self.laws.get(name, ("",))[0] in CONTINUOUS for name in form.terms)

    def is_integer(self, name: str) -> bool:
        """Whether all values of a symbol are integers."""
        if name[0] == INPUT:
            return self.integer
        if name[0] == OPAQUE:
            operation, arguments = self.terms[name]
            function = operation.partition("[")[0]
            rounds = function in INTEGRAL and (function != "round" or len(arguments) == 1)
            return rounds and self.ranges[name] is not None
        return bool(self.laws[name][0] == "geometric")

    def is_exact(self, form: Form) -> bool:
        """Whether floats represent all values of a form exactly, given that they do so for its symbols.

        This holds for the product with a power of two, and for a sum of integers times a power of two that is not too large.
        """
        numbers = [*form.terms.values(), form.constant]
        if len(form.terms) == 1 and not form.constant:
            [factor] = form.terms.values()
            return _is_power_of_two(abs(factor))
        finest = max(number.denominator for number in numbers)
        reach = self.reach(form)
        return (
            reach is not None
            and all(map(self.is_integer, form.terms))
            and all(_is_power_of_two(Fraction(number.denominator)) for number in numbers)
            and max(-reach[0], reach[1]) * finest <= LARGEST_INTEGER
        )

    def reach(self, form: Form) -> UnitInterval | None:
        """Return the range of a form, up to a probability of 2⁻¹⁰⁰ for each draw; None if unbounded."""
        low = high = form.constant
        for name, value in form.terms.items():
            ends = self._ends(name)
            if ends is None:
                return None
            low += min(value * ends[0], value * ends[1])
            high += max(value * ends[0], value * ends[1])
        return low, high

    def finest(self, form: Form) -> Fraction | None:
        """Return the smallest noise scale in a form, opaque terms excluded; None without such noise."""
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
        """Return a form as text without constants, and the affine forms within it, its own affine part first.

        Forms are equal if their texts and their affine forms are.
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
    """Return a distribution's scale; 1 for geometric noise, which is integral."""
    if law[0] == "uniform":
        return FINEST_UNIFORM
    return Fraction(law[1]) if law[0] in LIKELY else Fraction(1)


def affine(form: Form) -> Form:
    """Return the affine part of a form, without opaque terms."""
    return Form({name: value for name, value in form.terms.items() if name[0] != OPAQUE}, form.constant)


@dataclass(frozen=True, slots=True)
class Trace:
    """All paths of a mechanism on one data set."""

    names: Names
    paths: tuple[Path, ...]

    _places: dict[tuple[int, ...], int] = field(default_factory=dict, repr=False, compare=False)

    def place(self, taken: tuple[int, ...]) -> int | None:
        """Return the index of the path with these decisions, or a prefix of them; None without such a path."""
        if not self._places:
            self._places.update((path.taken, at) for at, path in enumerate(self.paths))
        starts = (taken[:end] for end in range(len(taken) + 1))
        return next((self._places[start] for start in starts if start in self._places), None)
