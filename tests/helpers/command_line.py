"""A working folder for the command line: mechanisms, audits in YAML, and the files that a run writes."""

import json
from pathlib import Path
from typing import Any

from auditor.cli import main

MECHANISMS = """
import math
import sys

import numpy as np


def laplace(dataset, size, rng, scale=1.0):
    return rng.laplace(dataset, scale, size)


def gaussian(dataset, size, rng, scale=1.0):
    return rng.normal(dataset, scale, size)


def coin(dataset, size, rng, p=0.5):
    return rng.random(size) < p


def total(dataset):
    return sum(dataset)


def mixed(dataset, rng):
    return [None, dataset, math.nan, "text", {"a": [dataset]}][rng.integers(5)]


def nothing(dataset, size, rng):
    return rng.integers(0, 2, size)


def failing(dataset, rng):
    raise ValueError("no such luck")


def leaving(dataset, rng):
    sys.exit(0)


def interrupted(dataset, rng):
    raise KeyboardInterrupt


def short(dataset, size, rng):
    return np.zeros(size - 1)


def seeded(dataset, size, rng):
    return np.random.default_rng(0).laplace(dataset, 1.0, size)
"""


def config(*audits: str, samples: int = 2000, workers: int = 1, more: str = "") -> str:
    lines = [
        "version: 1",
        "seed: 3",
        f"samples: {samples}",
        f"execution: {{workers: {workers}, batch: 300, isolate: false}}",
        more,
        "audits:",
    ]
    return "\n".join([*lines, *audits]) + "\n"


def audit(
    name: str,
    function: str,
    claim: str = "{epsilon: 1.0}",
    parameters: str = "{}",
    neighbours: str = "{pairs: [{left: 0, right: 1}]}",
    more: str = "",
) -> str:
    lines = [
        f"  - name: {name}",
        f"    mechanism: mechanisms_of_the_test.py:{function}",
        f"    parameters: {parameters}",
        f"    claim: {claim}",
        f"    neighbours: {neighbours}",
    ]
    return "\n".join([*lines, f"    {more}"] if more else lines)


SOUND = audit("sound", "laplace")
MECHANISM = "mechanisms_of_the_test.py:laplace"
BROKEN = audit("broken", "laplace", parameters="{scale: 0.3}")
KNOWN = audit("known", "laplace", parameters="{scale: 0.3}", more="expect: violation")
MISSED = audit("missed", "laplace", more="expect: violation")
FAILING = audit("failing", "failing")


class Folder:
    """A working folder with mechanisms, which writes configurations, runs the command line and reads reports."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> str:
        file = self.path / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def folder(self, name: str) -> Path:
        (self.path / name).mkdir(parents=True)
        return self.path / name

    def run(self, text: str, *options: str) -> int:
        return main(["run", self.write("some.yaml", text), *options])

    def report(self, name: str = "some", out: str = "reports") -> Any:
        return parsed((self.path / out / name / "report.json").read_text(encoding="utf-8"))


def parsed(text: str) -> Any:
    """Parse standard JSON, which has neither NaN nor Infinity."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


TOTALS = "{domain: totals, contributions: [[1]], people: {low: 0, high: 50}}"
ALL = [SOUND, KNOWN, FAILING, audit("mixed", "mixed"), audit("totals", "laplace", neighbours=TOTALS)]
