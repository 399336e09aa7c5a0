"""`auditor check`: draw one output from each side of each audit."""

import argparse

from auditor.auditing.check import FirstOutputs, draw_once
from auditor.auditing.foresight import MINUTES, afforded
from auditor.cli.common import load_all, naming, say, warn
from auditor.cli.options import AS_EXPECTED, NO_ANSWER
from auditor.report.phrases import relation_words, shown_words

# What an audit of MINUTES shows is said if an output takes so many seconds or more; otherwise it shows nearly all.
SLOW = 0.001


def check(options: argparse.Namespace) -> int:
    """Draw one output from each side of each audit."""
    status = AS_EXPECTED
    for configuration in load_all(options):
        for plan in configuration.plans:
            with naming(configuration, plan):
                first = draw_once(plan)
            where = f"{configuration.file}: {plan.name}"
            say(f"{where}: {first}; relation {first.pair.relation} ({relation_words(first.pair.relation)})")
            if cost := first.cost():
                say(f"{where}: {cost}{_in_few_minutes(first)}")
            if doubt := first.doubt():
                warn(f"{where}: {doubt}")
            if len(first.failures) == 2:
                status = NO_ANSWER
        for accountant in configuration.accountants:
            with naming(configuration, accountant):
                say(f"{configuration.file}: {accountant.name}: {accountant.try_once()}")
    return status


def _in_few_minutes(first: FirstOutputs) -> str:
    """Say what an audit of MINUTES shows, if each output has a call of its own that takes SLOW seconds or more.

    A few outputs do not tell what many outputs of one call take.
    """
    trial, plan = first.trial, first.plan
    if trial is None or trial.seconds < SLOW or not (plan.source.is_program or not plan.drawer().batched):
        return ""
    shown = afforded(plan, trial, 60 * MINUTES)
    if shown is None:
        return ""
    words = shown_words(plan.claim, shown.scale, shown.rate)
    shows = f", which show {words}, with 95 % probability" if words else ", which show nothing"
    return f". In {MINUTES} minutes it has `samples: {shown.samples:_}`{shows}"
