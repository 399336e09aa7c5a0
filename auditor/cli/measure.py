"""`auditor measure`: the bound that outputs prove for each audit's mechanism, without a verdict on its claim."""

import argparse

from auditor.cli.common import (
    AS_EXPECTED,
    NO_ANSWER,
    Commands,
    add_configs,
    add_only,
    add_settings,
    load_all,
    naming,
    open_console,
    selected,
    table_for,
)


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser(
        "measure",
        help="prove the largest bound that a number of outputs allows, without a verdict; audits without a claim are measured in ε",
    )
    add_configs(parser)
    add_only(parser, "measure")
    add_settings(parser, "outputs", "seed", "workers")
    parser.set_defaults(command=_measure)


def _measure(options: argparse.Namespace) -> int:
    from auditor.auditing.measuring import OUT_OF_REACH, can_be_measured, measured
    from auditor.claims import PureDP
    from auditor.neighbours.pair import pair_words
    from auditor.report.phrases import confidence_words, event_lines, proved_words
    from auditor.report.terminal import escaped

    console, status = open_console(), AS_EXPECTED
    unclaimed = PureDP(OUT_OF_REACH)
    for configuration in selected(load_all(options, unclaimed), options.only):
        table = table_for(configuration.name, ("audit", "claim", "proved", "on the pair", "by the event"))
        for plan in configuration.plans:
            audit = escaped(plan.name), "–" if plan.claim == unclaimed else str(plan.claim)
            if not can_be_measured(plan.claim) or plan.settings.method == "one-run":
                table.add_row(*audit, "– has no loss to measure", "", "")
                continue
            with naming(configuration, plan):
                found = measured(plan)
            if found.bound is None or found.pair is None or found.event is None:
                status = NO_ANSWER
                table.add_row(*audit, f"– {escaped(found.reason)}", "", "")
                continue
            shown = "; ".join(event_lines(found.event))
            proved = proved_words(plan.claim, found.bound)
            table.add_row(*audit, proved, escaped(pair_words(found.pair)), escaped(shown))
        console.print(table)
        confidence = confidence_words(1 - configuration.plans[0].alpha)
        console.print(f"lower bounds, each with {confidence} confidence; no claim was judged", highlight=False)
    return status
