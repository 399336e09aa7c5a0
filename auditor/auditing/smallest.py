"""After a violation: the smallest pair that still breaks the claim, and a simpler event on it.

The smallest pair is found by a greedy descent (``shrink_pair``). Each candidate pair gets fresh outputs, from which a
test is learned. If the test's forecast stays clear of the claim, the candidate's own simpler pairs are tried next. The
last pair is confirmed: a test is learned on more outputs, made simpler as long as its forecast allows, frozen, and
counted on fresh outputs once. A claim about single data sets is shrunk in the same way: its pairs have one side, and
its test is given. For queries, in which nothing is random, the descent is enough.

Error rates: the verdict, its bound and its p-value rest on outputs drawn before shrinking begins. So shrinking cannot
turn a verdict: the chance of a false alarm stays alpha. The smallest pair has a bound of its own. Pair, event and
number of trials are fixed by earlier outputs, the outputs of the confirmation are fresh, and there is only one
confirmation. So given all that went before, including the round in which the audit ended, this bound exceeds the truth
with probability at most alpha.

A sound mechanism is shrunk only after a false alarm, so both errors together have probability at most alpha. For a
mechanism that does break its claim, at least one of the two bounds is too large with probability at most 2 alpha. The
level alpha is Bonferroni's share of the file, fixed in advance by the plan, whatever level Holm's step-down allows the
verdict. So all bounds on smallest pairs of a file hold together with the file's confidence.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.pair_search import too_few
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Batch, Phase
from auditor.blackbox.sample import Sample
from auditor.claims import Claim, Probability
from auditor.errors import MechanismError, WorkerLostError
from auditor.interfaces import AnyMethod
from auditor.neighbours.pair import Pair
from auditor.neighbours.shrinking import Screening, shrink_pair, simpler
from auditor.results.result import Smallest
from auditor.sessions.answers import typical_turns
from auditor.verdict import Verdict, judge

# Shares of the outputs of shrinking: SEEING to look at the pair found if no sample of it is given, SCREENING for
# candidates, LAST_LOOK for a last look at the simplest corners, LEARNING for a test on the smallest pair, CONFIRMING to
# confirm. Its larger share is for violations that the smaller one cannot show. Together the shares are at most 1.
SEEING, SCREENING, LAST_LOOK, LEARNING, CONFIRMING = 0.1, 0.3, 0.05, 0.1, (0.25, 0.45)
# Shares of the forecast excess over the claim: a smaller pair keeps KEPT_BY_PAIR of the first pair's excess, a simpler
# event KEPT_BY_EVENT of the excess of the best event on the smallest pair. With larger shares the
# reported pair would stay large and its event long; with smaller ones the pair would hardly exceed the claim.
KEPT_BY_PAIR, KEPT_BY_EVENT = 0.25, 0.75
# A candidate is screened with MARGIN times the fewest outputs that show the violation on the pair found. The fewest are
# at least LEAST, since an event learned from less is mostly luck; LEAST_GIVEN if the event is given.
LEAST, LEAST_GIVEN, MARGIN = 128, 8, 2
# The smallest pair costs this share of the samples, or LEAST_SPENT outputs if that is more, and never more than all.
SHARE_SPENT, LEAST_SPENT = 0.06, 80_000


def shrink(
    plan: Plan, ledger: Ledger, violating: Pair, *, cheap: bool, sample: Sample | None = None
) -> Smallest | None:
    """Return the smallest pair that still breaks the claim; None if there is neither a smaller pair nor a simpler event.

    ``sample`` holds the outputs on the pair found from which the test was learned; without it, such outputs are drawn.
    They decide how many outputs each candidate gets. The bound (nats, or the claim's own quantity) exceeds the truth on
    the pair with probability at most the plan's alpha. At most 6 % of the samples are spent, or up to 80,000 outputs.
    If outputs are not ``cheap`` (a call gives only one), at most four times what the audit spent.
    """
    claim, domain = plan.claim, plan.domain
    outputs = min(plan.settings.samples, max(LEAST_SPENT, round(SHARE_SPENT * plan.settings.samples)))
    if not cheap:
        outputs = min(outputs, 4 * ledger.spent.total)
    if isinstance(claim, Probability) and not any(simpler(violating, domain, domain.corners())):
        return None
    # No address is used twice: ``ledger.batches`` adds a third number to (1, 0). The batches of ``evaluate`` have two numbers.
    if sample is None:
        sample = ledger.draw(ledger.batches(violating, round(SEEING * outputs), Phase.SHRINK, (1, 0)))
    strategy = _strategy(plan, sample, outputs)
    if strategy is None:
        return None
    rounds, forecast = 0, functools.partial(_forecast, strategy.method)

    def evaluate(pairs: Sequence[Pair], each: int) -> list[float]:
        nonlocal rounds
        batches = [Batch(pair, each, Phase.SHRINK, (rounds, i)) for i, pair in enumerate(pairs)]
        rounds += 1
        return [claim.excess(value) for value in ledger.draw_each(batches, forecast, outputs)]

    screening = Screening(int(SCREENING * outputs), _enough(claim, strategy, sample), int(LAST_LOOK * outputs))
    path = shrink_pair(violating, domain, evaluate, strategy.floor, screening)
    # The smallest pair is tried. If it does not hold up on more outputs, the pair before it on the path is tried.
    for number, pair in enumerate([*reversed(path), violating][:2]):
        if pair is not violating:
            sample = ledger.draw(ledger.batches(pair, round(LEARNING * outputs), Phase.SHRINK, (0, number)))
        learned = strategy.method.learn(sample)
        excess = claim.excess(learned.forecast)
        if excess > strategy.floor or pair is violating:
            test = strategy.method.simplify(learned.test, sample, claim.value + KEPT_BY_EVENT * excess)
            if pair is violating and test == learned.test:
                return None
            tally, _ = ledger.count(ledger.batches(pair, strategy.confirming, Phase.CONFIRM, like=sample), test)
            bound = strategy.method.proved(test, tally.counts)
            violated = judge(claim, bound) is Verdict.VIOLATION
            return Smallest(pair, test.report(tally.counts), bound, typical_turns(pair, sample)) if violated else None
    return None


def find_smallest(audit: Audit) -> Audit:
    """Find the smallest pair, or warn that the mechanism stopped the search.

    With ``isolate``, the loss of a worker is raised. The same audit is then drawn again with crashes as outputs.
    """
    try:
        return replace(audit, smallest=audit.shrink and audit.shrink())
    except MechanismError as error:
        if audit.plan.settings.execution.isolate and isinstance(error, WorkerLostError):
            raise
        audit.plan.store.end(str(error))
        return audit.warn(f"the search for the smallest pair that breaks the claim stopped early: {error}")


@dataclass(frozen=True, slots=True)
class _Strategy:
    """The method that learns and proves, the excess over the claim that it must forecast, and how many outputs confirm."""

    method: AnyMethod
    floor: float
    confirming: int


def _strategy(plan: Plan, sample: Sample, outputs: int) -> _Strategy | None:
    """Return the cheapest strategy that would again show the violation on the pair found; None if none would."""
    claim = plan.claim
    for share in CONFIRMING:
        confirming = max(1, int(share * outputs))
        method = plan.method(confirming)
        # The forecast is raised by one standard error, since a failed attempt costs only outputs, but a missed one a violation.
        excess = claim.excess(_forecast(method.with_margin(1.0), sample))
        if excess > 0:
            return _Strategy(method, KEPT_BY_PAIR * excess, confirming)
    return None


def _forecast(method: AnyMethod, sample: Sample) -> float:
    """Forecast the bound on a pair, or on a data set for a Probability claim; −∞ if there are too few outputs."""
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
