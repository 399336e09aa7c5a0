"""The law of a sampler that retries, by enumeration of one attempt.

Let an attempt return v with probability p(v), and fail with probability r. Attempts are independent and alike, so that the sampler
returns v with probability p(v) + r p(v) + r² p(v) + … = p(v)/(1 − r) (renewal).

Draws of an attempt that are less likely than ``LEAST`` are left out. Then p and r are lower bounds, and so is p(v)/(1 − r). What is
missing to 1 is not resolved, and counts for δ.
"""

import types
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from auditor.blackbox.retrying import RETRY
from auditor.proofs import generator
from auditor.proofs.evaluator import Evaluator, evaluated
from auditor.proofs.lazy import CURRENT, Cuts, Lazy, NotProvedError, State
from auditor.proofs.outside import seen
from auditor.proofs.run import Drawn, Names, NoiseDraw, TracedRun, label_of
from auditor.proofs.values import Term, is_constant

LEAST = Fraction(1, 2**60)
MOST_RUNS = 20_000


class _UnlikelyError(Exception):
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


def sampled(run: TracedRun, sampler: types.FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return the result of a sampler that repeats attempts; see :func:`auditor.retrying`.

    An attempt is a function of its arguments alone. It may not be made inside of the mechanism, and may refer to constants only.
    """
    settled = [value.settled() if isinstance(value, Lazy) else value for value in arguments]
    named = {name: value.settled() if isinstance(value, Lazy) else value for name, value in keywords.items()}
    if not all(map(is_constant, (*settled, *named.values()))):
        raise NotProvedError("a sampler that retries gets an argument other than numbers and text")
    cells = sampler.__closure__ or ()
    attempt = cells[sampler.__code__.co_freevars.index("attempt")].cell_contents
    key = (attempt, label_of(settled), label_of(named))
    if key not in run.names.samplers:
        run.names.samplers[key] = _enumerated(run, attempt, settled, named)
    possible = run.names.samplers[key]
    name = run.draw(generator.finite(possible))
    run.outcomes[name] = possible
    run.drew(
        NoiseDraw("sampled", name, lambda drawn: next(value for value, _ in possible if _label(value) == _label(drawn)))
    )
    return Lazy.source(name)


def _enumerated(
    outer: TracedRun, attempt: types.FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> list[State]:
    """Return the values of a sampler with lower bounds on their probabilities."""
    values: dict[str, Any] = {}
    masses: dict[str, Fraction] = {}
    again = Fraction(0)
    waiting: list[tuple[int, ...]] = [()]
    for _ in range(MOST_RUNS):
        if not waiting:
            break
        prefix = waiting.pop()
        run = _Attempt(Names(samplers=outer.names.samplers), prefix)
        token = CURRENT.set(run)
        try:
            evaluator = Evaluator(run, sampled)
            value = _known(evaluated(evaluator, seen(attempt), [generator.RNG, *arguments], keywords), run)
            if value is RETRY:
                again += run.mass
            else:
                label = _label(value)
                values[label] = value
                masses[label] = masses.get(label, Fraction(0)) + run.mass
        except _UnlikelyError:
            pass
        finally:
            CURRENT.reset(token)
        for at in range(len(prefix), len(run.taken)):
            node = run.nodes[at]
            options = len(node.outcomes) if isinstance(node, Drawn) else len(node.relations)
            waiting += [(*run.taken[:at], other) for other in range(1, options)]
    if waiting:
        raise NotProvedError(f"one attempt of a sampler has more than {MOST_RUNS:,} paths")
    if not masses:
        raise NotProvedError("a sampler that retries never returns anything")
    return [(values[label], mass / (1 - again)) for label, mass in masses.items()]


def _label(value: Any) -> str:
    return f"{type(value).__module__} {type(value).__name__} {label_of(value)}"


def _known(value: Any, run: TracedRun) -> Any:
    """Return a value of an attempt, which is looked at."""
    if isinstance(value, Lazy):
        value = value.settled()
    if run.conditions or isinstance(value, Term) or not (value is RETRY or is_constant(value)):
        raise NotProvedError(
            "a sampler that retries returns or compares a value other than finite draws, numbers and text", run.place
        )
    return value
