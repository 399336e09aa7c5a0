"""Further violations, each outside of the events of those before: which are found, which are not, and how often one is false."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import auditor
from auditor.auditing.draw import Draw
from auditor.blackbox.canonical import from_list
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, CountsOutside, GuessCounts
from auditor.claims import ApproximateDP, PureDP
from auditor.cli import main
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.event import Event
from auditor.events.features import Place
from auditor.events.left_out import EarlierEvent, Outside, count_in_each, without
from auditor.methods.guessing import Guesses
from auditor.methods.guessing_outside import EventOutside, GuessesOutside
from auditor.results.reader import read_report
from auditor.results.recount import as_read
from auditor.results.result import RunResult

Rng = np.random.Generator
PEOPLE = auditor.Records((0, 9), integer=True, size=(0, 3))
OPTIONS: dict[str, Any] = {"workers": 1, "isolate": False, "shrink": False, "planted": 0}
# Numbers up to 1, known from an earlier violation.
LOW = EarlierEvent(Place("output"), Cells((1.0,), (LEFT, ABSTAIN), {}), LEFT)


def three_faults(records: Any, size: int, rng: Rng) -> Any:
    """An error without records, little noise with a 7, and NaN with a 3."""
    if not len(records):
        raise ValueError("no records")
    noise = rng.laplace(0, 0.3 if 7 in records else 1.0, size)
    return np.where(3 in records, np.nan, (7 in records) + noise)


def refuses_nobody(records: Any, size: int, rng: Rng) -> Any:
    """Exactly at the claim of ε = 1, but for an empty data set."""
    if not len(records):
        raise ValueError("no records")
    return len(records) + rng.laplace(size=size)


def texts(*values: Any) -> Any:
    return from_list(list(values))


def test_an_event_outside_of_earlier_ones_never_holds_their_outputs() -> None:
    always_left = Event(Place("output"), Cells((), (LEFT,), {}, LEFT))
    test = EventOutside.of(always_left, (LOW,))
    sample = Sample(texts(0.5, 2.0, "a", None), texts(1.0, -3.0, 5.0))
    assert test.count(sample) == CountsOutside(
        GuessCounts(Counts(3, 4, 1, 3), Counts(0, 4, 0, 3), one_tailed=True), (Counts(1, 4, 2, 3),)
    )
    left = without((LOW,), sample)
    assert (left.left.size, left.right.size) == (3, 1)
    assert left.right.column("output").codes is None
    seen = test.report(test.count(sample))
    assert EventOutside.reported(seen) == test
    assert seen.description.startswith("output (outside earlier events) is any number")


def test_an_output_counts_for_the_first_event_that_holds_it() -> None:
    up_to_two = EarlierEvent(Place("output"), Cells((2.0,), (LEFT, ABSTAIN), {}), LEFT)
    sample = Sample(texts(0.0, 1.5, 3.0), texts(2.0))
    assert count_in_each((LOW, up_to_two), sample) == (Counts(1, 3, 0, 1), Counts(1, 3, 1, 1))
    # Nested features say the same: an event outside of others, together with these, is the event itself.
    nested = EarlierEvent(Outside(Place("output"), (LOW,)), up_to_two.cells, LEFT)
    assert count_in_each((LOW, nested), sample) == count_in_each((LOW, up_to_two), sample)


ONE = PureDP(1.0)


def method(claim: Any = ONE) -> GuessesOutside:
    return GuessesOutside.of(Guesses(claim, 0.01, 1000), (LOW,))


def test_the_opposite_of_an_earlier_event_proves_nothing_again() -> None:
    """On the left all is the earlier event; that everything else is on the right is the same violation."""
    test = EventOutside.of(Event(Place("output"), Cells((), (RIGHT,), {}, RIGHT)), (LOW,))
    guessed = GuessCounts(Counts(0, 500, 0, 500), Counts(0, 500, 500, 500), one_tailed=True)
    counts = CountsOutside(guessed, (Counts(500, 500, 0, 500),))
    assert Guesses(PureDP(1.0), 0.01, 1000).bound(test.event, guessed) > 4
    assert method().bound(test, counts) == 0
    # If the earlier event is within the claim on this pair, it explains nothing.
    within = CountsOutside(guessed, (Counts(50, 500, 30, 500),))
    assert method().bound(test, within) == Guesses(PureDP(1.0), 0.01, 1000).bound(test.event, guessed)


@pytest.mark.parametrize("claim", [PureDP(0.5), ApproximateDP(0.5, 0.05)], ids=str)
def test_the_bound_never_exceeds_that_of_the_part_outside(claim: Any) -> None:
    """The part outside of earlier events is an event like any other, on all outputs: its bound holds."""
    rng = np.random.default_rng(3)
    test = EventOutside.of(Event(Place("output"), Cells((2.0,), (LEFT, RIGHT), {})), (LOW,))
    for _ in range(200):
        hits = rng.multinomial(60, rng.dirichlet([1, 1, 1, 1]), size=2)
        (a, b, c, _), (d, e, f, _) = hits.tolist()
        guessed = GuessCounts(Counts(a, 60, d, 60), Counts(b, 60, e, 60))
        bound = method(claim).bound(test, CountsOutside(guessed, (Counts(c, 60, f, 60),)))
        assert bound <= Guesses(claim, 0.01, 1000).bound(test.event, guessed)


def test_the_bound_errs_with_probability_alpha_at_most_by_enumeration() -> None:
    """ε = 0.7 exactly: all counts of 12 outputs, with their probabilities. Wrong guesses of earlier events only lower the bound."""
    loss, alpha, n = 0.7, 0.05, 12
    test = EventOutside.of(Event(Place("output"), Cells((), (RIGHT,), {}, RIGHT)), (LOW,))
    # The part outside has q on the left and e^ε q on the right.
    on_left, on_right = 0.4, 0.4 * math.exp(loss)
    bounds = GuessesOutside.of(Guesses(PureDP(loss), alpha, n), (LOW,))
    wrong = 0.0
    for left in range(n + 1):
        right = n - left
        for hits_left in range(left + 1):
            for hits_right in range(right + 1):
                chance = binom.pmf(left, n, 0.5) * binom.pmf(hits_left, left, on_left)
                chance *= binom.pmf(hits_right, right, on_right)
                guessed = GuessCounts(Counts(0, left, 0, right), Counts(hits_left, left, hits_right, right), True)
                nothing = Counts(0, left, 0, right)
                wrong += chance * (bounds.bound(test, CountsOutside(guessed, (nothing,))) > loss)
    assert 0 < wrong <= alpha


def test_each_of_three_faults_is_listed_without_the_events_before() -> None:
    result = auditor.audit(three_faults, PureDP(1.0), PEOPLE, samples=50_000, seed=2, further=2, **OPTIONS)
    assert result.verdict == "violation" and result.further is not None
    found = result.further.found
    assert result.further.end == "2 further violations were asked for"
    events = [result.event, *(one.event for one in found)]
    assert len(events) == 3
    # An exception is told by its kind or by its message.
    assert all(any(re.search(kind, str(event)) for event in events) for kind in ("NaN", "ValueError|no records"))
    # One rule looks at numbers on which noise of two sizes differs, with a 7 on one side only.
    assert any((7 in one.pair.left) != (7 in one.pair.right) and "≤" in str(one.event) for one in [result, *found])
    for number, one in enumerate(found, start=1):
        rule = one.event["rule"]
        assert len(rule["feature"]["earlier"]) == len(one.earlier) == number
        assert one.bound.value > 1 and one.bound.confidence == pytest.approx(1 - 0.001 / 2)
        assert one.p_value < 0.001 / 2
    said = str(result)
    assert said.count("Further violation ") == 2 and "Further violations found: 2 (" in said
    without_further = auditor.audit(three_faults, PureDP(1.0), PEOPLE, samples=50_000, seed=2, **OPTIONS)
    assert without_further.further is None
    assert "further" not in without_further.to_dict()
    assert without_further.judgement == result.judgement and without_further.outputs == result.outputs


def test_a_single_fault_has_no_further_violation() -> None:
    result = auditor.audit(refuses_nobody, PureDP(1.0), PEOPLE, samples=50_000, seed=1, further=2, **OPTIONS)
    assert result.verdict == "violation" and result.further is not None
    assert not result.further.found
    assert result.further.end == "outside of these events, the search proves no further violation"
    assert result.further.outputs > 50_000


# False failures: binom.sf(29, 200, 0.05) < 1e-6.
@pytest.mark.statistical
def test_further_violations_are_false_as_seldom_as_stated() -> None:
    pairs = [([], [1]), ([1], [1, 1])]
    options = OPTIONS | {"samples": 1_000, "confidence": 0.95, "further": 1}
    found = 0
    for seed in range(200):
        result = auditor.audit(refuses_nobody, PureDP(1.0), pairs, seed=seed, **options)
        assert result.verdict == "violation" and result.further is not None
        found += len(result.further.found)
    assert binom.sf(29, 200, 0.05) < 1e-6
    assert found <= 29


@pytest.mark.parametrize(
    ("claim", "more", "why"),
    [
        (PureDP(0.5), {"method": "sequential"}, "by claims of ε or (ε, δ) and `method: fixed` only"),
        (PureDP(0.5), {"method": "two-intervals"}, "by claims of ε or (ε, δ) and `method: fixed` only"),
        (auditor.GaussianDP(0.5), {}, "by claims of ε or (ε, δ) and `method: fixed` only"),
        (auditor.ZeroConcentratedDP(0.1), {}, "by claims of ε or (ε, δ) and `method: fixed` only"),
        (PureDP(0.5), {"seconds": 5.0}, "a time limit leaves none"),
    ],
    ids=["sequential", "two intervals", "mu", "rho", "seconds"],
)
def test_where_none_are_looked_for_the_report_says_why(claim: Any, more: dict[str, Any], why: str) -> None:
    result = auditor.audit(
        lambda data, size, rng: rng.laplace(3 * data, 1, size),
        claim,
        [(0, 1)],
        samples=2_000,
        further=1,
        **OPTIONS,
        **more,
    )
    assert result.verdict == "violation" and result.further is not None
    assert (len(result.further.found), result.further.outputs) == (0, 0)
    assert why in result.further.end and why in str(result)


def test_a_query_says_why_too() -> None:
    result = auditor.audit(sum, auditor.Sensitivity(1.0), [([1, 3], [1, 1])], further=1)
    assert result.further is not None and "only" in result.further.end


def test_an_odd_number_is_refused() -> None:
    with pytest.raises(auditor.AuditorError, match="further is -1; it must be an integer of at least 0"):
        auditor.audit(refuses_nobody, PureDP(1.0), PEOPLE, further=-1)


MECHANISM = """
import numpy as np

def faulty(records, size, rng):
    if not len(records):
        raise ValueError("no records")
    noise = rng.laplace(size=size)
    return np.where(rng.random(size) < (0.3 if 3 in records else 0), np.nan, noise)
"""
DOMAIN = """
from auditor import Records

def people():
    return Records((0, 9), integer=True, size=(0, 3))
"""
CONFIGURATION = """
version: 1
seed: 2
samples: 20_000
further: 2
execution: {workers: 1, isolate: false}
audits:
  - {name: faulty, mechanism: 'faulty_further.py:faulty', claim: {epsilon: 1.0}, expect: violation, neighbours: NEIGHBOURS}
"""
LISTED = "{pairs: [{left: [], right: [1]}, {left: [1], right: [1, 3]}, {left: [2], right: [1, 2]}]}"


def recorded(folder: Path, neighbours: str) -> Path:
    (folder / "faulty_further.py").write_text(MECHANISM)
    (folder / "pairs_further.py").write_text(
        "def pairs():\n    yield [], [1]\n    yield [1], [1, 3]\n    yield [2], [1, 2]\n"
    )
    (folder / "further.yaml").write_text(CONFIGURATION.replace("NEIGHBOURS", neighbours))
    options = ["--record", str(folder / "kept"), "--out", str(folder), "--quiet"]
    assert main(["run", str(folder / "further.yaml"), *options]) == 0
    return folder / "further" / "report.json"


def test_a_report_is_read_back_shown_and_recounted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = recorded(tmp_path, LISTED)
    run = read_report(report)
    further = run.audits[0].further
    assert further is not None and len(further.found) == 1 and "NaN" in str(further.found[0].event)
    assert json.loads(report.read_text()) == as_read(run.to_dict())
    assert isinstance(run, RunResult)
    assert main(["show", str(report)]) == 0
    assert "Further violation 1:" in capsys.readouterr().out.replace("\n", " ")
    page = (report.parent / "report.html").read_text()
    assert page.count("<h3>Further violations</h3>") == 1 and "Further violation 1: " in page
    assert main(["recount", str(report), str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out.splitlines() == ["faulty: as reported"]
    forged = json.loads(report.read_text())
    forged["audits"][0]["further"]["found"][0]["bound"]["value"] += 1
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    assert main(["recount", str(tmp_path / "forged.json"), str(tmp_path / "kept")]) == 1
    assert "further.found[1].bound.value" in capsys.readouterr().out


@pytest.mark.parametrize(
    "way",
    [
        ("bound", "value"),
        *(
            pytest.param(way, marks=pytest.mark.statistical)
            for way in (("p_value",), ("pair", "right", 0), ("earlier", 0, "left", 0), ("event", "counts", "left", 0))
        ),
    ],
)
def test_without_the_code_of_the_domain_rules_are_counted_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], way: tuple[Any, ...]
) -> None:
    report = recorded(tmp_path, "{generator: 'pairs_further.py:pairs'}")
    assert main(["recount", str(report), str(tmp_path / "kept")]) == 5
    assert "not checked" in capsys.readouterr().out
    forged = json.loads(report.read_text())
    place = forged["audits"][0]["further"]["found"][0]
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] += 1
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    assert main(["recount", str(tmp_path / "forged.json"), str(tmp_path / "kept")]) == 1
    capsys.readouterr()


@pytest.mark.processes
def test_a_run_killed_on_its_way_to_a_further_violation_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of a further bound: nothing is counted twice or left out, or the numbers would differ."""
    reports, keep, kept = list[Any](), Draw._keep, 0

    def killed(self: Draw, *arguments: Any) -> None:
        nonlocal kept
        keep(self, *arguments)
        kept += self.plan.name.endswith("further violation 1")
        if kept == 2:
            raise KeyboardInterrupt

    for folder in (tmp_path / "whole", tmp_path / "killed"):
        folder.mkdir()
        (folder / "faulty_further.py").write_text(MECHANISM)
        (folder / "further.yaml").write_text(CONFIGURATION.replace("NEIGHBOURS", LISTED))
        options = [str(folder / "further.yaml"), "--out", str(folder), "--quiet"]
        if folder.name == "killed":
            monkeypatch.setattr(Draw, "_keep", killed)
            assert main(["run", *options]) == 130
            assert kept == 2
            monkeypatch.undo()
        assert main(["run", *options, "--resume"]) == 0
        report = json.loads((folder / "further" / "report.json").read_text())
        report["audits"][0].pop("reproduce")
        reports.append(report)
    assert reports[0] == reports[1]
    assert len(reports[0]["audits"][0]["further"]["found"]) == 1
