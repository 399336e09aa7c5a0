"""The process that an exact number is about: noise, sensitivity, sampling, neighbouring relation and steps, as plain data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from auditor.errors import InvalidInputError, require_known, require_number

ProcessRelation = Literal["add", "remove", "add_remove", "substitute", "zero_out"]
MOST_PROCESS_STEPS = 10_000_000


# Of numbers within these limits no square, product or ratio underflows or overflows.
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-50, 1e50


def _positive(name: str, value: object, most: float = LARGEST_NUMBER) -> None:
    require_number(name, value, SMALLEST_NUMBER, most)


def _count(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInputError(f"{name} is {value!r}; it must be an integer from {least:,} to {most:,}")


# --- Noise ---


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Noise of a normal distribution on each coordinate; ``scale`` is its standard deviation. The sensitivity is in L2."""

    scale: float

    def __post_init__(self) -> None:
        _positive("scale", self.scale)


@dataclass(frozen=True, slots=True)
class Laplace:
    """Noise with density proportional to e^(−\\|x\\|/scale) on each coordinate. The sensitivity is in L1."""

    scale: float

    def __post_init__(self) -> None:
        _positive("scale", self.scale)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Integer noise with probability proportional to e^(−k²/(2 scale²)), added to one integer. The sensitivity is an integer."""

    scale: float

    def __post_init__(self) -> None:
        _positive("scale", self.scale, 1e5)


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """Integer noise with probability proportional to e^(−\\|k\\|/scale), added to one integer. The sensitivity is an integer."""

    scale: float

    def __post_init__(self) -> None:
        _positive("scale", self.scale, 1e4)


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Report one of ``values`` values: the true one with probability ``truth``, and each other with the same probability."""

    truth: float
    values: int = 2

    def __post_init__(self) -> None:
        _count("values", self.values, 2, 10**9)
        require_number("truth", self.truth, 1 / self.values, 1)


@dataclass(frozen=True, slots=True)
class ExponentialMechanism:
    """Choose one of at least two candidates with probability proportional to e^(``weight`` × utility).

    Each utility changes by at most the sensitivity. If all of them change in the same direction (``monotone``), the range of
    the privacy loss halves.
    """

    weight: float
    monotone: bool = False

    def __post_init__(self) -> None:
        _positive("weight", self.weight)
        if not isinstance(self.monotone, bool):
            raise InvalidInputError(f"monotone is {self.monotone!r}; it must be true or false")


@dataclass(frozen=True, slots=True)
class Table:
    """A mechanism with finitely many outputs: their probabilities with the record, and without it (or with another one)."""

    present: tuple[float, ...]
    absent: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("present", "absent"):
            row = getattr(self, name)
            if isinstance(row, str) or not isinstance(row, Sequence) or not row:
                raise InvalidInputError(f"{name} is {row!r}; it must be a list of probabilities, at least one")
            numbers = tuple(require_number(f"{name}[{i}]", p, 0, 1) for i, p in enumerate(row))
            if abs(math.fsum(numbers) - 1) > 1e-12:
                total = math.fsum(numbers)
                raise InvalidInputError(
                    f"{name} sums to {total!r}; it must sum to 1, to within 1e-12. Add what is missing"
                )
            object.__setattr__(self, name, numbers)
        if len(self.present) != len(self.absent):
            sizes = f"{len(self.present)} and {len(self.absent)}"
            raise InvalidInputError(f"present and absent have {sizes} probabilities; both need one for each output")


Noise: TypeAlias = (
    Gaussian | Laplace | DiscreteGaussian | DiscreteLaplace | RandomizedResponse | ExponentialMechanism | Table
)


# --- Sampling ---


@dataclass(frozen=True, slots=True)
class Poisson:
    """Each record takes part in a step by a coin of its own, which shows heads with probability ``rate``."""

    rate: float

    def __post_init__(self) -> None:
        _positive("rate", self.rate, 1)


@dataclass(frozen=True, slots=True)
class FixedSize:
    """A batch of a fixed number of records, drawn without replacement; ``rate`` is its share of all records."""

    rate: float

    def __post_init__(self) -> None:
        _positive("rate", self.rate, 1)


@dataclass(frozen=True, slots=True)
class Allocation:
    """Each record takes part in ``times`` of ``batches`` batches, chosen at random: once per epoch of shuffled data, or k of t.

    A step of the process is one pass over all batches.
    """

    batches: int
    times: int = 1

    def __post_init__(self) -> None:
        _count("batches", self.batches, 1, MOST_PROCESS_STEPS)
        _count("times", self.times, 1, self.batches)


Sampling: TypeAlias = Poisson | FixedSize | Allocation

# Noise whose privacy loss is the same for all rows of data, so that it has no sensitivity.
WITHOUT_SENSITIVITY = (RandomizedResponse, Table)


@dataclass(frozen=True, slots=True)
class Process:
    """A mechanism that runs ``steps`` times on the same data.

    ``sensitivity`` is how far a record's contribution moves the answer, in the norm of the noise. Under "substitute" one
    contribution is taken away and another added, so the answers lie up to twice as far apart. Under "zero_out" a record's
    contribution becomes zero, and the number of records stays.

    Raises InvalidInputError for a combination that has no meaning, or that is not known.
    """

    noise: Noise
    sensitivity: float = 1.0
    relation: ProcessRelation = "add_remove"
    sampling: Sampling | None = None
    steps: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.noise, get_args(Noise)):
            names = ", ".join(kind.__name__ for kind in get_args(Noise))
            raise InvalidInputError(f"noise is {self.noise!r}; it must be one of {names}")
        if self.sampling is not None and not isinstance(self.sampling, get_args(Sampling)):
            names = ", ".join(kind.__name__ for kind in get_args(Sampling))
            raise InvalidInputError(f"sampling is {self.sampling!r}; it must be None or one of {names}")
        _positive("sensitivity", self.sensitivity)
        _count("steps", self.steps, 1, MOST_PROCESS_STEPS)
        require_known("relation is", [self.relation], get_args(ProcessRelation))
        self._require_known_combination()

    def _require_known_combination(self) -> None:
        noise, kind = self.noise, type(self.noise).__name__
        if isinstance(noise, DiscreteGaussian | DiscreteLaplace) and self.sensitivity != int(self.sensitivity):
            raise InvalidInputError(f"sensitivity is {self.sensitivity!r}; of {kind}, it must be an integer")
        if isinstance(noise, WITHOUT_SENSITIVITY) and self.sensitivity != 1:
            raise InvalidInputError(f"sensitivity is {self.sensitivity!r}; {kind} has none, so leave it out")
        if isinstance(noise, RandomizedResponse) and self.relation != "substitute":
            more = 'without a record there is no answer. Write relation "substitute", or state a Table'
            raise InvalidInputError(f'relation is "{self.relation}"; of {kind}, it must be "substitute": {more}')
        if isinstance(self.sampling, FixedSize | Allocation):
            name = type(self.sampling).__name__
            if not isinstance(noise, Gaussian | Laplace):
                raise InvalidInputError(f"sampling is {name}; with it, noise must be Gaussian or Laplace")
            if isinstance(self.sampling, FixedSize) and self.relation != "substitute":
                more = "a batch of a fixed size has no neighbours with one record more or less"
                raise InvalidInputError(f'relation is "{self.relation}"; of {name}, it must be "substitute": {more}')
        if (
            isinstance(self.sampling, Poisson)
            and self.relation == "substitute"
            and isinstance(noise, RandomizedResponse | Table | ExponentialMechanism)
        ):
            more = 'which output a record leaves when it is not drawn is not known. State a Table under "add_remove"'
            raise InvalidInputError(
                f'sampling is Poisson and relation "substitute"; with {kind} there is no answer: {more}'
            )


@dataclass(frozen=True, slots=True)
class Composition:
    """Several processes on the same data, one after another; all under the same relation."""

    processes: tuple[Process, ...]

    def __post_init__(self) -> None:
        parts = tuple(self.processes) if isinstance(self.processes, Sequence) else ()
        if not parts or not all(isinstance(part, Process) for part in parts):
            raise InvalidInputError(f"processes is {self.processes!r}; it must be a list of Process, at least one")
        relations = sorted({part.relation for part in parts})
        if len(relations) > 1:
            raise InvalidInputError(f"the processes have the relations {', '.join(relations)}; state one for all")
        object.__setattr__(self, "processes", parts)

    @property
    def relation(self) -> ProcessRelation:
        """The relation of all processes."""
        return self.processes[0].relation


@dataclass(frozen=True, slots=True)
class Interval:
    """[``low``, ``high``] holds the exact number, and ``how`` says how the ends were computed."""

    low: float
    high: float
    how: str

    @property
    def relative_width(self) -> float:
        """Return (high − low)/high, and 0 if both ends are equal."""
        return 0.0 if self.high == self.low else (self.high - self.low) / self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as it is written to JSON; an infinite end is "inf"."""
        ends = {name: "inf" if math.isinf(end) else end for name, end in (("low", self.low), ("high", self.high))}
        return {**ends, "how": self.how}
