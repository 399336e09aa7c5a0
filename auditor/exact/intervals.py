"""Intervals that contain δ(ε), ε(δ), the Rényi divergence of an order, and μ of a process, despite rounding."""

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from auditor.errors import InvalidInputError, require_number
from auditor.exact.closed_forms import gaussian_delta_interval, gaussian_epsilon_interval
from auditor.exact.compose import (
    MOST_CELLS,
    SMALLEST,
    DeltaEnclosure,
    Window,
    chernoff_bound,
    choose_window,
    enclose_composition,
    enclose_single_step,
    find_saddle_point,
    kappa,
    round_up_to_grid,
    sketch_law,
)
from auditor.exact.laws import UNIT, GaussianLaw, Law, OppositeLaw, SampledLaw, SwappedLaw, SymmetrizedLaw
from auditor.exact.pairs import Scenario, WorstPairs, worst_pairs
from auditor.exact.process import Composition, Interval, Process
from auditor.exact.renyi import enclose_renyi

PRECISION = 0.01
MOST_REFINEMENTS = 6  # of the grid
MOST_PIECES = 60  # into which the range of ε is cut for μ
NEGLIGIBLE_SHARE = 1e-2  # of the precision: what tails that are cut, and what wraps around, may add to δ
CLOSED, ONE_STEP, ADDED_UP = (
    "closed form of Gaussian noise",
    "one step, from distribution functions",
    "losses on a grid, added up by a Fourier transform; rounding, tails and errors are on the safe side of each end",
)


def delta_interval(process: Process | Composition, epsilon: float, *, precision: float = PRECISION) -> Interval:
    """Return an interval that holds the least δ for which the process is (``epsilon``, δ)-differentially private; ε is
    in nats.

    The grid is made finer until the interval's relative width is at most ``precision``, or until it would take more than
    MOST_CELLS numbers. Raises InvalidInputError unless epsilon ≥ 0 is finite, and 0 < precision < 1.
    """
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    _require_precision(precision)

    def of(scenario: Scenario, enough: float, h: float | None) -> _ScenarioInterval:
        return _enclose_delta(scenario, epsilon, precision, enough, h)

    return _enclose_largest(process, of, 1.0)


def epsilon_interval(process: Process | Composition, delta: float, *, precision: float = PRECISION) -> Interval:
    """Return an interval (nats) that holds the least ε for which the process is (ε, ``delta``)-private.

    Both ends may be infinite. For ``precision`` see ``delta_interval``. Raises InvalidInputError unless 0 ≤ delta < 1.
    """
    delta = require_number("delta", delta, 0, 1, high_open=True)
    _require_precision(precision)

    def of(scenario: Scenario, enough: float, h: float | None) -> _ScenarioInterval:
        return _enclose_epsilon(scenario, delta, precision, enough, h)

    return _enclose_largest(process, of, math.inf)


def renyi_interval(process: Process | Composition, order: float) -> Interval:
    """Return an interval (nats) that holds the largest Rényi divergence of an ``order`` above 1; both ends may be infinite.

    Divergences of independent steps add up. Raises InvalidInputError unless order > 1 is finite.
    """
    order = require_number("order", order, 1, math.inf, low_open=True)

    def of(scenario: Scenario, enough: float, h: float | None) -> _ScenarioInterval:
        ends = [(part.steps, enclose_renyi(part.law, order)) for part in scenario]
        is_closed = all(isinstance(part.law, GaussianLaw) for part in scenario)
        low, high = (sum(count * end[side] for count, end in ends) for side in (0, 1))
        return _ScenarioInterval(low, high, CLOSED if is_closed else "divergences of the steps, which add up")

    return _enclose_largest(process, of, math.inf)


def mu_interval(process: Process | Composition) -> Interval:
    """Return an interval that holds the least μ for which the process is μ-Gaussian private; both ends may be infinite.

    It is the supremum over all ε ≥ 0, in both directions, of the μ that δ(ε) implies (Dong, Roth & Su 2022, Corollary 1).
    """
    pairs = _pairs(process)
    low = max(_combined_mu(scenario, 0) for scenario in pairs.attained)
    high = max(_combined_mu(scenario, 1) for scenario in pairs.above)
    if low == high:
        how = "closed form of Gaussian noise" if high < math.inf else "some outputs occur on one side only"
        sampled = any(not isinstance(part.law, GaussianLaw) for scenario in pairs.above for part in scenario)
        how += ", approached as ε grows: sampling helps at small ε only" if sampled and high < math.inf else ""
        return Interval(low * (1 - 8 * UNIT), high * (1 + 8 * UNIT), how)
    low_over_epsilons, high_over_epsilons = _mu_over_epsilons(process, pairs)
    sentences = ["the largest μ that δ implies at any ε"]
    if math.isinf(min(high_over_epsilons, high)):
        sentences.append("the losses have no limit, and none is known on the μ of their tail")
    if pairs.reason:
        sentences.append(pairs.reason)
    low = max(low, low_over_epsilons)
    return Interval(low, max(low, min(high, high_over_epsilons)), ". ".join(sentences))


def _gaussian_distance(law: Law) -> tuple[float, float]:
    """Return the μ that a law's tail implies as ε grows, and one that its curve does not exceed; 0 and ∞ if none is known."""
    if isinstance(law, GaussianLaw):
        return law.mu, law.mu
    if isinstance(law, SampledLaw | SymmetrizedLaw):  # (1 − q)Q + qP is no further from Q than P
        return _gaussian_distance(law.law)
    if isinstance(law, SwappedLaw):
        return 0.0, _gaussian_distance(law.law)[1]
    if isinstance(law, OppositeLaw) and law.kind == "gaussian":
        return law.reach, 2 * law.reach
    return 0.0, math.inf


def _combined_mu(scenario: Scenario, end: int) -> float:
    """Return the μ of all steps from the lower (0) or the upper (1) ends of their ``_gaussian_distance``."""
    if end == 0 and any(part.law.infinite > 0 for part in scenario):
        return math.inf
    return math.sqrt(sum(part.steps * _gaussian_distance(part.law)[end] ** 2 for part in scenario))


def _mu_over_epsilons(process: Process | Composition, pairs: WorstPairs) -> tuple[float, float]:
    """Return limits on the supremum over ε. Between two ε, δ is at most that of the first, and μ at most that of the second."""
    from auditor.bounds.conversions import implied_mu

    most = max(sum(part.steps * part.law.high for part in scenario) for scenario in pairs.above)
    is_bounded = math.isfinite(most)
    epsilons = [most * i / 16 for i in range(17)] if is_bounded else [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]

    @functools.cache
    def deltas(epsilon: float) -> tuple[float, float]:
        interval = delta_interval(process, epsilon, precision=PRECISION)
        return interval.low, interval.high

    def mu_at(epsilon: float, delta: float) -> float:
        return 0.0 if delta < 1e-300 else math.inf if delta >= 1 else implied_mu(epsilon, delta)

    low = max(mu_at(epsilon, deltas(epsilon)[0]) for epsilon in epsilons)
    if not is_bounded:
        return low * (1 - 1e-9), math.inf
    pieces = [(mu_at(b, deltas(a)[1]), a, b) for a, b in pairwise(epsilons)]
    for _ in range(MOST_PIECES):
        high, a, b = max(pieces)
        if high <= low * (1 + PRECISION / 4):
            break
        middle = (a + b) / 2
        low = max(low, mu_at(middle, deltas(middle)[0]))
        pieces.remove((high, a, b))
        pieces += [(mu_at(middle, deltas(a)[1]), a, middle), (mu_at(b, deltas(middle)[1]), middle, b)]
    return low * (1 - 1e-9), max(pieces)[0] * (1 + 1e-9)


def _require_precision(precision: float) -> None:
    require_number("precision", precision, 0, 1, low_open=True, high_open=True)


class _ScenarioInterval(NamedTuple):
    """An interval for one scenario, how it was computed, and the step of its grid if there is one."""

    low: float
    high: float
    how: str
    h: float | None = None


def _enclose_largest(
    process: Process | Composition, of: Callable[[Scenario, float, float | None], _ScenarioInterval], most: float
) -> Interval:
    """Return the interval of the largest value over the worst pairs."""
    pairs = _pairs(process)
    same = pairs.attained == pairs.above
    high = low = 0.0
    how: list[str] = []
    h = None
    for scenario in pairs.above:
        interval = of(scenario, high, h)
        high, h = max(high, interval.high), interval.h
        low = max(low, interval.low) if same else low
        how.append(interval.how)
    h = None
    for scenario in () if same else pairs.attained:
        interval = of(scenario, low, h)
        low, h = max(low, interval.low), interval.h
        how.append(interval.how)
    if pairs.reason:
        how.append(pairs.reason)
    return Interval(min(low, most), min(max(low, high), most), ". ".join(dict.fromkeys(how)))


def _pairs(process: Process | Composition) -> WorstPairs:
    if isinstance(process, Process):
        process = Composition((process,))
    if not isinstance(process, Composition):
        raise InvalidInputError(f"process is {process!r}; it must be a Process or a Composition")
    return worst_pairs(process)


def _only_law(scenario: Scenario) -> Law | None:
    """Return the law of a scenario that has one step."""
    return scenario[0].law if len(scenario) == 1 and scenario[0].steps == 1 else None


# --- δ and ε of one scenario ---


def _enclose_delta(
    scenario: Scenario, epsilon: float, precision: float, enough: float, h: float | None
) -> _ScenarioInterval:
    law = _only_law(scenario)
    if isinstance(law, GaussianLaw):
        return _ScenarioInterval(*gaussian_delta_interval(law.mu, epsilon), CLOSED)
    if law is not None:
        ends = enclose_single_step(law)
        return _ScenarioInterval(ends.low(epsilon), ends.high(epsilon), ONE_STEP)

    largest, slack = _largest_loss(scenario)
    infinite = _infinite_mass(scenario)
    if infinite > 1 - 1e-11:
        return _ScenarioInterval(infinite, 1.0, "nearly all outputs occur on one side only")
    if epsilon >= largest - slack:
        return _ScenarioInterval(infinite, infinite * (1 + 3e-12) + 2 * slack, "beyond the largest loss")

    def measure(ends: DeltaEnclosure, near: float, tilt: float) -> tuple[float, float]:
        return ends.low(near), ends.high(near)

    return _refine_grid(scenario, measure, _Query(None, epsilon, precision, enough), h)


def _one_step_epsilon(law: Law, delta: float) -> _ScenarioInterval:
    if isinstance(law, GaussianLaw):
        return _ScenarioInterval(*gaussian_epsilon_interval(law.mu, delta), CLOSED)
    if isinstance(law, SampledLaw) and law.infinite == 0:  # the curve is q H((γ − 1 + q)/q)
        if delta >= law.rate * (1 + 4 * UNIT):
            return _ScenarioInterval(0.0, 0.0, CLOSED)
        inner = _one_step_epsilon(law.law, min(delta / law.rate, 1 - UNIT))
        low, high = law.sampled_loss(inner.low), law.sampled_loss(inner.high)
        slack = 64 * UNIT * (law.rate + high) if high > 0 else 0.0
        return _ScenarioInterval(max(0.0, low - slack), high + slack, inner.how)
    return _ScenarioInterval(*enclose_crossing(enclose_single_step(law), delta, 1.0, 0.1, 1e-12), ONE_STEP)


def _enclose_epsilon(
    scenario: Scenario, delta: float, precision: float, enough: float, h: float | None
) -> _ScenarioInterval:
    largest, slack = _largest_loss(scenario)
    if any(part.law.infinite > 0 for part in scenario) if delta == 0 else _infinite_mass(scenario) > delta:
        return _ScenarioInterval(math.inf, math.inf, "some outputs occur on one side only")
    if delta == 0:
        if math.isinf(largest):
            return _ScenarioInterval(math.inf, math.inf, "the losses have no limit")
        return _ScenarioInterval(max(0.0, largest - slack), largest + slack if largest > 0 else 0.0, "the largest loss")
    if (law := _only_law(scenario)) is not None:
        return _one_step_epsilon(law, delta)

    def measure(ends: DeltaEnclosure, near: float, tilt: float) -> tuple[float, float]:
        return enclose_crossing(ends, delta, near, min(0.02 * near, 3 / tilt), precision / 100)

    if largest <= slack:
        return _ScenarioInterval(0.0, slack if 2 * slack > delta else 0.0, "beyond the largest loss")
    interval = _refine_grid(scenario, measure, _Query(delta, None, precision, enough), h)
    return interval if _infinite_mass(scenario) else interval._replace(high=min(interval.high, largest + slack))


def _largest_loss(scenario: Scenario) -> tuple[float, float]:
    """Return the largest finite loss, at least 0, and a bound on its rounding error (nats)."""
    largest = max(0.0, sum(part.steps * part.law.high for part in scenario))
    slack = sum(part.steps * part.law.blur for part in scenario)
    return largest, slack + (1e-14 * largest if math.isfinite(largest) else 0.0)


def _infinite_mass(scenario: Scenario) -> float:
    """Return a lower limit on δ at ε = ∞: the mass of outputs that P has and Q does not have."""
    logs = sum(part.steps * math.log1p(-min(part.law.infinite, 1 - 1e-16)) for part in scenario)
    return -math.expm1(logs) * (1 - 1e-12)


class _Query(NamedTuple):
    """What is asked: ε at this δ, or δ at this ε; the precision; and a value below which no low end is needed."""

    delta: float | None
    epsilon: float | None
    precision: float
    enough: float


def _refine_grid(
    scenario: Scenario,
    measure: Callable[[DeltaEnclosure, float, float], tuple[float, float]],
    query: _Query,
    h: float | None,
) -> _ScenarioInterval:
    """Refine the grid until the interval is narrow or lies below ``enough``, or the grid would have too many cells.

    ``h`` is the step to begin with.
    """
    sketches = [sketch_law(part) for part in scenario]
    tilt, near = find_saddle_point(sketches, math.log(query.delta) if query.delta else None, query.epsilon)
    near = min(near, _largest_loss(scenario)[0])
    delta = query.delta or chernoff_bound(sketches, tilt, near)
    lattice = scenario[0].law.lattice if len(scenario) == 1 else 0.0
    if lattice and lattice > _finest_step(choose_window(sketches, tilt, near, 1e-10 * delta)):
        tilt = min(tilt, 20 / lattice)
        around = choose_window(sketches, tilt, near, 1e-10 * delta)
        return _ScenarioInterval(
            *measure(enclose_composition(scenario, lattice, around), near, tilt), ADDED_UP
        )  # nothing is rounded
    around = choose_window(sketches, tilt, near, NEGLIGIBLE_SHARE * query.precision * delta)
    if h is None:
        h = _first_step(scenario, around, query.precision * (tilt * near if query.delta and near else 1.0))
    low, high = 0.0, math.inf
    for _ in range(MOST_REFINEMENTS):
        h = _divide_range(scenario, max(h, _finest_step(around)))
        ends = enclose_composition(scenario, h, around)
        below, above = measure(ends, near, tilt)
        low, high = max(low, below), min(high, above)
        width = 0.0 if high == low else 1 - low / high if math.isfinite(high) else 1.0
        if width <= query.precision or high <= max(query.enough, SMALLEST):  # no digit below is worth a finer grid
            break
        factor = min(0.7, max(0.1, math.sqrt(0.7 * query.precision / width)))
        slope, moved = tilt, around.slope  # the slope is about −d ln δ/dε
        if math.isfinite(at := above if query.delta else near):
            apart = 0.01 * at if at > 0 else 0.1 / tilt
            here, there = ends.high(at), ends.high(at + apart)
            slope = math.log(here / there) / apart if 0 < there < here else tilt
        if query.delta and high < 0.8 * near:  # Chernoff's bound was far off, and so is the tilt
            near, tilt = high, find_saddle_point(sketches, None, high)[0]
            around = choose_window(sketches, tilt, near, NEGLIGIBLE_SHARE * query.precision * delta)
            moved = tilt
        elif query.epsilon is not None and high < 0.1 * delta:
            delta = high
            around = choose_window(sketches, tilt, near, NEGLIGIBLE_SHARE * query.precision * delta)
        elif h <= 1.001 * _finest_step(around) and slope < 2 * moved:
            break
        around = replace(around, slope=max(slope, tilt))
        h *= 1.0 if slope > 2 * moved else factor
    return _ScenarioInterval(low, high, ADDED_UP, h)


def _finest_step(around: Window) -> float:
    """Return the least step of a grid with at most MOST_CELLS cells."""
    return max(around.top - around.bottom, *(high - low for low, high in around.reaches)) / MOST_CELLS


def _first_step(scenario: Scenario, around: Window, share: float) -> float:
    """Return a step of the grid whose lower end falls by about ``share`` of δ.

    The fall is Σ T D/κ, as ``compose`` derives it, at the best v. D is of second order in h, so measuring it once is enough.
    """
    widest = max(high - low for low, high in around.reaches)
    h = max(widest / 1024, (around.top - around.bottom) / 2**16)
    fall = 0.0
    for (law, steps), reach in zip(scenario, around.reaches, strict=True):
        excess = round_up_to_grid(law, _divide_range(scenario, h), *reach).excess
        fall += steps * float(excess[min(1, len(excess) - 1)]) / math.exp(kappa(around.tilt))
    wanted = h * math.sqrt(0.6 * share / fall) if fall > 0 else h
    return min(wanted, around.deviation, 0.5 / around.tilt, h)


def _divide_range(scenario: Scenario, h: float) -> float:
    """Return a step near ``h`` that divides the range of the first law's losses, if it is finite: both ends may be atoms."""
    law = scenario[0].law
    reach = law.high - law.low
    return reach / max(1, math.ceil(reach / h)) if math.isfinite(reach) and reach > 0 else h


def enclose_crossing(
    ends: DeltaEnclosure, delta: float, near: float, step: float, precision: float
) -> tuple[float, float]:
    """Return an ε (nats) at which the lower limit on δ(ε) is above ``delta`` (or 0), and one at which the upper one is not.

    The search begins at ``near``, and moves away from it by ``step``, and then by more.
    """
    return (
        _bracket_crossing(ends.low, delta, near, step, precision)[0],
        _bracket_crossing(ends.high, delta, near, step, precision)[1],
    )


def _bracket_crossing(
    function: Callable[[float], float], delta: float, near: float, step: float, precision: float
) -> tuple[float, float]:
    """Return two ε between which a function falls to δ: it is above δ at the first (or both are 0), at most δ at the second.

    The function falls near ``near``. Far from there it may be too inexact to tell, and 0 for a low end and 1 for a high one.
    """
    low = high = near
    at_low = at_high = function(near)
    step = max(step, 1e-9)
    while not at_low > delta:
        if low == 0.0:
            return 0.0, 0.0
        high, at_high = low, at_low
        low, step = max(0.0, low - step), 2 * step
        at_low = function(low)
    while at_high > delta:
        low, at_low = high, at_high
        high, step = high + step, 2 * step
        at_high = function(high)
        if high > 1e12:
            return math.inf, math.inf
    target = math.log(delta)
    for count in range(200):
        if high - low <= precision * high:
            break
        # The secant on ln δ; every third step bisects, since ln δ may be flat or steep.
        over, under = math.log(at_low) - target, math.log(max(at_high, 1e-310)) - target
        share = 0.5 if count % 3 == 2 or not over > under else over / (over - under)
        margin = 0.3 * precision * high / (high - low)
        middle = low + min(max(share, margin), 1 - margin) * (high - low)
        if not low < middle < high:
            break
        value = function(middle)
        if value > delta:
            low, at_low = middle, value
        else:
            high, at_high = middle, value
    return low, high
