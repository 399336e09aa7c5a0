"""What an audit of an accountant found, as data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pkgutil import resolve_name
from typing import Any, NoReturn

from auditor import SHOWN_BY
from auditor.accountants.target import States, Value
from auditor.bounds.digits import SIGNIFICANT_DIGITS
from auditor.errors import how_many
from auditor.exact import Interval
from auditor.verdict import End, Verdict, end_of_audit

WORDS: Mapping[str, str] = {
    "epsilon": "ε",
    "delta": "δ",
    "mu": "μ",
    "rho": "ρ",
    "renyi": "D",
    "tradeoff": "the power",
    "noise": "the noise",
}


# A stated number may lie below the exact one by a relative tolerance, and by what root finding and doubles lose.
_LOST: tuple[tuple[float, tuple[States, ...]], ...] = (
    (1e-9, ("epsilon", "mu", "noise")),  # roots, which correct code finds to within some absolute error
    (1e-12, ("rho", "renyi")),
    (1e-15, ("delta", "tradeoff")),
)
ROUNDING: Mapping[States, float] = {states: lost for lost, every in _LOST for states in every}
# The relative precision of the first interval.
PRECISION = 0.01
# Of the stated numbers, so many must be decided for "no violation found".
LEAST_DECIDED = 0.5
# A pass on fewer settings is weak.
FEW_SETTINGS = 20


@dataclass(frozen=True, slots=True)
class Statement:
    """A stated number beside the exact one, which lies in [``low``, ``high``], at some parameters.

    ``argument`` is where on a curve the number stands, None if the callable returned one number. For "tradeoff" the numbers are
    powers, 1 − β. For "noise", ``stated`` is the target, ``noise`` the returned scale, and the exact number what this noise gives.
    A ``lower`` bound must not lie above the exact number; any other must not lie below it.
    """

    parameters: Mapping[str, Value]
    stated: float
    low: float
    high: float
    argument: float | None = None
    noise: float | None = None
    lower: bool = False

    @property
    def ratio(self) -> float:
        """How many times the stated number the exact one is at least; infinite if 0 is stated, or if the exact is infinite.

        Of a lower bound, how many times the exact number the stated one is at least.
        """
        return _quotient(self.stated, self.high) if self.lower else _quotient(self.low, self.stated)

    def is_below(self, states: States, tolerance: float) -> bool:
        """Whether the stated number lies below the exact one, or a lower bound above it, by more than the tolerance and what
        doubles lose.
        """
        if self.lower:
            return self.stated > self.high * (1 + tolerance) and self.stated > self.high + ROUNDING[states]
        over = self.low - ROUNDING[states]
        return over > 0 and self.stated < self.low * (1 - tolerance) and self.stated < over

    def is_decided(self, states: States, tolerance: float) -> bool:
        """Whether the interval says if the stated number is too small; if it lies inside, to within ``PRECISION``."""
        narrow = self.high == self.low or (self.high < math.inf and self.high - self.low <= 2 * PRECISION * self.high)
        sound = self.stated <= self.low * (1 + tolerance) if self.lower else self.stated >= self.high * (1 - tolerance)
        return narrow or sound or self.is_below(states, tolerance)

    @property
    def is_open(self) -> bool:
        """Whether a narrower interval might show that the stated number is on the wrong side."""
        return self.low < self.high and (self.stated > self.low if self.lower else self.stated < self.high)

    @property
    def looseness(self) -> float:
        """How many times the exact number the stated one is at least; of a lower bound, the other way around."""
        return _quotient(self.low, self.stated) if self.lower else _quotient(self.stated, self.high)


def _quotient(above: float, below: float) -> float:
    if above <= 0 or below == float("inf"):
        return 0.0 if above < float("inf") else 1.0
    return float("inf") if below <= 0 else above / below


@dataclass(frozen=True, slots=True)
class Fact:
    """Something about an accountant that is no violation: its kind, a sentence, and the parameters at which it shows."""

    kind: str
    text: str
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many settings of the parameters were tried, and what came of them.

    ``outside`` have no process: the ranges hold values that the process does not allow. At ``refused`` settings the accountant
    gave no number. ``undecided`` are those whose exact interval is too wide to say if the stated number is too small.
    ``complete`` says that the parameters have no further values.
    """

    tried: int
    decided: int
    undecided: int = 0
    refused: int = 0
    outside: int = 0
    complete: bool = False

    @property
    def share(self) -> float:
        """The share of the settings that have a process at which the stated number was compared with the exact one."""
        return self.decided / max(1, self.tried - self.outside)


@dataclass(frozen=True, slots=True)
class AccountantResult:
    """One audit of an accountant: its verdict, the settings that show it, and facts beside.

    Nothing was sampled, so there is no confidence: the exact numbers are intervals that hold despite rounding. ``worst`` has the
    largest ratio of exact to stated that was found, and ``simplest`` shows the violation with the simplest parameters; both None
    if nothing could be compared, and ``simplest`` also without a violation. ``after`` are calls that must precede it, if the
    number depends on earlier calls. ``strict`` says whether a weak pass fails.
    """

    name: str
    states: States
    verdict: Verdict
    expected: Verdict
    reason: str
    coverage: Coverage
    ranges: Mapping[str, str]
    tolerance: float
    seed: int
    source: str = ""
    worst: Statement | None = None
    simplest: Statement | None = None
    after: Sequence[Mapping[str, Value]] = ()
    facts: Sequence[Fact] = ()
    how: str = ""
    seconds: float | None = None
    strict: bool = False

    @property
    def shown(self) -> Statement | None:
        """The statement that the verdict rests on: the simplest violation, or else the worst statement."""
        return self.simplest or self.worst

    @property
    def end(self) -> End:
        """What the end of the audit means: as expected, no answer, or not as expected."""
        return end_of_audit(self.verdict, self.expected, weak=self.weak, strict=self.strict)

    @property
    def weak(self) -> bool:
        """Whether this is a pass that compared few settings of its ranges."""
        few = self.coverage.decided < FEW_SETTINGS and not self.coverage.complete
        return few and self.verdict is Verdict.NO_VIOLATION_FOUND

    @property
    def accepts_weak(self) -> bool:
        """Whether a weak pass is accepted with a reason: never, since wider ranges cost little."""
        return False

    @property
    def passed(self) -> bool:
        """Whether the audit ended as expected. Under ``strict``, a weak pass does not."""
        return self.end is End.AS_EXPECTED

    def __bool__(self) -> NoReturn:
        """Raise TypeError, as an AuditResult does."""
        raise TypeError(
            f'a result is neither true nor false; this verdict is "{self.verdict}"; write `assert result.passed`, '
            'or compare `result.verdict`, such as with "no_violation_found"'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of report.json."""
        data = {key: value for key, value in asdict(self).items() if key != "seconds" and (value or key != "strict")}
        return {
            **data,
            "verdict": str(self.verdict),
            "expected": str(self.expected),
            "weak": self.weak,
            "passed": self.passed,
        }

    def __str__(self) -> str:
        """Return the verdict, what was found and at which parameters, the facts, and what was tried."""
        return str(resolve_name(SHOWN_BY["accountant"])(self))


def rounded_outward(interval: Interval) -> tuple[float, float]:
    """Return the ends of an interval with ten digits, which reports show: the low one rounded down, the high one up.

    >>> rounded_outward(Interval(1 / 3, 2 / 3, ""))
    (0.3333333333, 0.6666666667)
    """
    ends = zip((interval.low, interval.high), (ROUND_FLOOR, ROUND_CEILING), strict=True)
    low, high = (
        end
        if math.isinf(end)
        else float(Context(prec=SIGNIFICANT_DIGITS, rounding=rounding).create_decimal_from_float(end))
        for end, rounding in ends
    )
    return low, high


def judged(states: States, tolerance: float, shown: Statement | None, coverage: Coverage) -> Verdict:
    """Return the verdict that follows from the worst statement and from how many were decided."""
    if shown is not None and shown.is_below(states, tolerance):
        return Verdict.VIOLATION
    with_number = coverage.decided + coverage.undecided
    too_few = shown is None or coverage.decided < max(1, LEAST_DECIDED * with_number)
    return Verdict.INCONCLUSIVE if too_few else Verdict.NO_VIOLATION_FOUND


def setting(parameters: Mapping[str, Value]) -> str:
    """Write parameters.

    >>> setting({"sigma": 1.0, "steps": 100, "kind": "rdp"})
    'sigma = 1, steps = 100, kind = rdp'
    """
    return ", ".join(f"{name} = {number(value)}" for name, value in parameters.items())


def number(value: Value) -> str:
    """Write a number with the fewest digits that make it, and infinity as ∞.

    >>> number(1e-05), number(float("inf")), number(0.30000000000000004), number(True)
    ('1e-05', '∞', '0.30000000000000004', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float):
        return str(value)
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def times(factor: float) -> str:
    """Write a factor with three digits.

    >>> times(2.0001), times(float("inf")), times(12345.6), times(1.234e9)
    ('2', '∞', '12,300', '1.23e+09')
    """
    if factor == float("inf"):
        return "∞"
    rounded = float(f"{factor:.3g}")
    return f"{rounded:,.0f}" if 100 <= rounded < 1e6 else f"{rounded:g}"


def settings_words(count: int) -> str:
    """Write a number of settings."""
    return how_many(count, "setting")
