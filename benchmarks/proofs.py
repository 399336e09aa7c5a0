"""Proofs of the programs in CheckDP's table, and audits that refute their faulty versions on the pair named by the failed proof."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import auditor
from auditor import PureDP, read_report
from auditor.blackbox import command
from auditor.claims import PrivacyClaim
from auditor.config.load import load_configuration
from benchmarks import _checkdp as programs
from benchmarks._checkdp import AllMove, OneMoves
from dp_prover import attempt, prove
from dp_prover.certificates.checker.check import check_certificate

QUERIES, EPSILON = 5, 1.0
LARGER = (6, 7, 8)
OUTPUTS = 400_000
SECONDS = 120.0  # for a proof of a specimen


@dataclass(frozen=True)
class Program:
    """A program with its neighbours and its claim."""

    mechanism: Callable[..., Any]
    domain: Callable[[int], Any]
    claim: float = EPSILON
    cutoffs: tuple[int | None, ...] = (None,)
    epsilon: float = EPSILON
    outputs: int = OUTPUTS  # that are to refute it

    def parameters(self, cutoff: int | None) -> dict[str, Any]:
        return {"epsilon": self.epsilon} | ({"N": cutoff} if cutoff is not None else {})


def monotone(count: int) -> AllMove:
    return AllMove(count, both=False)


SOUND = {
    "sparse vector": Program(programs.sparse_vector, AllMove, cutoffs=(1, 2)),
    "sparse vector, monotone queries": Program(programs.sparse_vector_monotone, monotone, cutoffs=(1, 2)),
    "sparse vector with gap": Program(programs.gap_sparse_vector, AllMove, cutoffs=(1, 2)),
    "numerical sparse vector": Program(programs.numerical_sparse_vector, AllMove, cutoffs=(1, 2)),
    "adaptive sparse vector": Program(programs.adaptive_sparse_vector, AllMove, cutoffs=(1, 2)),
    "noisy max": Program(programs.noisy_max, AllMove),
    "partial sum": Program(programs.partial_sum, OneMoves),
    "smart sum": Program(programs.smart_sum, OneMoves, claim=2 * EPSILON),
}
# Two break their claim only on a rare event: all queries but the last lie below a threshold that is itself below 0. If the
# gap is released, that event has probability 7e-4, and more outputs refute the claim. In the adaptive technique it has
# probability 4e-4, and the loss is 9ε/8 where ε is claimed.
FAULTY = {
    "sparse vector, no noise on queries": Program(programs.bad_sparse_vector_1, AllMove),
    "sparse vector, no cutoff": Program(programs.bad_sparse_vector_2, AllMove),
    "sparse vector, too little noise": Program(programs.bad_sparse_vector_3, AllMove, cutoffs=(1, 2)),
    "sparse vector with gap, noisy query": Program(
        programs.bad_gap_sparse_vector, AllMove, 3.0, (1,), 3.0, outputs=3_000_000
    ),
    "adaptive sparse vector, noisy query": Program(programs.bad_adaptive_sparse_vector, AllMove, 4.0, (1,), 4.0),
    "noisy max, value": Program(programs.bad_noisy_max, AllMove),
    "partial sum, half the noise": Program(programs.bad_partial_sum, OneMoves),
    "smart sum, no noise on blocks": Program(programs.bad_smart_sum, OneMoves, claim=2 * EPSILON),
}


def proof_of(program: Program, queries: int, cutoff: int | None) -> dict[str, Any]:
    """Return the outcome of an attempt at a proof, and its seconds on one core."""
    start = time.process_time()
    proof = prove(
        program.mechanism,
        PureDP(program.claim),
        program.domain(queries),
        parameters=program.parameters(cutoff),
        seconds=120,
    )
    seconds = round(time.process_time() - start, 2)
    row = {"queries": queries, "cutoff": cutoff, "claim": program.claim, "proved": proof.proved, "seconds": seconds}
    if not proof.proved:
        return {**row, "bound": proof.value, "reason": proof.reason, "pair": proof.pair and proof.pair.to_dict()}
    start = time.process_time()
    check_certificate(json.loads(json.dumps(proof.certificate)))
    paths = json.dumps(proof.certificate["traces"][0]["tree"]).count('"output"') if proof.certificate else 0
    return {**row, "bound": proof.value, "paths": paths, "seconds to check": round(time.process_time() - start, 2)}


def refuted(program: Program, cutoff: int | None, pair: dict[str, Any]) -> dict[str, Any]:
    """Audit the program on the pair that its failed proof names."""
    result = auditor.audit(
        program.mechanism,
        PureDP(program.claim),
        [(pair["left"], pair["right"])],
        parameters=program.parameters(cutoff),
        samples=program.outputs,
        seed=18,
        name="refuted",
        shrink=False,
    )
    event = result.event and result.event["description"]
    return {
        "verdict": str(result.verdict),
        "lower bound": result.bound and round(result.bound.value, 4),
        "event": event,
    }


def specimens() -> list[dict[str, Any]]:
    """Return the committed lower bound, the exact value on its pair and the proved bound of each privacy audit in `configs/`."""
    rows = []
    for file in sorted(Path("configs").glob("*.yaml")):
        configuration = load_configuration(file)
        report = Path("reports") / configuration.name / "report.json"
        results = {audit.name: audit for audit in read_report(report).audits} if report.is_file() else {}
        for plan in configuration.plans:
            audit = results.get(plan.name)
            if audit is None or isinstance(plan.source, command.Program) or not isinstance(plan.claim, PrivacyClaim):
                continue
            if plan.claim != audit.claim or plan.settings.method == "one-run":
                continue
            proof = attempt(plan.source.drawer(), plan.claim, plan.domain, SECONDS)
            rows.append(
                {
                    "audit": f"{configuration.name}: {plan.name}",
                    "claim": str(plan.claim),
                    "expected": str(plan.expect),
                    "events": list(plan.settings.events),
                    "lower": audit.bound.value if audit.bound else None,
                    "exact on the pair": audit.exact.value if audit.exact else None,
                    "upper": proof.value,
                    "proved": proof.proved,
                    "scope": str(proof.scope),
                    "reason": proof.reason,
                }
            )
            print(rows[-1]["audit"], "proved" if proof.proved else f"not proved: {proof.reason}", flush=True)
    return rows


def measure() -> dict[str, Any]:
    sound = {
        name: [proof_of(program, QUERIES, cutoff) for cutoff in program.cutoffs] for name, program in SOUND.items()
    }
    larger = {
        name: [proof_of(SOUND[name], queries, SOUND[name].cutoffs[0]) for queries in LARGER]
        for name in ("sparse vector", "numerical sparse vector", "noisy max", "smart sum")
    }
    faulty: dict[str, Any] = {}
    for name, program in FAULTY.items():
        faulty[name] = []
        for cutoff in program.cutoffs:
            row = proof_of(program, QUERIES, cutoff)
            faulty[name].append(row | (refuted(program, cutoff, row["pair"]) if row.get("pair") else {}))
    return {"sound": sound, "larger": larger, "faulty": faulty, "specimens": specimens()}
