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

- Faults that are hard to search for, by class (:mod:`benchmarks._hard_searches`): the seeds that find each fault, and the false
  alarms of its sound twin. Behind an exception: the seeds that report both faults. Slow mechanisms: also the calls of
  sound passes. Weak: how many passes of sound mechanisms are weak; and of faults that the outputs show if the pair is given, how
  many are missed, and how many of these passes are weak.

``python -m benchmarks search PART ... [seeds=N] [jobs=N] [rows=TEXT]`` measures the parts named, or all; the hard ones with fewer
seeds, in several processes, or only the rows whose names hold a text. Other parts keep their figures. They are yielded
after each row, so a long run can be stopped.
"""

import functools
import itertools
import json
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import auditor
from auditor.auditing.flow import carry_out
from auditor.auditing.plan import Plan
from auditor.config.load import load_configuration
from auditor.interfaces import Domain
from auditor.neighbours.domains import Pairs
from auditor.neighbours.pair import distinct
from auditor.neighbours.search import spread
from benchmarks._faults import Fault
from benchmarks._faults_of_accounting import ACCOUNTING
from benchmarks._faults_of_estimators import ESTIMATORS
from benchmarks._faults_of_people import FAULTS
from benchmarks._faults_of_reports import REPORTS
from benchmarks._faults_of_tables import TABLES
from benchmarks._faults_of_textbooks import TEXTBOOKS
from benchmarks._faults_of_thresholds import THRESHOLDS
from benchmarks._hard_searches import BEHIND, FEW, MANY, MANY_ROWS, RARE, SLOW, STEPPED, Counted, quantile

ROOT = Path(__file__).parent.parent
KEPT = Path(__file__).parent / "results" / "search.json"

LEVELS, PEOPLE, RELATIONS = (0.5, 0.75, 0.95), (20, 60, 200), ("add_remove", "substitute")
QUANTILE_SEEDS, SEEDS, REFUTED = range(10), range(1, 4), 1.3
PAIRS, OF_EACH, BEST = 300, 20_000, 3
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

    best = sorted(written, key=lambda pair: -bound(pair, OF_EACH))[:BEST]
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


# --- Faults that are hard to search for ---

STEPPED_SAMPLES, PLANTED = (100_000,), 40
SLOW_SAMPLES, WEAK_SAMPLES, WEAK_SEEDS = (2_000, 5_000, 20_000), (4_000, 20_000, 100_000), range(1, 6)
# A fault counts as one that the outputs could show if the share SHOWN of the audits of its pair, at OF_PAIR seeds, refute it.
SHOWN, OF_PAIR = 0.95, range(20)


@dataclass(frozen=True, slots=True)
class Asked:
    """How a part of hard searches is measured: its seeds if they are given, processes, and a text of the rows' names."""

    seeds: int | None = None
    jobs: int = 1
    rows: str = ""

    @classmethod
    def of(cls, options: Iterable[str]) -> "Asked":
        """Return the options written as ``name=value``."""
        given = dict(option.split("=", 1) for option in options)
        return cls(int(given["seeds"]) if "seeds" in given else None, int(given.get("jobs", 1)), given.get("rows", ""))

    def each(self, cases: Mapping[str, Fault]) -> Iterator[tuple[str, Fault]]:
        return (named for named in cases.items() if self.rows in named[0])

    def at_seeds(self, function: Callable[[int], Any], seeds: Sequence[int]) -> list[Any]:
        chosen = seeds if self.seeds is None else seeds[: self.seeds]
        return list(joblib.Parallel(self.jobs)(joblib.delayed(function)(seed) for seed in chosen))


def _audited(case: Fault, mechanism: Any, samples: int, seed: int, **more: Any) -> auditor.AuditResult:
    settings = {**ALONE, "planted": 0, "samples": samples, "seed": seed, **more}
    return auditor.audit(mechanism, case.claim, case.domain, name="hard", **settings)


def _both(case: Fault, samples: int, seed: int) -> tuple[bool, bool]:
    faulty, sound = (_audited(case, mechanism, samples, seed) for mechanism in (case.faulty, case.sound))
    return faulty.verdict == "violation", sound.verdict == "violation"


def hard(
    cases: Mapping[str, Fault], seeds: Sequence[int], samples: Sequence[int], asked: Asked
) -> Iterator[tuple[str, Any]]:
    """Yield for each fault the number of seeds that find it, and of those that refute its sound twin."""
    for (name, case), outputs in itertools.product(asked.each(cases), samples):
        verdicts = asked.at_seeds(functools.partial(_both, case, outputs), seeds)
        found, alarms = (sum(column) for column in zip(*verdicts, strict=True))
        row = name if len(samples) == 1 else f"{name}, {outputs:,} outputs"
        yield row, {"seeds": len(verdicts), "found": found, "false alarms": alarms}


def _behind(case: Fault, seed: int) -> tuple[bool, bool, bool]:
    # A fault behind the first is looked for after the smallest pair.
    faulty, sound = (
        _audited(case, mechanism, case.samples, seed, shrink=True) for mechanism in (case.faulty, case.sound)
    )
    found = faulty.verdict == "violation"
    return found, found and len(getattr(faulty, "further", ())) > 0, sound.verdict == "violation"


def behind(asked: Asked) -> Iterator[tuple[str, Any]]:
    """Yield for each round the seeds that find one fault, those that report both, and the false alarms of the twin."""
    for name, case in asked.each(BEHIND):
        verdicts = asked.at_seeds(functools.partial(_behind, case), range(10))
        one, both, alarms = (sum(column) for column in zip(*verdicts, strict=True))
        yield name, {"seeds": len(verdicts), "found one": one, "found": both, "false alarms": alarms}


def _slow(case: Fault, samples: int, seed: int) -> tuple[bool, bool, int]:
    counted = Counted(case.sound)
    faulty, sound = (_audited(case, mechanism, samples, seed, planted=PLANTED) for mechanism in (case.faulty, counted))
    return faulty.verdict == "violation", sound.verdict == "violation", counted.calls


def slow(asked: Asked) -> Iterator[tuple[str, Any]]:
    """Yield for each mechanism the seeds that find the fault, the twin's false alarms, and the median of the twin's calls."""
    for (name, case), samples in itertools.product(asked.each(SLOW), SLOW_SAMPLES):
        verdicts = asked.at_seeds(functools.partial(_slow, case, samples), range(5))
        found, alarms, calls = zip(*verdicts, strict=True)
        values = {"found": sum(found), "false alarms": sum(alarms), "calls": statistics.median(calls)}
        yield f"{name}, {samples:,} outputs", {"seeds": len(verdicts), **values}


def weak(asked: Asked) -> Iterator[tuple[str, Any]]:
    """Yield at each number of outputs the passes of sound mechanisms and those that are weak, by mechanism; then, of the
    faults that the outputs show on a pair that is given, the passes and those that are weak.
    """
    names = [name for name in FAULTS if asked.rows in name]
    for samples in WEAK_SAMPLES:
        given: dict[str, Any] = {**ALONE, "samples": samples}
        passes = weak_passes = 0
        by_name: dict[str, int] = {}
        for name in names:
            audits = asked.at_seeds(functools.partial(_person, name, False, given), WEAK_SEEDS)
            passed = [is_weak for verdict, is_weak in audits if verdict == "no_violation_found"]
            passes, weak_passes = passes + len(passed), weak_passes + sum(passed)
            by_name |= {name: sum(passed)} if any(passed) else {}
        yield f"sound, {samples:,} outputs", {"passes": passes, "weak": weak_passes, "by mechanism": by_name}
        shown, missed, missed_and_weak = 0, dict[str, int](), 0
        for name in names:
            if not _shows(name, samples):
                continue
            audits = asked.at_seeds(functools.partial(_person, name, True, given), WEAK_SEEDS)
            passed = [is_weak for verdict, is_weak in audits if verdict == "no_violation_found"]
            shown, missed_and_weak = shown + len(audits), missed_and_weak + sum(passed)
            missed |= {name: len(passed)} if passed else {}
        number = sum(missed.values())
        values = {"could be shown": shown, "missed": number, "missed and weak": missed_and_weak, "by mechanism": missed}
        yield f"faulty, {samples:,} outputs", values


def _person(name: str, faulty: bool, given: dict[str, Any], seed: int) -> tuple[str, bool]:
    case = FAULTS[name]
    result = case.audit(case.faulty if faulty else case.sound, seed, **given)
    return str(result.verdict), result.weak


@functools.cache
def _worst(name: str) -> Any:
    """Return the pair on which an audit at the default settings refutes a fault; None if it does not."""
    result = FAULTS[name].audit(FAULTS[name].faulty, 1, **ALONE)
    return result.pair if result.verdict == "violation" else None


def _shows(name: str, samples: int) -> bool:
    case, worst = FAULTS[name], _worst(name)
    if worst is None:
        return False
    alone = replace(case, domain=Pairs.only(worst.left, worst.right, case.domain))
    settings: dict[str, Any] = {**ALONE, "planted": 0, "samples": samples}
    refuted = sum(alone.audit(case.faulty, seed, **settings).verdict == "violation" for seed in OF_PAIR)
    return refuted >= SHOWN * len(OF_PAIR)


def given_pairs(asked: Asked) -> Iterator[tuple[str, Any]]:
    """Yield for each hard fault how many audits of its pair alone refute it: what a search can find at most."""
    tables = ((STEPPED, STEPPED_SAMPLES), (RARE, (MANY,)), (MANY_ROWS, (MANY, FEW)), (SLOW, SLOW_SAMPLES))
    for cases, samples in tables:
        for (name, case), outputs in itertools.product(asked.each(cases), samples):
            alone = replace(case, domain=Pairs.only(*case.worst, case.domain))
            verdicts = asked.at_seeds(functools.partial(_both, alone, outputs), range(10))
            found, alarms = (sum(column) for column in zip(*verdicts, strict=True))
            yield f"{name}, {outputs:,} outputs", {"seeds": len(verdicts), "found": found, "false alarms": alarms}


PARTS = {
    "quantiles": quantiles,
    "columns": columns,
    "late clips": late_clips,
    "sharpness": sharpness,
    "everyday faults": everyday,
    "words": words,
}
HARD: dict[str, Callable[[Asked], Iterator[tuple[str, Any]]]] = {
    "stepped noise": functools.partial(hard, STEPPED, range(20), STEPPED_SAMPLES),
    "rare outcomes": functools.partial(hard, RARE, range(10), (MANY,)),
    "many rows": functools.partial(hard, MANY_ROWS, range(10), (MANY, FEW)),
    "behind an exception": behind,
    "slow": slow,
    "weak": weak,
    "given pairs": given_pairs,
}


def measure(*asked: str) -> Iterator[dict[str, Any]]:
    options = Asked.of(word for word in asked if "=" in word)
    parts = [word for word in asked if "=" not in word] or [*PARTS, *HARD]
    if unknown := set(parts) - {*PARTS, *HARD}:
        sys.exit(f"search has no part {', '.join(sorted(unknown))}; it has {', '.join([*PARTS, *HARD])}")
    figures: dict[str, dict[str, Any]] = json.loads(KEPT.read_text())["figures"] if KEPT.exists() else {}
    for name in parts:
        rows = HARD[name](options) if name in HARD else PARTS[name]()
        figures[name] = dict(figures.get(name, {})) if options.rows else {}
        for row, values in rows:
            figures[name][row] = values
            yield figures
