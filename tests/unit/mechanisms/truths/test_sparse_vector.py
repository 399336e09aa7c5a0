"""The sparse vector technique: closed forms for one query, another quadrature for three, structure for more."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from mechanisms.exact.distributions import MassFunction
from mechanisms.truths.noise import Laplace, NoNoise
from mechanisms.truths.sparse_vector import sparse_vector


def masses(result: MassFunction) -> dict[tuple[int, ...], float]:
    return {output: math.exp(mass) for output, mass in result.log_masses.items()}  # type: ignore[misc]


@pytest.mark.parametrize("gap", [0.0, 0.4, 3.0, 60.0])
@pytest.mark.parametrize(("r", "s"), [(1.0, 2.0), (20.0, 40.0), (40.0, 13.0)])
def test_one_query_is_above_as_often_as_the_closed_form_says(gap: float, r: float, s: float) -> None:
    """P[ν − ρ ≥ d] = (s² e^(−d/s) − r² e^(−d/r))/(2(s² − r²)) for Laplace noise of scales s ≠ r and d ≥ 0."""
    truth = (s * s * math.exp(-gap / s) - r * r * math.exp(-gap / r)) / (2 * (s * s - r * r))
    computed = sparse_vector([1.0 - gap], 1.0, Laplace(r), Laplace(s))
    assert computed.log_error < 1e-11
    # The closed form loses digits to cancellation, and is right to 10⁻¹³ or so.
    assert masses(computed)[(1,)] == pytest.approx(truth, rel=1e-12)
    assert masses(computed)[(0,)] == pytest.approx(1 - truth, rel=1e-12)


@pytest.mark.parametrize("answers", [[0.0, 1.0, -2.0], [1.0, 1.0, 1.0], [-10.0, 10.0, 0.5]])
def test_three_queries_agree_with_another_quadrature(answers: list[float]) -> None:
    threshold, r, s = 0.5, 2.0, 1.5
    computed = masses(sparse_vector(answers, threshold, Laplace(r), Laplace(s)))
    for output in itertools.product((0, 1), repeat=3):

        def integrand(z: float, output: tuple[int, ...] = output) -> float:
            chances = [float(laplace.sf(threshold + z - a, scale=s)) for a in answers]
            each = [p if above else 1 - p for p, above in zip(chances, output, strict=True)]
            return float(laplace.pdf(z, scale=r) * np.prod(each))

        points = sorted({0.0, *(a - threshold for a in answers)})
        truth = quad(integrand, -90, 90, points=points, limit=500, epsabs=1e-14)[0]
        assert computed[output] == pytest.approx(truth, rel=1e-8, abs=1e-11)


def test_without_query_noise_equal_answers_are_answered_alike() -> None:
    computed = masses(sparse_vector([0.0, 2.0, 0.0], 1.0, Laplace(3.0), NoNoise()))
    between = float(laplace.cdf(1.0, scale=3.0) - laplace.cdf(-1.0, scale=3.0))
    possible = {(1, 1, 1): float(laplace.cdf(-1.0, scale=3.0)), (0, 1, 0): between}
    possible[(0, 0, 0)] = 1 - sum(possible.values())
    for output, mass in computed.items():
        assert mass == pytest.approx(possible.get(output, 0.0), abs=1e-13)


@pytest.mark.parametrize("cutoff", [1, 2, 3])
def test_stopping_joins_the_sequences_that_differ_only_afterwards(cutoff: int) -> None:
    answers = [0.3, -1.0, 2.0, 0.0, 1.0]
    whole = masses(sparse_vector(answers, 0.5, Laplace(1.0), Laplace(2.0)))
    joined: dict[tuple[int, ...], float] = {}
    for output, mass in whole.items():
        above = np.cumsum(output)
        observed = tuple(-1 if above[j] - output[j] >= cutoff else output[j] for j in range(5))
        joined[observed] = joined.get(observed, 0.0) + mass
    stopped = masses(sparse_vector(answers, 0.5, Laplace(1.0), Laplace(2.0), cutoff))
    assert stopped.keys() == joined.keys()
    assert all(stopped[output] == pytest.approx(mass, rel=1e-12) for output, mass in joined.items())


def test_a_fresh_threshold_makes_what_follows_an_answer_above_independent() -> None:
    noise, query = Laplace(1.0), Laplace(2.0)
    fresh = masses(sparse_vector([1.0, 0.0, 2.0], 0.5, noise, query, fresh=True))
    first = masses(sparse_vector([1.0], 0.5, noise, query))
    rest = masses(sparse_vector([0.0, 2.0], 0.5, noise, query, fresh=True))
    for (b, c), mass in rest.items():
        assert fresh[1, b, c] == pytest.approx(first[1,] * mass, rel=1e-12)
    kept = masses(sparse_vector([1.0, 0.0, 2.0], 0.5, noise, query))
    assert fresh[0, 0, 1] == pytest.approx(kept[0, 0, 1], rel=1e-12)
    assert fresh[1, 1, 1] != pytest.approx(kept[1, 1, 1], rel=1e-3)
