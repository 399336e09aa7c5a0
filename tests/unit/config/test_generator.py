"""Pairs from a user's own function."""

from pathlib import Path

import pytest

from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError

TEXT = """
version: 1
audits:
  - name: own pairs
    mechanism: own.py:mechanism
    claim: {epsilon: 1}
    neighbours: {generator: own.py:GENERATOR, relation: add_remove}
"""
CODE = """
def mechanism(dataset, size, rng):
    return rng.laplace(len(dataset), 1.0, size)

def pairs():
    for n in range(3):
        yield [1] * n, [1] * (n + 1)

def far_apart():
    yield [1], [1, 2, 3]

def singles():
    yield from [1, 2]

def needs_a_path(path):
    yield [], [path]

def fails():
    yield [], [1]
    raise KeyError("column")

def endless():
    while True:
        yield [], [1]
"""


def load(folder: Path, generator: str) -> list[tuple[object, object]]:
    (folder / "own.py").write_text(CODE, encoding="utf-8")
    (folder / "own.yaml").write_text(TEXT.replace("GENERATOR", generator), encoding="utf-8")
    [plan] = load_configuration(folder / "own.yaml").plans
    return [(pair.left, pair.right) for pair in plan.domain.corners()]


def test_the_pairs_a_function_yields_are_those_audited(tmp_path: Path) -> None:
    assert load(tmp_path, "pairs") == [([], [1]), ([1], [1, 1]), ([1, 1], [1, 1, 1])]


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        ("far_apart", "not neighbouring under add_remove"),
        ("singles", "must yield pairs"),
        ("pears", 'mean "pairs"'),
        ("needs_a_path", "raised TypeError: .*path'.*; it is called without arguments, and must yield pairs"),
        ("fails", r"raised KeyError: 'column' \(.*own.py, line 20\); it is called without arguments"),
        ("endless", "yields more than 100,000 pairs; return a domain instead"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_line(tmp_path: Path, generator: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=f"line 7.*{message}"):
        load(tmp_path, generator)
