"""Write one table of the reports on accountants: package and process, exact over stated, where, the verdict, source and seconds."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

HEAD = """# What packages state, beside the exact numbers

Written by `make accountants`. A ratio is the exact number over the stated one, at its largest; above 1 too little is stated. For
noise, the exact number is what the returned noise gives, and the target is what is stated; for a lower bound the ratio is turned
around. Nothing was sampled.

| package | accountant | states | exact/stated | at | verdict | documented | seconds |
|-|-|-|-|-|-|-|-|
"""
WORDS = {
    "epsilon": "ε",
    "delta": "δ",
    "mu": "μ",
    "rho": "ρ",
    "renyi": "Rényi divergence",
    "tradeoff": "β at α",
    "noise": "noise for a target",
}


def rows(folder: Path, seconds: dict[tuple[str, str], float]) -> list[str]:
    """Return a line for each accountant of a report."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return [_row(folder.name, one, seconds.get((folder.name, one["name"]))) for one in report["accountants"]]


def _row(package: str, one: dict[str, Any], seconds: float | None) -> str:
    shown = one["simplest"] or one["worst"]
    ratio, at = "–", "–"
    if shown is not None:
        larger, smaller = float(shown["low"]), float(shown["stated"])
        if shown["lower"]:
            larger, smaller = float(shown["stated"]), float(shown["high"])
        ratio = "1" if larger <= 0 else "∞" if smaller <= 0 or larger == float("inf") else f"{larger / smaller:.4g}"
        at = ", ".join(f"{name} = {value}" for name, value in shown["parameters"].items())
    cells = [
        f"[{package}]({package}/summary.md)",
        one["name"],
        WORDS[one["states"]],
        ratio,
        at.replace("_", "\\_"),
        one["verdict"].replace("_", " "),
        one["source"].replace("_", "\\_"),
        "–" if seconds is None else f"{seconds:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def times(junit: Path) -> dict[tuple[str, str], float]:
    """Return the seconds of each audit, by configuration and name."""
    cases = ElementTree.parse(junit).iter("testcase")
    return {(case.get("classname", ""), case.get("name", "")): float(case.get("time", "nan")) for case in cases}


def main() -> None:
    """Read the reports in the first folder, in which the table goes, and the times from the other files."""
    folder, *junit = map(Path, sys.argv[1:])
    seconds = {key: time for file in junit for key, time in times(file).items()}
    reports = sorted(file.parent for file in folder.glob("*/report.json"))
    lines = [row for report in reports for row in rows(report, seconds)]
    (folder / "TABLE.md").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


main()
