"""Sound accountants are not refuted, and each faulty one is, from ranges and unaided."""

import math
import re
import time

import pytest
from stated_numbers import DELTA, FAULTY, GAUSSIAN, SIGMA, SOUND

from auditor.accountants import Accountant, audit_accountant
from auditor.exact import Gaussian, Process, epsilon_interval
from auditor.verdict import Verdict

# Settings of these take up to a second each.
SLOW = {"odometer": 20, "δ that falls": 40, "central limit": 40, "sampled Gaussian by Rényi": 40}


def names(accountant: Accountant) -> str:
    return accountant.name


@pytest.mark.parametrize("accountant", SOUND, ids=names)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_sound_one_is_not_refuted(accountant: Accountant, seed: int) -> None:
    result = audit_accountant(accountant, seed=seed, points=SLOW.get(accountant.name, 90), isolate=False, seconds=600)
    assert result.verdict is Verdict.NO_VIOLATION_FOUND, result
    assert result.coverage.share > 0.9
    assert {fact.kind for fact in result.facts} <= {"loose", "infinite"}


@pytest.mark.parametrize("accountant", FAULTY, ids=names)
def test_a_faulty_one_is_refuted(accountant: Accountant) -> None:
    result = audit_accountant(accountant, points=SLOW.get(accountant.name, 120), isolate=False, seconds=600)
    assert result.verdict is Verdict.VIOLATION, result
    for statement in (result.worst, result.simplest):
        assert statement is not None
        assert statement.stated < statement.low
        assert statement.ratio > 1
    assert result.worst is not None and result.simplest is not None
    assert result.simplest.ratio <= result.worst.ratio or math.isinf(result.worst.ratio)


def test_the_time_of_a_search_begins_with_the_first_answer() -> None:
    """An import may take longer than the search; then one setting was tried, and no violation found."""
    asked = list[float]()

    def stated(sigma: float, delta: float) -> float:
        asked.append(sigma)
        if len(asked) == 1:
            time.sleep(1.2)
        return 1e6

    accountant = Accountant("slow to start", "epsilon", stated, GAUSSIAN, {"sigma": SIGMA, "delta": DELTA})
    result = audit_accountant(accountant, points=20, seconds=1.0, isolate=False)
    assert result.coverage.tried >= 20


def test_a_number_just_below_the_exact_one_is_shown_with_the_digits_that_tell_them_apart() -> None:
    def stated(sigma: float, delta: float) -> float:
        return (1 - 1.5e-6) * epsilon_interval(Process(Gaussian(sigma)), delta).low

    accountant = Accountant("just below", "epsilon", stated, GAUSSIAN, {"sigma": SIGMA, "delta": DELTA})
    result = audit_accountant(accountant, points=20, isolate=False, seconds=600)
    assert result.verdict is Verdict.VIOLATION
    said = re.fullmatch(r"states ε = ([\d.]+), where it is at least ([\d.]+)", result.reason)
    assert said is not None, result.reason
    assert result.simplest is not None
    assert float(said[1]) < float(said[2]) <= result.simplest.low
