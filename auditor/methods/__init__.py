"""The method for each kind of claim: what it learns, what it counts, and which bound it proves."""

from dataclasses import dataclass
from importlib.util import find_spec

from auditor import claims
from auditor.claims import Claim, Probability
from auditor.defaults import VALUES
from auditor.errors import InvalidInputError
from auditor.interfaces import AnyMethod
from auditor.methods.curve import CurveMethod
from auditor.methods.divergence import Divergence
from auditor.methods.guessing import GaussianGuesses, Guesses, ProfileGuesses, TwoIntervals
from auditor.methods.probability import Rate


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods for a kind of claim; ``two_intervals`` is None if the textbook method does not apply."""

    fixed: type[AnyMethod]
    two_intervals: type[AnyMethod] | None = None


METHODS: dict[type[Claim], Methods] = {
    claims.PureDP: Methods(Guesses, TwoIntervals),
    claims.ApproximateDP: Methods(Guesses, TwoIntervals),
    claims.GaussianDP: Methods(GaussianGuesses),
    claims.Unclaimed: Methods(Guesses, TwoIntervals),
    claims.PrivacyProfile: Methods(ProfileGuesses),
    claims.Tradeoff: Methods(CurveMethod),
    claims.RenyiDP: Methods(Divergence),
    claims.ZeroConcentratedDP: Methods(Divergence),
    Probability: Methods(Rate),
}


def method_for(claim: Claim, name: str, alpha: float, planned: int, events: tuple[str, ...] = (VALUES,)) -> AnyMethod:
    """Return the method called ``name`` for a claim, by its exact type: a subclass needs its own entry in METHODS.

    Probability has one method for all names. Raises InvalidInputError if there is none, or if it cannot see ``events``.
    """
    if type(claim) not in METHODS:
        raise InvalidInputError(f"a claim of {claim} has no method; enter one in auditor.methods.METHODS")
    methods = METHODS[type(claim)]
    kind = methods.fixed
    if isinstance(claim, Probability):
        return kind(claim, alpha, planned)
    if name == "two-intervals":
        if methods.two_intervals is None:
            raise InvalidInputError(f"method two-intervals bounds ε at δ; for a claim of {claim} use method: fixed")
        if find_spec("statsmodels") is None:
            raise InvalidInputError(
                "method two-intervals needs statsmodels, which is not installed: pip install 'dp-auditor[intervals]'"
            )
        kind = methods.two_intervals
    return kind(claim, alpha, planned, events=events)
