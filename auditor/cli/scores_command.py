"""`auditor scores`: bounds from scores that exist already."""

import argparse
import json

from auditor.claims import Tradeoff
from auditor.cli.options import AS_EXPECTED, UNEXPECTED
from auditor.scores import audit_scores, read_scores


def scores(options: argparse.Namespace) -> int:
    """Print the bounds from scores; a claimed trade-off curve that they break is unexpected."""
    proved = audit_scores(
        read_scores(options.inside),
        read_scores(options.outside),
        options.origin,
        delta=options.delta,
        confidence=options.confidence,
        guesses=options.guesses,
        claim=Tradeoff.from_file(options.tradeoff) if options.tradeoff else None,
    )
    print(json.dumps(proved.to_dict(), indent=1, ensure_ascii=False) if options.json else proved)
    return UNEXPECTED if proved.violated else AS_EXPECTED
