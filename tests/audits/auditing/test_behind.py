"""What hides behind a violation by an exception, a kind of output or a single value."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing.consistent import read_report
from auditor.auditing.flow import run
from auditor.auditing.plan import Plan, Progress, Settings, journalled
from auditor.auditing.tuning import TUNING
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.sampling import Execution
from auditor.blackbox.store import Store
from auditor.errors import InvalidInputError
from auditor.report.ci import to_junit
from auditor.report.html import to_html
from auditor.report.phrases import finding
from auditor.results.files import to_json
from auditor.results.result import RunResult

PEOPLE = auditor.Records((0.0, 1.0), size=(0, 10))
_SOMEBODY = auditor.Records((0.0, 1.0), size=(1, 10))
OPTIONS: dict[str, Any] = {"samples": 40_000, "seed": 3, "workers": 1, "isolate": False, "planted": 0}


def _sum(scale: float, first: Any) -> Any:
    """Return a noisy sum that does something else, ``first``, for nobody."""

    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        return (np.sum(data) + rng.laplace(0, scale, size)).tolist() if len(data) else first(size)

    return release


def _raises(size: int) -> Any:
    raise ValueError("nobody is there")


FIRST = {
    "an exception": _raises,
    "a kind": lambda size: [None] * size,
    "a single value": lambda size: [0.0] * size,
}


@pytest.mark.parametrize("first", FIRST)
def test_noise_that_is_too_small_is_found_behind(first: str) -> None:
    result = auditor.audit(_sum(0.5, FIRST[first]), auditor.PureDP(1.0), PEOPLE, **OPTIONS)
    assert result.verdict == "violation"
    [further] = result.further
    assert all(len(side) > 0 for side in (further.pair.left, further.pair.right)), (
        "a pair on which the first does not show"
    )
    assert 1 < further.bound.value < 2, "above the claim, and below the true loss, which is 2"
    assert result.outputs.further > 0
    assert "A further fault" in finding(result)


@pytest.mark.parametrize("first", FIRST)
def test_behind_the_only_fault_nothing_is_found(first: str) -> None:
    # The probability of a false further fault is at most 1e-6.
    options = {**OPTIONS, "confidence": 1 - 1e-6}
    result = auditor.audit(_sum(1.0, FIRST[first]), auditor.PureDP(1.0), PEOPLE, **options)
    assert (result.verdict, result.further) == ("violation", ())
    assert 0 < result.outputs.further < 3 * TUNING.of_behind * OPTIONS["samples"]
    assert "further" not in result.to_dict()


def test_behind_a_violation_by_numbers_a_few_pairs_are_looked_at_and_a_pass_costs_nothing() -> None:
    few = TUNING.looked_behind * TUNING.first_look
    for scale, verdict, outputs in ((0.5, "violation", few), (1.0, "no_violation_found", 0)):
        result = auditor.audit(_sum(scale, _raises), auditor.PureDP(1.0), _SOMEBODY, **OPTIONS)
        assert (result.verdict, result.further) == (verdict, ())
        assert outputs / 2 <= result.outputs.further <= outputs


def test_one_exception_behind_another_is_reported() -> None:
    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        if len(data) == 0:
            raise ValueError("nobody is there")
        if np.sum(data) > 9:
            raise KeyError("too much is there")
        return np.sum(data) + rng.laplace(0, 1, size)

    result = auditor.audit(release, auditor.PureDP(1.0), PEOPLE, **OPTIONS)
    [further] = result.further
    first, second = finding(replace(result, further=(), smallest=None)), further.event.description
    assert {"ValueError" in first, "KeyError" in first} == {True, False}
    assert ("KeyError" if "ValueError" in first else "ValueError") in f"{second} {finding(result)}".removeprefix(first)


@pytest.mark.parametrize("seed", range(6))
def test_an_exception_is_reported_besides_noise_that_refuted_the_claim_first(seed: int) -> None:
    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        if 0.0 in data:
            raise ZeroDivisionError
        return np.sum(data) + rng.laplace(0, 0.5, size)

    domain = auditor.Records((-1.0, 1.0), size=(0, 10))
    result = auditor.audit(release, auditor.PureDP(1.0), domain, **{**OPTIONS, "seed": seed})
    events: list[Any] = [result.event, *(fault.event for fault in result.further)]
    said = [f"{event.description} {event.opposite}" for event in events]
    assert any("output ≤" in words or "output >" in words for words in said), said
    assert any("ZeroDivisionError" in words or "collection" in words for words in said), said


def test_shrink_false_looks_behind_nothing() -> None:
    result = auditor.audit(_sum(0.5, _raises), auditor.PureDP(1.0), PEOPLE, **OPTIONS, shrink=False)
    assert (result.verdict, result.further, result.outputs.further) == ("violation", (), 0)


def test_every_form_of_a_report_shows_it_and_reads_it_back(tmp_path: Path) -> None:
    result = auditor.audit(_sum(0.5, _raises), auditor.PureDP(1.0), PEOPLE, **OPTIONS)
    run = RunResult("some", 0.999, [result], 1.0)
    (tmp_path / "report.json").write_text(to_json(run.to_dict()), encoding="utf-8")
    read = read_report(tmp_path / "report.json")
    assert to_json(read.to_dict()) == to_json(run.to_dict())
    assert [fault.event for fault in read.audits[0].further] == [fault.event for fault in result.further]
    for text in (str(result), to_junit(read), to_html(read)):
        assert "A further fault" in text


def test_a_run_that_is_interrupted_behind_the_first_fault_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    execution = Execution(workers=1, isolate=False)
    source = PythonSource("some", function=_sum(0.5, _raises))
    plan = Plan("some", source, auditor.PureDP(1.0), PEOPLE, 0.001, Settings(40_000, seed=3, execution=execution))
    events: list[Progress] = []
    whole = run(plan, events.append)
    assert whole.further
    assert whole.outputs.further > whole.outputs.total / 2
    for ends in (len(events) * 2 // 3, len(events) - 2):
        seen = 0

        def interrupt(progress: Progress, ends: int = ends) -> None:
            nonlocal seen
            seen += 1
            if seen > ends:
                raise InvalidInputError("interrupted")

        journal = Store(tmp_path / f"{ends}.sqlite")
        with contextlib.closing(journal):
            journal.begin({"version": "1"}, resume=False)
            with pytest.raises(InvalidInputError, match="interrupted"):
                run(journalled(plan, journal), interrupt)
            again = run(journalled(plan, journal))
        assert to_json(again.to_dict()) == to_json(whole.to_dict())
