"""What a search finds: quantiles that only crowds refute, the best pair of sound mechanisms, and how often a pass is weak.

- Quantiles by an exponential mechanism without its ½, so that they lose up to twice their claim. "found" counts seeds at which
  ε ≥ 1.3 is proved.
- Sound mechanisms: the bound from the domain, over the best bound on 300 written pairs of the domain. Each has few outputs,
  and the best three of them as many as the audit.
- Faults by where they are from, at the defaults: what the audit says of each, and of its sound twin.
- Twins of the further faults: which seeds call their pass weak at the defaults; and of faults that 20,000 outputs miss, how many
  passes are weak.

Figures are yielded after each row, so a long run can be stopped.
"""

import itertools
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import auditor
from auditor.auditing.flow import carry_out
from auditor.auditing.plan import Plan
from auditor.config.load import load_configuration
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import distinct
from auditor.neighbours.search import spread
from benchmarks._faults_of_accounting import ACCOUNTING
from benchmarks._faults_of_estimators import ESTIMATORS
from benchmarks._faults_of_people import FAULTS
from benchmarks._faults_of_reports import REPORTS
from benchmarks._faults_of_tables import TABLES
from benchmarks._faults_of_textbooks import TEXTBOOKS
from benchmarks._faults_of_thresholds import THRESHOLDS

ROOT = Path(__file__).parent.parent

LEVELS, PEOPLE, RELATIONS = (0.5, 0.75, 0.95), (20, 60, 200), ("add_remove", "substitute")
QUANTILE_SEEDS, SEEDS, REFUTED = range(10), range(1, 4), 1.3
PAIRS, FEW, BEST = 300, 20_000, 3
TWIN_SEEDS, MISSED_AT = range(1, 6), 20_000
# Each from the domain, with its own claim and outputs.
SOUND = {
    "000-private-ratio": ("naive ratio", "local sensitivity, corrected by Theorem 2", "KSW under add/remove"),
    "001-local-sensitivity": ("smooth sensitivity, corrected, small data", "noisy sum over noisy count"),
    "003-down-sensitivity": (
        "shifted inverse, max, |ℓ − τ|",
        "shifted inverse, max, footnote 4",
        "shifted inverse, monotonised sum",
    ),
    "classics": (
        "noisy histogram",
        "noisy max, index with Laplace noise",
        "sparse vector, Algorithm 1",
        "truncated geometric",
    ),
}
COLLECTIONS = ACCOUNTING, ESTIMATORS, REPORTS, TABLES, TEXTBOOKS, THRESHOLDS
ALONE: dict[str, Any] = {"workers": 1, "isolate": False, "shrink": False}


def quantile(level: float, most: int, relation: str) -> tuple[Callable[..., Any], auditor.Records]:
    """Return a mechanism that is 2-DP and claims ε = 1, and its domain."""
    sensitivity = max(level, 1 - level) if relation == "add_remove" else 1.0

    def release(records: Any, size: int, rng: np.random.Generator) -> Any:
        edges = np.concatenate([[0.0], np.sort(np.clip(np.asarray(records, float), 0, 100)), [100.0]])
        score = -np.abs(np.arange(len(edges) - 1) - level * len(records)) / sensitivity
        weights = np.log(np.maximum(np.diff(edges), 1e-300)) + score
        chances = np.exp(weights - weights.max())
        at = rng.choice(len(chances), size=size, p=chances / chances.sum())
        return rng.uniform(edges[at], edges[at + 1])

    least = 0 if relation == "add_remove" else 1
    return release, auditor.Records([0, 100], size=[least, most], relation=relation)


def quantiles() -> Iterator[tuple[str, Any]]:
    """Yield for each setting the bounds of all seeds, and how many of them refute enough."""
    for level, most, relation in itertools.product(LEVELS, PEOPLE, RELATIONS):
        mechanism, domain = quantile(level, most, relation)
        bounds = []
        for seed in QUANTILE_SEEDS:
            result = auditor.audit(mechanism, auditor.PureDP(1.0), domain, seed=seed, planted=0, **ALONE)
            bounds.append(round(result.bound.value, 2) if result.bound else 0.0)
        found = sum(bound >= REFUTED for bound in bounds)
        yield f"level {level:g}, up to {most}, {relation}", {"found": found, "bounds": bounds}


def sharpness() -> Iterator[tuple[str, Any]]:
    """Yield for each mechanism the ratios of all seeds, and their median."""
    for file, names in SOUND.items():
        plans = {plan.name: plan for plan in load_configuration(ROOT / "configs" / f"{file}.yaml", prove=False).plans}
        for name in names:
            ratios = [_ratio(plans[name], seed) for seed in SEEDS]
            yield f"{file}: {name}", {"median": statistics.median(ratios), "ratios": ratios}


def _ratio(plan: Plan, seed: int) -> float:
    execution = replace(plan.settings.execution, workers=1, isolate=False)
    plan = plan.with_settings(seed=seed, execution=execution, planted=0, shrink=False)
    domain, rng = plan.domain, np.random.default_rng(seed)
    randoms = (domain.random(rng) for _ in range(PAIRS))
    written = spread(distinct([*domain.each_value(), *domain.crowds(), *domain.corners(), *randoms]), PAIRS)

    def bound(pair: Any, samples: int) -> float:
        alone = replace(plan, neighbours=Pairs.only(pair.left, pair.right, domain)).with_settings(samples=samples)
        found = carry_out(alone, refuse=True).result().bound
        return found.value if found else 0.0

    best = sorted(written, key=lambda pair: -bound(pair, FEW))[:BEST]
    found = carry_out(plan, refuse=True).result().bound
    assert found is not None
    return round(found.value / max(bound(pair, plan.settings.samples) for pair in best), 3)


def everyday() -> Iterator[tuple[str, Any]]:
    """Yield for each fault of the collections the verdict and the bound of the audit, and the verdict of its twin."""
    for name, case in itertools.chain.from_iterable(table.items() for table in COLLECTIONS):
        faulty, sound = (
            auditor.audit(mechanism, case.claim, case.domain, seed=1, planted=0, **ALONE)
            for mechanism in (case.faulty, case.sound)
        )
        bound = faulty.bound.value if faulty.bound else None
        yield name, {"verdict": str(faulty.verdict), "bound": bound, "twin": str(sound.verdict)}


def words() -> Iterator[tuple[str, Any]]:
    """Yield for each fault the seeds at which its twin is weak; and those at which few outputs miss it, weakly or not."""
    for name, case in FAULTS.items():
        twins = [seed for seed in TWIN_SEEDS if case.audit(case.sound, seed, **ALONE).weak]
        few = [case.audit(case.faulty, seed, **ALONE | {"samples": MISSED_AT}) for seed in TWIN_SEEDS]
        passes = [result for result in few if result.verdict == "no_violation_found"]
        yield name, {"weak twins": twins, "missed": len(passes), "weak and missed": sum(one.weak for one in passes)}


PARTS = {"quantiles": quantiles, "sharpness": sharpness, "everyday faults": everyday, "words": words}


def measure() -> Iterator[dict[str, Any]]:
    figures: dict[str, dict[str, Any]] = {}
    for name, part in PARTS.items():
        for row, values in part():
            figures.setdefault(name, {})[row] = values
            yield figures
