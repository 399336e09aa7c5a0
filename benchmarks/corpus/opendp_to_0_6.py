"""OpenDP from 0.3.0 to 0.6.0. Each claim is one that the library's own relation allows."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

from opendp.mod import enable_features
from protocol import Claim, Made, serve

try:
    from opendp import meas, trans
except ImportError:  # renamed in 0.6.0
    from opendp import measurements as meas
    from opendp import transformations as trans

enable_features("contrib", "floating-point")


def _pure(measurement: Any, d_in: Any, epsilon: float) -> Claim:
    """Return the claim. Raises ValueError where the library does not make it."""
    if not measurement.check(d_in, epsilon):
        raise ValueError("the library does not claim this")
    return {"epsilon": epsilon}


def randomized_response_bool(probability: float, epsilon: float) -> Made:
    measurement = meas.make_randomized_response_bool(probability)
    return _pure(measurement, 1, epsilon), lambda dataset: measurement(bool(dataset))


def resized_sum(size: int, lower: int, upper: int, epsilon: float) -> Made:
    """Return the sum of resized records, for data sets at distance two."""
    bounds = lower, upper
    measurement = (
        trans.make_clamp(bounds)
        >> trans.make_bounded_resize(size, bounds, lower)
        >> trans.make_sized_bounded_sum(size, bounds)
        >> meas.make_base_geometric(4.0)
    )
    return _pure(measurement, 2, epsilon), measurement


def sized_sum(size: int, lower: int, upper: int, epsilon: float) -> Made:
    """Return the sum of a known number of records under substitution, a distance of two."""
    measurement = trans.make_sized_bounded_sum(size, (lower, upper)) >> meas.make_base_geometric(1.0)
    return _pure(measurement, 2, epsilon), measurement


def small_sum(lower: int, upper: int, epsilon: float) -> Made:
    """Return the sum of 8-bit integers, for rows in any order."""
    sums = trans.make_clamp((lower, upper), TA="i8") >> trans.make_bounded_sum((lower, upper), T="i8")
    # In 0.5.0 the older of the two has a fault of its own at −128.
    noise = getattr(meas, "make_base_discrete_laplace", meas.make_base_geometric)
    measurement = sums >> noise(float(max(-lower, upper)), D="AllDomain<i8>")
    return _pure(measurement, 1, epsilon), lambda rows: measurement([row["x"] for row in rows])


def laplace(epsilon: float) -> Made:
    measurement = meas.make_base_laplace(1.0)
    return _pure(measurement, 1.0, epsilon), lambda dataset: measurement(float(dataset))


def lipschitz_product(constant: float, lower: float, upper: float) -> Made:
    """Return a number that is clamped and multiplied; the claim is on numbers at most 1 apart."""
    product = trans.make_lipschitz_float_mul(constant, (lower, upper))
    return {"sensitivity": product.map(1.0)}, lambda dataset: product(float(dataset))


def stability_histogram(size: int, scale: float, threshold: float, epsilon: float, delta: float) -> Made:
    """Return the counts of records by text that reach a threshold, under substitution."""
    if hasattr(meas, "make_base_stability"):
        counts = trans.make_count_by(size, MO="L1Distance<f64>", TIA="String")
        measurement = counts >> meas.make_base_stability(size, scale, threshold, MI="L1Distance<f64>", TIK="String")
    else:
        counts = trans.make_count_by(MO="L1Distance<f64>", TK="String", TV="f64")
        measurement = counts >> meas.make_base_ptr(scale, threshold, TK="String")
    if not measurement.check(2, (epsilon, delta)):
        raise ValueError("the library does not claim this")
    return {"epsilon": epsilon, "delta": delta}, measurement


serve(randomized_response_bool, resized_sum, sized_sum, small_sum, laplace, lipschitz_product, stability_histogram)
