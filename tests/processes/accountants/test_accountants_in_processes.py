"""Accountants in processes of their own: crashes, hangs, state of modules, and names."""

import math
import os
import time
from pathlib import Path

import pytest
from stated_numbers import DELTA, GAUSSIAN, SIGMA, gaussian_epsilon

from auditor.accountants import Accountant, audit_accountant
from auditor.accountants.exact_numbers import exact_number
from auditor.accountants.exact_process import exact_within
from auditor.errors import InvalidInputError, MechanismError
from auditor.exact import Gaussian, Poisson, Process
from auditor.verdict import Verdict


def test_a_crash_and_a_hang_are_facts_and_the_rest_is_compared() -> None:
    def stated(sigma: float, delta: float) -> float:
        if sigma > 90:
            os._exit(3)
        if sigma < 0.15:
            time.sleep(3600)
        return 1e6 / sigma**2 + 100

    asked = Accountant("rough", "epsilon", stated, GAUSSIAN, {"sigma": SIGMA, "delta": DELTA})
    result = audit_accountant(asked, points=30, call_seconds=0.5)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    texts = [fact.text for fact in result.facts if fact.kind == "crashes or hangs"]
    assert any("ended with exit status 3" in text for text in texts)
    assert any("no answer within the time limit" in text for text in texts)
    assert 0 < result.coverage.share < 1


CACHED = """
from stated_numbers import gaussian_epsilon

known = {}


def stated(sigma, delta):
    return gaussian_epsilon(1 / known.setdefault("sigma", sigma), delta)


def process(sigma):
    from auditor.exact import Gaussian, Process

    return Process(Gaussian(sigma))
"""


def test_a_cache_is_found_with_the_call_that_fills_it(tmp_path: Path) -> None:
    (tmp_path / "cached.py").write_text(CACHED, encoding="utf-8")
    asked = Accountant(
        "cached",
        "epsilon",
        "cached.py:stated",
        "cached.py:process",
        {"sigma": SIGMA, "delta": DELTA},
        search_path=(str(tmp_path), str(Path(__file__).parents[2] / "helpers")),
    )
    result = audit_accountant(asked, points=40)
    assert result.verdict is Verdict.VIOLATION
    assert len(result.after) == 1
    assert result.simplest is not None
    assert result.after[0]["sigma"] > result.simplest.parameters["sigma"]  # type: ignore[operator]
    assert any("if it is asked first" in fact.text for fact in result.facts)


def test_the_same_numbers_as_in_this_process() -> None:
    asked = Accountant(
        "loose",
        "epsilon",
        lambda sigma, delta: 2 * gaussian_epsilon(1 / sigma, delta),
        GAUSSIAN,
        {"sigma": SIGMA, "delta": DELTA},
    )
    apart, here = (audit_accountant(asked, points=30, isolate=isolate) for isolate in (True, False))
    assert (apart.worst, apart.coverage) == (here.worst, here.coverage)


def test_what_cannot_be_imported_is_an_error() -> None:
    asked = Accountant("none", "epsilon", "no_such_module:stated", GAUSSIAN, {"sigma": SIGMA, "delta": DELTA})
    with pytest.raises(MechanismError, match="no_such_module"):
        audit_accountant(asked)


def test_a_module_that_ends_its_process_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import os\nos._exit(7)\n", encoding="utf-8")
    asked = Accountant(
        "ends", "epsilon", "ends.py:stated", GAUSSIAN, {"sigma": SIGMA, "delta": DELTA}, search_path=(str(tmp_path),)
    )
    with pytest.raises(MechanismError, match="exit status 7"):
        audit_accountant(asked)


def test_time_that_is_over_is_told() -> None:
    def stated(sigma: float, delta: float) -> float:
        time.sleep(0.05)
        return 2 * gaussian_epsilon(1 / sigma, delta)

    asked = Accountant("slow", "epsilon", stated, GAUSSIAN, {"sigma": SIGMA, "delta": DELTA})
    result = audit_accountant(asked, seconds=1.0)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND
    assert "the time was over before all settings were tried" in result.reason
    assert result.coverage.tried < 100


def test_an_exact_number_that_takes_long_is_bounded_as_a_call_is() -> None:
    """The power of a sampled step at 1e-6 takes ten seconds and more: then the interval holds all numbers, and decides nothing."""
    asked = Process(Gaussian(0.5), sampling=Poisson(1e-3), steps=1_000)
    began = time.monotonic()
    interval = exact_within(0.2, asked, "tradeoff", 1e-6, 0.01)
    assert (interval.low, interval.high) == (0.0, math.inf) and "not computed" in interval.how
    accountant = Accountant("slow to check", "tradeoff", lambda alpha: 0.5, lambda: asked, {"alpha": 1e-6})
    result = audit_accountant(accountant, points=1, call_seconds=0.2, seconds=5)
    assert result.verdict == "inconclusive" and result.coverage.undecided == 1
    assert time.monotonic() - began < 60


def test_an_exact_number_in_a_process_of_its_own_is_the_same_number() -> None:
    asked = Process(Gaussian(1.0), sampling=Poisson(0.1), steps=10)
    assert exact_within(30.0, asked, "epsilon", 1e-5, 0.01) == exact_number(asked, "epsilon", 1e-5, 0.01)
    assert exact_within(30.0, Process(Gaussian(1.0)), "epsilon", 0.0, 0.01).low == math.inf
    with pytest.raises(InvalidInputError, match="delta"):
        exact_within(30.0, asked, "epsilon", 2.0, 0.01)
