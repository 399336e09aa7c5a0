"""Mechanisms that leak by the type of their data, by their batch, by floats or by objects: none is proved."""

import collections
from typing import Any

import pytest
from deceptions_of_domains import LEAKS

import dp_prover


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: f"{leak.kind}: {leak.why}")
def test_none_is_proved(leak: Any) -> None:
    proof = dp_prover.prove(leak.mechanism, leak.claim, leak.domain, seconds=5)
    assert not proof.proved, str(proof)
    assert not str(proof).startswith("proved:")


def test_there_are_25_of_each_kind() -> None:
    assert set(collections.Counter(leak.kind for leak in LEAKS).values()) == {25}
