"""Evaluates a session together with an analyst who asks questions at random, as one mechanism.

Its output is the script and the transcript. Let S be the finite set of possible scripts, s ∈ S, and B a set of transcripts. The
analyst chooses s with probability p > 0, whatever the data, so (s, B) has probability p·P_s(B). If the mechanism is ε-private with
δ = 0, then P_s(B) ≤ e^ε P'_s(B) for each script and each B.

The bound extends to adaptive analysts. Let A choose each question by the previous answers, and let A(s) be the transcripts along
which A asks s. These sets partition the transcripts, and answers do not depend on later questions, so on A(s) the probabilities
are those of s: P_A(B) = Σ_s P_s(B ∩ A(s)) ≤ e^ε Σ_s P'_s(B ∩ A(s)) = e^ε P'_A(B). Randomised analysts are mixtures of these, and
a shorter transcript is a prefix of a full one. The argument needs δ = 0 and finitely many questions: with δ > 0, each
script could spend δ on a different event.

The auditor's own ``play_script`` writes the transcript, from objects that stand for sessions and forward each question to the
evaluator.
"""

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from auditor.blackbox.mechanism import Mechanism
from auditor.interfaces import Values
from auditor.neighbours.records import RecordValues
from auditor.neighbours.scripts import LAST_ANSWER, NO_QUESTION, Meter, Script, ScriptedData, ScriptStep, read_meter
from auditor.sessions.dialogues import Dialogues, PartQuestions
from auditor.sessions.session_mechanism import SessionMechanism
from auditor.sessions.transcript import BUDGET_FIELDS, play_script
from dp_prover.errors import NotProvedError
from dp_prover.language.evaluator import Evaluator, evaluate, locating_errors
from dp_prover.language.objects import MadeObject, MethodOfMade, attribute_of_instance, has_attribute
from dp_prover.language.outside import as_argument, from_outside, on_type
from dp_prover.language.scope import Closure
from dp_prover.models import generator
from dp_prover.models.lazy import Lazy
from dp_prover.models.values import Array, RaisesError, Term, array_of, is_constant

MOST_SCRIPTS = 4096
PLAIN_QUESTIONS = (bool, int, float, str, type(None))


@dataclass(frozen=True, slots=True)
class RandomAnalyst:
    """A session and an analyst as one mechanism. In each round the analyst takes one of that round's steps, at random.

    A call returns the indices of these steps, and the transcript.
    """

    session: SessionMechanism
    rounds: tuple[tuple[ScriptStep, ...], ...]
    meter: Meter | None = None

    @property
    def chooses(self) -> bool:
        """Whether there is more than one script."""
        return any(len(steps) > 1 for steps in self.rounds)

    @property
    def waits(self) -> bool:
        """Whether a round may pass without a question."""
        return any(step.ask is NO_QUESTION for steps in self.rounds for step in steps)

    def script(self, choices: Sequence[int]) -> Script:
        """Return the script of these choices."""
        return tuple(steps[at] for steps, at in zip(self.rounds, choices, strict=True))

    def __call__(self, dataset: Any, *, rng: Any, **parameters: Any) -> Any:
        choices = [int(rng.integers(len(steps))) if len(steps) > 1 else 0 for steps in self.rounds]
        return [choices, self.session(ScriptedData(dataset, self.script(choices), self.meter), rng=rng, **parameters)]

    def to_data(self) -> dict[str, Any]:
        """Return the analyst as JSON for a certificate. A step without a question has no "ask"."""
        rounds = [
            [{key: value for key, value in step.to_data().items() if value is not NO_QUESTION} for step in steps]
            for steps in self.rounds
        ]
        return {"rounds": rounds, "meter": None if self.meter is None else self.meter.to_data()}

    @classmethod
    def read(cls, session: SessionMechanism, written: Mapping[str, Any]) -> "RandomAnalyst":
        """Restore the analyst of a certificate."""
        rounds = tuple(
            tuple(ScriptStep(step.get("ask", NO_QUESTION), session=step.get("session", 1)) for step in steps)
            for steps in written["rounds"]
        )
        return cls(session, rounds, None if written["meter"] is None else read_meter(written["meter"]))


def analyst_of(mechanism: Mechanism) -> RandomAnalyst | None:
    """Return the analyst of a mechanism; None if it is not a session."""
    function = mechanism.function
    inner = function.func if isinstance(function, functools.partial) else function
    return inner if isinstance(inner, RandomAnalyst) else None


def with_analyst(mechanism: Mechanism, make: Callable[[SessionMechanism], RandomAnalyst]) -> Mechanism:
    """Combine a session mechanism with an analyst. Raises NotProvedError if the audit also observes what a session does
    besides answering."""
    function = mechanism.function
    partial = isinstance(function, functools.partial)
    inner = function.func if partial else function  # type: ignore[attr-defined]
    if not isinstance(inner, SessionMechanism):
        raise NotProvedError("the audit observes what a session does besides answering; leave out `observe`")
    analyst = make(inner)
    return replace(mechanism, function=functools.partial(analyst, **function.keywords) if partial else analyst)  # type: ignore[attr-defined]


def analyst_for(session: SessionMechanism, domain: Dialogues, waits: bool) -> RandomAnalyst:
    """Return the analyst of a domain. ``waits`` says that a round may pass without a question.

    Raises NotProvedError if there are infinitely many scripts, or too many.
    """
    if domain.fixed is not None:
        if any(step.when is not None for step in domain.fixed):
            raise NotProvedError(
                "the script depends on answers; list its questions, and the proof covers all scripts of these"
            )
        rounds: tuple[tuple[ScriptStep, ...], ...] = tuple((step,) for step in domain.fixed)
    else:
        questions = _questions(domain.questions)
        steps = [ScriptStep(question, session=at) for at in range(1, domain.sessions + 1) for question in questions]
        steps += [ScriptStep(NO_QUESTION, session=at) for at in range(1, domain.sessions + 1)] * waits
        rounds = (tuple(steps),) * domain.rounds
    scripts = math.prod(map(len, rounds))
    if scripts > MOST_SCRIPTS:
        raise NotProvedError(
            f"there are {scripts:,} scripts of {len(rounds)} questions, and at most {MOST_SCRIPTS:,} are followed; "
            "give fewer questions or `rounds`"
        )
    for step in itertools.chain.from_iterable(rounds):
        _require_plain_question(step.ask)
    return RandomAnalyst(session, rounds, domain.meter)


def _questions(questions: Values) -> Sequence[Any]:
    if isinstance(questions, RecordValues) and questions.range is None:
        return questions.marks
    if isinstance(questions, PartQuestions):
        each = [_questions(part) for _, part in questions.parts]
        if math.prod(map(len, each)) > MOST_SCRIPTS:
            raise NotProvedError("there are too many questions; give fewer values for each part")
        names = [name for name, _ in questions.parts]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*each)]
    raise NotProvedError(
        "a question is a number from a range, or the last answer, but a proof needs a list of all questions; list the numbers"
    )


def _require_plain_question(question: Any) -> None:
    if question is NO_QUESTION or type(question) in PLAIN_QUESTIONS:
        return
    if question == LAST_ANSWER:
        raise NotProvedError("a question contains the last answer, but a proof needs a list of all questions")
    if type(question) not in (list, dict) or (type(question) is dict and not all(type(key) is str for key in question)):
        raise NotProvedError(
            f"a question is a {type(question).__name__}; numbers, text, and lists and dicts of these are modelled"
        )
    for part in question.values() if type(question) is dict else question:
        _require_plain_question(part)


# Evaluation ----------------------------------------------------------------------------------------------------------------


def interview(
    evaluator: Evaluator, analyst: RandomAnalyst, dataset: Callable[[], Any], keywords: Mapping[str, Any]
) -> Any:
    """Evaluate a session with its analyst, and return the output."""
    choices = [_choice(evaluator, len(steps)) for steps in analyst.rounds]
    interview = _Interview(evaluator, analyst, dataset, keywords)
    answers = play_script(interview.opened, ScriptedData(None, analyst.script(choices), analyst.meter))
    interview.require_whole()
    return [choices, answers]


def _choice(evaluator: Evaluator, count: int) -> int:
    drawn = generator.integers(evaluator.run, 0, count) if count > 1 else 0
    return int(drawn.settled() if isinstance(drawn, Lazy) else drawn)


class _Interview:
    """The sessions of one run, and their answers."""

    def __init__(
        self,
        evaluator: Evaluator,
        analyst: RandomAnalyst,
        dataset: Callable[[], Any],
        keywords: Mapping[str, Any],
    ) -> None:
        self._evaluator, self._analyst = evaluator, analyst
        self._dataset, self._keywords = dataset, keywords
        self._failed: BaseException | None = None
        self._said: list[tuple[Any, Any]] = []  # each answer: the session's object, and a copy

    def opened(self) -> "_Standing":
        """Open a session."""
        session = evaluate(
            self._evaluator, from_outside(self._analyst.session.factory), [self._dataset()], self._keywords
        )
        if isinstance(session, RaisesError):
            raise NotProvedError(f"opening a session raises {session}", self._evaluator.run.place)
        return _Standing(self, session, self._asker(session))

    def _asker(self, session: Any) -> Any:
        """Return the function that takes a session's questions."""
        if isinstance(session, Closure | MethodOfMade):
            if isinstance(session, MethodOfMade) and vars(session.function):
                raise NotProvedError("a session is a method that has attributes of its own")
            return session
        if isinstance(session, MadeObject):
            if on_type(session.kind, "__call__") is not None:
                return session
            if has_attribute(session, "ask"):
                ask = attribute_of_instance(session, "ask")
                if isinstance(ask, Closure | MethodOfMade):
                    return ask
        raise NotProvedError(
            "a session is neither an object with __call__ or ask, nor a function, that its call created"
        )

    def answer(self, asker: Any, question: Any) -> Any:
        """Return the answer to a question; the session's exceptions are answers."""
        return self._followed(lambda: self._evaluator.call(asker, [as_argument(question)], {}), may_raise=True)

    def has(self, session: Any, name: str) -> bool:
        """Whether a session reports this part of its budget."""
        return isinstance(session, MadeObject) and has_attribute(session, name)

    def read(self, session: Any, name: str) -> Any:
        """Return a part of a session's budget, or a function that returns it."""
        if self._analyst.chooses and not self._analyst.waits:
            raise self._failure(NotProvedError(f"a session has {name} only some of the time"))
        value = self._followed(lambda: self._evaluator.attribute(session, name))
        if isinstance(value, Closure | MethodOfMade):
            return lambda: self._number(self._followed(lambda: self._evaluator.call(value, [], {})), name)
        return self._number(value, name)

    def _number(self, value: Any, name: str) -> Any:
        meter = self._analyst.meter
        if not isinstance(value, Term | Lazy | Array | list | tuple | dict) and not is_constant(value):
            raise self._failure(NotProvedError(f"{name} of a session is a {type(value).__name__}"))
        if meter is not None and meter.of is None and not is_constant(value):
            raise self._failure(NotProvedError(f"the meter reads {name}, which is not a constant"))
        return value

    def _followed(self, call: Callable[[], Any], may_raise: bool = False) -> Any:
        """Evaluate a call. ``play_script`` treats exceptions as answers, so an exception that ends the attempt is kept
        and raised later."""
        if self._failed is not None:
            raise self._failed
        try:
            with locating_errors(self._evaluator):
                return self._kept(call, may_raise)
        except RaisesError:
            raise
        except BaseException as error:
            raise self._failure(error) from None

    def _kept(self, call: Callable[[], Any], may_raise: bool) -> Any:
        """Return a copy of an answer to detect later changes: the analyst holds earlier answers, and would notice a change."""
        try:
            answer = call()
        except RaisesError as error:
            if not may_raise:
                raise NotProvedError(f"reading a session's budget raises {error}") from None
            if not error.stated:
                words = f"a session raises {error}, but not by a raise statement; test for it with if"
                raise NotProvedError(words) from None
            self._require_unchanged()
            raise
        self._require_unchanged()
        copied = _copied(answer)
        if isinstance(answer, Array | list | tuple | dict):
            self._said.append((answer, copied))
        return copied

    def _require_unchanged(self) -> None:
        if not all(_is_same(answer, copy) for answer, copy in self._said):
            raise NotProvedError(
                "a session changes a list, dict or array that it gave as an answer; answer with a copy"
            )

    def _failure(self, error: BaseException) -> BaseException:
        self._failed = self._failed or error
        return self._failed

    def require_whole(self) -> None:
        """Raise the exception that ended the attempt, if there is one."""
        if self._failed is not None:
            raise self._failed


class _Standing:
    """Represents a session in ``play_script``."""

    def __init__(self, interview: _Interview, session: Any, asker: Any) -> None:
        self._interview, self._session, self._asker = interview, session, asker

    def __call__(self, question: Any) -> Any:
        return self._interview.answer(self._asker, question)

    def __getattr__(self, name: str) -> Any:
        if name not in BUDGET_FIELDS or not self._interview.has(self._session, name):
            raise AttributeError(name)
        return self._interview.read(self._session, name)


def _copied(value: Any) -> Any:
    """Return a copy that the session cannot change."""
    if isinstance(value, Array):
        return array_of(value.flat(), value.shape, value.dtype)
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return {key: _copied(item) for key, item in value.items()} if type(value) is dict else value


def _is_same(value: Any, copy: Any) -> bool:
    """Whether a value still equals its copy."""
    if type(value) is not type(copy):
        return False
    if isinstance(value, Array):
        pairs = list(zip(value.flat(), copy.flat(), strict=False))
        return value.shape == copy.shape and value.dtype == copy.dtype and all(item is copied for item, copied in pairs)
    if type(value) in (list, tuple):
        return len(value) == len(copy) and all(map(_is_same, value, copy))
    if type(value) is dict:
        return [*value] == [*copy] and all(_is_same(value[key], copy[key]) for key in copy)
    return value is copy
