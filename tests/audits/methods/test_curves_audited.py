"""Whole audits of a claimed trade-off curve: sound mechanisms pass, faulty twins are refuted, and the report holds the band.

A sound audit errs with probability 1e-7 at most, by its confidence; with fixed seeds, a rerun gives the same end.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import auditor
from auditor.bounds.conversions import gaussian_delta
from auditor.claims import Claim, GaussianDP, Tradeoff
from auditor.errors import InvalidInputError
from auditor.events.observed import ObservedCurve
from auditor.report.plots import tradeoff_plot
from auditor.results.files import to_json
from auditor.results.result import AuditResult, RunResult
from auditor.verdict import Verdict

CONFIDENCE = 1 - 1e-7


def gaussian_curve(mu: float) -> Tradeoff:
    return Tradeoff.from_function(lambda alpha: float(ndtr(-ndtri(alpha) - mu)) if 0 < alpha < 1 else 1.0 - alpha)


def polygon(epsilon: float, delta: float = 0.0) -> Tradeoff:
    middle = (1 - delta) / (1 + math.exp(epsilon))
    return Tradeoff([(0, 1 - delta), (middle, middle), (1 - delta, 0)])


def gaussian(x: float, size: int, rng: np.random.Generator, sigma: float = 1.0) -> Any:
    return x + rng.normal(0, sigma, size)


def laplace(x: float, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return x + rng.laplace(0, scale, size)


def answer(bit: int, size: int, rng: np.random.Generator, lies: float = 0.25) -> Any:
    return bit ^ (rng.random(size) < lies)


def revealing(bit: int, size: int, rng: np.random.Generator, revealed: float = 0.0) -> Any:
    """Gaussian noise of μ = 0.1, but a share of outputs is the data itself."""
    return np.where(rng.random(size) < revealed, 100.0 * bit - 50.0, 0.1 * bit + rng.normal(size=size))


def one_sided(bit: int, size: int, rng: np.random.Generator, share: float = 0.1) -> Any:
    """Only the second data set has outputs of its own, a ``share`` of all."""
    return np.where((rng.random(size) < share) & (bit == 1), 2, 0)


ONE_WAY = [(0, 1), (0.9, 0)]  # no wrong alarm is needed to notice a tenth
HALF = [(0, 0.9), (1, 0)]

# Mechanism, its faulty parameters, and a claim that it keeps with the parameters of its signature.
TWINS: list[tuple[Callable[..., Any], dict[str, float], Tradeoff]] = [
    (gaussian, {"sigma": 0.85}, gaussian_curve(1.0)),
    (laplace, {"scale": 0.85}, polygon(1.0)),
    (answer, {"lies": 0.22}, polygon(math.log(3))),
    (revealing, {"revealed": 0.01}, gaussian_curve(0.1)),
    (one_sided, {"share": 0.14}, Tradeoff(HALF, symmetric=False)),
    (one_sided, {"share": 0.14}, Tradeoff(ONE_WAY, symmetric=False)),
]
IDS = [f"{twin[0].__name__}-{i}" for i, twin in enumerate(TWINS)]


def audit(
    mechanism: Callable[..., Any], claim: Claim, parameters: dict[str, float], samples: int = 40_000
) -> AuditResult:
    return auditor.audit(
        mechanism,
        claim,
        [(0, 1)],
        parameters=parameters,
        samples=samples,
        seed=7,
        workers=1,
        isolate=False,
        confidence=CONFIDENCE,
        planted=0,
        prove=False,
    )


@pytest.mark.parametrize(("mechanism", "faulty", "claim"), TWINS, ids=IDS)
def test_a_faulty_mechanism_is_refuted_and_its_sound_twin_is_not(
    mechanism: Callable[..., Any], faulty: dict[str, float], claim: Tradeoff
) -> None:
    sound, broken = audit(mechanism, claim, {}), audit(mechanism, claim, faulty)
    assert sound.verdict is Verdict.NO_VIOLATION_FOUND
    assert broken.verdict is Verdict.VIOLATION
    assert sound.bound is not None
    assert broken.bound is not None
    assert sound.bound.value <= 0 < broken.bound.value
    assert broken.p_value is not None
    assert broken.p_value < 1e-7


def test_a_curve_that_holds_one_way_is_no_claim_about_the_other() -> None:
    """As a symmetric claim, the same curve is refuted: one side shows itself without any error of the other kind."""
    assert audit(one_sided, Tradeoff(HALF), {"share": 0.1}).verdict is Verdict.VIOLATION


def test_the_profile_and_the_band_lie_on_the_right_side_of_the_truth() -> None:
    result = audit(gaussian, gaussian_curve(1.0), {})
    assert result.illustration.profile[0][1] > 0.3
    for epsilon, delta in result.illustration.profile:
        assert delta <= gaussian_delta(1.0, epsilon)
    exact = gaussian_curve(1.0)
    for least_wrong, most_wrong, least_missed, most_missed in result.illustration.band:
        assert least_wrong <= most_wrong
        assert least_missed <= most_missed
        assert most_missed >= exact.at(most_wrong)


def test_power_is_stated_and_a_violation_of_that_size_is_found() -> None:
    """A claim that falls short of the truth by the excess said to be caught; each seed fails with probability of 5 % or less."""
    sound = audit(laplace, polygon(1.0), {})
    assert sound.power is not None
    excess = sound.power["95%"]
    assert 0 < excess < 0.5
    found = audit(laplace, polygon(1.0), {"scale": 1 / (1.0 + 2 * excess)})
    assert found.verdict is Verdict.VIOLATION


def report(result: AuditResult) -> RunResult:
    return RunResult("curves", CONFIDENCE, [result])


def test_a_report_holds_the_band_and_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(to_json(report(audit(gaussian, gaussian_curve(1.0), {"sigma": 0.8})).to_dict()))
    read = auditor.read_report(file)
    [entry] = read.audits
    assert isinstance(entry.event, ObservedCurve)
    assert len(entry.illustration.band) == entry.event.thresholds + 2
    assert to_json(read.to_dict()) == file.read_text()


FORGED: list[Callable[[dict[str, Any]], Any]] = [
    lambda entry: entry["illustration"]["band"][20].__setitem__(1, 0.5 * entry["illustration"]["band"][20][1]),
    lambda entry: entry["illustration"].pop("band"),
    lambda entry: entry["event"]["counts"]["left"].__setitem__(0, 1),
    lambda entry: entry["event"].__setitem__("thresholds", 3),
    lambda entry: entry["bound"].__setitem__("value", 0.5),
    lambda entry: entry["claim"]["tradeoff"].__setitem__(1, [0.2, 0.2]),
]


@pytest.mark.parametrize("number", range(len(FORGED)))
def test_a_report_whose_band_does_not_follow_from_its_counts_is_refused(tmp_path: Path, number: int) -> None:
    entry = report(audit(answer, polygon(math.log(3)), {"lies": 0.22}, 10_000)).to_dict()
    data = json.loads(to_json(entry))
    data["audits"][0]["illustration"]["band"] *= 1 if number else 10  # enough rows for the first forgery
    FORGED[number](data["audits"][0])
    file = tmp_path / "report.json"
    file.write_text(json.dumps(data))
    with pytest.raises(InvalidInputError, match=r"report\.json"):
        auditor.read_report(file)


def test_a_band_of_an_audit_without_one_is_refused(tmp_path: Path) -> None:
    data = json.loads(to_json(report(audit(answer, GaussianDP(2.0), {}, 4_000)).to_dict()))
    data["audits"][0]["illustration"]["band"] = [[0.0, 0.1, 0.2, 0.3]]
    (tmp_path / "report.json").write_text(json.dumps(data))
    with pytest.raises(InvalidInputError, match="contradicts itself"):
        auditor.read_report(tmp_path / "report.json")


def test_the_page_draws_the_band_against_the_claim() -> None:
    pytest.importorskip("matplotlib")
    claim = polygon(1.0)
    box = (0.1, 0.3, 0.3, 0.6)
    ends = (0.0, 0.0, 1.0, 1.0), (1.0, 1.0, 0.0, 0.0)
    sound = tradeoff_plot("some", claim, [ends[0], box, ends[1]])
    assert "nowhere below those of the claimed curve" in sound
    broken = tradeoff_plot("some", claim, [ends[0], (0.05, 0.1, 0.05, 0.1), ends[1]])
    assert "type I error of 0.1: the type II error is at most 0.1, and the claim is that it is at least 0.728" in broken
    # A curve that holds one way may be broken by no more than the hull of both ways shows.
    assert "nowhere below" in tradeoff_plot(
        "some", Tradeoff(HALF, symmetric=False), [ends[0], (0, 0.0, 0.9, 0.9), ends[1]]
    )


def test_bits_are_not_looked_at() -> None:
    with pytest.raises(InvalidInputError, match="look at values only"):
        auditor.audit(laplace, polygon(1.0), [(0, 1)], samples=1000, events=["bits"], workers=1, isolate=False)
    with pytest.raises(InvalidInputError, match="method two-intervals bounds ε at δ"):
        auditor.audit(laplace, polygon(1.0), [(0, 1)], samples=1000, method="two-intervals", workers=1, isolate=False)


def test_too_few_outputs_give_no_answer() -> None:
    result = audit(laplace, polygon(0.01, 0.5), {}, 100)
    assert result.verdict is not Verdict.VIOLATION


@pytest.mark.parametrize("claim", [polygon(0.5), Tradeoff([(0, 1), (0.3, 0.2), (1, 0)], symmetric=False)])
def test_canaries_of_one_run_are_held_against_a_curve(claim: Tradeoff) -> None:
    """The bound from guesses uses the lines of the claim, and of a one-way claim those that hold both ways."""

    def noisy(included: Any, rng: np.random.Generator) -> Any:
        return np.isin(np.arange(400), included) + rng.normal(0, 0.1, 400)

    canaries = auditor.Canaries(list(range(400)), lambda output, canary: float(output[canary]))
    result = auditor.audit(noisy, claim, canaries, method="one-run", seed=1, workers=1, isolate=False)
    assert result.verdict is Verdict.VIOLATION
