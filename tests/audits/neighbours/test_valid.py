"""A domain restricted to valid data sets: no method of it ever returns another pair."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.interfaces import Domain
from auditor.neighbours.domains import Valid
from auditor.neighbours.pair import Pair

RECORDS = auditor.Records((0, 10), size=(0, 4), relation="add_remove", integer=True)
ONES = {"workers": 1, "isolate": False, "planted": 0, "samples": 20_000, "seed": 1}


def no_three(records: Any) -> bool:
    return len(records) > 0 and 3 not in list(records)


def test_no_pair_with_another_data_set_comes_out() -> None:
    domain, rng = Valid(RECORDS, no_three), np.random.default_rng(1)
    pair = domain.random(rng)
    pairs = [*domain.corners(), *domain.simplest(), *domain.simpler(pair)]
    pairs += [*domain.each_value(), *domain.crowds(), *domain.closely(pairs, 20)]
    for _ in range(300):
        pairs += [pair := domain.mutate(pair, rng), domain.random(rng), *domain.rearranged(rng)]
        pairs += [
            moved for moved in (domain.step(pair, 1), domain.step(pair, -1), domain.between(*pairs[-2:])) if moved
        ]
    assert all(no_three(pair.left) and no_three(pair.right) for pair in pairs)
    # Without the function the domain has pairs of all kinds; otherwise this test would show nothing.
    others = [RECORDS.random(rng) for _ in range(300)]
    assert sum(not (no_three(moved.left) and no_three(moved.right)) for moved in others) > 30
    assert len({pair.key() for pair in pairs}) > 200


def test_a_function_that_accepts_all_leaves_the_domain_as_it_is() -> None:
    """Otherwise the search would try fewer kinds of pairs without a word."""
    columns = {"day": {"type": "date", "low": "2024-01-01", "high": "2024-03-01"}, "sum": {"type": "integer"}}
    for domain in (
        RECORDS,
        auditor.Frame(columns),
        auditor.Value(range=(0, 9)),
        auditor.Dialogues([(0, 1)], ["a", "b"]),
    ):
        valid, most = Valid(domain, lambda data: True), 40
        given = [domain.random(np.random.default_rng(3)) for _ in range(5)]
        for name, arguments in (
            ("corners", ()),
            ("simplest", ()),
            ("each_value", ()),
            ("crowds", ()),
            ("closely", (given, most)),
        ):
            of_valid, of_domain = ([*map(Pair.key, getattr(each, name)(*arguments))] for each in (valid, domain))
            assert of_valid == of_domain, (name, domain)
    methods = {name for name, value in vars(Domain).items() if callable(value) and not name.startswith("_")}
    assert methods - vars(Valid).keys() == set()


def test_a_violation_where_nothing_is_promised_hides_no_other_one() -> None:
    """An exception on empty data is found first; if empty data are excluded, two equal records are found to exceed the claim."""

    def mean(records: Any, rng: np.random.Generator) -> float:
        if len(records) == 0:
            raise ZeroDivisionError
        return len(records) + rng.laplace(scale=0.3 if len(records) == 3 else 1.0)

    result = auditor.audit(mean, auditor.PureDP(1.0), RECORDS, **ONES)
    assert result.pair is not None and 0 in (len(result.pair.left), len(result.pair.right))
    valid = auditor.audit(mean, auditor.PureDP(1.0), Valid(RECORDS, len), **ONES)
    assert valid.verdict == "violation" and valid.pair is not None
    assert min(len(valid.pair.left), len(valid.pair.right)) > 0


@pytest.mark.parametrize(
    ("is_valid", "message"),
    [(lambda records: False, "almost"), (lambda records: records[0] > 1, "raised IndexError")],
    ids=["none", "raises"],
)
def test_an_error_says_what_is_wrong(is_valid: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Valid(RECORDS, is_valid)


FILES = {
    "m.py": """
def count(records, rng):
    if len(records) == 0:
        raise ValueError
    return len(records) + rng.laplace()

def some(records):
    return len(records) > 0
""",
    "audits.yaml": """
version: 1
samples: 5_000
planted: 0
execution: {workers: 1, isolate: false}
audits:
  - {name: counts, mechanism: m.py:count, claim: {epsilon: 1.0}, valid: m.py:some,
      neighbours: {domain: records, record: {choices: [a]}, size: {low: 0, high: 4}, relation: add_remove}}
""",
}


def test_valid_is_a_key_of_an_audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the key the exception is found. A recount refuses to run the function unless an option allows it."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    file, out = tmp_path / "audits.yaml", ["--out", str(tmp_path / "out"), "--quiet"]
    assert main(["run", str(file), *out, "--record", str(tmp_path / "kept")]) == 0
    report = auditor.read_report(tmp_path / "out" / "audits" / "report.json")
    assert "some accepts them" in (tmp_path / "out" / "audits" / "report.html").read_text()
    assert report.audits[0].verdict == "no_violation_found"
    check = ["replay", str(tmp_path / "kept"), "--check", str(tmp_path / "out" / "audits" / "report.json")]
    monkeypatch.chdir(tmp_path)  # a recording contains no code, so the function is looked up here as well
    assert main([*check, "--run-code"]) == 0
    (tmp_path / "m.py").rename(tmp_path / "other.py")
    capsys.readouterr()
    assert main(check) == 2
    assert "m.py:some; if you trust this code, add --run-code" in capsys.readouterr().err
    file.write_text(FILES["audits.yaml"].replace("valid: m.py:some,", "").replace("m.py:", "other.py:"))
    assert main(["run", str(file), *out]) == 1
    file.write_text(
        FILES["audits.yaml"].replace("m.py:some", "other.py:missing").replace("m.py:count", "other.py:count")
    )
    assert main(["run", str(file), *out]) == 2
    assert "audits.yaml, line 7" in capsys.readouterr().err
