"""Thresholds of a rule on a chosen feature, placed so that luck has little influence.

Chosen by counts, the best of many thresholds is partly the luckiest, above all if evidence is scarce. On a plateau of a
fitted curve, no cell looks better by luck. Without evidence for a curve, rules that guess both sides equally often are
preferred.
"""

import math
from collections.abc import Callable

import numpy as np

from auditor.events.blocks import Blocks, BlockTable, Choice, Forecaster, RuleCounts, RuleForecast
from auditor.events.curve import Curve, fit_curve

# Forecasts are lowered by so many standard errors before thresholds are compared: by CAREFUL if their own counts place
# thresholds, so that luck does not decide between similar rules; by BOLD if a curve has smoothed the counts.
CAREFUL, BOLD = 5.0, 1.0
# Luck rarely lifts the forecast of a weak rule by more than WORTH_KEEPING (nats), so such a forecast counts.
WORTH_KEEPING = 0.1


def place_thresholds(evidence: BlockTable, chosen: Callable[[], Choice], forecaster: Forecaster) -> Choice:
    """Place the thresholds on a feature again, by its values on each side: by a curve if it fits well, else by counts.

    Return the ``chosen`` rule if no new forecast is above 0 and the forecast of ``chosen`` is above WORTH_KEEPING.
    """
    # With few outputs thresholds stay as chosen. So do those with many atoms, of which the best would be best by luck.
    if evidence.trials < 500 or len(evidence.blocks.atoms) > 4 or evidence.cells == 1:
        return chosen()
    left, right = (counts[: evidence.cells] for counts in evidence.counts)
    curve = fit_curve(evidence.blocks.means(evidence.both), left, right)
    is_weak = curve.gain < 25.0  # nats; below this, the curve is too uncertain to place thresholds by
    placed = _by_counts(evidence, forecaster) if is_weak else _by_curve(evidence, curve, forecaster)
    if placed is None or (placed.forecast <= 0 and chosen().forecast > WORTH_KEEPING):
        return chosen()
    if placed.forecast <= 0 and is_weak:
        placed = _or_rarer(placed, evidence, forecaster)
    return Choice(placed.test, float(forecaster.forecast(evidence.of_rule(placed.test.rule))[0]))


def beaten_at(forecast: float) -> float:
    """Return the forecast that a more complicated choice must exceed to be preferred."""
    return forecast + 0.03 * max(1.0, abs(forecast)) if forecast > -np.inf else forecast  # 0.03 nats, or 3 %


def _by_counts(evidence: BlockTable, forecaster: Forecaster) -> Choice | None:
    """Return the best rule that guesses both sides equally often, or the best of all if its forecast is far larger."""
    careful = forecaster.with_margin(CAREFUL).forecast
    placed = evidence.best(evidence.seen, careful, balanced=True)
    anywhere = evidence.best(evidence.seen, careful)
    if anywhere is not None and (placed is None or anywhere.forecast > placed.forecast + WORTH_KEEPING):
        return anywhere
    return placed


def _by_curve(evidence: BlockTable, curve: Curve, forecaster: Forecaster) -> Choice | None:
    """Return the best rule by the counts that a curve expects in each cell."""
    careful, bold = forecaster.with_margin(CAREFUL).forecast, forecaster.with_margin(BOLD).forecast
    expected = _expected(curve, evidence)
    placed = evidence.best(expected, bold, sides=careful)
    by_ratio = np.concatenate([curve.log_ratios, evidence.of_atoms])
    anywhere = evidence.blocks.choose(evidence.feature, by_ratio, expected, bold, careful)
    # A rule with one threshold for each side is easier to read than the best set of cells, so it is preferred.
    if anywhere is not None and (placed is None or anywhere.forecast > beaten_at(placed.forecast)):
        placed = anywhere
    # A curve blurs the ratio at its bends, where the counts may show more.
    counted = evidence.best(evidence.seen, careful)
    if counted is not None and placed is not None:
        by_counts = float(careful(evidence.of_rule(placed.test.rule))[0])
        placed = counted if counted.forecast > beaten_at(by_counts) else placed
    return placed


def _or_rarer(placed: Choice, evidence: BlockTable, forecaster: Forecaster) -> Choice:
    """Return a rule on rare outputs with almost no losses if its evidence is clear, else the ``placed`` rule."""
    # In one of twenty audits, luck alone gives the clearest of many rare events 3.3 standard errors.
    bold, needed = forecaster.with_margin(BOLD).forecast, 0.5 + _surprise(evidence.of_rule(placed.test.rule))
    rare = evidence.best(evidence.seen, bold)
    for other, clear in ((_best_of_atoms(evidence, bold), needed), (rare, max(3.5, needed))):
        if other is not None and _surprise(evidence.of_rule(other.test.rule)) > clear:
            return other
    return placed


def _best_of_atoms(evidence: BlockTable, forecast: RuleForecast) -> Choice | None:
    """Return the best rule that guesses on atoms only. There are few atoms here, so luck matters little."""
    on_left, on_right = (np.append(0, counts[evidence.cells :]) for counts in evidence.counts)
    counts = RuleCounts.of(on_left, on_right, evidence.trials)
    blocks, ranks = Blocks([], evidence.blocks.atoms), np.append(0.0, evidence.of_atoms)
    return blocks.choose(evidence.feature, ranks, counts, forecast)


def _expected(curve: Curve, evidence: BlockTable) -> RuleCounts:
    """Return the wins and losses that a curve, two errors lower, expects on each interval, and the counts of atoms."""
    (on_left, on_right), cells = evidence.counts, evidence.cells
    of_left, of_right, both = on_left[cells:], on_right[cells:], (on_left + on_right)[:cells]
    left, right = (both / (1 + np.exp(-(sign * curve.log_ratios - 2.0 * curve.errors))) for sign in (1.0, -1.0))
    return RuleCounts(
        np.concatenate([left, of_left]),
        np.concatenate([both - left, of_right]),
        np.concatenate([right, of_right]),
        np.concatenate([both - right, of_left]),
        evidence.trials,
    )


def _surprise(counts: RuleCounts) -> float:
    """Return by how many standard errors a rule's wins exceed half of its guesses (root of the likelihood ratio)."""
    wins, losses = float(counts.wins[0]), float((counts.left_losses + counts.right_losses)[0])
    if wins <= losses:
        return 0.0
    log_ratio = wins * math.log(2 * wins / (wins + losses))
    log_ratio += losses * math.log(2 * losses / (wins + losses)) if losses else 0.0
    return math.sqrt(2 * log_ratio)
