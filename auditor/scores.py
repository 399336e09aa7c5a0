"""Bounds from existing scores, such as those that an attack assigns to members and non-members of the training data."""

import csv
import functools
import hashlib
import io
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from auditor.bounds.bisection import narrow_bracket
from auditor.bounds.conversions import gaussian_delta
from auditor.bounds.curves import Box, CurveBand, choose_thresholds, count_cells
from auditor.bounds.intervals import Floats, Ints
from auditor.bounds.nested_guesses import bound_of_nested_guesses
from auditor.bounds.one_run import GuessTally, OneRunGuesses, guess_numbers_between, read_guess_numbers
from auditor.claims import ApproximateDP, GaussianDP, Tradeoff
from auditor.defaults import CONFIDENCE
from auditor.errors import InvalidInputError, did_you_mean, require_known
from auditor.untrusted_files import read_bytes, read_json, read_text

# The most bytes of a file of scores.
MOST_SCORE_BYTES = 1 << 28

_Origin = Literal["independent-runs", "one-run", "one-run-apart"]

ASSUMPTIONS: dict[_Origin, tuple[str, ...]] = {
    "independent-runs": (
        "each score comes from a run of its own; all runs inside are alike, and all runs outside are alike",
        "the score function was fixed before these runs",
    ),
    "one-run": (
        "a fair coin of its own decided for each canary whether it is inside",
        "the mechanism and the attack do not know the coins; canaries may affect each other",
    ),
    "one-run-apart": (
        "a fair coin of its own decided for each canary whether it is inside",
        "no canary affects another one's score; otherwise the bounds are too large",
    ),
}
EPSILONS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
# The band takes its thresholds at so many quantiles of each side, and is printed at these type I errors.
QUANTILES, TYPE_I_ERRORS = 256, (0.001, 0.01, 0.05, 0.2, 0.5)
# The share of alpha spared for ties, and the share of the rest for coins that need more scores of a side than there are.
SPARED_SHARE = 0.01


@dataclass(frozen=True)
class ScoreBounds:
    """The bounds that scores prove, if everything ``assumed`` is true: ε, the band, and μ with the profile.

    Each of these three holds with probability ``confidence``, and is computed when it is first read. ``guesses`` lists pairs: a
    number of guesses, and the number of right guesses. With tied scores, at least this number is right with probability 0.99.
    ``between`` lists such pairs for numbers between those, which count for ε only. ``canaries`` is the number of canaries to
    guess on, and ``cells`` has how many scores of each side lie between the thresholds of the band (independent runs only).
    ``claim`` is a trade-off curve that was claimed, or None.
    """

    origin: _Origin
    delta: float
    confidence: float
    canaries: int
    guesses: tuple[tuple[int, int], ...]
    between: tuple[tuple[int, int], ...] = ()
    cells: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    claim: Tradeoff | None = None

    @functools.cached_property
    def epsilon(self) -> float:
        """A lower bound on ε at ``delta`` (nats), from all numbers of guesses together."""
        tallies = [GuessTally(self.canaries, *each) for each in (*self.guesses, *self.between)]
        return bound_of_nested_guesses(tallies, self.delta, self._alpha, apart=self.origin != "one-run")

    @functools.cached_property
    def mu(self) -> float:
        """A lower bound on μ."""
        return self._looks.bound(GaussianDP(0), self._alpha)

    @functools.cached_property
    def profile(self) -> tuple[tuple[float, float], ...]:
        """Pairs of an ε (nats) and a lower bound on δ at this ε. They hold together, and with ``mu``."""
        return tuple((epsilon, self._looks.delta(epsilon, self._alpha)) for epsilon in EPSILONS)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What must be true for the bounds to hold."""
        return ASSUMPTIONS[self.origin]

    @functools.cached_property
    def band(self) -> tuple[Box, ...]:
        """For each threshold the limits of the type I error, and those of the type II error, of the test that says "inside" above.

        There is a band for independent runs only. It holds with probability ``confidence`` by itself.
        """
        return self._curve.boxes() if self._curve else ()

    @functools.cached_property
    def reached(self) -> tuple[tuple[float, float], ...]:
        """Type I errors, each with a type II error that tests certainly reach, by the band."""
        if self._curve is None:
            return ()
        return tuple(zip(TYPE_I_ERRORS, self._curve.least_missed(np.array(TYPE_I_ERRORS)).tolist(), strict=True))

    @functools.cached_property
    def excess(self) -> float | None:
        """By how much (nats) the band exceeds the ε of a line of the claim; above 0, the claim is broken. None without a claim."""
        return None if self._curve is None or self.claim is None else self._curve.excess(self.claim)

    @property
    def violated(self) -> bool:
        """Whether the band breaks the claim."""
        return self.excess is not None and self.excess > 0

    @property
    def epsilon_if_gaussian(self) -> float:
        """The ε at δ of Gaussian noise with μ = ``mu``. It is a lower bound on ε only for a Gaussian mechanism."""
        if self.mu == 0:
            return 0.0
        if math.isinf(self.mu) or self.delta == 0:
            return math.inf

        def suffices(epsilon: float) -> bool:
            return gaussian_delta(self.mu, epsilon) <= self.delta

        most = self.mu * (self.mu / 2 + 40)
        return 0.0 if suffices(0.0) else narrow_bracket(suffices, 0.0, most, lambda low, high: high - low < 1e-9)[0]

    @property
    def _alpha(self) -> float:
        """The level that is left for the guesses: a share is spared for ties, and for coins that draw sides."""
        spared = 2 if self.origin == "independent-runs" else 1
        return (1 - SPARED_SHARE) ** spared * (1 - self.confidence)

    @functools.cached_property
    def _looks(self) -> OneRunGuesses:
        tallies = tuple(GuessTally(self.canaries, *each) for each in self.guesses)
        return OneRunGuesses(tallies, apart=self.origin != "one-run")

    @functools.cached_property
    def _curve(self) -> CurveBand | None:
        return None if self.cells is None else CurveBand.of_cells(*self.cells, 1 - self.confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return all bounds by name, and what they are made of; without a claim, no claim and no excess."""
        claimed = (
            {"claim": self.claim.to_dict(), "excess": self.excess, "violated": self.violated} if self.claim else {}
        )
        return {
            "origin": self.origin,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "mu": self.mu,
            "profile": self.profile,
            "confidence": self.confidence,
            "canaries": self.canaries,
            "guesses": self.guesses,
            "between": self.between,
            "assumed": self.assumed,
            "band": self.band,
            "reached": self.reached,
            **claimed,
            "epsilon_if_gaussian": self.epsilon_if_gaussian,
        }

    def _of_band(self) -> list[str]:
        """Return the lines about the band, if there is one. A type II error is rounded up."""
        if not self.reached:
            return []
        points = ", ".join(f"{math.ceil(missed * 1e4) / 1e4:.4f} at {wrong:g}" for wrong, missed in self.reached)
        claimed = [_say_claim(self.claim, self.excess)] if self.claim and self.excess is not None else []
        return [f"type II error, at type I errors all together: ≤ {points}", *claimed]

    def __str__(self) -> str:
        """Return the bounds in lines, each rounded down."""
        points = ", ".join(
            f"{_round_down(delta, 4)} at ε = {epsilon:g}" for epsilon, delta in self.profile if delta > 0
        )
        right = ", ".join(f"{wins:,} of {guesses:,}" for guesses, wins in self.guesses)
        if_gaussian = _round_down(self.epsilon_if_gaussian)
        return "\n".join(
            [
                f"ε ≥ {_round_down(self.epsilon)} at δ = {self.delta:g}, with {100 * self.confidence:g} % confidence",
                f"μ ≥ {_round_down(self.mu)}; for Gaussian noise, this is ε ≥ {if_gaussian} at δ = {self.delta:g}",
                f"δ ≥ {points or '0 at every ε'}",
                *self._of_band(),
                f"right guesses, of the surest on {self.canaries:,} canaries: {right}",
                *(f"assumed: {sentence}" for sentence in self.assumed),
            ]
        )


def _say_claim(claim: Tradeoff, excess: float) -> str:
    words = f"{claim} is broken" if excess > 0 else f"within the claimed {claim}"
    return f"{words}: excess ≥ {_round_down(excess)}"


def _round_down(value: float, digits: int = 3) -> str:
    return "∞" if math.isinf(value) else f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def audit_scores(
    inside: ArrayLike,
    outside: ArrayLike,
    origin: _Origin,
    *,
    delta: float = 1e-5,
    confidence: float = CONFIDENCE,
    guesses: int | Sequence[int] | None = None,
    claim: Tradeoff | None = None,
) -> ScoreBounds:
    """Bound ε at δ, μ and the privacy profile from scores of canaries that were in the data, and of others that were not.

    A higher score says "inside". The highest scores are guessed to be inside, and as many of the lowest outside. See
    :mod:`auditor.bounds.one_run` for the theorems.

    Args:
        inside: the scores of canaries that were in the data, one each.
        outside: the scores of canaries that were not in the data.
        origin: "independent-runs" if each score comes from a run of its own; "one-run" if a fair coin decided for each canary,
            and all scores come from one run; "one-run-apart" if, in addition, canaries do not affect each other's scores.
        delta: the δ at which ε is bounded.
        confidence: the chance that no bound exceeds the truth.
        guesses: the number of surest guesses that count, one or several, chosen without looking at the scores; by
            default all, a half, a quarter, and so on.
        claim: a trade-off curve to hold the scores of independent runs against.

    Raises InvalidInputError for scores that are not numbers, too few or NaN, and for coins that cannot have been fair.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> proved = audit_scores(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000), "independent-runs")
    >>> 0.7 < proved.mu < 1, 1 < proved.epsilon < 4.377 > proved.epsilon_if_gaussian > 3
    (True, True)
    """
    require_known("origin is", [origin], get_args(_Origin))
    ApproximateDP(0.0, delta)  # raises unless it is a δ
    if not 0 < confidence < 1:
        raise InvalidInputError(f"confidence is {confidence!r}; it must lie strictly between 0 and 1")
    if claim is not None and (not isinstance(claim, Tradeoff) or origin != "independent-runs"):
        raise InvalidInputError(
            f"claim is {claim!r}, and the scores are from {origin}; a claim must be a Tradeoff, for scores of independent runs"
        )
    sides = _require_scores("inside", inside), _require_scores("outside", outside)
    cells = None
    if origin == "independent-runs":
        edges = choose_thresholds(sides, QUANTILES)
        cells = count_cells(sides[0], edges), count_cells(sides[1], edges)
        sides = _draw_sides_by_coins(*sides, (1 - SPARED_SHARE) * (1 - confidence))
    else:
        from scipy.special import bdtr

        number_in, number_out = map(len, sides)
        if 2 * bdtr(min(number_in, number_out), number_in + number_out, 0.5) < 1e-6:
            raise InvalidInputError(
                f"{number_in:,} canaries are inside and {number_out:,} outside; in one run, a fair coin for each canary must "
                'decide this. Scores of separate runs have the origin "independent-runs"'
            )
    canaries = sum(map(len, sides))
    numbers = read_guess_numbers(guesses, canaries)
    between = guess_numbers_between(canaries) if guesses is None else ()
    counted = tuple((tally.guesses, tally.wins) for tally in count_right_guesses_with_ties(*sides, numbers + between))
    at = len(numbers)
    return ScoreBounds(origin, delta, confidence, canaries, counted[:at], counted[at:], cells, claim)


def _require_scores(name: str, given: ArrayLike) -> Floats:
    """Return scores as floats of shape (scores,). Raises InvalidInputError unless there are some, all numbers and none NaN."""
    kind = "something"
    try:
        array = np.asarray(given)
        # NumPy would turn dates into numbers, and drop the imaginary part of complex numbers.
        if array.dtype.kind not in "biufO":
            kind = f"something of type {array.dtype}"
            raise TypeError
        scores = np.asarray(array, np.float64).ravel()
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InvalidInputError(f"{name} holds {kind} that is not a number; it must be a list of scores") from None
    if not len(scores) or np.isnan(scores).any():
        nan = np.isnan(scores).sum()
        missing = f"{nan:,} of {len(scores):,} scores that are NaN" if len(scores) else "no scores"
        raise InvalidInputError(
            f"{name} has {missing}; every canary needs a score; give failed canaries the same score on both sides"
        )
    return scores


def _draw_sides_by_coins(inside: Floats, outside: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return random scores of both sides, as many of each as fair coins decide.

    With probability at most 1 % of alpha, a side has too few scores. The scores seed the random choice, so a second
    try gives the same choice.
    """
    from scipy.stats import binom

    def may_run_out(trials: int) -> bool:
        return sum(float(binom.sf(len(side), trials, 0.5)) for side in (inside, outside)) > SPARED_SHARE * alpha

    trials, _ = narrow_bracket(may_run_out, 0, len(inside) + len(outside), lambda low, high: False)
    rng = np.random.default_rng(list(hashlib.sha256(inside.tobytes() + outside.tobytes()).digest()))
    left = int(np.clip(rng.binomial(trials, 0.5), trials - len(outside), len(inside)))
    return rng.permutation(inside)[:left], rng.permutation(outside)[: trials - left]


def count_right_guesses_with_ties(inside: Floats, outside: Floats, numbers: Sequence[int]) -> tuple[GuessTally, ...]:
    """Count right guesses for each number: "in" for the highest scores, and "out" for as many of the lowest, or one fewer.

    Ties are broken at random. The count returned is one that random tie-breaking reaches with probability at least
    1 − SPARED_SHARE. So if random tie-breaking refutes a true claim with probability at most α (type I error), this count
    does so with probability at most α/(1 − SPARED_SHARE), also if the largest of several bounds is taken.
    """
    guesses = np.array(numbers)
    low = guesses // 2
    wins = _count_right_among_lowest(outside, inside, low) + _count_right_among_lowest(-inside, -outside, guesses - low)
    each = zip(guesses.tolist(), wins.tolist(), strict=True)
    return tuple(GuessTally(len(inside) + len(outside), number, right) for number, right in each)


def _count_right_among_lowest(right: Floats, wrong: Floats, numbers: Ints) -> Ints:
    """Count ``right`` scores among the lowest, for each of ``numbers``; random tie-breaking rarely has fewer (SPARED_SHARE/2)."""
    right, wrong, every = np.sort(right), np.sort(wrong), np.sort(np.concatenate([right, wrong]))
    cuts = every[np.maximum(numbers, 1) - 1]
    below, equal = np.searchsorted(right, cuts), np.searchsorted(right, cuts, "right")
    below_wrong, equal_wrong = np.searchsorted(wrong, cuts), np.searchsorted(wrong, cuts, "right")
    counts, drawn = equal.copy(), numbers - below - below_wrong
    equal, tied = equal - below, equal + equal_wrong - below - below_wrong
    split = drawn < tied
    if split.any():
        from scipy.stats import hypergeom

        least = hypergeom.ppf(SPARED_SHARE / 2, tied[split], equal[split], drawn[split])
        counts[split] = below[split] + least.astype(np.int64)
    return np.where(numbers > 0, counts, 0)


def read_scores(place: str) -> Floats:
    """Read scores from a file: .npy, .csv, .json or .parquet. "file.csv:column" names one of several columns.

    Raises InvalidInputError that names the file and the fault.
    """
    path, column = Path(place), ""
    if not path.exists() and ":" in place:
        name, _, column = place.rpartition(":")
        path = Path(name)
    read = {".npy": _read_npy, ".csv": _read_csv, ".json": _read_json, ".parquet": _read_parquet}.get(path.suffix)
    if read is None:
        raise InvalidInputError(f"{path} must end in .npy, .csv, .json or .parquet")
    try:
        return _require_scores(place, read(path, column))
    except InvalidInputError:
        raise
    except Exception as error:  # libraries raise errors of many kinds for files that they cannot read
        raise InvalidInputError(f"{path}: {str(error) or type(error).__name__}") from None


def _read_npy(path: Path, column: str) -> Any:
    read_bytes(path, MOST_SCORE_BYTES)  # raises if it is not a file, or too large
    # NumPy cannot map a file into memory that is shorter than its header says.
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"it is no whole file of numbers as numpy.save writes it ({error})") from None


def _read_json(path: Path, column: str) -> Any:
    data = read_json(path, MOST_SCORE_BYTES, "a file of scores")
    return data[_choose_column(list(data), column)] if isinstance(data, dict) else data


def _read_csv(path: Path, column: str) -> Any:
    lines = csv.reader(io.StringIO(read_text(path, MOST_SCORE_BYTES), newline=""))
    try:
        rows: Iterator[list[str]] = (row for row in lines if row)
        first = next(rows, None)
        if first is None:
            raise ValueError("it is empty")
        try:
            np.array(first, float)
            names, rows = [str(i) for i in range(len(first))], itertools.chain([first], rows)
        except ValueError:  # the first row is a heading
            names = first
        place = names.index(_choose_column(names, column))
        return np.fromiter((_parse_cell(row, len(names), place, lines.line_num) for row in rows), float)
    except csv.Error as error:
        raise ValueError(f"line {lines.line_num} is not CSV: {error}") from None


def _parse_cell(row: list[str], width: int, place: int, line: int) -> float:
    if len(row) != width:
        raise ValueError(f"line {line} has {len(row)} fields, but the first line has {width}")
    try:
        return float(row[place])
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None


def _read_parquet(path: Path, column: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InvalidInputError("Parquet needs pyarrow; pip install dp-auditor[scores]") from None
    file = pq.ParquetFile(io.BytesIO(read_bytes(path, MOST_SCORE_BYTES)))
    name = _choose_column(file.schema_arrow.names, column)
    kind, rows = file.schema_arrow.field(name).type, file.metadata.num_rows
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise ValueError(f'the column "{name}" holds {kind}, and scores are numbers')
    if rows > MOST_SCORE_BYTES // 8:  # a few bytes can stand for any number of equal rows
        raise ValueError(f"it has {rows:,} rows, and {MOST_SCORE_BYTES // 8:,} are the limit")
    return file.read([name]).column(0).to_numpy()


def _choose_column(names: Sequence[str], column: str) -> str:
    """Return the name of the column to read. Raises ValueError if there is none, or no unique one."""
    if column not in names and (column or len(names) != 1):
        wanted = f'it has no column "{column}"' if column else "it has several columns; write FILE:COLUMN"
        raise ValueError(f"{wanted}; {did_you_mean(column, names)}")
    name = column or names[0]
    if names.count(name) > 1:
        raise ValueError(f'it has several columns called "{name}"; rename them')
    return name
