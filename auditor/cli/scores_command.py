"""`auditor scores`: bounds from scores that exist already."""

import argparse
import json

from auditor.cli.common import AS_EXPECTED, Commands
from auditor.defaults import CONFIDENCE


def add_commands(commands: Commands) -> None:
    """Add it to the command line."""
    parser = commands.add_parser("scores", help="bound ε, μ and δ from scores of canaries inside and outside the data")
    parser.add_argument(
        "inside", metavar="INSIDE", help="scores of canaries in the data: .npy, .csv, .json or .parquet"
    )
    parser.add_argument(
        "outside",
        metavar="OUTSIDE",
        help="scores of canaries not in the data; FILE:COLUMN if there are several columns",
    )
    parser.add_argument(
        "--from",
        dest="origin",
        required=True,
        choices=("independent-runs", "one-run", "one-run-apart"),
        help="how the scores arose: each in a run of its own; all in one run, with a fair coin for each canary; "
        "or all in one run in which no canary affects another",
    )
    parser.add_argument(
        "--delta", type=float, default=1e-5, metavar="D", help="the δ at which ε is bounded; 1e-5 by default"
    )
    parser.add_argument("--confidence", type=float, default=CONFIDENCE, metavar="C", help=f"{CONFIDENCE} by default")
    parser.add_argument("--guesses", type=int, nargs="+", metavar="K", help="the number of surest guesses that count")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=_bound)


def _bound(options: argparse.Namespace) -> int:
    from auditor.scores import audit_scores, read_scores

    proved = audit_scores(
        read_scores(options.inside),
        read_scores(options.outside),
        options.origin,
        delta=options.delta,
        confidence=options.confidence,
        guesses=options.guesses,
    )
    print(json.dumps(proved.to_dict(), indent=1, ensure_ascii=False) if options.json else proved)
    return AS_EXPECTED
