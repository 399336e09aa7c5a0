"""A run is resumed only if its inputs are unchanged: mechanisms, their imports, and files named by parameters."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auditor.blackbox.mechanism import PythonSource
from auditor.config.load import load_configuration
from auditor.config.run_identity import inputs

FILES = {
    "m.py": """
import time
from pathlib import Path
import helper
from helper import noise

HERE = Path(__file__).parent

def noisy(dataset, size, rng, data, long):
    with open(HERE / 'log', "ab", buffering=0) as file:
        file.write(b"1\\n")
    time.sleep(0.003)
    return dataset + noise(0.3, size, rng)
""",
    "helper.py": """
import deeper
import installed

def noise(scale, size, rng):
    return rng.laplace(0, scale * deeper.ONE, size)
""",
    "deeper.py": "ONE = 1.0\n",
    "data.parquet": "PAR1",
    "uv.lock": "numpy 2\n",
    "pairs.py": "def pairs():\n    yield 0, 1\n",
    "site-packages/installed.py": "",
    "site-packages/installed-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: installed\nVersion: 1.0\n",
    "audits.yaml": """
version: 1
seed: 5
samples: 2_000
prove: false
execution: {workers: WORKERS, isolate: ISOLATE}
audits:
  - {name: generated, mechanism: m.py:noisy, claim: {epsilon: 1.0}, expect: violation, shrink: false,
      parameters: {data: data.parquet, long: LONG}, neighbours: {generator: pairs.py:pairs}}
""".replace("LONG", "a" * 5_000),
}


def calls(folder: Path) -> int:
    return (folder / "log").stat().st_size if (folder / "log").exists() else 0


def run(folder: Path, *options: str) -> "subprocess.Popen[str]":
    """Run the audits of a project in a process of its own, which has imported nothing yet."""
    command = [sys.executable, "-m", "auditor", "run", "audits.yaml", "--out", ".", "--quiet", *options]
    path = os.pathsep.join([str(folder / "site-packages"), str(Path(__file__).parents[3])])
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, stdout=pipe, stderr=pipe, text=True
    )


@pytest.fixture(scope="module", params=[(1, True), (2, False)], ids=["in a process of its own", "in workers"])
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a project with a killed run."""
    folder, (workers, isolate) = tmp_path_factory.mktemp("killed"), request.param
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("WORKERS", str(workers)).replace("ISOLATE", str(isolate).lower()))
    begun = run(folder)
    while calls(folder) < 40 and begun.poll() is None:
        time.sleep(0.005)
    begun.kill()
    begun.communicate()
    assert begun.returncode == -9
    return folder


def test_a_run_is_refused_if_its_inputs_changed(killed: Path, tmp_path: Path) -> None:
    """This holds in another folder as well, since paths are stored relative to the configuration."""
    folder = tmp_path / "moved"
    shutil.copytree(killed, folder)
    changed = {
        "helper.py": FILES["helper.py"].replace("deeper.ONE", "deeper.ONE / 4"),
        "deeper.py": "ONE = 0.25",
        "data.parquet": "PAR2",
        "pairs.py": FILES["pairs.py"].replace("0, 1", "1, 0"),
        "site-packages/installed-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: installed\nVersion: 1.1\n",
    }
    for name, text in changed.items():
        (folder / name).write_text(text)
    (folder / "uv.lock").unlink()
    resumed = run(folder, "--resume")
    _, said = resumed.communicate()
    assert resumed.returncode == 2
    assert "cannot be resumed; this changed since it began" in said
    lines = dict(line.strip().split(": ", 1) for line in said.splitlines() if "before, " in line)
    assert lines.keys() == {"helper.py", "deeper.py", "data.parquet", "pairs.py", "uv.lock", "package installed"}
    assert lines["uv.lock"].endswith("before, null now")
    assert lines["package installed"] == '"1.0" before, "1.1" now'


def test_what_is_no_input_and_what_did_not_change_refuses_nothing(killed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    shutil.copytree(killed, folder)
    for name in ("log", "README"):
        (folder / name).write_text("other")
    (folder / "helper.py").touch()
    resumed = run(folder, "--resume")
    assert "cannot be resumed" not in resumed.communicate()[1]
    assert resumed.returncode == 0


def test_a_program_depends_on_its_files_and_on_those_that_parameters_name(tmp_path: Path) -> None:
    for name in ("program.py", "data.csv", "other.csv"):
        (tmp_path / name).write_text("1")
    (tmp_path / "audits.yaml").write_text(
        f"version: 1\naudits: [{{name: one, mechanism: {{command: [{sys.executable}, program.py]}}, claim: {{epsilon: 1}}, "
        "parameters: {data: data.csv}, neighbours: {pairs: [{left: 0, right: 1}]}}]"
    )
    read = inputs(load_configuration(tmp_path / "audits.yaml"))
    assert {"program.py", "data.csv"} <= read.keys()
    assert str(Path(sys.executable).resolve()) in {str((tmp_path / name).resolve()) for name in read}
    assert "other.csv" not in read


def test_a_name_that_no_file_can_have_is_no_file(tmp_path: Path) -> None:
    names = {"null": "a\0b", "long": "a" * 5_000, "folder": "."}
    assert PythonSource("no_such_module:f", names, (str(tmp_path),)).files() == []
