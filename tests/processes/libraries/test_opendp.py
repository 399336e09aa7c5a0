"""OpenDP measurements without any configuration: correct ones pass, those whose scale is too small do not.

Audits draw from OpenDP's own entropy. A correct measurement raises a false alarm with probability below 1e-9, and there are fewer
than a hundred. A violation loses at least twice its claim, and is missed with probability below 1e-6.
"""

import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import library
from pages import does_what_it_shows

import auditor
from auditor.auditing import planned
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import adapt
from auditor.libraries.opendp import COMPOSED_CALLS, Releases, from_opendp

dp = library("opendp.prelude", "opendp")
dp.enable_features("contrib", "honest-but-curious")

QUICK: dict[str, Any] = {
    "samples": 4000,
    "search": 2000,
    "workers": 1,
    "isolate": False,
    "seed": 1,
    "confidence": 1 - 1e-9,
}

REALS = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
INTEGERS = dp.atom_domain(T=int), dp.absolute_distance(T=int)
RECORDS = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
SIZED = dp.vector_domain(dp.atom_domain(bounds=(0.0, 10.0), nan=False), size=5), dp.symmetric_distance()
SCORES = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
TEXTS = dp.vector_domain(dp.atom_domain(T=str))
COUNTS = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
BY_KEY_L1, BY_KEY_L2 = (make(dp.absolute_distance(T=int)) for make in (dp.l01inf_distance, dp.l02inf_distance))
CONCENTRATED = dp.zero_concentrated_divergence()


def gaussian(scale: float) -> Any:
    return dp.m.make_gaussian(*REALS, scale=scale)


# Each with the claim and the neighbours that its adapter should derive.
MEASUREMENTS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "Laplace": (
        lambda: dp.m.make_laplace(*REALS, scale=1.0),
        "ε = 1",
        "one number from -100 to 100; two at most 1 apart",
    ),
    "Laplace, integers": (lambda: dp.m.make_laplace(*INTEGERS, scale=1.0), "ε = 1", "one integer from"),
    "Laplace, a vector": (
        lambda: dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int), size=3), dp.l1_distance(T=int), scale=1.0),
        "ε = 1",
        "3 integers from -100 to 100, which one person moves by at most 1 in L1",
    ),
    "Gauss": (lambda: gaussian(1.0), "ρ = 0.5", "one number"),
    "Gauss, a vector": (
        lambda: dp.m.make_gaussian(dp.vector_domain(REALS[0], size=4), dp.l2_distance(T=float), scale=1.0),
        "ρ = 0.5",
        "4 numbers from -100 to 100, which one person moves by at most 1 in L2",
    ),
    "geometric": (lambda: dp.m.make_geometric(*INTEGERS, scale=1.0, bounds=(0, 10)), "ε = 1", "one integer"),
    "canonical": (
        lambda: dp.m.make_canonical_noise(*REALS, d_in=1.0, d_out=(1.0, 0.01)),
        "ε = 1, δ = 0.01",
        "one number",
    ),
    "noise": (lambda: dp.m.make_noise(*REALS, dp.max_divergence(), scale=1.0), "ε = 1", "one number"),
    "Laplace threshold": (
        lambda: dp.m.make_laplace_threshold(COUNTS, BY_KEY_L1, scale=1.0, threshold=10),
        "ε = 1, δ = 3.319e-05",
        "totals by 3 keys, integers from 0 to 100, of which one person moves 1 by at most 1",
    ),
    # With a threshold of 10 a short search may end on a pair that shows a key once in thousands of outputs.
    "Gaussian threshold": (
        lambda: dp.m.make_gaussian_threshold(COUNTS, BY_KEY_L2, scale=1.0, threshold=4),
        "profile (1.65598, 0.10135)",
        "totals by 3 keys",
    ),
    "noise threshold": (
        lambda: dp.m.make_noise_threshold(
            COUNTS, BY_KEY_L1, dp.approximate(dp.max_divergence()), scale=1.0, threshold=10
        ),
        "ε = 1, δ",
        "totals by 3 keys",
    ),
    "noisy maximum": (
        lambda: dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=1.0),
        "ε = 2",
        "3 integers from -100 to 100, which one person moves by at most 1 in the maximum norm",
    ),
    "noisy maximum, concentrated": (
        lambda: dp.m.make_noisy_max(*SCORES, CONCENTRATED, scale=1.0),
        "ρ = 0.5",
        "3 integers",
    ),
    "noisy top two": (
        lambda: dp.m.make_noisy_top_k(*SCORES, dp.max_divergence(), k=2, scale=1.0),
        "ε = 4",
        "3 integers",
    ),
    "quantile": (
        lambda: dp.m.make_private_quantile(*RECORDS, dp.max_divergence(), candidates=[0, 5, 10], alpha=0.5, scale=1.0),
        "ε = 1",
        "0 to 20 records (integers from -100 to 100)",
    ),
    "randomised response": (
        lambda: dp.m.make_randomized_response(["a", "b", "c"], 0.6),
        "ε = 1.09861",
        "one value of 4; any two are neighbours",
    ),
    "randomised response, bool": (lambda: dp.m.make_randomized_response_bool(0.75), "ε = 1.09861", "one value of 2"),
    "randomised response, bits": (
        lambda: dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.9),
        "ε = 0.401341",
        "one value of 9; any two are neighbours",
    ),
    "count": (lambda: RECORDS >> dp.t.then_count() >> dp.m.then_laplace(1.0), "ε = 1", "0 to 20 records"),
    "sized mean": (
        lambda: SIZED >> dp.t.then_mean() >> dp.m.then_gaussian(2.0),
        "ρ = 0.5",
        "5 to 5 records (numbers from 0 to 10)",
    ),
    "fixed delta": (
        lambda: dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian(2.0)), 0.01),
        "ε = 1.12893, δ = 0.01",
        "one number",
    ),
    "smoothed": (lambda: dp.c.make_zCDP_to_approxDP(gaussian(2.0)), "profile (0.515174, 0.1)", "one number"),
}
every_measurement = pytest.mark.parametrize(("make", "claim", "neighbours"), MEASUREMENTS.values(), ids=MEASUREMENTS)
# OpenDP 0.16 cannot write these as JSON.
NOT_WRITTEN = {"Laplace threshold", "Gaussian threshold"}


@every_measurement
def test_claim_and_neighbours_are_those_of_the_measurement(
    make: Callable[[], Any], claim: str, neighbours: str
) -> None:
    plan = planned(make(), None, None)
    assert str(plan.claim).startswith(claim)
    assert str(plan.neighbours).startswith(neighbours)


@every_measurement
def test_a_right_measurement_passes(make: Callable[[], Any], claim: str, neighbours: str) -> None:
    result = auditor.audit(make(), **QUICK)
    assert result.verdict == "no_violation_found", str(result)
    assert result.bound is not None


# The same constructors, under the claim of a measurement with less noise.
WRONG: dict[str, tuple[Callable[[float], Any], float]] = {
    "Laplace": (lambda scale: dp.m.make_laplace(*REALS, scale=scale), 0.3),
    "Gauss": (gaussian, 0.3),
    "Gauss, a vector": (
        lambda scale: dp.m.make_gaussian(dp.vector_domain(REALS[0], size=4), dp.l2_distance(T=float), scale=scale),
        0.3,
    ),
    "threshold": (lambda scale: dp.m.make_laplace_threshold(COUNTS, BY_KEY_L1, scale=scale, threshold=10), 0.3),
    "noisy maximum": (lambda scale: dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=scale), 0.2),
    "count": (lambda scale: RECORDS >> dp.t.then_count() >> dp.m.then_laplace(scale), 0.3),
    "sized mean": (lambda scale: SIZED >> dp.t.then_mean() >> dp.m.then_gaussian(2 * scale), 0.3),
}


@pytest.mark.parametrize(("make", "scale"), WRONG.values(), ids=WRONG)
def test_too_small_a_scale_is_a_violation(make: Callable[[float], Any], scale: float) -> None:
    right = adapt(make(1.0), {})
    assert right is not None
    assert auditor.audit(make(scale), right.claim, **QUICK).verdict == "violation"


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_a_measurement_travels_as_the_json_of_opendp(name: str) -> None:
    adapted = from_opendp(MEASUREMENTS[name][0]())
    if name in NOT_WRITTEN:
        with pytest.raises(pickle.PicklingError, match="does not handle"):
            pickle.dumps(adapted.mechanism)
        return
    again = pickle.loads(pickle.dumps(adapted.mechanism))
    assert isinstance(again, Releases)
    assert str(from_opendp(again.wrapped).claim) == str(adapted.claim)


def test_workers_have_the_measurement() -> None:
    options = QUICK | {"workers": 2, "isolate": True}
    make, _ = WRONG["count"]
    assert auditor.audit(make(1.0), **options).verdict == "no_violation_found"
    assert auditor.audit(make(0.3), auditor.PureDP(1.0), **options).verdict == "violation"


@every_measurement
def test_many_outputs_a_call_are_as_many_and_of_the_same_kind(
    make: Callable[[], Any], claim: str, neighbours: str
) -> None:
    release, pair = Releases(make()), planned(make(), None, None).domain.corners()[0]
    outputs = release(pair.left, 2 * COMPOSED_CALLS + 3)
    assert len(outputs) == 2 * COMPOSED_CALLS + 3
    assert {type(output) for output in outputs} == {type(release(pair.left, 1)[0])}


def test_outputs_of_one_call_are_independent() -> None:
    """For 3,000 pairs of adjacent outputs, and of outputs COMPOSED_CALLS apart, the correlation is below 0.1, or 5.5
    standard errors."""
    outputs = np.array(Releases(dp.m.make_laplace(*REALS, scale=1.0))(0.0, 3000 + COMPOSED_CALLS))
    for apart in (1, COMPOSED_CALLS):
        assert abs(np.corrcoef(outputs[:3000], outputs[apart : 3000 + apart])[0, 1]) < 0.1


# --- Messages ---


@pytest.mark.parametrize(
    ("thing", "said", "claim", "neighbours"),
    [
        (dp.m.make_laplace(*REALS, scale=1.0), {"d_in": 2}, "ε = 2", "two at most 2 apart"),
        (dp.m.make_laplace(*REALS, scale=1.0), {"range": (0, 1)}, "ε = 1", "one number from 0 to 1"),
        (dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=1.0), {"cells": 7}, "ε = 2", "7 integers"),
        (
            RECORDS >> dp.t.then_count() >> dp.m.then_laplace(1.0),
            {"d_in": 3, "size": (0, 9)},
            "ε = 3",
            "0 to 9 records",
        ),
        (SIZED >> dp.t.then_mean() >> dp.m.then_laplace(2.0), {"d_in": 4}, "ε = 2", "up to 2 changes apart"),
        (dp.m.make_randomized_response(["a", "b"], 0.6), {"choices": ["x", "y"]}, "ε = 0.405465", "one value of 3"),
    ],
)
def test_keywords_say_what_the_object_does_not(thing: Any, said: dict[str, Any], claim: str, neighbours: str) -> None:
    plan = planned(thing, None, None, parameters=said)
    assert str(plan.claim) == claim
    assert neighbours in str(plan.neighbours)
    assert not any(f"{key} = " in text for key in said for text in plan.assumptions)


def test_the_report_names_what_was_chosen() -> None:
    plan = planned(dp.m.make_laplace(*REALS, scale=1.0), None, None)
    [text] = plan.assumptions
    assert re.search(r"d_in = 1, range = \(-100, 100\)", text)
    assert planned(dp.m.make_randomized_response_bool(0.75), None, None).assumptions == ()


def test_a_sized_data_set_exchanges_a_record_which_counts_twice() -> None:
    measurement = SIZED >> dp.t.then_mean() >> dp.m.then_laplace(2.0)
    assert measurement.map(1) < 1e-9
    adapted = from_opendp(measurement)
    assert adapted.neighbours is not None
    assert {len(side) for pair in adapted.neighbours.corners() for side in (pair.left, pair.right)} == {5}
    assert adapted.claim == auditor.PureDP(measurement.map(2))
    with pytest.raises(InvalidInputError, match=r"d_in is 1; for .* an integer of at least 2"):
        from_opendp(measurement, d_in=1)


def test_the_transformations_sensitivity_is_its_map() -> None:
    total = RECORDS >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum()
    assert from_opendp(total).claim == auditor.Sensitivity(10.0)
    result = auditor.audit(total, workers=1, isolate=False)
    assert (result.verdict, result.bound and result.bound.value) == ("no_violation_found", 10.0)
    assert auditor.audit(total, auditor.Sensitivity(9.0), workers=1, isolate=False).verdict == "violation"


TRANSFORMATIONS: dict[str, tuple[Callable[[], Any], auditor.Sensitivity]] = {
    "clamp": (lambda: RECORDS >> dp.t.then_clamp((0, 10)), auditor.Sensitivity(1)),
    "ordered": (lambda: dp.t.make_ordered_random(*RECORDS), auditor.Sensitivity(1)),
    "a record is changed": (
        lambda: dp.t.make_metric_unbounded(SIZED[0], dp.change_one_distance()),
        auditor.Sensitivity(2),
    ),
    "a record is exchanged": (lambda: dp.t.make_metric_bounded(*SIZED), auditor.Sensitivity(2)),
    "count": (lambda: dp.t.make_count(*RECORDS), auditor.Sensitivity(1)),
    "count by category": (
        lambda: dp.t.make_count_by_categories(TEXTS, dp.symmetric_distance(), ["a", "b"], MO=dp.L2Distance[float]),
        auditor.Sensitivity(1, "l2"),
    ),
    "count by key": (lambda: dp.t.make_count_by(TEXTS, dp.symmetric_distance()), auditor.Sensitivity(1)),
    "mean": (lambda: dp.t.make_mean(*SIZED), auditor.Sensitivity(2)),
    "variance": (lambda: dp.t.make_variance(*SIZED), auditor.Sensitivity(20)),
    "scores": (lambda: dp.t.make_quantile_score_candidates(*RECORDS, [0, 5, 10], 0.5), auditor.Sensitivity(1, "linf")),
}


@pytest.mark.parametrize(("make", "claim"), TRANSFORMATIONS.values(), ids=TRANSFORMATIONS)
def test_a_transformation_moves_as_far_as_its_map_says(make: Callable[[], Any], claim: auditor.Sensitivity) -> None:
    result = auditor.audit(make(), workers=1, isolate=False)
    assert isinstance(result.claim, auditor.Sensitivity)
    assert (result.claim.norm, result.verdict) == (claim.norm, "no_violation_found")
    assert result.claim.sensitivity == pytest.approx(claim.sensitivity)
    assert result.bound is not None
    assert result.bound.value == pytest.approx(claim.sensitivity)
    smaller = auditor.Sensitivity(claim.sensitivity * 0.9, claim.norm)
    assert auditor.audit(make(), smaller, workers=1, isolate=False).verdict == "violation"


@pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")
def test_the_lines_of_a_text_are_its_records() -> None:
    frame = dp.t.make_split_dataframe(separator=",", col_names=["k", "n"])
    count = frame >> dp.t.make_select_column(key="k", TOA=str) >> dp.t.then_count()
    plan = planned(count, None, None, parameters={"choices": ["a,1", "b"]})
    assert str(plan.neighbours).startswith("0 to 20 records (one of 2 choices)")
    assert from_opendp(count).mechanism(["a,1", "b", "a,1"]) == 3
    assert auditor.audit(count, workers=1, isolate=False).verdict == "no_violation_found"
    assert auditor.audit(count, auditor.Sensitivity(0.5), workers=1, isolate=False).verdict == "violation"


def test_a_query_of_the_context_has_the_claim_of_its_context() -> None:
    context = dp.Context.compositor(
        data=[1, 2, 3],
        privacy_unit=dp.unit_of(contributions=2),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
    )
    plan = planned(context.query().clamp((0, 10)).sum().laplace(), None, None)
    assert math.isclose(plan.claim.value, 0.5, rel_tol=1e-6)
    assert "up to 2 changes apart" in str(plan.neighbours)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (dp.atom_domain(T=int), "has no privacy map"),
        (
            dp.t.make_is_null(dp.t.make_cast(*RECORDS, TOA=str).output_domain, RECORDS[1]),
            "OpenDP does not say what an audit of",
        ),
        (
            dp.t.make_user_transformation(RECORDS[0], dp.user_distance("own"), *INTEGERS, len, lambda d_in: d_in),
            "is not supported",
        ),
        (
            dp.m.make_laplace(*REALS, scale=1.0).input_metric,
            "has no privacy map",
        ),
    ],
)
def test_what_has_no_counterpart_is_refused(thing: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        from_opendp(thing)


def test_the_page_on_objects_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This runs the page's blocks that need OpenDP, which the test of all pages leaves out."""
    does_what_it_shows("docs/how-to/object", tmp_path, monkeypatch, by="tests/processes/libraries/test_opendp.py")
