"""Privacy loss as a rate of correct guesses: the numbers agree with the bound printed next to them."""

import math
import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import changed, event_of, made
from scipy.stats import norm

from auditor.bounds.evidence import Bound
from auditor.bounds.guesses import epsilon_from_rate, free_win_rate, mu_from_rate, rate_of_epsilon
from auditor.claims import ApproximateDP, Claim, GaussianDP, PrivacyProfile, PureDP, Unclaimed, ZeroConcentratedDP
from auditor.events.observed import ObservedProfile, ObservedRule
from auditor.methods import method_for
from auditor.neighbours.pair import Pair, Relation
from auditor.report.guess_words import guess_words, percentages, share_words
from auditor.report.html import to_cards
from auditor.report.phrases import finding
from auditor.results.result import AuditResult
from auditor.verdict import Verdict

ALPHA = 0.001


def rule(wins: int, losses: int, trials: int, *, both: bool = False) -> ObservedRule:
    """Return a rule that guesses "left", or either side equally often, with as many trials on each side."""
    here, there = (
        {"left": [wins, trials], "right": [losses, trials]},
        {"left": [losses, trials], "right": [wins, trials]},
    )
    opposite = {"opposite": {"description": "output > 1", "guess": "right", "counts": there}} if both else {}
    event = event_of({"description": "output ≤ 0", "guess": "left", "counts": here, **opposite})
    assert isinstance(event, ObservedRule)
    return event


def audited(claim: Claim, event: Any, **changes: Any) -> AuditResult:
    """Return an audit with the bound that its event proves."""
    audit = made(claim=claim, event=event, alpha=ALPHA, **changes)
    method = method_for(claim, "fixed", ALPHA * audit.judgement.share, 1000)
    bound = Bound(
        claim.quantity,
        method.bound(SimpleNamespace(events=getattr(event, "points", ())), event.counted()),
        1 - ALPHA,
        method.name,
    )
    verdict = Verdict.VIOLATION if claim.excess(bound.value) > 0 else Verdict.NO_VIOLATION_FOUND
    verdict = Verdict.MEASURED if isinstance(claim, Unclaimed) else verdict
    return changed(audit, bound=bound, verdict=verdict, power={"80%": 2.0, "95%": 2.2})


def rates(words: str) -> list[float]:
    """Return the rates of correct guesses in a sentence, after the share of the outputs."""
    return [float(rate) for rate in re.findall(r"[0-9.]+(?= %)", words.partition("; ")[2])]


def test_a_violation_says_the_rate_that_is_proved_and_the_rate_that_is_allowed() -> None:
    audit = audited(PureDP(1.0), rule(330, 5, 1000))
    words = guess_words(audit)
    assert audit.bound is not None
    proved = 1 / (1 + math.exp(-audit.bound.value))
    assert proved < 330 / 335, "what is said is the limit, and not what was seen"
    assert words == (
        "The event fires on 1 output in 6; "
        f"a guess from it is right at least {math.floor(1000 * proved) / 10} % of the time (ε = 1 allows 73.1 %)."
    )


def test_a_rule_that_never_abstains_guesses_every_output() -> None:
    words = guess_words(audited(PureDP(0.5), rule(750, 250, 1000, both=True)))
    assert words.startswith("The event fires on every output; a guess")


def test_a_pass_says_what_was_seen_and_what_that_proves() -> None:
    words = guess_words(audited(PureDP(1.0), rule(3000, 1500, 10_000)))
    assert words.startswith("The event fires on 22 % of outputs; ")  # 4,500 of 20,000, rounded down
    observed, proved, allowed = rates(words)
    assert (observed, allowed) == (66.7, 73.1)
    assert 64 < proved < observed
    assert "guesses from it were right 66.7 % of the time, which proves at least" in words


def test_a_pass_that_proves_nothing_says_so() -> None:
    words = guess_words(audited(PureDP(1.0), rule(500, 500, 10_000)))
    assert words.endswith("were right 50.0 % of the time, which proves no loss (ε = 1 allows 73.1 %).")


def test_without_a_claim_the_rate_is_compared_with_that_of_no_loss() -> None:
    words = guess_words(audited(Unclaimed(), rule(3000, 1000, 10_000)))
    assert re.search(
        r"a guess from it is right at least 7[0-4]\.. % of the time \(without any loss: 50\.0 %\)\.$", words
    )


def test_for_gaussian_privacy_the_rates_are_those_of_guesses_that_never_abstain() -> None:
    audit = audited(GaussianDP(1.0), rule(900, 100, 1000, both=True))
    assert audit.bound is not None
    proved, allowed = rates(guess_words(audit))
    assert allowed == round(100 * norm.cdf(0.5), 1)
    assert proved == math.floor(1000 * norm.cdf(audit.bound.value / 2)) / 10


def test_with_delta_the_free_guesses_are_allowed() -> None:
    event = rule(3000, 300, 10_000)
    audit = audited(ApproximateDP(1.0, 0.05), event)
    free = free_win_rate(event.counted(), 0.05, 0.05 * ALPHA)
    assert 0.14 < free < 0.17
    proved, allowed = rates(guess_words(audit))
    assert allowed == round(100 * (free + (1 - free) / (1 + math.exp(-1.0))), 1)
    assert audit.bound is not None
    assert epsilon_from_rate(proved / 100, free) == pytest.approx(audit.bound.value, abs=0.1)


def test_of_a_profile_the_point_with_the_largest_excess_is_told() -> None:
    claim = PrivacyProfile([(0.5, 0.01), (2.0, 1e-5)])
    event = ObservedProfile("both", (rule(300, 290, 1000), rule(400, 10, 1000)))
    audit = audited(claim, event)
    method = method_for(ApproximateDP(2.0, 1e-5), "fixed", ALPHA / 2, 1000)
    proved, allowed = rates(guess_words(audit))
    assert "ε = 2, δ = 1e-05 allows" in guess_words(audit)
    assert allowed == round(100 * rate_of_epsilon(2.0, 0.0), 1)
    assert proved / 100 == pytest.approx(rate_of_epsilon(method.bound(None, event.points[1].counted()), 0.0), abs=0.002)


@pytest.mark.parametrize(
    "audit",
    [
        pytest.param(made(), id="without a bound"),
        pytest.param(audited(PureDP(1.0), rule(0, 0, 1000)), id="without a guess"),
        pytest.param(
            changed(audited(PureDP(1.0), rule(9, 1, 99)), verdict=Verdict.INCONCLUSIVE), id="without an answer"
        ),
        pytest.param(audited(PureDP(40.0), rule(900, 1, 1000)), id="a claim that allows all"),
        pytest.param(changed(audited(PureDP(1.0), rule(9, 1, 99)), claim=ZeroConcentratedDP(1.0)), id="ρ"),
        pytest.param(
            changed(
                audited(ApproximateDP(1.0, 0.1), rule(9, 1, 99)), bound=Bound("epsilon", 0.1, 0.999, "two-intervals")
            ),
            id="δ by two intervals",
        ),
    ],
)
def test_where_no_guess_is_bounded_nothing_is_said(audit: AuditResult) -> None:
    assert guess_words(audit) == ""


@pytest.mark.parametrize("share", [1.0, 0.85, 0.0375])
@given(data=st.data())
def test_the_rate_is_that_of_the_bound_at_its_level(share: float, data: st.DataObject) -> None:
    """The rate is the Clopper-Pearson limit on the guesses, at the level of the bound."""
    trials = data.draw(st.integers(20, 5000))
    wins = data.draw(st.integers(1, trials))
    losses = data.draw(st.integers(0, min(wins, trials)))
    delta = data.draw(st.sampled_from([0.0, 1e-6, 1e-3, 0.02]))
    claim = ApproximateDP(0.3, delta) if delta else PureDP(0.3)
    event = rule(wins, losses, trials)
    audit = audited(claim, event, share=share)
    assert audit.bound is not None
    words = guess_words(audit)
    if words and audit.verdict is Verdict.VIOLATION:
        proved, allowed = rates(words)
        assert allowed < proved < 100
        free = free_win_rate(event.counted(), delta, 0.05 * ALPHA * share)
        # Rounded down, since the rate is proved.
        assert epsilon_from_rate(proved / 100, free) <= audit.bound.value + 1e-9


@given(proved=st.floats(0.5, 1), allowed=st.floats(0.5, 1))
def test_percentages_keep_the_order_of_rates_and_round_the_proved_one_down(proved: float, allowed: float) -> None:
    shown = percentages(proved, allowed)
    if shown is None:
        assert max(proved, allowed) > 0.9999999 or 0 < proved - allowed < 2e-8
        return
    low, high = map(float, shown)
    assert low / 100 <= proved + 1e-13
    assert abs(high / 100 - allowed) < 0.0006
    assert (low > high) == (proved > allowed)


@given(some=st.integers(1, 10**9), of=st.integers(1, 10**9))
def test_a_share_in_words_is_near_the_share(some: int, of: int) -> None:
    if some > of:
        some, of = of, some
    words = share_words(some, of)
    if match := re.fullmatch(r"1 output in ([\d,]+)", words):
        assert some / of == pytest.approx(1 / int(match[1].replace(",", "")), rel=0.1)
    elif match := re.fullmatch(r"(\d+) % of outputs", words):
        assert 0 <= some / of - int(match[1]) / 100 < 0.01
    else:
        assert (some, words) == (of, "every output")


def test_all_forms_of_a_report_say_it() -> None:
    audit = audited(PureDP(1.0), rule(330, 5, 1000), pair=Pair(0, 1, Relation.SUBSTITUTE))
    words = guess_words(audit)
    assert f"above the claimed ε = 1. {words}" in finding(audit)
    assert words in to_cards([audit])


def test_mu_and_epsilon_of_a_rate_are_inverse() -> None:
    assert mu_from_rate(float(norm.cdf(0.7))) == pytest.approx(1.4)
    assert epsilon_from_rate(rate_of_epsilon(0.7, 0.2), 0.2) == pytest.approx(0.7)
