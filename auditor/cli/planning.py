"""`auditor check` and `auditor plan`: what can be known of a configuration before it is run."""

import argparse
import sys

from auditor.cli.common import AS_EXPECTED, Commands, add_configs, load_all, naming, open_console


def add_commands(commands: Commands) -> None:
    """Add both to the command line."""
    check_parser = commands.add_parser(
        "check", help="validate configurations: import, build pairs, draw one output from each side"
    )
    add_configs(check_parser)
    check_parser.set_defaults(command=_check)

    plan_parser = commands.add_parser(
        "plan", help="before any sampling: the violations that would be caught, and the outputs needed"
    )
    add_configs(plan_parser)
    plan_parser.add_argument("--samples", type=int, metavar="N", help="outputs for the bound of each audit")
    plan_parser.set_defaults(command=_plan)


def _check(options: argparse.Namespace) -> int:
    from auditor.auditing import draw_once

    for configuration in load_all(options):
        for plan in configuration.plans:
            with naming(configuration, plan):
                pair, left, right = draw_once(plan)
            print(f"{configuration.file}: {plan.name}: {pair.left} {_outcome(left)}, {pair.right} {_outcome(right)}")
            if isinstance(left, BaseException) and isinstance(right, BaseException):
                told = "it raised on both; that may be an output, but where nothing else ever comes, there is no answer"
                print(f"auditor: {configuration.file}: {plan.name}: {told}", file=sys.stderr)
    return AS_EXPECTED


def _outcome(output: object) -> str:
    from auditor.blackbox.process import ProcessFailure

    told = output.told() if isinstance(output, ProcessFailure) else output
    return f"raises {type(output).__name__}: {told}" if isinstance(output, BaseException) else f"gives {told}"


def _plan(options: argparse.Namespace) -> int:
    from rich.markup import escape
    from rich.table import Table

    from auditor.auditing.planning import EXCESS, foresee
    from auditor.report.words import number

    console = open_console()
    for configuration in load_all(options):
        table = Table(
            title=escape(configuration.name), box=None, pad_edge=False, header_style="bold", title_justify="left"
        )
        headings = (
            "audit",
            "claim",
            "outputs",
            "event on",
            "chance",
            "smallest violation caught",
            f"outputs to catch {EXCESS:.0%} more",
        )
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for plan in configuration.plans:
            rows = foresee(plan)
            if not rows:
                table.add_row(
                    escape(plan.name), str(plan.claim), "–", "–", "–", "any counterexample found settles it", "–"
                )
            for row in rows:
                needed = f"{row.needed:,.0f}" if row.needed < float("inf") else "out of reach"
                share, chance = f"{row.share:.0%} of outputs", f"{row.chance:.0%}"
                table.add_row(
                    escape(plan.name), str(plan.claim), f"{plan.samples:,}", share, chance, number(row.caught), needed
                )
        console.print(table)
    return AS_EXPECTED
