"""Errors of the private ratios in 100,000 trials per point, and ε over the (a, b) plane, exact and audited from outputs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

import auditor
from mechanisms.exact.distributions import Density
from mechanisms.exact.divergences import exact_epsilon
from mechanisms.ratio import (
    bound_as_printed,
    bound_by_theorem_2,
    ksw,
    local_sensitivity_as_printed,
    local_sensitivity_corrected,
    naive,
)
from mechanisms.truths.laplace_ratio import ksw_ratio, laplace_ratio
from studies.private_ratios.exact import local_sensitivity_ratio

Reals = NDArray[np.float64]

EPSILON, DELTA, TRIALS = 1.0, 1e-5, 100_000
SHARES = (0.02, 0.1, 0.3)
SIZES = [round(float(b)) for b in np.geomspace(10, 100_000, 17)]
RATIOS = [round(0.05 * i, 2) for i in range(21)]
WIDE = (1000, 100_000)
PLANE_B = (10, 100, 300, 1000, 10_000)
PLANE_RATIOS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
AUDIT_SAMPLES = 500_000
BOUNDS = {"printed": bound_as_printed, "corrected": bound_by_theorem_2}
MECHANISMS = {"printed": local_sensitivity_as_printed, "corrected": local_sensitivity_corrected}

Mechanism = Callable[[NDArray[np.int64], int, np.random.Generator], Reals]


def add_remove() -> dict[str, Mechanism]:
    """Return the mechanisms that the document compares, all ε-DP or (ε, δ)-DP under add/remove."""
    mechanisms: dict[str, Mechanism] = {
        "naive": lambda totals, size, rng: naive(totals, size, rng, epsilon=EPSILON),
        "ksw": lambda totals, size, rng: ksw(totals, size, rng, epsilon=EPSILON),
    }
    for share in SHARES:
        mechanisms[f"local {share:g}"] = lambda totals, size, rng, share=share: local_sensitivity_corrected(  # type: ignore[misc]
            totals, size, rng, epsilon=EPSILON, delta=DELTA, epsilon_1_fraction=share
        )
    return mechanisms


def substitution() -> dict[str, Mechanism]:
    """Return the mechanisms under substitution of a person's answer, where b, the number of people, is public.

    "local" uses half of ε, since a substitution is a removal and an addition, and δ/(1 + e^(ε/2)).
    """
    return {
        "ksw": lambda totals, size, rng: ksw(totals, size, rng, epsilon=EPSILON, scale_factor=2.0),
        "local": lambda totals, size, rng: local_sensitivity_corrected(
            totals,
            size,
            rng,
            epsilon=EPSILON / 2,
            delta=DELTA / (1 + np.exp(EPSILON / 2)),
            epsilon_1_fraction=0.1,
        ),
        "plain": lambda totals, size, rng: (totals[0] + rng.laplace(0, 1 / EPSILON, size)) / totals[1],
    }


def measure() -> dict[str, Any]:
    plane = Parallel(n_jobs=-1)(delayed(node)(round(p * b), b) for b in PLANE_B for p in PLANE_RATIOS)
    return {
        "epsilon": EPSILON,
        "delta": DELTA,
        "trials": TRIALS,
        "samples": AUDIT_SAMPLES,
        "over_b": [errors(b // 2, b, at) for at, b in enumerate(SIZES)],
        "over_ratio": {
            str(b): [errors(round(p * b), b, 100 + 50 * i + j) for j, p in enumerate(RATIOS)]
            for i, b in enumerate(WIDE)
        },
        "plane": plane,
        "known": known(),
    }


def errors(a: int, b: int, at: int) -> dict[str, Any]:
    """Return mean and median absolute errors, each mean with its standard error; ``at`` is the number of the random stream."""
    totals, figures = np.array([a, b]), dict[str, Any](a=a, b=b)
    for relation, mechanisms in (("add_remove", add_remove()), ("substitution", substitution())):
        figures[relation] = {}
        for place, (name, mechanism) in enumerate(mechanisms.items()):
            rng = np.random.default_rng([20240720, at, place, len(relation)])
            misses = np.abs(mechanism(totals, TRIALS, rng) - a / b)
            figures[relation][name] = {
                "mean": misses.mean(),
                "standard_error": misses.std() / np.sqrt(TRIALS),
                "median": np.median(misses),
            }
    return figures


def _outputs(version: str, totals: tuple[int, int]) -> Density:
    return local_sensitivity_ratio(*totals, BOUNDS[version], epsilon=EPSILON, delta=DELTA)


def node(a: int, b: int) -> dict[str, Any]:
    """Return ε at the claimed δ under add/remove (the larger for the two people who may be added) and under substitution.

    Both are given exactly, and as audits bound them from outputs alone.
    """
    entry: dict[str, Any] = {"a": a, "b": b}
    # One more person with a 1 and one fewer with a 0, or vice versa.
    substituted = (a + 1, b) if a < b else (a - 1, b)
    comers = ((a + 1, b + 1), (a, b + 1))
    for name, version, others in (
        ("printed", "printed", comers),
        ("corrected", "corrected", comers),
        ("substitution", "corrected", (substituted,)),
    ):
        here = _outputs(version, (a, b))
        exact = [exact_epsilon(here, _outputs(version, other), DELTA) for other in others]
        worst = max(exact, key=lambda loss: loss.value)
        entry[name] = {"epsilon": worst.value, "error": worst.error, **audit(version, (a, b), others)}
    return entry


def known() -> list[dict[str, Any]]:
    """Return the exact ε of the naive and the KSW ratio at (200, 300), at δ = 0 and at the δ of the other mechanism."""
    a, b = 200.0, 300.0
    pairs = {
        "naive, add/remove": (laplace_ratio(a, b, 2 / EPSILON), laplace_ratio(a + 1, b + 1, 2 / EPSILON)),
        "KSW, add/remove": (ksw_ratio(a, b, 1 / EPSILON), ksw_ratio(a, b + 1, 1 / EPSILON)),
        "KSW, substitution, λ = 1/ε": (ksw_ratio(a, b, 1 / EPSILON), ksw_ratio(a + 1, b, 1 / EPSILON)),
        "KSW, substitution, λ = 2/ε": (ksw_ratio(a, b, 2 / EPSILON), ksw_ratio(a + 1, b, 2 / EPSILON)),
    }
    rows = []
    for name, (left, right) in pairs.items():
        pure, approximate = exact_epsilon(left, right), exact_epsilon(left, right, DELTA)
        rows.append(
            {
                "name": name,
                "pure": {"value": pure.value, "error": pure.error},
                "approximate": {"value": approximate.value, "error": approximate.error},
            }
        )
    return rows


def audit(version: str, totals: tuple[int, int], others: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Bound ε at the claimed δ from outputs alone, on the pair of ``totals`` and whichever of the other totals shows more."""
    result = auditor.audit(
        MECHANISMS[version],
        auditor.ApproximateDP(EPSILON, DELTA),
        [(list(totals), list(other)) for other in others],
        parameters={"epsilon": EPSILON, "delta": DELTA},
        samples=AUDIT_SAMPLES,
        shrink=False,
        seed=20240720,
        workers=1,
    )
    assert result.bound is not None
    return {"bound": result.bound.value, "verdict": result.verdict.value}
