"""Files and programs made to break the program that reads them. Each ends as stated, in time, in one sentence if it is refused.

The list was written before the readers were looked at. What it found is in the table for good.
"""

import contextlib
import io
import json
import os
import re
import shutil
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from honest_files import CONFIG, MANIFEST, OUTPUTS, PROOF, REPORT, in_time, make_honest_files

from auditor.cli import main

# A name that clears the screen, sets a title, turns the writing around, and breaks the line in five ways.
EVIL = "\x1b[2J\x1b]0;t\x07\u202etxt\u2066\r\n\x0b\x0c\x85\u2028\u2029\x00\ud800\ufffe::error::x|<b>]]>&`*[a](b)"


@dataclass(frozen=True)
class Attack:
    """What is done to the files of a folder, the command, and how it must end."""

    name: str
    spoil: Callable[[Path], object]
    command: str
    statuses: tuple[int, ...] = (2,)
    says: str = ""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of every kind, as this program writes them."""
    folder = tmp_path_factory.mktemp("honest")
    make_honest_files(folder)
    return folder


@pytest.fixture
def folder(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "copy"
    shutil.copytree(honest, copy)
    monkeypatch.chdir(copy)
    return copy


# --- How files are spoilt ---


def holds(file: str, content: bytes | str) -> Callable[[Path], object]:
    """Let a file hold something else."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return lambda folder: (folder / file).write_bytes(raw)


def with_(file: str, *way: Any, value: Any) -> Callable[[Path], object]:
    """Let a JSON file have another value at a place."""

    def spoil(folder: Path) -> None:
        data = json.loads((folder / file).read_text(encoding="utf-8"))
        inner = data
        for step in way[:-1]:
            inner = inner[step]
        inner[way[-1]] = value
        (folder / file).write_text(json.dumps(data), encoding="utf-8")

    return spoil


def said(file: str, old: str, new: str) -> Callable[[Path], object]:
    """Let a text file say something else at one place."""

    def spoil(folder: Path) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogatepass"))

    return spoil


def is_(file: str, kind: Callable[[Path], object]) -> Callable[[Path], object]:
    """Put something in the place of a file."""

    def spoil(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        kind(folder / file)

    return spoil


def asked(*statements: str) -> Callable[[Path], object]:
    """Change a recording's outputs by SQL."""

    def spoil(folder: Path) -> None:
        with contextlib.closing(sqlite3.connect(folder / OUTPUTS)) as file, file:
            for statement in statements:
                file.execute(statement)

    return spoil


def kept(change: Callable[[bytes], object]) -> Callable[[Path], object]:
    """Change what a recording holds of each batch, after the digest of its pair."""

    def spoil(folder: Path) -> None:
        with contextlib.closing(sqlite3.connect(folder / OUTPUTS)) as file, file:
            for audit, name, seen in file.execute("SELECT audit, name, seen FROM batches").fetchall():
                file.execute("UPDATE batches SET seen = ? WHERE audit = ? AND name = ?", (change(seen), audit, name))

    return spoil


def rezipped(change: Callable[[str, bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change the members of the archive of a batch."""

    def spoil(seen: bytes) -> bytes:
        written = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(seen[32:])) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, change(name, old.read(name)))
        return seen[:32] + written.getvalue()

    return spoil


def npy(header: str, after: bytes = b"") -> bytes:
    """Return a .npy file with any header."""
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + after


def array(value: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def meta(**change: Any) -> Callable[[str, bytes], bytes]:
    """Change what a batch says of itself."""

    def spoil(name: str, content: bytes) -> bytes:
        if name != "meta.npy":
            return content
        said = json.loads(np.load(io.BytesIO(content)).tobytes())
        for side in ("left", "right"):
            said["sides"][side].update(change)
        return array(np.frombuffer(json.dumps(said).encode(), np.uint8))

    return spoil


def one_row_for(size: int) -> Callable[[str, bytes], bytes]:
    """Keep one row of a batch, which says that it has ``size``."""

    def spoil(name: str, content: bytes) -> bytes:
        kept = array(np.zeros(1)) if "numbers" in name else array(np.zeros(1, np.int32)) if "codes" in name else content
        return meta(size=size)(name, kept)

    return spoil


def executed(folder: Path) -> bool:
    return (folder / "executed").exists()


class Pickled:
    def __reduce__(self) -> Any:
        return Path("executed").touch, ()


SCORES = "scores inside.npy outside.npy --from independent-runs"
CSV = "scores inside.csv:a outside.npy --from independent-runs"
BILLION = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 20))
DEEP = 10**5

ATTACKS = [
    # Reports.
    Attack("a picture", holds(REPORT, b"\x89PNG\r\n\x1a\n" + bytes(100)), f"show {REPORT}", says="byte 1"),
    Attack("UTF-16", holds(REPORT, "{}".encode("utf-16")), f"show {REPORT}", says="not text in UTF-8"),
    Attack("a mark of the order of bytes", holds(REPORT, b"\xef\xbb\xbf{}"), f"show {REPORT}", says="is not a report"),
    Attack("deep lists", holds(REPORT, "[" * DEEP), f"show {REPORT}", says="are nested more than"),
    Attack("deep objects", holds(REPORT, '{"a":' * DEEP), f"compare {REPORT} {REPORT}", says="are nested more than"),
    Attack(
        "deep and closed",
        holds(REPORT, "[" * DEEP + "]" * DEEP),
        f"replay kept --check {REPORT}",
        says="are nested more than",
    ),
    Attack("a pipe", is_(REPORT, os.mkfifo), f"show {REPORT}", says="a pipe"),
    Attack("a folder", is_(REPORT, Path.mkdir), f"show {REPORT}/report.json", says="there is no file"),
    Attack("zeros without end", is_(REPORT, lambda at: at.symlink_to("/dev/zero")), f"show {REPORT}", says="a device"),
    Attack("a link to itself", is_(REPORT, lambda at: at.symlink_to(at.name)), f"show {REPORT}", says="cannot be read"),
    Attack("no right to read", is_(REPORT, lambda at: at.symlink_to("/proc/self/mem")), f"show {REPORT}"),
    Attack(
        "a seed of a million digits",
        said(REPORT, '"seed": ', '"seed": ' + "1" * 10**6),
        f"show {REPORT}",
        says="digits",
    ),
    Attack(
        "a bound of 1e999999999",
        with_(REPORT, "audits", 0, "bound", "value", value=10.0**300 * 10**300),
        f"show {REPORT}",
        (0, 2),
    ),
    Attack(
        "a key twice", said(REPORT, '"seed": ', '"seed": 1, "seed": '), f"show {REPORT}", says='"seed" appears twice'
    ),
    Attack("the version true", with_(REPORT, "version", value=True), f"show {REPORT}", says="version"),
    Attack("the version 1.0", with_(REPORT, "version", value=1.0), f"show {REPORT}", says="version"),
    Attack("a confidence of 1", with_(REPORT, "confidence", value=1.0), f"show {REPORT} --html -", (0, 2)),
    Attack("a confidence that is NaN", with_(REPORT, "confidence", value="NaN"), f"show {REPORT} --html -", (0, 2)),
    Attack("100,000 empty audits", with_(REPORT, "audits", value=[{}] * 10**5), f"show {REPORT}", says="audit 1"),
    Attack(
        "a count below 0", with_(REPORT, "audits", 0, "outputs", "bound", value=-1), f"show {REPORT}", says="at least 0"
    ),
    Attack("10 MB of a name", with_(REPORT, "audits", 0, "mechanism", value="x" * 10**7), f"show {REPORT}", (0,)),
    Attack(
        "a pair of 100,000 rows",
        with_(REPORT, "audits", 0, "pair", "left", value=[{"a": i} for i in range(10**5)]),
        f"show {REPORT} --html -",
        (0,),
    ),
    Attack(
        "a wide pair of rows",
        with_(
            REPORT,
            "audits",
            0,
            "pair",
            value={
                "left": [{"a": i} for i in range(3000)],
                "right": [{"a": -i} for i in range(3000)],
                "relation": "substitute",
            },
        ),
        f"show {REPORT}",
        (0,),
    ),
    Attack(
        "a baseline of another run",
        with_(REPORT, "name", value=EVIL),
        f"run audit.yaml --baseline {REPORT}",
        says="is a report of",
    ),
    # Recordings.
    Attack(
        "a manifest that names a file elsewhere",
        with_(MANIFEST, "configuration", value="../../../audit.yaml"),
        "replay kept",
        (0,),
    ),
    Attack(
        "a manifest that names itself",
        with_(MANIFEST, "configuration", value="manifest.json"),
        "replay kept",
        says="was changed",
    ),
    Attack("a manifest that names nothing", with_(MANIFEST, "configuration", value=""), "replay kept"),
    Attack("a manifest that names NUL", with_(MANIFEST, "configuration", value="a\0b"), "replay kept"),
    Attack(
        "an override that runs code",
        with_(MANIFEST, "overrides", value={"runs_code": True}),
        "replay kept",
        says="manifest",
    ),
    Attack(
        "an override of the file", with_(MANIFEST, "overrides", value={"file": "x"}), "replay kept", says="manifest"
    ),
    Attack("an unknown override", with_(MANIFEST, "overrides", value={"x": 1}), "replay kept", says="manifest"),
    Attack(
        "an override of a wrong type",
        with_(MANIFEST, "overrides", value={"samples": [1]}),
        "replay kept",
        says="samples",
    ),
    Attack("an override beyond all", with_(MANIFEST, "overrides", value={"samples": 10**30}), "replay kept"),
    Attack("overrides in a list", with_(MANIFEST, "overrides", value=[1]), "replay kept", says="manifest"),
    Attack(
        "audits that are a number", with_(MANIFEST, "audits", value=3), f"replay kept --check {REPORT}", says="manifest"
    ),
    Attack("a digest that is none", with_(MANIFEST, "sha256", value=None), "replay kept", says="sha256"),
    Attack("a manifest that is a pipe", is_(MANIFEST, os.mkfifo), "replay kept", says="a pipe"),
    Attack("a configuration that is a pipe", is_("kept/audit/audit.yaml", os.mkfifo), "replay kept", says="a pipe"),
    Attack("outputs that are a pipe", is_(OUTPUTS, os.mkfifo), "replay kept", says="a pipe"),
    Attack("outputs that are a folder", is_(OUTPUTS, Path.mkdir), "replay kept", says="a folder"),
    Attack(
        "outputs that are zeros",
        is_(OUTPUTS, lambda at: at.symlink_to("/dev/zero")),
        "replay kept",
        says="cannot be read",
    ),
    Attack(
        "a view that never ends",
        asked(
            "ALTER TABLE batches RENAME TO b",
            "CREATE VIEW batches AS WITH RECURSIVE c(audit) AS (SELECT 1 UNION ALL SELECT 1 FROM c) "
            "SELECT audit, 'x' AS name, x'' AS left_keys, x'' AS right_keys, x'' AS seen FROM c",
        ),
        "replay kept",
        says="other tables",
    ),
    Attack(
        "a trigger",
        asked("CREATE TRIGGER t AFTER INSERT ON notes BEGIN DELETE FROM notes; END"),
        "replay kept",
        says="other tables",
    ),
    Attack(
        "a table without columns",
        asked("DROP TABLE notes", "CREATE TABLE notes (x)"),
        "replay kept",
        says="other tables",
    ),
    Attack("outputs that are NULL", asked("UPDATE batches SET seen = NULL"), "replay kept", says="outputs.sqlite"),
    Attack("outputs that are a number", asked("UPDATE batches SET seen = 3"), "replay kept", says="outputs.sqlite"),
    Attack("outputs that are text", asked("UPDATE batches SET seen = 'text'"), "replay kept", says="outputs.sqlite"),
    Attack("keys that are text", asked("UPDATE batches SET left_keys = 'text'"), "replay kept", says="outputs.sqlite"),
    Attack(
        "keys of 7 bytes",
        asked("UPDATE batches SET left_keys = x'00000000000000'"),
        "replay kept",
        says="outputs.sqlite",
    ),
    Attack(
        "notes that are blobs",
        asked("UPDATE notes SET content = x'ff00'"),
        "replay kept",
        says="was not recorded like this",
    ),
    Attack(
        "deep notes",
        asked(f"UPDATE notes SET content = CAST('{'[' * DEEP}' AS BLOB)"),
        "replay kept",
        says="are nested more than",
    ),
    Attack("notes of another type", asked("UPDATE notes SET content = CAST('{\"tuple\": []}' AS BLOB)"), "replay kept"),
    Attack(
        "a note that raises",
        asked('UPDATE notes SET content = CAST(\'{"raised": ["SystemExit", "x"]}\' AS BLOB)'),
        "replay kept",
    ),
    Attack(
        "a note of a dunder",
        asked('UPDATE notes SET content = CAST(\'{"raised": ["a\\u0000b", "x"]}\' AS BLOB)'),
        "replay kept",
    ),
    Attack(
        "zeros of 16 GiB in an archive",
        kept(rezipped(lambda name, content: b"\0" * (1 << 22) if name == "left 0 numbers.npy" else content)),
        "replay kept",
    ),
    Attack(
        "a header that promises 8 TB",
        kept(
            rezipped(
                lambda name, content: (
                    content
                    if name == "meta.npy"
                    else npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}")
                )
            )
        ),
        "replay kept",
    ),
    Attack(
        "arrays of nothing, without end",
        kept(
            rezipped(
                lambda name, content: (
                    content
                    if name == "meta.npy"
                    else npy("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000000,)}")
                )
            )
        ),
        "replay kept",
    ),
    Attack(
        "one output that stands for 10¹⁵",
        kept(rezipped(one_row_for(10**15))),
        "replay kept",
    ),
    Attack(
        "fewer outputs than were asked for",
        kept(rezipped(one_row_for(1))),
        "replay kept",
        says="2 outputs where 125 were drawn",
    ),
    Attack(
        "a pickle in an archive",
        kept(rezipped(lambda name, content: content if name == "meta.npy" else array(np.array([Pickled()], object)))),
        "replay kept",
        says="allow_pickle",
    ),
    Attack("columns without a name", kept(rezipped(meta(columns=[[None, []]]))), "replay kept", (0, 2)),
    Attack("columns that are a number", kept(rezipped(meta(columns=3))), "replay kept"),
    # Certificates.
    Attack(
        "a power that fills the memory",
        with_(PROOF, "claim", value={"epsilon": "1e999999999"}),
        f"check-proof {PROOF}",
        (1, 2),
    ),
    Attack("a certificate that is a list", holds(PROOF, "[]"), f"check-proof {PROOF}", (1,), "refused"),
    Attack("a certificate that is null", holds(PROOF, "null"), f"check-proof {PROOF}", (1,), "refused"),
    Attack("a certificate that is text", holds(PROOF, '"text"'), f"check-proof {PROOF}", (1,), "refused"),
    Attack(
        "a certificate without end",
        is_(PROOF, lambda at: at.symlink_to("/dev/zero")),
        f"check-proof {PROOF}",
        says="a device",
    ),
    Attack(
        "a mechanism of a terminal's commands", with_(PROOF, "mechanism", value=EVIL), f"check-proof {PROOF}", (0, 1)
    ),
    Attack("claims that are none", with_(PROOF, "claim", value={EVIL: 1.0}), f"check-proof {PROOF}", (1,), "refused"),
    Attack(
        "a retraced mechanism that is a command",
        with_(PROOF, "mechanism", value="os:abort"),
        f"check-proof --retrace {PROOF}",
        (1, 2),
    ),
    # Scores.
    Attack(
        "a shape beyond the file",
        holds("inside.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}")),
        SCORES,
        says="header promises",
    ),
    Attack(
        "a shape below 0", holds("inside.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}")), SCORES
    ),
    Attack("a header that is code", holds("inside.npy", npy("__import__('pathlib').Path('executed').touch()")), SCORES),
    Attack("a header of parentheses", holds("inside.npy", npy("(" * 9000)), SCORES),
    Attack("a header of 60,000 letters", holds("inside.npy", npy("{" + " " * 60_000 + "}")), SCORES),
    Attack(
        "a header without a type",
        holds("inside.npy", npy("{'descr': 'x9', 'fortran_order': False, 'shape': (1,)}")),
        SCORES,
    ),
    Attack("a pickle", holds("inside.npy", b""), SCORES),
    Attack(
        "objects",
        lambda folder: np.save(folder / "inside.npy", np.array([Pickled()], object)),
        SCORES,
        says="type object",
    ),
    Attack(
        "an archive of a gigabyte of zeros",
        lambda folder: (
            np.savez_compressed(folder / "a.npz", a=np.zeros(1 << 24))
            or (folder / "a.npz").rename(folder / "inside.npy")
        ),
        SCORES,
    ),
    Attack("dates", holds("inside.npy", array(np.array(["2020-01-01"], "M8[D]"))), SCORES, says="datetime64"),
    Attack("durations", holds("inside.npy", array(np.array([3], "m8[s]"))), SCORES, says="timedelta64"),
    Attack("complex numbers", holds("inside.npy", array(np.array([1 + 2j]))), SCORES, says="complex128"),
    Attack("records", holds("inside.npy", array(np.zeros(3, "f8,i4"))), SCORES, says="not a number"),
    Attack("texts", holds("inside.npy", array(np.array(["1"]))), SCORES, says="<U1"),
    Attack(
        "types of no bytes",
        holds("inside.npy", npy("{'descr': '|V0', 'fortran_order': False, 'shape': (9999999999999,)}")),
        SCORES,
    ),
    Attack("a field of 131,073 letters", holds("inside.csv", "a\n" + "1" * 131_073), CSV, says="field larger"),
    Attack("a ragged line", holds("inside.csv", "a,b\n1,2\n3\n"), CSV, says="line 3 has 1 fields"),
    Attack("a quote that never ends", holds("inside.csv", 'a\n"' + "1\n" * 10**5), CSV),
    Attack("NUL in a table", holds("inside.csv", "a\n1\0\n"), CSV),
    Attack(
        "headings of commands",
        holds("inside.csv", f'"{EVIL}",b\n1,2\n'.replace("\ud800", "")),
        CSV,
        says='no column "a"',
    ),
    Attack("columns of one name", holds("inside.csv", "a,a\n1,2\n"), CSV, says='several columns called "a"'),
    Attack("only a heading", holds("inside.csv", "a\n"), CSV, says="no scores"),
    Attack(
        "lists of lists of scores", holds("inside.json", "[[1], [2, 3]]"), SCORES.replace("inside.npy", "inside.json")
    ),
    Attack("scores that are null", holds("inside.json", "[1, null]"), SCORES.replace("inside.npy", "inside.json")),
    Attack(
        "a score of a million digits",
        holds("inside.json", f"[{'1' * 10**6}]"),
        SCORES.replace("inside.npy", "inside.json"),
        says="digits",
    ),
    Attack(
        "a score of 400 digits",
        holds("inside.json", f"[{'1' * 400}]"),
        SCORES.replace("inside.npy", "inside.json"),
        says="not a number",
    ),
    Attack(
        "scores that are an object",
        holds("inside.json", '{"a": {"b": 1}}'),
        SCORES.replace("inside.npy", "inside.json"),
    ),
    Attack(
        "deep scores",
        holds("inside.json", "[" * DEEP),
        SCORES.replace("inside.npy", "inside.json"),
        says="are nested more than",
    ),
    Attack(
        "no Parquet",
        holds("inside.parquet", b"PAR1" + bytes(100) + b"PAR1"),
        SCORES.replace("inside.npy", "inside.parquet"),
    ),
    Attack(
        "a column of no file",
        holds("nothing", ""),
        "scores nowhere.csv:a outside.npy --from one-run",
        says="there is no file",
    ),
    # Configurations.
    Attack("a billion laughs", holds(CONFIG, BILLION), "check audit.yaml", says="values"),
    Attack("an alias of itself", holds(CONFIG, "a: &a [*a]\n"), "check audit.yaml", says="alias"),
    Attack("deep brackets", holds(CONFIG, "[" * DEEP), "check audit.yaml", says="deep"),
    Attack(
        "deep indents", holds(CONFIG, "".join(" " * i + "a:\n" for i in range(1400))), "check audit.yaml", says="deep"
    ),
    Attack(
        "a tag that runs a command",
        said(CONFIG, "samples: 500", "samples: !!python/object/apply:os.system ['touch executed']"),
        "check audit.yaml",
        says="samples",
    ),
    Attack("a key that is a list", holds(CONFIG, "? [1, 2]\n: 3\n"), "check audit.yaml", says="a key must be a word"),
    Attack(
        "a key that is a bomb",
        holds(CONFIG, f"? {'[' * 50}1{']' * 50}\n: 3\n"),
        "check audit.yaml",
        says="a key must be a word",
    ),
    Attack(
        "a key of commands",
        said(CONFIG, "samples", f"{json.dumps(EVIL.replace(chr(0xD800), ''))}: 1\nsamples"),
        "check audit.yaml",
        says="unknown key",
    ),
    Attack("10 MB of YAML", holds(CONFIG, "- a\n" * 2_500_000), "check audit.yaml", says="bytes"),
    Attack("4 MB of YAML", holds(CONFIG, "- a\n" * 1_000_000), "check audit.yaml"),
    Attack("a number of a million digits", said(CONFIG, "500", "9" * 10**6), "check audit.yaml", says="samples"),
    Attack("1e999 outputs", said(CONFIG, "500", "1e999"), "check audit.yaml", says="samples"),
    Attack("a version in hexadecimal", said(CONFIG, "version: 1", "version: 0x1"), "check audit.yaml", (0, 2)),
    Attack("a version that is true", said(CONFIG, "version: 1", "version: true"), "check audit.yaml", (0, 2)),
    Attack("a pipe as configuration", is_(CONFIG, os.mkfifo), "check audit.yaml", says="a pipe"),
    Attack(
        "a mechanism of commands",
        said(CONFIG, "theirs.py:noisy", json.dumps("theirs.py:" + EVIL[:-4]).strip('"')),
        "check audit.yaml",
    ),
    Attack("two documents", said(CONFIG, "samples", "---\nsamples"), "check audit.yaml"),
    Attack("a data set nested 500 times", said(CONFIG, "left: 0", f"left: {'[' * 500}{']' * 500}"), "check audit.yaml"),
]


HIDDEN = re.compile(r"[^\n -~\xa0-\U0010ffff]|[\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_an_attack_ends_as_stated(attack: Attack, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    attack.spoil(folder)
    with in_time():
        status = main(attack.command.split(" "))
    out, told = capfd.readouterr()
    assert status in attack.statuses, told
    assert attack.says in told + out
    assert "Traceback" not in told, told
    assert status != 2 or re.fullmatch("auditor: .*\n", told), told
    assert not HIDDEN.search(out + told)
    assert not executed(folder)


def test_the_honest_files_are_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So that it is the spoilt place that is refused."""
    for command in (
        f"show {REPORT}",
        "replay kept",
        f"replay kept --check {REPORT}",
        f"check-proof {PROOF}",
        SCORES,
        "check audit.yaml",
    ):
        assert main(command.split(" ")) == 0, command
    assert "Traceback" not in capsys.readouterr().err
