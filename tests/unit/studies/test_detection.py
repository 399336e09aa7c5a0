"""The study of the auditor: no bound exceeds the exact value, and sample sizes grow as theory predicts."""

import math

from studies.study import read

NUMBERS = read("detection")


def test_no_bound_of_a_committed_report_lies_above_the_truth() -> None:
    assert len(NUMBERS["reports"]) > 30
    for audit in NUMBERS["reports"]:
        assert audit["bound"] <= float(audit["exact"]) + 1e-9, audit["name"]


def test_smaller_faults_take_more_outputs() -> None:
    for name in {row["name"] for row in NUMBERS["detection"]}:
        rows = sorted((row for row in NUMBERS["detection"] if row["name"] == name), key=lambda row: row["share"])
        outputs = [row["outputs"] for row in rows]
        assert None not in outputs
        assert outputs == sorted(outputs, reverse=True)
        # From 10 % to 5 % by a factor of about four; with steps of √2 and only 8 runs, either size is known to a factor of two.
        assert 1 <= outputs[0] / outputs[1] <= 16


def test_noise_too_small_by_a_share_has_all_of_that_epsilon_on_the_pair() -> None:
    for row in NUMBERS["detection"]:
        if "exact" in row:
            assert math.isclose(row["exact"], 1 / (1 - row["share"]), rel_tol=1e-9)
