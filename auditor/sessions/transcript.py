"""Play a script against sessions, and write down the answers.

This needs no library but Python's own, so that a program with a session of another library can play scripts, too.
"""

from collections.abc import Callable
from typing import Any

from auditor.errors import MechanismError
from auditor.foreign_code import result_or_error
from auditor.neighbours.scripts import NO_QUESTION, ScriptedData, ScriptStep

# NOT_ASKED is the answer of a step that asks nothing, PAST_METER of each step after the end by a meter.
NOT_ASKED, PAST_METER = "not asked", "past the meter"
# The attributes or methods by which a session tells its budget after each answer.
BUDGET_FIELDS = ("remaining", "spent")


def play_script(open_session: Callable[[], Any], scripted: ScriptedData) -> Any:
    """Play a script and return the list of answers, or {"answers": […], "spent": […]} if sessions tell their budget.

    A session is opened at its first question. Once the meter is passed, PAST_METER takes the place of all answers.
    Raises MechanismError if a session cannot be asked.
    """
    dialogue = _Dialogue(open_session, scripted)
    for step in scripted.script:
        dialogue.ask_step(step)
    budgets = {name: values for name, values in dialogue.budgets.items() if values}
    return {"answers": dialogue.answers, **budgets} if budgets else dialogue.answers


class _Dialogue:
    """A dialogue so far: the sessions that were opened, all answers, and the budgets after each."""

    def __init__(self, open_session: Callable[[], Any], scripted: ScriptedData) -> None:
        self.open_session, self.meter = open_session, scripted.meter
        self.sessions: dict[int, Any] = {}
        self.answers: list[Any] = []
        self.budgets: dict[str, list[Any]] = {name: [] for name in BUDGET_FIELDS}
        self.last: Any = None
        self.costs, self.is_over = 0.0, False

    def ask_step(self, step: ScriptStep) -> None:
        """Ask the question of a step, and write down the answer and the budget."""
        question, meter = step.question(self.last), self.meter
        if meter is not None and meter.of is not None and isinstance(question, dict) and not self.is_over:
            cost = question.get(meter.of)
            self.costs += cost if isinstance(cost, int | float) else 0.0
            self.is_over = meter.is_passed(self.costs)
        if self.is_over:
            self._write(PAST_METER, dict.fromkeys(BUDGET_FIELDS, PAST_METER))
            return
        answer = NOT_ASKED
        if question is not NO_QUESTION:
            if step.session not in self.sessions:
                self.sessions[step.session] = self.open_session()
            answer = result_or_error(_asker(self.sessions[step.session]), question)
        session = self.sessions.get(step.session)
        budgets = {
            name: result_or_error(_read_budget, session, name) for name in BUDGET_FIELDS if hasattr(session, name)
        }
        if meter is not None and meter.of is None and meter.is_passed(budgets.get("spent")):
            self.is_over = True
            answer, budgets = PAST_METER, dict.fromkeys(BUDGET_FIELDS, PAST_METER)
        elif question is not NO_QUESTION:
            self.last = answer
        self._write(answer, budgets)

    def _write(self, answer: Any, budgets: dict[str, Any]) -> None:
        self.answers.append(answer)
        for name, values in self.budgets.items():
            # Past the meter, no list begins that was empty before.
            if name in budgets and (budgets[name] is not PAST_METER or values):
                values.append(budgets[name])


def _asker(session: Any) -> Callable[[Any], Any]:
    """Return the function that puts a question to a session. Raises MechanismError if there is none."""
    ask = session if callable(session) else getattr(session, "ask", None)
    if not callable(ask):
        raise MechanismError(
            f"a session is {type(session).__name__}, which cannot be called and has no method `ask`; return an object with `ask`"
        )
    return ask  # type: ignore[no-any-return]


def _read_budget(session: Any, name: str) -> Any:
    value = getattr(session, name)
    return value() if callable(value) else value
