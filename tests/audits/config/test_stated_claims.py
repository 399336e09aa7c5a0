"""Claims stated by code, `claim: {from: file.py:name}`, and recordings of their audits."""

import json
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


# --- Trade-off curves: points, a file, or a function ---

CURVES = """
import math

def curve(alpha, lies):
    least = min(lies, 1 - lies)
    return max(1 - alpha * (1 - least) / least, (1 - alpha) * least / (1 - least))

def raising(alpha):
    raise RuntimeError("no curve")

NUMBER = 3
"""
CORNERS = [[0.0, 1.0], [0.25, 0.25], [1.0, 0.0]]


def written_curve(folder: Path, claim: str) -> Path:
    (folder / "curves.py").write_text(CURVES, encoding="utf-8")
    (folder / "points.csv").write_text("alpha,beta\n0,1\n0.25,0.25\n1,0\n", encoding="utf-8")
    (folder / "points.json").write_text(json.dumps(CORNERS), encoding="utf-8")
    return written(folder, claim)


@pytest.mark.parametrize("named", [str(CORNERS), "points.csv", "points.json"])
@pytest.mark.parametrize("one_way", [False, True])
def test_a_curve_is_given_by_points_or_by_a_file_beside_the_configuration(
    tmp_path: Path, named: str, one_way: bool
) -> None:
    claim = f"{{tradeoff: {named}{', symmetric: false' if one_way else ''}}}"
    configuration = load_configuration(written_curve(tmp_path, claim), runs_code=False)
    [plan] = configuration.plans
    assert plan.claim == auditor.Tradeoff(CORNERS, symmetric=not one_way)
    # What a file holds may change, so a recording keeps the points.
    assert configuration.claims == ({} if named.startswith("[") else {"bit": plan.claim.to_dict()})
    assert (
        load_configuration(written_curve(tmp_path, "{tradeoff: gone.csv}"), claims={"bit": plan.claim.to_dict()})
        .plans[0]
        .claim
        == plan.claim
    )


def test_a_function_of_alpha_gets_the_audit_s_parameters(tmp_path: Path) -> None:
    file = written_curve(tmp_path, "{tradeoff: curves.py:curve}")
    [plan] = load_configuration(file).plans
    assert isinstance(plan.claim, auditor.Tradeoff)
    exact = auditor.Tradeoff(CORNERS)
    assert exact.implies(plan.claim)
    assert plan.claim.at(0.1) == pytest.approx(exact.at(0.1), abs=1e-6)
    with pytest.raises(InvalidInputError, match="names code"):
        load_configuration(file, runs_code=False)


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("{tradeoff: gone.csv}", "no file"),
        ("{tradeoff: curves.py:raising}", "no curve"),
        ("{tradeoff: curves.py:missing}", "missing"),
        ("{tradeoff: curves.py:NUMBER}", "no function"),
        ("{tradeoff: curve}", "module:function"),
        ("{tradeoff: points.csv, symetric: true}", "symmetric"),
        ("{tradeoff: points.csv, symmetric: 1}", "true or false"),
        ("{tradeoff: [[0, 1], [0.5, 0.6], [1, 0]]}", "1 − alpha"),
        ("{tradeoff: 3}", "list of points"),
    ],
)
def test_a_curve_that_is_none_is_told_with_its_place(tmp_path: Path, claim: str, message: str) -> None:
    with pytest.raises(auditor.AuditorError, match=message) as caught:
        load_configuration(written_curve(tmp_path, claim))
    assert "own.yaml, line 9" in str(caught.value)
