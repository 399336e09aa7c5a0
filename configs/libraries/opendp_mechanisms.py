"""Measurements of OpenDP; the claim of each is its own privacy map at neighbouring inputs."""

from typing import Any

import opendp.prelude as dp
from protocol import Claim, Made, serve

dp.enable_features("contrib")

INTEGER = dp.atom_domain(T=int), dp.absolute_distance(T=int)
FLOAT = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
SCORES = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)


def _pure(measurement: Any, d_in: Any = 1) -> Claim:
    return {"epsilon": measurement.map(d_in)}


def _approximate(measurement: Any, d_in: Any = 1) -> Claim:
    epsilon, delta = measurement.map(d_in)
    return {"epsilon": epsilon, "delta": delta}


def count(scale: float) -> Made:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    measurement = space >> dp.t.then_count() >> dp.m.then_laplace(scale)
    return _pure(measurement), measurement


def bounded_sum(scale: float, lower: int, upper: int) -> Made:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    measurement = space >> dp.t.then_clamp((lower, upper)) >> dp.t.then_sum() >> dp.m.then_laplace(scale)
    return _pure(measurement), measurement


def mean(scale: float, size: int) -> Made:
    records = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=size)
    measurement = (records, dp.symmetric_distance()) >> dp.t.then_mean() >> dp.m.then_laplace(scale)
    # Of a known number of records one can only be exchanged, at distance 2.
    return _pure(measurement, 2), lambda dataset: measurement([float(record) for record in dataset])


def laplace(scale: float) -> Made:
    measurement = dp.m.make_laplace(*FLOAT, scale=scale)
    return _pure(measurement, 1.0), lambda dataset: measurement(float(dataset))


def integer_laplace(scale: float) -> Made:
    measurement = dp.m.make_laplace(*INTEGER, scale=scale)
    return _pure(measurement), measurement


def geometric(scale: float, lower: int, upper: int) -> Made:
    measurement = dp.m.make_geometric(*INTEGER, scale=scale, bounds=(lower, upper))
    return _pure(measurement), measurement


def gaussian(scale: float, delta: float | None = None) -> Made:
    measurement = dp.m.make_gaussian(*FLOAT, scale=scale)
    if delta is None:
        claim = {"rho": measurement.map(1.0)}
    else:
        claim = _approximate(dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(measurement), delta), 1.0)
    return claim, lambda dataset: measurement(float(dataset))


def integer_gaussian(scale: float) -> Made:
    measurement = dp.m.make_gaussian(*INTEGER, scale=scale)
    return {"rho": measurement.map(1)}, measurement


def randomized_response_bool(probability: float) -> Made:
    measurement = dp.m.make_randomized_response_bool(probability)
    return _pure(measurement), lambda dataset: measurement(bool(dataset))


def randomized_response(categories: list[str], probability: float) -> Made:
    measurement = dp.m.make_randomized_response(categories, probability)
    return _pure(measurement), measurement


def randomized_response_bitvec(f: float, max_weight: int) -> Made:
    """Return it for bytes, given as numbers; the output is the list of their bits."""
    measurement = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=max_weight), dp.discrete_distance(), f=f
    )

    def release(dataset: int) -> list[int]:
        [byte] = bytes(measurement(bytes([dataset])))
        return [byte >> place & 1 for place in range(8)]

    return _pure(measurement), release


def noisy_max(scale: float) -> Made:
    measurement = dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=scale)
    return _pure(measurement), measurement


def noisy_max_concentrated(scale: float) -> Made:
    """Return the exponential mechanism, by Gumbel noise."""
    measurement = dp.m.make_noisy_max(*SCORES, dp.zero_concentrated_divergence(), scale=scale)
    return {"rho": measurement.map(1)}, measurement


def quantile(scale: float, candidates: list[float], alpha: float) -> Made:
    records = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    measurement = dp.m.make_private_quantile(
        records, dp.symmetric_distance(), dp.max_divergence(), candidates, alpha, scale
    )
    return _pure(measurement), lambda dataset: measurement([float(record) for record in dataset])


def count_by_with_threshold(scale: float, threshold: int) -> Made:
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    measurement = space >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)
    return _approximate(measurement), measurement


serve(
    count,
    bounded_sum,
    mean,
    laplace,
    integer_laplace,
    geometric,
    gaussian,
    integer_gaussian,
    randomized_response_bool,
    randomized_response,
    randomized_response_bitvec,
    noisy_max,
    noisy_max_concentrated,
    quantile,
    count_by_with_threshold,
)
