"""The snapping mechanism: its distribution, and that its bits reveal nothing where those of textbook noise reveal everything."""

import numpy as np
import pytest
from scipy.stats import chi2, laplace

import auditor
from mechanisms import additive
from mechanisms.snapping import full_uniform, snapping, snapping_epsilon

DOMAIN = auditor.Totals(cells=1, values=(-10, 10), contribution={"l1": 1}, integer=False)


@pytest.mark.parametrize(("value", "scale", "bound"), [(0.3, 1.0, 8.0), (-2.0, 1.5, 4.0), (50.0, 1.0, 8.0)])
def test_outputs_follow_rounded_laplace_noise(value: float, scale: float, bound: float) -> None:
    """A chi-square test with a false-failure rate of 1e-8."""
    outputs = snapping(np.array([value]), 200_000, np.random.default_rng(1), scale=scale, bound=bound)
    grid = 2.0 ** np.ceil(np.log2(scale))
    points = np.arange(-bound, bound + grid / 2, grid)
    edges = np.concatenate([[-np.inf], points[:-1] + grid / 2, [np.inf]])
    centre = float(np.clip(value, -bound, bound))
    expected = 200_000 * np.diff(laplace.cdf(edges, centre, scale))
    observed = np.array([np.count_nonzero(outputs == point) for point in points])
    assert observed.sum() == 200_000, "every output lies on the grid"
    likely = expected > 20
    rest = (observed[~likely].sum() - expected[~likely].sum()) ** 2 / max(expected[~likely].sum(), 1)
    statistic = ((observed - expected) ** 2 / expected)[likely].sum() + rest
    assert statistic < chi2.isf(1e-8, likely.sum())


def test_small_uniforms_keep_all_their_bits() -> None:
    """A fraction 2⁻ᵏ of the numbers lies below 2⁻ᵏ, and these are no multiples of 2⁻⁵³, as they would be from an
    ordinary generator."""
    drawn = full_uniform(np.random.default_rng(2), 1_000_000)
    assert drawn.min() > 0 and drawn.max() < 1
    assert np.count_nonzero(drawn < 2.0**-10) == pytest.approx(1_000_000 / 1024, abs=6 * 31.3)
    small = drawn[drawn < 2.0**-10]
    assert np.any(small * 2.0**53 != np.rint(small * 2.0**53))


@pytest.mark.parametrize(
    ("mechanism", "parameters", "claim", "verdict"),
    [
        (snapping, {"scale": 1.0, "bound": 100.0}, snapping_epsilon(1.0, 100.0), "no_violation_found"),
        (additive.laplace, {"sensitivity": 1.0, "epsilon": 1.0}, 1.0, "violation"),
    ],
)
def test_bits_tell_textbook_noise_from_snapping(
    mechanism: object, parameters: dict[str, float], claim: float, verdict: str
) -> None:
    result = auditor.audit(
        mechanism,  # type: ignore[arg-type]
        auditor.PureDP(claim),
        DOMAIN,
        parameters=parameters,
        samples=100_000,
        events=("values", "bits"),
        seed=3,
        workers=1,
        isolate=False,
        shrink=False,
    )
    assert result.verdict == verdict
