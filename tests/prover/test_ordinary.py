"""Ordinary mechanisms, all private as claimed: which of them are proved, and that each of the others gets a reason."""

import functools

import pytest
from ordinary import ORDINARY, Ordinary

import dp_prover

# Mechanisms that the prover does not prove yet.
NOT_PROVED = {
    "middle group",  # reads a list of its module, which could change
    "shuffled bit count",  # returns a Python integer without data, and otherwise sometimes a NumPy integer
    "permute and flip",  # proved for pairs only, since its order depends on the data set
}


@functools.cache
def proof_of(name: str) -> dp_prover.Proof:
    ordinary = next(ordinary for ordinary in ORDINARY if ordinary.name == name)
    return dp_prover.prove(
        ordinary.mechanism, ordinary.claim, ordinary.domain, parameters=ordinary.parameters, seconds=10
    )


@pytest.mark.parametrize("one", ORDINARY, ids=lambda one: one.name)
def test_an_ordinary_mechanism_is_proved_or_a_reason_given(one: Ordinary) -> None:
    proof = proof_of(one.name)
    assert proof.proved == (one.name not in NOT_PROVED), str(proof)
    assert proof.holds or len(str(proof.reason)) >= 20


# The least share of the mechanisms not marked as hard that must be proved.
TARGET = 0.9


def test_most_of_what_is_not_hard_is_proved() -> None:
    easy = [mechanism for mechanism in ORDINARY if not mechanism.hard]
    proved = [mechanism.name for mechanism in easy if proof_of(mechanism.name).proved]
    assert len(proved) >= TARGET * len(easy)


def test_names_are_distinct_and_those_not_proved_exist() -> None:
    names = [mechanism.name for mechanism in ORDINARY]
    assert len(set(names)) == len(names) == 29
    assert set(names) >= NOT_PROVED
