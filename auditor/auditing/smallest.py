"""After a violation: the smallest pair that still breaks, and a simpler event on it.

A greedy descent. Each candidate gets fresh outputs, from which a test is learned. Where its forecast stays clear of the claim, the
candidate's own simpler pairs are tried next. The last one is confirmed: a test is learned on more outputs, made simpler as long as
its forecast allows, frozen, and counted on fresh outputs once. A claim about single data sets is shrunk in the same way: its pairs
have one side, and its test is given. Queries, in which nothing is random, need the descent only.

Error rates: the verdict, its bound and its p-value rest on the outputs drawn before shrinking begins. So
shrinking cannot turn a verdict: the chance of a false alarm stays alpha. The bound on the smallest pair is a number of its own.
Pair, event and number of trials are fixed by earlier outputs, a single confirmation is made, and its outputs are fresh. So given
all that went before, it exceeds the truth with probability at most alpha. That the audit ended in
some round is among what went before.

For a sound mechanism both errors need the first, a false alarm, and together have probability at most alpha. For one that does
break its claim, the chance that either of the two numbers is too large is at most 2 alpha. The level is the one that the plan fixed
in advance, Bonferroni's share of the file, whatever level Holm's step-down allows the verdict. So all bounds on smallest pairs of a
file hold together with the file's confidence.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.auditing.draw import Draw
from auditor.auditing.outcome import Outcome
from auditor.auditing.pair_search import too_few
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.sample import Sample
from auditor.claims import Claim, Probability
from auditor.errors import MechanismError, WorkerLostError
from auditor.interfaces import AnyMethod
from auditor.neighbours.pair import Pair
from auditor.neighbours.search import Screening, shrink_pair, simpler
from auditor.results.result import Smallest
from auditor.sessions.turns import turns
from auditor.verdict import Verdict, judge

# Shares of these outputs: to look at the pair found where no outputs are at hand, to screen candidates, for a last look at the
# simplest corners, to learn a test on the smallest, and for the confirmation. Its larger share is for violations that the
# smaller one could not show. Together they are never more than all.
SEEING, SCREENING, LAST_LOOK, LEARNING, CONFIRMING = 0.1, 0.2, 0.05, 0.1, (0.25, 0.45)
# Shares of the forecast excess over the claim that must be kept: by a smaller pair, of that of the first one; by a simpler event,
# of that of the best event on the smallest pair. More would keep large pairs and many digits. With less, the pair that is
# reported would hardly exceed the claim.
KEPT_BY_PAIR, KEPT_BY_EVENT = 0.25, 0.75
# Outputs to screen a candidate: the fewest that show the violation on the pair found, and as many again. From fewer than 128 an
# event that is learned is mostly luck; one that is given needs no such floor.
LEAST, LEAST_GIVEN, MARGIN = 128, 8, 2


def shrink(plan: Plan, draw: Draw, found: Pair, *, cheap: bool, sample: Sample | None = None) -> Smallest | None:
    """Return the smallest pair that still breaks the claim; None if there is neither a smaller pair nor a simpler event.

    ``sample`` holds the outputs on the pair found from which the test was learned. They decide how many outputs each candidate
    gets. Without ``sample`` some outputs are drawn. The bound (nats, or the claim's own quantity) exceeds the truth on the pair
    with probability at most the plan's alpha. A share of the samples is spent at most, or as many outputs as a small audit has;
    where outputs are not ``cheap``, no more than a few times what the audit spent.
    """
    claim, domain = plan.claim, plan.domain
    outputs = min(plan.settings.samples, max(80_000, round(0.06 * plan.settings.samples)))
    if not cheap:
        outputs = min(outputs, 4 * draw.spent.total)
    if isinstance(claim, Probability) and not any(simpler(found, domain, domain.corners())):
        return None
    # Addresses of what is drawn to learn from have three numbers, where those of the descent have two: none is used twice.
    if sample is None:
        sample = draw.draw(draw.batches(found, round(SEEING * outputs), Phase.SHRINK, (1, 0)))
    strategy = _strategy(plan, sample, outputs)
    if strategy is None:
        return None
    rounds, forecast = 0, functools.partial(_forecast, strategy.method)

    def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
        nonlocal rounds
        batches = [Batch(pair, each, Phase.SHRINK, (rounds, i)) for i, pair in enumerate(pairs)]
        rounds += 1
        return [claim.excess(value) for value in draw.draw_each(batches, forecast, outputs)]

    screening = Screening(int(SCREENING * outputs), _enough(claim, strategy, sample), int(LAST_LOOK * outputs))
    path = shrink_pair(found, domain, evaluate, strategy.floor, screening)
    # The smallest of all is tried; where it does not hold up on more outputs, the one before it.
    for number, pair in enumerate([*reversed(path), found][:2]):
        if pair is not found:
            sample = draw.draw(draw.batches(pair, round(LEARNING * outputs), Phase.SHRINK, (0, number)))
        learned = strategy.method.learn(sample)
        excess = claim.excess(learned.forecast)
        if excess > strategy.floor or pair is found:
            test = strategy.method.simplify(learned.test, sample, claim.value + KEPT_BY_EVENT * excess)
            if pair is found and test == learned.test:
                return None
            tally, _ = draw.count(draw.batches(pair, strategy.confirming, Phase.CONFIRM, like=sample), test)
            bound = strategy.method.proved(test, tally.counts)
            violated = judge(claim, bound) is Verdict.VIOLATION
            return Smallest(pair, test.report(tally.counts), bound, turns(pair, sample)) if violated else None
    return None


def find_smallest(end: Outcome, _: Draw) -> Outcome:
    """Find the smallest pair, or warn that the mechanism stopped the search.

    Where a crash can be made an output, the loss of a worker is raised: the same audit is then drawn again, with the same verdict.
    """
    try:
        return replace(end, smallest=end.seen.shrink and end.seen.shrink())
    except MechanismError as error:
        if end.plan.settings.execution.isolate and isinstance(error, WorkerLostError):
            raise
        end.plan.store.end(str(error))
        return end.warned(f"the search for the smallest pair that breaks the claim stopped early: {error}")


@dataclass(frozen=True, slots=True)
class _Strategy:
    """The method that learns and proves, the excess over the claim that it must forecast, and how many outputs confirm."""

    method: AnyMethod
    floor: float
    confirming: int


def _strategy(plan: Plan, sample: Sample, outputs: int) -> _Strategy | None:
    """Return the cheapest strategy by which the violation would be seen again on the pair found; None if none would."""
    claim = plan.claim
    for share in CONFIRMING:
        confirming = max(1, int(share * outputs))
        method = plan.method(confirming)
        # The forecast is raised by one standard error: a wrong one costs outputs only, but a violation that is not tried is lost.
        excess = claim.excess(_forecast(method.with_margin(1.0), sample))
        if excess > 0:
            return _Strategy(method, KEPT_BY_PAIR * excess, confirming)
    return None


def _forecast(method: AnyMethod, sample: Sample) -> float:
    """Forecast the bound on a pair, or on a data set alone for such a claim; −∞ where there are too few outputs."""
    cannot_learn = too_few(sample) and not isinstance(method.claim, Probability)
    return -math.inf if cannot_learn else method.learn(sample).forecast


def _enough(claim: Claim, strategy: _Strategy, sample: Sample) -> int:
    """Return how many outputs show the violation on the pair found, with a margin."""
    outputs = LEAST_GIVEN if isinstance(claim, Probability) else LEAST
    while outputs < sample.size:
        left, right = (side[: round(outputs / sample.size * side.size)] for side in (sample.left, sample.right))
        if claim.excess(_forecast(strategy.method, Sample(left, right))) > strategy.floor:
            return min(sample.size, MARGIN * outputs)
        outputs *= 2
    return sample.size
