"""The pairs of tables, and their order, are what they were: with the same seed a report is the same only as long as they are."""

import hashlib
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from auditor.neighbours.frames import Frame
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records
from auditor.neighbours.table import Table

RECORDS: list[dict[str, Any]] = [
    {"record": (0.0, 1.0), "size": (0, 200)},
    {"record": (-10.0, 1.0), "size": (100, 300)},
    {"record": (-20, 20), "integer": True, "size": (0, 50)},
    {"record": (0, 10), "integer": True, "size": (0, 50), "distance": 3},
    {"record": (0, 10), "integer": True, "size": (0, 50), "distance": 3, "relation": "substitute"},
    {"record": (1024.0, 1025.0), "size": (1024, 1024), "relation": "substitute"},
    {"choices": ["a", None, "bb"], "size": (0, 6), "distance": 2},
    {"choices": ["x", "y"], "size": (1, 5), "columns": 2},
    {"record": (-1, 1), "size": (1, 10), "columns": 3, "relation": "substitute", "integer": True, "container": "list"},
]
COLUMNS: dict[str, Any] = {
    "city": {"type": "categorical", "choices": ["a", "b"], "null": True},
    "sum": {"type": "number", "low": -1, "high": 10, "nan": True, "outside": True},
}
FRAMES: list[dict[str, Any]] = [
    {},
    {"size": (0, 9), "relation": "substitute"},
    {"size": (0, 9), "order": "shuffled"},
    {"size": (10, 100), "distance": 2},
    {"id": "user", "rows_per_person": (1, 3)},
    {"id": "user", "rows_per_person": (2, 4), "size": (0, 9), "relation": "substitute"},
    {"id": "user", "rows_per_person": (1, 3), "unit": "row"},
]


def digest(pairs: Iterable[Pair]) -> str:
    shown = [(pair.left, pair.right, str(pair.relation), str(pair.form)) for pair in pairs]
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:8]


def digests(domain: Table) -> str:
    """The corners, the simplest pairs, then random pairs and changes of each."""
    rng = np.random.default_rng(7)
    drawn = [domain.random(rng) for _ in range(12)]
    for first in (*drawn[:4], domain.corners()[-1]):
        drawn += itertools.accumulate(range(6), lambda pair, _: domain.mutate(pair, rng), initial=first)
    return " ".join(map(digest, (domain.corners(), domain.simplest(), drawn)))


OF_RECORDS = [
    "7039ded0 42518d19 0c75b1c4",
    "00558242 6e81307b ff342622",
    "4162428f 7852aa16 2e8d0405",
    "a16c8674 9bc8c32e 3a0c1d86",
    "f96a23ea 2715efe1 d57acdbf",
    "52cae634 a3c2300d be081d30",
    "a4c8046c b7d5bf2b ce6f8f77",
    "d5ace959 2edc8a47 0bdcf3e0",
    "135ec163 57e9f24f dd7879c3",
]
OF_FRAMES = [
    "f9795e1f bc30fe79 8e692485",
    "9cc8ae51 d12ac6af 2993660b",
    "53790df4 bc30fe79 b8d2d314",
    "c8dcce6a 9791e86a 92b503bb",
    "c1871b7c d4df72d3 14a6b258",
    "c775e27a 485c05d5 c020e570",
    "0eb7201a a79161d2 23dabb43",
]


@pytest.mark.parametrize(("given", "known"), [*zip(RECORDS, OF_RECORDS, strict=True)])
def test_records_have_the_pairs_that_they_had(given: dict[str, Any], known: str) -> None:
    assert digests(Records(**given)) == known


@pytest.mark.parametrize(("given", "known"), [*zip(FRAMES, OF_FRAMES, strict=True)])
def test_frames_have_the_pairs_that_they_had(given: dict[str, Any], known: str) -> None:
    assert digests(Frame(COLUMNS, **given)) == known
