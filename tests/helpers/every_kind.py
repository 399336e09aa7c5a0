"""A run with every kind of audit, for tests of how results are shown."""

import functools
from typing import Any

import numpy as np

from auditor.auditing.flow import carry_out
from auditor.auditing.outcome import Audit, settle
from auditor.auditing.plan import Plan, Settings
from auditor.blackbox.mechanism import PythonSource
from auditor.claims import claim_from_dict
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import Pairs
from auditor.results.result import RunResult


def laplace(dataset: float, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return rng.laplace(dataset, scale, size)


def clear(dataset: float, size: int, rng: np.random.Generator) -> Any:
    """A loss of 5 or 10, which few outputs reveal at any seed."""
    return laplace(dataset, size, rng, 0.1)


def mixed(dataset: float, rng: np.random.Generator) -> Any:
    return [None, dataset, float("nan"), "text", {"a": [dataset]}][rng.integers(5)]


def coin(dataset: float, size: int, rng: np.random.Generator) -> Any:
    return rng.random(size) < 0.5


def failing(dataset: float, rng: np.random.Generator) -> Any:
    raise ValueError("no such luck")


def counted(rows: Any, size: int, rng: np.random.Generator) -> Any:
    return len(rows) + rng.laplace(size=size)


def total(dataset: Any) -> Any:
    return sum(dataset)


def noisy_records(dataset: Any, rng: np.random.Generator) -> Any:
    """Return for each of 200 canaries whether it is included, with independent noise."""
    return np.isin(np.arange(200), dataset) + rng.normal(0, 0.5, 200)


def own_place(output: Any, canary: int) -> float:
    return float(output[canary])


CANARIES = Canaries(np.arange(200), own_place)
APART = Canaries(list(range(200)), own_place, runs=2, guesses=[100], apart=True)


AUDITS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "sound": (laplace, {"epsilon": 1.0}, {}),
    "broken": (clear, {"epsilon": 0.3}, {}),
    "two-intervals": (laplace, {"epsilon": 1.0, "delta": 0.01}, {"method": "two-intervals"}),
    "approximate": (laplace, {"epsilon": 0.5, "delta": 0.001}, {}),
    "profile": (laplace, {"profile": [[0.5, 0.3], [1.0, 0.001]]}, {}),
    "gaussian": (laplace, {"mu": 2.0}, {}),
    "curve": (laplace, {"tradeoff": [[0.0, 1.0], [0.25, 0.25], [1.0, 0.0]]}, {}),
    "concentrated": (laplace, {"rho": 0.5}, {}),
    "rényi": (laplace, {"order": 2.0, "epsilon": 1.0}, {}),
    "mixed": (mixed, {"epsilon": 5.0}, {}),
    "probability": (coin, {"probability": 0.6, "at_most": True}, {}),
    "frame": (counted, {"epsilon": 0.3}, {"domain": Pairs([([{"user": 0, "city": "a"}], [])])}),
    "query": (total, {"sensitivity": 1.0}, {"domain": Pairs([([1, float("inf")], [1, 3])])}),
    "canaries": (noisy_records, {"mu": 1.0}, {"method": "one-run", "domain": CANARIES}),
    "canaries apart": (noisy_records, {"epsilon": 0.1, "delta": 1e-5}, {"method": "one-run", "domain": APART}),
    "failing": (failing, {"epsilon": 1.0}, {}),
}


def ended(name: str) -> Audit:
    function, claim, more = AUDITS[name]
    options = {"domain": Pairs([(0, 1), (0, 0.5)]), "samples": 2000, "workers": 1, "isolate": False, "seed": 5, **more}
    domain = options.pop("domain")
    settings = Settings.of(options)
    source = PythonSource(f"module:{name}", function=function)
    return carry_out(
        Plan(name=name, source=source, claim=claim_from_dict(claim), neighbours=domain, alpha=0.01, settings=settings)
    )


@functools.cache
def every_kind() -> RunResult:
    results = settle([ended(name) for name in AUDITS], 0.01, len(AUDITS) - 1)
    return RunResult("every kind", 0.99, results, 3.21)


@functools.cache
def cards() -> dict[str, str]:
    """The notebook card of each audit."""
    return {audit.name: audit._repr_html_() for audit in every_kind().audits}
