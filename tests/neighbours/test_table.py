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
    "2f5d43de 1af0fbac 0c75b1c4",
    "3869629c 6540676a ff342622",
    "81bff83a 9fb24a31 8baad60f",
    "28b37317 108f1b06 3a0c1d86",
    "1c5f8ad3 2715efe1 d57acdbf",
    "aca0c2a5 a3c2300d be081d30",
    "57a99254 e453b715 ce6f8f77",
    "0b87792b da460e1d 0bdcf3e0",
    "dbd92dc5 57e9f24f dd7879c3",
]
OF_FRAMES = [
    "f57c76ed ef30219e 8e692485",
    "7bc53b4e e0330b92 2993660b",
    "e802d465 ef30219e b8d2d314",
    "a0811cff 3045db76 92b503bb",
    "5668bd37 e7f52819 22b165fb",
    "93d6ec10 c280002c c020e570",
    "c0309e5d f8e4d147 23dabb43",
]


@pytest.mark.parametrize(("given", "known"), [*zip(RECORDS, OF_RECORDS, strict=True)])
def test_records_have_the_pairs_that_they_had(given: dict[str, Any], known: str) -> None:
    assert digests(Records(**given)) == known


@pytest.mark.parametrize(("given", "known"), [*zip(FRAMES, OF_FRAMES, strict=True)])
def test_frames_have_the_pairs_that_they_had(given: dict[str, Any], known: str) -> None:
    assert digests(Frame(COLUMNS, **given)) == known
