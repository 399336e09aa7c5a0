"""The number of decimals in numbers: as in their repr, and only if the numbers look rounded."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.blackbox.canonical import from_batch, from_list
from auditor.events.features import UNROUNDED, Decimals

RNG = np.random.default_rng(0)


@given(
    st.lists(st.decimals(-(10**5), 10**5, places=6).map(float) | st.integers(-(10**6), 10**6).map(float), min_size=1)
)
def test_decimals_are_those_of_the_shortest_text(numbers: list[float]) -> None:
    decimals = Decimals("output").extract(from_batch(np.array(numbers), len(numbers))).numbers
    assert decimals.tolist() == [max(0, -int(Decimal(repr(x)).normalize().as_tuple().exponent)) for x in numbers]


def test_atoms_and_infinities_stay_what_they_are() -> None:
    column = Decimals("output").extract(from_list([0.25, None, float("inf"), 1 / 3]))
    assert column.numbers.tolist()[0] == 2
    assert column.numbers.tolist()[2:] == [np.inf, UNROUNDED]
    assert column.codes is not None and column.atoms[column.codes[1]] == "None"


@pytest.mark.parametrize(
    ("numbers", "rounded"),
    [
        (RNG.laplace(size=2_000), False),
        (RNG.laplace(size=2_000, scale=1e7), False),
        (np.clip(RNG.laplace(size=2_000), -1, 1), False),
        (np.rint(RNG.laplace(size=2_000, scale=50)), False),
        (np.round(RNG.laplace(size=2_000), 3), True),
        (
            np.where(RNG.random(2_000) < 0.05, np.rint(RNG.laplace(size=2_000, scale=1e4)), RNG.laplace(size=2_000)),
            True,
        ),
    ],
    ids=["noise", "wide noise", "clipped", "whole", "three decimals", "some whole"],
)
def test_only_what_looks_rounded_is_looked_at(numbers: Any, rounded: bool) -> None:
    assert Decimals("output").varies(from_batch(numbers, len(numbers))) == rounded
