"""Nets for a time of taking away: what audits say at a tenth of the outputs, the first pairs of domains, and the help of commands.

    python -m benchmarks.nets make DIR
    python -m benchmarks.nets compare DIR OTHER

``make`` runs the code of the folder that it is started in. Fields that follow from the clock are left out.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

CONFIGS = ("quickstart", "000-private-ratio", "001-local-sensitivity", "002-proofs", "003-down-sensitivity")
CONFIGS += ("004-larger-groups", "classics", "dp-sgd", "sessions")
SHARE, SAMPLES, FEWEST = 10, 1_000_000, 1_000
TIMED = {"seconds", "drawn_by", "proof", "started", "provenance"}  # a brief proof ends by the clock


def scaled(settings: dict[str, Any]) -> dict[str, Any]:
    for key in ("samples", "outputs"):
        if key in settings:
            settings[key] = max(FEWEST, settings[key] // SHARE)
    if isinstance(search := settings.get("search"), dict) and "outputs" in search:
        search["outputs"] //= SHARE
    elif isinstance(search, int):
        settings["search"] //= SHARE
    return settings


def made(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in ("configs", "mechanisms"):
            shutil.copytree(part, copy / part)
        for config in CONFIGS:
            file = copy / "configs" / f"{config}.yaml"
            whole = scaled(yaml.safe_load(file.read_text()))
            if "outputs" not in whole:
                whole.setdefault("samples", SAMPLES // SHARE)
            whole["audits"] = [scaled(audit) for audit in whole["audits"]]
            file.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True))
        files = [f"configs/{config}.yaml" for config in CONFIGS]
        command = [sys.executable, "-m", "auditor", "run", *files, "--out", str(folder.resolve()), "--quiet"]
        path = {"PYTHONPATH": f"{copy}:{Path.cwd()}"}
        subprocess.run(command, cwd=copy, env={**os.environ, **path}, check=False)
    for file in folder.glob("*/*"):
        if file.name != "report.json":
            file.unlink()
    (folder / "pairs.json").write_text(json.dumps(first_pairs(), indent=1, ensure_ascii=False))
    (folder / "help.json").write_text(json.dumps(helps(), indent=1, ensure_ascii=False))


def first_pairs() -> dict[str, list[str]]:
    from auditor.config import load_configuration
    from auditor.neighbours.pair import plain

    found = {}
    for config in CONFIGS:
        for plan in load_configuration(Path(f"configs/{config}.yaml")).plans:
            pairs = islice(iter(plan.domain.corners()), 200)
            found[f"{config}: {plan.name}"] = [f"{plain(pair.left)!r} | {plain(pair.right)!r}" for pair in pairs]
    return found


def helps() -> dict[str, str]:
    from auditor import cli

    whole = io.StringIO()
    with contextlib.redirect_stdout(whole), contextlib.suppress(SystemExit):
        cli.main(["--help"])
    texts = {"": whole.getvalue()}
    for name in re.findall(r"^    ([a-z-]+)  ", whole.getvalue(), re.M):
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
            cli.main([name, "--help"])
        texts[name] = text.getvalue()
    return texts


def differences(before: Any, after: Any, where: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in sorted({*before, *after} - TIMED):
            there = f"{where}/{key}"
            if key not in after:
                found.append(f"{there}: gone (was {json.dumps(before[key], ensure_ascii=False)[:60]})")
            elif key not in before:
                found.append(f"{there}: new")
            else:
                found += differences(before[key], after[key], there)
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            one for i, pair in enumerate(zip(before, after, strict=True)) for one in differences(*pair, f"{where}/{i}")
        ]
    old, new = (json.dumps(one, ensure_ascii=False)[:100] for one in (before, after))
    return [] if before == after else [f"{where}: {old} -> {new}"]


def compared(before: Path, after: Path) -> int:
    count = 0
    for file in sorted(before.glob("**/*.json")):
        other = after / file.relative_to(before)
        if not other.exists():
            print(f"{file.relative_to(before)}: missing")
            count += 1
            continue
        for one in differences(json.loads(file.read_text()), json.loads(other.read_text())):
            print(f"{file.relative_to(before)}{one}")
            count += 1
    print(f"{count} differences")
    return count


if __name__ == "__main__":
    if sys.argv[1] == "make":
        made(Path(sys.argv[2]))
    else:
        sys.exit(compared(Path(sys.argv[2]), Path(sys.argv[3])) > 0)
