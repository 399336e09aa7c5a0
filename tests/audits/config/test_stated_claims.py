"""Claims stated by code, `claim: {from: file.py:name}`, and recordings of their audits."""

from pathlib import Path

import pytest

import auditor
from auditor.adapters import claim_of
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError

CODE = """
import auditor

FIXED = auditor.PureDP(1.1)

def by_keys():
    return {"epsilon": 1.1}

def by_parameter(lies, unknown=0):
    import math
    return auditor.PureDP(1.0001 * math.log((1 - lies) / lies))

def broken():
    raise RuntimeError("no budget")

def nonsense():
    return 3

def answer(bit, size, rng, lies=0.25):
    return bit ^ (rng.random(size) < lies)
"""
MORE = "    neighbours: {domain: value, values: [0, 1]}\n    parameters: {lies: 0.25}\n"


def written(folder: Path, claim: str) -> Path:
    (folder / "own.py").write_text(CODE, encoding="utf-8")
    file = folder / "own.yaml"
    file.write_text(
        "version: 1\nsamples: 4000\nprove: false\nplanted: 0\nexecution: {isolate: false}\naudits:\n"
        f"  - name: bit\n    mechanism: own.py:answer\n    claim: {claim}\n{MORE}",
        encoding="utf-8",
    )
    return file


@pytest.mark.parametrize(
    ("name", "epsilon"), [("FIXED", 1.1), ("by_keys", 1.1), ("by_parameter", pytest.approx(1.0987, abs=1e-3))]
)
def test_the_claim_is_what_the_name_states(tmp_path: Path, name: str, epsilon: float) -> None:
    configuration = load_configuration(written(tmp_path, f"{{from: own.py:{name}}}"))
    [plan] = configuration.plans
    assert plan.claim.to_dict() == {"epsilon": epsilon}
    assert configuration.claims == {"bit": plan.claim.to_dict()}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("{from: own.py:broken}", "own.py:broken raised RuntimeError: no budget"),
        ("{from: own.py:nonsense}", "claim is 3; it must be a claim, such as PureDP"),
        ("{from: own.py:by_keyz}", "own.py has no by_keyz; did you mean"),
        (
            "{from: own.py:FIXED, relatoin: substitute}",
            'a claim from code has the key "relatoin"; did you mean "relation"',
        ),
        ("{from: own.py:FIXED, relation: both}", 'relation is "both"; it must be'),
        ("{from: 3}", "from is 3; it must be the name of a function"),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, claim: str, message: str) -> None:
    with pytest.raises((InvalidInputError, auditor.MechanismError)) as raised:
        load_configuration(written(tmp_path, claim))
    assert message.partition("; it must be")[0] in str(raised.value)


def test_a_recording_holds_the_claim_and_needs_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "{from: own.py:by_keys}")
    run = ["run", str(file), "--workers", "1", "--record", str(tmp_path / "kept"), "--out", str(tmp_path / "out")]
    assert main(run) == 0
    (tmp_path / "own.py").unlink()
    report = tmp_path / "out" / "own" / "report.json"
    assert main(["replay", str(tmp_path / "kept"), "--check", str(report)]) == 0
    assert "bit: as reported" in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "kept"), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "own" / "report.json").read_text(encoding="utf-8") == report.read_text(
        encoding="utf-8"
    )


def test_a_file_of_somebody_else_does_not_run_the_function(tmp_path: Path) -> None:
    file = written(tmp_path, "{from: own.py:by_keys}")
    (tmp_path / "own.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"names code .*own\.py \(SHA-256"):
        load_configuration(file, runs_code=False)
    [plan] = load_configuration(file, runs_code=False, claims={"bit": {"epsilon": 2.0}}).plans
    assert plan.claim == auditor.PureDP(2.0)


def test_claims_in_python() -> None:
    assert claim_of(auditor.GaussianDP(1.0)) == auditor.GaussianDP(1.0)
    assert claim_of({"epsilon": 1, "delta": 0.1}) == auditor.ApproximateDP(1.0, 0.1)
    with pytest.raises(InvalidInputError, match="claim is 'one'; it must be a claim, such as PureDP"):
        claim_of("one")
