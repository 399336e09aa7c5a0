"""The README's table: of all faults that are public and were tried, how many were found and missed, by their kind.

The counts are those of the reports that are committed: the corpus, the field, libraries, training and accountants. Their kinds
are in faults.yaml. Training is counted where its reports are.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.field.claims import CLASSES, NOT_STATED, RELATIONS

PROJECT = Path(__file__).parent.parent
START, END = "<!-- table: faults -->\n", "<!-- end of table -->"
VIOLATION = "violation"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a package that was tried, and whether an audit found it; ``name`` is as in faults.yaml."""

    source: str
    name: str
    kind: str
    found: bool


def faults(project: Path = PROJECT) -> list[Fault]:
    """Return all faults that were tried.

    Raises ValueError for a violation without a kind, and for a name that is in no report.
    """
    listed = yaml.safe_load((project / "benchmarks" / "faults.yaml").read_text(encoding="utf-8"))
    known = {
        (source, name): kind
        for source, by_kind in listed["faults"].items()
        for kind, names in by_kind.items()
        for name in names
    }
    uncounted = set(listed["not counted"])
    tried: dict[tuple[str, str], bool] = {}
    for source, name, is_violation in _audited(project):
        if name not in uncounted or source in ("corpus", "field"):
            tried[source, name] = tried.get((source, name), False) or is_violation
    named = {**known, **{key: "accounting" for key, found in tried.items() if key[0] == "accountants" and found}}
    if unnamed := [key for key, found in tried.items() if found and key not in named]:
        raise ValueError(f"faults.yaml has no kind for {unnamed}; name one, or list it under 'not counted'")
    reported = {source for source, _ in tried}
    if absent := [
        key for key in known if key[0] in reported and key not in tried and key[0] not in ("field", "training")
    ]:
        raise ValueError(f"no report has {absent}, which faults.yaml names; correct the names")
    return [Fault(*key, kind, tried[key]) for key, kind in named.items() if key in tried]


def _audited(project: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield the source, the name and whether there is a violation, of all that was audited."""
    corpus = json.loads((project / "benchmarks" / "corpus" / "results.json").read_text(encoding="utf-8"))
    for line in corpus:
        if line["side"] == "before":
            yield "corpus", f"{line['library']}: {line['function']}", line["verdict"] == VIOLATION
    reports = project / "reports"
    for row in json.loads((reports / "field" / "field.json").read_text(encoding="utf-8")):
        if row["class"] == CLASSES["broken"] and row["verdict"] != "not run":
            yield "field", f"{row['package']}: {_function(row)}", row["verdict"] == VIOLATION
    for source, key in (("libraries", "audits"), ("training", "audits"), ("accountants", "accountants")):
        for file in sorted((reports / source).glob("*/report.json")):
            for audit in json.loads(file.read_text(encoding="utf-8"))[key]:
                yield source, f"{file.parent.name}: {audit['name']}", audit["verdict"] == VIOLATION
    for file in sorted((reports / "libraries").glob("*/sweep.json")):
        for audit in json.loads(file.read_text(encoding="utf-8"))["audited"]:
            yield "libraries", f"{file.parent.name}: {audit['constructor']}", audit["verdict"] == VIOLATION


def _function(row: dict[str, Any]) -> str:
    """Return the function of a row of the field, without the relation that was tried because none is stated."""
    name = str(row["function"])
    if row["relation"].startswith(NOT_STATED):
        for relation in RELATIONS:
            name = name.removesuffix(f", {relation.replace('_', '/')}")
    return name


def table(tried: list[Fault], kinds: dict[str, str]) -> str:
    """Return the table: kinds in their order, what each means, found and missed."""
    found = Counter(fault.kind for fault in tried if fault.found)
    missed = Counter(fault.kind for fault in tried if not fault.found)
    lines = ["| kind of fault | what it is | found | missed |", "|---|---|---|---|"]
    lines += [f"| {kind} | {what} | {found[kind]} | {missed[kind]} |" for kind, what in kinds.items()]
    lines.append(f"| all | | {found.total()} | {missed.total()} |")
    return "\n".join(lines) + "\n"


def with_table(page: str, project: Path = PROJECT) -> str:
    """Return a page with the table between its two comments."""
    kinds = yaml.safe_load((project / "benchmarks" / "faults.yaml").read_text(encoding="utf-8"))["kinds"]
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return before + START + table(faults(project), kinds) + END + after
