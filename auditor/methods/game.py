"""What sequential games share: wealth that is bet on outputs as they come, to be stopped at any time.

A game is played on one pair. It holds wealth against every hypothesis of a grid, the claim among them, and starts at 1. What is
learned from an output serves later outputs only.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from auditor.blackbox.outputs import Outputs
from auditor.blackbox.sample import Labels
from auditor.bounds.intervals import Floats
from auditor.claims import PrivacyClaim
from auditor.events.histogram import Histogram
from auditor.methods.history import History


class Game(ABC):
    """A game on one pair, against every hypothesis of a grid at once."""

    claim: Any  # whose quantity the hypotheses are about
    history: History

    @classmethod
    @abstractmethod
    def new(cls, claim: Any, alpha: float) -> Self:
        """Return the game for a claim, at a wealth of 1. ``alpha`` is the level at which the claim is to be refuted."""

    @staticmethod
    @abstractmethod
    def foreseen(claim: Any, alpha: float, planned: int, share: float, chance: float) -> float:
        """Return the smallest value of the quantity that ``planned`` trials refute; see Method.foreseen."""

    @abstractmethod
    def log_wealth(self) -> Floats:
        """Return ln of the wealth against each hypothesis."""

    @abstractmethod
    def detectable(self, alpha: float, chance: float) -> float:
        """Return the smallest value of the quantity that refutes the claim in this number of outputs with this chance."""

    @abstractmethod
    def play(self, outputs: Outputs, labels: Labels, claim: int, target: float) -> int:
        """Bet on labelled outputs in order. Stop when ln of the wealth against hypothesis ``claim`` reaches ``target``. Return
        the number of outputs played.
        """

    @abstractmethod
    def histograms(self) -> tuple[Histogram, ...]:
        """Return a histogram of the outputs along the feature of the bets, with the sides that the last bets name. It is for the
        reader only.
        """

    @abstractmethod
    def halves(self) -> list[list[list[int]]]:
        """Count the first and the second half of what was played, by cells: for each a table for each side and place."""


def hypotheses(claim: PrivacyClaim) -> Floats:
    """Return the values of the claim's quantity that are tested: fine near 0 and the claim, up to 12 or twice the claim."""
    top = max(12.0, 2 * claim.value)
    steps = np.concatenate([np.linspace(0, 1, 51), np.linspace(1, top, 111), claim.value * np.linspace(0.8, 1.2, 41)])
    return np.unique(np.append(steps[np.abs(steps - claim.value) > 1e-9], just_above(claim)))


def just_above(claim: PrivacyClaim) -> float:
    """Return the hypothesis that stands for the claim: to refute it is to prove a bound strictly above the claim."""
    return claim.value + 1e-9 * max(1.0, claim.value)
