"""Scripts: they are asked as written, survive a round trip, and errors in them are named."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from auditor import InvalidInputError
from auditor.neighbours.pair import Pair, pair_words
from auditor.neighbours.scripts import (
    LAST_ANSWER,
    NO_QUESTION,
    IfAnswer,
    ScriptedData,
    ScriptStep,
    describe_script,
    describe_steps,
    first_number,
    is_dialogue,
    read_script,
)

EVERY_FORM = (
    ScriptStep("count"),
    ScriptStep({"column": "age", "above": LAST_ANSWER}, session=2),
    ScriptStep("sum", IfAnswer("refused")),
    ScriptStep(3.5, IfAnswer("above", 2.0), otherwise=None),
    ScriptStep(["a", 1], IfAnswer("at_most", -1.5), otherwise={"q": [LAST_ANSWER]}),
    ScriptStep(True, IfAnswer("answered"), otherwise="x", session=3),
)


def test_a_script_is_read_back_as_it_is_written() -> None:
    assert read_script([step.to_data() for step in EVERY_FORM]) == EVERY_FORM


def test_a_question_that_is_no_mapping_is_a_step() -> None:
    assert read_script(["count", 3]) == (ScriptStep("count"), ScriptStep(3))


@pytest.mark.parametrize(
    ("condition", "holds", "not_"),
    [
        (IfAnswer("refused"), [None, ValueError("no")], [0, "text", []]),
        (IfAnswer("answered"), [0, "text", []], [None, ValueError("no")]),
        (
            IfAnswer("above", 1.0),
            [1.5, True + 1, [2, 0], {"n": np.float64(3)}],
            [1.0, "text", None, float("nan"), OSError()],
        ),
        (IfAnswer("at_most", 1.0), [1.0, False, np.int64(-3), (0,)], [1.5, "text", None, [], [[]]]),
    ],
)
def test_a_condition_holds_for_such_answers_only(condition: IfAnswer, holds: list[Any], not_: list[Any]) -> None:
    assert [condition.holds(answer) for answer in holds] == [True] * len(holds)
    assert [condition.holds(answer) for answer in not_] == [False] * len(not_)


def test_the_question_follows_from_the_last_answer() -> None:
    step = ScriptStep("a", IfAnswer("above", 0.0), "b")
    assert (step.question(1), step.question(0), step.question(None)) == ("a", "b", "b")
    assert ScriptStep("a", IfAnswer("answered")).question(None) is NO_QUESTION
    assert ScriptStep({"above": LAST_ANSWER, "of": [LAST_ANSWER, "x"]}).question(2.5) == {
        "above": 2.5,
        "of": [2.5, "x"],
    }
    for none in (None, ValueError("refused")):
        assert ScriptStep({"above": LAST_ANSWER}).question(none) is NO_QUESTION
        assert ScriptStep(LAST_ANSWER).question(none) is NO_QUESTION
        assert ScriptStep({"above": 1}).question(none) == {"above": 1}


def test_a_session_cannot_change_what_is_asked_later_or_was_answered() -> None:
    step, last = ScriptStep({"list": [1], "quoted": LAST_ANSWER}), [5]
    asked = step.question(last)
    asked["list"].append(2)
    asked["quoted"].append(6)
    assert step.question(last) == {"list": [1], "quoted": [5]}
    assert last == [5]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("count", "it must be a list of steps"),
        ([], "it must be a list of steps"),
        ([{"question": "x"}], "question"),
        ([{"if": "refused"}], 'needs the key "ask"'),
        ([{"ask": "x", "else": "y"}], 'needs the key "if"'),
        ([{"ask": "x", "if": "tired"}], "it must be refused, answered"),
        ([{"ask": "x", "if": {"above": "3"}}], "it must be refused, answered"),
        ([{"ask": "x", "if": {"above": 1, "at_most": 2}}], "it must be refused, answered"),
        ([{"ask": "x", "session": 0}], "an integer of at least 1"),
        ([{"ask": "x", "session": True}], "an integer of at least 1"),
    ],
)
def test_what_is_no_script_is_named(written: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read_script(written)


def test_a_data_set_with_a_script_travels_and_is_copied_without_loss() -> None:
    asked = ScriptedData([[1]], EVERY_FORM)
    for other in (pickle.loads(pickle.dumps(asked)), copy.deepcopy(asked)):
        assert other == asked
        assert other.script == EVERY_FORM
        other["data"][0].append(2)
    assert asked["data"] == [[1]]
    assert pickle.loads(pickle.dumps(EVERY_FORM))[0].otherwise is NO_QUESTION


@pytest.mark.parametrize(
    "data",
    [
        {"data": [1], "ask": []},
        {"data": [1], "ask": [1]},
        {"data": 1, "ask": 2},
        {"data": 1},
        [1],
        {"ask": [{"ask": 1}]},
    ],
)
def test_data_without_a_script_is_no_dialogue(data: Any) -> None:
    assert not is_dialogue(data)


def test_the_first_number_of_an_answer_counts() -> None:
    assert [first_number(x) for x in (3, True, np.array([2.5, 1]), {"a": "x", "b": [4]}, "5", [], b"1")] == [
        3,
        1,
        2.5,
        4,
        None,
        None,
        None,
    ]


def test_words_name_every_question_and_condition() -> None:
    written = [step.to_data() for step in EVERY_FORM]
    words = list(describe_steps([*written, written[-1]]))
    assert words == [
        "count",
        "column: age, above: the last answer in session 2",
        "sum if the last answer was refused",
        "3.5 if the last answer is above 2, else None",
        "['a', 1] if the last answer is at most -1.5, else q: [{'answer': 'last'}]",
        "True if the last answer was answered, else x in session 3",
        "True if the last answer was answered, else x in session 3 again",
    ]
    assert describe_script([{"ask": q} for q in "abcdef"]) == "a, b, c, …, f"
    pair = Pair(ScriptedData([0], EVERY_FORM[:1]), ScriptedData([], EVERY_FORM[:1]))
    assert pair_words(pair) == "[0] and [], asked count"
