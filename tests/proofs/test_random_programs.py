"""Random small programs: whatever is proved of them is at least their exact ε, which enumeration gives."""

import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from random_programs import Program, exact_epsilon, programs

from auditor import PureDP, Totals
from auditor.proofs import prove
from auditor.proofs.checker import check

DOMAINS = {norm: Totals(cells=2, values=(0, 2), contribution={norm: 1}) for norm in ("l1", "linf")}
PAIRS = {
    norm: [(tuple(pair.left), tuple(pair.right)) for pair in domain.every(1000) or ()]
    for norm, domain in DOMAINS.items()
}
# Enumeration is cut off, and computed in floating point.
SLACK = 1e-4


def bounds_of(examples: int) -> Counter[str]:
    """Compare programs with what is proved of them; return how many there were of each kind."""
    seen: Counter[str] = Counter()

    @seed(18)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(programs(), st.sampled_from(["l1", "linf"]))
    def compare(program: Program, norm: str) -> None:
        proof = prove(program, PureDP(1000.0), DOMAINS[norm])
        seen["programs"] += 1
        if proof.bound is None:
            return
        exact = exact_epsilon(program, iter(PAIRS[norm]))
        assert exact <= float(proof.bound) + SLACK, (program, norm, exact, str(proof))
        check(json.loads(json.dumps(proof.certificate)))
        seen["proved"] += 1
        seen["proved above 0"] += proof.bound > 0
        seen["sharp"] += abs(float(proof.bound) - exact) < SLACK

    compare()
    return seen


def test_what_is_proved_is_never_below_the_exact_value() -> None:
    seen = bounds_of(60)
    assert seen["proved above 0"] >= 3


@pytest.mark.slow
def test_what_is_proved_of_5000_programs_is_never_below_the_exact_value() -> None:
    seen = bounds_of(5_000)
    assert seen["proved above 0"] >= 500 and seen["sharp"] >= seen["proved"] / 2
