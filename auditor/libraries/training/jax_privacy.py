"""JAX Privacy: a clipped gradient and its noise, or a plan of both. The output is the noisy gradient of one step."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.adapters import Adapted
from auditor.errors import InvalidInputError
from auditor.exact import Gaussian
from auditor.libraries.adapting import note_chosen_values
from auditor.libraries.training.common import BATCH, CELLS, claim_of_noise, relation_note, relation_or, require_positive
from auditor.neighbours.pair import Relation
from auditor.neighbours.vectors import Vectors
from auditor.seeding import Seeds, seeded

LOOKED_AT = 32


def from_jax_privacy(
    thing: Any,
    *,
    stddev: float | None = None,
    noise: Any = None,
    params: Any = None,
    example: Any = None,
    relation: str | None = None,
    size: Sequence[int] | None = None,
    cells: int | None = None,
) -> Adapted:
    """Adapt a clipped gradient with its noise, or an execution plan.

    Args:
        thing: what ``clipped_grad`` returned, or a ``DPExecutionPlan``, whose gradients are those of a linear loss.
        stddev: the standard deviation of the noise; needed for a clipped gradient.
        noise: the transformation that adds it, by default ``gaussian_privatizer`` of that deviation.
        params: the parameters of the model; needed for a clipped gradient.
        example: an array of the shape of one example; needed for a clipped gradient.
        relation: "add_remove" or "substitute".
        size: [low, high], how many examples a batch has.
        cells: how many coordinates of an example differ from zero.

    Raises InvalidInputError for anything else of JAX Privacy.
    """
    name, chosen = type(thing).__name__, dict[str, Any]()
    chosen_relation = relation_or(relation, Relation.ADD_REMOVE)
    is_plan = hasattr(thing, "noise_addition_transform")
    if is_plan:
        cells = chosen.setdefault("cells", CELLS) if cells is None else cells
        gradient = thing.clipped_grad(_linear)
        params, example, noise = (
            np.zeros(cells, np.float32),
            np.zeros(cells, np.float32),
            thing.noise_addition_transform,
        )
        multiplier = _multiplier_of(thing.dp_event)
    elif hasattr(thing, "l2_norm_bound"):
        gradient = thing
        if stddev is None or params is None or example is None:
            return Adapted(
                thing, wanting="its noise and its model stand elsewhere; give `stddev`, `params` and `example`"
            )
        multiplier = require_positive("stddev", stddev, name) / float(thing.l2_norm_bound)
    else:
        raise InvalidInputError(
            f"{name} of JAX Privacy is not known; give what clipped_grad returned, or an execution plan"
        )
    length = int(np.size(example))
    cells = min(length, chosen.setdefault("cells", min(CELLS, length)) if cells is None else cells)
    low, high = chosen.setdefault("size", (1, BATCH[1])) if size is None else size
    vectors = Vectors(cells, 1.0, size=(low, high), relation=str(chosen_relation))
    notes = relation_note(name, chosen_relation, of="sum", multiplier="its standard deviation in clipping norms")
    claim = claim_of_noise(Gaussian(multiplier), chosen_relation, name)
    step = NoisyGradient(gradient, noise, stddev, params, np.asarray(example))
    return Adapted(step, claim, vectors, (*note_chosen_values("JAX Privacy", chosen), *notes))


def _linear(params: Any, example: Any) -> Any:
    """A loss whose gradient is the example."""
    return (params * example).sum()


def _multiplier_of(event: Any) -> float:
    """Return the noise multiplier of an event's innermost Gaussian."""
    while event is not None and not hasattr(event, "noise_multiplier"):
        event = getattr(event, "event", None) or next(iter(getattr(event, "events", ())), None)
    if event is None:
        raise InvalidInputError("the plan's event has no Gaussian noise, and nothing else is known; give a `claim`")
    return require_positive("noise_multiplier", event.noise_multiplier, type(event).__name__)


@dataclass(frozen=True)
class NoisyGradient:
    """A clipped gradient with noise, as a function of a batch of examples."""

    gradient: Callable[..., Any]
    noise: Any
    stddev: float | None
    params: Any
    example: NDArray[Any]

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> list[float]:
        jax = import_module("jax")
        batch = np.zeros((len(dataset), self.example.size), self.example.dtype)
        batch[:, : dataset.shape[1]] = dataset
        with seeded(rng) as seeds:
            summed = self._clipped(jax)(self.params, batch.reshape(len(dataset), *self.example.shape))
            noise = self.noise
            if noise is None:
                adding = import_module("jax_privacy.noise_addition")
                noise = adding.gaussian_privatizer(stddev=self.stddev, prng_key=seeds.jax_key())
            released, _ = noise.update(summed, _with_new_keys(jax, noise.init(self.params), seeds))
        leaves = [np.ravel(np.asarray(leaf)) for leaf in jax.tree.leaves(released)]
        return [float(value) for leaf in leaves for value in leaf[:LOOKED_AT]]

    def _clipped(self, jax: Any) -> Callable[..., Any]:
        return _compiled(jax.jit, self.gradient)


@functools.lru_cache(maxsize=8)
def _compiled(jit: Callable[..., Any], gradient: Callable[..., Any]) -> Callable[..., Any]:
    return jit(gradient)  # type: ignore[no-any-return]


def _with_new_keys(jax: Any, state: Any, seeds: Seeds) -> Any:
    """Return the state of a transformation with keys that follow from the seed of the call: its own key never changes."""

    def renewed(leaf: Any) -> Any:
        is_key = hasattr(leaf, "dtype") and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return seeds.jax_key() if is_key else leaf

    return jax.tree.map(renewed, state)
