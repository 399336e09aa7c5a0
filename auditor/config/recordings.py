"""A folder of recorded outputs, with the configuration they were drawn for: nothing else is needed for a replay."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from auditor import __version__
from auditor.auditing import Plan, Store, recorded, replayed
from auditor.config.load import Configuration, Overrides, load_configuration
from auditor.errors import InvalidInputError

VERSION = 2
MANIFEST, OUTPUTS = "manifest.json", "outputs.sqlite"


def record(configuration: Configuration, plans: Sequence[Plan], overrides: Overrides, folder: Path) -> list[Plan]:
    """Return the plans with their outputs kept below ``folder``, beside a copy of the configuration; all in one open store.

    Raises InvalidInputError where there is a recording of that name, or the folder cannot be made.
    """
    here = folder / configuration.name
    if (here / MANIFEST).exists():
        raise InvalidInputError(f"there is a recording in {here} already; name another folder, or delete that one")
    content = configuration.file.read_bytes()
    manifest = {
        "version": VERSION,
        "auditor": __version__,
        "configuration": configuration.file.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "overrides": asdict(overrides),
        "audits": [plan.name for plan in plans],
    }
    try:
        here.mkdir(parents=True, exist_ok=True)
        (here / configuration.file.name).write_bytes(content)
        (here / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"a recording cannot go to {here}: {error}") from None
    store = Store(here / OUTPUTS)
    return [recorded(plan, store) for plan in plans]


@dataclass(frozen=True, slots=True)
class Replay:
    """A configuration, and those of its plans that were recorded, which take their outputs from one open store."""

    configuration: Configuration
    plans: tuple[Plan, ...]


def find_recordings(folder: Path) -> list[Replay]:
    """Return what was recorded in a folder, by name. Raises InvalidInputError where there is nothing that can be replayed."""
    manifests = sorted([*folder.glob(MANIFEST), *folder.glob(f"*/{MANIFEST}")])
    if not manifests:
        raise InvalidInputError(
            f"there is no recording in {folder}; make one with: auditor run CONFIG --record {folder}"
        )
    return [_replay(manifest) for manifest in manifests]


def _replay(manifest: Path) -> Replay:
    try:
        kept = json.loads(manifest.read_text(encoding="utf-8"))
        version, name, overrides, audits = (kept[key] for key in ("version", "configuration", "overrides", "audits"))
        digest, how = kept["sha256"], Overrides(**overrides)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{manifest} is no manifest of a recording ({type(error).__name__}: {error})") from None
    if version != VERSION:
        raise InvalidInputError(
            f"{manifest} has version {version!r}; this auditor replays version {VERSION}: record anew"
        )
    file = manifest.parent / Path(str(name)).name
    configuration = load_configuration(file, how)
    if hashlib.sha256(file.read_bytes()).hexdigest() != digest:
        raise InvalidInputError(
            f"{file} was changed after its outputs were recorded; put it back as it was, or record anew"
        )
    store = Store(manifest.parent / OUTPUTS, reading=True)
    plans = tuple(replayed(plan, store) for plan in configuration.plans if plan.name in audits)
    return Replay(configuration, plans)
