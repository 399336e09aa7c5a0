"""`auditor prove` and `auditor check-proof`."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from auditor.cli import main

MECHANISMS = """
def sound(x, rng):
    return x[0] + rng.laplace(0, 1)

def faulty(x, rng):
    return x[0] + rng.laplace(0, 0.5)
"""
AUDIT = """
  - name: {name}
    mechanism: mechanisms_here.py:{name}
    claim: {{epsilon: 1}}
    neighbours: {{domain: totals, cells: 1, values: {{low: 0, high: 9}}, contribution: {{l1: 1}}}}
"""


# The claim is proved for the listed pairs.
OF_PAIRS = """
  - name: mean
    mechanism: mechanisms.mean:noisy_sum_over_noisy_count
    parameters: {u: 1.0, epsilon: 1.0}
    claim: {epsilon: 1}
    neighbours: {domain: records, record: {low: 0, high: 1}, size: {low: 0, high: 3}}
"""


def write(folder: Path, *names: str, more: str = "") -> str:
    (folder / "mechanisms_here.py").write_text(MECHANISMS)
    file = folder / "here.yaml"
    audits = [OF_PAIRS if name == "mean" else AUDIT.format(name=name) for name in names]
    file.write_text("version: 1\naudits:" + "".join(audits) + more)
    return str(file)


def test_a_proof_is_shown_written_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", write(tmp_path, "sound"), "--out", str(tmp_path / "out")]) == 0
    assert "proved: ε ≤ 1.0000" in capsys.readouterr().out
    certificate = tmp_path / "out" / "here" / "proof-1.json"
    assert main(["check-proof", str(certificate)]) == 0
    assert ": holds: mechanisms_here.py:sound, epsilon = 1" in capsys.readouterr().out
    proof = json.loads(certificate.read_text())
    proof["bound"] = "1/2"
    certificate.write_text(json.dumps(proof))
    assert main(["check-proof", str(certificate)]) == 1
    assert ": refused: " in capsys.readouterr().out


def test_what_is_not_proved_ends_with_status_1_unless_a_violation_is_expected(tmp_path: Path) -> None:
    assert main(["prove", write(tmp_path, "sound", "faulty")]) == 1
    assert main(["prove", write(tmp_path, "faulty", more="    expect: violation\n")]) == 0
    for names, status in ((("mean",), 4), (("sound", "mean"), 4), (("faulty", "mean"), 1), (("mean", "faulty"), 1)):
        assert main(["prove", write(tmp_path, *names)]) == status


def test_only_privacy_claims_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "here.yaml"
    file.write_text(
        "version: 1\naudits:\n  - name: a\n    mechanism: {command: [cat]}\n    claim: {epsilon: 1}\n"
        "    neighbours: {domain: value, values: [0, 1]}\n"
    )
    assert main(["prove", str(file)]) == 0
    assert "only privacy claims of Python mechanisms" in capsys.readouterr().out


@pytest.mark.parametrize("text", [None, "no JSON", "{}", "[]", '{"format": 1}'])
def test_a_file_that_is_no_certificate_is_an_error(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "proof.json"
    if text is not None:
        file.write_text(text)
    assert main(["check-proof", str(file)]) in (1, 2)


def test_a_run_tries_a_proof_briefly_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    def proofs(more: str = "") -> list[bool]:
        out = tmp_path / "out"
        assert (
            main(["run", write(tmp_path, "sound", more=more), "--samples", "5000", "--quiet", "--out", str(out)]) == 0
        )
        return ["proof" in audit for audit in json.loads((out / "here" / "report.json").read_text())["audits"]]

    assert proofs() == [True]
    assert proofs("    prove: false\n") == [False]


def test_a_replay_has_the_proof_that_was_recorded_and_needs_none(tmp_path: Path) -> None:
    kept, out = tmp_path / "kept", tmp_path / "out"
    options = ["--samples", "5000", "--quiet", "--out", str(out)]
    assert main(["run", write(tmp_path, "sound", more="    prove: briefly\n"), *options, "--record", str(kept)]) == 0
    first = json.loads((out / "here" / "report.json").read_text())
    for name in ("proof", None):
        assert main(["replay", str(kept), "--quiet", "--out", str(tmp_path / "again")]) == 0
        again = json.loads((tmp_path / "again" / "here" / "report.json").read_text())
        assert again["audits"][0].get("proof") == (first["audits"][0]["proof"] if name else None)
        with closing(sqlite3.connect(kept / "here" / "outputs.sqlite")) as file, file:
            file.execute("DELETE FROM notes WHERE name = 'proof'")
