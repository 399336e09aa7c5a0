"""Scripts: the questions that an analyst asks a session, in order; a question may depend on the last answer.

Scripts are data. In a report and in a configuration, a step is a mapping:

- ``{"ask": "count"}`` asks a question;
- ``{"ask": "count", "if": {"above": 3}, "else": "sum"}`` has a condition on the last answer: "refused", "answered",
  {"above": t} or {"at_most": t}. If it does not hold, the question after "else" is asked, or none without "else";
- ``{"ask": {"threshold": {"answer": "last"}}}`` puts the last answer into the question;
- ``{"ask": "count", "session": 2}`` asks another session on the same data.

To ask "again until refused", repeat a step with the condition "answered".
"""

import copy
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from auditor.errors import InvalidInputError, require_known

# LAST_ANSWER stands in a question for the last answer.
LAST_ANSWER = {"answer": "last"}
PLAIN_CONDITIONS = ("refused", "answered")


class NoQuestion(Enum):
    """Stands for the question of a step without "else" whose condition fails. It stays one object when pickled."""

    NO_QUESTION = 0


NO_QUESTION = NoQuestion.NO_QUESTION


@dataclass(frozen=True, slots=True)
class IfAnswer:
    """A condition on the last answer. ``kind`` is refused, answered, above or at_most; the last two have a ``threshold``.

    None and exceptions are refusals. An answer without a number fulfils neither "above" nor "at_most".
    """

    kind: str
    threshold: float = 0.0

    def holds(self, answer: Any) -> bool:
        """Return whether the answer fulfils the condition."""
        refused = answer is None or isinstance(answer, BaseException)
        if self.kind in PLAIN_CONDITIONS:
            return refused == (self.kind == "refused")
        number = None if refused else first_number(answer)
        if number is None:
            return False
        return number > self.threshold if self.kind == "above" else number <= self.threshold

    def to_data(self) -> Any:
        """Return the condition as it stands in a script."""
        return self.kind if self.kind in PLAIN_CONDITIONS else {self.kind: self.threshold}

    def __str__(self) -> str:
        number = "" if self.kind in PLAIN_CONDITIONS else f" {self.threshold:g}"
        return f"is {self.kind.replace('_', ' ')}{number}" if number else f"was {self.kind}"


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """A question, the condition ``when`` it is asked, the question asked ``otherwise``, and the session, from 1 up."""

    ask: Any
    when: IfAnswer | None = None
    otherwise: Any = NO_QUESTION
    session: int = 1

    def to_data(self) -> dict[str, Any]:
        """Return the step as it stands in a script."""
        entries = {"ask": self.ask}
        if self.when is not None:
            entries["if"] = self.when.to_data()
            if self.otherwise is not NO_QUESTION:
                entries["else"] = self.otherwise
        return entries if self.session == 1 else {**entries, "session": self.session}

    def question(self, last: Any) -> Any:
        """Return the question after the ``last`` answer, or NO_QUESTION. The session may change the returned question.

        A question with the last answer in it is not asked if there is none: at the beginning, and after a refusal.
        """
        question = self.ask if self.when is None or self.when.holds(last) else self.otherwise
        if not isinstance(question, dict | list):
            return question
        if (last is None or isinstance(last, BaseException)) and _has_last_answer(question):
            return NO_QUESTION
        return _insert_answer(question, last)

    def __str__(self) -> str:
        where = "" if self.session == 1 else f" in session {self.session}"
        if self.when is None:
            return f"{describe_question(self.ask)}{where}"
        other = "" if self.otherwise is NO_QUESTION else f", else {describe_question(self.otherwise)}"
        return f"{describe_question(self.ask)} if the last answer {self.when}{other}{where}"


Script = tuple[ScriptStep, ...]


def first_number(answer: Any) -> float | None:
    """Return the first number in an answer; None if the answer has no number.

    >>> first_number({"count": 2}), first_number([True]), first_number("no")
    (2.0, 1.0, None)
    """
    if isinstance(answer, dict):
        answer = list(answer.values())
    elif hasattr(answer, "tolist"):  # a NumPy array; this module runs in programs that may lack NumPy
        answer = answer.tolist()
    if isinstance(answer, int | float):
        return None if math.isnan(answer) else float(answer)
    if isinstance(answer, list | tuple):
        return next((n for part in answer if (n := first_number(part)) is not None), None)
    return None


def _has_last_answer(question: Any) -> bool:
    if question == LAST_ANSWER:
        return True
    parts = question.values() if isinstance(question, dict) else question if isinstance(question, list) else ()
    return any(map(_has_last_answer, parts))


def _insert_answer(question: Any, last: Any) -> Any:
    """Return a copy of a question in which the last answer replaces LAST_ANSWER."""
    if question == LAST_ANSWER:
        return copy.deepcopy(last)
    if isinstance(question, dict):
        return {key: _insert_answer(part, last) for key, part in question.items()}
    return [_insert_answer(part, last) for part in question] if isinstance(question, list) else question


def describe_question(question: Any) -> str:
    """Write a question in words.

    >>> describe_question("count"), describe_question({"column": "age", "above": {"answer": "last"}})
    ('count', 'column: age, above: the last answer')
    """
    if question == LAST_ANSWER:
        return "the last answer"
    if isinstance(question, Mapping):
        return ", ".join(f"{key}: {describe_question(part)}" for key, part in question.items())
    return question if isinstance(question, str) else repr(question)


def read_script(written: Any) -> Script:
    """Read a script: a list of steps, each a mapping as above, or a plain question that is no mapping.

    Raises InvalidInputError that names the faulty step and what it may be.
    """
    if not isinstance(written, Sequence) or isinstance(written, str) or not written:
        raise InvalidInputError(f"script is {written!r}; it must be a list of steps, such as [{{ask: count}}]")
    return tuple(map(_read_step, written))


def _read_step(step: Any) -> ScriptStep:
    if not isinstance(step, Mapping):
        return ScriptStep(step)
    require_known(f"the step {dict(step)!r} has the key", step, ("ask", "if", "else", "session"))
    if "ask" not in step or ("else" in step and "if" not in step):
        raise InvalidInputError(f'the step {dict(step)!r} needs the key "{"if" if "ask" in step else "ask"}"')
    session = step.get("session", 1)
    if isinstance(session, bool) or not isinstance(session, int) or session < 1:
        raise InvalidInputError(
            f"the session of the step {dict(step)!r} is {session!r}; it must be an integer of at least 1"
        )
    when = _read_condition(step["if"]) if "if" in step else None
    return ScriptStep(step["ask"], when, step.get("else", NO_QUESTION), session)


def _read_condition(written: Any) -> IfAnswer:
    if isinstance(written, str) and written in PLAIN_CONDITIONS:
        return IfAnswer(written)
    if isinstance(written, Mapping) and len(written) == 1:
        [(kind, threshold)] = written.items()
        if kind in ("above", "at_most") and isinstance(threshold, int | float) and not isinstance(threshold, bool):
            return IfAnswer(kind, threshold)
    raise InvalidInputError(
        f"the condition of a step is {written!r}; it must be refused, answered, {{above: number}} or {{at_most: number}}"
    )


@dataclass(frozen=True, slots=True)
class Meter:
    """Ends a dialogue before the first answer that brings the spending above ``at``, for claims on odometers.

    The spending is the session's own ``spent``. With ``of``, it is the sum of this part (such as "epsilon") of all
    questions asked. An odometer promises that at any time the loss of the transcript is at most the stated spending. So
    for each ``at`` fixed in advance, the transcript up to the last answer with a spending of at most ``at`` has a loss
    of at most ``at``: it is what an analyst who stops there sees (after Rogers, Roth, Ullman & Vadhan 2016). This holds
    if the cost of a question is known before its answer, like a stated cost. Otherwise, the end itself would reveal
    something about the answer that is left out.
    """

    at: float
    of: str | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the meter as it stands in a configuration and in a report."""
        return {"at": self.at} if self.of is None else {"at": self.at, "of": self.of}

    def is_passed(self, spent: Any) -> bool:
        """Return whether the spending exceeds ``at`` by more than rounding."""
        number = first_number(spent)
        return number is not None and number > self.at * (1 + 1e-9)


def read_meter(written: Any) -> Meter:
    """Read a meter. Raises InvalidInputError that says what a meter may be."""
    given = written if isinstance(written, Mapping) else {}
    at, of = given.get("at"), given.get("of")
    is_number = isinstance(at, int | float) and not isinstance(at, bool) and 0 <= at < math.inf
    if not is_number or not given.keys() <= {"at", "of"} or not isinstance(of, str | None):
        raise InvalidInputError(
            f"meter is {written!r}; it must be {{at: number}}, or {{at: number, of: the part of a question}}"
        )
    return Meter(float(at), of)  # type: ignore[arg-type]


class ScriptedData(dict[str, Any]):
    """A data set with a script, {"data": …, "ask": […]}, as a session mechanism receives it (programs as JSON).

    A meter is under the key "meter".
    """

    def __init__(self, data: Any, script: Script, meter: Meter | None = None) -> None:
        super().__init__(data=data, ask=[step.to_data() for step in script])
        if meter is not None:
            self["meter"] = meter.to_data()
        self.script, self.meter = script, meter

    @classmethod
    def of(cls, data: Any, written: Mapping[str, Any]) -> "ScriptedData":
        """Return a data set with a written script and meter. Raises InvalidInputError if either is malformed."""
        meter = read_meter(written["meter"]) if "meter" in written else None
        return cls(data, read_script(written["ask"]), meter)

    def __deepcopy__(self, memo: dict[int, Any]) -> "ScriptedData":
        # The script is never changed, and copying it for each output would take longer than most sessions.
        copied = copy.copy(self)
        copied["data"] = copy.deepcopy(self["data"], memo)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return ScriptedData, (self["data"], self.script, self.meter)


def is_dialogue(data: Any) -> bool:
    """Return whether a data set in a report is one with a script."""
    if not isinstance(data, dict) or data.keys() - {"meter"} != {"data", "ask"} or not isinstance(data["ask"], list):
        return False
    return bool(data["ask"]) and all(isinstance(step, dict) and "ask" in step for step in data["ask"])


def describe_steps(written: Sequence[Any]) -> Iterator[str]:
    """Yield each step of a script in words. A step that repeats the step before gets the word "again"."""
    before = None
    for step in map(str, map(_read_step, written)):
        yield f"{step} again" if step == before else step
        before = step


def describe_script(written: Sequence[Any]) -> str:
    """Write a script in one line. Equal steps in a row are counted. The middle of a long script is left out.

    >>> describe_script([{"ask": "count"}] * 3 + [{"ask": "sum", "if": {"above": 2}}])
    'count (3 times), sum if the last answer is above 2'
    """
    runs = ((step, len(list(run))) for step, run in itertools.groupby(map(str, map(_read_step, written))))
    words = [step if times == 1 else f"{step} ({times} times)" for step, times in runs]
    return ", ".join(words if len(words) <= 4 else [*words[:3], "…", words[-1]])
