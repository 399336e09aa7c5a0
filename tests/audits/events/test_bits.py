"""Floating-point bits as events: read correctly, effective where a sampler leaks through them, and used only on request."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auditor
from auditor.blackbox.canonical import from_batch, from_list
from auditor.events.features import LOWEST_BIT_OF, LowestBit
from auditor.report.phrases import finding
from auditor.verdict import Verdict


def ends(numbers: Any) -> list[float]:
    outputs = from_batch(np.asarray(numbers, np.float64), len(numbers))
    return LowestBit("output").extract(outputs).numbers.tolist()


def by_fraction(x: float) -> int:
    """Return the exponent of the lowest bit: a double is an odd integer times a power of two."""
    numerator, denominator = x.as_integer_ratio()
    return (numerator & -numerator).bit_length() - denominator.bit_length()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).filter(bool), min_size=1, max_size=20))
def test_the_lowest_bit_is_where_the_number_ends(numbers: list[float]) -> None:
    assert ends(numbers) == [by_fraction(x) for x in numbers]


@pytest.mark.parametrize(
    ("x", "end"),
    [
        (1.0, 0),
        (-1.0, 0),
        (3.0, 0),
        (6.0, 1),
        (0.75, -2),
        (5e-324, -1074),
        (-1.5e-323, -1074),
        (2.0**-1022, -1022),
        (1.7976931348623157e308, 971),
        (2.0**1023, 1023),
        (0.0, 1100),
        (-0.0, 1100),
        (math.inf, math.inf),
        (-math.inf, -math.inf),
    ],
)
def test_the_ends_of_the_range(x: float, end: float) -> None:
    assert ends([x, 1.0])[0] == end


def test_atoms_stay_what_they_are() -> None:
    outputs = from_list([0.75, math.nan, None, "a"])
    column = LowestBit("output").extract(outputs)
    given_column = outputs.column("output")
    assert column.codes is not None
    assert given_column.codes is not None
    assert (column.codes.tolist(), column.atoms) == (given_column.codes.tolist(), given_column.atoms)
    assert column.numbers[0] == -2


# --- In an audit ---


def laplace(value: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(value, 1.0, size)


def discrete(value: int, size: int, rng: np.random.Generator) -> Any:
    return value + rng.geometric(1 - math.exp(-1), size) - rng.geometric(1 - math.exp(-1), size)


def on_a_grid(value: float, size: int, rng: np.random.Generator) -> Any:
    """Rounded to sixteenths, far coarser than doubles near 0 and 1: the bits of the noise are gone."""
    return np.round(laplace(value, size, rng) * 16) / 16


def audit(mechanism: Any, *events: str, **options: Any) -> Any:
    made = {"samples": 40_000, "seed": 11, "workers": 1, "isolate": False, "search": 0, **options}
    return auditor.audit(mechanism, auditor.PureDP(1.0), [(0, 1)], events=events or ("values",), **made)


@pytest.mark.parametrize("events", [("values", "bits"), ("bits",)])
def test_the_textbook_laplace_is_refuted_through_its_bits_in_one_audit(events: tuple[str, ...]) -> None:
    result = audit(laplace, *events)
    assert result.verdict is Verdict.VIOLATION
    assert result.bound.value > 1.5
    assert LOWEST_BIT_OF in result.event["description"]


def test_bits_are_looked_at_only_where_events_say_so() -> None:
    result = audit(laplace, seed=7)  # with 4 of 100 seeds an event is learned that shows nothing
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert 0.8 < result.bound.value <= 1.0
    assert "bit" not in str(result.event)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mechanism", [discrete, on_a_grid])
def test_integers_and_a_coarse_grid_say_nothing_through_their_bits(mechanism: Any, seed: int) -> None:
    result = audit(mechanism, "values", "bits", seed=seed, confidence=1 - 1e-8)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert result.bound.value > 0.5  # events on values still work


def test_the_second_place_of_an_output_may_be_the_leaky_one() -> None:
    def pair(value: float, size: int, rng: np.random.Generator) -> Any:
        return np.stack([rng.normal(size=size), laplace(value, size, rng)], axis=1)

    result = audit(pair, "values", "bits")
    assert result.verdict is Verdict.VIOLATION
    assert "output[1]" in result.event["description"]


def test_the_report_says_that_it_is_the_implementation() -> None:
    words = "the floating-point representation tells the sides apart (the implementation, not the mechanism)"
    assert words in finding(audit(laplace, "values", "bits"))

    def leaky(value: float, size: int, rng: np.random.Generator) -> Any:
        return rng.laplace(value, 0.3, size)

    assert "implementation" not in finding(audit(leaky))


def test_what_is_known_over_the_reals_is_not_shown_beside_bits() -> None:
    options = {
        "parameters": {"sensitivity": 1.0, "epsilon": 1.0},
        "samples": 20_000,
        "workers": 1,
        "isolate": False,
        "search": 0,
    }
    pairs = [([0.0], [1.0])]
    name = "mechanisms.additive:laplace"
    with_bits = auditor.audit(name, auditor.PureDP(1.0), pairs, events=("values", "bits"), **options)
    without = auditor.audit(name, auditor.PureDP(1.0), pairs, **options)
    assert with_bits.exact is None
    assert without.exact is not None


def test_kinds_of_events_are_checked() -> None:
    with pytest.raises(auditor.InvalidInputError, match="bits"):
        audit(laplace, "values", "bit")
