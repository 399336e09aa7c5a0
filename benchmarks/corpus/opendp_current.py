"""OpenDP from 0.14.1 on, by the programs of configs/libraries."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "configs" / "libraries"))

import opendp_mechanisms  # noqa: F401 - it serves when it is imported
