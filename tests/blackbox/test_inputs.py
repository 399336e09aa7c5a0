"""A run goes on only if all that its outputs depend on is as it was: what was read and imported is seen, named and compared."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from auditor.blackbox.inputs import CHANGES, MISSING, WRITTEN, changes_since, content, inputs, merged, unwatched, watch
from auditor.blackbox.store import Store
from auditor.cli import main
from auditor.errors import InvalidInputError

pytestmark = pytest.mark.usefixtures("without_plots")

FILES = {
    "m.py": """
import time
from pathlib import Path
import helper
from helper import noise

HERE = Path(__file__).parent

def noisy(dataset, size, rng, data, log, long):
    import late
    try:
        scale = float((HERE / "override.txt").read_text())
    except OSError:
        scale = float((HERE / "scale.csv").read_text())
    (HERE / "scratch").write_text("1")
    (HERE / "scratch").read_text()
    with open(HERE / log, "ab", buffering=0) as file:
        file.write(b"1\\n")
    time.sleep(0.005)
    return dataset + noise(scale, size, rng) * late.FACTOR
""",
    "helper.py": """
import deeper
import installed

def noise(scale, size, rng):
    return rng.laplace(0, scale * deeper.ONE, size)
""",
    "deeper.py": "ONE = 1.0\n",
    "late.py": "FACTOR = 1.0\n",
    "scale.csv": "0.8\n",
    "data.parquet": "PAR1",
    "log": "",
    "uv.lock": "numpy 2\n",
    "pairs.py": "def pairs():\n    yield 0, 1\n",
    "site-packages/installed.py": "",
    "site-packages/installed-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: installed\nVersion: 1.0\n",
    "audits.yaml": """
version: 1
seed: 5
samples: 40_000
prove: false
execution: {workers: WORKERS, isolate: ISOLATE}
audits:
  - {name: generated, mechanism: m.py:noisy, claim: {epsilon: 1.0}, expect: violation, shrink: false,
      parameters: {data: data.parquet, log: log, long: LONG}, neighbours: {generator: pairs.py:pairs}}
""".replace("LONG", "a" * 5_000),
}


def calls(folder: Path) -> int:
    return (folder / "log").stat().st_size if (folder / "log").exists() else 0


def interrupted(folder: Path, workers: int, isolate: bool) -> None:
    """Write a project, and begin a run of it that is killed."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("WORKERS", str(workers)).replace("ISOLATE", str(isolate).lower()))
    command = [sys.executable, "-m", "auditor", "run", "audits.yaml", "--out", ".", "--quiet"]
    path = os.pathsep.join([str(folder / "site-packages"), str(Path(__file__).parent.parent.parent)])
    run = subprocess.Popen(command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.DEVNULL)
    while calls(folder) < 60 and run.poll() is None:
        time.sleep(0.005)
    run.kill()
    assert run.wait() == -9


@pytest.fixture(scope="module", params=[(1, True), (2, False)], ids=["in a process of its own", "in workers"])
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("killed") / "run"
    interrupted(folder, *request.param)
    return folder


def changed(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None  # type: ignore[func-returns-value]


CHANGED = {
    "a helper": (
        "helper.py",
        changed("helper.py", FILES["helper.py"].replace("deeper.ONE", "deeper.ONE / 4")),
        "before,",
    ),
    "a helper of a helper": ("deeper.py", changed("deeper.py", "ONE = 0.25"), "before,"),
    "a module that a call imports": ("late.py", changed("late.py", "FACTOR = 0.25"), "before,"),
    "a file that a call reads": ("scale.csv", changed("scale.csv", "0.2"), "before,"),
    "a file that a parameter names, which no hook sees": ("data.parquet", changed("data.parquet", "PAR2"), "before,"),
    "a file that is gone": ("late.py", lambda folder: (folder / "late.py").unlink(), f"before, {MISSING} now"),
    "a generator": ("pairs.py", changed("pairs.py", FILES["pairs.py"].replace("0, 1", "1, 0")), "before,"),
    "a lock": ("uv.lock", changed("uv.lock", "numpy 3\n"), "before,"),
    "the version of a package": (
        "package installed",
        changed(
            "site-packages/installed-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: installed\nVersion: 1.1\n"
        ),
        "1.0 before, 1.1 now",
    ),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_run_is_refused_if_what_it_depends_on_changed(
    what: str, killed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in another folder: paths are kept as they are seen from the configuration."""
    name, change, told = CHANGED[what]
    folder = tmp_path / "moved"
    shutil.copytree(killed, folder)
    change(folder)
    monkeypatch.syspath_prepend(str(folder / "site-packages"))
    assert main(["run", str(folder / "audits.yaml"), "--out", str(folder), "--resume"]) == 2
    said = capsys.readouterr().err
    assert "cannot be resumed; this changed since it began" in said
    [line] = [line for line in said.splitlines() if told in line]
    assert name in line


def test_what_a_mechanism_writes_and_what_did_not_change_refuses_nothing(
    killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "moved"
    shutil.copytree(killed, folder)
    for name in ("scratch", "log", "README"):
        (folder / name).write_text("other")
    (folder / "helper.py").touch()
    monkeypatch.syspath_prepend(str(folder / "site-packages"))
    assert main(["run", str(folder / "audits.yaml"), "--out", str(folder), "--resume"]) == 0


# --- What one process sees ---


@pytest.fixture
def seen(tmp_path: Path) -> Iterator[Callable[[str], str | None]]:
    watch(str(tmp_path))
    yield lambda name: inputs(packages=False).get(str(tmp_path / name))
    watch("")


def test_ways_to_open_a_file(
    seen: Callable[[str], str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    monkeypatch.chdir(tmp_path)
    for name in ("read", "appended", "both", "hidden", "program", "base", "b ?se"):
        with unwatched():
            (tmp_path / name).write_text("")
    Path("read").read_text()
    with Path("read").open("rb"), Path("appended").open("a"), Path("both").open("r+b"), unwatched():
        Path("hidden").read_text()
    sqlite3.connect("base").close()
    sqlite3.connect(f"{(tmp_path / 'b ?se').as_uri()}?mode=ro", uri=True).close()
    subprocess.run(["true", "program"], check=True)
    assert seen("read") == seen("base") == seen("b ?se") == seen("program") == content("read")
    assert seen("appended") == seen("both") == WRITTEN
    assert seen("hidden") is None


def test_a_temporary_file_leaves_no_trace_and_a_folder_has_no_content(
    seen: Callable[[str], str | None], tmp_path: Path
) -> None:
    (tmp_path / "gone").write_text("1")
    (tmp_path / "gone").read_text()
    (tmp_path / "gone").unlink()
    assert seen("gone") is None
    assert content(str(tmp_path)) == WRITTEN


def test_a_hook_that_fails_does_not_stop_what_is_done(seen: Callable[[str], str | None]) -> None:
    with pytest.raises(FileNotFoundError):
        Path("/nowhere/at/all").read_text()
    with pytest.raises((ValueError, OSError)):
        subprocess.run(["a\0b"], check=True)
    with pytest.raises(ValueError, match="null byte"):
        open("a\0b")  # noqa: PTH123, SIM115


def test_a_file_is_read_again_if_it_changed_and_another_run_knows_nothing(
    seen: Callable[[str], str | None], tmp_path: Path
) -> None:
    for text in ("1", "22"):
        with unwatched():
            (tmp_path / "data").write_text(text)
        (tmp_path / "data").read_text()
        (tmp_path / "data").read_text()
        assert seen("data") == (content(str(tmp_path / "data")) if text == "1" else CHANGES)
    watch("another")
    assert seen("data") is None


def test_what_was_seen_twice() -> None:
    assert merged(None, "a") == merged("a", "a") == "a"
    assert merged("a", "b") == merged(CHANGES, "a") == CHANGES
    assert merged("a", WRITTEN) == merged(WRITTEN, "a") == WRITTEN


def test_differences_are_named(tmp_path: Path) -> None:
    (tmp_path / "now").write_text("x")
    same = content(str(tmp_path / "now"))
    before = {"now": same, "gone": same, "odd": CHANGES, "mine": WRITTEN, "package ": MISSING, "package numpy": "0.1"}
    gone, odd, numpy = changes_since(before, tmp_path)
    assert (gone, odd) == (f"gone: {same} before, {MISSING} now", f"odd: {CHANGES}")
    assert numpy.startswith("package numpy: 0.1 before, ")


def test_a_file_that_changes_while_a_resumed_run_goes_on_ends_it(
    seen: Callable[[str], str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Store(tmp_path / "runs.sqlite")
    journal.begin({}, resume=False)
    monkeypatch.setattr("auditor.blackbox.store.inputs", lambda packages: {str(tmp_path / "data"): "1"})
    with journal.transaction() as file:
        journal.keep_inputs(file)
    assert journal.inputs() == {"data": "1"}
    journal.close()
    (tmp_path / "data").write_text("")
    monkeypatch.setattr("auditor.blackbox.inputs.content", lambda name: "1")
    journal = Store(tmp_path / "runs.sqlite")
    assert journal.begin({}, resume=True)
    monkeypatch.setattr("auditor.blackbox.store.inputs", lambda packages: {str(tmp_path / "data"): "2"})
    with pytest.raises(InvalidInputError, match="data: 1 before, 2 now"), journal.transaction() as file:
        journal.keep_inputs(file)
    journal.close()
