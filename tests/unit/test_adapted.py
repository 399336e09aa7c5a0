"""What an adapter returned is an object that can be audited: a module names it, with its parameters."""

import numpy as np
import pytest

import auditor
from auditor.adapters import Adapted, adapt_object, mechanism_of
from auditor.auditing import planned
from auditor.errors import InvalidInputError


def release(dataset, rng):
    return dataset + rng.laplace()


ADAPTED = Adapted(release, auditor.PureDP(1.0), auditor.Value([0, 1]), ("a sentence",))


def test_its_claim_its_neighbours_and_its_sentences_are_taken() -> None:
    assert adapt_object(ADAPTED, {}) is ADAPTED
    assert mechanism_of(ADAPTED, {}) is release
    plan = planned(ADAPTED, None, None)
    assert (plan.claim, plan.neighbours, plan.assumptions) == (ADAPTED.claim, ADAPTED.neighbours, ("a sentence",))
    assert mechanism_of(ADAPTED, {})(0.0, np.random.default_rng(0)) != 0


def test_parameters_come_too_late() -> None:
    with pytest.raises(InvalidInputError, match="the object is adapted already"):
        planned(ADAPTED, None, None, parameters={"size": (0, 3)})
