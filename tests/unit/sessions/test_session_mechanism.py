"""Playing a script against a session: what is asked, what is recorded, and what a session cannot do."""

from typing import Any

import numpy as np
import pytest

from auditor import Command, Dialogues, MechanismError, Value
from auditor.blackbox.canonical import row_of
from auditor.blackbox.command import Program
from auditor.blackbox.mechanism import Mechanism, PythonSource
from auditor.foreign_code import Stopped
from auditor.neighbours.scripts import Meter, Script, ScriptedData, read_script
from auditor.sessions.session_mechanism import SessionMechanism
from auditor.sessions.transcript import NOT_ASKED, PAST_METER, play_script


def said_to(session: Any, script: Script, meter: Meter | None = None) -> Any:
    return play_script(session, ScriptedData(None, script, meter))


class Echo:
    """Answers with the question, and refuses "no"; it reports how often it was asked."""

    def __init__(self) -> None:
        self.spent = 0

    def __call__(self, question: Any) -> Any:
        self.spent += 1
        if question == "no":
            raise ValueError("refused")
        return question

    def remaining(self) -> int:
        """The remaining budget: 0 after two questions."""
        if self.spent > 1:
            raise RuntimeError("empty")
        return 2 - self.spent


def test_answers_refusals_and_the_budget_are_written_down() -> None:
    said = said_to(Echo, read_script([1, "no", {"ask": 3, "if": "answered"}, {"ask": 4, "if": "refused"}]))
    answers = said["answers"]
    assert answers[0] == 1
    assert isinstance(answers[1], ValueError)
    assert answers[2:] == [NOT_ASKED, 4]
    assert said["spent"] == [1, 2, 2, 3]
    assert said["remaining"][0] == 1
    assert isinstance(said["remaining"][1], RuntimeError)
    assert row_of(said)["output['answers'][1]"] == "raises ValueError"


def test_a_session_that_says_nothing_of_a_budget_gives_a_list() -> None:
    assert said_to(lambda: str, read_script([1, 2])) == ["1", "2"]


def test_sessions_stand_side_by_side_and_are_opened_when_asked() -> None:
    opened: list[Echo] = []

    def session() -> Echo:
        opened.append(Echo())
        return opened[-1]

    said = said_to(
        session, read_script([{"ask": 1}, {"ask": 2, "session": 2}, {"ask": 3}, {"ask": 4, "if": "refused"}])
    )
    assert said["spent"] == [1, 1, 2, 2]
    assert len(opened) == 2


def test_an_object_with_a_method_ask_is_a_session() -> None:
    class Asks:
        def ask(self, question: Any) -> Any:
            return [question]

    assert said_to(Asks, read_script([1])) == [[1]]


def test_what_cannot_be_asked_is_an_error_and_no_output() -> None:
    with pytest.raises(MechanismError, match=r"a session is float, which cannot be called and has no method `ask`"):
        said_to(lambda: 3.0, read_script([1]))


def test_an_end_of_the_process_is_an_answer_and_a_stop_is_not() -> None:
    def ends(question: Any) -> Any:
        raise {"end": SystemExit, "interrupt": KeyboardInterrupt, "stop": Stopped}[question]

    answers = said_to(lambda: ends, read_script(["end", "interrupt"]))
    assert [type(answer) for answer in answers] == [SystemExit, KeyboardInterrupt]
    with pytest.raises(Stopped):
        said_to(lambda: ends, read_script(["stop"]))


def grown(dataset: list[int], rng: np.random.Generator, *, step: int = 1) -> Any:
    """A session that changes its data."""

    def ask(question: Any) -> int:
        dataset.append(step)
        return len(dataset)

    return ask


def test_each_session_has_its_own_copy_of_the_data() -> None:
    asked = ScriptedData([0], read_script([{"ask": 1}, {"ask": 1, "session": 2}, {"ask": 1}]))
    mechanism = Mechanism.from_callable(SessionMechanism(grown, "grown"), {"step": 2}, "grown")
    for _ in range(2):
        assert mechanism.function(asked, rng=np.random.default_rng(0)) == [2, 2, 3]
    assert asked["data"] == [0]
    assert (mechanism.batched, mechanism.takes_rng) == (False, True)


def test_a_factory_for_many_outputs_at_once_is_refused() -> None:
    def many(dataset: Any, size: int, rng: Any) -> Any:
        return None

    with pytest.raises(MechanismError, match="a session answers one analyst"):
        Mechanism.from_callable(SessionMechanism(many, "many"), {}, "many")


def test_a_wrong_parameter_is_named_with_the_signature_of_the_factory() -> None:
    with pytest.raises(MechanismError, match=r"\(dataset: list\[int\], rng: .*, \*, step: int = 1\)"):
        Mechanism.from_callable(SessionMechanism(grown, "grown"), {"steps": 2}, "grown")


def test_a_source_is_played_in_whatever_process_loads_it_and_a_program_plays_itself() -> None:
    source = PythonSource("grown", function=grown).wrapped(SessionMechanism)
    assert source.load() == SessionMechanism(grown, "grown")
    program = Program(Command(["python"]), {})
    assert program.wrapped(SessionMechanism) is program


def test_a_script_as_it_stands_in_a_report_is_played_as_well() -> None:
    pair = Dialogues(Value([0, 1]), ["a"], 2).corners()[0]
    written = dict(pair.left)
    assert SessionMechanism(lambda dataset: lambda question: (dataset, question), "x")(written) == [(0, "a"), (0, "a")]


class Costly:
    """Answers with the question, which is also its cost, and states the total cost."""

    def __init__(self, keeps_count: bool = True) -> None:
        self.total, self.keeps_count = 0.0, keeps_count

    @property
    def spent(self) -> float:
        """The cost of all answers so far."""
        return self.total

    def __call__(self, question: Any) -> Any:
        self.total += self.keeps_count * question
        return question


def test_a_meter_ends_a_dialogue_before_it_is_passed() -> None:
    script = read_script([0.4, 0.6, 0.1, 0.1])
    assert said_to(Costly, script, Meter(1.0)) == {
        "answers": [0.4, 0.6, PAST_METER, PAST_METER],
        "spent": [0.4, 1.0, PAST_METER, PAST_METER],
    }
    assert said_to(lambda: Costly(keeps_count=False), script, Meter(1.0))["answers"] == [0.4, 0.6, 0.1, 0.1]
    assert said_to(Costly, read_script([2.0]), Meter(1.0)) == [PAST_METER]


def test_a_meter_of_a_part_of_questions_is_known_before_they_are_asked() -> None:
    asked: list[Any] = []

    def session() -> Any:
        return lambda question: asked.append(question) or question["epsilon"]

    script = read_script([{"ask": {"epsilon": e}} for e in (0.4, 0.6, 0.1)])
    assert said_to(session, script, Meter(1.0, "epsilon")) == [0.4, 0.6, PAST_METER]
    assert len(asked) == 2

    class Charged:
        spent = 9.0  # which this meter does not read

        def __call__(self, question: Any) -> Any:
            return question["epsilon"]

    assert said_to(Charged, script, Meter(1.0, "epsilon"))["answers"] == [0.4, 0.6, PAST_METER]


def test_rounding_does_not_pass_a_meter() -> None:
    assert said_to(Costly, read_script([0.1] * 10), Meter(1.0))["answers"] == [0.1] * 10
