"""pfl: a privacy mechanism on the updates of a cohort, with noise at the server; or on one update, with noise at the client."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.adapters import Adapted
from auditor.claims import Claim
from auditor.errors import InvalidInputError
from auditor.exact import Composition, Gaussian, Laplace, Process
from auditor.libraries.adapting import note_chosen_values
from auditor.libraries.stated import claim_of_process
from auditor.libraries.training.common import CELLS, relation_note, relation_or, require_positive
from auditor.neighbours.pair import Relation
from auditor.neighbours.vectors import Vectors
from auditor.seeding import Seeds, seeded

COHORT = (1, 4)
Part = tuple[Any, list[str]]  # a mechanism and its keys


def from_pfl(
    thing: Any,
    *,
    relation: str | None = None,
    size: Sequence[int] | None = None,
    cells: int | None = None,
    local: bool = False,
) -> Adapted:
    """Adapt a Gaussian or Laplace mechanism, several of them together, or adaptive clipping.

    Args:
        thing: a ``GaussianMechanism``, a ``LaplaceMechanism``, a ``JointMechanism`` of these, any of them centrally applied, or an
            ``AdaptiveClippingGaussianMechanism``.
        relation: "add_remove", for a client that comes or goes, or "substitute".
        size: [low, high], how many clients a cohort has.
        cells: how many numbers an update has.
        local: whether the noise is added at the client, to one update; any two updates are then neighbours.

    Raises InvalidInputError for anything else of pfl.
    """
    name, chosen = type(thing).__name__, dict[str, Any]()
    cells = chosen.setdefault("cells", CELLS) if cells is None else cells
    inner = getattr(thing, "underlying_mechanism", thing)
    parts: list[Part] = list(getattr(inner, "mechanisms_and_keys", {"all": (inner, ["update"])}).values())
    noises = [_noise_of(mechanism) for mechanism, _ in parts]
    bounds = [float(_value(mechanism.clipping_bound)) for mechanism, _ in parts]
    if local:
        if not hasattr(thing, "privatize"):
            raise InvalidInputError(f"{name} of pfl works at the server only; leave out local")
        updates = Vectors(cells, max(bounds), size=(1, 1), relation=str(Relation.SUBSTITUTE))
        notes: tuple[str, ...] = (
            f"{name} scales its noise to one clipping bound, and any two updates of a client lie up to two of them apart; the "
            "claim is what it states",
        )
        claim = _claim(noises, Relation.ADD_REMOVE, name)
        return Adapted(Local(thing, _keys(parts)), claim, updates, (*note_chosen_values("pfl", chosen), *notes))
    chosen_relation = relation_or(relation, Relation.ADD_REMOVE)
    low, high = chosen.setdefault("size", COHORT) if size is None else size
    updates = Vectors(cells, max(bounds), size=(low, high), relation=str(chosen_relation))
    notes = relation_note(name, chosen_relation, of="sum", multiplier="the relative standard deviation")
    mechanism = Cohort(thing, _keys(parts))
    return Adapted(
        mechanism, _claim(noises, chosen_relation, name), updates, (*note_chosen_values("pfl", chosen), *notes)
    )


def _noise_of(mechanism: Any) -> Gaussian | Laplace:
    """Return the noise of a mechanism, in clipping bounds."""
    name = type(mechanism).__name__
    if name == "GaussianMechanism":
        return Gaussian(require_positive("relative_noise_stddev", mechanism.relative_noise_stddev, name))
    if name == "LaplaceMechanism":
        return Laplace(1 / require_positive("epsilon", mechanism._epsilon, name))
    raise InvalidInputError(
        f"{name} of pfl is not known; give a Gaussian or Laplace mechanism, or call it in a function of your own"
    )


def _claim(noises: Sequence[Gaussian | Laplace], relation: Relation, name: str) -> Claim:
    processes = [Process(noise, 1.0, relation.value) for noise in noises]  # type: ignore[arg-type]
    return claim_of_process(processes[0] if len(processes) == 1 else Composition(tuple(processes)), None, name)


def _value(bound: Any) -> Any:
    """Return a clipping bound, which may be a parameter that changes over the rounds."""
    return bound.value() if hasattr(bound, "value") else bound


def _keys(parts: Sequence[Part]) -> tuple[str, ...]:
    """Return the names of the statistics of all mechanisms. A key that ends in a slash stands for all that begin so."""
    return tuple(f"{key}update" if key.endswith("/") else key for _, keys in parts for key in keys)


@dataclass(frozen=True, slots=True)
class Cohort:
    """A mechanism as a function of the updates of a cohort: each is clipped, and the sum gets the noise."""

    mechanism: Any
    keys: tuple[str, ...]

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> list[float]:
        privacy, context = import_module("pfl.privacy.privacy_mechanism"), import_module("pfl.context")
        mechanism = copy.deepcopy(self.mechanism)
        if not hasattr(mechanism, "postprocess_one_user") or hasattr(mechanism, "add_noise"):
            mechanism = privacy.CentrallyAppliedPrivacyMechanism(mechanism)
        with seeded(rng) as seeds:
            clipped = [
                mechanism.postprocess_one_user(
                    stats=statistics_of(update, self.keys), user_context=context.UserContext(1, _seed(seeds))
                )[0]
                for update in dataset
            ]
            total = reduce(add, clipped)
            central = context.CentralContext(
                current_central_iteration=0,
                do_evaluation=False,
                cohort_size=len(dataset),
                population=import_module("pfl.common_types").Population.TRAIN,
                algorithm_params=None,
                model_train_params=None,
                model_eval_params=None,
                seed=_seed(seeds),
            )
            released, _ = mechanism.postprocess_server(
                stats=total, central_context=central, aggregate_metrics=import_module("pfl.metrics").Metrics()
            )
        adapted = getattr(mechanism, "mutable_clipping_bound", None)
        return [*_numbers(released), *([] if adapted is None else [float(adapted.value())])]


@dataclass(frozen=True, slots=True)
class Local:
    """A mechanism as a function of one client's update."""

    mechanism: Any
    keys: tuple[str, ...]

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> list[float]:
        with seeded(rng) as seeds:
            released, _ = copy.deepcopy(self.mechanism).privatize(
                statistics_of(dataset[0], self.keys), seed=_seed(seeds)
            )
        return _numbers(released)


def statistics_of(update: NDArray[np.float64], keys: Sequence[str]) -> Any:
    """Return an update as pfl's statistics, with its numbers spread over the keys."""
    parts = {key: update[place :: len(keys)].copy() for place, key in enumerate(keys)}
    return import_module("pfl.stats").MappedVectorStatistics(parts, weight=1.0)


def _numbers(statistics: Any) -> list[float]:
    return [float(value) for key in sorted(statistics) for value in np.ravel(statistics[key])]


def _seed(seeds: Seeds) -> int:
    return seeds.words(1)[0]
