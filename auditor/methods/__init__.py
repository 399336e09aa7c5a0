"""How each kind of claim is put to the test: what to learn, what to count, what the counts prove."""

from dataclasses import dataclass
from importlib.util import find_spec

from auditor.claims import (
    ApproximateDP,
    Claim,
    GaussianDP,
    PrivacyProfile,
    Probability,
    PureDP,
    RenyiDP,
    Unclaimed,
    ZeroConcentratedDP,
)
from auditor.errors import InvalidInputError
from auditor.events.selection import BITS, VALUES
from auditor.methods.divergence import Divergence
from auditor.methods.divergence_game import DivergenceGame
from auditor.methods.game import Game
from auditor.methods.guess_game import GuessGame
from auditor.methods.guessing import GaussianGuesses, Guesses, TwoIntervals
from auditor.methods.method import AnyMethod
from auditor.methods.probability import Rate
from auditor.methods.profile import ProfileGuesses


@dataclass(frozen=True, slots=True)
class Methods:
    """The methods for a kind of claim; None if there is no such method."""

    fixed: type[AnyMethod]
    sequential: type[Game] | None = None
    two_intervals: type[AnyMethod] | None = None


METHODS: dict[type[Claim], Methods] = {
    PureDP: Methods(Guesses, GuessGame, TwoIntervals),
    ApproximateDP: Methods(Guesses, GuessGame, TwoIntervals),
    GaussianDP: Methods(GaussianGuesses, GuessGame),
    Unclaimed: Methods(fixed=Guesses, two_intervals=TwoIntervals),
    PrivacyProfile: Methods(ProfileGuesses),
    RenyiDP: Methods(Divergence, DivergenceGame),
    ZeroConcentratedDP: Methods(Divergence, DivergenceGame),
    Probability: Methods(Rate),
}


def method_for(claim: Claim, name: str, alpha: float, planned: int, events: tuple[str, ...] = (VALUES,)) -> AnyMethod:
    """Return the method of that name for a claim and a fixed number of trials. A sequential audit searches with the method `fixed`.

    For probabilities there is one method only. Raises InvalidInputError if there is no such method, or if it cannot look at such
    events.
    """
    methods = _methods_for(claim)
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
    method = kind(claim, alpha, planned, events=events)
    if name == "sequential":
        game_for(claim)
        if BITS in events:
            raise InvalidInputError("bets look at values only; for bits claim ε, (ε, δ) or μ, method: fixed")
    return method


def game_for(claim: Claim) -> type[Game]:
    """Return the sequential game for a claim. Raises InvalidInputError if there is none."""
    game = _methods_for(claim).sequential
    if game is None:
        raise InvalidInputError(f"method sequential has no bets against a claim of {claim}; use method: fixed")
    return game


def _methods_for(claim: Claim) -> Methods:
    if type(claim) not in METHODS:
        raise InvalidInputError(f"a claim of {claim} has no method; enter one in auditor.methods.METHODS")
    return METHODS[type(claim)]
