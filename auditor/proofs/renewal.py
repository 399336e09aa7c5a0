"""The law of a sampler that retries, by enumeration of one attempt.

Let an attempt return v with probability p(v), and fail with probability r. Attempts are independent and alike, so that the sampler
returns v with probability p(v) + r p(v) + r² p(v) + … = p(v)/(1 − r) (renewal).

Draws of an attempt that are less likely than ``LEAST`` are left out. Then p and r are lower bounds, and so is p(v)/(1 − r). What is
missing to 1 is not resolved, and counts for δ.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from auditor.blackbox.retrying import RETRY
from auditor.proofs.form import CURRENT, Form
from auditor.proofs.lazy import Cuts, Lazy, State
from auditor.proofs.run import Names, TracedRun

LEAST = Fraction(1, 2**60)
MOST_RUNS = 20_000


class _UnlikelyError(BaseException):
    """A run of an attempt that has become too unlikely to follow."""


class _Attempt(TracedRun):
    """A run of one attempt, with its probability."""

    mass = Fraction(1)

    def settle(self, sources: frozenset[str], cuts: Cuts) -> dict[str, Any]:
        settled = super().settle(sources, cuts)
        self.mass = Fraction(1)
        for _, share in self.labels.values():
            self.mass *= share
        if self.mass < LEAST:
            raise _UnlikelyError
        return settled


def outcomes_of(names: Names, key: Any, attempt: Callable[[TracedRun], Any]) -> list[State]:
    """Return the values of a sampler with lower bounds on their probabilities, from ``names`` where they are known."""
    if key not in names.samplers:
        names.samplers[key] = _enumerated(names, attempt)
    return names.samplers[key]


def _enumerated(names: Names, attempt: Callable[[TracedRun], Any]) -> list[State]:
    values: dict[str, Any] = {}
    masses: dict[str, Fraction] = {}
    again = Fraction(0)
    waiting: list[tuple[int, ...]] = [()]
    for _ in range(MOST_RUNS):
        if not waiting:
            break
        prefix = waiting.pop()
        run = _Attempt(Names(samplers=names.samplers, deadline=names.deadline), prefix)
        token = CURRENT.set(run)
        try:
            value = _settled(attempt(run), run)
            if value is RETRY:
                again += run.mass
            else:
                values[repr(value)] = value
                masses[repr(value)] = masses.get(repr(value), Fraction(0)) + run.mass
        except _UnlikelyError:
            pass
        finally:
            CURRENT.reset(token)
        for at in range(len(prefix), len(run.taken)):
            waiting += [(*run.taken[:at], other) for other in range(1, run.options[at])]
    if waiting:
        raise CURRENT.get().fail(f"one attempt of a sampler has more than {MOST_RUNS:,} paths")
    if not masses:
        raise CURRENT.get().fail("a sampler that retries never returns anything")
    return [(values[text], mass / (1 - again)) for text, mass in masses.items()]


def _settled(value: Any, run: TracedRun) -> Any:
    if isinstance(value, Lazy):
        value = value.settled()
    if (
        run.conditions
        or isinstance(value, Form)
        or not (value is None or isinstance(value, bool | int | float | str | type(RETRY)))
    ):
        raise run.fail("a sampler that retries returns or compares something else than finite draws, numbers and text")
    return value
