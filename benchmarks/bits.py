"""Laplace noise observed through its floating-point representation: how soon the textbook sampler is refuted, and that sound ones
pass.

The search finds the pair in the domain. "seconds" are those of the whole audit on this machine.
"""

import time
from typing import Any

import auditor
from mechanisms import additive, snapping

REALS = auditor.Totals(cells=1, values=(-10, 10), contribution={"l1": 1}, integer=False)
INTEGERS = auditor.Totals(cells=1, values=(-10, 10), contribution={"l1": 1})
LAPLACE = {"sensitivity": 1.0, "epsilon": 1.0}
SNAPPING = {"scale": 1.0, "bound": 100.0}
CASES: list[tuple[str, Any, dict[str, float], Any, float]] = [
    ("textbook Laplace", additive.laplace, LAPLACE, REALS, 1.0),
    ("discrete Laplace", additive.discrete_laplace_totals, LAPLACE, INTEGERS, 1.0),
    ("snapping", snapping.snapping, SNAPPING, REALS, snapping.snapping_epsilon(1.0, 100.0)),
]


def measure() -> dict[str, Any]:
    rows = {}
    for name, mechanism, parameters, domain, epsilon in CASES:
        started = time.perf_counter()
        result = auditor.audit(
            mechanism, auditor.PureDP(epsilon), domain, parameters=parameters, events=("values", "bits"), seed=1
        )
        assert result.bound is not None and result.event is not None
        rows[name] = {
            "claim": epsilon,
            "verdict": str(result.verdict),
            "bound": result.bound.value,
            "event": result.event["description"],
            "outputs": sum(result.outputs.to_dict().values()),
            "seconds": time.perf_counter() - started,
        }
        print(name, rows[name], flush=True)
    return rows
