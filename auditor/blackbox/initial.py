"""A training that begins at given parameters: each call gets a copy of them as its keyword ``initial``."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from auditor.blackbox.mechanism import copier, signature_of
from auditor.errors import MechanismError


@dataclass(frozen=True, slots=True)
class InitialisedMechanism:
    """A mechanism ``run``, f(dataset, rng, initial, **parameters), whose ``initial`` a function ``copied`` makes for each call."""

    run: Callable[..., Any]
    name: str
    copied: Callable[[], Any]

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the function, without ``initial``. Raises MechanismError if it has no such parameter."""
        signature = signature_of(self.run, self.name)
        takes = signature.parameters
        if "initial" not in takes and not any(each.kind is each.VAR_KEYWORD for each in takes.values()):
            raise MechanismError(
                f'mechanism "{self.name}" has no parameter `initial`, in which it gets the parameters to begin at; add it, or '
                "leave out `initial` of the canaries and begin at them by other means, such as the model that an object holds"
            )
        # What follows `initial` may have been given by its place, and is given by its name now.
        kept = [each for name, each in takes.items() if name != "initial"]
        return signature.replace(parameters=kept)

    def __call__(self, dataset: Any, **given: Any) -> Any:
        """Return the output of the function, which begins at a copy of its own."""
        return self.run(dataset, **given, initial=self.copied())


@dataclass(frozen=True, slots=True)
class BeginningAt:
    """Wraps a mechanism, so that each call begins at a copy of the same parameters."""

    initial: Any

    def __call__(self, run: Callable[..., Any], name: str) -> InitialisedMechanism:
        return InitialisedMechanism(run, name, copier(self.initial))
