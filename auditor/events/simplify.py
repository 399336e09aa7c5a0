"""A simpler event: one side instead of two, one interval instead of several, thresholds with fewer digits."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from auditor.blackbox.sample import Sample
from auditor.events.blocks import Forecaster, RuleCounts
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.event import Event


def simplify_event(event: Event, sample: Sample, forecaster: Forecaster, floor: float) -> Event:
    """Return an event that is easier to read, with a forecast above ``floor``; the given event if there is none.

    The forecasts are made from ``sample``, so the bound must be computed from other outputs.
    """

    def forecast(rule: Cells) -> float:
        counts = replace(event, rule=rule).count(sample)
        left, right = counts.left, counts.right
        hits = left.hits_left, left.hits_right, right.hits_right, right.hits_left
        return float(forecaster.forecast(RuleCounts.single(hits, counts.trials))[0])

    rule = _best([_only(event.rule, side) for side in (LEFT, RIGHT)], event.rule, forecast, floor)
    rule = _best(list(_single_pieces(rule)), rule, forecast, floor)
    rule = _best(list(_half_lines(rule)), rule, forecast, floor)
    for at in range(len(rule.edges)):
        rule = _rounded(rule, at, forecast, floor)
    return replace(event, rule=rule)


Judge = Callable[[Cells], float]


def _best(rules: Sequence[Cells], otherwise: Cells, forecast: Judge, floor: float) -> Cells:
    """Return the rule with the best forecast, if this forecast is above the floor; else return ``otherwise``."""
    judged = [(forecast(rule), rule) for rule in rules if rule != otherwise]
    best, rule = max(judged, key=lambda pair: pair[0], default=(-math.inf, otherwise))
    return rule if best > floor else otherwise


def _only(rule: Cells, side: float) -> Cells:
    """Return the rule that guesses ``side`` where this rule does, and abstains elsewhere."""

    def kept(worth: float) -> float:
        return worth if worth == side else ABSTAIN

    atoms = {atom: worth for atom, worth in rule.atoms.items() if worth == side}
    return Cells.joined(rule.edges, [kept(worth) for worth in rule.values], atoms, kept(rule.otherwise))


def _single_pieces(rule: Cells) -> Iterator[Cells]:
    """Yield rules that keep one interval or one atom of a rule that guesses one side only."""
    if {LEFT, RIGHT} <= {*rule.values, *rule.atoms.values(), rule.otherwise} or rule.otherwise != ABSTAIN:
        return
    for i, worth in enumerate(rule.values):
        if worth != ABSTAIN:
            yield Cells.joined(rule.edges, [worth if j == i else ABSTAIN for j in range(len(rule.values))], {})
    for atom, worth in rule.atoms.items():
        yield Cells((), (ABSTAIN,), {atom: worth})


def _half_lines(rule: Cells) -> Iterator[Cells]:
    """Yield the two rules that keep one threshold of a rule that guesses between two thresholds only."""
    if len(rule.edges) == 2 and rule.values[0] == rule.values[2] == ABSTAIN:
        yield replace(rule, edges=rule.edges[:1], values=rule.values[:2])
        yield replace(rule, edges=rule.edges[1:], values=rule.values[1:])


def _rounded(rule: Cells, at: int, forecast: Judge, floor: float) -> Cells:
    """Return the rule with threshold ``at`` rounded to the fewest decimals that keep the forecast above the floor."""
    edge = rule.edges[at]
    if not math.isfinite(edge):
        return rule
    low = rule.edges[at - 1] if at > 0 else -math.inf
    high = rule.edges[at + 1] if at + 1 < len(rule.edges) else math.inf
    # Rounding to a whole number is tried before rounding a small fraction to one digit: 0 before 0.01.
    fewest = -max(0, math.floor(math.log10(abs(edge)))) if edge else 0
    for decimals in range(fewest, fewest + 20):  # thresholds are at short decimals, which need fewer than 20 steps
        rounded = _round(edge, decimals)
        if rounded == edge:
            return rule
        if low < rounded < high:
            changed = replace(rule, edges=(*rule.edges[:at], rounded, *rule.edges[at + 1 :]))
            if forecast(changed) > floor:
                return changed
    return rule


def _round(number: float, decimals: int) -> float:
    """Return a number rounded to ``decimals`` decimals; an infinity if the rounded number is too large for a float."""
    try:
        return round(number, decimals) + 0.0
    except OverflowError:
        return math.copysign(math.inf, number)
