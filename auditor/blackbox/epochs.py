"""A training run as a mechanism: its loader draws the batches of each output, and the function receives these."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.blackbox.mechanism import signature_of
from auditor.errors import MechanismError
from auditor.neighbours.epochs import Loader


@dataclass(frozen=True, slots=True)
class EpochMechanism:
    """A mechanism ``run``, f(batches, rng, **parameters), on a data set whose batches a ``loader`` draws."""

    run: Callable[..., Any]
    name: str
    loader: Loader

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature of the function, with a generator for the batches."""
        signature = signature_of(self.run, self.name)
        if "size" in signature.parameters:
            raise MechanismError(
                f'mechanism "{self.name}" has the parameter size, but each output has its own batches: it must be f(batches, rng)'
            )
        if "rng" in signature.parameters:
            return signature
        rng = inspect.Parameter("rng", inspect.Parameter.KEYWORD_ONLY)
        parameters = [*signature.parameters.values()]
        at = next((i for i, each in enumerate(parameters) if each.kind is each.VAR_KEYWORD), len(parameters))
        return signature.replace(parameters=[*parameters[:at], rng, *parameters[at:]])

    def __call__(self, dataset: Any, rng: np.random.Generator, **parameters: Any) -> Any:
        """Return the output of the function on batches that are drawn anew."""
        batches = self.loader.draw(dataset, rng)
        if "rng" in signature_of(self.run, self.name).parameters:
            parameters = {**parameters, "rng": rng}
        return self.run(batches, **parameters)


@dataclass(frozen=True, slots=True)
class InBatches:
    """Wraps a mechanism, so that it receives the batches that a loader draws."""

    loader: Loader

    def __call__(self, run: Callable[..., Any], name: str) -> EpochMechanism:
        return EpochMechanism(run, name, self.loader)
