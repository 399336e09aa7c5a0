"""``Sample`` holds outputs of both sides of a pair. ``Drawer`` draws them in a process, or from a program."""

import contextlib
import itertools
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.canonical import from_list, row_of
from auditor.blackbox.outputs import OutputColumn, Outputs, concatenate
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.seal import UNCHANGING, seal, unseal
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair, Side, rows_of

Labels = np.ndarray[Any, np.dtype[np.bool_]]  # True: on the left data set
Stream = np.random.Generator
# The answers of a query on a pair: twice on the left data set, then twice on the right. An answer may be an exception.
Answers = tuple[Any, Any, Any, Any]

T = TypeVar("T")

# How many outputs drawn one by one are made canonical together: few enough to stay in a core's cache.
PIECE = 4_096
# A batch takes one call on each side for FOR_A_CALL outputs, but at most CALLS, since each call may be slow. It takes
# several calls, since outputs of one call may share a state and depend on each other.
CALLS, FOR_A_CALL = 4, 64
SIDES: tuple[Side, Side] = ("left", "right")
# The number of outputs of a trial, which draws twice from one stream. Independent fair coins would agree with
# probability 2⁻³².
TRIAL = 32
ALWAYS = 3  # so many failures on each side, and no other output, count as a mechanism that always fails
# The largest distance, in units of the noise; also that of a number and an atom, and of unequal numbers without noise.
MOST = 8.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Outputs drawn on the left and on the right data set of a pair."""

    left: Outputs
    right: Outputs
    form: str = ""  # the form of the batch that held the outputs, see canonical.batch_form
    calls: int = 0  # calls on each side, each for many outputs; 0 if each output has a call of its own
    redrawn: bool = False  # whether a batch raised, and its outputs were drawn one by one instead
    failures: int = 0  # how often a process died or hung, among outputs drawn one by one

    @property
    def size(self) -> int:
        """The number of outputs on both sides together."""
        return self.left.size + self.right.size

    def raised(self) -> bool:
        """Whether any output is an exception."""
        return any(side.raised()[0] > 0 for side in (self.left, self.right))

    def parts(self, number: int) -> "list[Sample]":
        """Cut the sample into ``number`` samples, each with a part of either side, in the order of drawing."""
        return [
            Sample(self.left[a:b], self.right[c:d])
            for (a, b), (c, d) in zip(
                part_ends(self.left.size, number), part_ends(self.right.size, number), strict=True
            )
        ]

    def sizes(self, number: int) -> list[int]:
        """Return the number of outputs of each of ``number`` parts."""
        of_sides = ([b - a for a, b in part_ends(side.size, number)] for side in (self.left, self.right))
        return [*map(sum, zip(*of_sides, strict=True))]

    def halves(self) -> "tuple[Sample, Sample]":
        """Return two samples, each with half of either side."""
        first, second = self.parts(2)
        return first, second


def part_ends(size: int, parts: int) -> list[tuple[int, int]]:
    """Return where each of ``parts`` parts of a side with ``size`` outputs begins and ends."""
    return [*itertools.pairwise(size * part // parts for part in range(parts + 1))]


def join_samples(samples: Sequence[Sample]) -> Sample:
    """Return one sample with the outputs of all samples. Raises MechanismError if their forms differ."""
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


def changed_form(first: str, second: str) -> MechanismError:
    """Return the error for two batches of different form."""
    return MechanismError(
        f"the mechanism returned {first} for one batch and {second} for another; the form of a batch must not depend on the "
        "outputs in it, or one rare output would show on all of them: return a list, or always the same kind of array"
    )


def sides_of(pair: Pair, labels: Labels) -> Iterator[tuple[bool, Any, int]]:
    """Yield label, data set and number of outputs of each side with outputs, first the side of the first label."""
    on_left = int(np.count_nonzero(labels))
    sizes, first = {True: on_left, False: len(labels) - on_left}, bool(labels[:1].any())
    for label in (first, not first):
        if sizes[label]:
            yield label, pair.dataset("left" if label else "right"), sizes[label]


def calls_of(labels: Labels, least: int = 1) -> list[Labels]:
    """Cut the labels of a batch into at least ``least`` pieces, if there are enough. Each takes a call on each side."""
    number = max(min(CALLS, len(labels) // FOR_A_CALL), min(least, len(labels)), 1)
    return [labels] if number == 1 else np.array_split(labels, number)


@dataclass(slots=True)
class Patience:
    """The rule that stops drawing outputs one by one after many dead or hung processes, since each costs time."""

    most: int
    failures: list[int] = field(default_factory=lambda: [0, 0])  # on the right, and on the left
    answered: bool = False  # whether some output was not a failure

    def is_over(self, label: bool) -> bool:
        """Enter a failure. Return whether there are ``most``, or ALWAYS on both sides and no other output."""
        self.failures[label] += 1
        return sum(self.failures) >= self.most or (not self.answered and min(self.failures) >= ALWAYS)


def sample_of(made: Sequence[Any], labels: Labels) -> Sample:
    """Return outputs, one for each label, as a sample."""
    failed = {kind for kind in set(map(type, made)) if issubclass(kind, ProcessFailure)}
    failures = sum(type(output) in failed for output in made) if failed else 0
    left, right = (from_list([*itertools.compress(made, side.tolist())]) for side in (labels, ~labels))
    return Sample(left, right, failures=failures)


class Drawer(Protocol):
    """An object that draws an output of a mechanism for each label. The label says on which side.

    ``batched`` says whether a call gives many outputs, ``takes_rng`` whether the mechanism takes the auditor's stream,
    ``shares`` whether the mechanism may still hold the outputs of ``each``.
    """

    __slots__ = ()
    batched: bool
    takes_rng: bool
    shares: ClassVar[bool] = True

    def drawer(self) -> "Drawer":
        """Return itself, so that it can stand for a source."""
        return self

    def draw(
        self,
        pair: Pair,
        labels: Labels,
        rng: Stream,
        least: int = 1,
        *,
        one_by_one: bool = False,
        patience: Patience | None = None,
    ) -> Sample:
        """Draw one output for every label, in the order of the labels. A batch takes at least ``least`` calls on each
        side, if it has enough outputs. Outputs drawn one by one end early when ``patience`` is over.

        A failure is an output. If a batch fails, all its outputs are that failure, since nobody knows which output
        failed. The batch is not redrawn, since that would make failures rarer, by different factors on the two sides.
        """
        if self.batched and not one_by_one:
            drawn = self.batch(pair, labels, rng, least)
            if isinstance(drawn, Sample):
                return drawn
            left, right = (from_list([drawn] * int(np.count_nonzero(labels == label))) for label in (True, False))
            return Sample(left, right)
        return join_samples([*self.pieces(pair, labels, rng, patience)])

    def pieces(self, pair: Pair, labels: Labels, rng: Stream, patience: Patience | None) -> Iterator[Sample]:
        """Draw one by one, and yield PIECE outputs at a time. They end early when ``patience`` is over."""
        with contextlib.closing(self.each(pair, labels, rng)) as outputs:
            for at in range(0, len(labels), PIECE):
                made, is_over = self._made(outputs, labels[at : at + PIECE], patience)
                yield sample_of(made, labels[at : at + len(made)])
                if is_over:
                    return
            next(outputs, None)  # reaches the end, where a process says that it is done

    def _made(self, outputs: Iterator[Any], labels: Labels, patience: Patience | None) -> tuple[list[Any], bool]:
        """Return the next outputs, one for each label, and whether ``patience`` is over. Then there are fewer.

        The mechanism may go on to change an object that it returned, so each is sealed before the next is drawn.
        """
        made, is_over, shares, sealed = list[Any](), False, self.shares, False
        for output in itertools.islice(outputs, len(labels)):
            if type(output) in UNCHANGING:
                made.append(output)
            elif issubclass(type(output), ProcessFailure):  # isinstance would call code of the output
                made.append(output)
                if is_over := patience is not None and patience.is_over(bool(labels[len(made) - 1])):
                    break
                continue
            else:
                made.append(seal(output) if shares else output)
                sealed = shares
            if patience is not None:
                patience.answered = True
        return list(map(unseal, made)) if sealed else made, is_over

    def coupled(self, pair: Pair, rng: Stream, size: int) -> tuple[Outputs, Outputs]:
        """Return ``size`` outputs of either side with the same noise. There are fewer if a process fails."""
        state, drawn = rng.bit_generator.state, list[Sample]()
        for labels in (np.ones(size, np.bool_), np.zeros(size, np.bool_)):
            rng.bit_generator.state = state
            drawn.append(self.draw(pair, labels, rng, patience=Patience(1)))
        return drawn[0].left, drawn[1].right

    def alike(self, pairs: Sequence[Pair], rng: Stream, size: int) -> Iterator[float]:
        """Yield the distance (see ``apart``) of ``size`` outputs of either side of each pair, all with equal noise."""
        state = rng.bit_generator.state
        for pair in pairs:
            rng.bit_generator.state = state
            yield apart(*self.coupled(pair, rng, size))

    def batch(self, pair: Pair, labels: Labels, rng: Stream, least: int = 1) -> Sample | BaseException:
        """Draw outputs by a few calls (see ``calls_of``). If one fails, return the failure of the batch."""

    def each(self, pair: Pair, labels: Labels, rng: Stream) -> Generator[Any, None, None]:
        """Yield an output or a failure for every label, each made when it is asked for."""
        yield from ()  # of a mechanism whose ``pieces`` come in another way

    def call_once(self, pair: Pair, side: Side, rng: Stream) -> Any:
        """Return one output, or the failure. Raises MechanismError for an output that does not show its content."""
        [output] = self.each(pair, np.array([side == "left"]), rng)
        row_of(output)
        return output

    def repeats_itself(self, pair: Pair) -> bool:
        """Whether the mechanism has no randomness of its own, as far as this shows before an audit."""
        return self.takes_rng

    def answers(self, pairs: Sequence[Pair]) -> Iterator[Answers]:
        """Yield the answers of a query on each pair. A frame becomes its rows, which can be stored and compared."""
        rng = np.random.default_rng(0)
        for pair in pairs:
            left, again, right, right_again = (rows_of(self.call_once(pair, s, rng)) for s in SIDES for _ in range(2))
            yield left, again, right, right_again


def are_rows(*answers: Any) -> bool:
    """Whether all answers are lists of rows, and at least one has a row."""
    lists = [answer for answer in answers if isinstance(answer, list) and all(isinstance(row, dict) for row in answer)]
    return len(lists) == len(answers) and any(lists)


# --- How far apart outputs with the same noise are: this ranks pairs, and proves nothing ---


def apart(first: Outputs, second: Outputs) -> float:
    """Return the mean distance of the n-th output of one side from the n-th of the other, summed over the columns.

    The distance of numbers is divided by the mean distance of consecutive outputs of one side. If the mechanism only
    adds noise, equal noise on both sides cancels, and leaves the distance of the values without noise.
    """
    size = min(first.size, second.size)
    if not size:
        return 0.0
    names = dict.fromkeys(column.name for side in (first, second) for column in side.columns)
    columns = [[side.column(name) for name in names] for side in (first, second)]
    left, right = (np.array([column.numbers[:size] for column in side]) for side in columns)
    with np.errstate(invalid="ignore", over="ignore"):
        noise = (_spread(left) + _spread(right)) / 2
        gap = np.where(left == right, 0.0, np.abs(left - right))  # equal infinities are not apart
        parts = np.where(gap > 0, MOST, 0.0)
        np.divide(gap, noise, out=parts, where=(noise > 0) & np.isfinite(noise))
    parts = np.fmin(parts, MOST)  # MOST for NaN
    for place, (a, b) in enumerate(zip(*columns, strict=True)):
        if a.codes is not None or b.codes is not None:
            _of_atoms(parts[place], a, b)
    return float(parts.sum() / size)


def _spread(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean distance of consecutive outputs, for each column."""
    if numbers.shape[1] < 2:
        return np.zeros((len(numbers), 1))
    return np.asarray(np.abs(numbers[:, 1:] - numbers[:, :-1]).sum(axis=1, keepdims=True) / (numbers.shape[1] - 1))


def _of_atoms(parts: NDArray[np.float64], left: OutputColumn, right: OutputColumn) -> None:
    for i in range(len(parts)):
        a, b = (None if c.codes is None or c.codes[i] < 0 else c.atoms[c.codes[i]] for c in (left, right))
        if a is not None or b is not None:
            parts[i] = 0.0 if a == b else MOST if None in (a, b) else 1.0
