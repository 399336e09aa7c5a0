"""Bounds from existing scores: what they prove, what they assume, and files of every format."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import PROJECT
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import benchmarks.scores as scores_benchmark
from auditor.bounds.conversions import gaussian_delta
from auditor.bounds.curves import CurveBand
from auditor.bounds.nested_guesses import bound_of_nested_guesses
from auditor.bounds.one_run import GuessTally, OneRunGuesses
from auditor.claims import Tradeoff
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.scores import EPSILONS, SPARED_SHARE, _Origin, audit_scores, count_right_guesses_with_ties, read_scores

Floats = NDArray[np.float64]
TRUE_EPSILON = 4.3772  # of μ = 1 at δ = 1e-5


def gaussian(number: int, seed: int = 0, mu: float = 1.0) -> tuple[Floats, Floats]:
    """Return scores inside and outside, with a coin for each."""
    rng = np.random.default_rng(seed)
    inside = rng.random(number) < 0.5
    scores = rng.normal(size=number) + mu * inside
    return scores[inside], scores[~inside]


ORIGINS: list[_Origin] = ["independent-runs", "one-run", "one-run-apart"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_bounds_are_below_the_truth_and_near_it(origin: _Origin) -> None:
    proved = audit_scores(*gaussian(20_000), origin, confidence=0.95)
    assert 2.3 < proved.epsilon < proved.epsilon_if_gaussian < TRUE_EPSILON
    assert (0.93 if origin != "one-run" else 0.6) < proved.mu < 1
    for epsilon, delta in proved.profile:
        assert delta <= gaussian_delta(1.0, epsilon)
    assert gaussian_delta(proved.mu, proved.epsilon_if_gaussian) == pytest.approx(1e-5, rel=1e-3)


def test_each_origin_says_what_it_assumes() -> None:
    said = {origin: audit_scores(*gaussian(200), origin) for origin in ORIGINS}
    assert len({proved.assumed for proved in said.values()}) == 3
    for proved in said.values():
        assert all(f"assumed: {sentence}" in str(proved) for sentence in proved.assumed)
    assert said["one-run"].mu <= said["one-run-apart"].mu


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_bound_is_computed_when_it_is_read_and_only_then(origin: _Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    bound, delta, of_cells = OneRunGuesses.bound, OneRunGuesses.delta, CurveBand.of_cells

    def spy(name: str, do: Any) -> Any:
        return lambda *given, **named: (asked.append(name), do(*given, **named))[1]

    monkeypatch.setattr("auditor.scores.bound_of_nested_guesses", spy("ε", bound_of_nested_guesses))
    monkeypatch.setattr(OneRunGuesses, "bound", spy("μ", bound))
    monkeypatch.setattr(OneRunGuesses, "delta", spy("δ", delta))
    monkeypatch.setattr(CurveBand, "of_cells", spy("band", of_cells))
    proved = audit_scores(*gaussian(200), origin)
    assert asked == []
    for _ in range(2):
        assert proved.epsilon >= 0
        assert asked == ["ε"]
    assert proved.mu >= 0
    assert asked == ["ε", "μ"]
    assert "assumed: " in str(proved)
    assert asked == ["ε", "μ", *["δ"] * len(EPSILONS), *["band"] * (origin == "independent-runs")]
    assert proved.to_dict()["epsilon"] == proved.epsilon


def test_equal_scores_do_not_show_the_side() -> None:
    """All scores are equal, and the files have all of one side first."""
    for origin in ORIGINS:
        proved = audit_scores(np.zeros(5000), np.zeros(5000), origin, confidence=0.95)
        assert proved.epsilon == proved.mu == 0


def test_equal_scores_seldom_alarm_however_many_there_are() -> None:
    """For any number of canaries, here 185, the probability is over the coins, and so over the group sizes that 185 coins give."""
    alarms = sum(
        float(binom.pmf(inside, 185, 0.5))
        for inside in range(70, 116)
        if audit_scores(np.zeros(inside), np.zeros(185 - inside), "one-run", confidence=0.95).epsilon > 0
    )
    assert alarms <= 0.05


@pytest.mark.parametrize("scores", [[0] * 9, [0] * 4 + [1] * 5, [0, 0, 1, 1, 1, 2, 2, 2, 2], [0] * 7 + [1, math.inf]])
@pytest.mark.parametrize("guesses", [1, 4, 5, 9])
def test_right_guesses_among_equal_scores_are_rarely_more_than_chance_has(scores: list[float], guesses: int) -> None:
    """By enumeration of all coins: if scores say nothing, each number of right guesses is binomial."""
    wins = []
    for coins in itertools.product([False, True], repeat=9):
        inside, given = np.array(coins), np.array(scores, float)
        [tally] = count_right_guesses_with_ties(given[inside], given[~inside], [guesses])
        wins.append(tally.wins)
    for least in range(1, guesses + 1):
        assert np.mean(np.array(wins) >= least) <= binom.sf(least - 1, guesses, 0.5) / (1 - SPARED_SHARE) + 1e-12


def test_equal_scores_that_are_all_guessed_on_alike_count_in_full() -> None:
    for inside, outside in ((np.ones(5), np.zeros(5)), (np.full(5, math.inf), np.full(5, -math.inf))):
        assert count_right_guesses_with_ties(inside, outside, [10, 1]) == (GuessTally(10, 10, 10), GuessTally(10, 1, 1))


@pytest.mark.parametrize("sides", [(100, 5000), (5000, 100), (3, 5000)])
def test_of_unequal_sides_as_many_scores_count_as_coins_would_ask_for(sides: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(size=sides[0]) + 1, rng.normal(size=sides[1])
    proved = audit_scores(inside, outside, "independent-runs", confidence=0.95)
    assert 0.4 * min(sides) < proved.canaries < 2 * min(sides)
    assert proved.mu > 0.4 or min(sides) == 3
    assert proved == audit_scores(inside, outside, "independent-runs", confidence=0.95)


@pytest.mark.parametrize("origin", ORIGINS)
def test_scores_that_say_nothing_seldom_alarm(origin: _Origin) -> None:
    """Of 30 sets, more than 11 alarms at a level of 5 % have probability below 1e-7."""
    alarms = sum(audit_scores(*gaussian(60, seed, 0.0), origin, confidence=0.95).epsilon > 0 for seed in range(30))
    assert alarms <= 11


def test_scores_of_one_side_only_prove_nothing() -> None:
    assert audit_scores([1.0], [0.0], "independent-runs").mu == 0


def test_given_numbers_of_guesses_count() -> None:
    proved = audit_scores(*gaussian(2000), "one-run", guesses=[500, 100])
    assert [guesses for guesses, _ in proved.guesses] == [500, 100]


@pytest.mark.parametrize(
    ("inside", "outside", "options", "words"),
    [
        ([1.0, math.nan], [0.0], {}, "inside has 1 of 2 scores that are NaN"),
        ([1.0], [], {}, "outside has no scores"),
        ([1.0], [10**400], {}, "outside holds something that is not a number"),
        ([1.0], ["x"], {}, "outside holds something of type <U1 that is not a number"),
        ([1.0] * 90, [0.0] * 10, {"origin": "one-run"}, "90 canaries are inside and 10 outside"),
        ([1.0], [0.0], {"origin": "one"}, 'origin is "one"'),
        ([1.0], [0.0], {"delta": 2}, "delta is 2"),
        ([1.0], [0.0], {"delta": 1}, "delta is 1"),
        ([1.0], [0.0], {"confidence": 1}, "confidence is 1"),
        ([1.0] * 9, [0.0] * 9, {"origin": "one-run", "guesses": [19]}, "one or several integers from 1 to 18"),
        ([1.0] * 9, [0.0] * 9, {"origin": "one-run", "guesses": []}, "one or several integers from 1 to 18"),
    ],
)
def test_what_is_wrong_is_said(
    inside: list[float], outside: list[float], options: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInputError, match=words):
        audit_scores(inside, outside, **{"origin": "independent-runs", **options})  # type: ignore[arg-type]


def test_files_of_every_kind_hold_the_same(tmp_path: Path) -> None:
    scores = np.array([0.5, -1.25, 3e-9])
    np.save(tmp_path / "a.npy", scores)
    (tmp_path / "a.json").write_text(json.dumps(scores.tolist()))
    (tmp_path / "b.json").write_text(json.dumps({"id": [1, 2, 3], "loss": scores.tolist()}))
    (tmp_path / "a.csv").write_text("\n".join(map(repr, scores.tolist())))
    (tmp_path / "b.csv").write_text("id,loss\n" + "\n".join(f"{i},{s!r}" for i, s in enumerate(scores.tolist())) + "\n")
    for place in ("a.npy", "a.json", "b.json:loss", "a.csv", "b.csv:loss"):
        assert read_scores(str(tmp_path / place)).tolist() == scores.tolist(), place


def test_parquet_is_read(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pandas as pd

    pd.DataFrame({"score": [0.5, 1.5]}).to_parquet(tmp_path / "a.parquet")
    assert read_scores(str(tmp_path / "a.parquet")).tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "x,y\n1,2\n", "it has several columns; write FILE:COLUMN; allowed: x, y"),
        ("a.csv:z", "x,y\n1,2\n", 'it has no column "z"'),
        ("a.csv", "x\n1\nfoo\n", "could not convert"),
        ("a.csv", "", "it is empty"),
        ("a.json", "[1, ", "Expecting value"),
        ("a.txt", "1", "must end in .npy, .csv, .json or .parquet"),
        ("a.npy", "nonsense", "a.npy"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(name: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name.partition(":")[0]).write_text(text)
    with pytest.raises(InvalidInputError, match=words):
        read_scores(str(tmp_path / name))
    with pytest.raises(InvalidInputError, match=r"there is no file .*gone\.csv"):
        read_scores(str(tmp_path / "gone.csv"))


def test_the_command_prints_what_the_function_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside, outside = gaussian(600)
    np.save(tmp_path / "in.npy", inside)
    np.save(tmp_path / "out.npy", outside)
    files = [str(tmp_path / "in.npy"), str(tmp_path / "out.npy")]
    options = ["--from", "one-run", "--delta", "1e-3", "--confidence", "0.9", "--guesses", "200"]
    proved = audit_scores(inside, outside, "one-run", delta=1e-3, confidence=0.9, guesses=[200])
    assert main(["scores", *files, *options]) == 0
    assert capsys.readouterr().out == f"{proved}\n"
    assert main(["scores", *files, *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(proved.to_dict()))
    assert main(["scores", files[0], str(tmp_path / "x.npy"), *options]) == 2


@pytest.mark.parametrize(
    "scores",
    [
        np.array([1 + 2j, 3]),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.array([(1, 2.0)], [("a", int), ("b", float)]),
        np.array([1], "timedelta64[s]"),
        np.array([b"1"]),
    ],
    ids=lambda scores: str(scores.dtype),
)
def test_what_is_no_real_number_is_refused_and_not_converted(scores: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="that is not a number; it must be a list of scores"):
        audit_scores(scores, [0.0], origin="independent-runs")
    np.save(tmp_path / "scores.npy", scores)
    with pytest.raises(InvalidInputError, match="that is not a number"):
        read_scores(str(tmp_path / "scores.npy"))


# --- The band on the trade-off curve ---


def gaussian_curve(mu: float) -> Tradeoff:
    return Tradeoff.from_function(lambda alpha: float(ndtr(-ndtri(alpha) - mu)) if 0 < alpha < 1 else 1.0 - alpha)


def test_scores_of_independent_runs_have_a_band_around_the_exact_curve() -> None:
    """At 1 − 1e-7, so a wrong seed is that unlikely."""
    inside, outside = gaussian(40_000)
    proved, exact = audit_scores(inside, outside, "independent-runs", confidence=1 - 1e-7), gaussian_curve(1.0)
    for least_wrong, most_wrong, least_missed, most_missed in proved.band:
        assert most_missed >= exact.at(most_wrong)
        assert least_missed <= exact.at(least_wrong) + 1e-4
    for wrong, missed in proved.reached:
        assert exact.at(wrong) <= missed < exact.at(wrong) + 0.08
    assert "type II error, at type I errors all together: ≤ " in str(proved)
    for origin in ("one-run", "one-run-apart"):
        assert audit_scores(inside, outside, origin).band == ()  # type: ignore[arg-type]


def test_a_claimed_curve_is_broken_by_scores_that_tell_more() -> None:
    inside, outside = gaussian(40_000)
    sound, broken = (
        audit_scores(inside, outside, "independent-runs", confidence=1 - 1e-7, claim=gaussian_curve(mu))
        for mu in (1.0, 0.85)
    )
    assert not sound.violated
    assert sound.excess is not None
    assert -0.3 < sound.excess <= 0
    assert "within the claimed trade-off curve" in str(sound)
    assert broken.violated
    assert "is broken: excess ≥ 0." in str(broken)
    assert broken.to_dict()["violated"] is True
    assert broken.to_dict()["claim"] == gaussian_curve(0.85).to_dict()
    assert "claim" not in audit_scores(inside, outside, "independent-runs").to_dict()


def test_equal_and_infinite_scores_break_no_claim() -> None:
    claim = Tradeoff([(0, 1), (1, 0)])
    for scores in (np.zeros(500), np.r_[np.full(250, np.inf), np.full(250, -np.inf)]):
        proved = audit_scores(scores, scores, "independent-runs", claim=claim)
        assert not proved.violated
        assert all(0 <= limit <= 1 for box in proved.band for limit in box)
    assert audit_scores(np.full(500, np.inf), np.zeros(500), "independent-runs", claim=claim).violated


@pytest.mark.parametrize("origin", ["one-run", "one-run-apart"])
def test_a_curve_is_held_against_independent_runs_only(origin: _Origin) -> None:
    with pytest.raises(InvalidInputError, match="independent runs"):
        audit_scores(*gaussian(200), origin, claim=gaussian_curve(1.0))
    with pytest.raises(InvalidInputError, match="must be a Tradeoff"):
        audit_scores(*gaussian(200), "independent-runs", claim=1.0)  # type: ignore[arg-type]


def test_the_command_fails_on_a_broken_curve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside, outside = gaussian(20_000)
    np.save(tmp_path / "in.npy", inside)
    np.save(tmp_path / "out.npy", outside)
    for name, epsilon, status in (("wide", 5.0, 0), ("narrow", 0.5, 1)):
        middle = 1 / (1 + math.exp(epsilon))
        (tmp_path / f"{name}.json").write_text(json.dumps([[0, 1], [middle, middle], [1, 0]]))
        files = [str(tmp_path / "in.npy"), str(tmp_path / "out.npy")]
        curve = ["--tradeoff", str(tmp_path / f"{name}.json")]
        assert main(["scores", *files, "--from", "independent-runs", *curve, "--json"]) == status
        assert json.loads(capsys.readouterr().out)["violated"] is bool(status)


# --- Beside other libraries ---


def test_the_page_shows_the_figures_of_the_benchmark_and_they_say_what_it_says() -> None:
    page = (PROJECT / "docs/how-to/scores.md").read_text(encoding="utf-8")
    figures = json.loads((PROJECT / "benchmarks/results/scores.json").read_text(encoding="utf-8"))["figures"]
    assert scores_benchmark.with_tables(page, figures) == page
    every, possible = figures["the same scores"], figures["largest possible median"]["95 %"]
    assert f"{possible:.1f}" in page
    for truth in every.values():
        for way, found in truth.items():
            if way.startswith("auditor: ") and not way.endswith(scores_benchmark.SUFFIX):
                # At a level of 5 %, more errors have probability below 1e-6.
                assert found["errors"] <= binom.isf(1e-6, found["runs"], 0.05)
    gaussian_noise = every[next(name for name in every if name.startswith("Gaussian"))]
    ours, theirs = gaussian_noise["auditor: one-run"], gaussian_noise["jax-privacy: epsilon_one_run"]
    assert theirs["median bound"] < ours["median bound"] <= possible + 0.01
    seconds = figures["seconds"]
    assert seconds["auditor: one-run"] <= 2 * seconds["jax-privacy: epsilon_one_run"]


def test_the_largest_possible_median_rises_with_the_canaries_and_stays_below_the_truth() -> None:
    """With one canary, no test of level 5 % has a power of one half."""
    assert scores_benchmark.largest_possible_median(1, 0.05, runs=2_000) == 0
    few, more = (scores_benchmark.largest_possible_median(canaries, 0.05, runs=2_000) for canaries in (100, 400))
    assert 0.8 < few < more < TRUE_EPSILON
