"""After a violation: the smallest pair that still breaks, and a simpler event on it.

A greedy descent. Each candidate gets fresh outputs, from which a test is learned whose forecast must stay clear of the claim;
where it does, its own simpler pairs are tried next. The last one is confirmed: a test is learned on more outputs, made
simpler as long as its forecast allows, frozen, and counted on fresh outputs once.

What may go wrong, and how often. The verdict, its bound and its p-value rest on the outputs drawn before shrinking begins, so
that shrinking cannot turn a verdict: the chance of a false alarm stays alpha. The bound on the smallest pair is a number of
its own: pair, event and number of trials are fixed by earlier outputs, a single confirmation is made, and its outputs are
fresh; so given all that went before it exceeds the truth with probability at most alpha. For a sound mechanism both errors
need the first, a false alarm, and together have probability at most alpha; for one that does break its claim, the chance
that either of the two numbers is too large is at most 2 alpha. Its level is the one the plan fixed in advance, Bonferroni's
share of the file, whatever level Holm's step-down allows the verdict: so all the smallest pairs' bounds of a file hold
together with the file's confidence.
"""

import itertools
from dataclasses import dataclass
from typing import Any

from auditor.auditing.plan import Ledger
from auditor.auditing.search import Forecast
from auditor.auditing.tally import Counted
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.mechanism import Sample
from auditor.bounds.evidence import Bound
from auditor.claims import PrivacyClaim
from auditor.methods import method_for
from auditor.methods.base import Method, Test
from auditor.neighbours.pair import Pair
from auditor.neighbours.shrink import complexity, simpler
from auditor.report.result import Smallest
from auditor.verdict import Verdict, judge

# Shares of the plan's outputs: to screen candidates, for a last look at the simplest corners, to learn a test on the smallest, and
# for the confirmation, where the larger share is for violations that the smaller could not show. Together never more than the
# outputs of the bound.
SCREENING, LAST_LOOK, LEARNING, CONFIRMING = 0.2, 0.05, 0.1, (0.25, 0.55)
# The smallest of all is tried; where it does not hold up on more outputs, the one before it.
TRIES = 2
# Shares of the excess over the claim, as forecast, that a smaller pair must keep of the first one's, and a simpler event of what
# the best event on the smallest pair has: more would keep large pairs and digits for the sake of a number, less would report
# what can hardly be told from the claim.
KEPT_BY_PAIR, KEPT_BY_EVENT = 0.25, 0.75
# Candidates screened at a time, whatever the workers, and the simplest corners of the domain that are tried at once.
GROUP = 8
# Outputs to screen a candidate: the fewest that show the violation on the pair found, and as many again.
LEAST, MARGIN = 128, 2


def shrink(claim: PrivacyClaim, ledger: Ledger, found: Pair, sample: Sample) -> Smallest | None:
    """Return the smallest pair that still breaks the claim; None where there is none smaller, with no simpler event either.

    ``sample`` holds outputs on the pair found that were drawn to learn from; they decide how many outputs candidates get. The
    bound (nats, or the claim's own quantity) exceeds the truth on the pair with probability at most the plan's alpha. At most
    as many outputs are spent as the plan has for its own bound. Raises what the mechanism's sampling raises.
    """
    strategy = _strategy(claim, ledger, sample)
    if strategy is None:
        return None
    # Addresses of what is drawn to learn from have three numbers, where those of the descent have two: none is used twice.
    path = _descend(strategy, ledger, found, sample)
    smaller = list(reversed(path))[:TRIES]
    for number, pair in enumerate([*smaller, found] if len(smaller) < TRIES else smaller):
        if pair is not found:
            sample = ledger.draw(pair, round(LEARNING * ledger.plan.samples_to_learn), Phase.SHRINK, (0, number))
        learned = strategy.method.learn(sample)
        if learned.forecast > strategy.floor or pair is found:
            floor = claim.value + KEPT_BY_EVENT * (learned.forecast - claim.value)
            test = strategy.method.simplify(learned.test, sample, floor)
            if pair is found and test == learned.test:
                return None
            return _confirm(claim, ledger, strategy, pair, test, sample)
    return None


@dataclass(frozen=True, slots=True)
class _Strategy:
    """The method that learns and proves, what it must forecast, and how many outputs the confirmation takes."""

    method: Method[Any]
    floor: float
    confirming: int


def _strategy(claim: PrivacyClaim, ledger: Ledger, sample: Sample) -> _Strategy | None:
    """Return the cheapest strategy by which the violation would be seen again on the pair found; None where none would."""
    plan = ledger.plan
    for share in CONFIRMING:
        confirming = max(1, int(share * plan.samples))
        method = method_for(claim, plan.method, plan.alpha, confirming, plan.events)
        forecast = method.learn(sample).forecast
        if forecast > claim.value:
            return _Strategy(method, claim.value + KEPT_BY_PAIR * (forecast - claim.value), confirming)
    return None


def _descend(strategy: _Strategy, ledger: Ledger, found: Pair, sample: Sample) -> list[Pair]:
    """Return ever smaller pairs on which the forecast stays above the floor."""
    left = int(SCREENING * ledger.plan.samples_to_learn)
    each, score = _enough(strategy, sample), Forecast(strategy.method)
    at_last = int(LAST_LOOK * ledger.plan.samples_to_learn) // GROUP
    first = sorted(ledger.plan.domain.corners(), key=complexity)[:GROUP]
    path: list[Pair] = []
    tried: set[str] = set()
    proposals = simpler(found, ledger.plan.domain, first)
    for number in itertools.count():
        fresh = (pair for pair in proposals if pair.key() not in tried)
        group = list(itertools.islice(fresh, min(GROUP, left // each)))
        if not group and at_last > each:
            # What breaks by events too rare to be seen so far may be simpler than what does by frequent ones.
            smallest = path[-1] if path else found
            group = [pair for pair in first if complexity(pair) < complexity(smallest)]
            each, left, at_last = at_last, at_last * len(group), 0
        if not group:
            return path
        tried.update(pair.key() for pair in group)
        batches = [Batch(pair, each, Phase.SHRINK, (number, i)) for i, pair in enumerate(group)]
        forecasts = ledger.draw_each(batches, score)
        left -= each * len(group)
        breaking = [pair for pair, forecast in zip(group, forecasts, strict=True) if forecast > strategy.floor]
        if breaking:
            path.append(min(breaking, key=complexity))
            proposals = simpler(path[-1], ledger.plan.domain)
    return path


def _enough(strategy: _Strategy, sample: Sample) -> int:
    """Return how many outputs show the violation on the pair found, with a margin."""
    outputs = LEAST
    while outputs < sample.size:
        if Forecast(strategy.method)(_first(sample, outputs)) > strategy.floor:
            return min(sample.size, MARGIN * outputs)
        outputs *= 2
    return sample.size


def _first(sample: Sample, outputs: int) -> Sample:
    share = outputs / sample.size
    return Sample(sample.left[: round(share * sample.left.size)], sample.right[: round(share * sample.right.size)])


def _confirm(
    claim: PrivacyClaim, ledger: Ledger, strategy: _Strategy, pair: Pair, test: Test[Any], sample: Sample
) -> Smallest | None:
    """Count the test on fresh outputs; return what they prove if that is more than the claim."""
    method, one_by_one = strategy.method, sample.redrawn or sample.raised()
    tally = ledger.count(
        pair, strategy.confirming, Phase.CONFIRM, Counted(test), one_by_one=one_by_one, form=sample.form
    )
    counts = tally.counts
    bound = Bound(claim.quantity, method.bound(test, counts), 1 - method.alpha, method.name, method.also(counts))
    if judge(claim, bound) is not Verdict.VIOLATION:
        return None
    return Smallest(pair, test.to_dict(counts), bound)
