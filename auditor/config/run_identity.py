"""The identity of a run: its configuration and mechanisms, the settings of the command line, and this version."""

import hashlib
import os.path
from typing import Any

from auditor import __version__
from auditor.blackbox.mechanism import PythonSource
from auditor.config.load import Configuration
from auditor.config.yaml_text import read_yaml
from auditor.neighbours.canaries import Canaries

# Settings of where outputs are drawn. They change no number.
WHERE = ("workers", "backend", "address")
# Hexadecimal digits of a file's SHA-256: enough to detect a change, few enough to read.
DIGITS = 16


def identity(configuration: Configuration) -> dict[str, Any]:
    """Return all that the results of a run depend on, as plain data. Code is digests of the files that it names."""
    code = [plan.source for plan in configuration.plans]
    domains = [plan.domain for plan in configuration.plans if isinstance(plan.domain, Canaries)]
    code += [PythonSource(domain.score, {}, domain.search_path) for domain in domains if isinstance(domain.score, str)]
    sources = {path.resolve() for source in code for path in source.files()}
    folder = configuration.file.resolve().parent
    file = read_yaml(configuration.file.read_text(encoding="utf-8"), str(configuration.file)).data
    by_name = {audit["name"]: audit for audit in file["audits"]}
    return {
        "version": __version__,
        "command line": {key: value for key, value in configuration.overrides.items() if key not in WHERE},
        "audits run": [plan.name for plan in configuration.plans],
        "contents": {
            os.path.relpath(path, folder): hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
            for path in sorted(sources)
        },
        "file": {**file, "audits": by_name},
    }
