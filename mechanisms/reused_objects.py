"""Objects that release several data sets in turn, each sound one with a faulty twin through which the first data set leaks later.

A session is made by f(dataset, rng, …), where the data set is an array of numbers from 0 to 10, one per person. The question
"own" asks for a release of it, which costs the whole ε. A question that is a list asks for a release of that list, a data
set of other people. Releasing it costs nothing, and must reveal nothing about the first data set beyond its own release.
The faults are of kinds seen in issue trackers: caches with too coarse a key, warm starts from unreleased state, copies with
separate ledgers, and text representations of fitted objects.
"""

import copy
from typing import Any, ClassVar

import numpy as np

from mechanisms.sessions import Data, Ledger, Rng

# The largest value that a person can have.
MOST = 10.0


class Reused:
    """Releases noisy sums of data sets, each of which is private by itself."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        self.own, self.rng, self.epsilon, self.ledger = np.asarray(dataset, float), rng, epsilon, Ledger(epsilon)

    def noisy(self, total: float) -> float:
        """Add noise to a number that one person changes by at most MOST."""
        return total + float(self.rng.laplace(0.0, MOST / self.epsilon))

    def release(self, data: Data) -> Any:
        """Return a release of a data set."""
        return self.noisy(float(data.sum()))

    def __call__(self, question: Any) -> Any:
        if question == "own":
            self.ledger.charge(self.epsilon)
            return self.release(self.own)
        return self.release(np.array(question, float))


class Cached(Reused):
    """Caches sums, keyed by their data."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.sums: dict[Any, float] = {}

    def key(self, data: Data) -> Any:
        """Return the cache key of a data set."""
        return data.tobytes()

    def release(self, data: Data) -> float:
        return self.noisy(self.sums.setdefault(self.key(data), float(data.sum())))


class CachedByLength(Cached):
    """As Cached, but keyed by the number of records: another data set of that size is released with the first one's sum."""

    def key(self, data: Data) -> Any:
        return len(data)


class WarmStarted(Reused):
    """Fits a level: half of the previous level as it was released, plus the sum of a data set."""

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
    """As WarmStarted, but starts from the level before noise, like an attribute ``coef_`` under ``warm_start=True``."""

    def fitted(self, exact: float, noisy: float) -> float:
        return exact


class Imputing(Reused):
    """Imputes a data set without records by the first sum of its column, as it was released and clamped to 0 … MOST.

    Without clamping it would break its claim, since the noise of an empty list may exceed any person's contribution.
    """

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.columns: dict[str, float] = {}

    def remember(self, exact: float, noisy: float) -> None:
        """Keep a value for the column."""
        self.columns.setdefault("value", min(max(noisy, 0.0), MOST))

    def release(self, data: Data) -> float:
        exact = float(data.sum()) if len(data) else self.columns.get("value", 0.0)
        noisy = self.noisy(exact)
        self.remember(exact, noisy)
        return noisy


class ImputingExactly(Imputing):
    """As Imputing, but keeps the exact sum, keyed by the column's name and not by its data."""

    def remember(self, exact: float, noisy: float) -> None:
        self.columns.setdefault("value", exact)


class Scaler:
    """Accumulates the data sets that it was fitted on, for a release of their average."""

    def __init__(self) -> None:
        self.total = 0.0

    def fit(self, data: Data) -> float:
        """Add a data set, and return the sum over all that were added."""
        self.total += float(data.sum())
        return self.total


class Scaled(Reused):
    """Fits a new scaler to each data set."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.scaler = Scaler()

    def unfitted(self) -> Scaler:
        """Return the scaler to fit."""
        return Scaler()

    def release(self, data: Data) -> float:
        return self.noisy(self.unfitted().fit(data))


class ScaledTogether(Scaled):
    """As Scaled, but all fits share one scaler, like a running total in a class attribute."""

    def unfitted(self) -> Scaler:
        return self.scaler


class Copied(Reused):
    """Answers "copy" by copying itself; from then on the copy answers, and both share one ledger."""

    def __init__(self, dataset: Data, rng: Rng, *, epsilon: float) -> None:
        super().__init__(dataset, rng, epsilon=epsilon)
        self.saved = self.copied()

    def copied(self) -> Ledger:
        """Return the ledger for a copy."""
        return self.ledger

    def __call__(self, question: Any) -> Any:
        if question == "copy":
            self.ledger = self.saved
            return "copied"
        return super().__call__(question)


class CopiedWithItsLedger(Copied):
    """As Copied, but the ledger is copied as well, as pickle does, so that budget spent since the copy is forgotten."""

    def copied(self) -> Ledger:
        return copy.deepcopy(self.ledger)


class Shown(Reused):
    """Answers "repr" with its text representation, which contains the last release."""

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
    """As Shown, but the text contains the number of fitted records."""

    shows = "records"
