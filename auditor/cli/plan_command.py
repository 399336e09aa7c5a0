"""`auditor check` and `auditor plan`: what is known of a configuration before it is run."""

import argparse
import sys
from typing import TYPE_CHECKING

from auditor.cli.common import (
    AS_EXPECTED,
    NO_ANSWER,
    Commands,
    add_configs,
    add_settings,
    load_all,
    naming,
    open_console,
    say,
    table_for,
)
from auditor.errors import how_many, visible

if TYPE_CHECKING:
    from rich.table import Table

    from auditor.auditing import Plan


def add_commands(commands: Commands) -> None:
    """Add both to the command line."""
    check_parser = commands.add_parser(
        "check", help="validate configurations: import, build pairs, draw one output from each side"
    )
    add_configs(check_parser)
    check_parser.set_defaults(command=_check)

    plan_parser = commands.add_parser(
        "plan", help="before any sampling: the violations that the audit can detect, and the outputs needed"
    )
    add_configs(plan_parser)
    add_settings(plan_parser, "samples", "outputs")
    plan_parser.add_argument(
        "--stages",
        action="store_true",
        help="the stages of each audit's search, their outputs, and the reason for each",
    )
    plan_parser.set_defaults(command=_plan)


def _check(options: argparse.Namespace) -> int:
    from auditor.auditing import draw_once
    from auditor.report.phrases import relation_words

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
                print(visible(f"auditor: {where}: {doubt}"), file=sys.stderr)
            if len(first.failures) == 2:
                status = NO_ANSWER
    return status


def _plan(options: argparse.Namespace) -> int:
    from auditor.auditing.foresight import EXCESS, foresee
    from auditor.claims import QueryClaim
    from auditor.neighbours.canaries import Canaries
    from auditor.report.phrases import number
    from auditor.report.terminal import escaped

    console = open_console()
    for configuration in load_all(options):
        headings = ("audit", "claim", "outputs", "event on", "chance", "smallest violation caught")
        table = table_for(configuration.name, (*headings, f"needed to catch {EXCESS:.0%} above the claim"))
        for plan in configuration.plans:
            audit = escaped(plan.name), str(plan.claim)
            rows = foresee(plan)
            if not rows:
                is_query = isinstance(plan.claim, QueryClaim)
                said = (
                    "one counterexample refutes the claim" if is_query else "nothing is claimed: the loss is measured"
                )
                table.add_row(*audit, "–", "–", "–", said, "–")
            for row in rows:
                needed = f"{row.needed:,.0f}" if row.needed < float("inf") else "out of reach"
                drawn, share, chance = f"{plan.settings.samples:,}", f"{row.share:.0%} of outputs", f"{row.chance:.0%}"
                if isinstance(plan.neighbours, Canaries):
                    drawn, share = f"{plan.neighbours.runs:,}", "canaries"
                    needed += " canaries" * (row.needed < float("inf"))
                table.add_row(*audit, drawn, share, chance, number(row.caught), needed)
        console.print(table)
        for plan in configuration.plans:
            if words := _too_few_canaries(plan):
                console.print(f"{escaped(plan.name)}: {words}", highlight=False)
        for plan in configuration.plans if options.stages else ():
            console.print(_stages(plan))
    return AS_EXPECTED


def _too_few_canaries(plan: "Plan") -> str:
    """Return how many canaries are needed, if those of a plan can refute nothing; else an empty text."""
    from auditor.auditing.foresight import canaries_needed, foresee
    from auditor.auditing.plan import CHANCES
    from auditor.neighbours.canaries import Canaries

    canaries = plan.neighbours
    if not isinstance(canaries, Canaries) or any(row.caught < float("inf") for row in foresee(plan)):
        return ""
    chance = CHANCES[-1][1]
    least, least_apart = (canaries_needed(plan, canaries, chance, apart=apart) for apart in (canaries.apart, True))
    words = f"too few canaries to refute {plan.claim}, however large the violation; "
    words += f"{least:,.0f} or more, of all runs together, can" if least < float("inf") else "no number of them can"
    if least_apart < least:
        words += f"; {least_apart:,.0f} with `apart: true`, if you can prove that no canary affects another one's score"
    return words


def _stages(plan: "Plan") -> "Table | str":
    """Return the stages of an audit's search, or why there are none."""
    from auditor.auditing.pair_search import SEARCH
    from auditor.auditing.sizes import rounds_for
    from auditor.auditing.stages import planned_stages
    from auditor.report.terminal import escaped

    name, outputs = escaped(plan.name), rounds_for(plan.settings.samples, plan.settings.search)[-1].search
    if plan.kind != "pairwise":
        return f"{name}: no stages"
    if len(plan.domain.corners()) == 1:
        return f"{name}: no stages, since one pair is given"
    title = f"{plan.name}: {how_many(outputs, 'output')} for the search of the last round"
    table = table_for(title, ("stage of the search", "outputs", "because", "carried out"))
    for depth, stage, share in planned_stages(SEARCH, outputs):
        size = "the rest" if stage.share is None else f"{share:,.0f}"
        table.add_row("  " * depth + stage.name, size, stage.why, stage.only or "always")
    return table
