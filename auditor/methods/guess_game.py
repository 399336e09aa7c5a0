"""Sequential bets on guesses of the side, for claims of ε, (ε, δ) and μ.

The mean of several bettors is as good as the best of them, at the cost of the logarithm of their number.
"""

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Labels
from auditor.bounds.betting import EpsilonNull, GaussianNull, GuessNull
from auditor.bounds.guesses import epsilon_from_rate, mu_from_rate
from auditor.bounds.intervals import Floats
from auditor.bounds.power import rate_that_refutes
from auditor.claims import ApproximateDP, GaussianDP, PrivacyClaim, PureDP
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.features import Place
from auditor.events.histogram import Histogram, histogram
from auditor.events.logistic import LogisticScore, fit_logistic
from auditor.methods.game import Game, hypotheses, just_above
from auditor.methods.history import LEAST_TO_LEARN, MOST_KEPT, MOST_QUICK_PLACES, History, reached

Guessable = PureDP | ApproximateDP | GaussianDP

# Quick bettors: guess one side below a quantile of the past outputs and the other above its mirror image.
QUANTILES = (0.45, 0.35, 0.25)
# The rates they bet on, as ε (or μ) above the claim, and the share of their wealth on each. In between, the next rate is nearly as
# good. A rate for an excess more than twice too high loses. So the smallest faults need rates of their own.
TARGETS = {0.005: 0.02, 0.02: 0.03, 0.06: 0.04, 0.2: 0.11, 0.5: 0.25, 1.0: 0.35, 2.0: 0.2}
# The learned bettor's share of the starting wealth: small, since it cannot play in the first outputs.
LEARNED_SHARE = 0.1
# Estimated chances are shrunk by this number of outputs that say nothing.
SHRINK = 30


def caught_by_bets(claim: Guessable, guesses: int, trials: int, bettors: int, alpha: float, chance: float) -> float:
    """Return the smallest value of the quantity at which one of ``bettors`` refutes the claim with this probability.

    Exact for the wealth after this number of guesses in this number of trials, if all other bettors have lost theirs. Earlier
    moments of high wealth and the wealth of the others only help. Infinite if winning every guess does not refute the claim.
    """
    from scipy.special import logsumexp

    null = _null(claim, np.array([just_above(claim)]))
    on_win, on_loss, on_trial = (factors[:, 0] for factors in null.log_factors(_target_rates(claim), 2))
    shares = _shares(bettors)

    def refutes(wins: int) -> bool:
        losses = (guesses - wins) * on_loss if wins < guesses else 0.0
        wealth = float(logsumexp(wins * on_win + losses + trials * on_trial, b=shares))
        return wealth + math.log1p(-LEARNED_SHARE) >= -math.log(alpha)

    rate = rate_that_refutes(refutes, guesses, chance)
    if rate is None:
        return math.inf
    if isinstance(claim, GaussianDP):
        return mu_from_rate(rate)
    return epsilon_from_rate(rate, claim.delta * trials / guesses)


def quick_bettors(claim: PrivacyClaim, places: int = 1) -> int:
    """Return the number of quick bettors that share the wealth: for each place and quantile, one bettor for each guess."""
    return 2 * places * (1 if isinstance(claim, GaussianDP) else len(QUANTILES))


def _null(claim: Guessable, grid: Floats) -> GuessNull:
    if isinstance(claim, GaussianDP):
        return GaussianNull(grid)
    return EpsilonNull(grid, claim.delta, just_above(claim) if claim.delta > 0 else 0.0)


def _target_rates(claim: Guessable) -> Floats:
    """Return the rates of winning that quick bettors bet on."""
    from scipy.special import ndtr

    target = claim.value + np.array(list(TARGETS))
    return np.asarray(ndtr(target / 2) if isinstance(claim, GaussianDP) else 1 / (1 + np.exp(-target)))


def _shares(bettors: int) -> Floats:
    """Return the share of the starting wealth that each bettor puts on each target rate."""
    return np.array(list(TARGETS.values())) / bettors


@dataclass
class GuessGame(Game):
    """Bets on the side of each output: by quantiles of single places, and by a learned score."""

    null: GuessNull
    claim: Guessable
    history: History = field(default_factory=History)
    # For each quick bettor: right and wrong guesses of "left" below; the bettor who guesses the other way has them swapped.
    wins: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    losses: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    trials: int = 0
    places: list[str] | None = None
    score: LogisticScore | None = None
    mean_chance: float = 0.5
    learned_at: int = 0
    log_learned: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.log_learned = np.zeros(len(self.null.grid))

    @classmethod
    def new(cls, claim: Guessable, alpha: float) -> Self:
        return cls(_null(claim, hypotheses(claim)), claim)

    @staticmethod
    def foreseen(claim: Guessable, alpha: float, planned: int, share: float, chance: float) -> float:
        """See Game; computed for the quick bettors at a single place."""
        return caught_by_bets(claim, int(share * planned), planned, quick_bettors(claim), alpha, chance)

    def log_wealth(self) -> Floats:
        quick = self._log_quick(self.wins[None], self.losses[None], np.array([self.trials]), slice(None))[0]
        return _mixed(quick, self.log_learned)

    def detectable(self, alpha: float, chance: float) -> float:
        guesses = self.wins + self.losses
        if guesses.size == 0:
            return math.inf
        most_decided = int(np.argmax(np.abs(self.wins - self.losses)))
        bettors = quick_bettors(self.claim, len(self.places or ()))
        return caught_by_bets(self.claim, int(guesses.flat[most_decided]), self.trials, bettors, alpha, chance)

    def play(self, outputs: Outputs, labels: Labels, claim: int, target: float) -> int:
        if self.history.size == 0:
            self._open(outputs, labels)
            return outputs.size
        wins, losses = self._guess_quickly(outputs, labels)
        increments = self._learned_increments(outputs, labels)
        quick = self._log_quick(
            self.wins + wins.cumsum(0),
            self.losses + losses.cumsum(0),
            self.trials + np.arange(1, outputs.size + 1),
            slice(claim, claim + 1),
        )[:, 0]
        learned = self.log_learned[claim] + increments[:, claim].cumsum()
        played = reached(_mixed(quick, learned), target)
        self.wins, self.losses = self.wins + wins[:played].sum(0), self.losses + losses[:played].sum(0)
        self.trials += played
        self.log_learned = self.log_learned + increments[:played].sum(0)
        self.history.add(outputs[:played], labels[:played])
        self._learn()
        return played

    def histograms(self) -> tuple[Histogram, ...]:
        """See Game; along the only place, or along the place or score that earned most."""
        if self.history.size == 0:
            return ()
        at = int(np.searchsorted(self.null.grid, just_above(self.claim)))
        quick = self._log_quick(self.wins[None], self.losses[None], np.array([self.trials]), slice(at, at + 1))[0, 0]
        places = len(self.places or ())
        if self.score is not None and (places == 0 or (places > 1 and self.log_learned[at] > quick)):
            return (histogram(self.history.sample(), self.score, Cells((0.0,), (RIGHT, LEFT), {})),)
        if not self.places:
            return ()
        place, quantile = np.unravel_index(np.argmax(np.abs(self.wins - self.losses)), self.wins.shape)
        feature = Place(self.places[place])
        sides = (LEFT, RIGHT) if self.wins[place, quantile] >= self.losses[place, quantile] else (RIGHT, LEFT)
        return (histogram(self.history.sample(), feature, self._last_guesses(feature, int(quantile), sides)),)

    def _last_guesses(self, place: Place, quantile: int, sides: tuple[float, float]) -> Cells:
        """Return where a quick bettor names which side, low and high, after all outputs so far."""
        column = place.extract(self.history.outputs())
        seen = column.numbers if column.codes is None else column.numbers[column.codes < 0]
        if len(seen) == 0:
            return Cells((), (ABSTAIN,), {})
        if isinstance(self.null, GaussianNull):
            return Cells((_middle(seen),), sides, {})
        share = QUANTILES[quantile]
        low = float(np.quantile(seen, share, method="lower"))
        high = math.nextafter(float(np.quantile(seen, 1 - share, method="higher")), -math.inf)
        if low == high:
            return Cells((low,), sides, {})
        return Cells((min(low, high), max(low, high)), (sides[0], ABSTAIN, sides[1]), {})

    def halves(self) -> list[list[list[int]]]:
        return self.history.halves()

    def _open(self, outputs: Outputs, labels: Labels) -> None:
        """Take the first outputs as they come, without a bet: they show which places there are."""
        self.history.add(outputs, labels)
        self.places = [c.name for c in outputs.columns if c.codes is None][:MOST_QUICK_PLACES]
        shape = (len(self.places), 1 if isinstance(self.null, GaussianNull) else len(QUANTILES))
        self.wins, self.losses = np.zeros(shape, np.int64), np.zeros(shape, np.int64)

    def _guess_quickly(self, outputs: Outputs, labels: Labels) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return wins and losses of guessing "left" on low numbers, each of shape (outputs, places, quantiles)."""
        past = self.history.outputs()
        guesses = np.zeros((outputs.size, *self.wins.shape), np.int8)
        for i, place in enumerate(self.places or ()):
            old, new = past.column(place), outputs.column(place)
            seen = old.numbers if old.codes is None else old.numbers[old.codes < 0]
            if len(seen) == 0:
                continue
            x = new.numbers[:, None]
            if isinstance(self.null, GaussianNull):
                guess = np.where(x <= _middle(seen), 1, -1)
            else:
                low = x <= np.quantile(seen, QUANTILES, method="lower")
                high = x >= np.quantile(seen, [1 - q for q in QUANTILES], method="higher")
                guess = low.astype(np.int8) - high.astype(np.int8)
                guess = guess if new.codes is None else np.where(new.codes[:, None] < 0, guess, 0)
            guesses[:, i, :] = guess
        truth = np.where(labels, 1, -1)[:, None, None]
        return (guesses == truth).astype(np.int64), (guesses == -truth).astype(np.int64)

    def _log_quick(
        self, wins: NDArray[np.int64], losses: NDArray[np.int64], trials: NDArray[np.int64], at: slice
    ) -> Floats:
        """Return ln of the quick bettors' mean wealth, of shape (steps, hypotheses), for counts of (steps, places, quantiles)."""
        if self.wins.size == 0:
            return np.zeros((len(trials), len(self.null.grid[at])))
        from scipy.special import logsumexp

        on_win, on_loss, on_trial = (f[:, at] for f in self.null.log_factors(_target_rates(self.claim), 2))
        w, x, t = (np.asarray(n, np.float64)[..., None, None] for n in (wins, losses, trials[:, None, None]))
        with np.errstate(invalid="ignore"):
            one_way = w * on_win + np.where(x > 0, x * on_loss, 0.0) + t * on_trial
            other_way = x * on_win + np.where(w > 0, w * on_loss, 0.0) + t * on_trial
        shares = _shares(2 * math.prod(self.wins.shape))[:, None]
        return np.asarray(logsumexp(np.stack([one_way, other_way]), axis=(0, 2, 3, 4), b=shares))

    def _learn(self) -> None:
        if self.history.size >= max(LEAST_TO_LEARN, 1.5 * self.learned_at) and self.learned_at < MOST_KEPT:
            self.learned_at = self.history.size
            self.score = fit_logistic(self.history.sample())
            if self.score is not None:
                self.mean_chance = float(self._chances(self.score.extract(self.history.outputs()).numbers).mean())

    def _chances(self, scores: Floats) -> Floats:
        """Return the estimated chance that a guess by the score wins, shrunk towards one half."""
        known = self.learned_at / (self.learned_at + SHRINK)
        return np.asarray(0.5 + known * (1 / (1 + np.exp(-np.clip(np.abs(scores), 0, 30))) - 0.5))

    def _learned_increments(self, outputs: Outputs, labels: Labels) -> Floats:
        """Return ln of the learned bettor's factor for each output against each hypothesis."""
        if self.score is None:
            return np.zeros((outputs.size, len(self.null.grid)))
        score = self.score.extract(outputs).numbers
        chance = self._chances(score)
        if isinstance(self.null, GaussianNull):
            # What a guess hopes for may depend on the past, not on the output: the mean of what the score promises.
            chance = np.full_like(chance, self.mean_chance)
        on_win, on_loss, _ = self.null.log_factors(chance, 2)
        won = (score > 0) == labels
        price = np.zeros(len(self.null.grid))
        if isinstance(self.null, EpsilonNull):
            # Nor may the price of a trial depend on the output: that of the largest stake there is, e^(−ε).
            price = -np.log1p(np.exp(-np.maximum(self.null.grid, self.null.least)) * self.null.delta)
        return np.where(won[:, None], on_win, on_loss) + price


def _mixed(quick: Floats, learned: Floats) -> Floats:
    return np.logaddexp(math.log1p(-LEARNED_SHARE) + quick, math.log(LEARNED_SHARE) + learned)


def _middle(numbers: Floats) -> float:
    """Return a median that is one of the numbers; the mean of two could overflow."""
    return float(np.quantile(numbers, 0.5, method="lower"))
