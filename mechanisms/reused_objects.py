"""Objects that release one data set after another: each sound one, and a faulty twin, in which the first data set shows later.

A session is made by f(dataset, rng, …), where the data set is an array of numbers from 0 to 10, one of each person. The question
"own" asks for a release on it, which costs the whole ε. A list is a data set of other people. Its release costs nothing, and must
say nothing about the first data set beyond what was released of it. Faults are of kinds that issue trackers show: caches keyed by
too little, fits that go on from what was fitted before, copies with a memory of their own, and texts of fitted objects.
"""

import copy
from typing import Any, ClassVar

import numpy as np

from mechanisms.sessions import Data, Ledger, Rng

# The largest value of a person.
MOST = 10.0


class Reused:
    """Releases noisy sums of data sets, of which each is private for itself."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        self.own, self.rng, self.epsilon, self.ledger = np.asarray(dataset, float), rng, epsilon, Ledger(epsilon)

    def noisy(self, total: float) -> float:
        """Return a number that one person changes by MOST, with noise."""
        return total + float(self.rng.laplace(0.0, MOST / self.epsilon))

    def release(self, data: Data) -> Any:
        """Return a release on a data set."""
        return self.noisy(float(data.sum()))

    def __call__(self, question: Any) -> Any:
        if question == "own":
            self.ledger.charge(self.epsilon)
            return self.release(self.own)
        return self.release(np.array(question, float))


class Cached(Reused):
    """Keeps sums by the data that they are of."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.sums: dict[Any, float] = {}

    def key(self, data: Data) -> Any:
        """Return the key of a data set."""
        return data.tobytes()

    def release(self, data: Data) -> float:
        return self.noisy(self.sums.setdefault(self.key(data), float(data.sum())))


class CachedByLength(Cached):
    """The same, but the key is the number of records: another data set of that size is released with the sum of the first."""

    def key(self, data: Data) -> Any:
        return len(data)


class WarmStarted(Reused):
    """Fits a level: half of the last one, as it was released, and the sum of a data set."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.level = 0.0

    def fitted(self, exact: float, noisy: float) -> float:
        """Return the level from which the next fit starts."""
        return noisy

    def release(self, data: Data) -> float:
        exact = self.level / 2 + float(data.sum())
        noisy = self.noisy(exact)
        self.level = self.fitted(exact, noisy)
        return noisy


class WarmStartedExactly(WarmStarted):
    """The same, but the next fit starts from the level before noise (as an attribute ``coef_`` under ``warm_start=True``)."""

    def fitted(self, exact: float, noisy: float) -> float:
        return exact


class Imputing(Reused):
    """Fills a data set without records with the sum that the column of this name had first: as released, and from 0 to MOST.

    Without these ends it would break its claim: noise of an empty list may be far from all that a person has.
    """

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.columns: dict[str, float] = {}

    def remember(self, exact: float, noisy: float) -> None:
        """Keep a number for the column."""
        self.columns.setdefault("value", min(max(noisy, 0.0), MOST))

    def release(self, data: Data) -> float:
        exact = float(data.sum()) if len(data) else self.columns.get("value", 0.0)
        noisy = self.noisy(exact)
        self.remember(exact, noisy)
        return noisy


class ImputingExactly(Imputing):
    """The same, but it keeps the sum itself, by the name of the column and not by the data."""

    def remember(self, exact: float, noisy: float) -> None:
        self.columns.setdefault("value", exact)


class Scaler:
    """Counts what it was fitted on, for a release of the average."""

    def __init__(self) -> None:
        self.total = 0.0

    def fit(self, data: Data) -> float:
        """Add a data set, and return the sum of all that were added."""
        self.total += float(data.sum())
        return self.total


class Scaled(Reused):
    """Fits a new scaler for each data set."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.scaler = Scaler()

    def unfitted(self) -> Scaler:
        """Return the scaler to fit."""
        return Scaler()

    def release(self, data: Data) -> float:
        return self.noisy(self.unfitted().fit(data))


class ScaledTogether(Scaled):
    """The same, but all fits share one scaler, as a running total in an attribute of a class."""

    def unfitted(self) -> Scaler:
        return self.scaler


class Copied(Reused):
    """Says "copy" after it copied itself; from then on the copy answers, and both have one ledger."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.saved = self.copied()

    def copied(self) -> Ledger:
        """Return the ledger of a copy."""
        return self.ledger

    def __call__(self, question: Any) -> Any:
        if question == "copy":
            self.ledger = self.saved
            return "copied"
        return super().__call__(question)


class CopiedWithItsLedger(Copied):
    """The same, but the ledger is copied too, as by pickle: what was spent since the copy was made is forgotten."""

    def copied(self) -> Ledger:
        return copy.deepcopy(self.ledger)


class Shown(Reused):
    """Answers "repr" with its text, which shows the last release."""

    shows: ClassVar[str] = "released"

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.released: float | None = None
        self.records = 0

    def release(self, data: Data) -> float:
        self.records, self.released = len(data), super().release(data)
        return self.released

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shows}={getattr(self, self.shows)})"

    def __call__(self, question: Any) -> Any:
        return repr(self) if question == "repr" else super().__call__(question)


class ShownWithItsSize(Shown):
    """The same, but the text shows how many records were fitted."""

    shows = "records"
