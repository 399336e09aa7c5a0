"""`auditor scores`: bounds from scores that exist already."""

import argparse
import json

from auditor.cli.options import AS_EXPECTED
from auditor.scores import audit_scores, read_scores


def scores(options: argparse.Namespace) -> int:
    """Print the bounds from scores."""
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
