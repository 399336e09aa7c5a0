"""The power of selection: each leak is planted in one place, and the event must recover most of it."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from auditor.blackbox.canonical import from_list
from auditor.blackbox.mechanism import Mechanism
from auditor.blackbox.outputs import ABSENT
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.utility import Prior, judge_prospects
from auditor.claims import ApproximateDP, PureDP
from auditor.events.blocks import RuleCounts, merge_cells
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, distinct_values
from auditor.events.event import Event
from auditor.events.features import EvidenceSum, Place, WhereLargest, Whole
from auditor.events.selection import ALWAYS_LEFT, FewOutputs, frequent_rules, unusual_forms
from auditor.methods.guessing import Guesses
from auditor.neighbours.pair import Pair

METHOD = Guesses(PureDP(0.5), alpha=0.01, planned=100_000)
Drawer = Callable[[int, int, np.random.Generator], Any]


def draw(drawer: Drawer, size: int, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    mechanism = Mechanism.from_callable(drawer, {}, "planted")
    return mechanism.draw(Pair(0, 1), rng.random(size) < 0.5, rng)


def selected(drawer: Drawer, size: int = 20_000) -> tuple[Event, float]:
    """Return the event and the rate at which its guesses win, on fresh outputs."""
    event = METHOD.learn(draw(drawer, size, 1)).test
    counts = event.count(draw(drawer, 100_000, 2))
    return event, counts.wins / max(1, counts.guesses)


def shift(side: int, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(side, 1.0, size)


def rare_atom(side: int, size: int, rng: np.random.Generator) -> Any:
    outputs = rng.normal(size=size)
    outputs[rng.random(size) < (0.02 if side else 0.0005)] = np.nan
    return outputs


def second_coordinate(side: int, size: int, rng: np.random.Generator) -> Any:
    return np.stack([rng.normal(size=size), rng.laplace(side, 1.0, size)], axis=1)


def test_weak_evidence_is_gathered_from_all_outputs() -> None:
    """For two Laplace distributions with ε = 0.1, 2,000 outputs say little, and the luckiest of all thresholds says
    nothing.

    A rule that guesses with probability g and wins at rate r has the information g(2r − 1)², exact here, as a share of the best.
    """

    def below(x: float, centre: float) -> float:
        return float(stats.laplace.cdf(x, centre, 10))

    def told(event: Event) -> float:
        ends = [-math.inf, *event.rule.edges, math.inf]
        wins = losses = 0.0
        for low, high, side in zip(ends, ends[1:], event.rule.values, strict=False):
            on_left, on_right = (below(high, centre) - below(low, centre) for centre in (0, 1))
            if side != ABSTAIN:
                wins += on_left if side == LEFT else on_right
                losses += on_right if side == LEFT else on_left
        return (wins - losses) * abs(wins - losses) / (wins + losses)

    def weak(side: int, size: int, rng: np.random.Generator) -> Any:
        return rng.laplace(side, 10, size)

    best = told(Event(Place("output"), Cells((0.0, 1.0), (LEFT, ABSTAIN, RIGHT), {}, ABSTAIN)))
    method = Guesses(PureDP(0.1), alpha=0.05, planned=8_000)
    shares = [told(method.learn(draw(weak, 2_000, seed)).test) / best for seed in range(30)]
    assert np.median(shares) > 0.85
    assert np.quantile(shares, 0.3) > 0.7


@pytest.mark.parametrize(("claim", "near"), [(PureDP(1.0), 0.1), (ApproximateDP(1.0, 0.05), 1.0)])
def test_a_rule_is_clear_of_the_claim_if_its_rate_proves_it(claim: PureDP | ApproximateDP, near: float) -> None:
    """By the bound on the expected counts, within so many standard errors. Under δ the number of guesses is luck as well."""
    method = Guesses(claim, alpha=0.001, planned=80_000)
    wins, losses = (at.ravel() for at in np.meshgrid(np.arange(500.0, 5_000, 97), np.arange(200.0, 1_500, 41)))
    nothing, trials = np.zeros_like(wins), 20_000
    clear = method.clearance(RuleCounts(wins, losses, nothing, nothing, trials))
    times = method.planned // trials
    for at in np.flatnonzero(np.abs(clear) > near):
        hits, misses, half = int(wins[at]) * times, int(losses[at]) * times, method.planned // 2
        counts = GuessCounts(Counts(hits, half, misses, half), Counts(0, half, 0, half), one_tailed=True)
        assert (method.bound(ALWAYS_LEFT, counts) > claim.epsilon) == (clear[at] > 0)


def test_the_bold_rule_is_the_surest_to_refute_until_a_violation_is_forecast() -> None:
    """The Laplace scale is 1.15 on the left: further out more is lost, on ever fewer outputs. The power is largest at −2.1."""

    def uneven(side: int, size: int, rng: np.random.Generator) -> Any:
        return rng.laplace(side, 1.0 if side else 1.15, size)

    method = Guesses(PureDP(1.0), alpha=0.001, planned=100_000)

    def thresholds(claimed: float) -> list[float]:
        at = replace(method, claim=PureDP(claimed))
        rules = [frequent_rules(draw(uneven, 25_000, seed), at)[1] for seed in range(15)]
        return [rule.test.rule.edges[0] for rule in rules if rule is not None]

    assert -3.5 < np.median(thresholds(1.0)) < -0.8
    assert np.median(thresholds(0.5)) < np.median(thresholds(1.0))


def test_events_say_where_they_look() -> None:
    event, _ = selected(second_coordinate)
    assert "output[1] ≤" in event.describe(LEFT)
    assert "output[1] >" in event.describe(RIGHT)
    event, _ = selected(rare_atom)
    assert "NaN" in event.describe(RIGHT)


@pytest.mark.parametrize(("noise", "about_types"), [(1.0, False), (0.0, True)])
def test_a_type_is_the_event_only_if_no_value_shows_a_violation(noise: float, about_types: bool) -> None:
    """The sum of no records is the integer 0: either noise is missing, which is the fault, or all sums are 0.0."""
    rng = np.random.default_rng(1)
    noisy = noise * rng.normal(size=(2000, 1)) + 0.0  # no negative zero
    sample = Sample(from_list([[0]] * 2000), from_list(noisy.tolist()))
    for rule in frequent_rules(sample, Guesses(PureDP(1.0), 0.001, 2000)):
        assert rule is None or ("type" in rule.test.describe(LEFT)) == about_types
    assert noise or rule is None or rule.test.describe(LEFT) == "output[0] is of type int"


def test_a_description_is_the_rule_itself() -> None:
    """The words state the thresholds in full: outputs sorted by them are the outputs that the rule guesses on."""
    event, _ = selected(shift)
    low = float(event.describe(LEFT).rpartition("≤ ")[2])
    high = float(event.describe(RIGHT).rpartition("> ")[2])
    sample = draw(shift, 50_000, 3)
    numbers = sample.left.column("output").numbers
    counts = event.count(sample)
    assert counts.left.hits_left == np.count_nonzero(numbers <= low)
    assert counts.right.hits_left == np.count_nonzero(numbers > high)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("values", [1, 3, 400, 10**6])
def test_distinct_values_are_those_of_numpy_however_few_and_rare(seed: int, values: int) -> None:
    rng = np.random.default_rng((seed, values))
    numbers = rng.integers(values, size=rng.integers(1, 5000)).astype(np.float64)
    numbers[rng.integers(len(numbers))] = -0.5  # seen once, likely not among the first
    numbers[-1] = np.inf
    found, at = distinct_values(numbers)
    expected, places = np.unique(numbers, return_inverse=True)
    assert found.tolist() == expected.tolist()
    assert at.tolist() == places.tolist()


# --- Whole outputs in words ---


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ([[0, 1], [1, 1]], ["[0, 1]", "[1, 1]"]),
        ([{"a": 1, "b": [2]}, {"a": 1}], ["{output['a']: 1, output['b'][0]: 2}", "{output['a']: 1}"]),
        (["absent", "x"], ["['absent']", "['x']"]),
    ],
    ids=["lists", "dicts", "a word that looks like none"],
)
def test_a_whole_output_is_told_by_what_it_holds(outputs: list[Any], words: list[str]) -> None:
    table = from_list(outputs)
    places = tuple(c.name for c in table.columns if c.name.startswith("output"))
    column = Whole(places).extract(table)
    assert column.codes is not None
    assert [column.atoms[code] for code in column.codes] == words


def test_whole_outputs_that_differ_differ_in_words() -> None:
    outputs: list[Any] = [
        None,
        "None",
        {"a": None},
        {"a": "None"},
        {},
        [],
        [None],
        ["absent"],
        ("absent",),
        {"absent": 0},
        0,
    ]
    table = from_list(outputs)
    column = Whole(tuple(c.name for c in table.columns)).extract(table)
    assert len(set(column.atoms)) == len(outputs)


def test_the_sum_of_answers_takes_what_is_a_number_of_an_answer() -> None:
    from auditor.blackbox.canonical import from_list
    from auditor.events.features import SumOfAnswers

    rows: list[Any] = [
        [1.0, 2.0, ValueError("no")],
        [1.0, float("inf"), None],
        {"answers": [1, [2, 3]], "spent": [100.0, 200.0]},
        {"output": [5, 6], "spent": {"budget": 50}},
        7.0,
    ]
    column = SumOfAnswers().extract(from_list(rows))
    assert column.numbers.tolist() == [3.0, 1.0, 6.0, 11.0, 0.0]
    assert column.codes is None


@pytest.mark.parametrize("guess", [LEFT, RIGHT])
@pytest.mark.parametrize("is_low", [True, False])
def test_one_tail_is_the_one_with_the_surest_odds(guess: float, is_low: bool) -> None:
    """Against all tails written out. The sides are farthest apart at another threshold, which guesses both of them."""
    many, few = [0.0] * 28 + [5.0] * 12, [0.0] * 14 + [1.0] * 25 + [5.0]
    if is_low:
        many, few = ([-x for x in side] for side in (many, few))
    left, right = (many, few) if guess == LEFT else (few, many)
    rule = FewOutputs.of(Sample(from_list(left), from_list(right))).tail()
    assert rule is not None and isinstance(rule.rule, Cells)
    assert rule.rule.values == ((guess, ABSTAIN) if is_low else (ABSTAIN, guess))
    odds = {}
    for at in (0.5, 3.0) if not is_low else (-3.0, -0.5):
        for below in (True, False):
            a, b = (sum((x < at) == below for x in side) + 0.5 for side in (left, right))
            odds[at, below] = abs(math.log(a / b)) - math.sqrt(1 / a + 1 / b)
    (at, below) = max(odds, key=odds.__getitem__)
    assert below == is_low
    assert rule.rule.edges[0] == pytest.approx(at, abs=2)


def test_no_tail_of_equal_sides() -> None:
    outputs = from_list([1.0, 2.0, 3.0] * 10)
    assert FewOutputs.of(Sample(outputs, outputs)).tail() is None


def test_a_short_look_sees_that_more_is_lost_on_few_outputs() -> None:
    """A noisy count that is redrawn until it is positive: ε = 1.49 near 0, and less on the half that separates the sides
    best.

    With 1,100 outputs a careful rule takes that half. A bold rule, judged on other outputs, leaves open whether ε = 1 is broken.
    """

    def redrawn(side: int, size: int, rng: np.random.Generator) -> Any:
        noisy = rng.laplace(side, 1, 8 * size)
        return noisy[noisy >= 0][:size]

    method = Guesses(PureDP(1.0), alpha=0.001, planned=100_000)
    looks = [method.prospects(method.evidence(draw(redrawn, 1_100, seed))) for seed in range(20)]
    chances = [judge_prospects(look, Prior(0.6, 0.2), 1.0)[0] for look in looks]
    careful, bold = (np.median([chance[kind] for chance in chances]) for kind in (0, -1))
    assert bold > 20 * careful


def test_an_atom_seen_eight_times_is_found_beside_numbers_that_tell_nothing() -> None:
    def nan_on_the_right(side: int, size: int, rng: np.random.Generator) -> Any:
        outputs = rng.laplace(size=size)
        outputs[rng.random(size) < 0.0008 * side] = math.nan
        return outputs

    event, rate = selected(nan_on_the_right)
    assert event.describe(RIGHT).endswith("NaN")
    assert rate == 1


def test_scores_speak_in_odds_and_the_largest_number_has_a_key() -> None:
    score, keys = EvidenceSum(()), WhereLargest(("output['x']", "output['y']", "output['z']"))
    rule = Cells((-8.0, math.log(20)), (RIGHT, ABSTAIN, LEFT), {})
    assert Event(score, rule).describe(RIGHT) == f"{score.name} for the right data set is 2,980 to 1 or more"
    assert Event(score, rule).describe(LEFT).endswith(" for the left data set is 20 to 1 or more")
    assert Event(keys, replace(rule, edges=(0.5, 1.5))).describe(LEFT) == "place of the largest number is output['z']"


def test_merging_keeps_only_differences_that_the_counts_support() -> None:
    assert merge_cells(np.array([100, 101, 99, 100]), np.array([99, 100, 101, 100]))[0] == [3]
    assert merge_cells(np.array([100, 101, 20, 21]), np.array([20, 21, 100, 99]))[0] == [1, 3]


def test_with_identical_sides_nothing_is_forecast() -> None:
    def same(side: int, size: int, rng: np.random.Generator) -> Any:
        return rng.normal(size=size)

    assert METHOD.learn(draw(same, 20_000, 1)).forecast < 0.2


MIXED = [0.0, 1.5, -2.0, 7.25, "yes", "no", None, float("inf"), [1.0, 2.0], ValueError("no"), 3]


@pytest.mark.parametrize("seed", range(20))
def test_a_few_outputs_are_counted_as_all_outputs_are(seed: int) -> None:
    """Rules of few outputs, on a column that other outputs hold or lack, against the counts that bounds use."""
    rng = np.random.default_rng(seed)
    first, second = (
        Sample(*(from_list([MIXED[i] for i in rng.integers(len(MIXED), size=n)]) for n in (17, 12))) for _ in range(2)
    )
    few, others = FewOutputs.of(first), FewOutputs.of(second)
    absent = Event(Place("output[5]"), Cells((), (LEFT,), {ABSENT: RIGHT}))
    events = [few.threshold(), few.tail(), few.spending(0.1), ALWAYS_LEFT, absent]
    for event in filter(None, events):
        assert others.count(event) == event.count(second)
        assert few.count(event) == event.count(first)


def test_outputs_of_one_form_on_either_side_are_unusual_on_none() -> None:
    def unusual(left: list[Any], right: list[Any]) -> tuple[int, int]:
        return unusual_forms(Sample(from_list(left), from_list(right)))

    assert unusual([0.5, 1.5], [2.5]) == unusual(["yes"] * 3, ["yes"] * 2) == (0, 0)
    assert unusual(["yes"] * 3, ["no"] * 2) == unusual([0.5] * 3, [None] * 2) == (0, 2)
    assert unusual([0.5, None, 0.5], [0.5]) == (1, 0)
