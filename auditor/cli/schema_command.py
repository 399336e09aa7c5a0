"""`auditor schema`: the JSON Schema of configurations."""

import argparse
import json

from auditor.cli.options import AS_EXPECTED
from auditor.config.schema import json_schema


def schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema."""
    print(json.dumps(json_schema(), indent=1, ensure_ascii=False))
    return AS_EXPECTED
