"""What is known of a mechanism before it is audited: whether all randomness is the auditor's, and how it always fails."""

from dataclasses import asdict, dataclass

from auditor.auditing.draw import Draw
from auditor.auditing.plan import Plan
from auditor.blackbox.batches import Phase, Trial, rng_at
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import ALWAYS, Drawer
from auditor.blackbox.sources import ProgramSource
from auditor.neighbours.pair import Pair

# Under which it is kept.
START = "start"


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
    origin = sampler.origin()
    repeats = isinstance(source, ProgramSource) and sampler.repeats_itself(pair).same
    failure = _always_fails(origin.drawer(), pair, plan) if origin.isolated else None
    if failure is not None:
        return FirstLook(repeats or isinstance(source, PythonSource), failure.message())
    if isinstance(source, PythonSource):
        trial = sampler.repeats_itself(pair) if plan.drawer().takes_rng else Trial(False)
        repeats = trial.same
        draw.foretell(trial.seconds, trial.numbers)
    return FirstLook(repeats)


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
