"""The search over parameters: for the largest ratio of exact to stated, and then for the simplest parameters that show it."""

import math
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from auditor.accountants.calls import Caller, Failure
from auditor.accountants.outcome import PRECISION, ROUNDING, Statement, rounded_outward
from auditor.accountants.points import Points, Setting
from auditor.accountants.target import TARGETS, Value
from auditor.errors import InvalidInputError
from auditor.exact import Composition, Process

# Intervals that are made narrower have these relative precisions.
FINER = (1e-3, 1e-4)
MOST_OF_CURVE = 40
# By when lines, corners and random settings end, and climbing: the share of the settings, and that of the time. What is left
# of the time goes to facts and to simpler settings, for which each evaluation counts as well.
SPREAD, CLIMBED, LAST = (0.7, 0.5), (0.87, 0.65), (1.0, 0.9)
CLIMBS, REACHES = 3, (0.3, 0.1, 0.03)
MOST_FINER, MOST_SIMPLER = 12, 120


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What a setting gave: the statement of the largest ratio; or why there is none.

    ``outside`` says why there is no process. ``process`` is None outside, and for a calibration that failed.
    """

    setting: Setting
    statement: Statement | None = None
    process: Process | Composition | None = None
    failure: Failure | None = None
    outside: str = ""
    how: str = ""
    score: float = 0.0
    is_below: bool = False
    decided: bool = False


@dataclass
class Search:
    """Settings that were evaluated, in their order. No further one is tried ``seconds`` after the first answer."""

    caller: Caller
    tolerance: float
    seed: int
    most: int
    seconds: float
    evaluated: dict[str, Evaluated] = field(default_factory=dict)
    in_time: bool = True

    def __post_init__(self) -> None:
        self.accountant = self.caller.accountant
        self.points = Points(self.accountant)
        self.rng = np.random.default_rng(self.seed)
        self.began = time.monotonic()

    # --- One setting ---

    def at(self, setting: Setting, precision: float = PRECISION) -> Evaluated:
        """Return what a setting gives; each is evaluated once."""
        key = repr(setting)
        if key not in self.evaluated:
            self.evaluated[key] = self.fresh(setting, precision)
        return self.evaluated[key]

    def fresh(self, setting: Setting, precision: float = PRECISION) -> Evaluated:
        """Evaluate a setting, whether or not it was before."""
        return (
            self._calibrated(setting, precision)
            if self.accountant.states == "noise"
            else self._stated(setting, precision)
        )

    def _stated(self, setting: Setting, precision: float) -> Evaluated:
        process = self.caller.process(setting)
        if isinstance(process, Failure):
            return Evaluated(setting, failure=process)
        if isinstance(process, str):
            return Evaluated(setting, outside=process)
        numbers = self.caller.stated(setting)
        if isinstance(numbers, Failure):
            return Evaluated(setting, process=process, failure=numbers)
        found = []
        # Each setting looks at other points of a long curve.
        stride = math.ceil(len(numbers) / MOST_OF_CURVE)
        for at, value in numbers[zlib.crc32(repr(setting).encode()) % stride :: stride]:
            argument = self._argument(setting) if at is None else at
            if math.isnan(value):
                return Evaluated(setting, process=process, failure=Failure("no number", "it returned NaN"))
            stated = 1 - value if self.accountant.states == "tradeoff" else value
            try:
                found.append(self._compared(setting, process, stated, argument, precision))
            except InvalidInputError as error:
                if at is None:
                    return Evaluated(setting, outside=str(error))
        if not found:
            return Evaluated(setting, outside="no point of the curve has an exact number")
        return max(found, key=lambda one: (one.is_below, one.score))

    def _argument(self, setting: Setting) -> Value:
        """Return where a single number is stated. Raises InvalidInputError if no parameter says it."""
        name = self.accountant.argument
        if name is not None and name not in setting:
            raise InvalidInputError(
                f"{self.accountant.name} states {self.accountant.states} as a number, and no parameter says where; add `{name}` to "
                "the parameters, or return a curve"
            )
        return setting.get(name or "")

    def _calibrated(self, setting: Setting, precision: float) -> Evaluated:
        target = next(name for name in TARGETS if name in setting)
        wanted = setting[target]
        numbers = self.caller.stated(setting)
        if isinstance(numbers, Failure):
            return Evaluated(setting, failure=numbers)
        noise = numbers[0][1]
        if math.isnan(noise) or noise < 0:
            return Evaluated(setting, failure=Failure("no number", f"it returned the noise {noise:g}"))
        if isinstance(wanted, bool) or not isinstance(wanted, int | float):
            return Evaluated(setting, outside=f"{target} is {wanted!r}, and no number")
        if noise in (0.0, math.inf):  # no noise at all hides nothing; infinite noise hides all
            value = math.inf if noise == 0 else 0.0
            return self._judged(
                Statement(setting, float(wanted), value, value, noise=noise), None, "no noise hides nothing"
            )
        process = self.caller.process(setting, noise)
        if isinstance(process, Failure):
            return Evaluated(setting, failure=process)
        if isinstance(process, str):
            return Evaluated(setting, outside=process)
        try:
            argument = setting.get("delta", 0.0) if target == "epsilon" else None
            exact = self.caller.exact(process, target, argument, precision)
        except InvalidInputError as error:
            return Evaluated(setting, outside=str(error))
        return self._judged(Statement(setting, float(wanted), *rounded_outward(exact), noise=noise), process, exact.how)

    def _compared(
        self, setting: Setting, process: Process | Composition, value: float, argument: object, precision: float
    ) -> Evaluated:
        exact = self.caller.exact(process, self.accountant.states, argument, precision)
        known = float(argument) if isinstance(argument, int | float) else None
        lower = self.accountant.bound == "lower"
        return self._judged(Statement(setting, value, *rounded_outward(exact), known, lower=lower), process, exact.how)

    def _judged(self, statement: Statement, process: Process | Composition | None, how: str) -> Evaluated:
        states, stated = self.accountant.states, statement.stated
        over = max(0.0, statement.low - ROUNDING[states])
        score = 0.0 if over == 0 or stated == math.inf else math.inf if stated <= 0 else over / stated
        if statement.lower:
            score = max(0.0, statement.ratio)
        is_below, decided = (test(states, self.tolerance) for test in (statement.is_below, statement.is_decided))
        return Evaluated(dict(statement.parameters), statement, process, None, "", how, score, is_below, decided)

    # --- Many settings ---

    def run(self) -> None:
        """Spread settings over the ranges, and climb from the best."""
        self.at(self.points.centre())  # which waits until the accountant is imported
        self.began = time.monotonic()
        self._all(self._spread(), *SPREAD)
        self._climbs(SPREAD, CLIMBED)
        self._finer()

    def run_on(self) -> None:
        """Climb with the settings and most of the time that are left, if no violation needs them to become simpler."""
        self._climbs(CLIMBED, LAST)

    def _climbs(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        for number in range(CLIMBS):
            share, of_time = (a + (b - a) * (number + 1) / CLIMBS for a, b in zip(begin, end, strict=True))
            self._climb(number, share, of_time)

    def _spread(self) -> Iterator[Setting]:
        centre, simplest = self.points.centre(), self.points.simplest()
        yield from (centre, simplest)
        planned = [setting for base in (centre, simplest) for _, line in self.points.lines(base) for setting in line]
        planned += self.points.corners(self.rng)
        for i, place in enumerate(self.rng.permutation(len(planned))):
            yield planned[int(place)]
            if i % 2:
                yield self.points.random(self.rng)
        while True:
            yield self.points.random(self.rng)

    def _all(self, settings: Iterable[Setting], share: float, of_time: float) -> None:
        for tries, setting in enumerate(settings):
            if len(self.evaluated) >= share * self.most or tries > 4 * self.most or self.late(of_time):
                break
            self.at(setting)

    def _climb(self, number: int, share: float, of_time: float) -> None:
        """Change single values of a setting with a large ratio, and keep what makes it larger."""
        ranked = sorted(self._compared_ones(), key=lambda one: -one.score)
        if len(ranked) <= number:
            return
        best, tries = ranked[number], 0
        while len(self.evaluated) < share * self.most and tries < self.most and not self.late(of_time):
            reach = REACHES[tries % len(REACHES)]
            moved = self.at(self.points.near(best.setting, self.rng, reach))
            best, tries = moved if moved.score > best.score else best, tries + 1
            if best.score == math.inf:
                break

    def _finer(self) -> None:
        """Make the intervals of those settings narrower that may be violations and are not yet."""
        open_ones = [one for one in self._compared_ones() if (s := one.statement) and not one.is_below and s.is_open]
        open_ones.sort(key=lambda one: -_possible_ratio(one.statement))
        for one in open_ones[:MOST_FINER]:
            for precision in FINER:
                if self.late(CLIMBED[1]):
                    return
                narrowed = self.fresh(one.setting, precision)
                if narrowed.statement is not None:
                    self.evaluated[repr(one.setting)] = narrowed
                s = narrowed.statement
                if s is None or narrowed.is_below or not s.is_open:
                    break

    def simplest(self, worst: Evaluated) -> Evaluated:
        """Return the simplest setting found that still shows the violation, by a large part of its ratio."""
        enough = (
            2.0
            if worst.score == math.inf
            else math.exp(min(math.log(worst.score), max(math.log(worst.score) / 4, 1e-3)))
        )
        enough = min(enough, worst.score)
        best, tries, improved = worst, 0, True
        while improved:
            improved = False
            for setting in self.points.simpler(best.setting):
                if tries >= MOST_SIMPLER or self.late(1.0):
                    return best
                tries += 1
                found = self.at(setting)
                if (
                    found.is_below
                    and found.score >= enough
                    and self.points.complexity(setting) < self.points.complexity(best.setting)
                ):
                    best, improved = found, True
                    break
        return best

    def late(self, share: float) -> bool:
        """Whether a share of the time is over."""
        over = time.monotonic() > self.began + share * self.seconds
        self.in_time = self.in_time and not over
        return over

    def _compared_ones(self) -> list[Evaluated]:
        return [one for one in self.evaluated.values() if one.statement is not None]

    def worst(self) -> Evaluated | None:
        """Return the setting with the largest ratio, first of those that are violations; None if nothing could be compared."""
        return max(self._compared_ones(), key=lambda one: (one.is_below, one.score), default=None)


def _possible_ratio(statement: Statement | None) -> float:
    """Return how many times too small, or as a lower bound too large, the stated number may be."""
    if statement is None:
        return 0.0
    larger, smaller = (statement.stated, statement.low) if statement.lower else (statement.high, statement.stated)
    return larger / max(smaller, 1e-300)
