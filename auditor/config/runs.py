"""What makes a run the one it is: its configuration, what the command line set instead, and this version."""

from dataclasses import asdict
from typing import Any

from auditor import __version__
from auditor.config.load import Configuration, Overrides
from auditor.config.yaml_text import read_yaml

# They say where outputs are drawn, and change no number.
WHERE = ("workers", "backend", "address")


def identity(configuration: Configuration, audits: list[str], overrides: Overrides) -> dict[str, Any]:
    """Return all that the results of a run follow from, as plain data."""
    file = read_yaml(configuration.file.read_text(encoding="utf-8"), str(configuration.file)).data
    by_name = {audit["name"]: audit for audit in file["audits"]}
    return {
        "version": __version__,
        "command line": {key: value for key, value in asdict(overrides).items() if key not in WHERE},
        "audits run": audits,
        "file": {**file, "audits": by_name},
    }
