"""Starters: what `auditor init --step` and `--round` write; tests/processes/libraries runs some where a framework is installed."""

import ast
from pathlib import Path

import pytest

from auditor.cli import main
from auditor.config import schema
from auditor.config.starting import ROUNDS, STEPS, starter
from auditor.config.yaml_text import read_yaml
from auditor.errors import InvalidInputError

STARTERS = [("step", framework) for framework in STEPS] + [("round", framework) for framework in ROUNDS]


@pytest.mark.parametrize(("kind", "framework"), STARTERS)
def test_each_audit_names_an_object_of_the_wrapper(kind: str, framework: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.yaml"
    assert main(["init", f"--{kind}", framework, "-o", str(file)]) == 0
    wrapper = tmp_path / f"{kind}.py"
    assigned = {
        name.id
        for node in ast.parse(wrapper.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    audits = schema.File.model_validate(read_yaml(file.read_text(encoding="utf-8"), str(file)).data).audits
    assert audits
    for audit in audits:
        assert isinstance(audit.mechanism, schema.ObjectKeys)
        place, _, name = audit.mechanism.object.partition(":")
        assert (place, name in assigned) == (wrapper.name, True)


def test_nothing_is_overwritten_without_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "round.py").write_text("mine = 1\n", encoding="utf-8")
    words = ["init", "--round", "pfl", "-o", str(tmp_path / "audit.yaml")]
    assert main(words) == 2
    assert "round.py exists already" in capsys.readouterr().err
    assert (tmp_path / "round.py").read_text(encoding="utf-8") == "mine = 1\n"
    assert not (tmp_path / "audit.yaml").exists()
    assert main([*words, "--force"]) == 0
    assert "GaussianMechanism" in (tmp_path / "round.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words", [[], ["--step", "opacus", "--round", "pfl"], ["count.py:count", "--step", "opacus"]], ids=str
)
def test_one_kind_of_start_is_given(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", *words, "-o", str(tmp_path / "audit.yaml")]) == 2
    assert "one of these" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_is_missing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--round", "pfl", "-o", str(tmp_path / "no" / "audit.yaml")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_framework_of_the_other_kind_is_refused() -> None:
    with pytest.raises(InvalidInputError, match='there is no step of "flwr"'):
        starter("step", "flwr", Path("audit.yaml"))
