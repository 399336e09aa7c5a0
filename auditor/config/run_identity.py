"""The identity of a run, and the files and packages that its outputs depend on, as far as known before anything runs."""

import functools
import hashlib
import os.path
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import auditor
from auditor.blackbox.host import hosted
from auditor.blackbox.imports import imported
from auditor.blackbox.mechanism import PythonSource
from auditor.config.load import Configuration
from auditor.config.yaml_text import read_yaml_file
from auditor.errors import MechanismError
from auditor.interfaces import Source
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.pair import Pair, Relation

# Files that fix the versions of a program's dependencies.
LOCKS = (
    *("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pixi.lock", "conda-lock.yml", "requirements.lock"),
    *("requirements.txt", "Cargo.lock", "go.sum", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "renv.lock"),
    *("Manifest.toml", "Gemfile.lock"),
)


def identity(configuration: Configuration) -> dict[str, Any]:
    """Return, as plain data, what must be equal for a run to resume another. The ``inputs`` of both must be equal too."""
    file = read_yaml_file(configuration.file).data
    by_name = {audit["name"]: audit for audit in file.get("audits", [])}
    where = ("workers", "backend", "address")  # these settings say where outputs are drawn, and change no number
    return {
        "version": auditor.__version__,
        "Python": platform.python_version(),
        "command line": {key: value for key, value in configuration.overrides.items() if key not in where},
        "audits run": [plan.name for plan in configuration.plans],
        "claims": configuration.claims,
        "file": {**file, "audits": by_name},
    }


def inputs(configuration: Configuration) -> dict[str, str]:
    """Return a digest of each file that outputs depend on, by its path from the configuration, and the versions of packages.

    The files are the code of mechanisms, scores and data sets, the modules that this code imports, files that parameters
    name, and lock files next to these. Files that a call opens or imports later are missing. Raises MechanismError if the
    process that imports the code ends.
    """
    folder = configuration.file.resolve().parent
    canaries = [plan.neighbours for plan in configuration.plans if isinstance(plan.neighbours, Canaries)]
    scores = [PythonSource(each.score, {}, each.search_path) for each in canaries if isinstance(each.score, str)]
    sources: list[Source] = [*(plan.source for plan in configuration.plans), *scores, *configuration.code]
    files = {file for source in sources for file in source.files()}
    locks = {lock for file in files for name in LOCKS if (lock := file.parent / name).is_file()}
    modules, packages = _imported(configuration, sources)
    paths = sorted({path.resolve() for path in files | locks | {*map(Path, modules)} if path.is_file()})
    return {os.path.relpath(path, folder): _digest(path) for path in paths} | packages


def _digest(path: Path) -> str:
    status = path.stat()
    if status.st_size > 1 << 28:  # a digest would take long, so size and time of the last change replace it
        return f"{status.st_size} bytes of {status.st_mtime_ns}"
    with path.open("rb") as file:
        # 16 digits are enough to detect a change, and few enough to read.
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _imported(configuration: Configuration, sources: Sequence[Source]) -> tuple[list[str], dict[str, str]]:
    """Call ``imported``: in this process if all mechanisms run here, or else in a process of its own."""
    modules = functools.partial(imported, [source for source in sources if not source.is_program])
    importing = PythonSource("imports", function=modules)
    isolates = any(plan.settings.execution.isolate for plan in configuration.plans)
    drawer = hosted(importing, None) if isolates else importing.drawer()
    modules_found = drawer.call_once(Pair(None, None, Relation.ALONE), "left", np.random.default_rng(0))
    if isinstance(modules_found, BaseException):
        raise MechanismError(f"{configuration.file}: importing what it names failed: {modules_found}")
    return modules_found  # type: ignore[no-any-return]
