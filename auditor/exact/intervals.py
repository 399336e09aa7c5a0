"""Intervals that hold δ(ε), ε(δ), the Rényi divergence of an order, and μ of a process, whatever rounding does."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from auditor.errors import InvalidInputError, require_number
from auditor.exact import closed
from auditor.exact.compose import (
    MOST_CELLS,
    SMALLEST,
    Ends,
    Window,
    chernoff_bound,
    enclosed,
    kappa,
    rounded_up,
    saddle,
    single_step,
    sketch,
    window,
)
from auditor.exact.divergences import renyi_of
from auditor.exact.laws import UNIT, GaussianLaw, Law, OppositeLaw, Sampled, Swapped, Symmetrized
from auditor.exact.pairs import Pairs, Scenario, pairs_of
from auditor.exact.process import Composition, Interval, Process

PRECISION = 0.01
ROUNDS = 6
CLOSED, ONE_STEP, ADDED_UP = (
    "closed form of Gaussian noise",
    "one step, from distribution functions",
    "losses on a grid, added up by a Fourier transform; rounding, tails and errors are on the safe side of each end",
)


def delta_interval(process: Process | Composition, epsilon: float, *, precision: float = PRECISION) -> Interval:
    """Return an interval that holds the least δ for which the process is (``epsilon``, δ)-private; ε is in nats.

    The grid is made finer until the interval's relative width is at most ``precision``, or until it would take more than
    MOST_CELLS numbers. Raises InvalidInputError unless epsilon ≥ 0 is finite, and 0 < precision < 1.
    """
    epsilon = require_number("epsilon", epsilon, 0, math.inf)
    _require_precision(precision)

    def of(scenario: Scenario, enough: float, h: float | None) -> _Found:
        return _delta(scenario, epsilon, precision, enough, h)

    return _largest(process, of, 1.0)


def epsilon_interval(process: Process | Composition, delta: float, *, precision: float = PRECISION) -> Interval:
    """Return an interval (nats) that holds the least ε for which the process is (ε, ``delta``)-private.

    Both ends may be infinite. For ``precision`` see ``delta_interval``. Raises InvalidInputError unless 0 ≤ delta < 1.
    """
    delta = require_number("delta", delta, 0, 1, high_open=True)
    _require_precision(precision)

    def of(scenario: Scenario, enough: float, h: float | None) -> _Found:
        return _pure(scenario) if delta == 0 else _epsilon(scenario, delta, precision, enough, h)

    return _largest(process, of, math.inf)


def renyi_interval(process: Process | Composition, order: float) -> Interval:
    """Return an interval (nats) that holds the largest Rényi divergence of an ``order`` above 1; both ends may be infinite.

    Divergences of independent steps add up. Raises InvalidInputError unless order > 1 is finite.
    """
    order = require_number("order", order, 1, math.inf, low_open=True)

    def of(scenario: Scenario, enough: float, h: float | None) -> _Found:
        ends = [(part.steps, renyi_of(part.law, order)) for part in scenario]
        is_closed = all(isinstance(part.law, GaussianLaw) for part in scenario)
        low, high = (sum(count * end[side] for count, end in ends) for side in (0, 1))
        return _Found(low, high, CLOSED if is_closed else "divergences of the steps, which add up")

    return _largest(process, of, math.inf)


def mu_interval(process: Process | Composition) -> Interval:
    """Return an interval that holds the least μ for which the process is μ-Gaussian private; both ends may be infinite.

    It is the supremum over all ε ≥ 0, in both directions, of the μ that δ(ε) implies (Dong, Roth & Su 2022, Corollary 1).
    """
    pairs = _pairs(process)
    lows, highs = [_limit_mu(scenario) for scenario in pairs.attained], [_most_mu(scenario) for scenario in pairs.above]
    low, high = max(lows), max(highs)
    if low == high:
        how = "closed form of Gaussian noise" if high < math.inf else "some outputs occur on one side only"
        sampled = any(not isinstance(part.law, GaussianLaw) for scenario in pairs.above for part in scenario)
        how += ", approached as ε grows: sampling helps at small ε only" if sampled and high < math.inf else ""
        return Interval(low * (1 - 8 * UNIT), high * (1 + 8 * UNIT), how)
    reason = [pairs.reason] if pairs.reason else []
    found_low, found_high = _mu_over_epsilons(process, pairs)
    said = ["the largest μ that δ implies at any ε"]
    if math.isinf(min(found_high, high)):
        said.append("the losses have no limit, and none is known on the μ of their tail")
    return Interval(max(low, found_low), max(low, found_low, min(high, found_high)), ". ".join([*said, *reason]))


def _gaussian_distance(law: Law) -> tuple[float, float]:
    """Return the μ that a law's tail implies as ε grows, and one that its curve does not exceed; 0 and ∞ if none is known."""
    if isinstance(law, GaussianLaw):
        return law.mu, law.mu
    if isinstance(law, Sampled | Symmetrized):  # (1 − q)Q + qP is no further from Q than P
        low, high = _gaussian_distance(law.law)
        return low, high
    if isinstance(law, Swapped):
        return 0.0, _gaussian_distance(law.law)[1]
    if isinstance(law, OppositeLaw) and law.kind == "gaussian":
        return law.reach, 2 * law.reach
    return 0.0, math.inf


def _limit_mu(scenario: Scenario) -> float:
    if any(part.law.infinite > 0 for part in scenario):
        return math.inf
    return math.sqrt(sum(part.steps * _gaussian_distance(part.law)[0] ** 2 for part in scenario))


def _most_mu(scenario: Scenario) -> float:
    return math.sqrt(sum(part.steps * _gaussian_distance(part.law)[1] ** 2 for part in scenario))


def _mu_over_epsilons(process: Process | Composition, pairs: Pairs) -> tuple[float, float]:
    """Return limits on the supremum over ε. Between two ε, δ is at most that of the first, and μ that at the second."""
    from auditor.bounds.conversions import implied_mu

    most = max(sum(part.steps * part.law.high for part in scenario) for scenario in pairs.above)
    is_bounded = math.isfinite(most)
    epsilons = [most * i / 16 for i in range(17)] if is_bounded else [0.0, 0.5, 1.0, 2.0, 4.0, 8.0]
    known: dict[float, tuple[float, float]] = {}

    def deltas(epsilon: float) -> tuple[float, float]:
        if epsilon not in known:
            interval = delta_interval(process, epsilon, precision=PRECISION)
            known[epsilon] = interval.low, interval.high
        return known[epsilon]

    def implied(epsilon: float, delta: float) -> float:
        return 0.0 if delta < 1e-300 else math.inf if delta >= 1 else implied_mu(epsilon, delta)

    low = max(implied(epsilon, deltas(epsilon)[0]) for epsilon in epsilons)
    if not is_bounded:
        return low * (1 - 1e-9), math.inf
    pieces = [(implied(b, deltas(a)[1]), a, b) for a, b in pairwise(epsilons)]
    for _ in range(MU_PIECES):
        high, a, b = max(pieces)
        if high <= low * (1 + PRECISION / 4):
            break
        middle = (a + b) / 2
        low = max(low, implied(middle, deltas(middle)[0]))
        pieces.remove((high, a, b))
        pieces += [(implied(middle, deltas(a)[1]), a, middle), (implied(b, deltas(middle)[1]), middle, b)]
    return low * (1 - 1e-9), max(pieces)[0] * (1 + 1e-9)


MU_PIECES = 60


def _require_precision(precision: float) -> None:
    require_number("precision", precision, 0, 1, low_open=True, high_open=True)


class _Found(NamedTuple):
    """An interval of one scenario, by which way, and the step of its grid, if there is one."""

    low: float
    high: float
    how: str
    h: float | None = None


def _largest(
    process: Process | Composition, of: Callable[[Scenario, float, float | None], _Found], most: float
) -> Interval:
    """Return the interval of the largest value over the worst pairs."""
    pairs = _pairs(process)
    same = pairs.attained == pairs.above
    high = low = 0.0
    how: list[str] = []
    h = None
    for scenario in pairs.above:
        found = of(scenario, high, h)
        high, h = max(high, found.high), found.h
        low = max(low, found.low) if same else low
        how.append(found.how)
    h = None
    for scenario in () if same else pairs.attained:
        found = of(scenario, low, h)
        low, h = max(low, found.low), found.h
        how.append(found.how)
    if pairs.reason:
        how.append(pairs.reason)
    return Interval(min(low, most), min(max(low, high), most), ". ".join(dict.fromkeys(how)))


def _pairs(process: Process | Composition) -> Pairs:
    if isinstance(process, Process):
        process = Composition((process,))
    if not isinstance(process, Composition):
        raise InvalidInputError(f"process is {process!r}; it must be a Process or a Composition")
    return pairs_of(process)


def _only_law(scenario: Scenario) -> Law | None:
    """Return the law of a scenario that has one step."""
    return scenario[0].law if len(scenario) == 1 and scenario[0].steps == 1 else None


# --- δ and ε of one scenario ---


def _delta(scenario: Scenario, epsilon: float, precision: float, enough: float, h: float | None) -> _Found:
    law = _only_law(scenario)
    if isinstance(law, GaussianLaw):
        return _Found(*closed.gaussian_delta(law.mu, epsilon), CLOSED)
    if law is not None:
        ends = single_step(law)
        return _Found(ends.low(epsilon), ends.high(epsilon), ONE_STEP)

    largest, slack = _largest_loss(scenario)
    infinite = _infinite_mass(scenario)
    if infinite > 1 - 1e-11:
        return _Found(infinite, 1.0, "nearly all outputs occur on one side only")
    if epsilon >= largest - slack:
        return _Found(infinite, infinite * (1 + 3e-12) + 2 * slack, "beyond the largest loss")

    def measure(ends: Ends, near: float, tilt: float) -> tuple[float, float]:
        return ends.low(near), ends.high(near)

    return _refined(scenario, measure, _Query(None, epsilon, precision, enough), h)


def _one_step_epsilon(law: Law, delta: float) -> _Found:
    if isinstance(law, GaussianLaw):
        return _Found(*closed.gaussian_epsilon(law.mu, delta), CLOSED)
    if isinstance(law, Sampled) and law.infinite == 0:  # the curve is q H((γ − 1 + q)/q)
        if delta >= law.rate * (1 + 4 * UNIT):
            return _Found(0.0, 0.0, CLOSED)
        inner = _one_step_epsilon(law.law, min(delta / law.rate, 1 - UNIT))
        low, high = law.mixed(inner.low), law.mixed(inner.high)
        slack = 64 * UNIT * (law.rate + high) if high > 0 else 0.0
        return _Found(max(0.0, low - slack), high + slack, inner.how)
    return _Found(*crossing(single_step(law), delta, 1.0, 0.1, 1e-12), ONE_STEP)


def _epsilon(scenario: Scenario, delta: float, precision: float, enough: float, h: float | None) -> _Found:
    if _infinite_mass(scenario) > delta:
        return _Found(math.inf, math.inf, "some outputs occur on one side only")
    if (law := _only_law(scenario)) is not None:
        return _one_step_epsilon(law, delta)

    def measure(ends: Ends, near: float, tilt: float) -> tuple[float, float]:
        return crossing(ends, delta, near, min(0.02 * near, 3 / tilt), precision / 100)

    largest, slack = _largest_loss(scenario)
    if largest <= slack:
        return _Found(0.0, slack if 2 * slack > delta else 0.0, "beyond the largest loss")
    found = _refined(scenario, measure, _Query(delta, None, precision, enough), h)
    return found if _infinite_mass(scenario) else found._replace(high=min(found.high, largest + slack))


def _largest_loss(scenario: Scenario) -> tuple[float, float]:
    """Return the largest finite loss, at least 0, and how far rounding may put it from there (nats)."""
    largest = max(0.0, sum(part.steps * part.law.high for part in scenario))
    slack = sum(part.steps * part.law.blur for part in scenario)
    return largest, slack + (1e-14 * largest if math.isfinite(largest) else 0.0)


def _infinite_mass(scenario: Scenario) -> float:
    """Return a lower limit on δ at ε = ∞: outputs that P has and Q has not."""
    logs = sum(part.steps * math.log1p(-min(part.law.infinite, 1 - 1e-16)) for part in scenario)
    return -math.expm1(logs) * (1 - 1e-12)


def _pure(scenario: Scenario) -> _Found:
    """Return ε at δ = 0: the largest loss, or ∞."""
    if any(part.law.infinite > 0 for part in scenario):
        return _Found(math.inf, math.inf, "some outputs occur on one side only")
    largest, slack = _largest_loss(scenario)
    if math.isinf(largest):
        return _Found(math.inf, math.inf, "the losses have no limit")
    return _Found(max(0.0, largest - slack), largest + slack if largest > 0 else 0.0, "the largest loss")


class _Query(NamedTuple):
    """What is asked: ε of this δ, or δ of this ε, how narrow, and below which value no low end is needed."""

    delta: float | None
    epsilon: float | None
    precision: float
    enough: float


def _refined(
    scenario: Scenario, measure: Callable[[Ends, float, float], tuple[float, float]], query: _Query, h: float | None
) -> _Found:
    """Return an interval on finer and finer grids, until it is narrow, lies below ``enough``, or the grid has too many cells.

    ``h`` is a step to begin with.
    """
    sketches = [sketch(part) for part in scenario]
    tilt, near = saddle(sketches, math.log(query.delta) if query.delta else None, query.epsilon)
    near = min(near, _largest_loss(scenario)[0])
    delta = query.delta or chernoff_bound(sketches, tilt, near)
    lattice = scenario[0].law.lattice if len(scenario) == 1 else 0.0
    around = window(sketches, tilt, near, 1e-10 * delta)
    if lattice > _finest(around):
        tilt = min(tilt, 20 / lattice)
        around = window(sketches, tilt, near, 1e-10 * delta)
        return _Found(*measure(enclosed(scenario, lattice, around), near, tilt), ADDED_UP)  # nothing is rounded
    around = window(sketches, tilt, near, NEGLIGIBLE * query.precision * delta)
    if h is None:
        h = _first_step(scenario, around, query.precision * (tilt * near if query.delta and near else 1.0))
    low, high = 0.0, math.inf
    for _ in range(ROUNDS):
        h = _fitted(scenario, max(h, _finest(around)))
        ends = enclosed(scenario, h, around)
        below, above = measure(ends, near, tilt)
        low, high = max(low, below), min(high, above)
        width = 0.0 if high == low else 1 - low / high if math.isfinite(high) else 1.0
        if width <= query.precision or high <= max(query.enough, NOTHING):
            break
        factor = min(0.7, max(0.1, math.sqrt(0.7 * query.precision / width)))
        slope, moved = _slope(ends, above if query.delta else near, tilt), around.slope
        if query.delta and high < 0.8 * near:  # Chernoff's bound was far off, and so is the tilt
            near, tilt = high, saddle(sketches, None, high)[0]
            around = window(sketches, tilt, near, NEGLIGIBLE * query.precision * delta)
            moved = tilt
        elif query.epsilon is not None and high < 0.1 * delta:
            delta = high
            around = window(sketches, tilt, near, NEGLIGIBLE * query.precision * delta)
        elif h <= 1.001 * _finest(around) and slope < 2 * moved:
            break
        around = replace(around, slope=max(slope, tilt))
        h *= 1.0 if slope > 2 * moved else factor
    return _Found(low, high, ADDED_UP, h)


NOTHING = SMALLEST  # below it, no digit is worth a finer grid
NEGLIGIBLE = 1e-2  # of the precision: what tails that are cut, and what wraps around, may add to δ


def _slope(ends: Ends, epsilon: float, tilt: float) -> float:
    """Return about −d ln δ/dε at ε."""
    if not math.isfinite(epsilon):
        return tilt
    apart = 0.01 * epsilon if epsilon > 0 else 0.1 / tilt
    here, there = ends.high(epsilon), ends.high(epsilon + apart)
    return math.log(here / there) / apart if 0 < there < here else tilt


def _finest(around: Window) -> float:
    """Return the least step of a grid that has not too many cells."""
    return max(around.top - around.bottom, *(high - low for low, high in around.reaches)) / MOST_CELLS


def _first_step(scenario: Scenario, around: Window, share: float) -> float:
    """Return a step of the grid whose lower end falls by about ``share`` of δ.

    The fall is Σ T D/κ: what ``compose`` derives, at the best v. D is of second order in h, as it is measured once.
    """
    widest = max(high - low for low, high in around.reaches)
    h = max(widest / 4096, (around.top - around.bottom) / 2**18)
    fall = 0.0
    for (law, steps), reach in zip(scenario, around.reaches, strict=True):
        excess = rounded_up(law, _fitted(scenario, h), *reach).excess
        fall += steps * float(excess[min(1, len(excess) - 1)]) / math.exp(kappa(around.tilt))
    wanted = h * math.sqrt(0.6 * share / fall) if fall > 0 else h
    return min(wanted, around.deviation, 0.5 / around.tilt, 4 * h)


def _fitted(scenario: Scenario, h: float) -> float:
    """Return a step near ``h`` which divides the range of the first law's losses, if that is finite: both ends may be atoms."""
    law = scenario[0].law
    reach = law.high - law.low
    return reach / max(1, math.ceil(reach / h)) if math.isfinite(reach) and reach > 0 else h


def crossing(ends: Ends, delta: float, near: float, step: float, precision: float) -> tuple[float, float]:
    """Return ε (nats) at which the lower function is above δ, and at which the upper one is at most δ; 0 if that is at 0.

    The search begins at ``near``, and goes from there by ``step``, and then by more.
    """
    return (
        _falls_to(ends.low, delta, near, step, precision)[0],
        _falls_to(ends.high, delta, near, step, precision)[1],
    )


def _falls_to(
    function: Callable[[float], float], delta: float, near: float, step: float, precision: float
) -> tuple[float, float]:
    """Return two ε between which a function reaches δ: above it at the first (or both 0), at most δ at the second.

    The function falls near ``near``. Far from there it may be too inexact to say, and 0 for a low end and 1 for a high one.
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
        # The secant on ln δ, and a half now and then, since it may be flat or steep.
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
