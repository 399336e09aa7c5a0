"""Audit both sides of each bug, or of those named: ``python -m benchmarks.corpus [FUNCTION ...]``; the table is RESULTS.md."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from auditor.auditing.flow import carry_out
from auditor.auditing.outcome import settle
from auditor.config.load import load_configuration
from auditor.config.yaml_text import read_yaml
from auditor.neighbours.pair import pair_words
from auditor.results.result import AuditResult

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
SIDES = ("before", "after")
# Some libraries take 30 milliseconds for an output, so the default of a million outputs would exceed two minutes a side.
SAMPLES = 100_000
# What a bug or one of its sides may set: some libraries are slower still, and some bugs show only in the bits of floats.
OF_AUDIT = ("parameters", "claim", "neighbours", "samples", "events", "execution")
HEAD = """# Published bugs: what is proved of each

Made by `make corpus`, from `corpus.yaml` alone: the documented neighbours and the claim, never the pair. Each release runs in an
environment of its own. The first line of a bug is a release that has it, the second one that has not. Where no release has a repair
yet, the second line is a control: the same release, asked in a way that the bug does not touch. The smallest pair that was found is
shown. A bound is on 100,000 outputs, or on the number in `corpus.yaml`. Seconds are of two cores that others used as well.
"""
COLUMNS = (
    *("library", "function", "issue", "release", "claimed", "proved", "verdict"),
    *("pair", "event", "seconds", "outputs"),
)

Line = dict[str, Any]


def bugs() -> list[dict[str, Any]]:
    """Return the entries of corpus.yaml."""
    entries: list[dict[str, Any]] = read_yaml((HERE / "corpus.yaml").read_text(encoding="utf-8"), "corpus.yaml").data
    return entries


def configuration_of(bug: dict[str, Any], side: str) -> dict[str, Any]:
    """Return the configuration of one side."""
    given = {**bug, **bug[side]}
    python = PROJECT / ".libraries" / f"{bug['library']}-{given['release']}" / "bin" / "python"
    program, *arguments = bug["mechanism"].split()
    command = [str(python), str(HERE / program), *arguments]
    audit = {"name": f"{bug['function']}, {given['release']}", "mechanism": {"command": command}}
    audit |= {key: given[key] for key in OF_AUDIT if key in given}
    return {"version": 1, "samples": SAMPLES, "audits": [audit]}


def audited(bug: dict[str, Any], side: str, folder: Path) -> Line:
    """Audit one side of a bug, and return its line of the table."""
    file = folder / "side.yaml"
    file.write_text(yaml.safe_dump(configuration_of(bug, side)), encoding="utf-8")
    configuration = load_configuration(file)
    started = time.monotonic()
    [result] = settle([carry_out(*configuration.plans)], 1 - configuration.confidence, 1)
    release = bug[side]["release"] + (f"; control: {bug[side]['control']}" if "control" in bug[side] else "")
    shown = {key: bug[key] for key in ("library", "function", "issue")} | {"release": release}
    return {**shown, "side": side, **_found(result), "seconds": round(time.monotonic() - started)}


def _found(result: AuditResult) -> Line:
    shown, bound = result.smallest or result, result.bound
    return {
        "claimed": str(result.claim),
        "proved": "–" if bound is None else f"{bound.quantity} ≥ {bound.value:.3g}",
        "verdict": str(result.verdict).replace("_", " "),
        "pair": pair_words(shown.pair),
        "event": "–" if shown.event is None else shown.event.description,
        "outputs": f"{sum(result.outputs.to_dict().values()):,}",
    }


def table(lines: list[Line]) -> str:
    """Return the table in Markdown."""
    rows = [COLUMNS, ["---"] * len(COLUMNS)]
    rows += [[str(line[key]).replace("|", "\\|").replace("\n", " ") for key in COLUMNS] for line in lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main(names: list[str]) -> None:
    """Audit the bugs, and write the results to results.json and RESULTS.md after each side."""
    kept, folder = HERE / "results.json", PROJECT / "build" / "corpus"
    folder.mkdir(parents=True, exist_ok=True)
    for bug in bugs():
        for side in SIDES if not names or bug["function"] in names else ():
            line = audited(bug, side, folder)
            print(json.dumps(line, ensure_ascii=False), flush=True)
            lines: list[Line] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
            kept.write_text(json.dumps([*lines, line], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write(kept)


def write(kept: Path) -> None:
    """Write the table: the last line of each side, in the order of corpus.yaml."""
    lines: list[Line] = json.loads(kept.read_text(encoding="utf-8"))
    last = {(line["function"], line["side"]): line for line in lines}
    order = [(bug["function"], side) for bug in bugs() for side in SIDES]
    lines = [last[key] for key in order if key in last]
    kept.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    missed = (HERE / "MISSED.md").read_text(encoding="utf-8")
    (HERE / "RESULTS.md").write_text(f"{HEAD}\n{table(lines)}\n\n{missed}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
