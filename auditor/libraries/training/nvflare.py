"""NVIDIA FLARE: a filter on the update that a client sends. The record is the update, and any two updates are neighbours."""

import copy
import logging
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.adapters import Adapted
from auditor.claims import Claim, PureDP
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import note_chosen_values
from auditor.libraries.training.common import CELLS
from auditor.neighbours.pair import Relation
from auditor.neighbours.vectors import Vectors
from auditor.seeding import seeded


def from_nvflare(thing: Any, *, cells: int | None = None, size: Sequence[int] | None = None) -> Adapted:
    """Adapt a filter of model updates.

    Args:
        thing: a filter with ``process_dxo``. ``SVTPrivacy`` says how much each part of it costs; the others promise nothing.
        cells: how many numbers a model has.
        size: not used: a filter gets the update of one client.

    Raises InvalidInputError for anything else of NVIDIA FLARE.
    """
    name, chosen = type(thing).__name__, dict[str, Any]()
    if not hasattr(thing, "process_dxo"):
        raise InvalidInputError(f"{name} of NVIDIA FLARE is no filter of updates; give one such as SVTPrivacy")
    if size is not None and tuple(size) != (1, 1):
        raise InvalidInputError(f"size is {size!r}; a filter gets the update of one client, so leave it out")
    cells = chosen.setdefault("cells", CELLS) if cells is None else cells
    norm = float(getattr(thing, "gamma", 1.0) or 1.0)
    updates = Vectors(cells, norm, size=(1, 1), relation=str(Relation.SUBSTITUTE))
    notes = list(note_chosen_values("NVIDIA FLARE", chosen))
    claim = _claim_of_sparse_vector(thing, cells, notes) if hasattr(thing, "noise_var") else None
    wanting = f"{name} adds no noise and promises nothing; give a `claim` to see what it leaks"
    return Adapted(FilteredUpdate.of(thing), claim, updates, tuple(notes), wanting)


def _claim_of_sparse_vector(thing: Any, cells: int, notes: list[str]) -> Claim:
    """Return the claim of the sparse vector technique: the budget of the selection, and that of the numbers released."""
    released = min(cells, math.ceil(cells * float(thing.fraction)))
    of_numbers = getattr(thing, "epsilon_release", None)
    of_numbers = released * float(thing.noise_var) if of_numbers is None else float(of_numbers)
    if not hasattr(thing, "get_privacy_spent"):
        notes.append(
            "this version of SVTPrivacy has no accountant: epsilon for the selection and noise_var for each number that it "
            "releases are added up, as later versions do"
        )
    return PureDP(float(thing.epsilon) + of_numbers)


_LOCKS = (type(threading.Lock()), type(threading.RLock()))


@dataclass(frozen=True, slots=True)
class FilteredUpdate:
    """A filter as a function of one client's update, in two layers.

    It is held in parts that can be copied and sent to other processes; ``locks`` and ``loggers`` are names of those that cannot.
    """

    kind: type
    parts: dict[str, Any]
    locks: tuple[str, ...]
    loggers: tuple[str, ...]

    @classmethod
    def of(cls, filter: Any) -> "FilteredUpdate":
        """Return a filter in parts."""
        locks = tuple(name for name, part in vars(filter).items() if isinstance(part, _LOCKS))
        loggers = tuple(
            name for name, part in vars(filter).items() if isinstance(part, logging.Logger | logging.LoggerAdapter)
        )
        rest = {name: part for name, part in vars(filter).items() if name not in {*locks, *loggers}}
        return cls(type(filter), rest, locks, loggers)

    def copied(self) -> Any:
        """Return the filter anew, as it was given."""
        new: Any = object.__new__(self.kind)
        new.__dict__.update(copy.deepcopy(self.parts))
        new.__dict__.update({name: threading.RLock() for name in self.locks})
        new.__dict__.update({name: logging.getLogger(self.kind.__name__) for name in self.loggers})
        return new

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> Any:
        exchange, context = import_module("nvflare.apis.dxo"), import_module("nvflare.apis.fl_context").FLContext()
        shareable = import_module("nvflare.apis.shareable").Shareable()
        half = -(-dataset.shape[1] // 2)
        layers = {"layer 0": dataset[0][:half].copy(), "layer 1": dataset[0][half:].copy()}
        update = exchange.DXO(
            exchange.DataKind.WEIGHT_DIFF, data={name: part for name, part in layers.items() if len(part)}
        )
        before = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            with seeded(rng):
                sent = self.copied().process_dxo(update, shareable, context)
        finally:
            logging.disable(before)
        if sent is None:
            return "nothing is sent"
        return [float(value) for name in sorted(sent.data) for value in np.ravel(sent.data[name])]
