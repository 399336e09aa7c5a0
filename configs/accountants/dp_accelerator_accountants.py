"""dp-accelerator 0.1.0. Source: dp_accelerator/__init__, DPSGDAccountant ("(epsilon, delta)-DP guarantees for … DP-SGD")."""

from dp_accelerator import DPSGDAccountant
from protocol import Process, Statement, gaussian, poisson, serve

DATASET = 100_000


def _sampled(sigma: float, batch: int, steps: int) -> Process:
    # "q = batch_size / dataset_size  # Sampling probability"
    return gaussian(sigma, steps=steps, **poisson(batch / DATASET))


def epsilon(sigma: float, batch: int, steps: int, delta: float) -> Statement:
    return DPSGDAccountant(sigma, batch, DATASET).get_epsilon(steps, delta), _sampled(sigma, batch, steps)


# "Dictionary mapping RDP orders to RDP values" (get_rdp_curve)
def renyi(sigma: float, batch: int, steps: int, order: int) -> Statement:
    return DPSGDAccountant(sigma, batch, DATASET).get_rdp_curve(steps)[order], _sampled(sigma, batch, steps)


serve(epsilon, renyi)
