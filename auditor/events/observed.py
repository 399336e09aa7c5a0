"""The events of a report, with their counts. They hold all that is needed to recompute a bound."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from auditor.bounds.divergences import Wager
from auditor.bounds.evidence import Counts, GuessCounts, ProfileCounts, ScoreCounts
from auditor.errors import InvalidInputError

LooksAt = Literal["values", "bits", "score"]


class Fields:
    """A record whose fields can be read by their names in report.json: ``event["description"]``."""

    __slots__ = ()

    def keys(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(field.name for field in fields(self))  # type: ignore[arg-type]  # records are dataclasses

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)


@dataclass(frozen=True, slots=True)
class SideCounts(Fields):
    """(hits, trials) on each side of a pair."""

    left: tuple[int, int]
    right: tuple[int, int]

    def __post_init__(self) -> None:
        self.counts()

    def counts(self) -> Counts:
        """Return the same numbers for a bound. Raises InvalidInputError unless 0 ≤ hits ≤ trials."""
        return Counts(*self.left, *self.right)


@dataclass(frozen=True, slots=True)
class Guessed(Fields):
    """An event on which a side is guessed, and how often it happened.

    ``looks_at`` says what the event looks at: values of the output, their floating-point bits, or a learned score.
    ``form`` is the description with ``#`` for each threshold.
    """

    description: str
    guess: Literal["left", "right"]
    counts: SideCounts
    looks_at: LooksAt
    form: str


@dataclass(frozen=True, slots=True)
class ObservedRule(Guessed):
    """A rule that guesses the side: its event and, if there is one, the event on which it guesses the other side.

    ``rule`` holds the feature and the cells (see ``auditor.events.event``). It is None if the feature is defined in
    another package.
    """

    opposite: Guessed | None
    rule: Mapping[str, Any] | None

    @property
    def sides(self) -> tuple[Guessed, ...]:
        """The events on which the rule guesses."""
        return (self,) if self.opposite is None else (self, self.opposite)

    def counted(self) -> GuessCounts:
        """Return the counts in the form from which a method computes its bound."""
        by_guess = {side.guess: side.counts.counts() for side in self.sides}
        some = self.counts.counts()
        none = Counts(0, some.trials_left, 0, some.trials_right)
        return GuessCounts(by_guess.get("left", none), by_guess.get("right", none), one_tailed=self.opposite is None)


@dataclass(frozen=True, slots=True)
class ObservedProfile(Fields):
    """A rule for each point of a claimed profile."""

    description: str
    points: tuple[ObservedRule, ...]

    def counted(self) -> ProfileCounts:
        return ProfileCounts(tuple(point.counted() for point in self.points))


@dataclass(frozen=True, slots=True)
class ObservedScore(Fields):
    """A wager on cells of a score (see ``auditor.bounds.divergences.Wager``), and each side's count in each cell.

    ``rule`` holds the score and the edges of the cells.
    """

    description: str
    order: float
    swapped: bool
    stake: float
    tilt: float
    values: tuple[float, ...]
    counts: ScoreCounts
    rule: Mapping[str, Any] | None

    @property
    def wager(self) -> Wager:
        """The wager that these fields describe."""
        return Wager(self.order, self.values, self.swapped, self.stake, self.tilt)

    def counted(self) -> ScoreCounts:
        return self.counts


@dataclass(frozen=True, slots=True)
class ObservedCurve(Fields):
    """The cells of a score (see ``auditor.methods.curve``) between its ``thresholds``, and each side's count in each cell.

    ``rule`` holds the score and the thresholds.
    """

    description: str
    thresholds: int
    counts: ScoreCounts
    rule: Mapping[str, Any] | None

    def __post_init__(self) -> None:
        if len(self.counts.left) != self.thresholds + 1:
            raise InvalidInputError(
                f"{len(self.counts.left)} cells between {self.thresholds} thresholds; there must be one more"
            )

    def counted(self) -> ScoreCounts:
        return self.counts


@dataclass(frozen=True, slots=True)
class Hits(Fields):
    """(hits, trials) on the one data set."""

    left: tuple[int, int]

    def __post_init__(self) -> None:
        Counts(*self.left, 0, 0)


@dataclass(frozen=True, slots=True)
class ObservedReport(Fields):
    """An event that the mechanism itself reports. ``confirmed``: whether the counts prove the claim on the data set."""

    description: str
    counts: Hits
    confirmed: bool

    def counted(self) -> ScoreCounts:
        hits, trials = self.counts.left
        return ScoreCounts((hits, trials - hits), (0, 0))


@dataclass(frozen=True, slots=True)
class BothAnswers(Fields):
    """A query's answer on each data set: a number, or a vector."""

    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class QueryAnswers(Fields):
    """A deterministic query's answers on both data sets of the pair."""

    description: str
    values: BothAnswers


@dataclass(frozen=True, slots=True)
class ObservedCanaries(Fields):
    """Guesses of which canaries were in the data, over ``runs`` runs with ``canaries`` canaries each.

    ``guesses`` lists (guesses, right guesses) for each number of guesses that was tried. The entry with the largest
    bound comes first. ``apart`` says that no canary was assumed to affect another canary's score.
    """

    description: str
    canaries: int
    runs: int
    apart: bool
    guesses: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if not self.guesses:
            raise InvalidInputError("guesses are []; there must be at least one number of guesses")


@dataclass(frozen=True, slots=True)
class CalculatedEvent(Fields):
    """An event whose probability was calculated: at least ``likely`` on the left data set, and at most ``other`` on the right.

    Both are None if the bound comes from many cells of outputs, as that of a divergence.
    """

    description: str
    likely: float | None
    other: float | None


Observed = (
    ObservedRule
    | ObservedProfile
    | ObservedScore
    | ObservedCurve
    | ObservedReport
    | QueryAnswers
    | ObservedCanaries
    | CalculatedEvent
)


def counted_events(event: Observed | None) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the description of each event, with its (hits, trials) on the left and the right, or on the one data set.

    Return an empty list if the counts are not of single events.
    """
    if isinstance(event, ObservedReport):
        return [(event.description, [event.counts.left])]
    rules = event.points if isinstance(event, ObservedProfile) else (event,) if isinstance(event, ObservedRule) else ()
    return [(side.description, [side.counts.left, side.counts.right]) for rule in rules for side in rule.sides]
