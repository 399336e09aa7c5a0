"""dp-accounting 0.6.0. Sources: dp_event, of each event; privacy_accountant, NeighboringRelation; gaussian_mechanism."""

import dp_accounting
from dp_accounting import gaussian_mechanism, pld, rdp
from protocol import Statement, fixed_size, gaussian, laplace, poisson, serve

RELATIONS = {
    "add_remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "substitute": dp_accounting.NeighboringRelation.REPLACE_ONE,
    "zero_out": dp_accounting.NeighboringRelation.REPLACE_SPECIAL,
}
ACCOUNTANTS = {"pld": pld.PLDAccountant, "rdp": rdp.RdpAccountant}


def _events(accountant: str, relation: str, event: dp_accounting.DpEvent, steps: int, delta: float) -> float:
    composed = ACCOUNTANTS[accountant](neighboring_relation=RELATIONS[relation]).compose(event, steps)
    return composed.get_epsilon(delta)


# "If the norms of the values are bounded ||v_i|| <= C, the noise_multiplier is defined as s / C" (dp_event, GaussianDpEvent)
def gaussian_event(accountant: str, relation: str, sigma: float, steps: int, delta: float) -> Statement:
    event = dp_accounting.GaussianDpEvent(sigma)
    return _events(accountant, relation, event, steps, delta), gaussian(sigma, relation=relation, steps=steps)


# "If the L_1 norm of the values are bounded ||v_i||_1 <= C, the noise_multiplier is defined as s / C" (dp_event, LaplaceDpEvent)
def laplace_event(accountant: str, relation: str, scale: float, steps: int, delta: float) -> Statement:
    event = dp_accounting.LaplaceDpEvent(scale)
    return _events(accountant, relation, event, steps, delta), laplace(scale, relation=relation, steps=steps)


# dp_event, PoissonSampledDpEvent
def poisson_event(accountant: str, relation: str, sigma: float, rate: float, steps: int, delta: float) -> Statement:
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
    process = gaussian(sigma, relation=relation, steps=steps, **poisson(rate))
    return _events(accountant, relation, event, steps, delta), process


# dp_event, SampledWithoutReplacementDpEvent
def fixed_size_event(sigma: float, records: int, share: float, steps: int, delta: float) -> Statement:
    size = max(1, round(share * records))
    event = dp_accounting.SampledWithoutReplacementDpEvent(records, size, dp_accounting.GaussianDpEvent(sigma))
    process = gaussian(sigma, relation="substitute", steps=steps, **fixed_size(size / records))
    return _events("rdp", "substitute", event, steps, delta), process


# "the Gaussian mechanism … with a given sensitivity and standard deviation" (gaussian_mechanism)
def gaussian_epsilon(sigma: float, delta: float) -> Statement:
    return gaussian_mechanism.get_epsilon_gaussian(sigma, delta, tol=1e-12), gaussian(sigma)


# --- Noise for a target ---


def gaussian_sigma(epsilon: float, delta: float) -> Statement:
    sigma = gaussian_mechanism.get_sigma_gaussian(epsilon, delta)
    return sigma, gaussian(sigma)


# mechanism_calibration, calibrate_dp_mechanism
def calibrated(accountant: str, relation: str, epsilon: float, delta: float, steps: int) -> Statement:
    def event(sigma: float) -> dp_accounting.DpEvent:
        return dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(sigma), steps)

    def make() -> dp_accounting.PrivacyAccountant:
        return ACCOUNTANTS[accountant](neighboring_relation=RELATIONS[relation])

    sigma = dp_accounting.calibrate_dp_mechanism(make, event, epsilon, delta)
    return sigma, gaussian(sigma, relation=relation, steps=steps)


serve(
    gaussian_event,
    laplace_event,
    poisson_event,
    fixed_size_event,
    gaussian_epsilon,
    gaussian_sigma,
    calibrated,
)
