"""The audits of the committed configurations whose mechanism has a known output distribution."""

from dataclasses import replace
from pathlib import Path

from auditor.auditing.flow import run
from auditor.auditing.plan import Plan
from auditor.blackbox.sampling import Execution
from auditor.config.load import load_configuration

FOLDER = Path(__file__).parents[2] / "configs"
CONFIGS = [*sorted(FOLDER.glob("0*.yaml")), FOLDER / "classics.yaml"]
PLANS = {
    f"{file.stem.split('-')[0]} {plan.name}": plan
    for file in CONFIGS
    for plan in load_configuration(file).plans
    if hasattr(plan.source.load(), "__truth__") and plan.settings.events == ("values",)
}


def quick(plan: Plan, seed: int, alpha: float, samples: int) -> Plan:
    most = min(6000, samples)
    search = most if plan.settings.search is None else min(most, plan.settings.search)
    execution = Execution(workers=1, isolate=False)
    settings = replace(
        plan.settings, seed=seed, samples=samples, search=search, planted=0, shrink=False, execution=execution
    )
    return replace(plan, alpha=alpha, settings=settings)


# A bound may exceed the truth with probability alpha. 1e-9 for each of the 51 × 2 audits: about 1e-7 for all.
ALPHA = 1e-9


# Row, audit, and the share of the exact value that the bound reaches on fewer outputs. At n outputs and level a, an ε of 1 is
# missed by about √(2 ln(1/a)/n)·(1 + e)²/(2e)^(3/2) ~ 0.03 at n = 10⁵ and a = 1e-4 where every output counts; ρ = ½ by twice as
# much and what learning costs. A quarter is three to eight times that.
TIGHT = {
    "1": "002 k-ary randomised response",
    "2": "002 basic one-time RAPPOR",
    "3": "002 Laplace mechanism, three totals",
    "4": "002 discrete Laplace mechanism, three totals",
    "17": "003 shifted inverse, max, |ℓ − τ|",
    "17, three records": "003 shifted inverse, max, three records a person",
    "22": "004 Gaussian counts",
}


def share_reached(plan: Plan) -> float:
    result = run(plan)
    assert result.bound is not None
    assert result.exact is not None
    assert result.bound.value <= result.exact.value + result.exact.error
    return result.bound.value / result.exact.value
