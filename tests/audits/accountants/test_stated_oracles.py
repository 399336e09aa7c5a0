"""What the exact module says is never refuted, and a thousandth less is, for every number and every kind of process."""

from collections.abc import Callable
from typing import Any

import pytest

from auditor.accountants import Accountant, Range, audit_accountant
from auditor.accountants.exact_numbers import exact_number
from auditor.exact import (
    Composition,
    DiscreteGaussian,
    FixedSize,
    Gaussian,
    Laplace,
    Poisson,
    Process,
    RandomizedResponse,
    Table,
)
from auditor.verdict import Verdict

Make = Callable[[float], Process | Composition]
PROCESSES: dict[str, Make] = {
    "gaussian": lambda size: Process(Gaussian(size), steps=3),
    "replaced": lambda size: Process(Gaussian(size), relation="substitute"),
    "sampled": lambda size: Process(Gaussian(size), sampling=Poisson(0.1)),
    "fixed batches": lambda size: Process(Gaussian(size), 1.0, "substitute", FixedSize(0.1)),
    "laplace": lambda size: Process(Laplace(size)),
    "discrete": lambda size: Process(DiscreteGaussian(size), 2),
    "response": lambda size: Process(RandomizedResponse(1 / (1 + size / 50)), relation="substitute"),
    "table": lambda size: Process(Table((0.5, 0.5), (0.5 + size / 100, 0.5 - size / 100)), relation="add"),
    "two": lambda size: Composition((Process(Gaussian(size)), Process(Gaussian(2 * size), 3.0))),
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "epsilon": {"delta": [1e-5, 0.01, 1e-12]},
    "delta": {"epsilon": Range(0.0, 2.0)},
    "renyi": {"order": [2.0, 1.5, 16.0]},
    "tradeoff": {"alpha": [0.01, 1e-6, 0.3]},
    "mu": {},
    "rho": {},
}


@pytest.mark.parametrize("kind", PROCESSES)
@pytest.mark.parametrize("states", ARGUMENTS)
def test_the_exact_number_is_sound_and_a_thousandth_less_is_not(states: Any, kind: str) -> None:
    verdicts = {}
    closest = 0.0
    for share in (1.0, 0.999):

        def stated(size: float, share: float = share, **at: float) -> float:
            [argument] = at.values() or [None]
            interval = exact_number(PROCESSES[kind](size), states, argument)
            number = share * (interval.high if share == 1 else interval.low)
            return 1 - number if states == "tradeoff" else number

        asked = Accountant(kind, states, stated, PROCESSES[kind], {"size": Range(0.6, 5.0), **ARGUMENTS[states]})
        result = audit_accountant(asked, points=25, isolate=False, seconds=600)
        verdicts[share] = result.verdict
        closest = max(closest, result.worst.low / result.worst.high if result.worst and result.worst.high else 0.0)
    # Where no upper end of μ or ρ is known, infinity is stated, which is sound.
    assert verdicts[1.0] in (Verdict.NO_VIOLATION_FOUND, Verdict.INCONCLUSIVE)
    assert verdicts[0.999] is Verdict.VIOLATION or closest == 0
