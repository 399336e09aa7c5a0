"""Flower: a round of a private strategy on the replies of its clients, and the mod that adds noise at a client.

The records are updates, one a client, with a number of examples. The output is the new model, and the next clipping norm where
the strategy adapts it. For a strategy that leaves the clipping to clients, they clip by Flower's own functions.
"""

import copy
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.adapters import Adapted
from auditor.claims import ApproximateDP
from auditor.errors import InvalidInputError
from auditor.exact import Gaussian
from auditor.interfaces import Domain
from auditor.libraries.adapting import note_chosen_values
from auditor.libraries.training.common import (
    CELLS,
    claim_of_noise,
    clients_changed,
    relation_note,
    relation_or,
    require_positive,
    vectors_changed,
)
from auditor.neighbours.domains import Valid
from auditor.neighbours.numbers import Number
from auditor.neighbours.pair import Relation
from auditor.neighbours.vectors import Vectors
from auditor.seeding import seeded

WEIGHTS = (1, 100)
WEIGHT_KEY = "num-examples"


def from_flwr(
    thing: Any,
    *,
    relation: str | None = None,
    size: Sequence[int] | None = None,
    weights: Sequence[Number] | None = None,
    cells: int | None = None,
    unchanged: bool | None = None,
) -> Adapted:
    """Adapt a strategy with central noise, or ``LocalDpMod``.

    Args:
        thing: a strategy of ``flwr.serverapp`` or of ``flwr.server`` with a noise multiplier; or a ``LocalDpMod``.
        relation: "substitute", in which a client is replaced, or "add_remove".
        size: [low, high], how many clients reply: by default as many as are configured, or one fewer.
        weights: [low, high], the number of examples of a client; (1, 1) for equal weights.
        cells: how many numbers a model has.
        unchanged: whether a client may reply with the model that it got.

    Raises InvalidInputError for anything else of Flower, and for a strategy without noise.
    """
    name, chosen = type(thing).__name__, dict[str, Any]()
    cells = chosen.setdefault("cells", CELLS) if cells is None else cells
    unchanged = chosen.setdefault("unchanged", True) if unchanged is None else unchanged
    if hasattr(thing, "sensitivity") and hasattr(thing, "epsilon"):
        updates = Vectors(cells, float(thing.clipping_norm), size=(1, 1), relation=str(Relation.SUBSTITUTE))
        stated = ApproximateDP(float(thing.epsilon), float(thing.delta))
        return Adapted(LocalUpdate(thing), stated, _valid(updates, unchanged), note_chosen_values("Flower", chosen))
    if not hasattr(thing, "noise_multiplier") or not hasattr(thing, "num_sampled_clients"):
        raise InvalidInputError(
            f"{name} of Flower has no noise of its own; give a strategy with DifferentialPrivacy in its name, or a LocalDpMod"
        )
    if not hasattr(thing, "clipping_norm"):
        raise InvalidInputError(
            f"{name} of Flower is deprecated, and its clients clip by a class of their own; call it in a function of your own"
        )
    replies = int(thing.num_sampled_clients)
    chosen_relation = relation_or(relation, Relation.SUBSTITUTE)
    low, high = chosen.setdefault("size", (max(1, replies - 1), replies)) if size is None else size
    weights = chosen.setdefault("weights", WEIGHTS) if weights is None else weights
    updates = Vectors(
        cells, float(thing.clipping_norm), size=(low, high), weights=weights, relation=str(chosen_relation)
    )
    multiplier = require_positive("noise_multiplier", thing.noise_multiplier, name)
    if (of_bits := getattr(thing, "clipped_count_stddev", None)) is not None:
        # The strategy was told the multiplier of both together, and keeps that of the mean (Andrew et al. 2021, Theorem 1).
        multiplier = (multiplier**-2 + (2 * float(of_bits)) ** -2) ** -0.5
    claim = claim_of_noise(Gaussian(round(multiplier, 12)), chosen_relation, name)
    notes = relation_note(name, chosen_relation, of="mean", multiplier="noise_multiplier")
    if (accountant := getattr(thing, "accountant", None)) is not None:
        of_whom = str(getattr(accountant.config.neighboring_relation, "value", accountant.config.neighboring_relation))
        notes = (*notes, f"its accountant states ε for neighbours by {of_whom}")
    return Adapted(Round(thing), claim, _valid(updates, unchanged), (*note_chosen_values("Flower", chosen), *notes))


def _valid(updates: Vectors, unchanged: bool) -> Domain:
    return updates if unchanged else Valid(updates, vectors_changed if updates.weights is None else clients_changed)


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a strategy as a function of the updates of its clients, of which the last column is their weight."""

    strategy: Any

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> Any:
        strategy = copy.deepcopy(self.strategy)
        replies = [([*_layers(row[:-1])], row[-1]) for row in dataset]
        model = [*_layers(np.zeros(dataset.shape[1] - 1))]
        with seeded(rng), _quiet():
            by_messages = hasattr(strategy, "aggregate_train")
            released = (_by_messages if by_messages else _by_results)(strategy, model, replies)
        next_norm = [float(strategy.clipping_norm)] if hasattr(strategy, "clip_norm_lr") else []
        if released is None:
            return ["nothing is released", *next_norm]
        return [*(float(value) for layer in released for value in np.ravel(layer)), *next_norm]


@dataclass(frozen=True, slots=True)
class LocalUpdate:
    """A mod with noise at the client, as a function of the client's update."""

    mod: Any

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> list[float]:
        app = import_module("flwr.app")
        model, update = [*_layers(np.zeros(dataset.shape[1]))], [*_layers(dataset[0])]
        asked = _message(app, {"arrays": _arrays(app, model)}, 0)
        reply = _message(app, {"arrays": _arrays(app, update), "metrics": app.MetricRecord({WEIGHT_KEY: 1})}, 1)
        with seeded(rng), _quiet():
            answer = self.mod(asked, None, lambda message, context: reply)
        released = next(iter(answer.content.array_records.values())).to_numpy_ndarrays()
        return [float(value) for layer in released for value in np.ravel(layer)]


def _layers(values: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield the layers of a model: two, so that clipping each by itself differs from clipping all."""
    half = -(-len(values) // 2)
    yield from (part.copy() for part in (values[:half], values[half:]) if len(part))


# --- Strategies that get messages, of flwr.serverapp ---


def _by_messages(strategy: Any, model: list[Any], replies: list[tuple[list[Any], float]]) -> list[Any] | None:
    app, config = import_module("flwr.app"), import_module("flwr.app").ConfigRecord()
    inner = strategy.strategy
    inner.configure_train = lambda *arguments, **keywords: []  # its messages need a server with clients
    strategy.configure_train(1, _arrays(app, model), config, None)
    key = getattr(inner, "weighted_by_key", WEIGHT_KEY)
    messages = []
    for number, (update, weight) in enumerate(replies, start=1):
        metrics = app.MetricRecord({key: weight})
        messages.append(_message(app, {"arrays": _arrays(app, update), "metrics": metrics}, number))
    if "clipping_norm" in config:
        mods = import_module("flwr.clientapp.mod")
        clip = mods.adaptiveclipping_mod if hasattr(strategy, "clip_norm_lr") else mods.fixedclipping_mod
        asked = _message(app, {"arrays": _arrays(app, model), "config": config}, 0)
        messages = [clip(asked, None, lambda message, context, reply=reply: reply) for reply in messages]
    arrays, _ = strategy.aggregate_train(1, messages)
    return None if arrays is None else list(arrays.to_numpy_ndarrays())


def _arrays(app: Any, layers: list[Any]) -> Any:
    return app.ArrayRecord({f"layer {number}": app.Array(layer) for number, layer in enumerate(layers)})


def _message(app: Any, content: dict[str, Any], number: int) -> Any:
    about = app.Metadata(1, str(number), number, 0, "", "1", 0.0, 1e9, "train")
    return app.Message(metadata=about, content=app.RecordDict(content))


# --- Strategies that get results, of flwr.server ---


def _by_results(strategy: Any, model: list[Any], replies: list[tuple[list[Any], float]]) -> list[Any] | None:
    common = import_module("flwr.common")
    private = import_module("flwr.supercore.differential_privacy")
    strategy.strategy.configure_fit = lambda *arguments, **keywords: []  # its clients need a server
    strategy.configure_fit(1, common.ndarrays_to_parameters(model), None)
    results = []
    for update, weight in replies:
        metrics = dict[str, Any]()
        if "ClientSide" in type(strategy).__name__:
            if hasattr(strategy, "clip_norm_lr"):
                bit = private.compute_adaptive_clip_model_update(update, model, strategy.clipping_norm)
                metrics[private.KEY_NORM_BIT] = bit
            else:
                private.compute_clip_model_update(update, model, strategy.clipping_norm)
        status = common.Status(code=common.Code.OK, message="")
        results.append((None, common.FitRes(status, common.ndarrays_to_parameters(update), int(weight), metrics)))
    parameters, _ = strategy.aggregate_fit(1, results, [])
    return None if parameters is None else list(common.parameters_to_ndarrays(parameters))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Flower, which writes several lines a round."""
    logger = logging.getLogger("flwr")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
