"""One error budget for a file, and what a bound says of a claim."""

from enum import StrEnum

from auditor.bounds.evidence import Bound
from auditor.claims import Claim
from auditor.errors import InvalidInputError


class Verdict(StrEnum):
    """How an audit ended."""

    VIOLATION = "violation"
    NO_VIOLATION_FOUND = "no_violation_found"
    INCONCLUSIVE = "inconclusive"


def alpha_for_each(confidence: float, audits: int) -> float:
    """Share the allowed error of a file evenly (Bonferroni).

    With probability at least ``confidence`` none of the file's bounds exceeds the truth, however the audits depend
    on each other. Raises InvalidInputError for a confidence outside (0, 1).

    >>> round(alpha_for_each(0.999, 10), 6)
    0.0001
    """
    if not 0 < confidence < 1:
        raise InvalidInputError(f"confidence is {confidence!r}; it must lie strictly between 0 and 1")
    return (1 - confidence) / max(1, audits)


def judge(claim: Claim, bound: Bound) -> Verdict:
    """Return VIOLATION only where the bound lies strictly above what is claimed; INCONCLUSIVE where it is NaN."""
    if bound.value > claim.value:
        return Verdict.VIOLATION
    return Verdict.NO_VIOLATION_FOUND if bound.value <= claim.value else Verdict.INCONCLUSIVE
