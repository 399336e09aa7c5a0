"""An error budget that runs share: what each may err, and that no audit has a second chance without paying for it."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.cli import main
from auditor.config.error_budget import BudgetShare, ErrorBudget

CONFIG = """
version: 1
confidence: 0.9
samples: 1000
execution: {{backend: threading, isolate: false}}
seed: {seed}
shrink: false
prove: false
audits:
  - name: one
    mechanism: answers.py:{function}
    claim: {{epsilon: 1.0}}
    neighbours: {{pairs: [{{left: 0, right: 1}}], relation: substitute}}
  - name: two
    mechanism: answers.py:{function}
    claim: {{epsilon: 2.0}}
    neighbours: {{pairs: [{{left: 0, right: 1}}], relation: substitute}}
"""
ANSWERS = """
import random
def seeded(value, size, rng):
    return value + rng.laplace(size=size)
def its_own(value, size):
    return [value + random.expovariate(1.0) - random.expovariate(1.0) for _ in range(size)]
"""


def write(folder: Path, seed: int = 0, function: str = "seeded") -> str:
    (folder / "answers.py").write_text(ANSWERS)
    (folder / "audit.yaml").write_text(CONFIG.format(seed=seed, function=function))
    return str(folder / "audit.yaml")


def run(folder: Path, *more: str, seed: int = 0, function: str = "seeded") -> float:
    """Run the audits within a budget, and return what the run might err."""
    out = folder / "reports"
    given = [write(folder, seed, function), "--quiet", "--out", str(out)]
    assert main(["run", *given, "--budget", str(folder / "budget.json"), *more]) in (0, 1)
    report = json.loads((out / "audit" / "report.json").read_text())
    return float(1 - report["confidence"])


def test_new_outputs_pay_and_the_same_outputs_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path) == pytest.approx(0.1 / 2)
    assert run(tmp_path) == pytest.approx(0.1 / 2)
    assert run(tmp_path, seed=1) == pytest.approx(0.1 / 6)
    # The other audit of a configuration belongs to its share; a seed of the command line is as good as one of the file.
    assert run(tmp_path, "--only", "one", "--seed", "7") == pytest.approx(0.1 / 12)
    assert run(tmp_path, "--only", "two", "--seed", "7") == pytest.approx(0.1 / 12)
    assert run(tmp_path) == pytest.approx(0.1 / 2)


def test_a_mechanism_that_does_not_repeat_pays_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(tmp_path, "--only", "one", function="its_own") == pytest.approx(0.1 / 2)
    # It is another audit of the same share, and so at no cost; then neither has a second chance.
    assert run(tmp_path, "--only", "two", function="its_own") == pytest.approx(0.1 / 2)
    assert run(tmp_path, function="its_own") == pytest.approx(0.1 / 6)
    # There is nothing to go on with, and to ask for it buys nothing.
    assert run(tmp_path, "--resume", function="its_own") == pytest.approx(0.1 / 12)


def test_another_file_that_the_mechanism_reads_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        f"{__name__}.ANSWERS",
        ANSWERS + "from pathlib import Path\nSCALE = Path(__file__).with_name('scale').read_text()\n",
    )
    monkeypatch.setattr(f"{__name__}.CONFIG", CONFIG.replace("isolate: false", "isolate: true"))
    for content, k in (("1", 1), ("2", 2), ("1", 1), ("2", 2)):
        (tmp_path / "scale").write_text(content)
        assert run(tmp_path, "--only", "one") == pytest.approx(0.1 / (k * (k + 1)))


def test_a_budget_that_is_wrong_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(tmp_path)
    budget = tmp_path / "budget.json"
    whole = json.loads(budget.read_text())
    greedy = {**whole["shares"][0], "allowed_error": 0.1}
    for content in ("", "[]", '{"version": 2}', json.dumps({**whole, "shares": [greedy]}), "[" * 100_000):
        budget.write_text(content)
        assert main(["run", write(tmp_path), "--quiet", "--budget", str(budget)]) == 2
        assert "budget.json is not an error budget" in capsys.readouterr().err
        assert budget.read_text() == content
    budget.write_text(json.dumps({**whole, "allowed_error": 0.2}))
    assert main(["run", write(tmp_path), "--quiet", "--budget", str(budget)]) == 2
    assert "has the confidence 0.9, and the budget" in capsys.readouterr().err
    assert main(["run", write(tmp_path), "--budget", str(budget), "--confidence", "0.9"]) == 2
    assert main(["run", write(tmp_path), "--budget", str(tmp_path / "nowhere" / "b.json")]) == 2


def test_jobs_that_begin_at_once_have_shares_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from auditor.config.error_budget import take_share
    from auditor.config.load import load_configuration

    monkeypatch.chdir(tmp_path)
    file, shares = Path(write(tmp_path)), list[BudgetShare]()

    def begin(seed: int) -> None:
        shares.append(take_share(tmp_path / "budget.json", load_configuration(file, seed=seed), resumed=False))

    jobs = [threading.Thread(target=begin, args=(seed,)) for seed in range(12)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    expected = [0.1 / (k * (k + 1)) for k in range(1, 13)]
    assert sorted((share.allowed_error for share in shares), reverse=True) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sets(st.sampled_from("abc"), min_size=1), st.booleans())))
def test_the_sum_of_all_chances_stays_within_the_whole(runs: list[tuple[str, set[str], bool]]) -> None:
    """Each run is a digest, its audits, and whether it proves to repeat; audits of one digest share its level by Bonferroni."""
    budget, spent = ErrorBudget(0.5), 0.0
    drawn = set[tuple[str, int, str]]()  # outputs that are known to repeat, at a share
    for run, audits, repeats in runs:
        budget, place = budget.shared(run, "file", sorted(audits), False, Path())
        share = budget.shares[place]
        new = {name for name in audits if (run, place, name) not in drawn}
        spent += share.allowed_error * len(new) / 3
        if repeats:
            drawn |= {(run, place, name) for name in audits}
            known = BudgetShare(run, "file", share.allowed_error, share.begun, (*share.repeatable, *sorted(audits)))
            budget = ErrorBudget(0.5, (*budget.shares[:place], known, *budget.shares[place + 1 :]))
    assert spent <= 0.5
