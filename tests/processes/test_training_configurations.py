"""Frameworks of training: their configurations and pins, which are right without the frameworks. `make training` runs them."""

import ast
import re
from pathlib import Path

import pytest
from folders import PROJECT

from auditor.config import schema
from auditor.config.yaml_text import read_yaml_file

FOLDER = PROJECT / "configs" / "training"
CONFIGS = sorted(FOLDER.glob("*.yaml"))
PINS = sorted((FOLDER / "environments").glob("*.in"))


def names_of(module: Path) -> set[str]:
    return {
        name.id
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: file.stem)
def test_each_audit_names_an_object_of_its_module(file: Path) -> None:
    for audit in schema.File.model_validate(read_yaml_file(file).data).audits:
        assert isinstance(audit.mechanism, schema.ObjectKeys)
        place, _, name = audit.mechanism.object.partition(":")
        assert name in names_of(FOLDER / place), audit.name


def test_each_framework_has_a_configuration_and_an_environment_in_the_makefile() -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    [frameworks] = re.findall(r"^FRAMEWORKS := (.*)$", makefile, re.MULTILINE)
    named = {part.partition(":")[0] for part in frameworks.split()}
    assert named == {file.stem for file in CONFIGS} == {pins.stem for pins in PINS}


@pytest.mark.parametrize("pins", PINS, ids=lambda pins: pins.stem)
def test_each_environment_is_pinned_with_hashes(pins: Path) -> None:
    wanted = re.findall(r"^[\w-]+==[\w.+]+", pins.read_text(encoding="utf-8"), re.MULTILINE)
    locked = pins.with_suffix(".txt").read_text(encoding="utf-8")
    assert wanted
    for requirement in wanted:
        assert re.search(rf"^{re.escape(requirement)}(?=\s)", locked, re.MULTILINE), requirement
    requirements = [each for each in re.split(r"\n(?=\S)", locked) if not each.startswith("#")]
    assert all("==" in each.splitlines()[0] and "--hash=sha256:" in each for each in requirements)
