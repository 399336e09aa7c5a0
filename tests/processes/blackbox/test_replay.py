"""`auditor run --record` and `auditor replay`: the same result later, without the mechanism."""

import contextlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor.auditing.ledger import Ledger
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


def coin(value, size, rng):
    return rng.random(size) < 0.5


def total(value):
    return sum(value)


def ends_on_three(value):
    if 3 in value:
        os._exit(1)
    return sum(value)


def nobody(records, size, rng):
    if not records.size:
        raise ValueError("nobody is there")
    return records.sum() + rng.laplace(0, 1.0, size)


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
seed: 6
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
    "rho": audit("rho", "laplace", "{rho: 0.1}"),
    "a domain": audit("totals", "laplace", neighbours=TOTALS),
    "a query": audit("query", "total", "{sensitivity: 1}", QUERIED),
    "broken, on a domain": audit("broken", "laplace", "{epsilon: 0.2}", TOTALS, more="samples: 20_000"),
    "a probability that is too large": audit("wrong", "coin", "{probability: 0.1, at_most: true}", TOTALS),
    "a query that ends while it is shrunk": audit(
        "ends on three", "ends_on_three", "{sensitivity: 1}", TWO_PAIRS, more="search: 0"
    ),
    "a fault behind an exception": audit("behind", "nobody", neighbours=QUERIED, more="samples: 20_000"),
    "failing": audit("failing", "failing"),
    "refused": audit("refused", "short"),
    "seeding itself": audit("seeded", "seeded"),
    "too slow": audit("slow", "slow", more="execution: {workers: 2, batch: 300, timeout: 0.1, backend: threading}"),
    "crashing": audit("crashing", "crashes", more="samples: 500"),
    "a program": audit("program", f"{{command: [{sys.executable}, program.py]}}"),
    "a program that always ends": audit("ends", "{command: ['false']}"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(folder: Path, *audits: str, options: tuple[str, ...] = ()) -> int:
    (folder / "mechanisms_of_replay.py").write_text(MECHANISMS, encoding="utf-8")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "some.yaml").write_text(CONFIG + "".join(audits), encoding="utf-8")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        return main(["run", "some.yaml", "--record", "kept", "--out", "first", *options])


def replay(folder: Path) -> int:
    """Replay without the mechanisms, the programs and the configuration."""
    for name in ("mechanisms_of_replay.py", "program.py", "some.yaml"):
        (folder / name).unlink(missing_ok=True)
    with contextlib.chdir(folder):
        return main(["replay", "kept", "--out", "second"])


def report(folder: Path, out: str) -> Any:
    return without_seconds(json.loads((folder / out / "some" / "report.json").read_text(encoding="utf-8")))


def without_seconds(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: without_seconds(value) for key, value in data.items() if key != "seconds"}
    return [without_seconds(item) for item in data] if isinstance(data, list) else data


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record all audits, and replay them."""
    folder = tmp_path_factory.mktemp("whole")
    status = record(folder, *AUDITS.values())
    assert replay(folder) == status
    return folder


@pytest.mark.parametrize("number", range(len(AUDITS)), ids=AUDITS)
def test_a_replay_gives_the_same_report_without_the_mechanism(whole: Path, number: int) -> None:
    first, second = (report(whole, out)["audits"][number] for out in ("first", "second"))
    assert second == first


def test_the_audits_that_are_replayed_are_shrunk_or_say_why_not(whole: Path) -> None:
    """Otherwise the test above would not show whether shrinking is replayed."""
    audits = {audit["name"]: audit for audit in report(whole, "second")["audits"]}
    broken, wrong, ends = (audits[name] for name in ("broken", "wrong", "ends on three"))
    assert {entry["verdict"] for entry in (broken, wrong, ends)} == {"violation"}
    assert broken["smallest"]
    # The search may have found the simplest data set itself.
    assert (wrong["smallest"] or wrong)["pair"]["left"] == [0]
    assert "ended with exit status 1" in ends["warnings"][0]


def test_what_is_behind_an_exception_is_replayed(whole: Path) -> None:
    [behind] = [audit for audit in report(whole, "second")["audits"] if audit["name"] == "behind"]
    assert behind["further"]
    assert behind["outputs"]["further"] > 0


def test_several_audits_workers_and_options_of_the_command_line_are_kept(folder: Path) -> None:
    chosen = ("--only", "own", "--only", "rho", "--samples", "1500", "--seed", "8", "--workers", "2")
    record(folder, AUDITS["sound"], AUDITS["entropy of its own"], AUDITS["rho"], options=chosen)
    replay(folder)
    assert report(folder, "second") == report(folder, "first")
    assert [entry["seed"] for entry in report(folder, "second")["audits"]] == [8, 8]


def test_an_audit_whose_time_was_over_ends_at_the_same_output(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = audit("sound", "laplace", "{epsilon: 1.5}")
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "elapsed", lambda drawing: drawing.spent.bound / 1e5)
        record(folder, entry, options=("--seconds", "0.3", "--samples", "100000000"))
    replay(folder)
    assert report(folder, "second") == report(folder, "first")
    assert report(folder, "first")["audits"][0]["stop_reason"].startswith("0.3 seconds were over: ")


# --- Damaged recordings ---


OUTPUTS = "kept/some/outputs.sqlite"
BOUND_3 = "FROM batches WHERE name = 'bound-1-3'"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record one audit."""
    folder = tmp_path_factory.mktemp("once")
    assert record(folder, AUDITS["sound"]) == 0
    return folder


@pytest.fixture
def recorded(once: Path, folder: Path) -> Path:
    """Return a copy of that recording for a test to damage."""
    shutil.copytree(once, folder, dirs_exist_ok=True)
    return folder


def refusal(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error message of a refused replay."""
    capsys.readouterr()
    assert replay(folder) == 2
    return capsys.readouterr().err


@contextlib.contextmanager
def recording() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(OUTPUTS)) as file, file:
        yield file


@pytest.mark.parametrize(("rows", "what"), [(BOUND_3, "batch bound-1-3"), ("FROM notes WHERE name = 'start'", "start")])
def test_what_is_missing_is_told_by_its_file(
    recorded: Path, capsys: pytest.CaptureFixture[str], rows: str, what: str
) -> None:
    with recording() as file:
        assert file.execute(f"DELETE {rows}").rowcount == 1
    assert f'{OUTPUTS}, audit "sound": {what} is missing: the recorded run' in refusal(recorded, capsys)


# The digest of the pair precedes the outputs.
DIGEST = 32


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda kept: kept[:DIGEST], "JSONDecodeError"),
        (lambda kept: kept[:-40], "BadZipFile"),
        (lambda kept: kept[:DIGEST] + b'{"os.system": ["echo"]}', "KeyError"),
        (lambda kept: kept[:DIGEST] + b'{"raised": [["name"], "text"]}', "TypeError"),
        (lambda kept: bytes(DIGEST) + kept[DIGEST:], "was recorded on a pair other than"),
    ],
)
def test_a_batch_that_was_not_recorded_so_is_told(
    recorded: Path, capsys: pytest.CaptureFixture[str], change: Callable[[bytes], bytes], why: str
) -> None:
    with recording() as file:
        [(kept,)] = file.execute(f"SELECT seen {BOUND_3}")
        file.execute("UPDATE batches SET seen = ? WHERE name = 'bound-1-3'", (change(kept),))
    message = refusal(recorded, capsys)
    assert f'{OUTPUTS}, audit "sound": batch bound-1-3' in message
    assert why in message


@pytest.mark.parametrize("content", [None, b"", b"no database, whatever its name says" * 100])
def test_a_file_that_is_missing_or_spoilt_is_told(
    recorded: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    Path(OUTPUTS).unlink()
    if content is not None:
        Path(OUTPUTS).write_bytes(content)
    message = refusal(recorded, capsys)
    assert OUTPUTS in message
    assert "record anew" in message


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("manifest.json", '"version": 2', '"version": 1', "has version 1; this auditor replays version 2: record anew"),
        ("some.yaml", "epsilon: 1", "epsilon: 2", "was changed after its outputs were recorded"),
    ],
)
def test_a_changed_recording_is_told(
    recorded: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, message: str
) -> None:
    copy = recorded / "kept" / "some" / file
    copy.write_text(copy.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert message in refusal(recorded, capsys)


def test_a_recording_is_read_where_nothing_can_be_written(recorded: Path) -> None:
    kept = recorded / "kept" / "some"
    assert sorted(path.name for path in kept.iterdir()) == ["manifest.json", "outputs.sqlite", "some.yaml"]
    for path in (*kept.iterdir(), kept):
        path.chmod(0o555)
    try:
        assert replay(recorded) == 0
    finally:
        kept.chmod(0o755)
    assert report(recorded, "second") == report(recorded, "first")


def test_a_recording_is_never_overwritten(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert record(recorded, AUDITS["sound"]) == 2
    assert "there is a recording in kept/some already; name another folder" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[]", '{"version": 2}'])
def test_a_folder_without_a_recording_is_told(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["replay", "nowhere"]) == 2
    assert "there is no recording in nowhere" in capsys.readouterr().err
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    assert main(["replay", "."]) == 2
    assert "manifest.json is not the manifest of a recording" in capsys.readouterr().err
