"""Corrupted files of each format, as data and as bytes, and their readers."""

import contextlib
import copy
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from every_kind import every_kind
from honest_files import CONFIG, HAS_PROVER, MANIFEST, OUTPUTS, PROOF, REPORT, in_time, make_honest_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_data import places
from rich.console import Console

from auditor.auditing.consistent import read_report
from auditor.auditing.flow import carry_out
from auditor.blackbox.command import from_answer
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.config.recordings import find_recordings
from auditor.errors import AuditorError, InvalidInputError
from auditor.report.ci import to_junit
from auditor.report.compare import compare
from auditor.report.markdown import to_markdown
from auditor.report.terminal import print_result
from auditor.results.files import to_json
from auditor.scores import read_scores

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 0.5, 2**63, 10**400, 1e308, -1e308, 5e-324, float("inf"), float("nan"), -0.0),
    *("", "a", "NaN", "-Infinity", "1/0", "1e999999999", "\x00", "\ud800", "\x1b[2J\n", "../../x", "0x1", "x" * 1000),
    *([], {}, [[]], [None], {"": 1}, {"a": [1, {"b": None}]}, [0, 1], [1] * 100, [[[[1]]]]),
]
JUNK = st.sampled_from(ODD) | st.integers() | st.floats() | st.text(max_size=5)


@st.composite
def spoilt_data(draw: st.DrawFn, honest: Any) -> Any:
    """Draw data with up to three values replaced, removed, duplicated, or swapped for another."""
    data = copy.deepcopy(honest)
    for _ in range(draw(st.integers(1, 3))):
        spots = [*places(data)]
        if not spots:
            break
        inside, key = spots[draw(st.integers(0, len(spots) - 1))]
        match draw(st.integers(0, 5)):
            case 0:
                del inside[key]
            case 1 if isinstance(inside, list):
                inside.insert(key, copy.deepcopy(inside[key]))
            case 2:
                there, other = spots[draw(st.integers(0, len(spots) - 1))]
                inside[key] = copy.deepcopy(there[other])
            case _:
                inside[key] = copy.deepcopy(draw(JUNK))
    return data if draw(st.integers(0, 50)) else draw(JUNK)


@st.composite
def spoilt_bytes(draw: st.DrawFn, honest: bytes) -> bytes:
    """Draw bytes that differ from the original in a few places, are truncated, duplicated, or restarted."""
    raw = bytearray(honest)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(raw) - 1)))
        match draw(st.integers(0, 4)):
            case 0:
                raw[at : at + 1] = draw(st.binary(max_size=8))
            case 1:
                del raw[at : at + draw(st.integers(1, 40))]
            case 2:
                raw[at:at] = raw[at : at + draw(st.integers(1, 40))] * draw(st.sampled_from([1, 2, 50]))
            case 3:
                raw[at : at + 1] = draw(
                    st.sampled_from([b"\xff", b"\0", b"[" * 200, b"9" * 5000, b"{", b'"', b"\n", b"-", b"e9"])
                )
            case _ if raw:
                raw[at] ^= 1 << draw(st.integers(0, 7))
    return bytes(raw)


def json_text(data: Any) -> bytes:
    return json.dumps(data).encode()


def yaml_text(data: Any) -> bytes:
    return yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "surrogatepass")


class Content(bytes):
    """The content of a file that is too long to print."""

    def __repr__(self) -> str:
        return f"{len(self):,} bytes, {self[:200]!r}"


@dataclass(frozen=True)
class Format:
    """A file in the folder, the serialisation of its data if it holds plain data, and its reader."""

    file: str
    read: Callable[[Path], object]
    write: Callable[[Any], bytes] | None = None
    parse: Callable[[bytes], Any] = json.loads

    def strategy(self, honest: bytes) -> st.SearchStrategy[bytes]:
        """Draw contents for the file."""
        by_bytes = spoilt_bytes(honest)
        contents = by_bytes if self.write is None else by_bytes | spoilt_data(self.parse(honest)).map(self.write)
        return contents.map(Content)


def shown(folder: Path) -> None:
    report = read_report(folder / REPORT)
    to_markdown(report), to_junit(report)
    print_result(report, Console(file=io.StringIO(), width=100))
    honest = read_report(folder / "honest.json")
    compare(report, honest), compare(honest, report)


def replayed(folder: Path) -> None:
    for recording in find_recordings(folder / "kept", runs_code=False):
        with contextlib.closing(recording):
            for plan in recording.plans:
                carry_out(plan, refuse=True)


def manifest(folder: Path) -> None:
    for recording in find_recordings(folder / "kept", runs_code=False):
        recording.close()


def in_a_store(folder: Path) -> None:
    """Replace each first batch of the selection by the bytes, and replay it. Later batches have another size."""
    content = (folder / "batch").read_bytes()
    with contextlib.closing(sqlite3.connect(folder / OUTPUTS)) as file, file:
        file.execute("UPDATE batches SET seen = ? WHERE name LIKE 'selection-0%'", (content,))
    replayed(folder)


def certified(folder: Path) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = main(["check-proof", str(folder / PROOF)])
    assert status in (0, 1, 2), said.getvalue()
    if status == 2:
        raise InvalidInputError(said.getvalue())


def answered(folder: Path) -> None:
    lines = (folder / "answer").read_bytes().removesuffix(b"\n") + b"\n"
    from_answer(lines, lines.count(b"\n"))


FORMATS = {
    "report": Format(REPORT, shown, json_text),
    **({"certificate": Format(PROOF, certified, json_text)} if HAS_PROVER else {}),
    "manifest": Format(MANIFEST, manifest, json_text),
    "store": Format(OUTPUTS, replayed),
    "batch": Format("batch", in_a_store),
    "npy": Format("inside.npy", lambda folder: read_scores(str(folder / "inside.npy"))),
    "csv": Format("scores.csv", lambda folder: read_scores(f"{folder / 'scores.csv'}:a")),
    "json": Format("scores.json", lambda folder: read_scores(f"{folder / 'scores.json'}:a"), json_text),
    "parquet": Format("scores.parquet", lambda folder: read_scores(f"{folder / 'scores.parquet'}:a")),
    "configuration": Format(CONFIG, lambda folder: load_configuration(folder / CONFIG, runs_code=False), yaml_text, yaml.safe_load),
    "answer": Format("answer", answered),
}  # fmt: skip


def fuzz(name: str, folder: Path, examples: int) -> Counter[str]:
    """Read corrupted files of a format; return how many were read and how many refused."""
    form, ended = FORMATS[name], Counter[str]()
    file = folder / form.file
    honest = file.read_bytes()

    @settings(max_examples=examples, suppress_health_check=[*HealthCheck], database=None)
    @given(form.strategy(honest))
    def is_read_or_refused(content: bytes) -> None:
        file.write_bytes(content)
        with in_time():
            try:
                form.read(folder)
                ended["read"] += 1
            except AuditorError as error:
                assert str(error)
                ended["refused"] += 1

    try:
        is_read_or_refused()
    finally:
        file.write_bytes(honest)
    form.read(folder)  # the honest file
    return ended


def make_files_to_spoil(folder: Path) -> None:
    """Make a folder with a file of each format."""
    make_honest_files(folder)
    (folder / REPORT).write_text(to_json(every_kind().to_dict()), encoding="utf-8")
    (folder / "honest.json").write_bytes((folder / REPORT).read_bytes())
    (folder / "scores.csv").write_text('a,b\n1,2\n"3",4e5\n-inf,.5\n', encoding="utf-8")
    (folder / "scores.json").write_text('{"a": [1, 2.5, -3], "b": [true, "x"]}', encoding="utf-8")
    lines = [
        1,
        -0.5,
        "text",
        None,
        [1, [2]],
        {"a": 1, "b": {"c": "1.50"}},
        {"error": "x"},
        "NaN",
        [],
        12345678901234567890,
    ]
    (folder / "answer").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": [0.5, 1.0], "b": ["x", None]}), folder / "scores.parquet")
    with contextlib.closing(sqlite3.connect(folder / OUTPUTS)) as file:
        [(observed,)] = file.execute("SELECT seen FROM batches WHERE name LIKE 'selection-0%' LIMIT 1")
    (folder / "batch").write_bytes(observed)
