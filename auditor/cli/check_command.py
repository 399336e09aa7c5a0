"""`auditor check`: draw one output from each side of each audit."""

import argparse

from auditor.auditing.check import draw_once
from auditor.cli.common import load_all, naming, say, warn
from auditor.cli.options import AS_EXPECTED, NO_ANSWER
from auditor.report.phrases import relation_words


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
                say(f"{where}: {cost}")
            if doubt := first.doubt():
                warn(f"{where}: {doubt}")
            if len(first.failures) == 2:
                status = NO_ANSWER
    return status
