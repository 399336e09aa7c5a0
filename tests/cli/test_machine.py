"""A machine without room or right: one sentence and exit status 3, and a later run goes on to the same report."""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from auditor.cli import _ended_by

pytestmark = pytest.mark.usefixtures("without_plots")

AUDITS = """
version: 1
seed: 5
samples: 20_000
prove: false
execution: {workers: 1, isolate: false}
audits:
  - {name: sequential, mechanism: m.py:noisy, method: sequential, claim: {epsilon: 2.0},
      neighbours: {pairs: [{left: 0, right: 1}]}}
"""
MECHANISM = "def noisy(dataset, size, rng):\n    return dataset + rng.laplace(0.0, 0.8, size)\n"


def configuration(folder: Path) -> Path:
    (folder / "m.py").write_text(MECHANISM)
    file = folder / "audits.yaml"
    file.write_text(AUDITS)
    return file


def run(file: Path, out: Path, limit: Callable[[], None] | None = None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "auditor", "run", str(file), "--quiet", "--resume", "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)


def undisturbed(file: Path) -> bytes:
    out = file.parent / "undisturbed"
    assert run(file, out).returncode == 0
    return (out / "audits" / "report.json").read_bytes()


def is_one_sentence(ended: "subprocess.CompletedProcess[str]") -> bool:
    told = ended.stderr.strip().splitlines()
    return ended.returncode == 3 and len(told) == 1 and told[0].startswith("auditor: ") and "no verdict" in told[0]


@pytest.mark.processes
@pytest.mark.parametrize("size", [100, 5_000, 60_000])
def test_a_limit_on_the_size_of_files(size: int, tmp_path: Path) -> None:
    file, out = configuration(tmp_path), tmp_path / "out"
    ended = run(file, out, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert is_one_sentence(ended), ended.stderr
    assert run(file, out).returncode == 0
    assert (out / "audits" / "report.json").read_bytes() == undisturbed(file)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount a file system with options; a test is skipped where nobody may."""
    place = tmp_path / "disk"
    place.mkdir()

    def mounted(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("needs the right to mount a file system")
        return place

    yield mounted
    subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


@pytest.mark.processes
@pytest.mark.parametrize("kilobytes", [4, 40, 120])
def test_a_full_disk(kilobytes: int, disk: Callable[[str], Path], tmp_path: Path) -> None:
    file, out = configuration(tmp_path), disk(f"size={kilobytes}k")
    assert is_one_sentence(ended := run(file, out)), ended.stderr
    disk("remount,size=100m")
    assert run(file, out).returncode == 0
    assert (out / "audits" / "report.json").read_bytes() == undisturbed(file)


def test_a_read_only_folder(disk: Callable[[str], Path], tmp_path: Path) -> None:
    out = disk("size=1m,ro")
    assert is_one_sentence(ended := run(configuration(tmp_path), out)), ended.stderr
    assert str(out) in ended.stderr


def test_too_little_memory_within_the_auditor(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended_by(MemoryError(), with_traceback=False) == 3
    assert capsys.readouterr().err.startswith("auditor: there is not enough memory; no verdict")
