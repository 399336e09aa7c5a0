"""A sweep of a library made up for the test: what is audited, what is not and why, and the tables.

Audits are seeded, and pass with these seeds.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folders import PROJECT

import auditor
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.libraries.__main__ import sweep_parser
from auditor.libraries.building import NotBuilt, SweptObject, build_objects
from auditor.libraries.library_table import HERE, load_table

# Answers a bit, correctly with probability 3/4: ε = ln 3.
LIBRARY = """
import os
from dataclasses import dataclass
import auditor
from auditor.extending import Adapted

@dataclass
class Coin:
    epsilon: float

    def __call__(self, bit, rng, size):
        return bit ^ (rng.random(size) < 0.25)

def make_coin(epsilon):
    return Coin(epsilon)

def make_biased(epsilon, bias):
    if not 0 < bias < 1:
        raise ValueError(f"bias is {bias}")
    return Coin(epsilon)

def make_crash(epsilon):
    os.abort()

def make_nothing(epsilon):
    return Coin(None)

def make_text(epsilon):
    return "no coin"

def make_odd(colour):
    return Coin(1.1)

def helper():
    return None

def adapt(thing, parameters):
    return from_coin(thing, **parameters) if isinstance(thing, Coin) else None

def from_coin(coin, *, values=None):
    claim = None if coin.epsilon is None else auditor.PureDP(coin.epsilon)
    return Adapted(coin, claim, auditor.Value(values or [0, 1]), (), "say `epsilon`")
"""
TABLE = """
library: swept_coins
constructors: ["swept_coins:make_*"]
others: {make_text: it makes a text}
setup: |
  HASTY = 0.5
arguments:
  epsilon: ["1.1"]
  bias: ["2", "0.5"]
examples:
  make_coin:
    - {object: swept_coins.make_coin(1.1)}
    - {object: swept_coins.make_coin(HASTY), parameters: {values: [1, 0]}}
    - {object: swept_coins.make_coin(1 / 0)}
"""
QUICK = ["--samples", "4000", "--workers", "1", "--planted", "1", "--quiet"]


@pytest.fixture(autouse=True, scope="module")
def coins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Install the library, with its adapter, for this file, and return the file of its table."""
    site = tmp_path_factory.mktemp("site")
    (site / "swept_coins.py").write_text(LIBRARY, encoding="utf-8")
    info = site / "swept_coins-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: swept-coins\nVersion: 1.5\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[auditor.adapters]\nswept_coins = swept_coins\n", encoding="utf-8")
    table = site / "table.yaml"
    table.write_text(TABLE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(site))
        patched.setenv("PYTHONPATH", f"{site}:{PROJECT}")
        yield table
    sys.modules.pop("swept_coins", None)


@pytest.fixture(scope="module")
def built(coins: Path) -> list[SweptObject | NotBuilt]:
    return list(build_objects(load_table("swept_coins", coins)))


def test_all_examples_and_the_first_call_that_fits_are_audited(built: list[SweptObject | NotBuilt]) -> None:
    objects = {swept.name: swept.example.object for swept in built if isinstance(swept, SweptObject)}
    assert objects == {
        "make_coin": "swept_coins.make_coin(1.1)",
        "make_coin, 2": "swept_coins.make_coin(HASTY)",
        "make_biased": "swept_coins.make_biased(epsilon=1.1, bias=0.5)",
    }


def test_each_other_constructor_has_a_reason(built: list[SweptObject | NotBuilt]) -> None:
    reasons = {omitted.constructor: omitted.reason for omitted in built if isinstance(omitted, NotBuilt)}
    assert reasons == {
        "make_text": "it makes a text",
        "make_coin": "swept_coins.make_coin(1 / 0): ZeroDivisionError: division by zero",
        "make_crash": "the library ended the process that built it",
        "make_nothing": "it does not say its claim; say `epsilon`",
        "make_odd": "there is no generic argument for colour, and no example",
    }


def test_a_library_without_a_table_is_swept_by_generic_arguments(coins: Path) -> None:
    table = load_table("swept_coins")
    assert table.release == "1.5"
    built = list(build_objects(table))
    # The library itself states a claim of 1.
    assert {swept.name for swept in built if isinstance(swept, SweptObject)} == {"Coin", "make_coin"}
    assert any(isinstance(swept, NotBuilt) and swept.constructor == "helper" for swept in built)


def test_a_sweep_writes_its_tables_and_goes_on(coins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["swept_coins", "--examples", str(coins), "--out", str(tmp_path), *QUICK]
    assert main(command, sweep_parser()) == 1
    assert "swept_coins 1.5: 3 objects to audit; 5 are left out" in capsys.readouterr().out
    folder = tmp_path / "swept_coins-sweep"
    data = json.loads((folder / "sweep.json").read_text(encoding="utf-8"))
    verdicts = {row["object"]: row["verdict"].split(" (")[0] for row in data["audited"]}
    assert verdicts == {
        "swept_coins.make_coin(1.1)": "no violation found",
        "swept_coins.make_coin(HASTY)": "violation",
        "swept_coins.make_biased(epsilon=1.1, bias=0.5)": "no violation found",
    }
    assert {row["constructor"] for row in data["not audited"]} == {
        "make_text",
        "make_coin",
        "make_crash",
        "make_nothing",
        "make_odd",
    }
    [hasty] = [row for row in data["audited"] if row["verdict"] == "violation"]
    assert (hasty["claim"], hasty["parameters"]) == ("ε = 0.5", {"values": [1, 0]})
    assert 0.5 < float(hasty["proved"].removeprefix("ε ≥ ")) < 1.1
    text = (folder / "sweep.md").read_text(encoding="utf-8")
    assert "2 of 6 constructors were audited, with 3 objects; 1 objects violate their claims" in text
    assert "division by zero" in text
    # The objects and the configuration are ordinary files.
    again = ["run", str(folder / "swept_coins-sweep.yaml"), "--only", "make_biased", "--out", str(tmp_path / "again")]
    assert main([*again, *QUICK]) == 0
    report = auditor.read_report(tmp_path / "again" / "swept_coins-sweep" / "report.json")
    assert [audit.name for audit in report.audits] == ["make_biased"]


def test_what_is_wrong_with_a_table_is_said(coins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def table(text: str) -> Any:
        file = tmp_path / "own.yaml"
        file.write_text(text, encoding="utf-8")
        return load_table("swept_coins", file)

    with pytest.raises(InvalidInputError, match=r'own\.yaml is the table of "other", not of "swept_coins"'):
        table("library: other")
    with pytest.raises(InvalidInputError, match=r"own\.yaml: colour: extra inputs are not permitted"):
        table("library: swept_coins\ncolour: red")
    with pytest.raises(InvalidInputError, match='names "make_coins"; did you mean "make_coin"'):
        table("library: swept_coins\nothers: {make_coins: it is not there}").find_constructors()
    own = ["swept_coins", "--examples", str(tmp_path / "own.yaml")]
    assert main(["no_such_library", "--out", str(tmp_path)], sweep_parser()) == 2
    assert "no_such_library cannot be imported" in capsys.readouterr().err
    (tmp_path / "own.yaml").write_text('library: swept_coins\nconstructors: ["swept_coins:helper"]', encoding="utf-8")
    assert main([*own, "--out", str(tmp_path)], sweep_parser()) == 2
    assert "nothing of swept_coins can be audited: helper: NoneType has no adapter" in capsys.readouterr().err
    (tmp_path / "own.yaml").write_text("library: swept_coins\nsetup: import not_installed", encoding="utf-8")
    assert main([*own, "--out", str(tmp_path)], sweep_parser()) == 2
    assert (
        "setup of the table for swept_coins failed: ModuleNotFoundError: No module named 'not_installed'"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("file", sorted(HERE.glob("*.yaml")), ids=lambda file: file.stem)
def test_each_table_of_the_package_is_python(file: Path) -> None:
    table = load_table(file.stem)
    compile(table.setup, file.name, "exec")
    for text in [value for values in table.arguments.values() for value in values]:
        compile(f"f({text})", file.name, "eval")
    for example in [call for several in table.examples.values() for call in several]:
        compile(example.object, file.name, "eval")
