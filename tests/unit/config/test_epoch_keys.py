"""`domain: vectors` and `domain: epoch` in a configuration: the keys become the domains of Python, and mistakes name their line."""

from pathlib import Path

import pytest

from auditor import Epoch, Vectors
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError

HEAD = "version: 1\naudits:\n  - name: a\n    mechanism: run.py:run\n    claim: {mu: 1.0}\n    neighbours: "


def neighbours(text: str, folder: Path) -> object:
    file = folder / "audit.yaml"
    file.write_text(HEAD + text + "\n", encoding="utf-8")
    (folder / "run.py").write_text("def run(batches, rng):\n    return rng.normal()\n", encoding="utf-8")
    [plan] = load_configuration(file).plans
    return plan.neighbours


def test_keys_of_vectors(tmp_path: Path) -> None:
    domain = neighbours(
        "{domain: vectors, cells: 2, norm: 0.5, size: {low: 2, high: 4}, weights: {low: 1, high: 9}, relation: substitute}",
        tmp_path,
    )
    assert isinstance(domain, Vectors)
    assert str(domain) == str(Vectors(2, 0.5, size=(2, 4), weights=(1, 9), relation="substitute"))


def test_keys_of_an_epoch(tmp_path: Path) -> None:
    domain = neighbours(
        "{domain: epoch, of: {domain: vectors, cells: 1, norm: 1.0, size: {low: 31, high: 32}}, sampling: shuffled, batch_size: 4}",
        tmp_path,
    )
    assert isinstance(domain, Epoch)
    assert str(domain) == str(Epoch(Vectors(1, 1.0, size=(31, 32)), "shuffled", batch_size=4))
    records = "{domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 3}}"
    domain = neighbours(f"{{domain: epoch, of: {records}, sampling: poisson, batches: 2, epochs: 3}}", tmp_path)
    assert isinstance(domain, Epoch)
    assert (domain.loader.batches, domain.loader.epochs, domain.relation) == (2, 3, "add_remove")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{domain: vectors, cells: 0, norm: 1.0, size: {low: 0, high: 2}}", "cells is 0"),
        ("{domain: vectors, cells: 1, size: {low: 0, high: 2}}", "norm"),
        (
            "{domain: epoch, of: {domain: vectors, cells: 1, norm: 1.0, size: {low: 0, high: 2}}}",
            "batch_size is missing",
        ),
        ("{domain: epoch, sampling: shuffled, batch_size: 2}", "of"),
        ("{domain: epoch, of: {domain: value, values: [0, 1]}, batch_size: 2}", "value"),
    ],
)
def test_mistakes_are_named(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=words):
        neighbours(text, tmp_path)
