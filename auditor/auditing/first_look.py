"""What is known of a mechanism before it is audited: whether all randomness is the auditor's, and how it always fails."""

from contextlib import suppress
from dataclasses import asdict, dataclass

from auditor.auditing.draw import Draw
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase, Trial, rng_at
from auditor.blackbox.command import Program
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import ALWAYS, Drawer
from auditor.blackbox.sampling import Sampler
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair

# Under which it is kept.
START = "start"
# Seconds of an output of which a trial of many takes longer than one waits without a word.
SLOW = 0.05


@dataclass(frozen=True, slots=True)
class FirstLook:
    """Whether all randomness comes from the auditor. If every call failed, the failure."""

    reproducible: bool = True
    failure: str = ""


def first_look(plan: Plan, draw: Draw) -> FirstLook:
    """Look at a mechanism for the first time, or recall that look."""
    return FirstLook(**plan.store.recall(START, lambda: asdict(_look(plan, draw))))


def _look(plan: Plan, draw: Draw) -> FirstLook:
    source = plan.source
    if plan.kind == "canaries":
        return FirstLook(plan.drawer().takes_rng)
    sampler, pair = draw.sampler(), plan.domain.corners()[0]
    origin, is_program = sampler.origin(), isinstance(source, Program)
    one, repeats = Trial(False), plan.drawer().takes_rng
    if isinstance(source, Program):
        with suppress(MechanismError):  # of which the next lines say more
            one = _timed(sampler, pair, draw)
        repeats = source.drawer(plan.settings.execution.timeout).repeats_itself(pair)
    failure = _always_fails(origin.drawer(), pair, plan) if origin.isolated else None
    if failure is not None:
        return FirstLook(repeats or not is_program, failure.message())
    draw.reproducible = repeats
    if not is_program:
        one = _timed(sampler, pair, draw)
    if one.seconds > SLOW and (is_program or not repeats):
        return FirstLook(repeats)
    trial = sampler.trial(pair)
    draw.foretell(trial, again=one.seconds > 2 * max(SLOW, trial.seconds))
    return FirstLook(repeats and (is_program or trial.same))


def _timed(sampler: Sampler, pair: Pair, draw: Draw) -> Trial:
    """Return the cost of an output. If it is slow, foretell by it how long the audit takes, since more outputs take long."""
    one = sampler.trial(pair, 1)
    if one.seconds > SLOW and one.numbers:  # a failure may be that a program takes long to start
        draw.foretell(one)
    return one


def _always_fails(drawer: Drawer, pair: Pair, plan: Plan) -> ProcessFailure | None:
    """Return how the first outputs on both sides failed, if all of them ended their process or passed the time limit.

    This is checked first, since each output of the search would take as long as the limit.
    """
    rng = rng_at(plan.settings.seed, Phase.CHECK)
    failure = None
    for _ in range(ALWAYS):
        for side in ("left", "right"):
            failure = drawer.call_once(pair, side, rng)
            if not isinstance(failure, ProcessFailure):
                return None
    return failure
