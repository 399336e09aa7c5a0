"""Canaries: records that the auditor adds, each by a fair coin of its own. They audit mechanisms that run once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.bounds.one_run import read_guess_numbers
from auditor.errors import InvalidInputError, how_many, require_number
from auditor.neighbours.domains import Pairs


class Canaries:
    """Canaries, for ``method="one-run"``. The mechanism gets all records and some canaries, which the score must guess.

    Args:
        canaries: records, as a list or a NumPy array, in an order without meaning.
        score: ``f(output, canary)``, a number that is larger if the canary is in the data; or its name, "module:function".
        records: the records that are always in the data, as a list or a NumPy array.
        runs: how many runs there are; each has its own coins. More runs prove more.
        guesses: how many of the surest guesses of all runs count: one or several numbers; by default all, a half, ...
        apart: whether no canary affects another's score. This proves far more. If it is untrue, the bound is **wrong**.
        initial: the parameters at which each run begins, as a list or an array, which the mechanism gets as its keyword
            ``initial``. At parameters at which no record but the canaries has a gradient, nothing hides these. They may depend
            on anything but the coins and the noise of the runs.

    Raises InvalidInputError for no canaries, and for numbers out of range.
    """

    search_path: tuple[str, ...] = ()  # folders in which the score is looked for, before Python's own

    def __init__(
        self,
        canaries: Sequence[Any] | NDArray[Any],
        score: Callable[[Any, Any], float] | str,
        records: Sequence[Any] | NDArray[Any] = (),
        runs: int = 1,
        guesses: int | Sequence[int] | None = None,
        apart: bool = False,
        initial: Any = None,
    ) -> None:
        self.canaries, self.score, self.records, self.runs, self.apart = canaries, score, records, runs, apart
        self.initial = initial
        if not len(canaries):
            raise InvalidInputError("there are no canaries; at least one is needed")
        if isinstance(self.runs, bool) or not isinstance(self.runs, int) or self.runs < 1:
            raise InvalidInputError(f"runs is {self.runs!r}; it must be an integer of at least 1")
        self.guesses = read_guess_numbers(guesses, runs * len(canaries))

    @classmethod
    def crafted(
        cls,
        number: int,
        norm: float,
        *,
        records: Sequence[Any] | NDArray[Any] = (),
        runs: int = 1,
        guesses: int | Sequence[int] | None = None,
        apart: bool = False,
        initial: Any = None,
    ) -> "Canaries":
        """Return canaries that are gradients, each of length ``norm`` in a direction of its own, and scored by their direction.

        A mechanism takes an array of shape (n, number), and returns as many numbers, once or for each of several steps.
        ``records`` are other gradients, of shape (n, number), which are always in the data.

        Raises InvalidInputError for numbers out of range, and for records of another shape.
        """
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InvalidInputError(f"number is {number!r}; it must be an integer of at least 1")
        length = require_number("norm", norm, 0, 1e12, low_open=True)
        others = _gradients(records, number) if len(records) else ()
        return cls(length * np.eye(number), seen_along, others, runs, guesses, apart, initial)

    def __str__(self) -> str:
        others = f", in addition to {how_many(len(self.records), 'record')}" if len(self.records) else ""
        begins = "" if self.initial is None else ", beginning at initial parameters that are given"
        return f"{how_many(len(self.canaries), 'canary')}, each in the data or not by a fair coin{others}{begins}"

    def limits(self) -> dict[str, Any]:
        """Return the numbers of canaries, other records and runs as limits (see Domain)."""
        number = {"canaries": len(self.canaries), "records": len(self.records), "runs": self.runs}
        return {name: {"high": many} for name, many in number.items()}

    def dataset(self, inside: NDArray[np.bool_]) -> Any:
        """Return the records and the canaries that are inside; ``inside`` is of shape (canaries,)."""
        if isinstance(self.canaries, np.ndarray):
            chosen = self.canaries[inside]
            return np.concatenate([np.asarray(self.records), chosen]) if len(self.records) else chosen
        return [*self.records, *(canary for canary, is_in in zip(self.canaries, inside, strict=True) if is_in)]

    def pairs(self) -> Pairs:
        """Return one pair on which to try the mechanism: all canaries are in, and all but the first."""
        everything = np.ones(len(self.canaries), bool)
        but_one = np.arange(len(self.canaries)) > 0
        return Pairs([(self.dataset(everything), self.dataset(but_one))])


def _gradients(records: Sequence[Any] | NDArray[Any], number: int) -> NDArray[np.float64]:
    """Return records as gradients. Raises InvalidInputError unless they are of shape (n, number)."""
    try:
        gradients = np.asarray(records, dtype=float)
    except (TypeError, ValueError):
        gradients = np.empty(0)
    if gradients.ndim != 2 or gradients.shape[1] != number:
        raise InvalidInputError(
            f"records must be gradients of {number:,} numbers each, of shape (n, {number}), as the crafted canaries are"
        )
    return gradients


def seen_along(output: Any, canary: NDArray[np.float64]) -> float:
    """Return how far an output reaches in a canary's direction, in the step in which it reaches furthest."""
    steps = np.asarray(output, dtype=float).reshape(-1, len(canary))
    return float((steps @ canary).max())
