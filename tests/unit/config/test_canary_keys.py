"""`domain: canaries` in a configuration: crafted gradients and initial parameters; mistakes name their line."""

from pathlib import Path

import numpy as np
import pytest

from auditor import Canaries
from auditor.auditing.plan import Plan
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError, MechanismError
from auditor.neighbours.canaries import seen_along

HEAD = "version: 1\nmethod: one-run\naudits:\n  - name: a\n    mechanism: run.py:run\n    claim: {mu: 1.0}\n    neighbours: "
CODE = """
import numpy as np

def run(records, rng, initial=None):
    return [0.0, 0.0, 0.0]

def without(records, rng):
    return [0.0, 0.0, 0.0]

def begin():
    return np.array([1.0, 2.0])

def others():
    return np.ones((2, 3))

def fails():
    raise ValueError("no data to train on")

def score(output, canary):
    return 0.0
"""


def planned(text: str, folder: Path) -> Plan:
    file = folder / "audit.yaml"
    file.write_text(HEAD + text + "\n", encoding="utf-8")
    (folder / "run.py").write_text(CODE, encoding="utf-8")
    [plan] = load_configuration(file).plans
    return plan


def canaries(text: str, folder: Path) -> Canaries:
    domain = planned(text, folder).neighbours
    assert isinstance(domain, Canaries)
    return domain


def test_crafted_gradients_bring_their_score(tmp_path: Path) -> None:
    text = "{domain: canaries, canaries: {number: 3, norm: 0.5}, records: run.py:others, runs: 2, apart: true}"
    domain, expected = canaries(text, tmp_path), Canaries.crafted(3, 0.5, records=np.ones((2, 3)), runs=2, apart=True)
    assert np.array_equal(domain.canaries, expected.canaries) and np.array_equal(domain.records, expected.records)
    assert domain.score is seen_along
    assert (domain.runs, domain.apart, domain.guesses) == (2, True, expected.guesses)


@pytest.mark.parametrize(("given", "begins"), [("run.py:begin", [1.0, 2.0]), ("[3, 4.5]", [3, 4.5])])
def test_initial_parameters_are_those_of_a_function_or_a_list(given: str, begins: list[float], tmp_path: Path) -> None:
    domain = canaries(f"{{domain: canaries, canaries: [1, 2], score: run.py:score, initial: {given}}}", tmp_path)
    assert list(domain.initial) == begins
    assert "beginning at initial parameters that are given" in str(domain)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{domain: canaries, canaries: {number: 0, norm: 1.0}}", "line 7.*number is 0"),
        ("{domain: canaries, canaries: {number: 3}}", "line 7.*norm"),
        ("{domain: canaries, canaries: {number: 3, norm: 1.0, length: 1}}", "line 7.*unknown key .length."),
        ("{domain: canaries, canaries: {number: 3, norm: 1.0}, score: run.py:score}", "line 7.*leave out score"),
        ("{domain: canaries, canaries: [1, 2]}", "line 7.*score is missing"),
        ("{domain: canaries, canaries: [1, 2], score: run.py:score, initial: run.py:fails}", "no data to train on"),
        ("{domain: canaries, canaries: [1, 2], score: run.py:score, initial: run.py:starts}", "run.py has no starts"),
    ],
)
def test_mistakes_are_named(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises((InvalidInputError, MechanismError), match=words):
        planned(text, tmp_path)


def test_code_that_makes_initial_parameters_is_code_of_the_run(tmp_path: Path) -> None:
    """`auditor replay` asks before it runs it, and the report has its hash."""
    planned("{domain: canaries, canaries: [1, 2], score: run.py:score, initial: run.py:begin}", tmp_path)
    (tmp_path / "warm.py").write_text("def begin():\n    return [0.0]\n", encoding="utf-8")
    file = tmp_path / "audit.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("run.py:begin", "warm.py:begin"), encoding="utf-8")
    named = {path.name for source in load_configuration(file).code for path in source.files()}
    assert "warm.py" in named
