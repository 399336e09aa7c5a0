"""Play a script against sessions, and write down the answers.

This needs no library but Python's own, so that a program with a session of another library can play scripts, too.
"""

from collections.abc import Callable
from typing import Any

from auditor.errors import MechanismError
from auditor.foreign_code import result_or_error
from auditor.neighbours.scripts import NOTHING, Asked, ScriptStep

# NOT_ASKED is the answer of a step that asks nothing, PAST_METER of each step after the end by a meter.
NOT_ASKED, PAST_METER = "not asked", "past the meter"
# The names under which a session tells its budget after each answer.
SAID = ("remaining", "spent")


def transcript(open_session: Callable[[], Any], asked: Asked) -> Any:
    """Play a script and return the list of answers, or {"answers": […], "spent": […]} if sessions tell their budget.

    A session is opened at its first question. Once the meter is passed, PAST_METER takes the place of all answers.
    Raises MechanismError if a session cannot be asked.
    """
    dialogue = _Dialogue(open_session, asked)
    for step in asked.script:
        dialogue.turn(step)
    said = {name: values for name, values in dialogue.said.items() if values}
    return {"answers": dialogue.answers, **said} if said else dialogue.answers


class _Dialogue:
    """A dialogue so far: the sessions that were opened, and all answers."""

    def __init__(self, open_session: Callable[[], Any], asked: Asked) -> None:
        self.open_session, self.meter = open_session, asked.meter
        self.sessions: dict[int, Any] = {}
        self.answers: list[Any] = []
        self.said: dict[str, list[Any]] = {name: [] for name in SAID}
        self.last: Any = None
        self.costs, self.is_over = 0.0, False

    def turn(self, step: ScriptStep) -> None:
        """Ask the question of a step, and write down the answer and the budget."""
        question = step.question(self.last)
        if self.is_over or self._costs_too_much(question):
            self._write(PAST_METER, dict.fromkeys(SAID, PAST_METER))
            return
        answer = NOT_ASKED
        if question is not NOTHING:
            if step.session not in self.sessions:
                self.sessions[step.session] = self.open_session()
            answer = result_or_error(_put(self.sessions[step.session]), question)
        session = self.sessions.get(step.session)
        said = {name: result_or_error(_read, session, name) for name in SAID if hasattr(session, name)}
        if self.meter is not None and self.meter.of is None and self.meter.is_passed(said.get("spent")):
            self.is_over = True
            answer, said = PAST_METER, dict.fromkeys(SAID, PAST_METER)
        elif question is not NOTHING:
            self.last = answer
        self._write(answer, said)

    def _costs_too_much(self, question: Any) -> bool:
        """Add the cost of a question if the meter sums a part of questions. Return whether the sum passes the meter."""
        if self.meter is None or self.meter.of is None or not isinstance(question, dict):
            return False
        cost = question.get(self.meter.of)
        self.costs += cost if isinstance(cost, int | float) else 0.0
        self.is_over = self.meter.is_passed(self.costs)
        return self.is_over

    def _write(self, answer: Any, said: dict[str, Any]) -> None:
        self.answers.append(answer)
        for name, values in self.said.items():
            # Past the meter, no list begins that was empty before.
            if name in said and (said[name] is not PAST_METER or values):
                values.append(said[name])


def _put(session: Any) -> Callable[[Any], Any]:
    ask = session if callable(session) else getattr(session, "ask", None)
    if not callable(ask):
        raise MechanismError(
            f"a session is {type(session).__name__}, which cannot be called and has no method `ask`; return an object with `ask`"
        )
    return ask  # type: ignore[no-any-return]


def _read(session: Any, name: str) -> Any:
    value = getattr(session, name)
    return value() if callable(value) else value
