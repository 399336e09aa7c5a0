"""What the flow of an audit needs to know of a method."""

from typing import Any, Protocol, TypeVar

from auditor.blackbox.mechanism import Sample
from auditor.events.histogram import Histogram

C = TypeVar("C")


class Test(Protocol[C]):
    """What is looked at: frozen before the outputs it counts are drawn. Counts add up over batches."""

    def count(self, sample: Sample) -> C:
        """Count what was seen in a batch."""

    def to_dict(self, counts: C) -> dict[str, Any]:
        """Return the event as it stands in a report, with everything needed to recompute the bound."""

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        """Return how outputs lie along what the test looks at."""


class Learned(Protocol[C]):
    """A test, and the bound it is forecast to give (an estimate, not proved)."""

    @property
    def test(self) -> Test[C]:
        """The test."""

    @property
    def forecast(self) -> float:
        """What the bound on the claim's quantity is likely to come out at; −∞ where nothing was learned."""


class Method(Protocol[C]):
    """A way to bound a claim's quantity from below; it knows the claim, alpha and the number of trials planned.

    ``test`` is always one that the same method learned.
    """

    @property
    def name(self) -> str:
        """How the bound is called in reports."""

    def boldly(self, caution: float) -> "Method[C]":
        """Return the method with forecasts so many standard errors on the safe side."""

    def doubting(self) -> "Method[C]":
        """Return the method with forecasts for a small claim, which luck passes in hundreds of rules.

        Caution does not tell rare events, which are all the evidence there may be, from luck: several standard errors leave
        nothing of either. The method itself, where it does not choose among many rules.
        """

    def learn(self, sample: Sample) -> Learned[C]:
        """Learn a test from outputs that will not serve for the bound."""

    def simplify(self, test: Any, sample: Sample, floor: float) -> Test[C]:
        """Return a test that is easier to read and still forecast above ``floor``; the same one where none is."""

    @property
    def alpha(self) -> float:
        """The chance that the bound exceeds the truth."""

    def bound(self, test: Any, counts: C) -> float:
        """Return a bound on the claim's quantity that exceeds the truth with probability at most alpha."""

    def also(self, counts: C) -> dict[str, float]:
        """Return what else the counts prove, together with the bound, by name."""

    def profile(self, counts: C) -> tuple[tuple[float, float], ...]:
        """Return points (ε, δ) of a curve that lies above the true δ over ε anywhere with probability at most alpha.

        But for bets on divergences it holds together with the bound. Empty where there is none.
        """

    def detectable(self, test: Any, counts: C, chance: float) -> float:
        """Return the smallest value of the quantity that would have refuted the claim with this chance."""
