"""`auditor self-check`: the error rates of this installation."""

import argparse

from auditor.cli.common import AS_EXPECTED, UNEXPECTED, Commands


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser("self-check", help="measure this installation's false alarms and power")
    parser.set_defaults(command=_measure)


def _measure(options: argparse.Namespace) -> int:
    from auditor.selfcheck import CONFIDENCE, OUTPUTS, self_check

    print(
        f"audits of {OUTPUTS:,} outputs at a confidence of {CONFIDENCE:.0%}; {1 - CONFIDENCE:.0%} false alarms are allowed"
    )
    sound = True
    for row in self_check():
        low, high = row.interval
        kind = "false alarms" if row.allowed is not None else "violations caught"
        verdict = "" if row.allowed is None else ("  as allowed" if row.sound else "  TOO MANY")
        print(
            f"{row.mechanism} with {row.truth}, claim {row.claim}, {row.method}: {row.violations} of {row.runs} {kind}"
            f" ({low:.1%} to {high:.1%}){verdict}",
            flush=True,
        )
        sound = sound and row.sound
    print(
        "this installation keeps its error rates"
        if sound
        else "this installation raises too many false alarms: do not use it"
    )
    return AS_EXPECTED if sound else UNEXPECTED
