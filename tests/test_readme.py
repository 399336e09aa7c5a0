"""What the README shows is what happens: its result is the committed one, and its examples run."""

import json
import re
import subprocess
import sys
from pathlib import Path

from auditor.cli import main

PROJECT = Path(__file__).parent.parent
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_the_result_shown_is_the_committed_one() -> None:
    report = json.loads((PROJECT / "reports" / "000-private-ratio" / "report.json").read_text(encoding="utf-8"))
    shown = {m[1].strip(): float(m[2]) for m in re.finditer(r"^✓  (.*?) {2,}.*≥ ([0-9.]+)", README, re.MULTILINE)}
    assert len(shown) == 6
    bounds = {audit["name"]: audit["bound"]["value"] for audit in report["audits"]}
    for name, value in shown.items():
        assert value <= bounds[name] < value + 0.001, name


def test_the_first_example_runs_from_its_files(tmp_path: Path) -> None:
    (tmp_path / "my_count.py").write_text(blocks("python")[0], encoding="utf-8")
    config = tmp_path / "audit.yaml"
    config.write_text(blocks("yaml")[0], encoding="utf-8")
    assert main(["check", str(config)]) == 0
    # Noise of scale 1.2 where 1 would do: the claim holds, with room to spare.
    assert main(["run", str(config), "--out", str(tmp_path / "reports"), "--samples", "20000", "--workers", "1"]) == 0
    assert json.loads((tmp_path / "reports" / "audit" / "report.json").read_text(encoding="utf-8"))["passed"]


def test_the_python_example_runs() -> None:
    done = subprocess.run([sys.executable, "-c", blocks("python")[1]], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("no_violation_found 0.")
