"""Adapters on stand-ins with the attributes of a library's objects, for environments without the library.

`test_pure_ldp.py` and `test_diffprivlib.py` use the libraries' own objects.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapt, adapter_of
from auditor.libraries.diffprivlib import from_diffprivlib
from auditor.libraries.estimator import from_estimator
from auditor.libraries.pure_ldp import from_pure_ldp

RNG = np.random.default_rng(1)
QUICK: dict[str, Any] = {"samples": 4000, "search": 400, "workers": 1, "isolate": False, "seed": 1}


@dataclass
class DEClient:
    """Answers an item of 1 … d, or any of them."""

    epsilon: float
    d: int
    keeps: float = 0.5

    def index_mapper(self, item: int) -> int:
        return item - 1

    def privatise(self, item: int) -> int:
        return self.index_mapper(item) if RNG.random() < self.keeps else int(RNG.integers(self.d))


@dataclass
class Geometric:
    """Adds geometric noise."""

    epsilon: float
    sensitivity: int
    delta: float = 0.0

    def randomise(self, value: int) -> int:
        assert isinstance(value, int)
        p = 1 - np.exp(-self.epsilon / self.sensitivity)
        return value + int(RNG.geometric(p) - RNG.geometric(p))


DEClient.__module__, Geometric.__module__ = (
    "pure_ldp.frequency_oracles.direct_encoding",
    "diffprivlib.mechanisms.geometric",
)


def test_each_finds_its_adapter() -> None:
    class Own(Geometric):
        pass

    assert adapter_of(DEClient(1.0, 3)) is from_pure_ldp
    assert adapter_of(Geometric(1.0, 1)) is adapter_of(Own(1.0, 1)) is from_diffprivlib


@pytest.mark.parametrize("thing", [print, lambda data: data, 3, "name", {"a": 1}, Path(), DEClient])
def test_other_objects_have_none(thing: object) -> None:
    assert adapter_of(thing) is None


def test_a_keyword_that_the_adapter_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidInputError, match='has no parameter "item"; did you mean "items"'):
        adapt(DEClient(1.0, 3), {"item": [1]})


@pytest.mark.parametrize(("claimed", "verdict"), [(1.5, "no_violation_found"), (0.5, "violation")])
def test_a_client_is_audited_by_its_epsilon(claimed: float, verdict: str) -> None:
    # The item is kept with probability 1/2: ε = ln((1/2 + 1/6) / (1/6)) = ln 4 = 1.39.
    result = auditor.audit(DEClient(claimed, 3), **QUICK)
    assert (result.claim, result.verdict) == (auditor.PureDP(claimed), verdict)
    assert result.pair is not None
    assert {result.pair.left, result.pair.right} <= {1, 2, 3}


@pytest.mark.parametrize(("sensitivity", "verdict"), [(2, "no_violation_found"), (1, "violation")])
def test_a_mechanism_is_audited_by_its_sensitivity(sensitivity: int, verdict: str) -> None:
    made = Geometric(1.0, sensitivity)
    result = auditor.audit(made, None, auditor.OneNumber((0, 10), 2), **QUICK)
    assert (result.claim, result.verdict) == (auditor.PureDP(1.0), verdict)
    assert str(planned(made, None, None).neighbours).endswith(f"two at most {sensitivity} apart are neighbours")
    assert planned(Geometric(1.0, 1, 0.1), None, None).claim == auditor.ApproximateDP(1.0, 0.1)


def test_an_estimator_that_predicts_needs_a_target() -> None:
    class Regression:
        epsilon = 1.0

        def fit(self, features: Any, y: Any) -> None:
            self.mean_ = features.mean() + y.mean()

    with pytest.raises(InvalidInputError, match="Regression learns to predict: give `classes`, or for a regression"):
        from_estimator(Regression(), relation="substitute")
    model = from_estimator(Regression(), relation="substitute", target=[0, 1])
    assert model.mechanism([[0, 0, 1]]) == {"mean_": 1.0}


class Accountant:
    """An accountant that lists what was spent, as diffprivlib's does."""

    def __init__(self, epsilon: float = math.inf, delta: float = 1) -> None:
        self.epsilon, self.delta, self.spent = epsilon, delta, list[float]()


@pytest.mark.parametrize(("epsilon", "known"), [(math.inf, 1), (5.0, 4)])
def test_each_fit_spends_of_an_accountant_of_its_own_which_is_new_if_it_has_no_limit(
    epsilon: float, known: int
) -> None:
    class Model:
        accountant, epsilon = Accountant(), 1.0

        def fit(self, features: Any) -> None:
            self.accountant.spent.append(1.0)
            self.spent_ = float(len(self.accountant.spent))

    model = Model()
    model.accountant = Accountant(epsilon)
    model.accountant.spent += [1.0, 1.0, 1.0]
    mechanism = from_estimator(model, relation="substitute", size=[1, 2]).mechanism
    assert [mechanism([[0.5, 0.5]])["spent_"] for _ in range(3)] == [known] * 3
    assert len(model.accountant.spent) == 3
