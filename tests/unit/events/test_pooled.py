"""Pooled evidence of many weak columns: their common part makes each estimate better than it is by itself."""

from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch
from auditor.blackbox.sample import Sample
from auditor.events.coarse import pooled_evidence
from auditor.events.features import EvidenceSum, Place
from auditor.events.selection import Halves

PLACES = 24
ALIKE, UP_AND_DOWN = np.full(PLACES, 1.0), np.where(np.arange(PLACES) % 2, 1.0, -1.0)
FEW = np.where(np.arange(PLACES) < 3, 2.5, 0.0)


def halves(signs: Any, size: int, seed: int) -> Halves:
    rng = np.random.default_rng(seed)
    left, right = (from_batch(rng.laplace(0, 1, (size, PLACES)) + move * signs, size) for move in (0.0, 0.02))
    nothing = Sample(left[:0], right[:0])
    return Halves.of(Sample(left, right), nothing)


def score(signs: Any, seed: int) -> EvidenceSum:
    places = tuple(Place(f"output[{i}]") for i in range(PLACES))
    return EvidenceSum(pooled_evidence(places, halves(signs, 40_000, seed).coarse(places)))


@pytest.mark.parametrize("signs", [ALIKE, UP_AND_DOWN, FEW], ids=["alike", "up and down", "few"])
def test_the_sum_is_nearly_the_exact_log_ratio(signs: Any) -> None:
    """A single place shows 0.02 with an error of 0.01, so that a sum of single estimates has a correlation of at most 0.87.

    This is the median of five seeds. Unpooled tables have 16 cells per place, each with its error, and stay below 0.5.
    """
    rng = np.random.default_rng(99)
    outputs = rng.laplace(0, 1, (20_000, PLACES))
    exact = (np.abs(outputs - 0.02 * signs) - np.abs(outputs)).sum(axis=1)
    correlations = [
        np.corrcoef(score(signs, seed).extract(from_batch(outputs, len(outputs))).numbers, exact)[0, 1]
        for seed in range(5)
    ]
    assert np.median(correlations) > 0.8


def test_where_no_place_shows_anything_the_sum_is_nearly_nothing() -> None:
    outputs = from_batch(np.random.default_rng(99).laplace(0, 1, (20_000, PLACES)), 20_000)
    spreads = [np.std(score(np.zeros(PLACES), seed).extract(outputs).numbers) for seed in range(5)]
    # For 24 equal places that show 0.02 each, the sum is 0.1.
    assert np.median(spreads) < 0.03


def test_a_place_that_stands_alone_keeps_what_it_shows() -> None:
    signs = np.where(np.arange(PLACES) == 5, 50.0, 0.0)
    tables = score(signs, 1).tables
    by_place = dict(tables)
    strong = by_place[Place("output[5]")].values
    assert max(strong) > 0.8 and min(strong) < -0.8
    assert all(max(map(abs, cells.values)) < 0.1 for place, cells in tables if place != Place("output[5]"))
