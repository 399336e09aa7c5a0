"""How an audit uses what an adapter states.

The library is made up: a module and an entry point, as a third-party package has them. Audits are seeded, and pass with these
seeds.
"""

import importlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from folders import PROJECT

import auditor
from auditor.adapters import adapt_object, mechanism_of
from auditor.auditing import planned
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError

# Answers a bit, correctly with probability 3/4: ε = ln 3. Its objects cannot be called.
LIBRARY = """
from dataclasses import dataclass
import auditor
from auditor.extending import Adapted

@dataclass
class Coin:
    epsilon: float | None = 1.1

    def flip(self, bit, rng, size):
        return bit ^ (rng.random(size) < 0.25)

@dataclass
class Flip:
    coin: Coin

    def __call__(self, bit, size, rng):
        return self.coin.flip(bit, rng, size)

def adapt(thing, parameters):
    return from_coin(thing, **parameters) if isinstance(thing, Coin) else None

def from_coin(coin, *, values=None):
    claim = None if coin.epsilon is None else auditor.PureDP(coin.epsilon)
    assumptions = () if values else ("the bits were chosen",)
    return Adapted(Flip(coin), claim, auditor.Value(values or [0, 1]), assumptions, "say `epsilon`")
"""
OBJECTS = """
from coins_of_the_test import Coin

right, wrong, silent, no_adapter = Coin(), Coin(0.5), Coin(None), {"a": 1}

class Better(Coin):
    pass

better = Better()
"""
QUICK: dict[str, Any] = {"samples": 4000, "search": 400, "workers": 1, "isolate": False, "seed": 1}


@pytest.fixture(autouse=True, scope="module")
def coins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Install the library, with its adapter, for this file."""
    site = tmp_path_factory.mktemp("site")
    (site / "coins_of_the_test.py").write_text(LIBRARY, encoding="utf-8")
    (site / "objects_of_the_test.py").write_text(OBJECTS, encoding="utf-8")
    info = site / "coins_of_the_test-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coins-of-the-test\nVersion: 1.0\n", encoding="utf-8")
    points = "[auditor.adapters]\ncoins = coins_of_the_test\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(site))
        patched.setenv("PYTHONPATH", f"{site}:{PROJECT}")
        yield importlib.import_module("coins_of_the_test")


def test_an_object_needs_neither_claim_nor_neighbours(coins: ModuleType) -> None:
    sound, broken = (auditor.audit(coins.Coin(epsilon), **QUICK) for epsilon in (1.1, 0.5))
    assert (sound.verdict, broken.verdict) == ("no_violation_found", "violation")
    assert (sound.claim, broken.claim) == (auditor.PureDP(1.1), auditor.PureDP(0.5))
    assert sound.pair is not None
    assert {sound.pair.left, sound.pair.right} == {0, 1}


def test_what_the_adapter_chose_is_a_warning_unless_it_is_said(coins: ModuleType) -> None:
    assert "the bits were chosen" in auditor.audit(coins.Coin(), **QUICK).warnings
    said = auditor.audit(coins.Coin(), parameters={"values": [1, 0]}, **QUICK)
    assert "the bits were chosen" not in said.warnings


def test_what_is_given_replaces_what_the_object_says(coins: ModuleType) -> None:
    plan = planned(coins.Coin(), auditor.PureDP(3.0), [(1, 0)])
    assert (plan.claim, str(plan.neighbours), plan.assumptions) == (auditor.PureDP(3.0), "the pair given", ())
    assert planned(coins.Coin(), auditor.PureDP(3.0), None).claim == auditor.PureDP(3.0)


@pytest.mark.parametrize("thing", [print, lambda data: data, 3, "name", {"a": 1}, Path()])
def test_other_objects_have_none(thing: object) -> None:
    assert adapt_object(thing, {}) is None


def test_what_cannot_be_is_refused_in_words(coins: ModuleType) -> None:
    with pytest.raises(
        InvalidInputError,
        match="on Coin of coins_of_the_test, raised TypeError: ",
    ):
        adapt_object(coins.Coin(), {"value": [0, 1]})
    with pytest.raises(InvalidInputError, match="needs a claim; say `epsilon`"):
        auditor.audit(coins.Coin(None), **QUICK)
    with pytest.raises(InvalidInputError, match="cannot be called and has no adapter"):
        auditor.audit(object(), auditor.PureDP(1.0), [(0, 1)], **QUICK)
    with pytest.raises(InvalidInputError, match="dict of builtins cannot be called"):
        mechanism_of({}, {})


def test_the_mechanism_travels_to_workers(coins: ModuleType) -> None:
    adapted = adapt_object(coins.Coin(), {})
    assert adapted is not None
    assert pickle.loads(pickle.dumps(adapted.mechanism)) == adapted.mechanism
    options = QUICK | {"workers": 2, "isolate": True}
    assert auditor.audit(coins.Coin(0.5), **options).bound == auditor.audit(coins.Coin(0.5), **QUICK).bound


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1 / 0", "on object of builtins, raised ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "on object of builtins, raised SystemExit: 0"),
        ("return 3", "returned 3 for object of builtins; it must return Adapted or None"),
        ("return auditor.PureDP(1.0)", "it must return Adapted or None"),
        ("raise auditor.InvalidInputError('say `d_in`')", "say `d_in`"),
    ],
)
def test_an_adapter_that_fails_is_an_error_of_use(body: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.adapters.entry_points_of", lambda group: {"broken": broken_adapter(body)})
    for use in (lambda: auditor.audit(object(), **QUICK), lambda: mechanism_of(object(), {})):
        with pytest.raises(InvalidInputError) as raised:
            use()
        assert message in str(raised.value)


@pytest.mark.parametrize("body", ["1 / 0", "raise SystemExit(0)", "return 3"])
def test_a_claim_that_an_adapter_fails_on_is_an_error_of_use(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.adapters.entry_points_of", lambda group: {"broken": broken_adapter(body)})
    with pytest.raises(InvalidInputError, match="the adapter broken"):
        auditor.claim_of(object(), "substitute")


def broken_adapter(body: str) -> ModuleType:
    made = ModuleType("broken")
    exec(f"import auditor\ndef adapt(thing, parameters):\n    {body}\nclaim_of = adapt", vars(made))
    return made


def test_without_adapters_objects_and_their_claims_are_unknown(
    tmp_path: Path, coins: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.adapters.entry_points_of", lambda group: {})
    with pytest.raises(InvalidInputError, match="cannot be called and has no adapter"):
        auditor.audit(coins.Coin(), auditor.PureDP(1.0), [(0, 1)], **QUICK)
    with pytest.raises(InvalidInputError, match="is of no library that has an adapter; write claim and neighbours"):
        load_configuration(written(tmp_path, "{object: own.py:right}"))
    with pytest.raises(InvalidInputError, match="it must be a claim, such as PureDP"):
        auditor.claim_of(coins.Coin())


# --- In pytest ---


def test_the_fixture_takes_an_object(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "from objects_of_the_test import right, wrong\n"
        "def test_right(dp_audit):\n    dp_audit(right, samples=4000, search=400)\n"
        "def test_wrong(dp_audit):\n    dp_audit(wrong, samples=4000, search=400)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "auditor.pytest_plugin", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "above the claimed ε = 0.5" in done.stdout


# --- In YAML ---


def written(folder: Path, mechanism: str, more: str = "") -> Path:
    (folder / "own.py").write_text(OBJECTS, encoding="utf-8")
    file = folder / "own.yaml"
    file.write_text(
        f"version: 1\nsamples: 4000\nprove: false\naudits:\n  - name: coin\n    mechanism: {mechanism}\n{more}",
        encoding="utf-8",
    )
    return file


def test_yaml_names_an_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "out"), "--workers", "1"]
    assert main(["run", str(written(tmp_path, "{object: own.py:right}")), *out]) == 0
    assert "the bits were chosen" in capsys.readouterr().out
    assert main(["run", str(written(tmp_path, "{object: own.py:wrong}")), *out]) == 1
    report = auditor.read_report(tmp_path / "out" / "own" / "report.json")
    assert report.audits[0].mechanism == "own.py:wrong"


def test_the_keys_of_the_file_come_before_what_the_object_says(tmp_path: Path) -> None:
    more = "    claim: {epsilon: 2.0}\n    parameters: {values: [1, 0]}\n"
    [plan] = load_configuration(written(tmp_path, "{object: own.py:silent}", more)).plans
    assert (plan.claim, plan.assumptions) == (auditor.PureDP(2.0), ())
    [plan] = load_configuration(
        written(tmp_path, "{object: own.py:silent}", more + "    neighbours: {pairs: [{left: 0, right: 1}]}\n")
    ).plans
    assert str(plan.neighbours) == "the pair given"


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        ("own.py:right", 'audits needs the key "neighbours"; it must say'),
        ("{command: [node]}", 'audits needs the key "neighbours"; it must say'),
        ("{object: own.py:silent}", "own.py:silent: say `epsilon`"),
        ("{object: own.py:no_adapter}", "own.py:no_adapter is of no library that has an adapter"),
        ("{object: own.py:rihgt}", "own.py has no rihgt"),
        ("{objekt: own.py:right}", 'unknown key "objekt"'),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, mechanism: str, message: str) -> None:
    with pytest.raises((InvalidInputError, auditor.MechanismError)) as raised:
        load_configuration(written(tmp_path, mechanism))
    assert message in str(raised.value)


def test_an_object_of_somebody_else_is_not_imported(tmp_path: Path) -> None:
    file = written(tmp_path, "{object: own.py:right}")
    (tmp_path / "own.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"own\.py \(SHA-256 .*add --run-code"):
        load_configuration(file, runs_code=False)
    with pytest.raises(InvalidInputError, match=r"own\.py \(SHA-256"):  # a recording has the claim but no neighbours
        load_configuration(file, runs_code=False, claims={"coin": {"epsilon": 1.5}})
    full = "    claim: {epsilon: 2.0}\n    neighbours: {pairs: [{left: 0, right: 1}]}\n"
    [plan] = load_configuration(written(tmp_path, "{object: own.py:right}", full), runs_code=False).plans
    assert plan.claim == auditor.PureDP(2.0)


def test_a_recording_of_an_object_is_recounted_if_the_object_may_be_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, out = str(tmp_path / "kept"), str(tmp_path / "out")
    run = ["run", str(written(tmp_path, "{object: own.py:right}")), "--workers", "1", "--record", kept, "--out", out]
    assert main(run) == 0
    (tmp_path / "own.py").rename(tmp_path / "elsewhere.py")
    assert main(["replay", kept, "--out", str(tmp_path / "again")]) == 2
    assert "--run-code" in capsys.readouterr().err
    (tmp_path / "elsewhere.py").rename(tmp_path / "kept" / "own" / "own.py")
    assert main(["replay", kept, "--run-code", "--out", str(tmp_path / "again")]) == 0
    assert main(["replay", kept, "--check", f"{out}/own/report.json", "--run-code"]) == 0
    again = (tmp_path / "again" / "own" / "report.json").read_text(encoding="utf-8")
    assert again == Path(f"{out}/own/report.json").read_text(encoding="utf-8")
