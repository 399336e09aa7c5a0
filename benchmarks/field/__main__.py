"""Audit the packages of configs/field, or those named: ``python -m benchmarks.field [--seeds] [PACKAGE ...]``.

Without names, a package whose report is of this build, of this lock and of these claims is skipped, and one that did not end in
time goes on. A named one is made again. With ``--seeds``, the rows without a violation are audited at two more seeds.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from auditor import read_report
from benchmarks.field.claims import CLAIMS, PROJECT, SEED, Package, configuration_of, packages, read_package
from benchmarks.field.pages import is_sound, rows_of, write_pages

REPORTS = PROJECT / "reports" / "field"
BUILD = PROJECT / "build" / "field"
# A row is made again in less than ten minutes.
MOST_SECONDS = 580
CUT = "did not end within"
MORE_SEEDS = (SEED + 1, SEED + 2)
SHARED = [CLAIMS / "serve.py", CLAIMS.parent / "libraries" / "protocol.py"]


def digest(files: list[Path]) -> str:
    """Return a digest of files, by their paths and bytes."""
    whole = hashlib.sha256()
    for file in sorted(files):
        whole.update(f"{file.relative_to(PROJECT)}\0".encode() + file.read_bytes() + b"\0")
    return whole.hexdigest()[:16]


def state_of(name: str) -> dict[str, str]:
    """Return what the rows of a package depend on."""
    folder = CLAIMS / name
    return {
        "build": digest(list((PROJECT / "auditor").rglob("*.py"))),
        "lock": digest([folder / "requirements.txt"]),
        "claims": digest([folder / "claims.yaml", *folder.glob("*.py"), *SHARED]),
    }


def made(name: str) -> dict[str, Any]:
    """Return what the last run of a package left, or nothing."""
    file = REPORTS / name / "made.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def install(package: Package) -> str:
    """Install a package into its environment; return why that failed, or nothing."""
    target = f".libraries/field/{package.name}/.ready"
    done = subprocess.run(["make", target], cwd=PROJECT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else _reason(done.stdout + done.stderr)


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if "error" in line.lower() and "make" not in line]
    lines = [line for line in lines if "subprocess-exited" not in line] or ["no reason was given"]
    return f"does not install: {lines[-1]}"


def is_cut(name: str) -> bool:
    """Return whether the last run of a package was ended before its time."""
    return str(made(name).get("failure", "")).startswith(CUT)


def run(package: Package, seed: int = SEED, out: Path | None = None) -> dict[str, Any]:
    """Audit the claims of a package; return the seconds of each, and why there is no report."""
    BUILD.mkdir(parents=True, exist_ok=True)
    configuration, junit = BUILD / f"{package.name}.yaml", BUILD / f"{package.name}.xml"
    described = configuration_of(package, seed)
    configuration.write_text(yaml.safe_dump(described, allow_unicode=True), encoding="utf-8")
    junit.unlink(missing_ok=True)
    # As seen from the project, since a report names its configuration.
    paths = [os.path.relpath(path, PROJECT) for path in (configuration, out or REPORTS, junit)]
    command = [sys.executable, "-m", "auditor", "run", paths[0], "--out", paths[1], "--junit", paths[2]]
    command += ["--resume"] if out is None and is_cut(package.name) else []
    try:
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
    except subprocess.TimeoutExpired:
        said = [f"{CUT} {MOST_SECONDS} s"]
    if not junit.exists():  # it is written when all audits have ended, whatever they found, and after the report
        return {"failure": "".join(said) or "ended without a word", "seconds": {}}
    cases = ElementTree.parse(junit).iter("testcase")
    seconds = {case.get("name", ""): round(float(case.get("time", "nan")), 1) for case in cases}
    return {"failure": "", "seconds": seconds}


def make(name: str) -> None:
    """Make the rows of a package again."""
    package, state, started = read_package(name), state_of(name), time.monotonic()
    failure = install(package)
    outcome: dict[str, Any] = {"failure": failure, "seconds": {}}
    if not failure and package.claims:
        outcome = run(package)
    folder = REPORTS / name
    folder.mkdir(parents=True, exist_ok=True)
    if outcome["failure"] or not package.claims:
        for file in ("report.json", "report.html", "summary.md"):  # what is kept of a run goes on
            (folder / file).unlink(missing_ok=True)
    (folder / "made.json").write_text(json.dumps({**state, **outcome}, indent=1, ensure_ascii=False) + "\n")
    print(f"{name}: {outcome['failure'] or 'done'}, {time.monotonic() - started:.0f} s", flush=True)


def repeat(name: str) -> None:
    """Audit the rows of a package without a violation at more seeds, and keep the verdicts beside its report."""
    package, started = read_package(name), time.monotonic()
    sound = {row["function"] for row in rows_of(package) if is_sound(row)}
    repeated = dataclasses.replace(package, claims=[claim for claim in package.claims if claim.name in sound])
    failure = install(package) if sound else ""
    verdicts: dict[str, dict[str, str]] = {}
    for seed in MORE_SEEDS if sound and not failure else ():
        out = BUILD / "seeds" / str(seed)
        shutil.rmtree(out / name, ignore_errors=True)  # an earlier violation would be counted again
        failure = run(repeated, seed, out)["failure"]
        if failure:
            break
        for result in read_report(out / name / "report.json").audits:
            verdicts.setdefault(result.name, {})[str(seed)] = str(result.verdict)
    if verdicts and not failure:
        kept = {key: made(name)[key] for key in ("lock", "claims")} | {"verdicts": verdicts}
        (REPORTS / name / "seeds.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(f"{name}: {failure or f'{len(sound)} rows at more seeds'}, {time.monotonic() - started:.0f} s", flush=True)


def main(given: list[str]) -> int:
    """Make what is asked for, and the pages; return 1 if a violation was not looked up."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.field", description="Audit packages of configs/field.")
    parser.add_argument("names", nargs="*", metavar="PACKAGE")
    parser.add_argument("--seeds", action="store_true", help="audit rows without a violation at two more seeds")
    asked = parser.parse_args(given)
    unknown = set(asked.names) - set(packages())
    if unknown:
        print(f"no folder of configs/field is named {', '.join(sorted(unknown))}; there are {', '.join(packages())}")
        return 2
    for name in asked.names or packages():
        state = state_of(name)
        if asked.seeds:
            repeat(name)
        elif asked.names or is_cut(name) or {key: made(name).get(key) for key in state} != state:
            make(name)
        else:
            continue
        write_pages()
    return write_pages()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
