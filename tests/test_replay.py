"""`auditor run --record` and `auditor replay`: the same result later, without the mechanism."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auditor.cli import main

MECHANISMS = """
import math
import os
import time

import numpy as np


def laplace(value, size, rng, scale=1.0):
    return rng.laplace(value, scale, size)


def own_entropy(value, size):
    return np.random.default_rng().laplace(value, 0.4, size)


def mixed(value, rng):
    return [None, value, math.nan, "text\\udc80", {"a": [value]}, (1, 2**70), ValueError("no")][rng.integers(7)]


def vectors(value, size, rng):
    return rng.normal(value, 1.0, (size, 2))


def coin(value, size, rng):
    return rng.random(size) < 0.5


def total(value):
    return sum(value)


def ends_on_three(value):
    if 3 in value:
        os._exit(1)
    return sum(value)


def failing(value, rng):
    raise ValueError("no such luck")


def short(value, size, rng):
    return np.zeros(size - 1)


def seeded(value, size, rng):
    return np.random.default_rng(0).laplace(value, 1.0, size)


def slow(value, size, rng):
    time.sleep(1)
    return np.zeros(size)


def crashes(value, rng):
    if rng.random() < 0.01 * (1 + value):
        os._exit(1)
    return 0.0
"""
PROGRAM = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    for _ in range(request["size"]):
        print(request["dataset"] + random.gauss(0, 0.2))
    sys.stdout.flush()
"""
CONFIG = """
version: 1
seed: 3
samples: 2000
execution: {workers: 1, batch: 300}
audits:
"""
PAIR = "{pairs: [{left: 0, right: 1}]}"
QUERIED = "{domain: records, record: {low: 0, high: 2, integer: true}, size: {low: 0, high: 4}}"
TWO_PAIRS = "{pairs: [{left: [9, 9], right: [9]}, {left: [3], right: []}]}"
TOTALS = "{domain: totals, contributions: [[1]], people: {low: 0, high: 50}}"


def audit(name: str, function: str, claim: str = "{epsilon: 1}", neighbours: str = PAIR, more: str = "") -> str:
    mechanism = function if function.startswith("{") else f"mechanisms_of_replay.py:{function}"
    lines = [f"name: {name}", f"mechanism: {mechanism}", f"claim: {claim}", f"neighbours: {neighbours}"]
    return "  - " + "\n    ".join([*lines, *([more] if more else [])]) + "\n"


AUDITS = {
    "sound": audit("sound", "laplace"),
    "entropy of its own": audit("own", "own_entropy"),
    "all kinds of outputs": audit("mixed/../up", "mixed"),
    "vectors": audit("vectors", "vectors"),
    "rho": audit("rho", "laplace", "{rho: 0.1}"),
    "profile": audit("profile", "own_entropy", "{profile: [[0.5, 0.1], [1, 0.01]]}"),
    "a domain": audit("totals", "laplace", neighbours=TOTALS),
    "probability": audit("coin", "coin", "{probability: 0.9, at_most: true}"),
    "a query": audit(
        "query",
        "total",
        "{sensitivity: 1}",
        QUERIED,
    ),
    "sequential": audit("bets", "own_entropy", more="method: sequential"),
    "sequential on a domain": audit("bets", "laplace", neighbours=TOTALS, more="method: sequential"),
    "broken, sequential, on a domain": audit(
        "broken bets", "laplace", "{epsilon: 0.2}", TOTALS, more="method: sequential\n    samples: 100_000"
    ),
    "a probability that is too large": audit("wrong", "coin", "{probability: 0.1, at_most: true}", TOTALS),
    "a query that ends while it is shrunk": audit(
        "ends on three", "ends_on_three", "{sensitivity: 1}", TWO_PAIRS, more="search: {outputs: 0}"
    ),
    "a search with seconds": audit("timed", "laplace", neighbours=TOTALS, more="search: {seconds: 0.3}"),
    "a query with seconds": audit("timed query", "total", "{sensitivity: 1}", QUERIED, more="search: {seconds: 0.3}"),
    "failing": audit("failing", "failing"),
    "refused": audit("refused", "short"),
    "seeding itself": audit("seeded", "seeded"),
    "too slow": audit(
        "slow",
        "slow",
        more="execution: {workers: 2, batch: 300, timeout: 0.1, isolate: false, backend: threading}",
    ),
    "crashing": audit("crashing", "crashes"),
    "a program": audit("program", f"{{command: [{sys.executable}, program.py]}}"),
    "a program that always ends": audit("ends", "{command: ['false']}"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mechanisms_of_replay.py").write_text(MECHANISMS, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    yield tmp_path


def record(folder: Path, *audits: str, options: tuple[str, ...] = ()) -> int:
    (folder / "some.yaml").write_text(CONFIG + "".join(audits), encoding="utf-8")
    return main(["run", "some.yaml", "--record", "kept", "--out", "first", *options])


def replay(folder: Path) -> int:
    """Replay without the mechanisms, the programs and the configuration."""
    for name in ("mechanisms_of_replay.py", "program.py", "some.yaml"):
        (folder / name).unlink(missing_ok=True)
    return main(["replay", "kept", "--out", "second"])


def report(folder: Path, out: str) -> Any:
    return without_seconds(json.loads((folder / out / "some" / "report.json").read_text(encoding="utf-8")))


def without_seconds(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: without_seconds(value) for key, value in data.items() if key != "seconds"}
    return [without_seconds(item) for item in data] if isinstance(data, list) else data


@pytest.mark.parametrize("entry", AUDITS.values(), ids=AUDITS)
def test_a_replay_gives_the_same_report_without_the_mechanism(folder: Path, entry: str) -> None:
    status = record(folder, entry)
    assert replay(folder) == status
    assert report(folder, "second") == report(folder, "first")


def test_these_audits_are_shrunk_or_say_why_not(folder: Path) -> None:
    """Else the test above would not tell whether that is replayed."""
    names = "broken, sequential, on a domain", "a probability that is too large", "a query that ends while it is shrunk"
    record(folder, *(AUDITS[name] for name in names))
    bets, wrong, ends = report(folder, "first")["audits"]
    assert {entry["verdict"] for entry in (bets, wrong, ends)} == {"violation"}
    assert bets["smallest"]
    assert wrong["smallest"]["pair"]["left"] == [0]
    assert "ended with exit status 1" in ends["warnings"][0]


def test_a_second_run_of_a_mechanism_with_entropy_of_its_own_differs(folder: Path) -> None:
    """Else the test above would not tell whether anything was replayed."""
    record(folder, AUDITS["entropy of its own"])
    main(["run", "some.yaml", "--out", "second"])
    assert report(folder, "second") != report(folder, "first")


def test_several_audits_workers_and_options_of_the_command_line_are_kept(folder: Path) -> None:
    chosen = ("--only", "own", "--only", "rho", "--samples", "1500", "--seed", "8", "--workers", "2")
    record(folder, AUDITS["sound"], AUDITS["entropy of its own"], AUDITS["rho"], options=chosen)
    replay(folder)
    assert report(folder, "second") == report(folder, "first")
    assert [entry["seed"] for entry in report(folder, "second")["audits"]] == [8, 8]


def test_a_sequential_audit_whose_time_was_over_ends_at_the_same_output(folder: Path) -> None:
    entry = audit("sound bets", "laplace", "{epsilon: 1.5}", more="method: sequential")
    record(folder, entry, options=("--seconds", "0.3", "--samples", "100000000"))
    replay(folder)
    assert report(folder, "second") == report(folder, "first")
    assert report(folder, "first")["audits"][0]["stop_reason"] == "0.3 seconds were over"


def batches(folder: Path) -> list[Path]:
    return sorted((folder / "kept" / "some").glob("*/*.npz"))


def test_a_batch_that_is_missing_is_told_by_its_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(folder, AUDITS["sound"])
    [lost] = [file for file in batches(folder) if file.name == "bound-3.npz"]
    lost.unlink()
    assert replay(folder) == 2
    told = capsys.readouterr().err
    assert f"the recording has no batch {lost.relative_to(folder)}" in told


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "EOFError"),
        (b"no archive", "is no recorded batch"),
        ("pickle", "allow_pickle=False"),
        ("shape", "where 1 outputs were recorded"),
        ("another pair", "was recorded on another pair"),
    ],
)
def test_a_batch_that_was_not_recorded_so_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], content: bytes | str, why: str
) -> None:
    record(folder, AUDITS["sound"])
    [file] = [file for file in batches(folder) if file.name == "bound-3.npz"]
    with np.load(file) as archive:
        arrays = dict(archive)
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content == "pickle":
        arrays["left 0 numbers"] = np.array([{}], dtype=object)
        np.savez(file, **arrays)
    else:
        meta = json.loads(arrays["meta"].tobytes())
        if content == "shape":
            meta["sides"]["left"]["size"] = 1
        else:
            meta["pair"] = "0" * 64
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
        np.savez(file, **arrays)
    assert replay(folder) == 2
    assert why in capsys.readouterr().err


def test_a_recording_is_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(folder, AUDITS["sound"])
    assert record(folder, AUDITS["sound"]) == 2
    assert "there is a recording in kept/some already; name another folder" in capsys.readouterr().err


def test_a_configuration_that_was_changed_afterwards_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(folder, AUDITS["sound"])
    copy = folder / "kept" / "some" / "some.yaml"
    copy.write_text(copy.read_text(encoding="utf-8").replace("epsilon: 1", "epsilon: 2"), encoding="utf-8")
    assert replay(folder) == 2
    assert "was changed after its outputs were recorded" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}'])
def test_a_folder_without_a_recording_is_told(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["replay", "nowhere"]) == 2
    assert "there is no recording in nowhere" in capsys.readouterr().err
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    assert main(["replay", "."]) == 2
    assert "manifest.json is no manifest of a recording" in capsys.readouterr().err
