"""The study of document 001: its numbers, recomputed by formulas and by independent methods."""

import math

import numpy as np
import pytest

from mechanisms.exact.divergences import exact_delta
from mechanisms.propose_test_release import ptr_as_printed
from studies.mean import numbers as study
from studies.study import read, truth_of

NUMBERS = read("mean")
CASES = {case["name"]: case for case in NUMBERS["profiles"]}


def test_every_sampled_bound_lies_below_the_profile() -> None:
    for case in CASES.values():
        for kind in ("printed", "corrected"):
            if kind in case:
                for bound in case[kind]["sampled"]:
                    delta = np.interp(bound["epsilon"], case["epsilon"], case[kind]["delta"])
                    assert bound["delta"] <= delta + 1e-3


def test_corrected_mechanisms_keep_their_claim_and_printed_ones_do_not() -> None:
    for name, case in CASES.items():
        if "corrected" in case:
            assert case["corrected"]["at_claim"] <= case["claimed_delta"] + 1e-12
            assert case["printed"]["at_claim"] > 2 * case["claimed_delta"], name


def test_the_profile_is_that_of_its_pair() -> None:
    case = CASES["propose-test-release"]
    assert case["printed"]["pair"] == "[0.0 × 101] and [0.0 × 101, 1.0]"
    sides = [np.zeros(101), np.append(np.zeros(101), 1.0)]
    left, right = truth_of(ptr_as_printed, *sides, u=1.0, b=0.01, epsilon=1.0, delta=1e-3)
    assert case["printed"]["at_claim"] == pytest.approx(exact_delta(left, right, 1.0).value, rel=1e-8)


def test_the_documents_printed_numbers_are_those_of_32_563_rows() -> None:
    assert math.isclose(200 / 32_564, 0.006141751627564181, rel_tol=1e-14)
    assert math.isclose(math.log(2 * 32_563**2) / 2, 10.737505543744179, rel_tol=1e-14)


def test_accidents_pass_the_printed_test_as_often_as_the_closed_form_says() -> None:
    for point in NUMBERS["propose_test_release"]["points"]:
        assert point["exact"] == pytest.approx(math.sqrt(point["delta"] / 2) / 2, rel=1e-9)
        assert point["exact"] / point["delta"] == pytest.approx(1 / (2 * math.sqrt(2 * point["delta"])), rel=1e-9)
        assert point["sampled"] <= point["exact"]
        assert point["corrected"] == pytest.approx(point["delta"], rel=1e-6)
    document = NUMBERS["propose_test_release"]["document"]
    assert document["factor"] == pytest.approx(1 / (2 * math.sqrt(2 * document["delta"])), rel=1e-9)


def test_errors_of_laplace_noise_are_those_of_its_scale() -> None:
    """E|Lap(s)| = s; the mean by propose-test-release has s = b/ε, or 2b/ε as corrected."""
    for name, scale in (("printed", study.B), ("corrected", 2 * study.B)):
        entry = NUMBERS["errors"]["summaries"][f"propose-test-release, {name}"]
        expected = 100 * scale / NUMBERS["mean"]
        assert abs(entry["mean"] - expected) < 5.5 * entry["standard_error"]


def test_the_largest_smoothed_sensitivity_is_at_an_end() -> None:
    smooth = NUMBERS["smooth"]
    assert smooth["final_corrected"] == pytest.approx(2 * study.U / study.ROWS, rel=1e-9)
    assert smooth["final_printed"] == pytest.approx(2 * study.U / (study.ROWS + 1), rel=1e-9)
    cliff = dict(zip(smooth["cliff"]["n"], smooth["cliff"]["printed"], strict=True))
    assert cliff[200] / cliff[199] == pytest.approx(0.5, abs=0.01)
