"""What a command imports or runs from the files that it is given: executes the table in SECURITY.md."""

import json
import re
import sys
from pathlib import Path

import honest_files
import numpy as np
import pytest
from folders import PROJECT

from auditor.blackbox import mechanism
from auditor.blackbox.process import kill_all
from auditor.cli import main
from auditor.cli.options import all_commands

# Each import leaves a line in a file.
MODULE = """
from pathlib import Path

with open({seen!r}, "a") as file:
    file.write({name!r} + "\\n")

"""
MECHANISM = """
def noisy(value, size, rng):
    return rng.laplace(value, 1.0, size)
"""
DATA = """
def pairs():
    yield 0, 1
"""
NEIGHBOURS = "{generator: data_of_somebody.py:pairs}\n    prove: false"
CONFIGURATION = honest_files.CONFIGURATION.replace("theirs", "mechanism_of_somebody").replace(
    "{pairs: [{left: 0, right: 1}]}", NEIGHBOURS
)


class Files:
    """A third-party configuration with its report, recording and certificate, and the imports since the last call."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.seen = folder, folder / "seen"
        for name, text in (("mechanism_of_somebody", MECHANISM), ("data_of_somebody", DATA)):
            before = MODULE.format(seen=str(self.seen), name=name.partition("_")[0])
            (folder / f"{name}.py").write_text(before + text, encoding="utf-8")
        (folder / "audit.yaml").write_text(CONFIGURATION, encoding="utf-8")
        np.save(folder / "inside.npy", np.arange(20.0))
        np.save(folder / "outside.npy", np.arange(20.0) - 3)
        monkeypatch.chdir(folder)

    def imported(self, *arguments: str, status: tuple[int, ...] = (0,)) -> set[str]:
        """Run a command as if nothing had been imported before; return what it imports."""
        mechanism.find.cache_clear()
        kill_all()  # processes in which a mechanism is loaded
        for name, module in [*sys.modules.items()]:
            if str(getattr(module, "__file__", None)).startswith(str(self.folder)):
                del sys.modules[name]
        self.seen.write_text("", encoding="utf-8")
        assert main([*arguments]) in status, arguments
        return set(self.seen.read_text(encoding="utf-8").split())


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    made = Files(tmp_path, monkeypatch)
    assert main(["run", "audit.yaml", "--record", "kept", "--quiet"]) == 0
    return made


BOTH = {"mechanism", "data"}


def test_what_names_mechanisms_runs_them(files: Files) -> None:
    assert files.imported("run", "audit.yaml", "--quiet") == BOTH
    assert files.imported("check", "audit.yaml") == BOTH
    assert files.imported("prove", "audit.yaml", status=(0, 1, 4)) == BOTH
    assert files.imported("plan", "audit.yaml") == {"data"}
    assert files.imported("init", "mechanism_of_somebody.py:noisy", "--out", "new.yaml") == {"mechanism"}


def test_what_reads_results_runs_nothing(files: Files) -> None:
    report = "reports/audit/report.json"
    assert files.imported("show", report) == set()
    assert files.imported("compare", report, report) == set()
    assert files.imported("scores", "inside.npy", "outside.npy", "--from", "independent-runs") == set()


def test_a_replay_runs_what_makes_data_only_if_it_may(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert files.imported("replay", "kept", "--quiet", status=(2,)) == set()
    errors = capsys.readouterr().err
    assert re.search(r"data_of_somebody\.py \(SHA-256 [0-9a-f]{64}\); if you trust this code, add --run-code", errors)
    assert files.imported("replay", "kept", "--quiet", "--run-code") == {"data"}
    check = ("replay", "kept", "--check", "reports/audit/report.json")
    assert files.imported(*check, status=(2,)) == set()
    assert files.imported(*check, "--run-code") == {"data"}


def test_a_recording_whose_file_lists_its_data_sets_runs_nothing(files: Files) -> None:
    (files.folder / "pairs.yaml").write_text(
        CONFIGURATION.replace("generator: data_of_somebody.py:pairs", "pairs: [{left: 0, right: 1}]")
    )
    assert main(["run", "pairs.yaml", "--record", "kept-pairs", "--quiet"]) == 0
    assert files.imported("replay", "kept-pairs", "--quiet") == set()
    assert files.imported("replay", "kept-pairs", "--check", "reports/pairs/report.json") == set()


def test_a_proof_is_checked_without_its_function_unless_it_is_read_again(files: Files) -> None:
    pytest.importorskip("dp_prover")
    (files.folder / "pairs.yaml").write_text(
        CONFIGURATION.replace("generator: data_of_somebody.py:pairs", "pairs: [{left: 0, right: 1}]")
    )
    assert main(["prove", "pairs.yaml", "--out", "proofs"]) in (0, 4)
    [certificate] = (files.folder / "proofs").rglob("*.json")
    assert json.loads(certificate.read_text(encoding="utf-8"))["mechanism"].startswith("mechanism_of_somebody")
    assert files.imported("check-proof", str(certificate)) == set()
    assert files.imported("check-proof", "--retrace", str(certificate)) == {"mechanism"}


def test_the_table_names_every_command() -> None:
    rows = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    [commands] = [action.choices for action in all_commands()._actions if isinstance(action.choices, dict)]
    # These take no third-party files.
    own = {"schema"}
    assert {name for name in commands if f"`{name}`" not in rows} - own == set()
