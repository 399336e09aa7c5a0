"""Every audit of `make audit` can be recounted from its recording."""

from pathlib import Path

import pytest
from folders import PROJECT

from auditor.cli import main


@pytest.mark.parametrize("name", sorted(path.stem for path in (PROJECT / "configs").glob("*.yaml")))
def test_every_audit_of_make_audit_can_be_recounted(name: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    main(["run", str(PROJECT / "configs" / f"{name}.yaml"), "--record", str(kept), "--out", str(tmp_path), "--quiet"])
    code = ["--run-code"] if name == "dp-sgd" else []  # which makes the canaries
    assert main(["replay", str(kept), "--check", str(tmp_path / name / "report.json"), *code]) == 0
