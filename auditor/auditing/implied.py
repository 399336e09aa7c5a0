"""The μ that an (ε, δ) claim implies if the noise looks Gaussian: the largest μ of Gaussian noise that keeps it.

With δ of 1e-6, noise that is half of what was promised hardly shows: its tails are too thin for any number of outputs. As Gaussian
privacy it shows in a few thousand. That does not prove a violation of the claim, and the verdict does not depend on it.
"""

import numpy as np

from auditor.auditing.draw import Draw
from auditor.auditing.outcome import Seen
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase
from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample
from auditor.bounds.conversions import implied_mu
from auditor.claims import ApproximateDP, GaussianDP
from auditor.events.features import varies
from auditor.methods.guessing import GaussianGuesses

# With fewer outputs or values, nothing can be said of a shape.
LEAST_OUTPUTS, LEAST_VALUES = 500, 20
# Outputs for the bound on μ, for each that it is learned from, and the most of these.
MORE, MOST_LEARNED_FROM = 3, 150_000
# Standard errors by which skewness and excess kurtosis may differ from 0. A normal sample goes beyond once in ten million times.
CHANCE = 5.3


def smaller_noise(plan: Plan, seen: Seen, draw: Draw) -> tuple[str, ...]:
    """Return a warning where outputs look Gaussian, and μ is proved to be larger than Gaussian noise of the claim allows.

    Fresh outputs on the pair are drawn for the bound on μ if the earlier outputs forecast that μ is too large. It exceeds the
    truth with probability at most the plan's alpha. Raises what sampling raises.
    """
    claim, pair, sample = plan.claim, seen.pair, seen.sample
    if pair is None or sample is None:
        return ()
    if not isinstance(claim, ApproximateDP) or not 0 < claim.delta < 1 or not looks_gaussian(sample):
        return ()
    allowed = implied_mu(claim.epsilon, claim.delta)
    outputs = MORE * min(sample.size, MOST_LEARNED_FROM)
    method = GaussianGuesses(GaussianDP(allowed), plan.alpha, outputs)
    learned = method.learn(sample)
    if learned.forecast <= allowed:
        return ()
    fresh = draw.draw(draw.batches(pair, outputs, Phase.CONFIRM, number=(2,), like=sample))
    mu = method.bound(learned.test, learned.test.count(fresh))
    if mu <= allowed:
        return ()
    return (
        f"the noise looks Gaussian, and is smaller than Gaussian noise for {claim}: it has μ ≥ {mu:.3g}, and the claim allows "
        f"Gaussian noise with μ ≤ {allowed:.3g} (this warning is false with probability {plan.alpha:.2g} at most). This does not "
        "prove that the claim is violated. Check the scale of the noise; to test it, claim μ",
    )


def looks_gaussian(sample: Sample) -> bool:
    """Return whether each varying place of the output looks normally distributed on each side."""
    sides = [[column for column in side.columns if varies(column)] for side in (sample.left, sample.right)]
    return all(sides) and all(_is_normal(column) for side in sides for column in side)


def _is_normal(column: OutputColumn) -> bool:
    x = column.numbers
    if column.codes is not None or len(x) < LEAST_OUTPUTS or not np.all(np.isfinite(x)):
        return False
    if len(np.unique(x[:LEAST_OUTPUTS])) < LEAST_VALUES:
        return False
    x = x / np.abs(x).max()  # of the largest floats the mean would overflow
    z = (x - x.mean()) / x.std()
    skewness, kurtosis = float((z**3).mean()), float((z**4).mean()) - 3
    return bool(abs(skewness) < CHANCE * np.sqrt(6 / len(x)) and abs(kurtosis) < CHANCE * np.sqrt(24 / len(x)))
