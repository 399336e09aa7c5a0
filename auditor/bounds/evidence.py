"""Counts of events, and the bounds that they prove. Counts stay integers until a bound is computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from auditor.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Counts:
    """How often an event happened, on each side of a pair.

    >>> Counts(3, 10, 1, 12) + Counts(1, 5, 0, 5)
    Counts(hits_left=4, trials_left=15, hits_right=1, trials_right=17)
    """

    hits_left: int
    trials_left: int
    hits_right: int
    trials_right: int

    def __post_init__(self) -> None:
        if 0 <= self.hits_left <= self.trials_left and 0 <= self.hits_right <= self.trials_right:
            return
        sides = ("left", self.hits_left, self.trials_left), ("right", self.hits_right, self.trials_right)
        side, hits, trials = next(each for each in sides if not 0 <= each[1] <= each[2])
        raise InvalidInputError(f"hits_{side} is {hits} of {trials} trials; it must be 0 to {trials}")

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.hits_left + other.hits_left,
            self.trials_left + other.trials_left,
            self.hits_right + other.hits_right,
            self.trials_right + other.trials_right,
        )

    @property
    def trials(self) -> int:
        """Outputs on both sides together."""
        return self.trials_left + self.trials_right

    def swap_sides(self) -> "Counts":
        """Swap the sides."""
        return Counts(self.hits_right, self.trials_right, self.hits_left, self.trials_left)


@dataclass(frozen=True, slots=True)
class GuessCounts:
    """The counts of a distinguisher: of the event on which it guesses left, and of that on which it guesses right.

    The two events are disjoint, and it abstains on outputs in neither. A ``one_tailed`` distinguisher has one event; the
    other has no hits.
    """

    left: Counts
    right: Counts
    one_tailed: bool = False

    def __post_init__(self) -> None:
        left, right = self.left, self.right
        same = (left.trials_left, left.trials_right) == (right.trials_left, right.trials_right)
        on_left, on_right = left.hits_left + right.hits_left, left.hits_right + right.hits_right
        if not (same and on_left <= left.trials_left and on_right <= left.trials_right):
            raise InvalidInputError(
                f"the events of one rule saw {self.left} and {self.right}; they must be disjoint, on the same trials"
            )

    def __add__(self, other: "GuessCounts") -> "GuessCounts":
        return GuessCounts(self.left + other.left, self.right + other.right, self.one_tailed and other.one_tailed)

    @property
    def trials(self) -> int:
        """Outputs on both sides together."""
        return self.left.trials

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return for each side how many of its outputs were guessed left, guessed right, and not guessed."""
        sides = ((self.left.hits_left, self.right.hits_left), (self.left.hits_right, self.right.hits_right))
        trials = (self.left.trials_left, self.left.trials_right)
        return tuple((*hits, n - sum(hits)) for hits, n in zip(sides, trials, strict=True))

    @property
    def wins(self) -> int:
        """The number of right guesses."""
        return self.left.hits_left + self.right.hits_right

    @property
    def guesses(self) -> int:
        """The number of outputs without an abstention."""
        return self.wins + self.left.hits_right + self.right.hits_left

    @property
    def directions(self) -> int:
        """1 if only one side is ever guessed, else 2."""
        return 1 if self.one_tailed else 2


@dataclass(frozen=True, slots=True)
class ScoreCounts:
    """How many outputs of each side fell into each cell of a score."""

    left: tuple[int, ...]
    right: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.left) != len(self.right) or min(self.left + self.right, default=0) < 0:
            raise InvalidInputError(
                f"counts by cell are {self.left} and {self.right}; they must be of one length, not below 0"
            )

    def __add__(self, other: "ScoreCounts") -> "ScoreCounts":
        left, right = (
            tuple(a + b for a, b in zip(x, y, strict=True))
            for x, y in ((self.left, other.left), (self.right, other.right))
        )
        return ScoreCounts(left, right)

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return the counts of the left side and of the right side."""
        return self.left, self.right

    @property
    def trials(self) -> int:
        """Outputs on both sides together."""
        return sum(self.left) + sum(self.right)


@dataclass(frozen=True, slots=True)
class ProfileCounts:
    """The counts of several distinguishers on the same outputs, one for each point of a privacy profile."""

    points: tuple[GuessCounts, ...]

    def __add__(self, other: "ProfileCounts") -> "ProfileCounts":
        return ProfileCounts(tuple(a + b for a, b in zip(self.points, other.points, strict=True)))

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return for each point and side how many outputs were guessed left, guessed right, and not guessed."""
        return tuple(table for point in self.points for table in point.tables())


@dataclass(frozen=True, slots=True)
class Bound:
    """A proved bound: with probability at least ``confidence`` the true ``quantity`` is at least ``value``.

    If ``side`` is "upper", the true quantity is at most ``value``. ``also`` holds further bounds, which hold together
    with this one.
    """

    quantity: str
    value: float
    confidence: float
    method: str
    also: Mapping[str, float] = field(default_factory=dict)
    side: Literal["lower", "upper"] = "lower"

    def to_dict(self) -> dict[str, Any]:
        """Return the bound as it stands in a report."""
        entry = {name: getattr(self, name) for name in ("quantity", "value", "confidence", "method", "side")}
        return {**entry, "also": dict(self.also)} if self.also else entry
