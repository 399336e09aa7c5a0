"""Numbers, files and reports that are too large or malformed: an error names the number before anything is built from it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from honest_files import in_time

from auditor.cli import main
from auditor.neighbours.totals import Totals

RECORDS = "domain: records, record: {low: 0, high: 1}"
PAIRS = "pairs: [{left: 0, right: 1}]"
SIZE = "size: {low: 0, high: 5}"
FRAME = "domain: frame, columns: {a: {type: number, low: 0, high: 1}}"
CLAIMS = ("epsilon: 1.0e+300", "epsilon: 501", "mu: 1.0e+300", "epsilon: 1.0e+9, delta: 0.5")
NEIGHBOURS = (
    f"{RECORDS}, {SIZE}, columns: 1_000_000_000",
    f"{RECORDS}, {SIZE}, distance: 1_000_000_000",
    *(f"{RECORDS}, size: {{low: 0, high: 1_000_000_000}}", f"{RECORDS}, size: {{low: 0, high: 1.0e+300}}"),
    f"{FRAME}, id: p, rows_per_person: {{low: 1, high: 1_000_000_000}}",
    "domain: totals, cells: 1_000_000_000, values: [0, 10], contribution: {l1: 1}",
    "domain: number, range: [0, .inf], distance: 1",
    *(f"pairs: [{{left: {'0x' + 'f' * 4_000}, right: 1}}]", f"pairs: [{{left: {'9' * 4_301}, right: 1}}]"),
    *(
        f"domain: totals, keys: [{key}, b], values: [0, 9], contribution: {{l0: 1, linf: 1}}"
        for key in ("[1]", "{a: 1}")
    ),
    *(f"domain: frame, columns: {{a: {{type: integer, high: {end}}}}}" for end in (".inf", "-.inf", ".nan")),
    f"domain: frame, columns: {{a: {{type: number, high: {'9' * 400}}}}}",
    "generator: 'own.py:long_numbers'",
)
SETTINGS = (
    *(f"execution: {{workers: {number}}}" for number in ("2_000", "99_999_999_999")),
    "execution: {timeout: 1.0e+300}",
    "confidence: 1.0e+300",
    "samples: 10_000_000_000_000_000_000",
    "planted: -1",
)


def configured(claim: str = "epsilon: 1", neighbours: str = PAIRS, settings: str = "") -> str:
    text = "def noisy(dataset, size, rng):\n    return rng.laplace(0, 1, size)\n"
    Path("own.py").write_text(text + "def long_numbers():\n    return [(10**5000, 1)]\n", encoding="utf-8")
    audit = f"{{name: one, mechanism: 'own.py:noisy', claim: {{{claim}}}, neighbours: {{{neighbours}}}}}"
    Path("own.yaml").write_text(f"version: 1\n{settings}\naudits:\n  - {audit}\n", encoding="utf-8")
    return "own.yaml"


@pytest.mark.parametrize(
    "part",
    [*({"claim": c} for c in CLAIMS), *({"neighbours": n} for n in NEIGHBOURS), *({"settings": s} for s in SETTINGS)],
    ids=str,
)
def test_a_number_that_cannot_be_meant_is_an_error_of_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with in_time(10):
        assert main(["check", configured(**part)]) == 2
    errors = capsys.readouterr().err
    assert "own.yaml, line " in errors
    assert "Traceback" not in errors
    assert "internal" not in errors


@pytest.mark.parametrize("command", ["run", "check", "plan", "show", "compare", "replay"])
def test_a_path_that_is_too_long_is_an_error_of_use(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["x" * 300] * (1 + (command == "compare"))
    assert main([command, *names]) == 2
    assert "File name too long" in capsys.readouterr().err


def test_corners_are_made_when_they_are_looked_at() -> None:
    many = [tuple(int(i == j) for j in range(143)) for i in range(143)]
    began = time.process_time()
    domain = Totals(many, (0, 100))
    assert time.process_time() - began < 2
    assert str(domain)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert (
            main(["run", configured(settings="samples: 2_000\nexecution: {workers: 1, isolate: false}"), "--quiet"])
            == 0
        )
    return json.loads((folder / "reports/own/report.json").read_text(encoding="utf-8"))


WRONG = (
    *((("confidence",), value) for value in (1, "NaN", None, True)),
    *((("audits", 0, "bound", "value"), value) for value in ("NaN", [])),
    *((("audits", 0, "bound", "confidence"), value) for value in (0, "Infinity")),
    (("audits", 0, "budget", "allowed_error"), "NaN"),
    (("audits", 0, "budget", "p_value"), 2),
    (("audits", 0, "claim", "epsilon"), 1e300),
    *((("audits", 0, "outputs", "bound"), value) for value in (-1, 2**63, 0.5)),
)


@pytest.mark.parametrize(("place", "value"), WRONG, ids=str)
def test_a_report_with_a_number_that_cannot_be_is_refused(
    tmp_path: Path, report: Any, place: tuple[str | int, ...], value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = json.loads(json.dumps(report))
    inside = changed
    for step in place[:-1]:
        inside = inside[step]
    assert place[-1] in inside
    inside[place[-1]] = value
    (tmp_path / "report.json").write_text(json.dumps(changed), encoding="utf-8")
    assert main(["show", str(tmp_path / "report.json")]) == 2
    assert "is not a report of this program" in capsys.readouterr().err
