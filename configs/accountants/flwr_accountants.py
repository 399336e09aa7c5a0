"""flwr 1.42.0. Sources: flwr/supercore/privacy_accounting; flwr/serverapp/strategy/dp_fixed_clipping.

The strategy releases the mean over the clients that took part, with noise of ``noise_multiplier`` × ``clipping_norm`` divided by
their number. Whoever leaves is replaced, or the mean changes by more: so its neighbours are a client replaced.
"""

from protocol import Process, Statement, fixed_size, gaussian, load_submodules_only, poisson, serve

load_submodules_only("flwr", "flwr.supercore")
from flwr.supercore import privacy_accounting  # noqa: E402
from flwr.supercore.privacy_accounting.rdp_accountant import RdpAccountant  # noqa: E402

POPULATION = 10_000


def _spent(method: str, relation: str, sigma: float, size: int, rounds: int, delta: float) -> float:
    config = privacy_accounting.PrivacyConfig(
        target_delta=delta,
        population_size=POPULATION,
        neighboring_relation=privacy_accounting.NeighboringRelation(relation),
        sampling_method=privacy_accounting.SamplingMethod(method),
    )
    accountant = RdpAccountant(config)
    event = privacy_accounting.GaussianPrivacyEvent(sigma, sample_size=size, population_size=POPULATION)
    accountant.compose(event, rounds)
    return accountant.get_privacy_spent().epsilon


# "Fixed-clipping accounting currently requires sampling_method='no-amplification'" (dp_fixed_clipping), which the accountant
# has only with "add-or-remove-one" (privacy_accounting/__init__, supported_models)
def fixed_clipping(sigma: float, rounds: int, delta: float) -> Statement:
    process = gaussian(sigma, relation="substitute", steps=rounds)
    return _spent("no-amplification", "add-or-remove-one", sigma, 1_000, rounds, delta), process


# "For Poisson sampling, sample_size / population_size is the expected sampling probability" (GaussianPrivacyEvent)
def sampled(sigma: float, size: int, rounds: int, delta: float) -> Statement:
    process: Process = gaussian(sigma, steps=rounds, **poisson(size / POPULATION))
    return _spent("poisson", "add-or-remove-one", sigma, size, rounds, delta), process


# "For sampling without replacement, sample_size is the exact sample size" (the same)
def fixed_size_sampled(sigma: float, size: int, rounds: int, delta: float) -> Statement:
    process = gaussian(sigma, relation="substitute", steps=rounds, **fixed_size(size / POPULATION))
    return _spent("without-replacement", "replace-one", sigma, size, rounds, delta), process


serve(fixed_clipping, sampled, fixed_size_sampled)
