"""Comparing two runs: what fails a release, what is only reported, and that another seed or sample size raises no alarm."""

import contextlib
import functools
import itertools
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import changed, event_of, made

import auditor
from auditor import auditing
from auditor.auditing.remeasure import remeasured
from auditor.blackbox import batches
from auditor.bounds.evidence import Bound
from auditor.claims import Claim, PrivacyClaim, Unclaimed
from auditor.cli import main
from auditor.errors import InvalidInputError
from auditor.events.observed import BothAnswers, Hits, ObservedReport, ObservedRule, QueryAnswers
from auditor.neighbours.pair import Pair, Relation
from auditor.report.compare import ChangeKind, compare, shown
from auditor.results.reader import frozen_test
from auditor.results.result import AuditResult, OutputsSpent, Probed, RunResult, Tried
from auditor.verdict import Verdict


def event(wins: int, guesses: int, trials: int = 200_000, description: str = "output ≤ 0.5") -> ObservedRule:
    """Return an event with these numbers of guesses "left" and of wins."""
    half = trials // 2
    counts = {"left": [wins, half], "right": [guesses - wins, half]}
    rule = {"feature": description}
    made_of = {"description": description, "guess": "left", "counts": counts, "opposite": None, "rule": rule}
    fired = event_of(made_of)
    assert isinstance(fired, ObservedRule)
    return fired


def result(**changes: Any) -> AuditResult:
    usual: dict[str, Any] = {
        "name": "some audit",
        "mechanism": "module:function",
        "claim": auditor.PureDP(1.0),
        "verdict": Verdict.NO_VIOLATION_FOUND,
        "expected": Verdict.NO_VIOLATION_FOUND,
        "outputs": OutputsSpent(0, 20_000, 200_000),
        "stop_reason": "all 200,000 outputs drawn",
        "seconds": 1.0,
        "reproducible": True,
        "seed": 7,
        "bound": Bound("epsilon", 0.38, 0.999, "guesses"),
        "pair": Pair(0, 1, Relation.SUBSTITUTE),
        "event": event(60_000, 100_000),
        "power": {"80%": 1.02, "95%": 1.03},
    }
    return made(**{**usual, **changes})


HIGHER = {"bound": Bound("epsilon", 0.83, 0.999, "guesses"), "event": event(70_000, 100_000)}
VIOLATION = {"verdict": Verdict.VIOLATION, "bound": Bound("epsilon", 1.4, 0.999, "guesses")}
NO_ANSWER = {"verdict": Verdict.INCONCLUSIVE, "bound": None, "event": None, "pair": None, "power": None}
UNKNOWN = "not compared", "the loss: the earlier report has no answer"
UNWRITTEN = replace(event(60_000, 100_000), rule=None)
ELSEWHERE = "ε ≥ 0.830, before ε ≥ 0.380, {}: `auditor run --baseline` counts the earlier event"
ON_ANOTHER_PAIR, BY_ANOTHER_EVENT = (ELSEWHERE.format(how) for how in ("on a different pair", "by a different event"))
SMALL, SMALL_RISE = {"event": event(51_000, 100_000)}, {"event": event(52_400, 100_000)}
OF_ANOTHER_RELATION = {"pair": Pair(0, 1, Relation.ADD_REMOVE)}
AT_ANOTHER_THRESHOLD = {**HIGHER, "event": event(70_000, 100_000, description="output ≤ 0.4")}
TWIN = {**VIOLATION, "expected": Verdict.VIOLATION}
MEASURED = {"claim": Unclaimed(), "verdict": Verdict.MEASURED, "expected": Verdict.MEASURED, "power": None}
FEWER = OutputsSpent(0, 2_000, 20_000)
SEARCHED = {"outputs": OutputsSpent(10_000, 20_000, 200_000)}
TWO_INTERVALS = {"bound": Bound("epsilon", 0.38, 0.999, "two intervals")}


def run(*audits: AuditResult) -> RunResult:
    return RunResult("some run", 0.999, audits, 2.0)


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str]]:
    differences = compare(run(result(**old)), run(result(**new)))
    return [(str(change.kind), change.what) for change in differences]


SLOW = {"accepted": "it is slow"}
CASES: list[tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ("nothing", {}, {}, []),
    ("a new violation", {}, VIOLATION, [("worse", "a new violation: ε ≥ 1.400, above the claimed ε = 1")]),
    ("a new violation, now expected", {}, TWIN, [("worse", "a new violation")]),
    ("after no answer", NO_ANSWER, VIOLATION, [UNKNOWN, ("worse", "a new violation")]),
    ("a known violation", VIOLATION, VIOLATION, []),
    ("a twin that breaks more", TWIN, {**TWIN, **HIGHER}, []),
    ("a violation that is gone", VIOLATION, {}, [("better", "the violation is gone")]),
    ("a claim taken away", VIOLATION, MEASURED, [("worse", "claim changed from ε = 1 to nothing; not comparable")]),
    ("a measured loss", MEASURED, MEASURED, []),
    ("a twin not caught", TWIN, {"expected": Verdict.VIOLATION}, [("worse", "the expected violation is no longer found")]),
    ("no answer", {}, {**NO_ANSWER, "stop_reason": "it hangs"}, [("worse", "now inconclusive: it hangs")]),
    ("an answer", NO_ANSWER, {}, [UNKNOWN, ("better", "there is an answer now")]),
    ("expected otherwise", {}, {"expected": Verdict.VIOLATION}, [("worse", "ended as expected before; now no violation")]),
    ("a loss that rose", {}, HIGHER, [("worse", "privacy loss (ε) on the earlier event rose from 0.384–0.427 to 0.825–0.870")]),
    ("a loss that fell", HIGHER, {}, [("better", "privacy loss (ε) on the earlier event fell from 0.825–0.870 to 0.384–0.427")]),
    ("a loss that moved", {}, {"event": event(60_300, 100_000)}, []),
    ("a small rise beyond chance", SMALL, SMALL_RISE, [("worse", "privacy loss")]),
    ("another pair", {}, {**HIGHER, "pair": Pair(0, 2, Relation.SUBSTITUTE)}, [("not compared", ON_ANOTHER_PAIR)]),
    ("the pair turned", {}, {**HIGHER, "pair": Pair(1, 0, Relation.SUBSTITUTE)}, [("not compared", ON_ANOTHER_PAIR)]),
    ("another threshold", {}, AT_ANOTHER_THRESHOLD, [("not compared", BY_ANOTHER_EVENT)]),
    ("no rule", {"event": UNWRITTEN}, {**HIGHER, "event": UNWRITTEN}, [("not compared", BY_ANOTHER_EVENT)]),
    (
        "another relation",
        {},
        OF_ANOTHER_RELATION,
        [("worse", "relation changed from substitute to"), ("not compared", "ε ≥ 0.380")],
    ),
    ("another mechanism", {}, {"mechanism": "module:other"}, [("note", "mechanism changed from module:function to module:other")]),
    (
        "power that fell",
        {},
        {"outputs": FEWER, "power": {"80%": 1.08, "95%": 1.1}},
        [("worse", "power fell: detects 1.100 with 95 % probability, before 1.030 (20,000 outputs, before 200,000)")],
    ),
    (
        "power lost",
        {},
        {"outputs": FEWER, "power": {"80%": np.inf, "95%": np.inf}},
        [("worse", "power fell: detects ∞")],
    ),
    ("another event's power", {}, {"power": {"80%": 1.08, "95%": 1.1}}, []),
    ("power that rose", {"outputs": FEWER, "power": {"80%": 1.08, "95%": 1.1}}, {}, [("better", "power rose")]),
    ("fewer outputs", {"power": None}, {"power": None, "outputs": FEWER}, [("worse", "fewer outputs: 20,000 outputs, before")]),
    ("a few less", {"power": None}, {"power": None, "outputs": OutputsSpent(0, 20_000, 150_000)}, []),
    ("no event", {"event": None}, {"event": None, "bound": HIGHER["bound"]}, [("not compared", "")]),
    ("a claim that promises more, and a loss that rose", {"claim": auditor.PureDP(2)}, HIGHER, [("better", ""), ("worse", "")]),
    ("a claim that promises more", {"claim": auditor.PureDP(2)}, {}, [("better", "")]),
    ("a claim where there was none", MEASURED, {}, [("better", ""), ("not compared", "")]),
    ("a measured loss that rose", MEASURED, {**MEASURED, **HIGHER}, [("worse", "")]),
    ("a measured loss by fewer outputs", MEASURED, {**MEASURED, "outputs": FEWER}, [("worse", "")]),
    ("half of the outputs", {}, {"outputs": OutputsSpent(0, 20_000, 100_000)}, [("worse", "")]),
    ("a violation that is gone with most outputs", VIOLATION, {"outputs": FEWER, "power": None}, [("better", ""), ("worse", "")]),
    ("a twin by fewer outputs", TWIN, {**TWIN, "outputs": FEWER}, []),
    ("no answer, again", NO_ANSWER, NO_ANSWER, [UNKNOWN]),
    ("an answer that was not expected", {}, {**NO_ANSWER, "expected": Verdict.VIOLATION}, [("worse", "")]),
    ("fewer outputs in the search", SEARCHED, {"outputs": OutputsSpent(0, 20_000, 200_000)}, [("worse", "")]),
    ("about as many in the search", SEARCHED, {"outputs": OutputsSpent(9_000, 20_000, 200_000)}, []),
    ("a weaker method", {}, {**TWO_INTERVALS, "power": {"80%": 1.3, "95%": 1.4}}, [("worse", "")]),
    ("another method that is no weaker", {}, TWO_INTERVALS, []),
    ("a weak pass is accepted", {}, SLOW, [("note", "a weak pass is accepted: it is slow")]),
    ("it is no longer accepted", SLOW, {}, [("note", "a weak pass is no longer accepted, and was accepted before: it is slow")]),
    ("for another reason", SLOW, {"accepted": "it is old"}, [("note", "a weak pass is accepted: it is old, and was accepted")]),
    ("a warning that says weak", {}, {"warnings": ("weak: only one pair was looked at",)}, [("note", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_a_change_means(old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    differences = changes(old, new)
    assert [kind for kind, _ in differences] == [kind for kind, _ in expected]
    for (_, what), (_, told) in zip(differences, expected, strict=True):
        assert what.startswith(told)
        assert len(what.splitlines()) == 1


LOOKED_AT: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    ({"events": ("values", "bits")}, {}, [("worse", "fewer kinds of events, without bits")]),
    ({}, {"events": ("values", "bits")}, [("better", "more kinds of events, with bits")]),
    ({"events": ("bits",)}, {}, [("worse", "fewer kinds of events"), ("better", "more kinds of events")]),
    ({"observed": ("stdout",)}, {}, [("worse", "fewer observations, without stdout")]),
    ({"observed": ("stdout", "log")}, {"observed": ("log",)}, [("worse", "fewer observations, without stdout")]),
    ({"observed": ("stdout", "log")}, {}, [("worse", "fewer observations, without stdout and log")]),
    ({}, {"observed": ("files",)}, [("better", "more observations, with files")]),
    ({"planted": Probed(("a", "b"), ())}, {}, [("note", "fewer faults were planted: 0, before 2")]),
    ({"planted": Probed(("a", "b"), ())}, {"planted": Probed(("a",), ())}, [("note", "fewer faults were planted: 1")]),
    ({"planted": Probed(("a",) * 5, ())}, {"planted": Probed((), ("a",) * 5)}, [("note", "the pass is weak now")]),
    ({"limits": {"size": 2}}, {}, [("not compared", "one of the reports does not say which data sets")]),
    ({"neighbours": "two people"}, {"neighbours": "one"}, [("not compared", "data sets changed from two people to one")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), LOOKED_AT)
def test_a_run_that_looks_at_less_is_told(
    old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    def looked(changes: dict[str, Any]) -> RunResult:
        audit = result()
        tried = replace(Tried("some data sets", 1, ("values",)), **changes)
        return run(replace(audit, provenance=replace(audit.provenance, tried=tried)))

    differences = compare(looked(old), looked(new))
    assert [
        (change.kind, change.what.startswith(told)) for change, (_, told) in zip(differences, expected, strict=True)
    ] == [(kind, True) for kind, _ in expected]


def test_a_higher_confidence_that_takes_the_power_is_worse() -> None:
    before, weaker = result(alpha=1e-3), result(power={"80%": 1.2, "95%": 1.3}, alpha=6e-4)
    assert compare(run(before), run(weaker)) == []
    [change] = compare(run(before), run(changed(weaker, alpha=1e-12)))
    assert (change.kind, change.what.startswith("power fell")) == ("worse", True)


def test_an_audit_that_appears_and_fails_is_worse() -> None:
    for changes, kind in ((VIOLATION, "worse"), (NO_ANSWER, "worse"), (TWIN, "note"), ({}, "note")):
        assert [change.kind for change in compare(run(), run(result(**changes)))] == [kind]


def test_two_audits_of_one_name_are_refused() -> None:
    for old, new in ((run(result(), result()), run(result())), (run(result()), run(result(), result()))):
        with pytest.raises(InvalidInputError, match="has two audits with the same name"):
            compare(old, new)


CLAIMS: list[tuple[Claim, Claim, str]] = [
    (auditor.PureDP(1), auditor.PureDP(2), "worse"),
    (auditor.PureDP(2), auditor.PureDP(1), "better"),
    (auditor.PureDP(1), auditor.ApproximateDP(1, 1e-5), "worse"),
    (auditor.ApproximateDP(1, 1e-6), auditor.ApproximateDP(1, 1e-5), "worse"),
    (auditor.ApproximateDP(1, 1e-6), auditor.ApproximateDP(0.5, 1e-5), "worse"),
    (auditor.RenyiDP(2, 1), auditor.RenyiDP(4, 1), "better"),
    (auditor.RenyiDP(4, 1), auditor.RenyiDP(2, 1), "worse"),
    (auditor.Probability(0.9, at_least=True), auditor.Probability(0.8, at_least=True), "worse"),
    (auditor.Probability(0.1, at_most=True), auditor.Probability(0.2, at_most=True), "worse"),
    (auditor.PrivacyProfile([(1, 0.1), (2, 0.01)]), auditor.PrivacyProfile([(1, 0.1), (2, 0.02)]), "worse"),
    (auditor.PrivacyProfile([(1, 0.1), (2, 0.01)]), auditor.PrivacyProfile([(1, 0.1)]), "worse"),
    (auditor.PrivacyProfile([(1, 0.1)]), auditor.PrivacyProfile([(0.9, 0.1)]), "better"),
    (auditor.Tradeoff([(0, 1), (0.25, 0.25), (1, 0)]), auditor.Tradeoff([(0, 1), (0.2, 0.2), (1, 0)]), "worse"),
    (auditor.Tradeoff([(0, 1), (0.25, 0.25), (1, 0)]), auditor.Tradeoff([(0, 1), (0.3, 0.3), (1, 0)]), "better"),
]


@pytest.mark.parametrize(("old", "new", "kind"), CLAIMS, ids=[f"{old} to {new}" for old, new, _ in CLAIMS])
def test_a_claim_that_was_weakened_fails_and_one_that_was_strengthened_is_told(
    old: Claim, new: Claim, kind: str
) -> None:
    [(differences, what)] = changes({"claim": old, "bound": None}, {"claim": new, "bound": None})
    assert differences == kind
    assert f"claim changed from {old} to {new}" in what


# --- Beyond chance ---


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_limits_are_those_of_what_the_event_shows(delta: float) -> None:
    """The limits contain the ε that the rates have, ln((p − δ)/q). They would fail for a fraction 1e-6 of seeds, and
    not for this one."""
    p, q, n = 0.4, 0.1, 20_000
    rng = np.random.default_rng(1)
    claim = auditor.ApproximateDP(3, delta) if delta else auditor.PureDP(3)
    truth, missed = np.log((p - delta) / q), 0
    for _ in range(200):
        hits = [int(rng.binomial(n, rate)) for rate in (p, q)]
        limits = shown(result(claim=claim, event=event(hits[0], sum(hits), 2 * n)), 0.2)
        assert limits is not None
        missed += not limits[0] <= truth <= limits[1]
        assert limits[1] - limits[0] < 0.2
    assert missed <= 0.2 * 200 + 4.9 * np.sqrt(200 * 0.2 * 0.8)


def test_what_is_certain_has_no_width_and_what_has_no_upper_limit_is_not_compared() -> None:
    query = {"claim": auditor.Sensitivity(1), "event": QueryAnswers("…", BothAnswers(0, 1)), "power": None}
    exact = {**query, "bound": Bound("sensitivity", 0.5, 1.0, "largest difference found")}
    assert shown(result(**exact), 0.1) == (0.5, 0.5)
    more = {**exact, "bound": Bound("sensitivity", 0.9, 1.0, "largest difference found")}
    assert changes(exact, more) == [("worse", "sensitivity on the earlier data rose from 0.500 to 0.900")]
    assert shown(result(**NO_ANSWER), 0.1) is None


def test_a_probability_promised_to_be_large_gets_worse_as_it_falls() -> None:
    def seen(hits: int) -> dict[str, Any]:
        counts = ObservedReport("…", Hits((hits, 10_000)), confirmed=True)
        bound = Bound("probability", hits / 10_000, 0.999, "Clopper-Pearson, lower limit")
        claim = auditor.Probability(0.5, at_least=True)
        return {"claim": claim, "event": counts, "bound": bound, "power": None, "pair": Pair(0, None, Relation.ALONE)}

    fell, rose = "from 0.890–0.910 to 0.584–0.616", "from 0.584–0.616 to 0.890–0.910"
    assert changes(seen(9_000), seen(6_000)) == [("worse", f"probability on the earlier data fell {fell}")]
    assert changes(seen(6_000), seen(9_000)) == [("better", f"probability on the earlier data rose {rose}")]


def laplace(data: Any, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return rng.laplace(data, scale, size)


def gaussian(data: Any, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
    return rng.normal(data, scale, size)


def response(bit: int, size: int, rng: np.random.Generator, scale: float = 0.3) -> Any:
    return bit ^ (rng.random(size) < scale)


def vector(data: Any, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(np.array(data, float), 3.0, (size, len(data)))


def total(records: Any) -> float:
    return float(np.sum(records))


def shown_bit(bit: int, size: int, rng: np.random.Generator, scale: float = 0.3) -> Any:
    return response(bit, size, rng, scale) == 1


DOMAIN = auditor.Records((0, 1), size=(0, 3), relation="add_remove")
MECHANISMS: list[tuple[Any, Claim, Any, Any]] = [
    (laplace, auditor.PureDP(2), [(0, 1)], 0.6),
    (
        gaussian,
        auditor.ApproximateDP(9, 1e-3),
        [(0, 1)],
        None,
    ),  # its event is a tail, which becomes rarer with less noise
    (response, auditor.ApproximateDP(2, 1e-3), [(0, 1)], 0.15),
    (gaussian, auditor.GaussianDP(2), [(0, 1)], 0.6),
    (gaussian, auditor.PrivacyProfile([(3, 0.05), (5, 1e-3)]), [(0, 1)], 0.6),
    (gaussian, auditor.ZeroConcentratedDP(2), [(0, 1)], 0.6),
    (gaussian, auditor.RenyiDP(2, 3), [(0, 1)], 0.6),
    (response, auditor.PureDP(2), [(0, 1)], 0.15),
    (vector, auditor.PureDP(2.5), [([0] * 6, [1] * 6)], None),
    (shown_bit, auditor.Probability(0.9, at_most=True), [(0, 1)], 0.15),
]


def planned(mechanism: Any, claim: Claim, pairs: Any, seed: int, samples: int, **parameters: float) -> auditing.Plan:
    options: dict[str, Any] = {"seed": seed, "workers": 1, "isolate": False, "shrink": False, "planted": 0}
    return auditing.planned(
        mechanism, claim, pairs, name="one", samples=samples, parameters=parameters, prove=False, **options
    )


RAN = dict[int, tuple[auditing.Plan, AuditResult]]()


def ran(plan: auditing.Plan) -> AuditResult:
    """Return the result of a plan, which is carried out only once."""
    if id(plan) not in RAN:
        RAN[id(plan)] = plan, auditing.run(plan)
    return RAN[id(plan)][1]


def losses(old: auditing.Plan, new: auditing.Plan, may_rise: float = 0.0) -> list[tuple[str, str]]:
    """Return the changes in loss from one plan to another, with the mechanism measured on the earlier event."""
    differences = compare(run(ran(old)), run(ran(new)), functools.partial(remeasured, new), may_rise=may_rise)
    return [(str(change.kind), change.what) for change in differences if " on the earlier " in change.what]


@pytest.mark.parametrize(("mechanism", "claim", "pairs", "changed"), MECHANISMS)
def test_another_seed_or_sample_size_is_no_alarm_and_a_mechanism_that_leaks_more_is_one(
    mechanism: Any, claim: Any, pairs: Any, changed: float | None
) -> None:
    same = [planned(mechanism, claim, pairs, seed, samples) for seed, samples in ((0, 4_000), (1, 20_000))]
    # A note says that another event shows more, and that the earlier one does not.
    assert {kind for old, new in itertools.pairwise([*same, same[0]]) for kind, _ in losses(old, new)} <= {"note"}
    if changed is not None:
        leaking = planned(mechanism, claim, pairs, 9, 20_000, scale=changed)
        [(kind, what)] = losses(same[1], leaking)  # with other seeds a rare event is learned, whose loss does not rise
        assert kind == "worse"
        assert " rose from " in what


@pytest.mark.parametrize(
    ("mechanism", "claim", "pairs", "changed"), [*MECHANISMS, (total, auditor.Sensitivity(2), DOMAIN, None)]
)
def test_the_earlier_rule_is_counted_on_the_earlier_pair_in_as_many_outputs_as_asked(
    mechanism: Any, claim: Any, pairs: Any, changed: float | None
) -> None:
    plan = planned(mechanism, claim, pairs, 3, 4_000)
    once = ran(plan)
    again = remeasured(plan, once, 5_000)
    assert again.pair == once.pair
    if isinstance(claim, PrivacyClaim):
        assert frozen_test(again.event) == frozen_test(once.event)
        assert again.outputs.bound == 5_000
    assert again.judgement.event != once.event or isinstance(claim, auditor.Sensitivity)


def test_what_the_search_found_elsewhere_is_measured_again_by_its_own_rule_on_its_own_pair() -> None:
    """The pair and the thresholds of the later audit do not matter, and an identical comparison is not repeated."""

    def noisy_total(records: Any, size: int, rng: np.random.Generator, scale: float = 1.0) -> Any:
        return np.sum(records) + rng.laplace(0, scale, size)

    old, same, worse = (
        planned(noisy_total, auditor.PureDP(2), DOMAIN, *at) for at in ((4, 8_000), (2, 8_000), (3, 8_000))
    )
    worse = replace(worse, source=replace(worse.source, parameters={"scale": 0.7}))
    assert losses(old, same) == []
    assert [kind for kind, _ in losses(old, worse)] == ["worse"]
    measured = remeasured(same, ran(old), 5_000)
    assert measured.pair == ran(old).pair
    assert measured.event is not None
    assert measured.event["rule"] == ran(old).event["rule"]
    assert measured.outputs.bound == 5_000
    weak = ran(planned(noisy_total, auditor.PureDP(2), [([1], [0, 1])], 5, 8_000))
    weak = replace(weak, provenance=replace(weak.provenance, tried=ran(same).tried))
    changes = [change.what for change in compare(run(weak), run(ran(same)), functools.partial(remeasured, same))]
    assert any("on a different pair; on the earlier pair and event no rise is seen" in what for what in changes), (
        changes
    )


def test_no_output_of_the_recount_is_one_from_which_the_rule_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan and its seed are those of the earlier run, whose outputs for learning must not be drawn again."""
    plan = planned(laplace, auditor.PureDP(1), [(0, 1)], 1, 5_000, scale=2.0)
    addresses, stream = set[Any](), batches.stream

    def noted(seed: int, audit: str, batch: batches.Batch, use: int) -> Any:
        addresses.add((seed, audit, batch.phase, batch.number))
        return stream(seed, audit, batch, use)

    monkeypatch.setattr(batches, "stream", noted)
    once = ran(plan)
    before = {*addresses}
    addresses.clear()
    remeasured(plan, once, 5_000)
    assert before
    assert addresses
    assert not before & addresses


def test_ten_percent_less_noise_is_noticed_where_it_was_twice_what_the_claim_needs() -> None:
    """At 10⁶ outputs the limits are 0.016 wide, and ε rises from 0.5 to 0.556; the claim of 1 holds before and after."""
    before, after = (
        planned(laplace, auditor.PureDP(1), [(0, 1)], seed, 1_000_000, scale=scale)
        for seed, scale in ((1, 2.0), (2, 1.8))
    )
    [(kind, what)] = losses(before, after)
    assert kind == "worse"
    assert what == "privacy loss (ε) on the earlier event rose from 0.490–0.506 to 0.549–0.562"
    assert [kind for kind, _ in losses(before, after, may_rise=0.01)] == ["worse"]
    for allowed in (0.05, np.inf):
        assert losses(before, after, may_rise=allowed) == [("note", f"{what}, which is allowed")]


def test_a_rule_that_cannot_be_counted_is_not_compared() -> None:
    plan = planned(laplace, auditor.PureDP(2), [(0, 1)], 1, 4_000)
    once = ran(plan)
    assert isinstance(once.event, ObservedRule)
    assert once.event.rule is not None

    def told(**changes: Any) -> list[tuple[str, str]]:
        old = replace(once, judgement=replace(once.judgement, event=replace(once.event, **changes)))
        differences = compare(run(old), run(once), functools.partial(remeasured, plan))
        return [(str(change.kind), change.what) for change in differences]

    [(kind, what)] = told(rule=None)
    assert kind == "not compared"
    assert 'different event: the rule lacks "feature"' in what
    [(kind, what)] = told(rule={**once.event.rule, "feature": {"kind": "place", "name": "output[9]"}})
    assert kind == "not compared"
    assert f"different event: the earlier event was not seen in {once.outputs.bound:,} outputs" in what


def test_an_event_of_another_kind_of_claim_is_refused() -> None:
    """A forged report may name an event of bets on a score, of two points, or with counts beyond every float."""
    of_score = event_of(
        {
            "description": "…",
            "order": 2,
            "swapped": False,
            "stake": 1,
            "tilt": 0,
            "values": [0, 1],
            "counts": {"left": [1, 2], "right": [2, 1]},
            "rule": None,
        }
    )
    points = event_of({"description": "…", "points": []})
    for claim, found in (
        (auditor.PureDP(1), of_score),
        (auditor.PureDP(1), points),
        (auditor.ZeroConcentratedDP(1), event(60_000, 100_000)),
        (auditor.PrivacyProfile([(1, 0.1)]), points),
        (auditor.Sensitivity(1), event(60_000, 100_000)),
        (auditor.PureDP(1), event(6 * 10**400, 10**401, 2 * 10**401)),
    ):
        spoilt = run(result(claim=claim, event=found))
        with pytest.raises(InvalidInputError, match='the event of audit "some audit" cannot test a claim of'):
            compare(spoilt, run(result(claim=claim, event=found, bound=HIGHER["bound"])))


# --- Command line ---

CONFIG = """
version: 1
seed: 3
samples: 4000
execution: {workers: 1, isolate: false}
audits:
  - name: first
    mechanism: mechanisms_to_compare.py:laplace
    parameters: {scale: 1.0}
    claim: {epsilon: 2.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
  - name: second
    mechanism: mechanisms_to_compare.py:laplace
    claim: {epsilon: 2.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
"""


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the configuration, its mechanism and the report of a run, as a baseline."""
    folder = tmp_path_factory.mktemp("baseline")
    source = "def laplace(data, size, rng, scale=1.0):\n    return rng.laplace(data, scale, size)\n"
    (folder / "mechanisms_to_compare.py").write_text(source, encoding="utf-8")
    (folder / "some.yaml").write_text(CONFIG, encoding="utf-8")
    with contextlib.chdir(folder):
        assert main(["run", "some.yaml"]) == 0
        Path("reports/some/report.json").rename("baseline.json")
    return folder


@pytest.fixture
def config(baseline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(baseline, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path / "some.yaml"


def test_a_run_that_is_no_worse_than_its_baseline_passes(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in (["--seed", "4"], ["--only", "second", "--quiet"]):
        assert main(["run", "some.yaml", "--baseline", "baseline.json", *options]) == 0
        assert "compared with baseline.json: nothing worse, nothing better" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("scale: 1.0", "scale: 0.6"), "worse   first: privacy loss (ε) on the earlier event rose from "),
        (("scale: 1.0", "scale: 0.3"), "worse   first: a new violation: "),
        (("name: first", "name: third"), "worse   first: vanished: "),
        (("epsilon: 2.0", "epsilon: 3.0"), "worse   first: claim changed from ε = 2 to ε = 3, which promises less"),
        (("samples: 4000", "samples: 1000"), "worse   first: power fell: "),
    ],
)
def test_a_run_that_is_worse_than_its_baseline_fails_with_one_clear_line(
    config: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], line: str
) -> None:
    config.write_text(CONFIG.replace(*change, 1), encoding="utf-8")
    assert main(["run", "some.yaml", "--baseline", "baseline.json", "--quiet"]) == 1
    assert len([words for words in capsys.readouterr().out.splitlines() if words.startswith(line)]) == 1
    for share, status in (("0.1", 1), ("0.6", 0)) if "privacy loss" in line else ():
        assert main(["run", "some.yaml", "--baseline", "baseline.json", "--may-rise", share]) == status
    capsys.readouterr()
    # Two reports alone do not show how the present mechanism behaves on the earlier event.
    assert main(["compare", "baseline.json", "reports/some/report.json"]) == (0 if "privacy loss" in line else 1)
    words = "not compared  first: ε ≥" if "privacy loss" in line else line
    assert words in capsys.readouterr().out
    assert main(["compare", "reports/some/report.json", "baseline.json"]) == (1 if "vanished" in line else 0)


def test_a_loss_above_the_claim_is_worse_whatever_rise_is_allowed() -> None:
    """The later search sees only non-empty data sets, which do not show the violation."""

    def count(records: Any, size: int, rng: np.random.Generator, leak: float = 1.0) -> Any:
        return len(records) + rng.laplace(0, 1.25 if len(records) else leak, size)

    def plan(people: tuple[int, int], leak: float) -> auditing.Plan:
        domain = auditor.Records((0, 1), size=people, relation="add_remove")
        return planned(count, auditor.PureDP(1), domain, 1, 20_000, leak=leak)

    before, after = plan((0, 1), 1.25), plan((3, 4), 0.1)
    assert ran(after).verdict == "no_violation_found"
    for allowed in (0.0, 10.0, np.inf):
        [(kind, what)] = losses(before, after, may_rise=allowed)
        assert (kind, what.rpartition(", ")[2]) == ("worse", "above the claimed ε = 1")


@pytest.mark.parametrize("share", ["-1", "nan", "x", ""])
def test_a_share_that_is_no_number_is_refused(config: Path, capsys: pytest.CaptureFixture[str], share: str) -> None:
    for command in (["run", "some.yaml", "--baseline"], ["compare", "baseline.json"]):
        with pytest.raises(SystemExit, match="2"):
            main([*command, "baseline.json", f"--may-rise={share}"])
        assert "it must be a number of at least 0, or inf" in capsys.readouterr().err


def test_a_baseline_may_be_the_report_that_is_written_over(config: Path) -> None:
    Path("baseline.json").rename("reports/some/report.json")
    config.write_text(CONFIG.replace("scale: 1.0", "scale: 0.6"), encoding="utf-8")
    assert main(["run", "some.yaml", "--baseline", "reports/some/report.json"]) == 1
    assert main(["run", "some.yaml", "--baseline", "reports/some/report.json"]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no file"),
        ("{", "is not a report"),
        ("[]", "is not a report"),
        ('{"version": 2, "audits": []}', "it has version 2"),
        ('{"version": 1, "audits": [{}]}', "is not a report"),
    ],
)
def test_a_file_that_is_no_report_is_an_error_before_anything_runs(
    config: Path, capsys: pytest.CaptureFixture[str], text: str | None, message: str
) -> None:
    broken = config.parent / "broken.json"
    if text is not None:
        broken.write_text(text, encoding="utf-8")
    assert main(["run", "some.yaml", "--baseline", "broken.json"]) == 2
    assert main(["compare", "broken.json", "baseline.json"]) == 2
    assert main(["compare", "baseline.json", "broken.json"]) == 2
    assert capsys.readouterr().err.count(message) == 3
    assert not Path("reports/some/report.json").exists()


def test_every_configuration_has_its_own_baseline(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.yaml").write_text(CONFIG, encoding="utf-8")
    for arguments, told in (
        (["some.yaml", "other.yaml", "--baseline", "baseline.json"], '"other" has no baseline'),
        (["other.yaml", "--baseline", "baseline.json"], 'is a report of "some"; the run is of other'),
        (["some.yaml", "--baseline", "baseline.json", "--baseline", "baseline.json"], 'are both of "some"'),
    ):
        assert main(["run", *arguments]) == 2
        assert told in capsys.readouterr().err


def test_power_on_an_event_that_is_promised_to_be_likely_falls_as_what_would_be_caught_becomes_rarer() -> None:
    claim = auditor.Probability(0.9, at_least=True)
    made = {"claim": claim, "event": None, "bound": None}
    old = {**made, "power": {"80%": 0.88, "95%": 0.87}}
    assert changes(old, {**made, "power": {"80%": 0.86, "95%": 0.8}, "outputs": FEWER}) == [
        ("worse", "power fell: detects 0.800 with 95 % probability, before 0.870 (20,000 outputs, before 200,000)")
    ]
    less = {**made, "power": {"80%": 0.88, "95%": 0.86}}
    assert changes(old, {**less, "outputs": OutputsSpent(0, 20_000, 150_000)}) == []
    assert changes(old, {**less, "outputs": FEWER}) == [("worse", "fewer outputs: 20,000 outputs, before 200,000")]


def test_a_share_of_no_claim_is_a_share_of_the_loss() -> None:
    old, new = run(result(**MEASURED)), run(result(**{**MEASURED, **HIGHER}))
    assert [change.kind for change in compare(old, new, may_rise=0.5)] == ["worse"]
    assert [change.kind for change in compare(old, new, may_rise=1.5)] == ["note"]


def test_audits_that_vanished_fail_and_those_that_appeared_are_told() -> None:
    first, second, third = (result(name=name) for name in ("first", "second", "third"))
    differences = compare(run(first, second), run(third, first))
    assert [(change.audit, change.kind) for change in differences] == [
        ("third", ChangeKind.NOTE),
        ("second", ChangeKind.WORSE),
    ]
