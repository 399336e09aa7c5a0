"""A leak in how a program writes its numbers is found, and its sound twin passes."""

import sys

import pytest

from auditor.blackbox.command import Command
from auditor.neighbours.domains import Pairs
from benchmarks._faults_of_people import Fault

PROGRAM = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    random.seed(request["seed"])
    for _ in range(request["size"]):
        x, other = random.gauss(0, 1), random.random() < (0.2 if request["dataset"] and %s else 0.02)
        print(%s)
    sys.stdout.flush()
"""


@pytest.mark.parametrize("leaks", [True, False])
@pytest.mark.parametrize(
    "line", ['f"{x:.3e}" if other else repr(float(f"{x:.3e}"))', '"-0" if other else "0"'], ids=["exponent", "sign"]
)
def test_a_fault_is_found_and_its_sound_twin_passes(line: str, leaks: bool) -> None:
    """The program prints ``other`` more often on one side."""
    program = Command([sys.executable, "-c", PROGRAM % (leaks, line)])
    settings = {"samples": 20_000, "confidence": 1 - 1e-9, "workers": 1}
    result = Fault(program, None, domain=Pairs([(1, 0)]), settings=settings).audit(program)
    assert result.verdict == ("violation" if leaks else "no_violation_found"), result.event
