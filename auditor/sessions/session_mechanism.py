"""A session as a mechanism: a script is played against it, and the transcript is the output."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from auditor.blackbox.mechanism import signature_of
from auditor.errors import MechanismError
from auditor.neighbours.scripts import ScriptedData
from auditor.sessions.transcript import play_script


@dataclass(frozen=True, slots=True)
class SessionMechanism:
    """A session mechanism as an ordinary mechanism, on a data set with a script.

    ``factory`` is f(dataset, rng, **parameters) and returns a session. A question is put by ``session(question)``, or
    by ``session.ask(question)`` if the session cannot be called. If a session has ``remaining`` or ``spent``
    (attributes or methods without arguments), their values after each step are part of the transcript.
    """

    factory: Callable[..., Any]
    name: str

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the factory, which says what the auditor passes to it."""
        signature = signature_of(self.factory, self.name)
        if "size" in signature.parameters:
            raise MechanismError(
                f'mechanism "{self.name}" has the parameter size, but a session answers one analyst: it must be f(dataset, rng)'
            )
        return signature

    @property
    def __truth__(self) -> Any:
        """The exact privacy loss on a data set with a script, if the factory states it."""
        return getattr(self.factory, "__truth__", None)

    def __call__(self, dataset: Any, **parameters: Any) -> Any:
        """Return the transcript. Raises what the factory raises. An exception in a session is an answer.

        Raises MechanismError if the session that the factory returns cannot be asked.
        """
        scripted = dataset if isinstance(dataset, ScriptedData) else ScriptedData.of(dataset["data"], dataset)
        return play_script(lambda: self.factory(copy.deepcopy(dataset["data"]), **parameters), scripted)
