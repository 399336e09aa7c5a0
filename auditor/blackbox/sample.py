"""Labelled outputs of a pair, and what draws them: in this process, in another, or a program."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from auditor.blackbox.outputs import Outputs, concatenate, from_list
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair, Side

Labels = np.ndarray[Any, np.dtype[np.bool_]]
Stream = np.random.Generator

SIDES: tuple[Side, Side] = ("left", "right")
# The trial: this many outputs, twice from one stream or seed. Two fair coins agree on all of them with probability 2⁻³².
TRIAL = 32
ALWAYS = 3  # failures on each side, and nothing else, are a mechanism that always fails


@dataclass(frozen=True, slots=True)
class Sample:
    """Outputs drawn on the left and on the right data set of a pair; a fair coin picked the side of each."""

    left: Outputs
    right: Outputs
    form: str = ""  # what held the outputs of a batch; see form_of
    redrawn: bool = False  # whether a batch raised, and its outputs were drawn one by one instead
    failures: int = 0  # outputs drawn one by one that were a process that died or hung, and cost time

    @property
    def size(self) -> int:
        """How many outputs there are, on both sides together."""
        return self.left.size + self.right.size

    def raised(self) -> bool:
        """Whether any output is an exception."""
        return self.left.has_exceptions() or self.right.has_exceptions()

    def halves(self) -> "tuple[Sample, Sample]":
        """Cut the sample in two, each with half of either side."""
        a, b = self.left.size // 2, self.right.size // 2
        return Sample(self.left[:a], self.right[:b]), Sample(self.left[a:], self.right[b:])


def join_samples(samples: Sequence[Sample]) -> Sample:
    """Return the outputs of all batches. Raises MechanismError where the batches do not hold them alike."""
    forms = sorted({sample.form for sample in samples if sample.form})
    if len(forms) > 1:
        raise changed_form(*forms[:2])
    return Sample(
        concatenate([sample.left for sample in samples]),
        concatenate([sample.right for sample in samples]),
        form="".join(forms),
        redrawn=any(sample.redrawn for sample in samples),
        failures=sum(sample.failures for sample in samples),
    )


def changed_form(one: str, other: str) -> MechanismError:
    """Say that two batches do not hold their outputs alike."""
    return MechanismError(
        f"the mechanism returned {one} for one batch and {other} for another; what a batch looks like must not depend on the "
        "outputs in it, or one rare output would show on all of them: return a list, or always the same kind of array"
    )


def sizes_of(labels: Labels) -> dict[bool, int]:
    """Return how many outputs each side has: True is the left data set."""
    on_left = int(np.count_nonzero(labels))
    return {True: on_left, False: len(labels) - on_left}


def all_failed(failure: BaseException, labels: Labels) -> Sample:
    """Return the sample of a batch that failed as a whole, each output of which is that failure.

    Which output failed cannot be known. To draw anew only the batches that fail would make failures rarer than they are, and not
    alike on the two sides.
    """
    sizes = sizes_of(labels)
    return Sample(from_list([failure] * sizes[True]), from_list([failure] * sizes[False]))


@dataclass(slots=True)
class Patience:
    """When to stop drawing outputs to learn from one by one, where many are a process that died or hung, and cost time."""

    most: int
    left: list[int] = field(default_factory=lambda: [0, 0])  # answers and failures
    right: list[int] = field(default_factory=lambda: [0, 0])

    def is_over(self, label: bool, failed: bool) -> bool:
        """Enter an output; return whether enough is known: ``most`` failures, or a few on both sides and nothing else."""
        (self.left if label else self.right)[failed] += 1
        answers, failures = (self.left[i] + self.right[i] for i in (0, 1))
        return failures >= self.most or (not answers and min(self.left[1], self.right[1]) >= ALWAYS)


def in_turn(
    labels: Labels,
    outputs: Iterator[tuple[Any, bool]],
    patience: Patience | None,
    table: Callable[[Sequence[Any]], Outputs] = from_list,
) -> Sample:
    """Return the sample of outputs that come one for each label, or for the first ones, as long as patience lasts.

    Each comes with whether its process failed; ``table`` canonicalises those of a side.
    """
    made: dict[bool, list[Any]] = {True: [], False: []}
    failures = 0
    for (output, failed), label in zip(outputs, labels.tolist(), strict=True):  # outputs to their end first
        made[label].append(output)
        failures += failed
        if patience is not None and patience.is_over(label, failed):
            break
    return Sample(table(made[True]), table(made[False]), failures=failures)


class Drawer(Protocol):
    """What draws labelled outputs of a mechanism."""

    @property
    def batched(self) -> bool:
        """Whether one call gives many outputs, unless drawn one by one."""

    @property
    def takes_rng(self) -> bool:
        """Whether all randomness is the auditor's."""

    def draw(
        self, pair: Pair, labels: Labels, rng: Stream, *, one_by_one: bool = False, patience: Patience | None = None
    ) -> Sample:
        """Draw one output for every label, or for the first ones, as long as patience lasts; see Mechanism.draw."""

    def call_once(self, pair: Pair, side: Side, rng: Stream) -> Any:
        """Return one output, or an exception."""


class Origin(Protocol):
    """Where outputs come from: a source that each worker imports, or what draws in a process of its own."""

    @property
    def isolated(self) -> bool:
        """Whether it runs in a process of its own and limits its time itself, so that a thread only waits for it."""

    def drawer(self) -> Drawer:
        """Return what draws, in the process that asks for it. Raises MechanismError when it cannot be imported."""


class Isolated:
    """What draws in a process of its own: it is the origin of its outputs itself."""

    __slots__ = ()
    isolated: ClassVar[bool] = True

    def drawer(self) -> Self:
        """Return this."""
        return self


# Of a query on a pair, or exceptions: on the left data set, there again, on the right, there again.
Answers = tuple[Any, Any, Any, Any]
