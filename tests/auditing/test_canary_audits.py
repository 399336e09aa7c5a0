"""Audits of mechanisms that run once: coins, scores, several runs, failures, and the whole way from YAML to a report."""

import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import planned
from auditor.auditing.canary_flow import shares_of_looks
from auditor.auditing.foresight import foresee
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.errors import InvalidInputError, MechanismError

NUMBER = 400


def released(dataset: Any, rng: np.random.Generator, sigma: float = 1.0) -> Any:
    """Release for each place whether it is in the data, with noise of its own: μ = 1/σ."""
    return np.isin(np.arange(NUMBER), dataset) + rng.normal(0, sigma, NUMBER)


def in_batches(dataset: Any, size: int, rng: np.random.Generator) -> Any:
    return np.stack([released(dataset, rng) for _ in range(size)])


def with_entropy(dataset: Any) -> Any:
    return released(dataset, np.random.default_rng(np.frombuffer(os.urandom(8), np.uint64)))


def own_place(output: Any, canary: int) -> float:
    return float(output[canary])


def one_run(claim: auditor.GaussianDP | auditor.ApproximateDP, mechanism: Any = released, **options: Any) -> Any:
    settings = {key: options.pop(key) for key in ("parameters", "sharpen") if key in options} | {
        "seed": options.pop("seed", 7)
    }
    domain = auditor.Canaries(list(range(NUMBER)), options.pop("score", own_place), **options)
    return auditor.audit(mechanism, claim, domain, method="one-run", confidence=0.99, name="once", **settings)


def test_a_broken_claim_is_refuted_and_a_sound_one_is_not() -> None:
    sound = one_run(auditor.GaussianDP(1.0), apart=True)
    assert sound.verdict == "no_violation_found"
    assert 0.4 < sound.bound.value < 1 < sound.power["95%"] < 1.7
    broken = one_run(auditor.GaussianDP(1.0), apart=True, parameters={"sigma": 0.5})
    assert broken.verdict == "violation" and 1 < broken.bound.value < 2 and broken.p_value < 1e-6
    assert "if no canary affects another one's score, above the claimed μ = 1" in str(broken)
    # Without the assumption less is proved.
    assert 0 < one_run(auditor.GaussianDP(1.0), parameters={"sigma": 0.5}).bound.value < broken.bound.value


def test_of_several_runs_a_refuted_claim_has_no_more() -> None:
    """The levels of all looks add up to the whole; what is shown holds at the share of its look."""
    broken = {"parameters": {"sigma": 0.4}, "apart": True, "runs": 6}
    early = one_run(auditor.GaussianDP(1.0), **broken)
    assert early.verdict == "violation" and early.outputs.bound == early.event.runs == 1
    assert early.stop_reason == "refuted after 1 of 6 runs" and early.judgement.share == shares_of_looks(6)[1]
    alone = one_run(auditor.GaussianDP(1.0), **{**broken, "runs": 1})
    assert early.bound.value < alone.bound.value and early.p_value == pytest.approx(
        alone.p_value / early.judgement.share
    )
    sound = one_run(auditor.GaussianDP(1.0), apart=True, runs=6)
    assert sound.event.runs == 6 and sound.judgement.share + sum(shares_of_looks(6).values()) == pytest.approx(1)


@pytest.mark.statistical
def test_more_runs_prove_more() -> None:
    one, several = (one_run(auditor.GaussianDP(1.0), apart=True, runs=runs) for runs in (1, 9))
    assert one.bound.value < several.bound.value < 1
    assert several.outputs.bound == 9
    assert several.event.runs == 9
    assert several.event.guesses[-1][0] <= 9 * NUMBER
    assert several.power["95%"] < one.power["95%"]


def test_the_same_seed_tosses_the_same_coins_and_another_one_others() -> None:
    first, again, other = (one_run(auditor.GaussianDP(1.0), seed=seed) for seed in (1, 1, 2))
    assert first.event == again.event != other.event
    assert first.reproducible


def test_batch_mechanisms_and_those_with_entropy_of_their_own_run_once_too() -> None:
    assert one_run(auditor.GaussianDP(1.0), in_batches).event.guesses == one_run(auditor.GaussianDP(1.0)).event.guesses
    assert not one_run(auditor.GaussianDP(1.0), with_entropy).reproducible


def test_coins_are_fair_and_independent_of_place_and_run() -> None:
    """Of 20 runs of 400 coins; each of the rates is off by 5.5 standard errors with probability below 1e-7."""
    seen: list[Any] = []

    def noted(dataset: Any, rng: np.random.Generator) -> Any:
        seen.append(np.isin(np.arange(NUMBER), dataset))
        return np.zeros(NUMBER)

    domain = auditor.Canaries(range(NUMBER), own_place, runs=20)
    auditor.audit(noted, auditor.PureDP(1.0), domain, method="one-run", isolate=False, workers=1)
    coins = np.array(seen[:20])
    assert abs(coins.mean() - 0.5) < 5.5 * 0.5 / math.sqrt(coins.size)
    assert abs((coins[1:] == coins[:-1]).mean() - 0.5) < 5.5 * 0.5 / math.sqrt(coins[1:].size)
    assert abs((coins[:, 1:] == coins[:, :-1]).mean() - 0.5) < 5.5 * 0.5 / math.sqrt(coins[:, 1:].size)


def lucky(dataset: Any, rng: np.random.Generator) -> Any:
    """Give away all canaries in a run, or none: each by itself is known with probability 1/2."""
    return np.isin(np.arange(NUMBER), dataset) * float(rng.random() < 0.5) + rng.normal(0, 0.01, NUMBER)


@pytest.mark.statistical
def test_runs_that_differ_too_much_are_warned_of_where_canaries_are_said_to_be_apart() -> None:
    """All of 8 runs are alike with probability 1/128, under another seed."""
    words = "the number of right guesses differs between the runs"
    assert one_run(auditor.GaussianDP(1.0), apart=True, runs=8).warnings == ()
    [warning] = one_run(auditor.GaussianDP(1.0), lucky, apart=True, runs=8, sharpen=True).warnings
    assert words in warning
    [weak] = one_run(auditor.GaussianDP(1.0), lucky, runs=8, sharpen=True).warnings
    assert words not in weak and "use more canaries, or more runs" in weak


def raises(dataset: Any, rng: np.random.Generator) -> Any:
    raise ValueError("no such luck")


def dies(dataset: Any, rng: np.random.Generator) -> Any:
    os._exit(3)


def nan_for_the_third(output: Any, canary: int) -> float:
    return math.nan if canary == 2 else 1.0


def test_a_run_that_fails_has_no_answer() -> None:
    for mechanism, why in ((raises, "run 1 failed: ValueError: no such luck"), (dies, "run 1 failed: ended with exit")):
        result = one_run(auditor.GaussianDP(1.0), mechanism)
        assert result.verdict == "inconclusive" and why in result.stop_reason
    result = one_run(auditor.GaussianDP(1.0), score=nan_for_the_third)
    assert result.verdict == "inconclusive" and "the score of canary 2 is NaN" in result.stop_reason


def test_one_run_canaries_and_a_claim_of_privacy_go_together() -> None:
    domain = auditor.Canaries(range(5), own_place)
    for claim, neighbours, method in (
        (auditor.PureDP(1.0), domain, "fixed"),
        (auditor.PureDP(1.0), [(0, 1)], "one-run"),
        (auditor.Sensitivity(1.0), domain, "one-run"),
    ):
        with pytest.raises(InvalidInputError, match="go together"):
            auditor.audit(released, claim, neighbours, method=method)  # type: ignore[arg-type]


def test_a_score_that_cannot_be_had_is_an_error() -> None:
    with pytest.raises(MechanismError, match="has no nothing"):
        one_run(auditor.GaussianDP(1.0), score=f"{__name__}:nothing")


def test_a_delta_above_the_error_cannot_be_refuted_where_canaries_may_affect_each_other() -> None:
    claim = auditor.ApproximateDP(1.0, 0.05)
    blind = one_run(claim, parameters={"sigma": 3.0})
    [warning] = blind.warnings
    assert "without `apart`, no number of canaries can refute this claim" in warning
    assert math.isinf(blind.power["95%"])
    assert one_run(claim, parameters={"sigma": 3.0}, apart=True).power["95%"] < 3


@pytest.mark.statistical
def test_what_would_be_caught_is_known_before() -> None:
    domain = auditor.Canaries(range(NUMBER), own_place, apart=True)
    plan = planned(released, auditor.GaussianDP(1.0), domain, method="one-run", confidence=0.99)
    caught = {row.chance: row.caught for row in foresee(plan)}
    found = one_run(auditor.GaussianDP(1.0), apart=True)
    assert caught == {0.8: pytest.approx(found.power["80%"]), 0.95: pytest.approx(found.power["95%"])}


FILES = {
    "train.py": """
import numpy as np

def train(records, rng, sigma=1.0):
    return np.bincount(records.astype(int), minlength=300)[:300] + rng.normal(0, sigma, 300)
""",
    "attack.py": """
import numpy as np

def canaries():
    return np.arange(300)

def others():
    return np.full(50, 299)

def score(model, canary):
    return model[canary]
""",
    "once.yaml": """
version: 1
method: one-run
audits:
  - name: sound
    mechanism: train.py:train
    claim: {mu: 1.0}
    neighbours: &canaries {domain: canaries, canaries: attack.py:canaries, score: attack.py:score, records: attack.py:others,
                           runs: 4, guesses: [1200, 600], apart: true}
  - name: too little noise
    mechanism: train.py:train
    parameters: {sigma: 0.4}
    claim: {mu: 1.0}
    neighbours: *canaries
    expect: violation
""",
}


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "once.yaml"


@pytest.mark.usefixtures("without_plots")
def test_a_configuration_is_checked_planned_run_recorded_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(written(tmp_path))
    assert main(["check", file]) == 0
    assert main(["plan", file]) == 0
    assert "canaries" in capsys.readouterr().out
    assert main(["run", file, "--out", "made", "--record", "kept", "--quiet"]) in (0, 1)
    report = json.loads((tmp_path / "made/once/report.json").read_text())
    verdicts = [audit["verdict"] for audit in report["audits"]]
    assert verdicts[0] == "no_violation_found" and verdicts[1] == "violation"
    assert len(report["audits"][0]["event"]["guesses"]) == 2
    (tmp_path / "train.py").unlink()
    kept = next((tmp_path / "kept").iterdir()) if (tmp_path / "kept").is_dir() else tmp_path / "kept"
    assert main(["replay", str(kept), "--out", "again", "--quiet"]) == 2
    assert "attack.py (SHA-256" in capsys.readouterr().err
    assert main(["replay", str(kept), "--out", "again", "--quiet", "--run-code"]) in (0, 1)
    assert json.loads((tmp_path / "again/once/report.json").read_text()) == report
    assert main(["show", "made/once/report.json"]) == 0
    shown = capsys.readouterr().out
    assert "surest guesses on 300 canaries are right" in shown


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("score: attack.py:score", "score: attack.py:scores", "line 8.*attack.py has no scores; did you mean"),
        ("guesses: [1200, 600]", "guesses: [1201]", "line 8.*integers from 1 to 1,200"),
        ("runs: 4, ", "runs: 0, ", "line 8.*runs is 0"),
        ("canaries: attack.py:canaries", "canaries: []", "line 8.*there are no canaries"),
        ("apart: true", "apert: true", "line 9.*unknown key .apert. in neighbours .canaries.; did you mean"),
        ("method: one-run", "method: fixed", "go together"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_named_with_its_line(
    old: str, new: str, words: str, tmp_path: Path
) -> None:
    file = written(tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises((InvalidInputError, MechanismError), match=words):
        load_configuration(file)


@pytest.mark.parametrize("file", ["opacus.yaml", "adaptive_clipping.yaml"])
def test_the_example_of_a_library_is_complete(file: str) -> None:
    """What it finds needs the library; here it is loaded, and its program is Python."""
    folder = Path(__file__).parent.parent.parent / "examples" / "opacus"
    plans = load_configuration(folder / file).plans
    assert {str(plan.expect) for plan in plans} == {"violation", "no_violation_found"}
    for plan in plans:
        assert plan.source.command is not None
        program = plan.source.command.arguments[1]
        compile((folder / program).read_text(encoding="utf-8"), program, "exec")


def test_a_program_is_scored_here(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import json, random, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    random.seed(asked['seed'])\n"
        "    for _ in range(asked['size']):\n"
        "        print(json.dumps([(i in asked['dataset']) + random.gauss(0, 0.3) for i in range(80)]), flush=True)\n"
    )
    domain = auditor.Canaries(list(range(80)), own_place)
    program = auditor.Command([sys.executable, "program.py"], str(tmp_path))
    result = auditor.audit(program, auditor.PureDP(0.1), domain, method="one-run", seed=1)
    assert result.verdict == "violation"
