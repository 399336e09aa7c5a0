"""The first look at a mechanism: does it always fail, do its outputs repeat, and how long will the audit take?"""

import contextlib

from auditor.auditing.ledger import Ledger
from auditor.auditing.plan import Plan, Progress
from auditor.blackbox.batches import Phase, Trial, rng_at
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import ALWAYS, SIDES, TRIAL, Drawer
from auditor.blackbox.sampling import Sampler
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair

# An output that takes SLOW seconds is slow: during a trial of many, the user would wait without a message. The expected
# time of an audit is announced if it exceeds LONG seconds.
SLOW, LONG = 0.05, 10.0


def first_look(ledger: Ledger) -> str:
    """Take a first look at a mechanism, or recall it, and note in ``ledger`` whether all randomness is the auditor's.

    Return the failure if every call failed; "" otherwise.
    """
    ledger.reproducible, failure = ledger.plan.store.recall("start", lambda: _look(ledger))
    return str(failure)


def _look(ledger: Ledger) -> tuple[bool, str]:
    plan = ledger.plan
    if plan.kind == "canaries":
        return plan.drawer().takes_rng, ""
    sampler, pair = ledger.sampler(), plan.domain.corners()[0]
    origin, is_program, single = sampler.origin(), plan.source.is_program, Trial(False)
    if is_program:
        with contextlib.suppress(MechanismError):  # the next lines report it
            single = _timed(sampler, pair, ledger)
    repeats = plan.drawer().repeats_itself(pair)
    failure = _always_fails(origin.drawer(), pair, plan) if sampler.apart else None
    if failure is not None:
        return repeats or not is_program, failure.message()
    ledger.reproducible = repeats
    if not is_program:
        single = _timed(sampler, pair, ledger)
    if single.seconds > SLOW and (is_program or not repeats):
        return repeats, ""
    limit, each = plan.settings.seconds, max(single.seconds, 1e-9)
    # A trial draws its outputs twice, to see whether they repeat. Under a time limit it takes at most a twentieth of
    # that; with so few outputs, an unseeded coin may repeat by chance.
    size = TRIAL if limit is None else max(2, min(TRIAL, int(0.05 * limit / (2 * each))))
    trial = sampler.trial(pair, size)
    _foretell(ledger, trial, again=single.seconds > 2 * max(SLOW, trial.seconds))
    return repeats and (is_program or trial.same), ""


def _timed(sampler: Sampler, pair: Pair, ledger: Ledger) -> Trial:
    """Return the cost of an output. If the output is slow, announce how long the audit may take before the trial."""
    trial = sampler.trial(pair, 1)
    if trial.seconds > SLOW and trial.numbers:  # a failure has none: a program may take long to start
        _foretell(ledger, trial)
    return trial


def _foretell(ledger: Ledger, trial: Trial, *, again: bool = False) -> None:
    """Tell the listener how long the audit may take, by the cost of an output; only if that is long, or ``again``."""
    seconds = ledger.plan.may_take(trial, 0 if ledger.reproducible else 1)
    if seconds > LONG or again:
        ledger.listener(Progress(ledger.plan.name, Phase.CHECK, 0, 0, seconds=seconds))


def _always_fails(drawer: Drawer, pair: Pair, plan: Plan) -> ProcessFailure | None:
    """Return a failure if all first outputs on both sides ended their process or passed the time limit; else None.

    The check comes first, since each output of the search would take as long as the limit.
    """
    rng = rng_at(plan.settings.seed, Phase.CHECK)
    failure = None
    for _ in range(ALWAYS):
        for side in SIDES:
            failure = drawer.call_once(pair, side, rng)
            if not isinstance(failure, ProcessFailure):
                return None
    return failure
