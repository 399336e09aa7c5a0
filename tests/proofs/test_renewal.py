"""Samplers that retry: the exact law of each, and discrete Laplace noise by rejection, as it is and with slips."""

import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import auditor
from auditor import RETRY, ApproximateDP, PureDP, Totals, Value, retrying
from auditor.proofs import prove
from auditor.proofs.checker import check_certificate

COUNT = Totals(cells=1, values=(0, 3), contribution={"l1": 1})


@retrying
def die(rng: Any) -> Any:
    """Six sides, of eight."""
    drawn = rng.integers(8)
    return drawn if drawn < 6 else RETRY


@retrying
def bernoulli_exp(rng: Any, numerator: int, denominator: int) -> bool:
    """Return True with probability exp(−γ), γ = numerator/denominator ≤ 1 (Canonne, Kamath & Steinke 2020, Algorithm 1)."""
    trial = 1
    while rng.integers(denominator * trial) < numerator:
        trial += 1
    return trial % 2 == 1


def discrete_laplace(twice_zero: bool) -> Any:
    @retrying
    def attempt(rng: Any, scale: int) -> Any:
        """Return k with probability proportional to exp(−|k|/scale) (Canonne, Kamath & Steinke 2020, Algorithm 2)."""
        low = int(rng.integers(scale))
        if not bernoulli_exp(rng, low, scale):
            return RETRY
        high = 0
        while bernoulli_exp(rng, 1, 1):
            high += 1
        size = low + scale * high
        if rng.integers(2) == 1:
            return -size
        return RETRY if size == 0 and not twice_zero else size

    return attempt


SOUND, FAULTY = discrete_laplace(False), discrete_laplace(True)


def noisy(x: Any, rng: Any, *, scale: int) -> Any:
    return x[0] + SOUND(rng, scale)


def zero_is_too_likely(x: Any, rng: Any, *, scale: int) -> Any:
    """Zero with either sign is let through, so that it is twice as likely as it should be."""
    return x[0] + FAULTY(rng, scale)


def test_retries_of_a_die_leave_six_sides_that_are_equally_likely() -> None:
    def loaded(value: int, rng: Any) -> Any:
        return value if die(rng) < 3 else 1 - value

    proof = prove(loaded, PureDP(0.0), Value(values=[0, 1]))
    assert proof.proved and proof.bound == 0
    check_certificate(json.loads(json.dumps(proof.certificate)))


def test_what_a_sampler_draws_has_the_law_that_is_computed() -> None:
    rng = np.random.default_rng(18)
    drawn = Counter(SOUND(rng, 2) for _ in range(20_000))
    total = sum(math.exp(-abs(k) / 2) for k in range(-60, 61))
    for k in (
        -1,
        0,
        1,
        2,
    ):  # five standard deviations: fails with probability below 1e-5 on seeds, and never on this one
        assert drawn[k] / 20_000 == pytest.approx(math.exp(-abs(k) / 2) / total, abs=5 * 0.0034)


@pytest.mark.parametrize("scale", [1, pytest.param(2, marks=pytest.mark.proofs)])
def test_discrete_laplace_noise_by_rejection_is_proved_with_what_is_not_resolved_in_delta(scale: int) -> None:
    claim = ApproximateDP(1 / scale, 1e-9)
    proof = prove(noisy, claim, COUNT, parameters={"scale": scale})
    assert proof.proved and proof.rule == "masses", proof.reason
    check_certificate(json.loads(json.dumps(proof.certificate)))
    too_small = prove(noisy, ApproximateDP(0.98 / scale, 1e-9), COUNT, parameters={"scale": scale})
    assert not too_small.proved


def test_its_faulty_twin_is_not_proved() -> None:
    proof = prove(zero_is_too_likely, ApproximateDP(1.0, 1e-9), COUNT, parameters={"scale": 1})
    assert not proof.proved and proof.certificate is None
    assert prove(zero_is_too_likely, ApproximateDP(1.7, 1e-9), COUNT, parameters={"scale": 1}).proved  # 1 + ln 2


def test_what_is_not_resolved_is_no_part_of_a_pure_proof() -> None:
    proof = prove(noisy, PureDP(2.0), COUNT, parameters={"scale": 1})
    assert not proof.proved and "unresolved" in str(proof.reason)


def test_noise_that_is_shifted_is_not_proved_beside_what_is_not_resolved() -> None:
    def both(x: Any, rng: Any) -> Any:
        return [x[0] + rng.laplace(0, 1), bernoulli_exp(rng, 1, 2)]

    proof = prove(both, PureDP(1.0), COUNT)
    assert not proof.proved and "unresolved" in str(proof.reason)


def test_an_attempt_that_knows_the_data_is_not_taken_for_another() -> None:
    """A function in a function sees what is around it, so that each is a sampler of its own."""

    def leaks(value: int, rng: Any) -> Any:
        @retrying
        def attempt(inner: Any) -> Any:
            return value if inner.integers(4) < 3 else RETRY

        return attempt(rng)

    assert not prove(leaks, PureDP(5.0), Value(values=[0, 1])).proved


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda rng: RETRY, "never returns anything"),
        (lambda rng: rng.laplace(0, 1), "a value other than finite draws"),
        (lambda rng: 1 if rng.laplace(0, 1) > 0 else 0, "a value other than finite draws"),
        (lambda rng: [rng.integers(2)], "a value other than finite draws"),
    ],
)
def test_what_cannot_be_enumerated_is_said(attempt: Any, words: str) -> None:
    sampler = retrying(attempt)
    proof = prove(lambda value, rng: sampler(rng), PureDP(1.0), Value(values=[0, 1]))
    assert not proof.proved and words in str(proof.reason)


def test_a_loop_without_end_that_is_no_sampler_ends_with_the_time() -> None:
    def endless(value: int, rng: Any) -> Any:
        while rng.random() < 0.5:
            pass
        return value

    proof = prove(endless, PureDP(1.0), Value(values=[0, 1]), seconds=1)
    assert not proof.proved and "the time for a proof is up" in str(proof.reason)


def test_missing_mass_counts_once_for_delta() -> None:
    """With probability 1/8 nothing is known: 1/8 is missing, and is δ."""
    from auditor.proofs.masses import delta_above
    from auditor.proofs.run import Masses

    law = (Masses((-1,), {("a",): Fraction(7, 8)}),)
    assert abs(delta_above(law, law, Fraction(0)) - Fraction(1, 8)) < Fraction(1, 10**50)  # type: ignore[operator]


def test_a_mechanism_with_such_a_sampler_is_audited_like_any_other() -> None:
    result = auditor.audit(
        noisy, PureDP(1.0), COUNT, parameters={"scale": 1}, samples=4_000, seed=1, workers=1, search=0
    )
    assert result.verdict == "no_violation_found"
