"""autodp 0.2.3.1. Source: mechanism_zoo, "the std of the noise divide by the l2 sensitivity"; rdp_acct; calibrator_zoo."""

from autodp import calibrator_zoo, mechanism_zoo, rdp_acct, rdp_bank
from protocol import Statement, gaussian, laplace, poisson, serve


def exact_gaussian(sigma: float, delta: float) -> Statement:
    return mechanism_zoo.ExactGaussianMechanism(sigma).get_approxDP(delta), gaussian(sigma)


def gaussian_by_renyi(sigma: float, delta: float) -> Statement:
    return mechanism_zoo.GaussianMechanism(sigma, approxDP_off=True).get_approxDP(delta), gaussian(sigma)


# "b: the ratio of the scale parameter and L1 sensitivity"
def laplace_by_renyi(scale: float, delta: float) -> Statement:
    return mechanism_zoo.LaplaceMechanism(scale).get_approxDP(delta), laplace(scale)


# "by default this is using poisson sampling" (NoisySGD_Mechanism)
def noisy_sgd(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    stated = mechanism_zoo.NoisySGD_Mechanism(rate, sigma, steps).get_approxDP(delta)
    return stated, gaussian(sigma, steps=steps, **poisson(rate))


# compose_poisson_subsampled_mechanisms, "the exact formula of poission_subsampled RDP"
def moments(sigma: float, rate: float, steps: int, delta: float) -> Statement:
    accountant = rdp_acct.anaRDPacct()
    accountant.compose_poisson_subsampled_mechanisms(
        lambda order: rdp_bank.RDP_gaussian({"sigma": sigma}, order), rate, steps
    )
    return accountant.get_eps(delta), gaussian(sigma, steps=steps, **poisson(rate))


# "Calibrate a Gaussian perturbation … under global sensitivity 1" (ana_gaussian_calibrator)
def analytic_sigma(epsilon: float, delta: float) -> Statement:
    mechanism = calibrator_zoo.ana_gaussian_calibrator()(mechanism_zoo.ExactGaussianMechanism, epsilon, delta)
    sigma = float(mechanism.params["sigma"])
    return sigma, gaussian(sigma)


serve(exact_gaussian, gaussian_by_renyi, laplace_by_renyi, noisy_sgd, moments, analytic_sigma)
