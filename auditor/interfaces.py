"""The interfaces between the rooms. Who knows these knows what an audit is made of.

A ``Source`` says where a mechanism is. A ``Domain`` holds the pairs of neighbours that a claim speaks of, and ``Values`` what one
place of their data sets may hold. A ``Feature`` makes one column of outputs. A ``Method`` learns a ``Test`` of outputs, and says
what the counts of the test prove of the claim.

Each room implements its own; this page imports their types, and nothing of them that runs.
"""

from __future__ import annotations  # the page names types of rooms that import it

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.defaults import BITS, VALUES
from auditor.errors import InvalidInputError, short

if TYPE_CHECKING:
    from auditor.blackbox.outputs import OutputColumn, Outputs
    from auditor.blackbox.sample import Drawer, Sample
    from auditor.bounds.prospect import Prospect
    from auditor.events.histogram import Histogram
    from auditor.events.observed import Observed
    from auditor.neighbours.pair import Pair

# All of so many values are tried, by default.
FEW_VALUES = 128
# How many of the simplest pairs are looked at with more outputs than the others.
CLOSELY = 6

# Makes a callable of a mechanism and its name.
Wrapper = Callable[[Callable[..., Any], str], Callable[..., Any]]
Interval = tuple[float, float]
# Evidence as plain numbers, one tuple for each kind of event: it travels between processes, and to a store.
ManyNumbers = tuple[tuple[float, ...], ...]
C = TypeVar("C")
K = TypeVar("K", bound=Claim)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Source(Protocol):
    """The interface of the place where a mechanism is: Python code, or a program.

    A program (``is_program``) gets its data sets as JSON, and its code cannot be read.
    """

    is_program: ClassVar[bool]

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The keywords of each call."""

    def files(self) -> list[Path]:
        """Return the files that hold the mechanism, and those that parameters name. Nothing is imported or started."""

    def drawer(self, limit: float | None = None) -> Drawer:
        """Return what draws its outputs. Raises MechanismError if the mechanism cannot be had.

        ``limit`` is the most seconds for a request to a program, by default its own. In this process nothing is limited.
        """

    def wrapped(self, make: Wrapper) -> Source:
        """Return the source of what ``make`` makes of the callable and its name; a program is returned as it is."""

    def truth(self, pair: Pair) -> Truth | None:
        """Return the exact privacy loss on a pair, if the mechanism states it."""

    def close(self) -> None:
        """End what waits for requests."""


class Values(Protocol):
    """The values that a place of a row may have, or the questions that may be asked in a step."""

    def limits(self) -> dict[str, Any]:
        """Return what limits the values (see Domain)."""

    def first(self) -> list[Any]:
        """Return the values to try first, at least one."""

    def usual(self) -> Any:
        """Return the plainest value."""
        return self.first()[0]

    def few(self, most: int = FEW_VALUES) -> list[Any]:
        """Return all values if they are ``most`` at most; else none."""
        return []

    def edges(self) -> list[Any]:
        """Return the lowest value, the highest, one between them, and those next to the ends; of unordered values any of them."""
        first = self.first()
        return [first[0], first[-1], first[len(first) // 2], first[-2:][0], first[:2][-1]]

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a value."""

    def near(self, value: Any, rng: np.random.Generator) -> Any:
        """Change a value by a step of any size."""

    def simpler(self, value: Any) -> list[Any]:
        """Return simpler values, the plainest first."""

    def has(self, value: Any) -> bool:
        """Whether a place may have a value. False if that is not known."""
        return False


class Domain(Protocol):
    """The interface of a domain for the search. All pairs returned are neighbours. ``str`` describes the data sets in words."""

    def limits(self) -> dict[str, Any]:
        """Return what limits the data sets, as auditor.neighbours.limits compares it, for reports. By default it is ``str``."""
        return {"data sets": [short(repr(str(self)))]}

    def corners(self) -> list[Pair]:
        """Return the pairs to try first: at least one, each once."""

    def simplest(self) -> list[Pair]:
        """Return the simplest pairs, the simplest first: those that a reader would try by hand, MOST_SIMPLE at most.

        Corners are in this order too. A domain has more than the first few only if it knows pairs simpler than its corners.
        """
        return self.corners()[:CLOSELY]

    def each_value(self) -> Iterable[Pair]:
        """Yield pairs in which each value of a column with few stands once in the row that differs."""
        return ()

    def crowds(self) -> Iterable[Pair]:
        """Yield pairs of many equal records, few others, and one that comes or goes."""
        return ()

    def closely(self, best: Sequence[Pair], most: int) -> list[Pair]:
        """Return the pairs to look at with more outputs than the others, since what is rare shows on simple pairs as well.

        ``best`` are the pairs looked at so far, those first that promise most. There are enough outputs for ``most`` pairs.
        """
        return self.simplest()[:CLOSELY]

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        """Return a path of neighbours from a random data set to another order of its records; empty if there is none."""
        return ()

    def step(self, pair: Pair, way: int) -> Pair | None:
        """Return the pair by the same move that begins where the given one ends, or (way −1) ends where it begins.

        The given pair came from this domain. Returns None if there is no such pair, or if it is not known.
        """
        return None

    def random(self, rng: np.random.Generator) -> Pair:
        """Return a random pair."""

    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Return a pair near the given one, which came from this domain."""

    def between(self, one: Pair, other: Pair) -> Pair | None:
        """Return a pair halfway between two of this domain; None if there is none."""
        return None

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        """Yield pairs that may be simpler than the given one, which came from this domain; the boldest changes first."""

    def own(self, left: Any, right: Any) -> Pair | None:
        """Return the pair of two data sets as a report holds them; None if it is not of this domain, or the domain cannot tell."""
        return None


class Feature(Protocol):
    """A frozen function of each output alone. ``name`` says in words what its values are."""

    @property
    def name(self) -> str:
        """The meaning of the values, in words."""

    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return a value for each output."""


class Test(Protocol[C]):
    """A test of outputs. It is frozen before the outputs that it counts are drawn. Counts add up over batches."""

    def count(self, sample: Sample) -> C:
        """Count the observations in a batch."""

    def report(self, counts: C) -> Observed:
        """Return the event and its counts, with everything needed to recompute the bound."""

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        """Return a histogram of the outputs along the feature of the test."""


class ExactNumber(Protocol):
    """A value, and the error to within which it is computed."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def error(self) -> float:
        """Its numerical error."""


class Truth(Protocol):
    """The exact privacy loss on a pair, if a specimen states it (nats)."""

    def epsilon(self, delta: float) -> ExactNumber:
        """Return the smallest ε at δ."""

    def renyi(self, order: float) -> ExactNumber:
        """Return the larger Rényi divergence of both directions."""

    def rho(self) -> ExactNumber:
        """Return the smallest ρ, or a lower bound on it."""


@dataclass(frozen=True, slots=True)
class Learned(Generic[T_co]):
    """A test, and the forecast of its bound (an estimate, not proved; −∞ if nothing was learned).

    ``others`` are worth counting as well, at a small share of the level. ``evidence`` is what rules won on outputs from which they
    were not learned, if the method learns rules.
    """

    test: T_co
    forecast: float
    evidence: ManyNumbers = ()
    others: tuple[T_co, ...] = ()


@dataclass(frozen=True, slots=True)
class Method(ABC, Generic[K, T, C]):
    """A way to bound a claim's quantity: lower bounds that exceed the truth with probability at most ``alpha``.

    ``planned`` trials will be counted. Forecasts are ``caution`` standard errors on the safe side. ``T`` is the type of the test
    that the method learns, and ``C`` the type of its counts. A subclass is registered for its claims in :mod:`auditor.methods`.

    Raises InvalidInputError for kinds of events that the method cannot look at.
    """

    claim: K
    alpha: float
    planned: int
    caution: float = 3.0  # else a rule that was seen seldom would win by luck
    events: tuple[str, ...] = (VALUES,)

    name: ClassVar[str]  # how its bounds are called in reports
    looks_at_bits: ClassVar[bool] = True
    # Whether the best event may be rare, so that what can be caught depends on the share of outputs it speaks of.
    may_abstain: ClassVar[bool] = False
    # Whether its test may be learned from data sets at a distance, and counted on neighbours.
    learns_at_distance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if BITS in self.events and not self.looks_at_bits:
            raise InvalidInputError("bets look at values only; for bits claim ε, (ε, δ) or μ")

    @abstractmethod
    def learn(self, sample: Sample) -> Learned[T]:
        """Learn a test from outputs that will not serve for the bound."""

    def evidence(self, sample: Sample) -> ManyNumbers:
        """Return what outputs show of the loss on a pair, as plain numbers; nothing if the method does not search for pairs."""
        return ()

    def joined(self, one: ManyNumbers, other: ManyNumbers) -> ManyNumbers:
        """Return what two looks at one pair show together."""
        return one or other

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        """Return what evidence promises of the bound, the events that most outputs show first."""
        return []

    @abstractmethod
    def bound(self, test: T, counts: C) -> float:
        """Return a bound on the claim's quantity that exceeds the truth with probability at most alpha."""

    @abstractmethod
    def detectable(self, test: T, counts: C, chance: float) -> float:
        """Return the smallest value of the quantity at which this audit refutes the claim with this probability."""

    @abstractmethod
    def foreseen(self, share: float, chance: float) -> float:
        """Return the smallest value of the quantity at which the planned trials refute the claim with this probability. It is
        known before any output is drawn, for a best event that covers this ``share`` of the outputs.
        """

    def with_margin(self, caution: float) -> Self:
        """Return the method with forecasts ``caution`` standard errors on the safe side."""
        return replace(self, caution=caution)

    def with_prior(self) -> Self:
        """Return the method with a prior that keeps lucky rules from exceeding a small claim.

        A margin cannot do that: of rare events, which may be all the evidence there is, several standard errors leave nothing. If
        the method does not choose among many rules, return it unchanged.
        """
        return self

    def simplify(self, test: T, sample: Sample, floor: float) -> T:
        """Return a test that is easier to read and still forecast above ``floor``; without one, return the given test."""
        return test

    def proved(self, test: T, counts: C) -> Bound:
        """Return the bound on the claim's quantity that the counts prove."""
        return Bound(self.claim.quantity, self.bound(test, counts), 1 - self.alpha, self.name, self.also(counts))

    def also(self, counts: C) -> dict[str, float]:
        """Return the further bounds that the counts prove together with the bound, by name."""
        return {}

    def profile(self, counts: C) -> tuple[tuple[float, float], ...]:
        """Return points (ε, δ). The probability that δ exceeds the true δ at any ε is at most alpha. Empty if not known.

        They hold together with the bound, except for a divergence.
        """
        return ()

    def interval(self, counts: C, error: float) -> Interval | None:
        """Return limits of the true loss on the event, in units of the claim's quantity; more is worse.

        Each limit is wrong with probability at most ``error``. None if counts give no upper limit.
        """
        return None

    def exact(self, truth: Truth) -> ExactNumber | None:
        """Return the quantity's true value on a pair; None if it cannot be computed."""
        return None


AnyMethod = Method[Any, Any, Any]
