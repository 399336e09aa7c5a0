"""The interfaces between the packages of the auditor.

A ``Source`` says where a mechanism is. A ``Domain`` holds the pairs of neighbours that a claim is about. ``Values`` are
what one place in a data set may hold. A ``Feature`` computes one number or atom for each output. A ``Method`` learns a
``Test`` from outputs, and proves bounds from the counts of the test.

Other packages implement these interfaces. This module imports their types for annotations only.
"""

from __future__ import annotations  # this module names types of packages that import it

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from auditor.bounds.curves import Box
from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.defaults import BITS, VALUES
from auditor.errors import InvalidInputError, short

if TYPE_CHECKING:
    from auditor.blackbox.outputs import OutputColumn, Outputs
    from auditor.blackbox.sample import Drawer, Sample
    from auditor.bounds.utility import Prospect
    from auditor.events.histogram import Histogram
    from auditor.events.observed import Observed
    from auditor.neighbours.pair import Pair

# All values of a place are tried if there are at most so many, by default.
FEW_VALUES = 128
# How many of the simplest pairs are looked at with more outputs than the others.
CLOSELY = 6

# A function that wraps a mechanism, and gets the mechanism and its name.
Wrapper = Callable[[Callable[..., Any], str], Callable[..., Any]]
Limits = tuple[float, float]
# Evidence as plain numbers, one tuple for each kind of event, so that it can be pickled and stored.
ManyNumbers = tuple[tuple[float, ...], ...]
C = TypeVar("C")
K = TypeVar("K", bound=Claim)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Source(Protocol):
    """The place where a mechanism is: Python code, or a program.

    A program (``is_program``) gets its data sets as JSON, and its code cannot be read.
    """

    is_program: ClassVar[bool]

    @property
    @abstractmethod
    def name(self) -> str:
        """The mechanism's name in reports."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Any]:
        """The keywords of each call."""

    @abstractmethod
    def files(self) -> list[Path]:
        """Return the files of the mechanism, and the files that parameters name. Nothing is imported or started."""

    @abstractmethod
    def drawer(self, limit: float | None = None) -> Drawer:
        """Return an object that draws outputs. Raises MechanismError if the mechanism cannot be imported or found.

        ``limit`` is the most seconds for a request to a program, by default its own. Python code is not limited.
        """

    @abstractmethod
    def wrapped(self, make: Wrapper) -> Source:
        """Return a source whose callable is wrapped by ``make``. A program is returned as it is."""

    @abstractmethod
    def truth(self, pair: Pair) -> Truth | None:
        """Return the exact privacy loss on a pair, if the mechanism states it."""

    @abstractmethod
    def close(self) -> None:
        """End the processes that wait for requests."""


class Values(Protocol):
    """The values that a place of a row may have, or the questions that may be asked in a step."""

    @abstractmethod
    def limits(self) -> dict[str, Any]:
        """Return the limits of the values, as ``Domain.limits`` does."""

    @abstractmethod
    def first(self) -> list[Any]:
        """Return the values to try first, at least one."""

    def usual(self) -> Any:
        """Return the plainest value."""
        return self.first()[0]

    def few(self, most: int = FEW_VALUES) -> list[Any]:
        """Return all values if there are at most ``most``. Otherwise return none."""
        return []

    def edges(self) -> list[Any]:
        """Return seven values: the lowest, the highest, one in between, those next to the highest and to the lowest, and those a
        little inside these ends. Without an order, return any.
        """
        first = self.first()
        return [first[0], first[-1], first[len(first) // 2], *[first[-2:][0], first[:2][-1]] * 2]

    def off_grid(self) -> list[Any]:
        """Return integers that are no multiples of round shares of the ends of their range; 1 is the first, if it is inside."""
        return []

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Any:
        """Draw a value."""

    @abstractmethod
    def near(self, value: Any, rng: np.random.Generator) -> Any:
        """Change a value by a step of any size."""

    @abstractmethod
    def simpler(self, value: Any) -> list[Any]:
        """Return simpler values, the plainest first."""

    def has(self, value: Any) -> bool:
        """Whether a place may hold a value. False if this is not known."""
        return False


class Domain(Protocol):
    """The interface of a domain for the search. All pairs returned are neighbours. ``str`` describes the data sets in words."""

    def limits(self) -> dict[str, Any]:
        """Return the limits of the data sets for reports, as auditor.neighbours.limits has them; by default ``str``."""
        return {"data sets": [short(repr(str(self)))]}

    @abstractmethod
    def corners(self) -> list[Pair]:
        """Return the pairs to try first: at least one, each once."""

    def simplest(self) -> list[Pair]:
        """Return the simplest pairs, the simplest first: those that a reader would try by hand, MOST_SIMPLE at most.

        By default these are the first CLOSELY corners, so corners are in this order, too.
        """
        return self.corners()[:CLOSELY]

    def each_value(self) -> Iterable[Pair]:
        """Yield pairs such that each value of a column with few values appears once in the row that differs."""
        return ()

    def crowds(self) -> Iterable[Pair]:
        """Yield pairs with many equal records, few others, and one record that is added or removed."""
        return ()

    def closely(self, best: Sequence[Pair], most: int) -> list[Pair]:
        """Return the pairs to look at with more outputs than the others, since rare events show on simple pairs, too.

        ``best`` are the pairs looked at so far, the most promising first. There are enough outputs for ``most`` pairs.
        """
        return self.simplest()[:CLOSELY]

    def rearranged(self, rng: np.random.Generator) -> Sequence[Pair]:
        """Return a path of neighbours from a random data set to another order of its records. Return () without any."""
        return ()

    def step(self, pair: Pair, way: int) -> Pair | None:
        """Return the pair by the same move that begins where the given pair ends, or (way −1) ends where it begins.

        The given pair came from this domain. Return None if there is no such pair, or if this is not known.
        """
        return None

    @abstractmethod
    def random(self, rng: np.random.Generator) -> Pair:
        """Return a random pair."""

    @abstractmethod
    def mutate(self, pair: Pair, rng: np.random.Generator) -> Pair:
        """Return a pair near the given one, which came from this domain."""

    def between(self, one: Pair, other: Pair) -> Pair | None:
        """Return a pair halfway between two pairs of this domain, or None if there is none."""
        return None

    @abstractmethod
    def simpler(self, pair: Pair) -> Iterator[Pair]:
        """Yield pairs that may be simpler than the given pair of this domain, the boldest changes first."""

    def own(self, left: Any, right: Any) -> Pair | None:
        """Return the pair of two data sets from a report, or None if the domain does not know the pair as its own."""
        return None


def require_domain(domain: Any) -> None:
    """Raise InvalidInputError unless an object has all methods of a Domain. A missing one would silently weaken the search."""
    methods = (name for name, value in vars(Domain).items() if callable(value) and not name.startswith("_"))
    if missing := sorted(name for name in methods if not callable(getattr(domain, name, None))):
        raise InvalidInputError(
            f"the domain {type(domain).__name__} has no {', '.join(missing)}; derive it from auditor.extending.Domain, which says "
            "what each method returns"
        )


class Feature(Protocol):
    """A function that computes one number or atom for each output alone. It is fixed before outputs are counted."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The meaning of the values, in words."""

    @abstractmethod
    def extract(self, outputs: Outputs) -> OutputColumn:
        """Return a column with a number or atom for each output."""


class Test(Protocol[C]):
    """A test of outputs. It is fixed before the outputs that it counts are drawn. Counts add up over batches."""

    @abstractmethod
    def count(self, sample: Sample) -> C:
        """Count the observations in a sample."""

    @abstractmethod
    def count_parts(self, sample: Sample, number: int) -> list[C]:
        """Count the observations in each of ``number`` parts of a batch, as ``Sample.parts`` cuts it, in one pass."""

    @abstractmethod
    def report(self, counts: C) -> Observed:
        """Return the event and its counts, with everything needed to recompute the bound."""

    @abstractmethod
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
    """The exact privacy loss on a pair (nats), which some mechanisms state for tests of the auditor."""

    def epsilon(self, delta: float) -> ExactNumber:
        """Return the smallest ε at δ."""

    def renyi(self, order: float) -> ExactNumber:
        """Return the larger of the Rényi divergences in both directions."""

    def rho(self) -> ExactNumber:
        """Return the smallest ρ, or a lower bound on it."""


@dataclass(frozen=True, slots=True)
class Learned(Generic[T_co]):
    """A test, and the forecast of its bound: an estimate, which is −∞ if nothing was learned.

    ``others`` are tests that are counted as well, at a small share of the level. If the method learns rules,
    ``evidence`` says how they did on outputs from which they were not learned.
    """

    test: T_co
    forecast: float
    evidence: ManyNumbers = ()
    others: tuple[T_co, ...] = ()


@dataclass(frozen=True, slots=True)
class Method(ABC, Generic[K, T, C]):
    """A way to bound a claim's quantity from below. A bound exceeds the truth with probability at most ``alpha``.

    ``planned`` trials will be counted. Forecasts are ``caution`` standard errors on the safe side. ``T`` is the type of the test
    that the method learns, and ``C`` the type of its counts. A subclass is registered for its claims in :mod:`auditor.methods`.

    Raises InvalidInputError for kinds of events that the method cannot look at.
    """

    claim: K
    alpha: float
    planned: int
    caution: float = 3.0  # otherwise a rule that guesses seldom would win by luck
    events: tuple[str, ...] = (VALUES,)

    name: ClassVar[str]  # the name of its bounds in reports
    looks_at_bits: ClassVar[bool] = True
    # Whether the best event may be rare. Then the share of outputs in the event decides which violations can be caught.
    may_abstain: ClassVar[bool] = False
    # Whether a test may be learned from data sets at a distance, and counted on neighbours.
    learns_at_distance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if BITS in self.events and not self.looks_at_bits:
            raise InvalidInputError(f"{self.name} look at values only; for bits claim ε, (ε, δ) or μ")

    @abstractmethod
    def learn(self, sample: Sample) -> Learned[T]:
        """Learn a test from outputs that do not serve for the bound."""

    def evidence(self, sample: Sample) -> ManyNumbers:
        """Return the evidence of outputs on the loss on a pair. Return none if the method does not search for pairs."""
        return ()

    def joined(self, first: ManyNumbers, second: ManyNumbers) -> ManyNumbers:
        """Return the joint evidence of two pilot samples on one pair."""
        return first or second

    def prospects(self, evidence: ManyNumbers) -> list[Prospect]:
        """Return the prospects that evidence gives for the bound, the most frequent event first."""
        return []

    @abstractmethod
    def bound(self, test: T, counts: C) -> float:
        """Return a bound on the claim's quantity that exceeds the truth with probability at most alpha."""

    @abstractmethod
    def detectable(self, test: T, counts: C, chance: float) -> float:
        """Return the smallest value of the quantity at which the audit refutes the claim with this ``chance``."""

    @abstractmethod
    def foreseen(self, share: float, chance: float) -> float:
        """Return the smallest value of the quantity at which the planned trials refute the claim with probability
        ``chance``, before any output is drawn. The best event is assumed to cover this ``share`` of the outputs.
        """

    def rarest(self, chance: float) -> float:
        """Return the smallest rate of an outcome, on one data set only, at which the planned trials refute the claim with
        probability ``chance``. Return ∞ if no rate is large enough, and 0 if the method does not know.
        """
        return 0.0

    def with_margin(self, caution: float) -> Self:
        """Return the method with forecasts ``caution`` standard errors on the safe side."""
        return replace(self, caution=caution)

    def with_prior(self) -> Self:
        """Return the method with a prior that keeps lucky rules from exceeding a small claim.

        A margin of several standard errors would leave nothing of rare events, which may be all the evidence. If the
        method does not choose among many rules, return it unchanged.
        """
        return self

    def simplify(self, test: T, sample: Sample, floor: float) -> T:
        """Return a test that is easier to read, and whose forecast exceeds ``floor``, or else the given test."""
        return test

    def proved(self, test: T, counts: C) -> Bound:
        """Return the bound on the claim's quantity that the counts prove."""
        return Bound(self.claim.quantity, self.bound(test, counts), 1 - self.alpha, self.name, self.also(counts))

    def also(self, counts: C) -> dict[str, float]:
        """Return the further bounds that the counts prove together with the bound, by name."""
        return {}

    def profile(self, counts: C) -> tuple[tuple[float, float], ...]:
        """Return points (ε, lower bound on δ), which all hold with probability at least 1 − alpha. () if not known.

        The points hold together with the bound, except for a divergence.
        """
        return ()

    def curve(self, counts: C) -> tuple[Box, ...]:
        """Return for each threshold of a score the limits of its type I error, and those of its type II error.

        All limits hold together with the bound. () if the method has no band.
        """
        return ()

    def interval(self, counts: C, error: float) -> Limits | None:
        """Return confidence limits on the true loss that the event shows, in units of the claim's quantity. A larger
        loss is worse.

        Each limit is wrong with probability at most ``error``. Return None if counts give no upper limit.
        """
        return None

    def exact(self, truth: Truth) -> ExactNumber | None:
        """Return the quantity's true value on a pair. Return None if it cannot be computed."""
        return None


AnyMethod = Method[Any, Any, Any]
