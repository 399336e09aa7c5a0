"""How each kind of claim is put to the test: what to learn, what to count, what the counts prove."""

from typing import Any

from auditor.claims import (
    ApproximateDP,
    GaussianDP,
    PrivacyClaim,
    PrivacyProfile,
    Probability,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)
from auditor.errors import InvalidInputError
from auditor.events.selection import BITS, VALUES
from auditor.methods.base import Method
from auditor.methods.divergence import Divergence
from auditor.methods.guessing import GaussianGuesses, Guesses, TwoIntervals
from auditor.methods.probability import Rate
from auditor.methods.profile import ProfileGuesses

_FIXED: dict[type[PrivacyClaim], Any] = {
    PureDP: Guesses,
    ApproximateDP: Guesses,
    GaussianDP: GaussianGuesses,
    PrivacyProfile: ProfileGuesses,
    RenyiDP: Divergence,
    ZeroConcentratedDP: Divergence,
}


def method_for(
    claim: PrivacyClaim | Probability, name: str, alpha: float, planned: int, events: tuple[str, ...] = (VALUES,)
) -> Method[Any]:
    """Return the method of that name for a privacy claim, of a fixed number of trials; for probabilities there is one only.

    Raises InvalidInputError where there is none, or none that can look at such events.
    """
    if isinstance(claim, Probability):
        return Rate(claim, alpha, planned)
    if not events or not set(events) <= {VALUES, BITS}:
        raise InvalidInputError(f"events are {list(events)}; they must be values, bits, or both")
    if name == "two-intervals":
        if not isinstance(claim, PureDP | ApproximateDP):
            raise InvalidInputError(f"method two-intervals bounds ε at δ; for a claim of {claim} use method: fixed")
        return TwoIntervals(claim, alpha, planned, events=events)
    if name == "sequential" or isinstance(claim, RenyiDP | ZeroConcentratedDP):
        if events != (VALUES,):
            raise InvalidInputError(
                f"bets look at values only; for events {list(events)} claim ε, (ε, δ) or μ, method: fixed"
            )
        method: Method[Any] = _FIXED[type(claim)](claim, alpha, planned)
        return method
    with_events: Method[Any] = _FIXED[type(claim)](claim, alpha, planned, events=events)
    return with_events
