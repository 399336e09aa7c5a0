"""The claims of configs/field, as configurations of the auditor."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditor.config.yaml_text import read_yaml

PROJECT = Path(__file__).parents[2]
CLAIMS = PROJECT / "configs" / "field"
NOT_STATED = "not stated"
RELATIONS = ("add_remove", "substitute")
# How a violation is explained, after a look at the source.
CLASSES = {
    "broken": "broken by the line",
    "documented": "documented",
    "relation": "relation not stated",
    "ours": "ours",
}
TOPICS = ("counts, sums and means", "mechanisms", "local protocols", "synthetic data", "statistics and learning")
TOPICS += ("tables and SQL", "mobility and location", "epidemiology and health", "text", "federated learning")
OF_AUDIT = ("parameters", "claim", "neighbours", "samples", "search", "events", "execution", "valid", "expect")
# Wrappers are Python, of packages that are made for one call: a hundred calls a second are not rare.
SAMPLES = 20_000
SEED = 20261129


@dataclass(frozen=True, slots=True)
class Claim:
    """What a package says of one function, under one relation; ``name`` is that of its audit."""

    name: str
    given: dict[str, Any]
    relation: str
    finding: dict[str, str] | None  # what the source says of the violation that is known


@dataclass(frozen=True, slots=True)
class Package:
    """A folder of configs/field."""

    name: str
    version: str
    topic: str
    in_the_way: str
    claims: list[Claim]


def packages() -> list[str]:
    """Return the names of all packages."""
    return sorted(
        file.parent.name for file in CLAIMS.glob("*/claims.yaml") if file.with_name("requirements.txt").exists()
    )


def read_package(name: str) -> Package:
    """Return what the folder of a package says."""
    file = CLAIMS / name / "claims.yaml"
    data = read_yaml(file.read_text(encoding="utf-8"), str(file)).data
    claims = [claim for entry in data.get("claims", []) for claim in _claims(entry)]
    return Package(name, version_of(name), data["topic"], " ".join(data.get("in_the_way", "").split()), claims)


def version_of(name: str) -> str:
    """Return the version that is pinned."""
    pins = (CLAIMS / name / "requirements.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(name)}==(\S+)", pins, re.MULTILINE | re.IGNORECASE)
    assert found is not None, name
    return found[1]


def _claims(entry: dict[str, Any]) -> Iterator[Claim]:
    stated = entry["relation"]
    known = entry.get("violation", {})
    if stated != NOT_STATED:
        name = entry["function"] + (f", {entry['where']}" if "where" in entry else "")
        yield Claim(name, entry, stated, known or None)
        return
    for relation in RELATIONS:
        words = relation.replace("_", "/")
        neighbours = {**entry["neighbours"], "relation": relation}
        name = f"{entry['function']}{', ' + entry['where'] if 'where' in entry else ''}, {words}"
        yield Claim(name, {**entry, "neighbours": neighbours}, NOT_STATED, known.get(relation))


def configuration_of(package: Package, seed: int = SEED) -> dict[str, Any]:
    """Return the configuration that audits all claims of a package."""
    python = f"../../.libraries/field/{package.name}/bin/python"  # as seen from build/field
    audits = []
    for claim in package.claims:
        command = [python, "../../configs/field/serve.py", package.name, claim.given["mechanism"]]
        audit = {"name": claim.name, "mechanism": {"command": command}}
        audit |= {key: claim.given[key] for key in OF_AUDIT if key in claim.given}
        if claim.finding is not None:
            audit["expect"] = "violation"
        audits.append(audit)
    execution = {"workers": 1, "timeout": 60}
    return {"version": 1, "seed": seed, "samples": SAMPLES, "execution": execution, "audits": audits}
