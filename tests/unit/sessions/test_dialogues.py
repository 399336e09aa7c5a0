"""Neighbours with a script of questions: pairs of the inner domain that share a script, whatever the search does to them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import auditor
from auditor import Dialogues, InvalidInputError, Pairs, Records, Totals, Value
from auditor.interfaces import CLOSELY
from auditor.neighbours.domains import MOST_CORNERS, MOST_SIMPLE
from auditor.neighbours.facts import facts_of
from auditor.neighbours.pair import Pair, Relation, check_neighbours
from auditor.neighbours.scripts import LAST_ANSWER, NO_QUESTION, ScriptedData, ScriptStep, read_script
from auditor.neighbours.search import has_one_pair
from auditor.neighbours.shrinking import complexity, simpler
from auditor.sessions.dialogues import MOST_QUESTIONS

BASES = [
    Records((0, 10), size=(0, 5)),
    Records(choices=["a", "b"], size=(2, 2), relation="substitute"),
    Value([0, 1, 2]),
]
ASK: list[Any] = [
    ["count", "sum", "Count"],
    {"range": [0, 10]},
    {"range": [0.0, 0.5]},
    {"parts": {"do": ["ask", "stop"], "above": {"range": [-1, 5]}}},
]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def questions_in(ask: Any, question: Any) -> bool:
    """Whether a question is allowed, by a second implementation of the keys."""
    if isinstance(ask, list):
        return question in ask
    if "range" in ask:
        low, high = ask["range"]
        return question == LAST_ANSWER or (low <= question <= high and isinstance(question, type(low)))
    return question.keys() == ask["parts"].keys() and all(questions_in(ask["parts"][k], q) for k, q in question.items())


def check(domain: Dialogues, base: Any, ask: Any, pair: Pair) -> None:
    left, right = pair.left, pair.right
    assert left["ask"] == right["ask"]
    relation = Relation.SUBSTITUTE if isinstance(base, Value) else pair.relation
    check_neighbours(left["data"], right["data"], relation)
    script = read_script(left["ask"])
    assert script == left.script == right.script
    assert 1 <= len(script) <= domain.rounds
    for step in script:
        assert 1 <= step.session <= domain.sessions
        assert questions_in(ask, step.ask)
        assert step.otherwise is NO_QUESTION or questions_in(ask, step.otherwise)


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("ask", ASK, ids=str)
@given(rounds=st.integers(1, 9), sessions=st.integers(1, 2), seed=st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_every_pair_is_neighbouring_and_asks_both_sides_alike(
    base: Any, ask: Any, rounds: int, sessions: int, seed: int
) -> None:
    domain, stream = Dialogues(base, ask, rounds, sessions), np.random.default_rng(seed)
    corners, simplest = domain.corners(), domain.simplest()
    assert 1 <= len(corners) <= MOST_CORNERS
    assert 1 <= len(simplest) <= MOST_SIMPLE
    assert len({pair.key() for pair in corners}) == len(corners)
    corners_of_domain = [*corners[:40], *simplest[:40]]
    pair = corners_of_domain[stream.integers(len(corners_of_domain))]
    for _ in range(10):
        pair = domain.mutate(pair, stream)
        corners_of_domain += [pair, domain.random(stream), *list(domain.simpler(pair))[:20]]
        corners_of_domain += [half] if (half := domain.between(pair, domain.random(stream))) is not None else []
    corners_of_domain += [*domain.rearranged(stream)][:3]
    for dialogue in corners_of_domain:
        check(domain, base, ask, dialogue)


def test_each_script_is_looked_at_closely_once_on_the_best_pair_that_was_tried_with_it() -> None:
    domain, stream = Dialogues(BASES[0], ["count", "sum"], 3), rng()
    best = [*(domain.random(stream) for _ in range(20)), *domain.simplest()[::-1]]
    chosen = domain.closely(best, 12)
    scripts = [pair.left["ask"] for pair in chosen]
    assert len(chosen) == 12
    assert all(scripts.count(script) == 1 for script in scripts)
    for pair in chosen:
        assert pair is next(candidate for candidate in best if candidate.left["ask"] == pair.left["ask"])
    # The first scripts and those with the largest utility alternate.
    assert [candidate.left["ask"] for candidate in (domain.corners()[0], best[0])] == scripts[:2]
    assert len(domain.closely(best, 1)) == CLOSELY
    assert Records((0, 10), size=(0, 5)).closely(best, 99) == Records((0, 10), size=(0, 5)).simplest()[:CLOSELY]


def test_steps_of_a_path_keep_the_script() -> None:
    domain = Dialogues(Totals(cells=2, values=(0, 10), contribution={"l1": 1}), ["sum"], 2)
    pair = next(pair for pair in domain.corners() if domain.step(pair, 1) is not None)
    after = domain.step(pair, 1)
    assert after is not None
    assert after.left["data"] == pair.right["data"]
    assert after.left["ask"] == pair.left["ask"]


def test_scripts_get_shorter_plainer_and_simpler_and_so_do_data() -> None:
    domain = Dialogues(Records((0, 10), size=(0, 5)), {"range": [0, 100]}, 6)
    script = read_script([{"ask": 37}, {"ask": 51, "if": {"above": 3.7}, "else": 9}, {"ask": 37}])
    base = next(pair for pair in domain.base.corners() if len(pair.left) == 3)
    pair = domain.with_script(base, script)
    tried = list(simpler(pair, domain))
    assert all(complexity(proposal) < complexity(pair) for proposal in tried)
    written = [proposal.left["ask"] for proposal in tried if proposal.left["data"] == base.left]
    assert [{"ask": 37}, {"ask": 37}] in written
    assert [{"ask": 37}, {"ask": 51}, {"ask": 37}] in written
    assert [{"ask": 37}, {"ask": 9}, {"ask": 37}] in written
    assert [{"ask": 37}, {"ask": 51, "if": {"above": 3.7}}, {"ask": 37}] in written
    assert [{"ask": 0}, *pair.left["ask"][1:]] in written
    assert any(len(proposal.left["data"]) < 3 for proposal in tried)


def test_a_question_of_parts_gets_simpler_part_by_part() -> None:
    domain = Dialogues([(0, 1)], {"parts": {"of": {"range": [0, 9]}, "at": {"range": [0, 9]}}}, 1)
    pair = domain.with_script(domain.base.corners()[0], read_script([{"ask": {"of": 7, "at": 5}}]))
    asked = [proposal.left["ask"][0]["ask"] for proposal in domain.simpler(pair) if proposal.left["ask"]]
    assert {"of": 0, "at": 5} in asked
    assert {"of": 7, "at": 0} in asked


def test_a_fixed_script_is_asked_as_it_is_and_shrunk_by_leaving_out() -> None:
    script = [{"ask": "a"}, {"ask": "b", "if": "answered"}]
    domain, stream = Dialogues(Value([0, 1, 2]), {"script": script}), rng()
    pairs = [*domain.corners(), *domain.simplest(), *(domain.random(stream) for _ in range(20))]
    pairs += [domain.mutate(pair, stream) for pair in pairs]
    assert all(pair.left["ask"] == script for pair in pairs)
    shorter = [pair.left["ask"] for pair in domain.simpler(pairs[0])]
    assert [{"ask": "a"}] in shorter
    assert has_one_pair(Dialogues([(0, 1)], {"script": script}), rng())


def test_a_mechanism_gets_its_own_copy_in_the_form_of_the_other_domain() -> None:
    pair = Dialogues(Records((0.0, 1.0), size=(0, 3)), ["q"], 2).corners()[0]
    one, two = pair.dataset("right"), pair.dataset("right")
    assert isinstance(one["data"], np.ndarray)
    assert isinstance(one, ScriptedData)
    one["data"][:] = 5
    assert not np.array_equal(one["data"], two["data"])


@pytest.mark.parametrize(
    ("ask", "options", "message"),
    [
        ("count", {}, "it must be a list of questions"),
        ([], {}, "not empty"),
        ({"choice": ["a"]}, {}, "choices"),
        ({"range": [3, 1]}, {}, "low must be at most high"),
        ({"parts": {}}, {}, "not empty"),
        ({"parts": {"a": 3}}, {}, "it must be a list of questions"),
        ({"range": [0, 1], "choices": [1]}, {}, "one of the keys"),
        (["a"], {"rounds": 0}, f"rounds is 0; it must be an integer from 1 to {MOST_QUESTIONS:,}"),
        (["a"], {"rounds": 2.0}, "rounds is 2.0"),
        (["a"], {"sessions": True}, "sessions is True"),
        ({"script": ["a"]}, {"rounds": 3}, "leave out rounds"),
    ],
)
def test_what_cannot_be_asked_is_named(ask: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Dialogues(Value([0, 1]), ask, **options)


def test_a_meter_is_part_of_every_pair_and_of_the_call_that_repeats_it() -> None:
    domain, stream = Dialogues(BASES[0], ["q"], 3, meter={"at": 1}), rng()
    pairs = [domain.corners()[0], domain.random(stream)]
    pairs += [domain.mutate(pair, stream) for pair in pairs] + [next(iter(domain.simpler(pairs[1])))]
    assert all(pair.left["meter"] == pair.right["meter"] == {"at": 1.0} for pair in pairs)
    assert pairs[0].dataset("left").meter == domain.meter
    assert "meter={'at': 1.0})" in pairs[0].call()
    assert str(domain).endswith("; up to 3 questions, until 1 is spent")
    assert str(Dialogues([(0, 1)], ["q"], meter={"at": 2, "of": "cost"})).endswith("until 2 of cost is spent")


@pytest.mark.parametrize(
    "meter", [1.0, {}, {"at": -1}, {"at": "x"}, {"at": True}, {"at": 1, "of": 2}, {"at": 1, "off": "x"}]
)
def test_what_is_no_meter_is_named(meter: Any) -> None:
    with pytest.raises(InvalidInputError, match="meter is"):
        Dialogues([(0, 1)], ["q"], meter=meter)


def test_pairs_may_be_given_as_a_list() -> None:
    domain = auditor.Dialogues([(0, 1)], ["q"])
    assert isinstance(domain.base, Pairs)
    assert domain.rounds == 4


def test_a_longer_script_is_halved_towards_its_own_beginning() -> None:
    domain = Dialogues([([0], [])], ["q"], 9)
    base = domain.base.corners()[0]
    one, nine = (domain.with_script(base, (ScriptStep("q"),) * n) for n in (1, 9))
    half = domain.between(one, nine)
    assert half is not None
    assert len(half.left.script) == 5
    assert domain.between(half, domain.with_script(base, (ScriptStep("q"),) * 6)) is None


def test_facts_are_those_of_the_data_alone() -> None:
    assert facts_of(ScriptedData([3, 3], (ScriptStep("q"),))) == facts_of([3, 3])


def test_a_domain_says_in_words_what_is_asked() -> None:
    assert str(Dialogues(Value([0, 1]), ["a"], 3, sessions=2)).endswith("; up to 3 questions, of 2 sessions")
    assert str(Dialogues([(0, 1)], {"script": ["a", "b"]})) == "the pair given; a script of 2 questions"
