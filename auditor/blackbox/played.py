"""Sessions as mechanisms: a script is played against a session, and the transcript is the output."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from auditor.blackbox.mechanism import PythonSource, signature_of
from auditor.blackbox.sources import Source
from auditor.errors import MechanismError
from auditor.neighbours.scripts import NOTHING, Asked, Script, script_of

# The answer of a step that asked nothing.
NOT_ASKED = "not asked"
# What a session may say of its budget after each answer.
SAID = ("remaining", "spent")


@dataclass(frozen=True, slots=True)
class Played:
    """A session mechanism as an ordinary one, on a data set with a script.

    ``factory`` is f(dataset, rng, **parameters) and returns a session. A question is put by ``session(question)``, or by
    ``session.ask(question)`` if the session cannot be called. If it has ``remaining`` or ``spent``, an attribute or a method
    without arguments, this is read after each step and is part of the transcript.
    """

    factory: Callable[..., Any]
    name: str

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the factory, which says what the auditor passes on."""
        signature = signature_of(self.factory, self.name)
        if "size" in signature.parameters:
            raise MechanismError(
                f'mechanism "{self.name}" has the parameter size, but a session answers one analyst: it must be f(dataset, rng)'
            )
        return signature

    def __call__(self, dataset: Any, **given: Any) -> Any:
        """Return the transcript. Raises what the factory raises. An exception in a session is an answer.

        Raises MechanismError if what the factory returns cannot be asked.
        """
        script = dataset.script if isinstance(dataset, Asked) else script_of(dataset["ask"])
        return transcript(lambda: self.factory(copy.deepcopy(dataset["data"]), **given), script)


def as_session(source: Source) -> Source:
    """Return the source of the transcripts of a session mechanism. A program gets the script, and plays it itself."""
    return replace(source, through=(*source.through, Played)) if isinstance(source, PythonSource) else source


def transcript(open_session: Callable[[], Any], script: Script) -> Any:
    """Play a script and return the answers; or, if the sessions say something of their budget, {"answers": […], "spent": […]}.

    A session is opened when it is first asked.
    """
    sessions, asks = dict[int, Any](), dict[int, Callable[[Any], Any]]()
    answers, said, last = list[Any](), dict[str, list[Any]](), None
    for step in script:
        question = step.question(last)
        if question is NOTHING:
            answers.append(NOT_ASKED)
        else:
            if step.session not in sessions:
                sessions[step.session] = session = open_session()
                asks[step.session] = _put(session)
            last = _attempt(asks[step.session], question)
            answers.append(last)
        session = sessions.get(step.session)
        for name in SAID:
            if hasattr(session, name):
                said.setdefault(name, []).append(_attempt(_read, session, name))
    return {"answers": answers, **said} if said else answers


def _put(session: Any) -> Callable[[Any], Any]:
    ask = session if callable(session) else getattr(session, "ask", None)
    if not callable(ask):
        raise MechanismError(
            f"a session is {type(session).__name__}, which can neither be called nor has a method `ask`; return an object with one"
        )
    return ask  # type: ignore[no-any-return]


def _read(session: Any, name: str) -> Any:
    value = getattr(session, name)
    return value() if callable(value) else value


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a refusal is an answer, and so is sys.exit()
        return error
