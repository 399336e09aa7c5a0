"""The evidence of rare events in a few outputs: events that spend most of δ, and outputs of an unusual form."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import auditor
from auditor.blackbox.canonical import from_list
from auditor.blackbox.sample import Sample
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.bounds.utility import UNLIKE_IF_RARE
from auditor.events.selection import MOST_FORMS, FewOutputs, unusual_forms
from auditor.methods import method_for
from auditor.methods.guessing import RARE_IN_DELTAS, EventCounts

Value = float | str | None
ONE_OF_EACH = EventCounts(3, 1, 50, 40)


def sample_of(left: Any, right: Any) -> Sample:
    return Sample(from_list(list(left)), from_list(list(right)))


def samples(values: tuple[Value, ...], most: int) -> Iterator[tuple[tuple[Value, ...], tuple[Value, ...]]]:
    """Yield all samples of at most so many outputs on each side; their order does not matter."""
    sides = [side for size in range(1, most + 1) for side in itertools.combinations_with_replacement(values, size)]
    yield from itertools.product(sides, sides)


# --- Counts of an event ---


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 4), min_size=2, max_size=2))
def test_counts_of_an_event_are_swapped_and_pooled(numbers: list[tuple[int, int, int, int]]) -> None:
    first, second = (EventCounts(*some) for some in numbers)
    assert first.swap().swap() == first
    assert first.swap() == EventCounts(first.other, first.own, first.others, first.trials)
    assert first.pool(second) == second.pool(first) == EventCounts(*map(sum, zip(first, second, strict=True)))
    assert first.pool(second).swap() == first.swap().pool(second.swap())
    assert first.pool(EventCounts()) == first


def test_the_side_that_a_rule_guesses_is_the_events_own() -> None:
    left = GuessCounts(Counts(3, 50, 1, 40), Counts(0, 50, 0, 40), one_tailed=True)
    right = GuessCounts(Counts(0, 40, 0, 50), Counts(1, 40, 3, 50), one_tailed=True)
    assert EventCounts.of(left) == EventCounts.of(right) == ONE_OF_EACH
    never = GuessCounts(Counts(0, 50, 0, 40), Counts(0, 50, 0, 40), one_tailed=True)
    assert sorted(EventCounts.of(never)) == [0, 0, 40, 50]


# --- The event that spends most of δ ---


def spent_by(own: int, other: int, epsilon: float) -> float:
    factor = math.exp(epsilon)
    return own - factor * other - math.sqrt(own + factor**2 * other)


def most_spent(left: tuple[Value, ...], right: tuple[Value, ...], epsilon: float) -> float:
    """Return the most that an atom, any number, or the numbers up to a threshold or beyond it spend, by trying all of them."""
    numbers = sorted({value for value in (*left, *right) if isinstance(value, float)})
    atoms = {value for value in (*left, *right) if not isinstance(value, float)}
    events: list[Any] = [lambda value, atom=atom: value == atom and not isinstance(value, float) for atom in atoms]
    events += [lambda value, end=end: isinstance(value, float) and value <= end for end in numbers]
    events += [lambda value, end=end: isinstance(value, float) and value > end for end in numbers]
    counts = [(sum(map(event, left)), sum(map(event, right))) for event in events]
    return max(spent_by(own, other, epsilon) for one, two in counts for own, other in ((one, two), (two, one)))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("values", [(0.0, 1.0, 2.0), (0.0, 1.0, None), (1.0, "a", None), ("a", "b", None)], ids=str)
def test_the_event_that_is_learned_spends_most_of_all_events(values: tuple[Value, ...], epsilon: float) -> None:
    for left, right in samples(values, 3):
        sample = sample_of(left, right)
        event, most = FewOutputs.of(sample).spending(epsilon), most_spent(left, right, epsilon)
        if event is None:
            assert most <= 0, (left, right)
            continue
        counts = EventCounts.of(event.count(sample))
        assert (counts.trials, counts.others) in ((len(left), len(right)), (len(right), len(left)))
        spent = spent_by(counts.own, counts.other, epsilon)
        # A text has features of its own, such as its length, so its events are more than those that are tried.
        has_texts = any(isinstance(value, str) for value in (*left, *right))
        assert spent > most - 1e-9 if has_texts else spent == pytest.approx(most, abs=1e-9), (left, right)
        assert spent > 0


def test_no_event_spends_anything_where_both_sides_are_alike() -> None:
    for values in itertools.product((0.0, 1.0, None), repeat=3):
        assert FewOutputs.of(sample_of(values, values)).spending(0.0) is None


# --- Outputs of an unusual form ---


@pytest.mark.parametrize("values", [(0.0, 1.0, "a"), ("a", "b", None), (1.0, "a", None)], ids=str)
def test_outputs_of_an_unusual_form_are_all_but_those_of_the_commonest(values: tuple[Value, ...]) -> None:
    for left, right in samples(values, 4):
        forms = [
            ["number" if isinstance(value, float) else f"atom {value}" for value in side] for side in (left, right)
        ]
        times = Counter(forms[0] + forms[1])
        commonest = [form for form, number in times.items() if number == max(times.values())]
        allowed = [tuple(sum(form != usual for form in side) for side in forms) for usual in commonest]
        assert unusual_forms(sample_of(left, right)) in allowed, (left, right)


def test_a_form_has_a_part_for_each_place() -> None:
    usual, other = (1.0, "a"), [(None, "a"), (2.0, "b"), (None, "b")]
    sample = sample_of([usual] * 5 + other[:1], [usual] * 4 + other)
    assert unusual_forms(sample) == (1, 3)


def test_many_texts_in_a_place_are_alike() -> None:
    """Otherwise texts that occur once each would make almost all outputs unusual."""
    texts: list[Value] = [f"text {i}" for i in range(MOST_FORMS + 1)]
    assert unusual_forms(sample_of([*texts, 1.0], texts)) == (1, 0)
    few = texts[: MOST_FORMS // 2]
    assert unusual_forms(sample_of([*few, *few], [few[0]])) == (len(few) * 2 - 2, 0)


# --- What the evidence is worth ---

CLAIM = auditor.ApproximateDP(1.0, 1e-3)
NO_WINS = ((0, 0, 10_000, 1),) * 3


def test_evidence_of_events_adds_up_and_the_event_that_spends_delta_needs_one() -> None:
    method = method_for(CLAIM, "fixed", 0.05, 10**6)
    sample = sample_of([0.0] * 200 + [None] * 4, [0.0] * 200)
    evidence = method.evidence(sample)
    assert len(evidence) == 5
    assert evidence[4] == (4, 0, 204, 200)
    joined = method.joined(evidence, evidence)
    assert joined[3:] == tuple(tuple(2 * number for number in counts) for counts in evidence[3:])
    assert method.joined((), evidence) == method.joined(evidence, ()) == evidence
    assert method_for(auditor.PureDP(1.0), "fixed", 0.05, 10**6).evidence(sample)[3:] == (EventCounts(), evidence[4])


@pytest.mark.parametrize("counts", [(40, 0, 10_000, 10_000), (0, 40, 10_000, 10_000)])
def test_an_event_is_worth_the_deltas_that_it_spends(counts: tuple[int, ...]) -> None:
    """Its rate is four times δ, so it exceeds δ by three: the loss is ε + 3. The error is the standard error, over δ."""
    method = method_for(CLAIM, "fixed", 0.05, 10**6)
    [prospect] = method.prospects((*NO_WINS, counts, EventCounts()))
    assert prospect.loss == pytest.approx(1 + 3, abs=0.06)
    exact = math.sqrt((4e-3 * (1 - 4e-3) + math.e**2 * 0.5 / 10_000) / 10_000) / 1e-3
    assert prospect.error == pytest.approx(exact, rel=0.02)
    assert prospect.unlike == UNLIKE_IF_RARE
    more = method_for(CLAIM, "fixed", 0.05, 4 * 10**6)
    [with_more] = more.prospects((*NO_WINS, counts, EventCounts()))
    assert (with_more.noise, with_more.short) == (pytest.approx(prospect.noise / 2), pytest.approx(prospect.short / 2))


@pytest.mark.parametrize(
    "counts",
    [
        (0, 0, 10_000, 10_000),
        (7, 7, 10_000, 10_000),
        (RARE_IN_DELTAS * 10 + 1, 0, 10_000, 10_000),  # often enough for a bound on ε
        (0, 0, 0, 0),
    ],
)
def test_an_event_that_spends_nothing_or_is_not_rare_is_no_prospect(counts: tuple[int, ...]) -> None:
    assert method_for(CLAIM, "fixed", 0.05, 10**6).prospects((*NO_WINS, counts, EventCounts())) == []


@pytest.mark.parametrize("claim", [auditor.PureDP(1.0), auditor.ApproximateDP(1.0, 1e-5)], ids=str)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_single_output_of_an_unusual_form_counts(claim: Any, swapped: bool) -> None:
    """Rules are learned from one output and win with the next, so none of them has anything to say of a single one."""
    usual, unusual = [["ok", float(i)] for i in range(8)], [["outlier", 8.0]]
    sides = (usual, usual[1:] + unusual)
    method = method_for(claim, "fixed", 0.05, 10**6)
    evidence = method.evidence(sample_of(*(sides[::-1] if swapped else sides)))
    *others, shown = method.prospects(evidence)
    assert (shown.wins, shown.losses, shown.unlike) == (1, 0, UNLIKE_IF_RARE / 2)
    assert others == method.prospects(evidence[:3])
    for left, right in ((sides[1], sides[1]), (usual, usual[:5] + unusual * 3)):  # alike, and too often
        evidence = method.evidence(sample_of(left, right))
        assert method.prospects(evidence) == method.prospects(evidence[:3])


@pytest.mark.parametrize("step", [2.0, 100.0])
def test_values_that_take_turns_show_in_the_first_look(step: float) -> None:
    """Noise in steps keeps the remainder of the answer. No threshold shows it, and most values are too frequent to be rare."""
    method = method_for(auditor.PureDP(1.0), "fixed", 0.05, 10**6)
    noise = step * np.array([0, 0, 0, 1, 1, -1, -1, -2, -2, 0])

    def most_won(left: Any, right: Any) -> int:
        shown = method.prospects(method.evidence(sample_of(left, right)))
        return max((one.wins for one in shown if not one.losses), default=0)

    assert most_won(noise, noise + 1.0) == 12, "each value but its first occurrence, on both sides"
    assert most_won(noise, noise[::-1]) == 0


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
@pytest.mark.parametrize("in_deltas", [0.03, 0.3, 2.0])
@pytest.mark.parametrize("trials", [3_000, 30_000])
def test_an_event_as_frequent_on_both_sides_shows_no_difference(epsilon: float, in_deltas: float, trials: int) -> None:
    """By exact enumeration of both counts: ``loss + free`` exceeds 2.33 errors with probability 0.01 at most."""
    delta = 1e-3
    method = method_for(auditor.ApproximateDP(epsilon, delta), "fixed", 0.05, 10**6)
    counts = np.arange(int(binom.isf(1e-5, trials, in_deltas * delta)) + 1)
    chances, by_luck = binom.pmf(counts, trials, in_deltas * delta), 0.0
    for own, other in itertools.product(counts.tolist(), counts.tolist()):
        prospects = method.prospects((*NO_WINS, EventCounts(own, other, trials, trials), EventCounts()))
        differs = any(prospect.loss + prospect.free > 2.33 * prospect.error for prospect in prospects)
        by_luck += chances[own] * chances[other] * differs
    assert by_luck <= 0.01


def test_rare_outcomes_of_one_side_are_a_prospect_in_the_outputs_of_a_search() -> None:
    """An outcome at a rate of 8 δ occurs 80 times on the left within 6 standard errors, so the loss is ε + 7 within 6."""
    rng = np.random.default_rng(1)
    left = np.where(rng.random(10_000) < 8e-3, np.nan, rng.laplace(size=10_000))
    outputs = [None if math.isnan(number) else number for number in left.tolist()]
    method = method_for(CLAIM, "fixed", 0.05, 10**6)
    sample = sample_of(outputs, rng.laplace(size=10_000).tolist())
    of_delta = [one for one in method.prospects(method.evidence(sample)) if not one.wins + one.losses]
    assert max(one.loss for one in of_delta) == pytest.approx(8, abs=6)
    assert all(one.loss > 1 + 1 for one in of_delta if one.error < 1.2)


@pytest.mark.parametrize("delta", [1e-3, 0.01])
def test_what_spends_delta_is_looked_for_in_values_whatever_else_is_looked_at(delta: float) -> None:
    rng = np.random.default_rng(3)
    numbers = np.round(rng.normal(size=(2, 60)), 3)
    sample = sample_of(np.where(rng.random(60) < 0.3, 0.5, numbers[0]).tolist(), numbers[1].tolist())
    claim = auditor.ApproximateDP(1.0, delta)
    of_values, of_both = (
        method_for(claim, "fixed", 0.05, 10**6, events=events).evidence(sample)[3:]
        for events in (("values",), ("bits", "values"))
    )
    assert of_values == of_both
    assert of_values[0][0] > 0
