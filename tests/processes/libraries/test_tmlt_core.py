"""Measurements of Tumult Core that need no Spark: each by its domain, its metric and its privacy function.

They draw from their own randomness. A correct measurement raises a false alarm with probability below 1e-9; one with a third of the
noise is missed with probability 1e-6.
"""

from collections.abc import Callable
from typing import Any

import pytest
from installed import QUICK, library

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapter_of
from auditor.libraries.tmlt_core import from_tmlt_core

noise, domains, series_domains, series, measures, metrics, converters = (
    library(f"tmlt.core.{part}", "tmlt-core")
    for part in (
        *("measurements.noise_mechanisms", "domains.numpy_domains", "domains.pandas_domains"),
        *("measurements.pandas_measurements.series", "measures", "metrics", "measurements.converters"),
    )
)
# A warning of a module that it imports.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")

INTEGERS = series_domains.PandasSeriesDomain(domains.NumpyIntegerDomain())
OBJECTS: dict[str, tuple[Callable[[int], Any], str, str]] = {
    "Laplace": (lambda b: noise.AddLaplaceNoise(domains.NumpyFloatDomain(), b), "ε = 1", "one number from -100 to 100"),
    "geometric": (noise.AddGeometricNoise, "ε = 1", "one integer from -100 to 100"),
    "discrete Gauss": (lambda b: noise.AddDiscreteGaussianNoise(b**2), "ρ = 0.5", "one integer from -100 to 100"),
    "Gauss": (lambda b: noise.AddGaussianNoise(domains.NumpyFloatDomain(), b**2), "ρ = 0.5", "one number"),
    "converted": (
        lambda b: converters.PureDPToApproxDP(noise.AddGeometricNoise(b)),
        "ε = 1",
        "one integer from -100 to 100; two at most 1 apart",
    ),
    "noise in a series": (
        lambda b: series.AddNoiseToSeries(noise.AddGeometricNoise(b)),
        "ε = 1",
        "3 integers from -100 to 100, which one person moves by at most 1 in L1",
    ),
    "quantile": (
        lambda b: series.NoisyQuantile(INTEGERS, measures.PureDP(), 0.5, 0, 10, f"1/{b}"),
        "ε = 1",
        "0 to 20 records (integers from -100 to 100)",
    ),
}


@pytest.mark.parametrize(("make", "claim", "neighbours"), OBJECTS.values(), ids=OBJECTS)
def test_a_measurement_keeps_its_claim(make: Callable[[int], Any], claim: str, neighbours: str) -> None:
    assert adapter_of(make(1)) is from_tmlt_core
    plan = planned(make(1), None, None)
    assert str(plan.claim) == claim
    assert str(plan.neighbours).startswith(neighbours)
    result = auditor.audit(make(1), **QUICK)
    assert result.verdict == "no_violation_found", str(result)
    assert result.bound is not None


@pytest.mark.parametrize("name", ["Laplace", "geometric", "noise in a series"])
def test_a_measurement_with_less_noise_than_the_claim_is_a_violation(name: str) -> None:
    make, _, _ = OBJECTS[name]
    assert auditor.audit(make(1), auditor.PureDP(0.3), **QUICK).verdict == "violation"


def test_the_distance_and_the_range_are_keywords() -> None:
    said = {"d_in": 2, "range": (0, 9)}
    plan = planned(noise.AddGeometricNoise(1), None, None, parameters=said)
    assert (str(plan.claim), plan.assumptions) == ("ε = 2", ())
    assert str(plan.neighbours) == "one integer from 0 to 9; two at most 2 apart are neighbours"


def test_what_is_no_measurement_on_numbers_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="is not a measurement"):
        from_tmlt_core(measures.PureDP())
