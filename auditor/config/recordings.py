"""Recordings: folders with the outputs of a run and a copy of its configuration.

A replay needs nothing else, if the configuration lists the data sets. Otherwise it also needs the code that makes them,
as for a generator, or for canaries of DP-SGD, whose training is too expensive to repeat.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_type_hints

from pydantic import Field

from auditor import __version__
from auditor.auditing.plan import Plan, recorded, remembering, replayed
from auditor.blackbox.store import Store
from auditor.config.load import Configuration, load_configuration
from auditor.config.schema import Strict, validated
from auditor.defaults import RunKeywords
from auditor.errors import InvalidInputError, require_known
from auditor.untrusted_files import read_bytes, read_json

# A manifest has at most MOST_BYTES bytes, and so has a configuration.
MOST_BYTES = 1 << 22

VERSION = 2
MANIFEST, OUTPUTS = "manifest.json", "outputs.sqlite"


class Manifest(Strict):
    """The manifest of a recording."""

    version: int
    auditor: str
    configuration: str
    sha256: str
    overrides: dict[str, Any]
    audits: list[str]
    claims: dict[str, dict[str, Any]] = Field(default={})
    doubts: dict[str, list[str]] = Field(default={})


def record(configuration: Configuration, folder: Path) -> Configuration:
    """Begin a recording below ``folder``. Return the configuration with plans that keep their outputs there, in one open store.

    Audits of accountants draw nothing, so they are no part of it. Raises InvalidInputError if there is no other audit, if there is
    a recording of the same name, or if the folder cannot be made.
    """
    here = folder / configuration.name
    if not configuration.plans:
        raise InvalidInputError(
            f"{configuration.file}: there is nothing to record: audits of accountants draw no outputs; leave out --record"
        )
    if (here / MANIFEST).exists():
        raise InvalidInputError(f"there is a recording in {here} already; name another folder, or delete that one")
    content = configuration.file.read_bytes()
    manifest = {
        "version": VERSION,
        "auditor": __version__,
        "configuration": configuration.file.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "overrides": configuration.overrides,
        "audits": [plan.name for plan in configuration.plans],
        "claims": dict(configuration.claims),
        **({"doubts": {name: [*said] for name, said in configuration.doubts.items()}} if configuration.doubts else {}),
    }
    try:
        here.mkdir(parents=True, exist_ok=True)
        (here / configuration.file.name).write_bytes(content)
        (here / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"a recording cannot go to {here}: {error}") from None
    store = Store(here / OUTPUTS)
    return replace(configuration, plans=tuple(recorded(plan, store) for plan in configuration.plans))


def find_recordings(folder: Path, *, name: str | None = None, runs_code: bool) -> list[Configuration]:
    """Return the recordings in a folder, sorted by name, or those called ``name``.

    The plans of each recording take outputs from one open store.

    Without ``runs_code``, no code that a recording names is imported.

    Raises InvalidInputError if there is nothing to replay, or if a recording needs code that may not run.
    """
    manifests = sorted([*folder.glob(MANIFEST), *folder.glob(f"*/{MANIFEST}")])
    if not manifests:
        raise InvalidInputError(
            f"there is no recording in {folder}; make one with: auditor run CONFIG --record {folder}"
        )
    recorded = [(file, _read_manifest(file)) for file in manifests]
    meant = [(file, kept) for file, kept in recorded if name in (None, Path(kept.configuration).stem)]
    return [_replay(file.parent, kept, runs_code) for file, kept in meant]


def _read_manifest(manifest: Path) -> Manifest:
    what = "the manifest of a recording"
    kept = validated(Manifest, read_json(manifest, MOST_BYTES, what), f"{manifest} is not {what}")
    if kept.version != VERSION:
        raise InvalidInputError(
            f"{manifest} has version {kept.version}; this auditor replays version {VERSION}: record anew"
        )
    require_known(f"{manifest} overrides the unknown setting", kept.overrides, get_type_hints(RunKeywords))
    return kept


def _replay(folder: Path, kept: Manifest, runs_code: bool) -> Configuration:
    overrides = cast(RunKeywords, kept.overrides)
    file = folder / Path(kept.configuration).name
    # The file is compared before anything that it names is run.
    if hashlib.sha256(read_bytes(file, MOST_BYTES)).hexdigest() != kept.sha256:
        raise InvalidInputError(f"{file} was changed after its outputs were recorded; restore the file, or record anew")
    configuration = load_configuration(file, runs_code=runs_code, claims=kept.claims, doubts=kept.doubts, **overrides)
    store = Store(folder / OUTPUTS, reading=True)
    plans = [replayed(plan, store) for plan in configuration.plans if plan.name in kept.audits]
    return replace(configuration, plans=tuple(map(_remembering, plans)), accountants=())


def _remembering(plan: Plan) -> Plan:
    """Return the plan with the earlier violation that was recorded."""
    with plan.store.name_the_cause():
        return remembering(plan, "")
