"""Google's dp-accounting as an oracle: noise by NumPy, the claim by the library's privacy loss distributions.

``share`` scales the claim: below 1 it is one that the accountant does not make, and that must be refuted if the accounting is
tight and the audit is strong.
"""

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from protocol import Made, serve

GENERATOR = np.random.default_rng()


def _claim(loss: pld.PrivacyLossDistribution, delta: float, share: float) -> dict[str, float]:
    epsilon = share * loss.get_epsilon_for_delta(delta)
    return {"epsilon": epsilon, "delta": delta} if delta else {"epsilon": epsilon}


def laplace(scale: float, times: int, delta: float = 0.0, share: float = 1.0) -> Made:
    """Return ``times`` releases of one number that moves by 1."""
    loss = pld.from_laplace_mechanism(scale).self_compose(times)
    return _claim(loss, delta, share), lambda dataset: dataset + GENERATOR.laplace(scale=scale, size=times)


def gaussian(scale: float, times: int, delta: float, share: float = 1.0) -> Made:
    """Return ``times`` releases of one number that moves by 1."""
    loss = pld.from_gaussian_mechanism(scale).self_compose(times)
    return _claim(loss, delta, share), lambda dataset: dataset + GENERATOR.normal(scale=scale, size=times)


def laplace_and_gaussian(scale: float, deviation: float, delta: float, share: float = 1.0) -> Made:
    """Return a release with noise of each kind."""
    loss = pld.from_laplace_mechanism(scale).compose(pld.from_gaussian_mechanism(deviation))
    return _claim(loss, delta, share), lambda dataset: [
        dataset + GENERATOR.laplace(scale=scale),
        dataset + GENERATOR.normal(scale=deviation),
    ]


serve(laplace, gaussian, laplace_and_gaussian)
