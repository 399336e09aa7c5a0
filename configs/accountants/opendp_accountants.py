"""opendp 0.16.0. Source: the maps of measurements, from the input's metric (``d_in``) to the output's measure."""

import opendp.prelude as dp
from protocol import Statement, gaussian, laplace, serve

dp.enable_features("contrib")
NUMBERS = dp.atom_domain(T=float, nan=False)


# make_laplace: MaxDivergence, whose map has no δ
def laplace_map(scale: float, sensitivity: float, delta: float) -> Statement:
    measurement = dp.m.make_laplace(NUMBERS, dp.absolute_distance(T=float), scale)
    return measurement.map(sensitivity), laplace(scale, sensitivity=sensitivity)


# make_gaussian: ZeroConcentratedDivergence, converted by make_zCDP_to_approxDP
def gaussian_map(scale: float, sensitivity: float, delta: float) -> Statement:
    measurement = dp.m.make_gaussian(NUMBERS, dp.absolute_distance(T=float), scale)
    profile = dp.c.make_zCDP_to_approxDP(measurement).map(sensitivity)
    return profile.epsilon(delta), gaussian(scale, sensitivity=sensitivity)


def gaussian_steps(scale: float, steps: int, delta: float) -> Statement:
    one = dp.m.make_gaussian(NUMBERS, dp.absolute_distance(T=float), scale)
    profile = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([one] * steps)).map(1.0)
    return profile.epsilon(delta), gaussian(scale, steps=steps)


# --- Noise for a target ---


# binary_search_param of the same map
def gaussian_scale(sensitivity: float, epsilon: float, delta: float) -> Statement:
    def make(scale: float) -> dp.Measurement:
        by_zcdp = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(NUMBERS, dp.absolute_distance(T=float), scale))
        return dp.c.make_fix_delta(by_zcdp, delta)

    scale = dp.binary_search_param(make, sensitivity, (epsilon, delta), T=float)
    return scale, gaussian(scale, sensitivity=sensitivity)


serve(laplace_map, gaussian_map, gaussian_steps, gaussian_scale)
