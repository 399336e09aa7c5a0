"""tmlt-core 0.20.0. Source: tmlt.core.measurements.noise_mechanisms, of each measurement; its privacy functions take a distance.

"``privacy_function``: … returns the smallest d_out satisfied by the measurement", for inputs that are d_in apart.
"""

from fractions import Fraction

import sympy
from protocol import Statement, gaussian, laplace, serve
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements import noise_mechanisms


def _exact(number: float) -> sympy.Rational:
    fraction = Fraction(number)
    return sympy.Rational(fraction.numerator, fraction.denominator)


# "Add noise sampled from a Laplace distribution", in PureDP
def laplace_noise(scale: float, distance: float, delta: float) -> Statement:
    measurement = noise_mechanisms.AddLaplaceNoise(NumpyFloatDomain(), _exact(scale))
    return measurement.privacy_function(_exact(distance)).to_float(round_up=True), laplace(scale, sensitivity=distance)


# "Add noise sampled from a double sided geometric distribution", in PureDP: alpha is its scale
def geometric_noise(scale: float, distance: int, delta: float) -> Statement:
    measurement = noise_mechanisms.AddGeometricNoise(_exact(scale))
    process = {"noise": "discrete-laplace", "scale": scale, "sensitivity": distance}
    return measurement.privacy_function(distance).to_float(round_up=True), process


# "Add noise sampled from a Gaussian distribution", in RhoZCDP
def gaussian_noise(sigma: float, distance: float) -> Statement:
    measurement = noise_mechanisms.AddGaussianNoise(NumpyFloatDomain(), _exact(sigma) ** 2)
    return measurement.privacy_function(_exact(distance)).to_float(round_up=True), gaussian(sigma, sensitivity=distance)


# "Add noise sampled from a discrete Gaussian distribution", in RhoZCDP: a divergence of at most ρ times its order
def discrete_gaussian_noise(sigma: float, distance: int, order: float) -> Statement:
    measurement = noise_mechanisms.AddDiscreteGaussianNoise(_exact(sigma) ** 2)
    process = {"noise": "discrete-gaussian", "scale": sigma, "sensitivity": distance}
    return order * measurement.privacy_function(distance).to_float(round_up=True), process


serve(laplace_noise, geometric_noise, gaussian_noise, discrete_gaussian_noise)
