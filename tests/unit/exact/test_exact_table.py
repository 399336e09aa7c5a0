"""Published exact values, to their known digits, each with the relation it is for."""

import pytest

from auditor.exact import (
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    delta_interval,
    epsilon_interval,
    mu_interval,
    renyi_interval,
)

TINY = 5e-8  # relative: the last printed digit of a closed form


def process(sigma: float, rate: float = 1.0, steps: int = 1, relation: str = "add_remove") -> Process:
    return Process(Gaussian(sigma), relation=relation, sampling=Poisson(rate), steps=steps)  # type: ignore[arg-type]


# Closed forms to sixty digits.
CLOSED = [
    ("Gaussian, sigma 1", Process(Gaussian(1.0)), 1e-5, 4.3771781),
    ("sigma 0.1", Process(Gaussian(0.1)), 1e-5, 91.8172896),
    ("sigma 1,000", Process(Gaussian(1_000.0)), 1e-5, 0.00193872),
    ("delta 1e-10", Process(Gaussian(1.0)), 1e-10, 6.5479241),
    ("delta 1e-20", Process(Gaussian(1.0)), 1e-20, 9.5109362),
    ("Laplace", Process(Laplace(1.0)), 1e-6, 0.9999980),
    ("Laplace, pure", Process(Laplace(1.0)), 0.0, 1.0),
    ("sampled", process(1.0, 0.01), 1e-5, 0.1994504),
    ("sampled by half", process(1.0, 0.5), 1e-5, 3.5339980),
    ("replaced", Process(Gaussian(1.0), relation="substitute"), 1e-5, 9.9972561),
]
# Intervals by a grid of step 2e-6, rounded to either side.
INTERVALS = [
    ("SK", process(1.0, 0.01, 1_000), 1.82724, 1.82924),
    ("SK half", process(0.5, 0.01, 1_000), 13.3558, 13.3658),
    ("SK 4", process(4.0, 0.01, 1_000), 0.271636, 0.272636),
    ("RS1", process(1.0, 0.01, 1, "substitute"), 0.209366, 0.209377),
    ("RSK", process(1.0, 0.01, 1_000, "substitute"), 2.8414, 2.8454),
    ("W1", Process(Gaussian(1.0), relation="substitute", sampling=FixedSize(0.01)), 3.02535, 3.02536),
]


@pytest.mark.parametrize(("asked", "delta", "exact"), [row[1:] for row in CLOSED], ids=[row[0] for row in CLOSED])
def test_a_closed_form_is_met_to_the_last_digit(asked: Process, delta: float, exact: float) -> None:
    interval = epsilon_interval(asked, delta)
    # The table rounds to eight digits, and to six for the smallest number.
    assert interval.low <= exact * (1 + 3e-6) and interval.high >= exact * (1 - 3e-6)
    assert interval.low == pytest.approx(exact, rel=3e-6) and interval.high == pytest.approx(exact, rel=3e-6)
    assert interval.relative_width < 1e-10


@pytest.mark.parametrize(("asked", "low", "high"), [row[1:] for row in INTERVALS], ids=[row[0] for row in INTERVALS])
def test_two_intervals_overlap_and_this_one_is_narrow(asked: Process, low: float, high: float) -> None:
    interval = epsilon_interval(asked, 1e-5)
    assert interval.low <= high and interval.high >= low
    assert interval.relative_width <= 0.01
    fine = epsilon_interval(asked, 1e-5, precision=5e-4)
    assert fine.relative_width <= 1e-3
    assert low <= fine.high and fine.low <= high
    assert interval.low <= fine.high and fine.low <= interval.high


def test_the_mu_of_sampled_noise_is_that_without_sampling_in_the_limit() -> None:
    interval = mu_interval(process(1.0, 0.01))
    assert interval.low == pytest.approx(1.0) and interval.high == pytest.approx(1.0)
    assert "approached" in interval.how


def test_renyi_of_the_sampled_gaussian_at_order_32() -> None:
    interval = renyi_interval(process(1.0, 0.01), 32)
    assert 11.245 < interval.low <= interval.high < 11.255 and interval.relative_width < 1e-9


def test_the_textbook_gaussian_spends_more_than_it_states() -> None:
    """σ = √(2 ln(1.25/δ))/ε is too small beyond ε = 1: at (10, 1e-5) δ is 2.27e-5."""
    interval = delta_interval(Process(Gaussian(0.484480514)), 10.0)
    assert interval.low > 1e-5 and interval.low == pytest.approx(2.27e-5, rel=0.01)
