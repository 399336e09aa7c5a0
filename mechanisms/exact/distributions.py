"""The exact distribution of a mechanism's output: a mass function, a density with atoms, or a product of them.

Masses and densities are kept as natural logarithms, so that what underflows as a number does not vanish as a ratio.
Distributions that compare equal are taken as the same one, and cancel; predefined ones (``known_*.py``) compare by their
parameters.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from auditor.errors import InvalidInputError, require_number

Reals = NDArray[np.float64]
LogDensity = Callable[[Reals], Reals]

# Masses whose sum is further from 1 were not meant to be a distribution; rounding moves the sum of a million doubles by less.
NORMALISATION = 1e-9

# A product of coordinates is written out up to this many outputs (about 0.3 GB of dictionary).
LARGEST_PRODUCT = 1_000_000


def _check_masses(name: str, log_masses: Mapping[Hashable, float]) -> float:
    """Return the sum of the masses. Raises InvalidInputError where one is NaN or above 1."""
    for output, log_mass in log_masses.items():
        if not log_mass <= NORMALISATION:
            raise InvalidInputError(
                f"{name}[{output!r}] is {log_mass!r}; a log mass must be at most 0, and −inf for none"
            )
    return math.fsum(math.exp(log_mass) for log_mass in log_masses.values())


@dataclass(frozen=True, slots=True)
class MassFunction:
    """A distribution over outputs that can be listed.

    ``log_masses`` maps each output to the logarithm of its probability. ``missing`` is the total probability of
    outputs that are not listed, where a countable list was cut off; results then carry an error that covers every
    placement of the missing mass. ``log_error`` is how far a listed log mass may be from the true one, beyond
    rounding.

    Raises InvalidInputError unless the masses and ``missing`` sum to 1.

    >>> MassFunction({"heads": math.log(0.5), "tails": math.log(0.5)}).missing
    0.0
    """

    log_masses: Mapping[Hashable, float]
    missing: float = 0.0
    log_error: float = 0.0

    def __post_init__(self) -> None:
        missing = require_number("missing", self.missing, 0, 1)
        require_number("log_error", self.log_error, 0, math.inf)
        total = _check_masses("log_masses", self.log_masses) + missing
        if not abs(total - 1) <= NORMALISATION:
            raise InvalidInputError(f"the masses and missing = {missing!r} sum to {total!r}; they must sum to 1")
        object.__setattr__(self, "log_masses", dict(self.log_masses))

    @classmethod
    def of(cls, masses: Mapping[Hashable, float]) -> "MassFunction":
        """Return the distribution with these probabilities.

        >>> MassFunction.of({0: 0.25, 1: 0.75}).log_masses[0] == math.log(0.25)
        True
        """
        if not all(mass >= 0 for mass in masses.values()):
            raise InvalidInputError(f"masses are {dict(masses)!r}; each must be a number of at least 0")
        return cls({output: math.log(mass) if mass > 0 else -math.inf for output, mass in masses.items()})

    @classmethod
    def product(cls, coordinates: Sequence["MassFunction"]) -> "MassFunction":
        """Return the distribution of the tuple of independent coordinates, every output written out.

        Raises InvalidInputError above LARGEST_PRODUCT outputs; :class:`Product` has no such limit.

        >>> coin = MassFunction.of({0: 0.5, 1: 0.5})
        >>> sorted(MassFunction.product([coin, coin]).log_masses)
        [(0, 0), (0, 1), (1, 0), (1, 1)]
        """
        size = math.prod(len(coordinate.log_masses) for coordinate in coordinates)
        if size > LARGEST_PRODUCT:
            raise InvalidInputError(f"the product has {size} outputs; it must have at most {LARGEST_PRODUCT}")
        listed = math.prod(1 - coordinate.missing for coordinate in coordinates)
        return cls(
            {
                tuple(output for output, _ in row): math.fsum(log_mass for _, log_mass in row)
                for row in itertools.product(*(coordinate.log_masses.items() for coordinate in coordinates))
            },
            1 - listed if listed < 1 else 0.0,
            math.fsum(coordinate.log_error for coordinate in coordinates),
        )


@dataclass(frozen=True, slots=True)
class Density:
    """A distribution over the real line and over atoms.

    ``log_density`` maps an array of outputs to log densities of the same shape: finite, +inf at a pole, −inf only
    where the density is truly 0. ``breakpoints`` lists where it has a kink, a jump, a pole or a peak. Between them
    it must be smooth; peaks are found if their distance from a breakpoint is between about 10⁻⁶ and 10¹² times
    the breakpoints' spacing. ``atoms`` maps single outputs to log masses (an output such as None that stands
    for a refusal); the density then integrates to the mass that they leave. ``log_error`` is how far a computed log density
    or log mass may be from the true one, beyond rounding.

    Whether the density integrates to what it should is checked when it is integrated.
    Raises InvalidInputError for breakpoints that are missing or not finite, and for impossible atoms.
    """

    log_density: LogDensity
    breakpoints: tuple[float, ...]
    atoms: Mapping[Hashable, float] = field(default_factory=dict)
    log_error: float = 0.0

    def __post_init__(self) -> None:
        points = tuple(sorted({float(point) for point in self.breakpoints}))
        if not points or not all(map(math.isfinite, points)):
            raise InvalidInputError(f"breakpoints are {self.breakpoints!r}; there must be at least one, all finite")
        if not _check_masses("atoms", self.atoms) <= 1 + NORMALISATION:
            raise InvalidInputError(f"atoms are {dict(self.atoms)!r}; their masses must sum to at most 1")
        object.__setattr__(self, "breakpoints", points)
        object.__setattr__(self, "atoms", dict(self.atoms))
        object.__setattr__(self, "log_error", require_number("log_error", self.log_error, 0, math.inf))


Coordinate = MassFunction | Density


@dataclass(frozen=True, slots=True)
class Product:
    """A tuple of independent coordinates. Divergences of products are computed coordinate by coordinate."""

    coordinates: tuple[Coordinate, ...]


Distribution = MassFunction | Density | Product


@dataclass(frozen=True, slots=True)
class _Mixture:
    """The log density of a mixture; a component −inf everywhere is None."""

    log_weights: tuple[float, ...]
    log_densities: tuple[LogDensity, ...]

    def __call__(self, outputs: Reals) -> Reals:
        terms = np.stack([w + f(outputs) for w, f in zip(self.log_weights, self.log_densities, strict=True)])
        top = np.max(terms, axis=0)
        finite = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(finite + np.log(np.sum(np.exp(terms - finite), axis=0)))


def mixture(weights: Sequence[float], components: Sequence[Coordinate]) -> Coordinate:
    """Return the distribution that draws from each component with the probability of its weight.

    Raises InvalidInputError unless the weights are at least 0, one a component, and sum to 1.

    >>> half = mixture([0.5, 0.5], [MassFunction.of({0: 1.0}), MassFunction.of({1: 1.0})])
    >>> half == MassFunction.of({0: 0.5, 1: 0.5})
    True
    """
    if len(weights) != len(components) or not all(weight >= 0 for weight in weights):
        raise InvalidInputError(f"weights are {list(weights)!r}; there must be one of at least 0 for each component")
    if not abs(math.fsum(weights) - 1) <= NORMALISATION:
        raise InvalidInputError(f"weights are {list(weights)!r}; they must sum to 1")
    parts = [(math.log(w), part) for w, part in zip(weights, components, strict=True) if w > 0]
    masses: dict[Hashable, float] = {}
    for log_weight, part in parts:
        for output, log_mass in (part.log_masses if isinstance(part, MassFunction) else part.atoms).items():
            masses[output] = float(np.logaddexp(masses.get(output, -math.inf), log_weight + log_mass))
    missing = math.fsum(math.exp(w) * part.missing for w, part in parts if isinstance(part, MassFunction))
    smooth = [(w, part) for w, part in parts if isinstance(part, Density)]
    log_error = max(part.log_error for _, part in parts)
    if not smooth:
        return MassFunction(masses, missing, log_error)
    if missing > 0:
        raise InvalidInputError(f"a mass function with missing = {missing!r} cannot be mixed with a density")
    return Density(
        _Mixture(tuple(w for w, _ in smooth), tuple(part.log_density for _, part in smooth)),
        tuple(point for _, part in smooth for point in part.breakpoints),
        masses,
        log_error,
    )
