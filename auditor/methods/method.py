"""What every method knows and does: learn a test, say what to count, and say what the counts prove."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Bound
from auditor.bounds.intervals import Floats
from auditor.bounds.prospect import Prospect
from auditor.claims import Claim
from auditor.errors import InvalidInputError
from auditor.events.histogram import Histogram
from auditor.events.observed import Observed
from auditor.events.selection import BITS, VALUES

Interval = tuple[float, float]
# Evidence as plain numbers, one tuple for each kind of event: it travels between processes, and to a store.
ManyNumbers = tuple[tuple[float, ...], ...]
C = TypeVar("C")
K = TypeVar("K", bound=Claim)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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
        """Return points (ε, δ). The probability that δ exceeds the true δ at any ε is at most alpha. None if not known.

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


def wilson_lower(rate: Floats, trials: Floats, z: float) -> Floats:
    """Return the Wilson lower limit of a proportion, an approximation that needs no root finding; 0 of 0 is 0."""
    n = np.maximum(trials, 1e-9)
    squared = z * z / n
    centre = rate + squared / 2
    spread = z * np.sqrt(np.maximum(rate * (1 - rate), 0) / n + z * z / (4 * n * n))
    return np.asarray(np.where(trials > 0, (centre - spread) / (1 + squared), 0.0))


def log_ratio(above: Floats, below: Floats) -> Floats:
    """Return ln(above/below), −∞ where above is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above > 0, np.log(np.maximum(above, 0) / np.maximum(below, 1e-300)), -np.inf)


def z_of(alpha: float) -> float:
    """Return the normal quantile that is exceeded with probability ``alpha``."""
    from scipy.special import ndtri

    return -float(ndtri(alpha))


def profile_points(deltas: Callable[[Floats], Floats], near: float) -> tuple[tuple[float, float], ...]:
    """Return (ε, δ) at many ε (nats), up to twice as far as ``near``, and further where that is small and δ above 0 there."""
    reach = max(2.0 * near, 0.01)
    while reach < 1.0 and deltas(np.array([reach]))[0] > 0:
        reach = min(2.0 * reach, 1.0)
    epsilons = np.linspace(0.0, reach, 41)
    return tuple(zip(epsilons.tolist(), deltas(epsilons).tolist(), strict=True))
