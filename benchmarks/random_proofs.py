"""Soundness of proofs: what is proved of random small programs, against their exact ε by enumeration.

A program of which too little is proved ends the run with the program itself, made as small as Hypothesis can.
"""

import json
import time
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from auditor import PureDP, Totals
from auditor.proofs import prove
from auditor.proofs.checker import check
from benchmarks._random_programs import Program, exact_epsilon, programs

PROGRAMS, CHUNK = 5_000, 250
DOMAINS = {norm: Totals(cells=2, values=(0, 2), contribution={norm: 1}) for norm in ("l1", "linf")}
PAIRS = {
    norm: [(tuple(pair.left), tuple(pair.right)) for pair in domain.every(1000) or ()]
    for norm, domain in DOMAINS.items()
}
# Enumeration is cut off, and computed in floating point.
SLACK = 1e-4


def compared(examples: int, start: int = 18) -> Counter[str]:
    """Compare programs with what is proved of them; return how many there were of each kind."""
    seen: Counter[str] = Counter()

    @seed(start)
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


def measure() -> dict[str, Any]:
    """Compare chunks of programs, each with a seed of its own, and print the count after each."""
    seen: Counter[str] = Counter()
    slowest = 0.0
    for chunk in range(PROGRAMS):
        if seen["programs"] >= PROGRAMS:
            break
        begun = time.process_time()
        seen += compared(CHUNK, start=chunk)
        slowest = max(slowest, time.process_time() - begun)
        print(f"{seen['programs']:,} programs, of which {seen['proved']:,} proved, none below its exact ε", flush=True)
    return {**seen, "below the exact value": 0, "seconds of the slowest chunk": round(slowest, 1)}
