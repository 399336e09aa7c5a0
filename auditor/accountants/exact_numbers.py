"""The exact number that an accountant should state, as an interval: of ``auditor.exact``, or made of its δ(ε) and divergences."""

import functools
import math
from dataclasses import replace
from itertools import pairwise

from auditor.accountants.target import States
from auditor.errors import InvalidInputError
from auditor.exact import (
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Interval,
    Laplace,
    Poisson,
    Process,
    RandomizedResponse,
    delta_interval,
    epsilon_interval,
    mu_interval,
    renyi_interval,
)
from auditor.exact.process import ProcessRelation

# The orders at which a lower limit on ρ is looked for.
_ORDERS = (1 + 1e-6, 1.001, 1.01, 1.1, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
# How many pieces the range of ε is cut into for the power, and how many of them are halved.
_PIECES, _MOST_HALVED = 20, 60


@functools.lru_cache(maxsize=4_096)
def exact_number(
    process: Process | Composition, states: States, argument: float | None, precision: float = 0.01
) -> Interval:
    """Return the interval of what ``states`` names, at its argument. For "tradeoff" it is that of the power, 1 − β.

    Raises InvalidInputError for an argument that is not possible.
    """
    if states in ("epsilon", "delta", "renyi", "tradeoff") and argument is None:
        raise InvalidInputError(f"{states} needs an argument")
    match states:
        case "epsilon":
            return epsilon_interval(process, argument, precision=precision)  # type: ignore[arg-type]
        case "delta":
            return delta_interval(process, argument, precision=precision)  # type: ignore[arg-type]
        case "renyi":
            return renyi_interval(process, argument)  # type: ignore[arg-type]
        case "mu":
            return mu_interval(process)
        case "rho":
            return _rho_interval(process)
        case "tradeoff":
            return _power_interval(process, argument, precision)  # type: ignore[arg-type]
    raise InvalidInputError(f"states is {states!r}, which is no number of a process")


def _parts(process: Process | Composition) -> tuple[Process, ...]:
    return process.processes if isinstance(process, Composition) else (process,)


def _rho_interval(process: Process | Composition) -> Interval:
    """Return an interval of ρ, the supremum of D_α/α over the orders α > 1 (Bun & Steinke 2016, Definition 1.1)."""
    low = max(renyi_interval(process, order).low / order for order in _ORDERS)
    parts = _parts(process)
    if all(isinstance(part.noise, Gaussian) and part.sampling is None for part in parts):
        at = renyi_interval(process, 2.0)
        return Interval(at.low / 2, at.high / 2, at.how)
    pure = epsilon_interval(process, 0.0)
    # ε-differential privacy implies ρ = ε²/2 (Bun & Steinke 2016, Proposition 3.3), also of each step.
    steps = sum(part.steps * epsilon_interval(replace(part, steps=1), 0.0).high ** 2 / 2 for part in parts)
    high = min(pure.high**2 / 2, steps)
    return Interval(low, max(low, high), "the largest D/α at some orders; above, ε²/2 of the steps")


def _power_interval(process: Process | Composition, alpha: float, precision: float) -> Interval:
    """Return an interval of the largest power of a test at the level ``alpha``, over both directions of the worst pair."""
    from scipy.special import ndtr, ndtri

    if not 0 <= alpha <= 1:
        raise InvalidInputError(f"alpha is {alpha!r}; it must be a rate from 0 to 1")
    if alpha == 1:
        return Interval(1.0, 1.0, "every test at level 1")
    if alpha > 0 and all(isinstance(part.noise, Gaussian) and part.sampling is None for part in _parts(process)):
        mu = mu_interval(process)
        value = float(ndtr(ndtri(alpha) + mu.low))
        return Interval(value * (1 - 1e-10), min(1.0, value * (1 + 1e-10)), mu.how)
    directions = _directions(process)
    ends = [_power_of_direction(one, other, alpha, precision) for one, other in directions or [(process, process)]]
    # δ(ε) of both directions together is that of a mixture of tests, which may exceed each of them.
    low = max(low for low, _ in ends) if directions else alpha
    how = "the power that δ(ε) leaves a test, the least over ε"
    return Interval(low, max(low, *(high for _, high in ends)), how)


def _directions(process: Process | Composition) -> list[tuple[Process | Composition, Process | Composition]]:
    """Return a process for each direction of its pairs, with that of the other direction; none if they are not known apart."""
    parts = _parts(process)

    def towards(relation: ProcessRelation) -> Composition:
        return Composition(tuple(replace(part, relation=relation) for part in parts))

    relation = parts[0].relation
    if relation in ("add", "remove", "add_remove"):
        wanted: dict[str, ProcessRelation] = {"add": "remove", "remove": "add"}
        kept = {name: other for name, other in wanted.items() if relation in (name, "add_remove")}
        return [(towards(wanted[other]), towards(other)) for other in kept.values()]
    mirrored = Gaussian | Laplace | DiscreteGaussian | DiscreteLaplace | RandomizedResponse
    if all(isinstance(part.noise, mirrored) for part in parts) and (
        all(part.sampling is None for part in parts)
        or (
            relation == "substitute"
            and all(part.sampling is None or isinstance(part.sampling, Poisson) for part in parts)
        )
    ):
        return [(process, process)]
    return []


def _power_of_direction(
    process: Process | Composition, reversed_one: Process | Composition, alpha: float, precision: float
) -> tuple[float, float]:
    """Return limits on the largest power of a test at level ``alpha``, of one pair.

    It is the least of δ(ε) + e^ε α, and of 1 − e^−ε (1 − δ(ε) − α) with δ of the reversed pair, over all ε ≥ 0 (Dong, Roth & Su
    2022, Proposition 2.12, and δ(−ε) = 1 − e^−ε (1 − δ(ε) of the reversed pair)). Between two ε, δ(ε) falls and e^ε rises.
    """

    @functools.cache
    def delta(asked: Process | Composition, epsilon: float) -> Interval:
        return delta_interval(asked, epsilon, precision=precision)

    def high_at(epsilon: float) -> float:
        own, other = delta(process, epsilon).high, delta(reversed_one, epsilon).high
        return min(1.0, own + math.exp(epsilon) * alpha, 1 - math.exp(-epsilon) * max(0.0, 1 - other - alpha))

    def low_between(a: float, b: float) -> float:
        """Return what neither term falls below for ε in [a, b]: δ is that at b, and e^ε that at a."""
        own, other = delta(process, b).low, delta(reversed_one, b).low
        return min(own + math.exp(a) * alpha, 1 - math.exp(-a) * max(0.0, 1 - other - alpha))

    last = max(40.0, min(600.0, -math.log(alpha))) if alpha > 0 else 600.0  # where e^ε α is 1, and e^−ε vanishes
    epsilons = [last * (i / _PIECES) ** 2 for i in range(_PIECES + 1)]
    high = min(map(high_at, epsilons))
    tail = min(math.exp(last) * alpha, 1 - math.exp(-last))  # for all ε above the last
    pieces = [(low_between(a, b), a, b) for a, b in pairwise(epsilons)]
    for _ in range(_MOST_HALVED):
        low, a, b = min(pieces)
        if low >= high * (1 - precision / 4):
            break
        middle = (a + b) / 2
        high = min(high, high_at(middle))
        pieces.remove((low, a, b))
        pieces += [(low_between(a, middle), a, middle), (low_between(middle, b), middle, b)]
    rounding = 1 - 1e-12
    low = max(alpha, min(tail, min(pieces)[0]) * rounding)
    return low, max(low, min(1.0, high / rounding))
