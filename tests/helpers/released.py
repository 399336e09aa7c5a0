"""A folder with a mechanism that breaks its claim, as a CI run finds it."""

import sys
from pathlib import Path

import pytest

CONFIG = """
version: 1
samples: 2000
execution: {workers: 1, isolate: false}
audits:
  - name: "broken: yes, 100 %"
    mechanism: mechanisms_to_release.py:laplace
    claim: {epsilon: 1.0}
    neighbours: {pairs: [{left: 0, right: 1}]}
"""


def written(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Change to a folder, and write a mechanism and its configuration there."""
    patch.chdir(folder)
    patch.setattr(sys, "path", [*sys.path])
    patch.delenv("GITHUB_ACTIONS", raising=False)
    source = "def laplace(data, size, rng, scale=0.3):\n    return rng.laplace(data, scale, size)\n"
    Path("mechanisms_to_release.py").write_text(source, encoding="utf-8")
    Path("audit.yaml").write_text(CONFIG, encoding="utf-8")
    return folder
