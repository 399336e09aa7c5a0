"""Opacus: a step of a private optimizer on a batch, or an epoch of steps on the batches that its loader draws.

Without a model, the records are gradients, which take the place of what the backward pass leaves. With a model and a loss they are
examples, and hooks, both backward passes and the step run as in training. The output is the gradient that a step hands to the inner
optimizer, which decides all that is published.
"""

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.adapters import Adapted
from auditor.errors import InvalidInputError
from auditor.exact import Gaussian, Poisson
from auditor.libraries.adapting import note_chosen_values
from auditor.libraries.training.common import CELLS, claim_of_noise, relation_note, relation_or, require_positive
from auditor.neighbours.epochs import Epoch, Loader, SamplingName
from auditor.neighbours.pair import Relation
from auditor.neighbours.vectors import Vectors
from auditor.seeding import seeded

# How many examples a step is audited on; an epoch has at most so many batches of so many examples.
STEP_SIZE, MOST_STEPS, EPOCH_BATCH = (0, 4), 8, 4
# How many coordinates of each parameter, and of all, an output holds.
LOOKED_AT, MOST_LOOKED_AT = 8, 32
GHOST = "FastGradientClipping"


def from_opacus(
    thing: Any,
    *,
    optimizer: Any = None,
    model: Any = None,
    criterion: Any = None,
    example: Any = None,
    loader: Any = None,
    size: Sequence[int] | None = None,
    cells: int | None = None,
    relation: str | None = None,
) -> Adapted:
    """Adapt a private optimizer, a private loss or an engine.

    Args:
        thing: a ``DPOptimizer``; a ``DPLossFastGradientClipping``, which has its optimizer and model; or a ``PrivacyEngine``, with
            ``optimizer``.
        optimizer: the optimizer that the engine made.
        model: the model that the engine made. With it, records are examples, and without it gradients.
        criterion: the loss of outputs and targets, with ``model``.
        example: (input, target), the tensors of one example, with ``model``; by default the first one of ``loader``.
        loader: the loader that the engine made. With it, an epoch is audited, and without it a step.
        size: [low, high], how many records a step has.
        cells: how many coordinates of a gradient, or of an input, differ from zero.
        relation: "add_remove", which the accountant is for, or "substitute".

    Raises InvalidInputError for anything else of Opacus, and for an optimizer without noise.
    """
    name = type(thing).__name__
    if hasattr(thing, "optimizer") and hasattr(thing, "module"):  # a private loss
        optimizer, model, criterion = thing.optimizer, thing.module, thing
    elif hasattr(thing, "noise_multiplier") and hasattr(thing, "param_groups"):
        optimizer = thing
    elif not (hasattr(thing, "make_private") and optimizer is not None):
        raise InvalidInputError(
            f"{name} of Opacus is no optimizer; give the optimizer that make_private returned, or an engine with "
            'parameters={"optimizer": optimizer}'
        )
    if model is None and GHOST in type(optimizer).__name__:
        raise InvalidInputError(
            f"{type(optimizer).__name__} clips in the model's backward pass; give the loss that make_private returned, or "
            "`model` and `criterion`"
        )
    if (model is None) != (criterion is None):
        raise InvalidInputError(
            "model and criterion belong together: both are needed for examples, and neither for gradients"
        )
    chosen = dict[str, Any]()
    cells = (
        chosen.setdefault("cells", min(CELLS if loader is None else 1, len(_spread(list(optimizer.params)))))
        if cells is None
        else cells
    )
    if model is not None and example is None:
        example = _first_example(loader)
    norm = 1.0 if model is not None else float(optimizer.max_grad_norm)
    chosen_relation = relation_or(relation, Relation.ADD_REMOVE)
    noise = Gaussian(require_positive("noise_multiplier", optimizer.noise_multiplier, type(optimizer).__name__))
    step = TrainingStep(Parts.of(optimizer, model, criterion), example)
    notes = relation_note(type(optimizer).__name__, chosen_relation, of="sum", multiplier="noise_multiplier")
    if loader is None:
        low, high = chosen.setdefault("size", STEP_SIZE) if size is None else size
        vectors = Vectors(cells, norm, size=(low, high), relation=str(chosen_relation))
        claim = claim_of_noise(noise, chosen_relation, type(optimizer).__name__)
        return Adapted(OneStep(step), claim, vectors, (*note_chosen_values("Opacus", chosen), *notes))
    epoch, rate, steps, about = _epoch_of(loader, cells, norm, chosen_relation)
    sampling = Poisson(rate) if rate < 1 else None
    claim = claim_of_noise(noise, chosen_relation, type(optimizer).__name__, sampling, steps)
    return Adapted(
        StepsOfEpoch(step, epoch.loader), claim, epoch, (*note_chosen_values("Opacus", chosen), about, *notes)
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """An optimizer and its model, in a form that can be copied: an optimizer of torch is pickled without all that Opacus adds."""

    kind: type
    optimizer: dict[str, Any]
    model: Any = None
    loss_kind: type | None = None
    criterion: Any = None

    @classmethod
    def of(cls, optimizer: Any, model: Any, criterion: Any) -> "Parts":
        """Return the parts of an optimizer, its model and the loss."""
        if not hasattr(criterion, "optimizer"):
            return cls(type(optimizer), vars(optimizer), model, None, criterion)
        rest = {name: part for name, part in vars(criterion).items() if name not in ("optimizer", "module")}
        return cls(type(optimizer), vars(optimizer), model, type(criterion), rest)

    def copied(self) -> tuple[Any, Any, Any]:
        """Return the optimizer, the model and the loss, all new, and sharing what they shared."""
        parts, model, criterion = copy.deepcopy((self.optimizer, self.model, self.criterion))
        optimizer: Any = object.__new__(self.kind)
        optimizer.__dict__.update(parts)
        if self.loss_kind is not None:
            rest, criterion = criterion, object.__new__(self.loss_kind)
            criterion.__dict__.update({**rest, "optimizer": optimizer, "module": model})
        # A copy of a parameter lacks the marks that hooks leave on it.
        for old, new in zip(_parameters(self.optimizer), _parameters(parts), strict=True):
            for name, mark in vars(old).items():
                new.__dict__.setdefault(name, mark if isinstance(mark, int) else None)
        return optimizer, model, criterion


def _parameters(parts: dict[str, Any]) -> list[Any]:
    return [parameter for group in parts["original_optimizer"].param_groups for parameter in group["params"]]


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """An optimizer, with a model and its loss or without, as a function of batches: the gradients that each step hands on."""

    parts: Parts
    example: Any = None

    def __call__(self, batches: Sequence[NDArray[np.float64]], rng: np.random.Generator) -> list[float]:
        torch = import_module("torch")
        optimizer, model, criterion = self.parts.copied()
        published = list[float]()
        with seeded(rng) as seeds:
            if getattr(optimizer, "generator", None) is not None:
                optimizer.generator.manual_seed(seeds.integer())
            for batch in batches:
                optimizer.zero_grad()
                if model is None:
                    _put_gradients(torch, optimizer, batch)
                else:
                    _backward(torch, optimizer, model, criterion, self._examples(torch, batch))
                optimizer.step()
                published += _looked_at(optimizer, 0 if model is not None else batch.shape[1])
                if hasattr(
                    optimizer, "target_unclipped_quantile"
                ):  # the next clipping norm scales the noise of the next step
                    published.append(float(optimizer.max_grad_norm))
        return published

    def _examples(self, torch: Any, batch: NDArray[np.float64]) -> tuple[Any, Any]:
        """Return the inputs and targets of a batch: the records are the first coordinates of inputs that are zero otherwise."""
        one, target = (torch.as_tensor(part) for part in self.example)
        inputs = torch.zeros((len(batch), *one.shape), dtype=one.dtype)
        inputs.reshape(len(batch), one.numel())[:, : batch.shape[1]] = torch.as_tensor(batch, dtype=one.dtype)
        return inputs, target.expand(len(batch), *target.shape).clone()


@dataclass(frozen=True, slots=True)
class OneStep:
    """A step on a batch that is all of the data."""

    step: TrainingStep

    def __call__(self, dataset: NDArray[np.float64], rng: np.random.Generator) -> list[float]:
        return self.step([dataset], rng)


@dataclass(frozen=True, slots=True)
class StepsOfEpoch:
    """The steps of an epoch. A data set that does not come in batches, such as canaries, is drawn from as the loader does."""

    step: TrainingStep
    loader: Loader

    def __call__(self, batches: Any, rng: np.random.Generator) -> list[float]:
        drawn = self.loader.draw(batches, rng) if isinstance(batches, np.ndarray) else batches
        return self.step(drawn, rng)


def _put_gradients(torch: Any, optimizer: Any, batch: NDArray[np.float64]) -> None:
    """Put a batch of gradients where a backward pass leaves them. Their coordinates are spread over the parameters."""
    parameters = list(optimizer.params)
    places = _spread(parameters, batch.shape[1])
    if batch.shape[1] > len(places):
        raise InvalidInputError(
            f"gradients have {batch.shape[1]:,} coordinates, and the optimizer's parameters {len(places):,}; give a larger model"
        )
    flat = [torch.zeros((len(batch), parameter.numel()), dtype=parameter.dtype) for parameter in parameters]
    for coordinate, (place, element) in zip(batch.T, places, strict=False):
        flat[place][:, element] = torch.as_tensor(coordinate.copy(), dtype=parameters[place].dtype)
    for parameter, gradients in zip(parameters, flat, strict=True):
        parameter.grad_sample = gradients.reshape(len(batch), *parameter.shape)


def _spread(parameters: Sequence[Any], cells: int = 0) -> list[tuple[int, int]]:
    """Return (parameter, element) of each coordinate: the first element of each parameter, then the second one, ...

    There are MOST_LOOKED_AT of them, and at least ``cells`` if the parameters have so many elements.
    """
    if cells > MOST_LOOKED_AT:
        longest = max(part.numel() for part in parameters)
        everywhere = (
            (place, element)
            for element in range(longest)
            for place, part in enumerate(parameters)
            if element < part.numel()
        )
        return list(itertools.islice(everywhere, cells))
    each = max(1, min(LOOKED_AT, MOST_LOOKED_AT // max(1, len(parameters))))
    places = [
        (place, element) for element in range(each) for place, part in enumerate(parameters) if element < part.numel()
    ]
    return places[:MOST_LOOKED_AT]


def _backward(torch: Any, optimizer: Any, model: Any, criterion: Any, examples: tuple[Any, Any]) -> None:
    """Run the model and the backward pass, as Opacus documents it for the kind of optimizer."""
    inputs, targets = examples
    outputs = model(inputs)
    if outputs.shape != targets.shape and math.prod(outputs.shape[1:]) == math.prod(targets.shape[1:]):
        outputs = outputs.reshape(targets.shape)
    if GHOST in type(optimizer).__name__ and GHOST not in type(criterion).__name__:
        # Before version 1.5.3 no loss calls both backward passes.
        utilities = import_module("opacus.utils.fast_gradient_clipping_utils")
        each = copy.copy(criterion)
        each.reduction = "none"
        losses = each(outputs, targets)
        utilities.double_backward(model, optimizer, losses.reshape(len(inputs), -1).mean(dim=1))
        return
    criterion(outputs, targets).backward()


def _looked_at(optimizer: Any, cells: int) -> list[float]:
    """Return coordinates of the gradient that was handed on."""
    parameters = list(optimizer.params)
    handed_on = [parameter.grad.detach().reshape(-1) for parameter in parameters]
    return [float(handed_on[place][element]) for place, element in _spread(parameters, cells)]


def _first_example(loader: Any) -> Any:
    if loader is None:
        raise InvalidInputError("example is missing: give (input, target), the tensors of one example, or a loader")
    first = loader.dataset[0]
    if not isinstance(first, tuple | list) or len(first) != 2:
        raise InvalidInputError(
            f"the first example of the loader is {type(first).__name__}; give `example`: (input, target)"
        )
    return tuple(first)


def _epoch_of(loader: Any, cells: int, norm: float, relation: Relation) -> tuple[Epoch, float, int, str]:
    """Return an epoch as the loader draws it, with the rate and the steps of its accounting, and what was made smaller."""
    steps = min(MOST_STEPS, len(loader))
    share = min(EPOCH_BATCH, max(1, -(-len(loader.dataset) // len(loader))))
    sampling, drop_last = _sampling_of(loader)
    records = steps * share
    grows = relation is Relation.ADD_REMOVE
    vectors = Vectors(cells, norm, size=(records - grows, records), relation=str(relation))
    number: dict[str, Any] = (
        {"batches": steps} if sampling == "poisson" else {"batch_size": share, "drop_last": drop_last}
    )
    epoch = Epoch(vectors, sampling, **number)
    about = (
        f"an epoch of {steps:,} batches of {share:,} is audited, in which the loader's {len(loader):,} are drawn in the same way "
        f"({sampling}); its accountant counts {steps:,} steps of Poisson sampling at rate 1/{steps:,}"
    )
    return epoch, 1 / steps, steps, about


def _sampling_of(loader: Any) -> tuple[SamplingName, bool]:
    """Return how a loader draws batches, and whether it drops the last one."""
    sampler = getattr(loader, "batch_sampler", None)
    name = type(sampler).__name__
    if hasattr(loader, "sample_rate") or "UniformWithReplacement" in name:
        return "poisson", False
    inner = type(getattr(sampler, "sampler", None)).__name__
    if inner == "RandomSampler":
        return "shuffled", bool(sampler.drop_last)  # type: ignore[union-attr]
    if inner == "SequentialSampler":
        return "ordered", bool(sampler.drop_last)  # type: ignore[union-attr]
    raise InvalidInputError(
        f"the loader draws by {name} of {inner}, which is not known; give `neighbours`: auditor.Epoch with its sampling"
    )
