"""The study of document 001: its numbers again, by formulas and by other ways."""

import math

import numpy as np
import pytest

from mechanisms.exact.divergences import exact_delta
from mechanisms.propose_test_release import ptr_as_printed
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
