"""A list of claims: one audit per contribution, in which only people with that contribution are added or removed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pairs_of_domains import pairs_of

from auditor.auditing.flow import run
from auditor.claims import PureDP, ZeroConcentratedDP
from auditor.config.load import Configuration, load_configuration
from auditor.errors import InvalidInputError
from auditor.neighbours.domains import Value
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records
from auditor.neighbours.totals import Totals, groups
from auditor.verdict import Verdict

# The steps (5, 1) and (0, 3) reveal which kind of person it was.
KINDS = [[5, 1], [0, 3], [-2, 0]]


def domain(relation: str = "add_remove") -> Any:
    return Totals(KINDS, (0, 40), relation=relation)


def step(pair: Pair) -> tuple[int, ...]:
    return tuple(b - a for a, b in zip(pair.left, pair.right, strict=True))


@pytest.mark.parametrize("kind", range(3))
def test_only_people_of_the_kind_come_and_go_and_the_others_vary_all_the_same(kind: int) -> None:
    some = groups(domain(), 3)[kind]
    pairs = pairs_of(some, walk=60)
    assert {step(pair) for pair in pairs} == {tuple(KINDS[kind])}
    others = {pair.origin[0][:kind] + pair.origin[0][kind + 1 :] for pair in pairs}
    assert len(others) > 20
    assert all(0 <= people <= 40 for pair in pairs for people in pair.origin[0])


@pytest.mark.parametrize("kind", range(3))
def test_under_substitution_the_kind_is_the_one_that_leaves_or_arrives(kind: int) -> None:
    some = groups(domain("substitute"), 3)[kind]
    mine = np.array(KINDS[kind])
    allowed = {
        tuple((sign * (mine - np.array(other))).tolist()) for other in KINDS if other != KINDS[kind] for sign in (1, -1)
    }
    assert {step(pair) for pair in pairs_of(some, walk=60)} == allowed


def test_the_groups_together_hold_what_the_whole_domain_holds() -> None:
    keys = [{pair.key() for pair in some.corners()} for some in groups(domain(), 3)]
    assert set.union(*keys) == {pair.key() for pair in domain().corners()}
    assert sum(map(len, keys)) == len(set.union(*keys))


@pytest.mark.parametrize("claims", [1, 2, 4])
def test_there_must_be_as_many_claims_as_contributions(claims: int) -> None:
    with pytest.raises(InvalidInputError, match=f"there are {claims} claims for 3 contributions"):
        groups(domain(), claims)


@pytest.mark.parametrize(
    "other",
    [
        Value([0, 1]),
        Records((0, 1), size=(0, 3)),
        Totals(cells=2, values=(0, 10), contribution={"l1": 1}),
    ],
)
def test_other_domains_have_no_groups(other: Any) -> None:
    with pytest.raises(InvalidInputError, match="needs the domain totals with contributions"):
        groups(other, 2)


# --- In a configuration ---

MECHANISM = """
import numpy as np

def noisy(counts, size, rng, *, epsilon):
    # The second count has half of the noise.
    return rng.laplace(counts, np.array([1, 0.5]) / epsilon, (size, 2))
"""
CONFIG = """
version: 1
audits:
  - name: some
    mechanism: mine.py:noisy
    parameters: {epsilon: 1.0}
    claim: CLAIM
    neighbours: NEIGHBOURS
    samples: 5_000
    execution: {workers: 1, isolate: false}
"""
GROUPS = "{domain: totals, contributions: [[1, 0], [0, 1]], people: {low: 0, high: 20}}"


def load(folder: Path, claim: str, neighbours: str = GROUPS) -> Configuration:
    (folder / "mine.py").write_text(MECHANISM, encoding="utf-8")
    file = folder / "some.yaml"
    file.write_text(CONFIG.replace("CLAIM", claim).replace("NEIGHBOURS", neighbours), encoding="utf-8")
    return load_configuration(file)


def test_each_claim_is_an_audit_of_its_own_name_and_share_of_the_budget(tmp_path: Path) -> None:
    one, two = (load(tmp_path, claim) for claim in ("{epsilon: 1}", "[{epsilon: 1}, {rho: 2}]"))
    assert [plan.name for plan in two.plans] == ["some, contribution 1", "some, contribution 2"]
    assert [plan.claim for plan in two.plans] == [PureDP(1), ZeroConcentratedDP(2)]
    assert [plan.name for plan in one.plans] == ["some"]
    assert (one.sharing_budget, two.sharing_budget) == (1, 2)
    assert [plan.alpha for plan in two.plans] == pytest.approx([one.plans[0].alpha / 2] * 2)


@pytest.mark.parametrize(
    ("claim", "neighbours", "message"),
    [
        ("[{epsilon: 1}]", GROUPS, "there are 1 claims for 2 contributions"),
        ("[{epsilon: 1}, {epsilon: -1}]", GROUPS, "epsilon is -1"),
        ("[{epsilon: 1}, {epsilom: 1}]", GROUPS, 'did you mean "epsilon"'),
        (
            "[{epsilon: 1}, {epsilon: 1}]",
            "{domain: value, values: [0, 1]}",
            "needs the domain totals with contributions",
        ),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_line(tmp_path: Path, claim: str, neighbours: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load(tmp_path, claim, neighbours)
    assert message in str(caught.value)
    assert "some.yaml, line 7" in str(caught.value)


def test_the_larger_groups_of_document_004_are_two_audits() -> None:
    file = Path(__file__).parents[3] / "configs" / "004-larger-groups.yaml"
    plans = [plan for plan in load_configuration(file, samples=1000).plans if "Algorithm 1" in plan.name]
    assert len(plans) == 2
    assert [{step(pair) for pair in plan.domain.corners()} for plan in plans] == [{(1, 0)}, {(0, 1)}]
    assert {plan.expect for plan in plans} == {Verdict.NO_VIOLATION_FOUND}


def test_each_group_is_judged_by_its_own_claim(tmp_path: Path) -> None:
    """The first group has ε = 1, the second ε = 2: each of the two claims holds for only one of them."""
    for claims, verdicts in (
        ("[{epsilon: 1}, {epsilon: 2}]", ["no_violation_found", "no_violation_found"]),
        ("[{epsilon: 2}, {epsilon: 1}]", ["no_violation_found", "violation"]),
        ("[{epsilon: 0.5}, {epsilon: 2}]", ["violation", "no_violation_found"]),
    ):
        results = [run(plan) for plan in load(tmp_path, claims).plans]
        assert [str(result.verdict) for result in results] == verdicts
        assert [step(result.pair) for result in results if result.pair] == [(1, 0), (0, 1)]
