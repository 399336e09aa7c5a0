"""The rows of all packages: as JSON, as one table, and as a page that is sorted by what a reader looks for."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from auditor import read_report
from auditor.neighbours.pair import pair_words
from auditor.results.result import AuditResult
from benchmarks.field.claims import CLASSES, NOT_STATED, PROJECT, TOPICS, Claim, Package, packages, read_package

REPORTS = PROJECT / "reports" / "field"
PAGE = REPORTS / "README.md"
Row = dict[str, Any]
NOT_LOOKED_UP = "not looked up"
COLUMNS = {
    "package": "package",
    "function": "function",
    "claim": "claim",
    "documented": "documented",
    "relation": "relation",
    "verdict": "verdict",
    "bound": "bound",
    "pair": "pair",
    "event": "event",
    "why": "what the source says",
    "seconds": "s",
}
HEAD = """# What packages do that say differential privacy: all rows

Written by `make field`. [The page](README.md) is shorter, and sorted. Each package is called as it is installed from
the package index, with the parameters that its documentation names. The claim is the package's own. Where it does not
say which data sets are neighbours, both relations were audited, and a violation under one of them alone says no more
than that. A bound is proved with 99.9 % confidence for all claims of a package together. Where a run was cut and went
on, the seconds are those of its last part.

"""
PAGE_HEAD = """# What packages do

Written by `make field` from [configs/field](../../configs/field/README.md); `make field PACKAGE=name` makes the rows of
one package again. Some packages of the Python index say that they give differential privacy. This page has what came
out when each was called as it is installed, at the claim that it makes itself: {packages} packages, {claims} claims,
of which {audited} have a verdict (with those that are audited elsewhere in this project, {all_packages} and {all_claims}).
[The table](TABLE.md) has each pair, event and bound; [its JSON](field.json) the same for programs. *No violation found*
is no proof of privacy. Of the {sound} claims for which no violation was found, {repeated} were audited at two more seeds, with
the same outcome for {agreed}.

{classes}

**broken by the line**: the package promises what was audited, and a line of its source breaks it. **documented**: its
documentation says so, or tells its readers not to rely on it. **relation not stated**: the claim holds for one kind of
neighbours and breaks for the other, and the package names neither. **ours**: a fault of the wrapper or of the auditor.

"""


def rows_of(package: Package) -> list[Row]:
    """Return the rows of a package, those without a report as well."""
    folder = REPORTS / package.name
    record = folder / "made.json"
    made: dict[str, Any] = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    report = folder / "report.json"
    results = {result.name: result for result in read_report(report).audits} if report.exists() else {}
    seeds = _more_seeds(package.name, made)
    shared = {"package": package.name, "version": package.version, "topic": package.topic}
    why_not = made.get("failure", "was not run") or package.in_the_way
    if not package.claims:
        empty = {**_of_nothing(why_not), "function": "–", "claim": "–", "documented": "–", "relation": "–"}
        return [{**shared, **empty, "in_the_way": package.in_the_way}]
    rows: list[Row] = []
    for claim in package.claims:
        result, seconds = results.get(claim.name), made.get("seconds", {}).get(claim.name)
        found = _of_nothing(why_not) if result is None else _found(result, claim)
        stated = {"function": claim.name, "documented": claim.given["documented"], "relation": _relation(claim)}
        stated["claim"] = _written(claim.given["claim"]) if result is None else str(result.claim)
        rows.append({**shared, **stated, **found, "seconds": seconds, "in_the_way": package.in_the_way})
        if claim.name in seeds:
            rows[-1]["more_seeds"] = seeds[claim.name]
    return rows


def _more_seeds(name: str, made: Row) -> dict[str, dict[str, str]]:
    """Return the verdicts at more seeds of claims, by the seed, if they are of the same lock and claims as the rows."""
    file = REPORTS / name / "seeds.json"
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    same = all(kept.get(key) == made.get(key) for key in ("lock", "claims"))
    return kept["verdicts"] if kept and same else {}


def is_sound(row: Row) -> bool:
    """Return whether no violation of a row was found, and none is known."""
    return row["class"] == "–" and str(row["verdict"]).startswith("no violation found")


def refuted_seeds(row: Row) -> list[str]:
    """Return the seeds at which a row without a violation was refuted."""
    return [seed for seed, verdict in row.get("more_seeds", {}).items() if is_sound(row) and verdict == "violation"]


def _of_nothing(why: str) -> Row:
    return {"verdict": "not run", "bound": "–", "pair": "–", "event": "–", "class": "–", "why": why, "seconds": None}


def _relation(claim: Claim) -> str:
    if claim.relation != NOT_STATED:
        return claim.relation.replace("_", "/")
    return f"{NOT_STATED}; {claim.given['neighbours']['relation'].replace('_', '/')}"


def _written(claim: Row) -> str:
    return ", ".join(f"{key} = {value:g}" for key, value in claim.items())


def _found(result: AuditResult, claim: Claim) -> Row:
    shown, bound = result.smallest or result, result.bound
    verdict = str(result.verdict).replace("_", " ")
    row = {
        "verdict": f"{verdict}, weak" if result.weak and verdict == "no violation found" else verdict,
        "bound": "–" if bound is None else f"{bound.quantity} ≥ {bound.value:.3g}",
        "pair": pair_words(shown.pair),
        "event": "–" if shown.event is None else shown.event.description,
        "class": "–",
        "why": "",
    }
    if claim.finding is not None:
        missed = "" if verdict == "violation" else "not found this time: "
        row |= {"class": CLASSES[claim.finding["class"]], "why": missed + claim.finding["source"]}
    elif verdict == "violation":
        row |= {"class": NOT_LOOKED_UP, "why": NOT_LOOKED_UP}
    elif verdict == "inconclusive":
        row["why"] = result.stop_reason
    return row


def write_pages() -> int:
    """Write all three; return 1 if a violation was not looked up in the source, or found at one seed and not at another."""
    rows = [row for name in packages() for row in rows_of(read_package(name))]
    REPORTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    (REPORTS / "field.json").write_text(text + "\n", encoding="utf-8")
    (REPORTS / "TABLE.md").write_text(table_page(rows), encoding="utf-8")
    PAGE.write_text(page(rows), encoding="utf-8")
    unexplained = [row for row in rows if row["class"] == NOT_LOOKED_UP]
    for row in unexplained:
        print(
            f"{row['package']}, {row['function']}: a violation, {row['bound']}, that nobody has looked up in the source"
        )
    refuted = [row for row in rows if refuted_seeds(row)]
    for row in refuted:
        print(
            f"{row['package']}, {row['function']}: no violation was found, and at seed {refuted_seeds(row)[0]} one was"
        )
    return 1 if unexplained or refuted else 0


def table_page(rows: list[Row]) -> str:
    """Return the table of all rows, and what was in the way."""
    lines = [_line(COLUMNS.values()), _line("-" for _ in COLUMNS), *(_line(_cells(row)) for row in rows)]
    ways = {row["package"]: row["in_the_way"] for row in rows if row["in_the_way"]}
    listed = [f"- **{name}**: {way}" for name, way in ways.items()]
    return HEAD + "\n".join(lines) + "\n\n## What was in the way\n\n" + "\n".join(listed) + "\n"


def _cells(row: Row) -> Iterator[str]:
    explained = row["why"] if row["class"] == "–" else f"*{row['class']}*: {row['why']}"
    shown = {**row, "why": explained, "seconds": "–" if row["seconds"] is None else f"{row['seconds']:.0f}"}
    has_report = (REPORTS / row["package"] / "summary.md").exists()
    name = f"{row['package']} {row['version']}"
    shown["package"] = f"[{name}]({row['package']}/summary.md)" if has_report else name
    return (_plain(str(shown[key])) if key != "package" else shown[key] for key in COLUMNS)


def _plain(text: str) -> str:
    for mark in "\\|_*[]<":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def counted(rows: list[Row]) -> tuple[Counter[str], Counter[str]]:
    """Return how many rows of each class of violation were found, and how many that are known were not."""
    found = Counter(row["class"] for row in rows if row["verdict"] == "violation")
    missed = Counter(row["class"] for row in rows if row["class"] != "–" and row["verdict"] != "violation")
    return found, missed


def page(rows: list[Row]) -> str:
    """Return the page: what a reader looks for, then packages, then functions."""
    found, missed = counted(rows)
    names = [*CLASSES.values(), *([NOT_LOOKED_UP] if found[NOT_LOOKED_UP] else [])]
    classes = [_line(["violation", "found", "known, not found"]), _line("-" * 3)]
    classes += [_line([name, str(found[name]), str(missed[name])]) for name in names]
    claims = [row for row in rows if row["claim"] != "–"]
    others = elsewhere()
    sound = [row for row in claims if is_sound(row)]
    repeated = [row for row in sound if "more_seeds" in row]
    counts = {
        "packages": len({row["package"] for row in rows}),
        "claims": len(claims),
        "audited": sum(row["verdict"] not in ("not run", "inconclusive") for row in claims),
        "sound": len(sound),
        "repeated": len(repeated),
        "agreed": len([row for row in repeated if not refuted_seeds(row)]),
        "all_packages": len({row["package"] for row in rows} | {package_of(name) for _, name, *_ in others}),
        "all_claims": len(claims) + sum(audits for *_, audits, _ in others),
    }
    sections = [PAGE_HEAD.format(**counts, classes="\n".join(classes))]
    for topic in TOPICS:
        of_topic = [row for row in rows if row["topic"] == topic]
        if of_topic:
            sections.append(f"## {topic[0].upper()}{topic[1:]}\n\n" + "\n".join(_short(of_topic)) + "\n\n")
    return "".join(sections) + _elsewhere()


def _short(rows: list[Row]) -> Iterator[str]:
    heads = ("package", "function", "claim", "relation", "verdict", "what the source says")
    yield _line(heads)
    yield _line("-" for _ in heads)
    for row in rows:
        verdict = f"**violation**, {row['bound']}" if row["verdict"] == "violation" else row["verdict"]
        explained = row["why"] if row["class"] == "–" else f"{row['class']}: {row['why']}"
        cells = (f"{row['package']} {row['version']}", row["function"], row["claim"], row["relation"])
        yield _line([*map(_plain, cells), verdict, _plain(explained)])


def elsewhere() -> list[tuple[str, str, int, int]]:
    """Return the reports on packages that have audits of their own: kind, name, audits and violations."""
    lines = []
    for kind, key in (("libraries", "audits"), ("accountants", "accountants")):
        for file in sorted((PROJECT / "reports" / kind).glob("*/report.json")):
            audits = json.loads(file.read_text(encoding="utf-8"))[key]
            broken = sum(audit["verdict"] == "violation" for audit in audits)
            lines.append((kind, file.parent.name, len(audits), broken))
    return lines


def package_of(report: str) -> str:
    """Return the package that a report of configs/libraries or configs/accountants is on.

    >>> package_of("opendp-0.14.1"), package_of("tmlt-core-sessions"), package_of("pure-ldp")
    ('opendp', 'tmlt-core', 'pure-ldp')
    """
    return re.sub(r"-(sessions|\d[\d.]*)$", "", report)


def _elsewhere() -> str:
    lines = [
        "## Audited elsewhere in this project\n",
        "[Larger libraries](../libraries/README.md) have audits of their own, and so have "
        "[accountants and calibrations](../accountants/README.md), beside exact numbers.\n",
        _line(["package", "audits", "violations"]),
        _line("-" * 3),
    ]
    lines += [
        _line([f"[{name}](../{kind}/{name}/summary.md), {kind}", str(audits), str(broken)])
        for kind, name, audits, broken in elsewhere()
    ]
    return "\n".join(lines) + "\n"
