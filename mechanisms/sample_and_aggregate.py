"""Document 001, "Local Sensitivity": a mean by sample-and-aggregate (Definition 20), with answers clipped to [low, high]."""

import math

import numpy as np
from numpy.typing import NDArray

from mechanisms.exact.distributions import Density, MassFunction
from mechanisms.exact.known_continuous import laplace
from mechanisms.exact.pair import each, truth
from mechanisms.specimens import specimen

Reals = NDArray[np.float64]


def center_as_printed(records: Reals, k: int, low: float, high: float) -> float:
    """Return the mean of the clipped means of contiguous chunks of ⌈n/k⌉ records; NaN for no records."""
    if len(records) == 0:
        return math.nan
    chunk_size = math.ceil(len(records) / k)
    chunks = [records[i : i + chunk_size] for i in range(0, len(records), chunk_size)]
    return float(np.mean(np.clip([np.mean(chunk) for chunk in chunks], low, high)))


def center_corrected(records: Reals, k: int, low: float, high: float) -> float:
    """Return the mean of the clipped means of k chunks; the chunk of a record depends only on its value."""
    chunks = chunk_of(records, k)
    counts = np.bincount(chunks, minlength=k)
    sums = np.bincount(chunks, weights=records, minlength=k)
    answers = np.where(counts > 0, sums / np.maximum(counts, 1), (low + high) / 2)
    return float(np.mean(np.clip(answers, low, high)))


def _exact(center: float, k: int, low: float, high: float, epsilon: float) -> Density | MassFunction:
    return MassFunction({"NaN": 0.0}) if math.isnan(center) else laplace(center, (high - low) / (k * epsilon))


@truth(
    each(lambda records, k, low, high, epsilon: _exact(center_as_printed(records, k, low, high), k, low, high, epsilon))
)
@specimen(14, "001", "ε", "records in [low, high]; add/remove", holds=False)
def saa_as_printed(
    records: Reals, size: int, rng: np.random.Generator, *, k: int, low: float, high: float, epsilon: float
) -> Reals:
    """``saa_avg_age``: contiguous chunks of ⌈n/k⌉ records, and noise (high − low)/(kε) for the requested k.

    Two faults: one added record shifts all later ones into other chunks; and there may be fewer than k chunks, each of which
    then has more weight. Without records the document's code raises an error; that output is written NaN.
    """
    return rng.laplace(center_as_printed(records, k, low, high), (high - low) / (k * epsilon), size)


def chunk_of(records: Reals, k: int) -> NDArray[np.int64]:
    """Return the chunk of each record, determined by its value alone (SplitMix64 of its bits, modulo k)."""
    bits = np.asarray(records, np.float64).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((bits ^ (bits >> np.uint64(31))) % np.uint64(k)).astype(np.int64)


@truth(
    each(lambda records, k, low, high, epsilon: _exact(center_corrected(records, k, low, high), k, low, high, epsilon))
)
@specimen(15, "001", "ε", "records in [low, high]; add/remove", holds=True)
def saa_corrected(
    records: Reals, size: int, rng: np.random.Generator, *, k: int, low: float, high: float, epsilon: float
) -> Reals:
    """Sample and aggregate over exactly k chunks; the chunk of a record does not depend on other records.

    One record then changes one answer of k, by at most high − low. An empty chunk answers the middle of the range.
    """
    return rng.laplace(center_corrected(records, k, low, high), (high - low) / (k * epsilon), size)
