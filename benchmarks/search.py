"""The power of a search: quantiles that only large data sets refute, the best pair of sound mechanisms, and how often a pass is
weak.

- Quantiles by an exponential mechanism without its factor ½, which lose up to twice their claim. "found" counts the seeds at
  which ε ≥ 1.3 is proved.
- Columns of 60, 91 and 365 values in which one or two values are counted twice, and means that are clipped after summing: the
  number of seeds that find the fault.
- Sound mechanisms: the bound with a searched pair, relative to the best bound over 300 fixed pairs of the domain. Each of these
  gets few outputs, and the best three as many as the audit.
- Faults by origin at the default settings: the verdict on each fault and on its sound twin.
- Twins of the further faults: the seeds at which their pass is weak at the defaults; and of the faults that 20,000 outputs
  miss, how many passes are weak.

Figures are yielded after each row, so a long run can be stopped.
"""

import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import auditor
from auditor.auditing.flow import carry_out
from auditor.auditing.plan import Plan
from auditor.config.load import load_configuration
from auditor.interfaces import Domain
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
SIZES, COLUMN_SEEDS = (60, 91, 365), range(20)
DAYS = [str(day) for day in np.arange("2024-01-01", "2024-12-31", dtype="datetime64[D]")]
# Each with a searched pair, its own claim and its own number of outputs.
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
    """Return a 2-DP mechanism that claims ε = 1, and its domain."""
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
    """Yield for each setting the bounds at all seeds, and how many of them are large enough."""
    for level, most, relation in itertools.product(LEVELS, PEOPLE, RELATIONS):
        mechanism, domain = quantile(level, most, relation)
        bounds = []
        for seed in QUANTILE_SEEDS:
            result = auditor.audit(mechanism, auditor.PureDP(1.0), domain, seed=seed, planted=0, **ALONE)
            bounds.append(round(result.bound.value, 2) if result.bound else 0.0)
        refuted = sum(bound >= REFUTED for bound in bounds)
        yield f"level {level:g}, up to {most}, {relation}", {"found": refuted, "bounds": bounds}


def column(kind: str, size: int, form: str) -> tuple[Callable[..., Any], Domain]:
    """Return a count that counts one of ``size`` values twice, or two if ``size`` is odd, and its domain."""
    choices: list[Any] = DAYS[:size] if kind == "dates" else [f"k{i:03}" for i in range(size)]
    columns = {
        "numbers": {"type": "integer", "low": 1, "high": size},
        "dates": {"type": "date", "low": choices[0], "high": choices[-1]},
    }
    domain: Domain
    if form != "records":
        domain = auditor.Frame({"value": columns.get(kind, {"type": "categorical", "choices": choices})}, form=form)
    elif kind == "numbers":
        domain = auditor.Records((1, size), integer=True, size=(0, 20))
    else:
        domain = auditor.Records(choices=choices, size=(0, 20))
    values = [*range(1, size + 1)] if kind == "numbers" else choices
    twice = {values[2 * size // 3], values[size // 3]} if size % 2 else {values[2 * size // 3]}
    joined = Counter([*values, *twice])  # a table with a key more than once

    def count(data: Any, size: int, rng: np.random.Generator) -> Any:
        rows = data.to_dict("records") if form == "pandas" else data
        each = [row["value"] if form != "records" else row for row in rows]
        each = [str(value)[:10] if kind == "dates" else value for value in each]
        number = sum(joined[value] for value in each) if kind == "keys" else len(each) + sum(v in twice for v in each)
        return number + rng.laplace(size=size)

    return count, domain


def columns() -> Iterator[tuple[str, Any]]:
    """Yield for each column the number of seeds that find the values counted twice."""
    forms = itertools.cycle(("records", "rows", "pandas"))
    for size in SIZES:
        next(forms)  # shifts the assignment, so that over the sizes each kind takes each form
        for kind in ("numbers", "texts", "dates", "keys"):
            form = next(forms)
            yield f"{size} {kind}, {form}", _found(*column(kind, size, form), COLUMN_SEEDS)


def late_clip(library: str) -> tuple[Callable[..., Any], Domain]:
    """Return the mean of each group, or of all records, with the sum clipped instead of the records, and its domain."""
    cities = ["Bern", "Lima", "Oslo", "Rome"]

    def sums(data: Any) -> Any:
        if library == "NumPy":
            return np.array([[np.sum(data), len(data)]], float)
        if library == "pandas":
            by_city = data.assign(income=data["income"].astype(float)).groupby("city")["income"]
            return np.array([by_city.sum().reindex(cities), by_city.size().reindex(cities)]).T
        import polars as pl

        groups = data.group_by("city").agg(pl.col("income").sum(), pl.len().alias("n")).rows()
        return np.array([{city: (income, n) for city, income, n in groups}.get(city, (0, 0)) for city in cities], float)

    def means(data: Any, size: int, rng: np.random.Generator) -> Any:
        total, number = np.nan_to_num(sums(data)).T
        number = number + rng.laplace(0, 2, (size, len(total)))
        total = np.clip(total, 0, 100 * np.maximum(number, 1)) + rng.laplace(0, 200, number.shape)
        return total / np.maximum(number, 1)

    if library == "NumPy":
        return means, auditor.Records((0, 1000), size=(0, 30))
    income = {"type": "number", "low": 0, "high": 1000}
    city = {"type": "categorical", "choices": cities}
    return means, auditor.Frame({"city": city, "income": income}, size=(0, 30), form=library)


def late_clips() -> Iterator[tuple[str, Any]]:
    """Yield for each library the number of seeds that find clipping after the sum."""
    for library in ("NumPy", "pandas", "polars"):
        yield library, _found(*late_clip(library), QUANTILE_SEEDS)


def _found(mechanism: Callable[..., Any], domain: Domain, seeds: Iterable[int]) -> int:
    audits = (auditor.audit(mechanism, auditor.PureDP(1.0), domain, seed=seed, planted=0, **ALONE) for seed in seeds)
    return sum(audit.verdict == "violation" for audit in audits)


def sharpness() -> Iterator[tuple[str, Any]]:
    """Yield for each mechanism the ratios at all seeds and their median."""
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
        proved = carry_out(alone, refuse=True).result().bound
        return proved.value if proved else 0.0

    best = sorted(written, key=lambda pair: -bound(pair, FEW))[:BEST]
    searched = carry_out(plan, refuse=True).result().bound
    assert searched is not None
    # With few outputs no fixed pair may show anything, and which three are best is then due to chance.
    most = max(bound(pair, plan.settings.samples) for pair in best)
    return round(searched.value / most, 3) if most else 1.0


def everyday() -> Iterator[tuple[str, Any]]:
    """Yield for each fault in the collections the verdict and the bound of its audit, and the verdict on its twin."""
    for name, case in itertools.chain.from_iterable(table.items() for table in COLLECTIONS):
        faulty, sound = (
            auditor.audit(mechanism, case.claim, case.domain, seed=1, planted=0, **ALONE)
            for mechanism in (case.faulty, case.sound)
        )
        bound = faulty.bound.value if faulty.bound else None
        yield name, {"verdict": str(faulty.verdict), "bound": bound, "twin": str(sound.verdict)}


def words() -> Iterator[tuple[str, Any]]:
    """Yield for each fault the seeds at which its sound twin has a weak pass, and those at which few outputs miss the fault."""
    for name, case in FAULTS.items():
        twins = [seed for seed in TWIN_SEEDS if case.audit(case.sound, seed, **ALONE).weak]
        few = [case.audit(case.faulty, seed, **ALONE | {"samples": MISSED_AT}) for seed in TWIN_SEEDS]
        passes = [result for result in few if result.verdict == "no_violation_found"]
        yield (
            name,
            {"weak twins": twins, "missed": len(passes), "weak and missed": sum(passed.weak for passed in passes)},
        )


PARTS = {
    "quantiles": quantiles,
    "columns": columns,
    "late clips": late_clips,
    "sharpness": sharpness,
    "everyday faults": everyday,
    "words": words,
}


def measure() -> Iterator[dict[str, Any]]:
    figures: dict[str, dict[str, Any]] = {}
    for name, part in PARTS.items():
        for row, values in part():
            figures.setdefault(name, {})[row] = values
            yield figures
