"""The error budget of a file, and the verdict on a claim by a bound."""

import math
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Literal

from auditor.bounds.bisection import narrow_bracket
from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.defaults import CONFIDENCE, LEAST_CONFIDENCE
from auditor.errors import InvalidInputError


class Verdict(StrEnum):
    """How an audit ended."""

    VIOLATION = "violation"
    NO_VIOLATION_FOUND = "no_violation_found"
    INCONCLUSIVE = "inconclusive"
    MEASURED = "measured"


class End(StrEnum):
    """What the end of an audit or of a run means for those who wait for it, from the best to the worst.

    Everything that says how a run ended derives from this: its exit status, every form of its report, and what GitHub
    is sent.
    """

    AS_EXPECTED = "as expected"
    NO_ANSWER = "no answer"
    WEAK = "weak"  # a weak pass, where these fail
    UNEXPECTED = "not as expected"


def end_of_audit(verdict: Verdict, expected: Verdict, *, weak: bool, strict: bool, accepted: str = "") -> End:
    """Return what the end of an audit means. With ``strict``, a weak pass fails, unless it is ``accepted`` for a reason.

    >>> end_of_audit(Verdict.NO_VIOLATION_FOUND, Verdict.NO_VIOLATION_FOUND, weak=True, strict=True)
    <End.WEAK: 'weak'>
    """
    if verdict is Verdict.INCONCLUSIVE:
        return End.NO_ANSWER
    if verdict is not expected:
        return End.UNEXPECTED
    return End.WEAK if weak and strict and not accepted else End.AS_EXPECTED


def end_of_run(audits: Iterable[End], *, failed_changes: int, missing_files: int) -> End:
    """Return what the end of a run means: the worst end of its audits; UNEXPECTED if a change since the baseline fails;
    at best NO_ANSWER if a file of the run is missing.

    A run without audits has no answer.
    """
    ends = [*audits, *[End.UNEXPECTED] * bool(failed_changes), *[End.NO_ANSWER] * bool(missing_files)]
    return max(ends, key=[*End].index, default=End.NO_ANSWER)


def alpha_for_each(confidence: float, audits: int) -> float:
    """Share the allowed error of a file evenly (Bonferroni).

    With probability at least ``confidence`` none of the file's bounds exceeds the truth, however the audits depend
    on each other. Raises InvalidInputError for a confidence outside (0, 1).

    >>> round(alpha_for_each(0.999, 10), 6)
    0.0001
    """
    if not 0 < confidence < 1:
        raise InvalidInputError(
            f"confidence is {confidence!r}; it must lie strictly between 0 and 1, such as {CONFIDENCE}"
        )
    return (1 - confidence) / max(1, audits)


def holm_levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the level of each claim, such that a file's chance of any false alarm is at most ``alpha``.

    Holm's step-down (1979): the smallest p-value is compared with α/m, the next with α/(m − 1), and so on until one
    fails. All remaining p-values are then compared with the last level. The chance holds for any dependence of the
    p-values. A p-value may be the inverse of the wealth of bets.

    >>> [round(level, 4) for level in holm_levels([0.5, 0.001, 0.02], 0.06)]
    [0.06, 0.02, 0.03]
    """
    m = len(p_values)
    levels = [0.0] * m
    open_level = alpha / max(1, m)
    still_refuting = True
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        if still_refuting:
            open_level = alpha / (m - rank)
            still_refuting = p_values[i] <= open_level
        levels[i] = open_level
    return levels


def level_of(confidence: float, audits: int) -> float:
    """Return the level of each audit of a run, see ``alpha_for_each``.

    Raises InvalidInputError for a confidence outside [LEAST_CONFIDENCE, 1), which no audit can have.
    """
    alpha = alpha_for_each(confidence, audits)
    if confidence < LEAST_CONFIDENCE:
        raise InvalidInputError(
            f"confidence is {confidence!r}; it must be at least {LEAST_CONFIDENCE}, such as {CONFIDENCE}: "
            "this is the chance that no false alarm is raised"
        )
    return alpha


def expected_of(claim: Claim, expected: Verdict = Verdict.NO_VIOLATION_FOUND) -> Verdict:
    """Return the verdict with which an audit should end: MEASURED without a claim, otherwise ``expected``."""
    return Verdict.MEASURED if not claim.is_stated else expected


def judge(claim: Claim, bound: Bound, *, could_refute: bool = True) -> Verdict:
    """Return VIOLATION if the bound lies strictly beyond the claim. Return MEASURED if the audit has no claim.

    Return INCONCLUSIVE if the bound is NaN. ``could_refute`` says that this number of outputs can refute the claim, if
    the violation is large. If it is False, NO_VIOLATION_FOUND becomes INCONCLUSIVE.
    """
    excess = claim.excess(bound.value)
    if not claim.is_stated and excess <= 0:
        return Verdict.MEASURED
    if excess > 0:
        return Verdict.VIOLATION
    return Verdict.NO_VIOLATION_FOUND if excess <= 0 and could_refute else Verdict.INCONCLUSIVE


# A pass is weak if its search finds less than ENOUGH_FOUND of the planted faults that the outputs on the right pair would
# show, significant at level BY_CHANCE.
ENOUGH_FOUND, BY_CHANCE = 0.5, 0.1
# So is one whose search finds too few of those on data with one kind of fact, significant at level OF_A_KIND_BY_CHANCE: a search
# that finds most faults may miss all that show on one of a hundred values.
OF_A_KIND_BY_CHANCE = 0.02
# If too few are found, so many times the outputs are tried.
TIMES = (4, 16, 64)


def found_too_few(found: int, planted: int, by_chance: float = BY_CHANCE) -> bool:
    """Whether a search that finds each fault with probability ENOUGH_FOUND finds so few with probability at most
    ``by_chance``.

    >>> found_too_few(16, 40), found_too_few(15, 40), found_too_few(1, 4)
    (False, True, False)
    """
    from scipy.special import bdtr

    return found < planted and bool(bdtr(found, planted, ENOUGH_FOUND) <= by_chance)


def refuting_side(claim: Claim) -> Literal["lower", "upper"]:
    """Return the kind of bound that can refute a claim: a lower bound, unless the claim is that a quantity is large."""
    return "lower" if claim.excess(math.inf) > 0 else "upper"


def smallest_level(refutes: Callable[[float], Any]) -> float:
    """Return the smallest level that refutes, rounded up to three digits. Return 1 if no level refutes."""
    low, high = -300.0, math.log10(0.999)
    if not refutes(10**high):
        return 1.0
    if refutes(10**low):
        return 10**low
    _, least = narrow_bracket(lambda power: bool(refutes(10**power)), low, high, lambda low, high: high - low <= 1e-4)
    return float(10**least)
