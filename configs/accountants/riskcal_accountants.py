"""riskcal 1.5.1. Source: riskcal/analysis/conversions and riskcal/calibration/dpsgd."""

import riskcal
from dp_accounting.pld import privacy_loss_distribution
from protocol import Process, Statement, gaussian, poisson, serve


def _sampled(sigma: float, rate: float, steps: int) -> Process:
    # "sample_rate: Poisson sampling rate" (create_dpsgd_evaluator)
    return gaussian(sigma, steps=steps, **poisson(rate))


# "Compute false negative rate (FNR) for given false positive rate (FPR) from PLD" (get_beta_from_pld)
def beta(sigma: float, alpha: float) -> Statement:
    loss = privacy_loss_distribution.from_gaussian_mechanism(sigma)
    return riskcal.analysis.get_beta_from_pld(loss, alpha), gaussian(sigma)


# "Compute beta (FNR) for DP-SGD at given alpha (FPR)" (get_beta_for_dpsgd)
def beta_of_dpsgd(sigma: float, rate: float, steps: int, alpha: float) -> Statement:
    return riskcal.calibration.dpsgd.get_beta_for_dpsgd(sigma, rate, steps, alpha), _sampled(sigma, rate, steps)


# "Advantage is the maximum value of (TPR - FPR) achievable by any attacker, which equals delta at epsilon=0"
def advantage(sigma: float, rate: float, steps: int) -> Statement:
    stated = riskcal.calibration.dpsgd.get_advantage_for_dpsgd(sigma, rate, steps)
    return stated, _sampled(sigma, rate, steps), 0.0


# --- Noise for a target ---


def noise_for_advantage(rate: float, steps: int, target: float) -> Statement:
    sigma = riskcal.calibration.dpsgd.find_noise_multiplier_for_advantage(target, rate, steps)
    return target, _sampled(sigma, rate, steps), 0.0


serve(beta, beta_of_dpsgd, advantage, noise_for_advantage)
