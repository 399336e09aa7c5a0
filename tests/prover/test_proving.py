"""What is proved, for which specimens, and what a failed proof reports."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dp_prover
from auditor import GaussianDP, PureDP, Records, RenyiDP, Totals, Value, ZeroConcentratedDP
from auditor.claims import ApproximateDP, Claim, PrivacyProfile
from auditor.prover import Scope
from dp_prover import prove
from dp_prover.certificates.checker.check import check_certificate
from mechanisms import (
    additive,
    classics,
    group_counts,
    local_model,
    mean,
    noisy_max,
    rappor,
    ratio,
    shifted_inverse,
    sparse_vector,
)


def cells(count: int, **contribution: float) -> Any:
    return Totals(cells=count, values=(-10, 10), contribution=contribution)


RATIO = Totals(contributions=[[1, 1], [0, 1]], people=(0, 2000))
SUBSTITUTED = Totals(contributions=[[1, 1], [0, 1]], people=(0, 2000), relation="substitute")
SVT = {"epsilon": 1.0, "threshold": 1, "cutoff": 1}
Case = tuple[Any, Claim, Any, dict[str, Any]]
# Bounds are sharp unless a second number is given, which is the proved bound.
PROVED: dict[str, Case] = {
    "Laplace": (additive.laplace, PureDP(0.1), cells(1, l1=1), {"sensitivity": 1, "epsilon": 0.1}),
    "discrete Laplace": (
        additive.discrete_laplace_totals,
        PureDP(0.5),
        cells(2, l1=1),
        {"sensitivity": 1, "epsilon": 0.5},
    ),
    "histogram": (classics.noisy_histogram, PureDP(0.1), cells(5, l1=1), {"epsilon": 0.1}),
    "Laplace in parallel": (classics.laplace_parallel, PureDP(0.1), cells(1, l1=1), {"epsilon": 0.1, "times": 20}),
    "prefix sums": (classics.prefix_sums, PureDP(0.1), cells(5, l1=1), {"epsilon": 0.1}),
    "naive ratio": (ratio.naive, PureDP(1.0), RATIO, {"epsilon": 1.0}),
    "KSW": (ratio.ksw, PureDP(1.0), RATIO, {"epsilon": 1.0}),
    "KSW, substituted": (ratio.ksw, PureDP(1.0), SUBSTITUTED, {"epsilon": 1.0, "scale_factor": 2.0}),
    "k-RR": (local_model.kary_randomised_response, PureDP(1.0), Value(values=[0, 1, 2, 3]), {"k": 4, "epsilon": 1.0}),
    "basic RAPPOR": (local_model.basic_rappor, PureDP(1.0), Value(values=[0, 1, 2, 3]), {"k": 4, "epsilon": 1.0}),
    "RAPPOR": (
        rappor.rappor,
        PureDP(0.4002),
        Value(range=[-2, 2]),
        {"bits": 20, "hashes": 4, "f": 0.75, "p": 0.45, "q": 0.55},
    ),
    "noisy max": (noisy_max.index_with_laplace, PureDP(0.1), cells(4, linf=1), {"epsilon": 0.1}),
    "noisy max, exponential": (noisy_max.index_with_exponential, PureDP(0.1), cells(4, linf=1), {"epsilon": 0.1}),
    "sparse vector 1": (sparse_vector.svt_1, PureDP(1.0), cells(5, linf=1), SVT),
    "sparse vector 2": (sparse_vector.svt_2, PureDP(1.0), cells(5, linf=1), SVT),
    "numerical sparse vector": (sparse_vector.numerical_svt, PureDP(1.0), cells(4, linf=1), SVT),
    "truncated geometric": (
        classics.truncated_geometric,
        PureDP(0.1),
        Totals(cells=1, values=(0, 5), contribution={"l1": 1}),
        {"epsilon": 0.1, "n": 5},
    ),
    "Gaussian counts": (group_counts.gaussian_counts, ZeroConcentratedDP(0.5), cells(3, l1=1), {"rho": 0.5}),
    "two-stage Gaussian": (group_counts.algorithm_1, ZeroConcentratedDP(0.5), cells(2, l1=1), {"rho": 0.5, "r": 0.5}),
    "shifted inverse": (
        shifted_inverse.shifted_inverse_max,
        PureDP(0.457),
        Records((0, 2), integer=True, size=(0, 2)),
        {"low": 0, "high": 2, "epsilon": 1.0, "beta": 0.05},
    ),
}
NOT_PROVED: dict[str, Case] = {
    "histogram, scale ε": (classics.noisy_histogram_of_scale_epsilon, PureDP(0.1), cells(5, l1=1), {"epsilon": 0.1}),
    "Laplace, unshared": (
        classics.laplace_parallel_unshared,
        PureDP(0.1),
        cells(1, l1=1),
        {"epsilon": 0.1, "times": 20},
    ),
    "prefix sums, all move": (classics.prefix_sums, PureDP(0.1), cells(5, linf=1), {"epsilon": 0.1}),
    "KSW, substituted": (ratio.ksw, PureDP(1.0), SUBSTITUTED, {"epsilon": 1.0}),
    "truncated geometric, natural logarithm": (
        classics.truncated_geometric_natural_logarithm,
        PureDP(0.1),
        Totals(cells=1, values=(0, 5), contribution={"l1": 1}),
        {"epsilon": 0.1, "n": 5},
    ),
    "one-time RAPPOR": (
        rappor.one_time_rappor,
        PureDP(0.4004),
        Value(range=[-2, 2]),
        {"bits": 20, "hashes": 4, "f": 0.95},
    ),
    "noisy max, value": (noisy_max.value_with_laplace, PureDP(1.0), cells(3, linf=1), {"epsilon": 1.0}),
    "noisy max, value, exponential": (
        noisy_max.value_with_exponential,
        PureDP(1.0),
        cells(3, linf=1),
        {"epsilon": 1.0},
    ),
    "sparse vector 3": (sparse_vector.svt_3, PureDP(1.0), cells(4, linf=1), SVT),
    "sparse vector 4": (sparse_vector.svt_4, PureDP(1.0), cells(4, linf=1), SVT),
    "sparse vector 5": (sparse_vector.svt_5, PureDP(1.0), cells(4, linf=1), {"epsilon": 1.0, "threshold": 1}),
    "sparse vector 6": (sparse_vector.svt_6, PureDP(1.0), cells(4, linf=1), {"epsilon": 1.0, "threshold": 1}),
    "mean, records below −u": (
        mean.noisy_sum_over_noisy_count,
        PureDP(1.0),
        Records((-10.0, 1.0), size=(0, 3)),
        {"u": 1.0, "epsilon": 1.0},
    ),
    "mean at its local sensitivity": (
        mean.laplace_at_local_sensitivity,
        PureDP(1.0),
        Records((0.0, 1.0), size=(0, 3)),
        {"u": 1.0, "epsilon": 1.0},
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_a_sound_specimen_is_proved_and_its_certificate_holds(name: str) -> None:
    mechanism, claim, domain, parameters = PROVED[name]
    proof = prove(mechanism, claim, domain, parameters=parameters)
    assert proof.proved, proof.reason
    assert proof.scope is Scope.DOMAIN and proof.value is not None and proof.value <= claim.value * (1 + 1e-9)
    check_certificate(json.loads(json.dumps(proof.certificate)))


@pytest.mark.parametrize("name", NOT_PROVED)
def test_no_faulty_specimen_is_proved(name: str) -> None:
    mechanism, claim, domain, parameters = NOT_PROVED[name]
    proof = prove(mechanism, claim, domain, parameters=parameters)
    assert not proof.proved and (proof.certificate is None) == (proof.refutation is None)
    assert proof.pair is not None and proof.event is not None


def test_a_mean_of_records_is_proved_for_the_pairs_that_are_listed() -> None:
    domain = Records((0.0, 1.0), size=(0, 3))
    proof = prove(mean.noisy_sum_over_noisy_count, PureDP(1.0), domain, parameters={"u": 1.0, "epsilon": 1.0})
    assert proof.status == "proved_for_pairs" and not proof.proved
    assert proof.scope is Scope.PAIRS and proof.pairs == len(domain.corners())
    assert str(proof).startswith("proved for pairs: ") and str(proof).endswith(f"for {proof.pairs} pairs")
    check_certificate(json.loads(json.dumps(proof.certificate)))


def test_a_proof_has_no_truth_so_an_assertion_on_it_cannot_pass() -> None:
    proof = prove(mean.laplace_at_local_sensitivity, PureDP(1.0), [([0.0], [])], parameters={"u": 1.0, "epsilon": 1.0})
    with pytest.raises(TypeError, match=r"write `assert proof\.proved`"):
        assert proof


@pytest.mark.parametrize(
    ("claim", "bound"),
    [
        (GaussianDP(0.5), 0.5),
        (ZeroConcentratedDP(0.125), 0.125),
        (RenyiDP(order=2, epsilon=0.25), 0.25),
        (ApproximateDP(0.5, 0.12), None),
    ],
)
def test_gaussian_noise_is_proved_for_each_kind_of_claim(claim: Claim, bound: float | None) -> None:
    domain = Totals(cells=2, values=(0, 5), contribution={"l1": 1})
    proof = prove(lambda x, size, rng: x + rng.normal(0, 2, (size, 2)), claim, domain)
    assert proof.proved, proof.reason
    check_certificate(json.loads(json.dumps(proof.certificate)))
    assert bound is None or proof.value == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("claim", "holds"), [(ZeroConcentratedDP(0.5), True), (RenyiDP(2, 1.0), True), (GaussianDP(9), False)]
)
def test_pure_privacy_proves_what_it_implies(claim: Claim, holds: bool) -> None:
    proof = prove(lambda x, rng: x[0] + rng.laplace(0, 1), claim, cells(1, l1=1))
    assert proof.proved == holds
    if holds:
        check_certificate(json.loads(json.dumps(proof.certificate)))


def test_delta_of_a_finite_law_is_exact() -> None:
    """With probability 1/8 the bit is released, and otherwise nothing: δ = 1/8 at any ε."""

    def tell(bit: int, rng: Any) -> Any:
        return bit if rng.random() < 0.125 else None

    proof = prove(tell, ApproximateDP(0.0, 0.125), Value(values=[0, 1]))
    assert proof.proved and proof.bound == 0
    check_certificate(json.loads(json.dumps(proof.certificate)))
    assert not prove(tell, ApproximateDP(3.0, 0.1249), Value(values=[0, 1])).proved


def test_correlated_noise_is_given_its_exact_distance() -> None:
    """Two answers share one noise: A Σ Aᵀ is singular, and the answers' difference reveals the data unless it cannot move."""

    def shared(x: Any, rng: Any) -> Any:
        noise, more = rng.normal(0, 1), rng.normal(0, 1)
        return [x[0] + noise + more, x[0] + noise - more]

    proof = prove(shared, ZeroConcentratedDP(0.5), cells(1, l1=1))
    assert proof.proved and proof.bound == Fraction(1, 2)

    def leaks(x: Any, rng: Any) -> Any:
        noise = rng.normal(0, 1)
        return [x[0] + noise, 2 * noise]

    assert not prove(leaks, ZeroConcentratedDP(100.0), cells(1, l1=1)).proved


def test_a_loop_without_end_ends_with_the_time() -> None:
    def endless(value: int, rng: Any) -> Any:
        while rng.random() < 0.5:
            pass
        return value

    proof = prove(endless, PureDP(1.0), Value(values=[0, 1]), seconds=1)
    assert not proof.proved and "the time for a proof is up" in str(proof.reason)


def test_post_processing_costs_nothing() -> None:
    def count(x: Any, size: int, rng: Any) -> Any:
        noisy = x[0] + rng.laplace(0.0, 1.0, size)
        return np.clip(np.round(np.exp(noisy) / (1 + noisy**2), 3), 0, 1)

    assert prove(count, PureDP(1.0), cells(1, l1=1)).bound == 1


def test_data_are_refused_where_they_are_rounded_before_noise_is_added() -> None:
    proof = prove(lambda x, rng: np.round(x[0] / 3) * 3 + rng.laplace(0, 1), PureDP(1.0), cells(1, l1=1))
    assert not proof.proved and proof.reason is not None


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (lambda x, rng: x[0] + rng.gamma(1.0), "rng.gamma is not among the draws"),
        (lambda x, rng: math.exp(x[0]) + rng.laplace(), "may raise OverflowError; limit the number first"),
        (lambda x, rng: {x[0] + rng.laplace(0, 1)}, "is a key, or an item of a set"),
        (lambda x, rng: [rng.laplace(0, 1) > 0 for _ in range(40)], "paths"),
        (lambda x: x[0], "takes no generator"),
    ],
)
def test_what_cannot_be_followed_is_named(mechanism: Any, words: str) -> None:
    proof = prove(mechanism, PureDP(1.0), Totals(cells=1, values=(0, 10**9), contribution={"l1": 1}), seconds=1)
    assert not proof.proved and words in str(proof.reason)


def test_the_line_is_named() -> None:
    def compares(x: Any, rng: Any) -> Any:
        if x[0] > 3:
            return rng.laplace(0, 1)
        return None

    proof = prove(compares, PureDP(1.0), Totals(cells=1, values=(0, 10), contribution={"l1": 1}))
    assert not proof.proved and "test_proving.py, line " in str(proof.reason)


def test_a_claim_of_another_kind_has_no_rule() -> None:
    proof = prove(lambda x, rng: x[0] + rng.laplace(), PrivacyProfile([(1.0, 0.1)]), cells(1, l1=1))
    assert "no rule" in str(proof.reason)


def test_a_mechanism_is_found_by_name() -> None:
    proof = dp_prover.prove(
        "mechanisms.additive:laplace", PureDP(1.0), cells(1, l1=1), parameters={"sensitivity": 1, "epsilon": 1}
    )
    assert proof.proved and proof.mechanism == "mechanisms.additive:laplace"


def test_lists_of_pairs_are_proved_for_these() -> None:
    proof = prove(lambda x, rng: x + rng.laplace(0, 1), PureDP(1.0), [(0.0, 1.0), (3.0, 2.5)])
    assert proof.status == "proved_for_pairs" and proof.bound == 1 and proof.pairs == 2


def test_an_integer_of_many_outcomes_is_compared_exactly() -> None:
    """One of 3·10⁹ integers: each threshold cuts off exactly its share, whatever the comparison."""
    many = 3 * 10**9

    def answer(bit: int, rng: Any) -> Any:
        drawn = rng.integers(1, many, endpoint=True)
        return bit if drawn > many // 3 else 1 - bit

    proof = prove(answer, PureDP(math.log(2)), Value(values=[0, 1]))
    assert proof.proved and proof.value == pytest.approx(math.log(2), rel=1e-12)
    check_certificate(json.loads(json.dumps(proof.certificate)))


@pytest.mark.parametrize(
    ("compare", "share"),
    [
        (lambda drawn: drawn >= 3, Fraction(4998, 5000)),
        (lambda drawn: drawn < 3, Fraction(2, 5000)),
        (lambda drawn: drawn <= 2.5, Fraction(2, 5000)),
        (lambda drawn: drawn > 2, Fraction(4998, 5000)),
    ],
)
def test_each_comparison_of_such_an_integer_has_its_share(compare: Any, share: Fraction) -> None:
    """With that probability the answer is a coin, and otherwise the bit."""

    def answer(bit: int, rng: Any) -> Any:
        coin = rng.random() < 0.5
        return coin if compare(rng.integers(1, 5000, endpoint=True)) else bit == 1

    proof = prove(answer, PureDP(50.0), Value(values=[0, 1]))
    likely, rare = share / 2 + (1 - share), share / 2
    assert proof.value == pytest.approx(math.log(likely / rare), rel=1e-12)


def test_an_integer_of_many_outcomes_is_not_listed() -> None:
    proof = prove(lambda bit, rng: bit + rng.integers(10**9), PureDP(1.0), Value(values=[0, 1]))
    assert not proof.proved and "1,000,000,000 outcomes; these can only be compared with numbers" in str(proof.reason)


def test_outputs_that_show_different_numbers_of_the_data_are_never_paired() -> None:
    """Each of two outputs has two paths with the same noise, and no shift takes a path of one into the other."""

    def either(x: Any, rng: Any) -> Any:
        which, noise = rng.laplace(0, 1), rng.laplace(0, 2)
        if which > 1:
            return x[1] + noise
        if which > 0:
            return x[0] + noise
        return x[1] + noise if which > -1 else x[0] + noise

    proof = prove(either, PureDP(0.5), cells(2, linf=1))
    assert proof.proved and proof.bound == Fraction(1, 2)
    check_certificate(json.loads(json.dumps(proof.certificate)))
