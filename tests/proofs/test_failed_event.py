"""The event on which a proof fails is looked at by the audit, on the pair on which it failed."""

from typing import Any

import numpy as np
import pytest

import auditor
from auditor.blackbox.canonical import from_list
from auditor.blackbox.outputs import concatenate
from auditor.claims import PureDP
from auditor.events.features import Place, Where, like
from auditor.events.written import read_rule, written
from auditor.proofs import prove

ONE = auditor.Totals(cells=1, values=(0, 10), contribution={"l1": 1})


def less_noise_where_far(data: Any, rng: Any) -> list[Any]:
    """In one of 200 outputs, noise for ε = 5: neither the word nor the number shows it alone."""
    if rng.laplace() > 4.6:
        return ["far", data[0] + rng.laplace(0, 0.2)]
    return ["near", data[0] + rng.laplace()]


def test_a_failed_proof_returns_two_outputs_that_differ_in_their_numbers() -> None:
    proof = prove(less_noise_where_far, PureDP(1.0), ONE)
    assert proof.value == 5.0
    assert proof.outputs is not None
    (first, one), (second, other) = proof.outputs
    assert first == second == "far"
    assert one != other


@pytest.mark.statistical
def test_its_event_is_found_with_the_proof_and_not_without() -> None:
    """With probability .999 each; the seed is fixed."""

    def audited(prove: bool) -> auditor.AuditResult:
        return auditor.audit(less_noise_where_far, PureDP(1.0), ONE, samples=200_000, seed=1, prove=prove, shrink=False)

    assert audited(prove=False).verdict == "no_violation_found"
    result = audited(prove=True)
    assert result.verdict == "violation"
    assert result.event is not None
    assert result.event["description"].startswith("output[1] (where length of output is 2, output[0] is 'far')")


def outputs(*some: Any) -> Any:
    return concatenate([from_list([one]) for one in some])


FAR = Where("output[1]", (("length of output", 2.0), ("output[0]", "'far'")))


def test_a_feature_looks_at_the_outputs_that_are_like_examples() -> None:
    assert like(outputs(["far", 0.25], ["far", 0.75])) == (FAR,)
    column = FAR.extract(outputs(["far", 3.5], ["near", 3.5], ["far", None], ["far", 3.5, 1], 3.5, "far"))
    assert column.codes is not None
    seen = [column.numbers[i] if code < 0 else column.atoms[code] for i, code in enumerate(column.codes)]
    assert seen == [3.5, "any other output", "None", *["any other output"] * 3]


def test_a_leaf_that_is_a_number_is_given_too() -> None:
    [feature] = like(outputs([1, 0.25], [1, 0.75]))
    column = feature.extract(outputs([1, 3.5], [2, 3.5], ["x", 3.5]))
    assert column.codes is not None
    assert (column.codes == -1).tolist() == [True, False, False]


def test_examples_that_fix_all_are_looked_at_by_their_last_leaf() -> None:
    [feature] = like(outputs([0, 0, 1], [0, 0, 1]))
    assert feature.place == "output[2]"
    assert [place for place, _ in feature.leaves] == ["length of output", "output[0]", "output[1]"]


@pytest.mark.parametrize("examples", [(0.25, 0.75), ([0.25, 0.25], [0.75, 0.75])])
def test_examples_that_fix_nothing_suggest_no_feature(examples: tuple[Any, Any]) -> None:
    assert like(outputs(*examples)) == ()


def test_such_features_are_written_and_read() -> None:
    assert read_rule(written(event=(FAR, Place("output"))) or {}, "event") == [(FAR, Place("output"))]


def test_an_array_in_a_batch_is_taken_apart_as_its_outputs_are() -> None:
    def batch(data: Any, rng: Any, size: int) -> Any:
        noisy = data[0] + rng.laplace(0, 0.1, size=size)
        return np.stack([np.where(noisy > 5, 1, 0), np.where(noisy > 6, 1, 0)], axis=1)

    result = auditor.audit(batch, PureDP(1.0), ONE, samples=20_000, seed=1, prove=True, shrink=False)
    assert result.verdict == "violation"
