"""`auditor probe`: which faults a search would see, planted one after the other in the mechanism of each audit."""

import argparse

from auditor.cli.common import (
    AS_EXPECTED,
    UNEXPECTED,
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

# Faults of which each kind of fact and each effect has several.
FAULTS = 20


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser(
        "probe",
        help="plant faults in each audit's mechanism, and say which of them its search finds; no claim is judged",
    )
    add_configs(parser)
    add_only(parser, "probe")
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 if a search finds fewer than 80 %% of the faults"
    )
    add_settings(parser, "planted", "samples", "outputs", "seed", "workers")
    parser.set_defaults(command=_probe, planted=FAULTS)


def _probe(options: argparse.Namespace) -> int:
    from auditor.auditing.probe import rehearse
    from auditor.neighbours.pair import pair_words
    from auditor.report.terminal import escaped
    from auditor.verdict import ENOUGH_FOUND

    console, status = open_console(), AS_EXPECTED
    for configuration in selected(load_all(options), options.only):
        table = table_for(configuration.name, ("audit", "planted faults found", "not seen", "the mechanism itself"))
        for plan in configuration.plans:
            if plan.kind not in ("pairwise", "sequential"):
                table.add_row(escaped(plan.name), "–", "", "has no search for a pair with planted faults")
                continue
            with naming(configuration, plan):
                tried = rehearse(plan)
            planted = tried.planted
            own = "no fault of its own is likely"
            if tried.is_likely:
                own = f"likely violates its claim on {pair_words(tried.pair)}; run the audit"
            elif planted is None:
                own = "no fault can be planted: one pair is given, or it is too small an audit"
            elif planted.share < ENOUGH_FOUND and options.strict:
                status = UNEXPECTED
            share, missed = (f"{len(planted.found)} of {planted.all}", planted.missed) if planted else ("–", ())
            table.add_row(escaped(plan.name), share, escaped("; ".join(missed)), escaped(own))
        console.print(table)
    return status
