"""The corpus of published bugs: both sides of each are configured, pinned and in the table; no library is installed here."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from auditor.config.load import load_configuration
from benchmarks.corpus.__main__ import HERE, SIDES, bugs, configuration_of, table

BUGS = bugs()
BOTH = [(bug, side) for bug in BUGS for side in SIDES]
IDS = [f"{bug['function']}, {side}" for bug, side in BOTH]
PINS = [HERE / "environments", HERE.parent.parent / "configs" / "libraries" / "environments"]


@pytest.mark.parametrize(("bug", "side"), BOTH, ids=IDS)
def test_each_side_is_a_configuration_of_a_program_that_is_there(
    bug: dict[str, Any], side: str, tmp_path: Path
) -> None:
    file = tmp_path / "side.yaml"
    file.write_text(yaml.safe_dump(configuration_of(bug, side)), encoding="utf-8")
    [plan] = load_configuration(file).plans
    assert plan.source.command is not None
    assert Path(plan.source.command.arguments[1]).is_file()
    assert plan.domain.corners()


@pytest.mark.parametrize(("bug", "side"), BOTH, ids=IDS)
def test_each_release_is_pinned_with_hashes(bug: dict[str, Any], side: str) -> None:
    name = f"{bug['library']}-{bug[side]['release']}.txt"
    [pins] = [folder / name for folder in PINS if (folder / name).is_file()]
    text = pins.read_text(encoding="utf-8")
    assert re.search(rf"^{bug['library']}=={re.escape(bug[side]['release'])} ", text, re.MULTILINE)
    assert text.count("==") <= text.count("--hash=sha256:")


def test_the_table_is_of_the_results_and_has_each_side() -> None:
    lines = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    assert [(line["function"], line["side"]) for line in lines] == [(bug["function"], side) for bug, side in BOTH]
    assert table(lines) in (HERE / "RESULTS.md").read_text(encoding="utf-8")


def test_no_fixed_side_raises_an_alarm() -> None:
    lines = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    assert "violation" not in {line["verdict"] for line in lines if line["side"] == "after"}


def test_nine_in_ten_broken_sides_are_refuted() -> None:
    assert len(BUGS) >= 20
    assert len({bug["library"] for bug in BUGS}) >= 7
    lines = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
    broken = [line["verdict"] for line in lines if line["side"] == "before"]
    assert broken.count("violation") >= 0.9 * len(broken)
