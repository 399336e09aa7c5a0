"""The identity of a run: what its outputs depend on, as far as it is known before anything runs."""

import os.path
import platform
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from auditor import __version__
from auditor.blackbox.inputs import content
from auditor.blackbox.mechanism import PythonSource
from auditor.config.load import Configuration
from auditor.config.yaml_text import read_yaml_file
from auditor.neighbours.canaries import Canaries

# Settings of where outputs are drawn. They change no number.
WHERE = ("workers", "backend", "address")
# Files that say which versions a program is built of, or runs with.
LOCKS = (
    *(
        "uv.lock",
        "poetry.lock",
        "pdm.lock",
        "Pipfile.lock",
        "pixi.lock",
        "conda-lock.yml",
        "requirements.lock",
        "requirements.txt",
    ),
    *(
        "Cargo.lock",
        "go.sum",
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "renv.lock",
        "Manifest.toml",
        "Gemfile.lock",
    ),
)


def identity(configuration: Configuration) -> dict[str, Any]:
    """Return everything that decides the results of a run, as plain data, except inputs that mechanisms read and import when they
    run.
    """
    folder = configuration.file.resolve().parent
    file = read_yaml_file(configuration.file).data
    by_name = {audit["name"]: audit for audit in file["audits"]}
    return {
        "version": __version__,
        "Python": platform.python_version(),
        "command line": {key: value for key, value in configuration.overrides.items() if key not in WHERE},
        "audits run": [plan.name for plan in configuration.plans],
        "contents": _contents(_files(configuration), folder),
        "claims": configuration.claims,
        "file": {**file, "audits": by_name},
    }


def _contents(files: Iterable[Path], folder: Path) -> dict[str, str]:
    return {os.path.relpath(path, folder): content(str(path)) for path in sorted({path.resolve() for path in files})}


def _files(configuration: Configuration) -> Iterator[Path]:
    """Yield the files of mechanisms, scores and data sets, and the locks next to them."""
    canaries = [plan.neighbours for plan in configuration.plans if isinstance(plan.neighbours, Canaries)]
    scores = [PythonSource(each.score, {}, each.search_path) for each in canaries if isinstance(each.score, str)]
    for source in [*(plan.source for plan in configuration.plans), *scores, *configuration.code]:
        for file in source.files():
            yield file
            yield from (lock for name in LOCKS if (lock := file.parent / name).is_file())
