"""Files and programs made to break the program that reads them. Each ends as stated, in time, and with one sentence if it
is refused.

These would run code, fill the memory, never end, or lie about their content. Files corrupted at random are in
`test_fuzzed_files.py`; the tests of each reader say what it refuses.
"""

import contextlib
import io
import json
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
from honest_files import CONFIG, HAS_PROVER, MANIFEST, OUTPUTS, PROOF, REPORT, in_time, make_honest_files

from auditor.cli import main


@dataclass(frozen=True)
class Attack:
    """The change to a folder's files, the command, and how it must end."""

    name: str
    spoil: Callable[[Path], object]
    command: str
    statuses: tuple[int, ...] = (2,)
    says: str = ""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of every kind that this program writes."""
    folder = tmp_path_factory.mktemp("honest")
    make_honest_files(folder)
    return folder


@pytest.fixture
def folder(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "copy"
    shutil.copytree(honest, copy)
    monkeypatch.chdir(copy)
    return copy


# --- Ways to corrupt files ---


def holds(file: str, content: bytes | str) -> Callable[[Path], object]:
    """Replace a file's content."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return lambda folder: (folder / file).write_bytes(raw)


def with_(file: str, *way: Any, value: Any) -> Callable[[Path], object]:
    """Replace the value at a place in a JSON file."""

    def spoil(folder: Path) -> None:
        data = json.loads((folder / file).read_text(encoding="utf-8"))
        inner = data
        for step in way[:-1]:
            inner = inner[step]
        inner[way[-1]] = value
        (folder / file).write_text(json.dumps(data), encoding="utf-8")

    return spoil


def said(file: str, old: str, new: str) -> Callable[[Path], object]:
    """Replace one occurrence of a text in a file."""

    def spoil(folder: Path) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_bytes(text.replace(old, new, 1).encode("utf-8", "surrogatepass"))

    return spoil


def is_(file: str, kind: Callable[[Path], object]) -> Callable[[Path], object]:
    """Replace a file by something else."""

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
    """Change the record of each batch, after the digest of its pair."""

    def spoil(folder: Path) -> None:
        with contextlib.closing(sqlite3.connect(folder / OUTPUTS)) as file, file:
            for audit, name, outputs in file.execute("SELECT audit, name, seen FROM batches").fetchall():
                file.execute("UPDATE batches SET seen = ? WHERE audit = ? AND name = ?", (change(outputs), audit, name))

    return spoil


def rezipped(change: Callable[[str, bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change the members of a batch's archive."""

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
    """Change a batch's metadata."""

    def spoil(name: str, content: bytes) -> bytes:
        if name != "meta.npy":
            return content
        said = json.loads(np.load(io.BytesIO(content)).tobytes())
        for side in ("left", "right"):
            said["sides"][side].update(change)
        return array(np.frombuffer(json.dumps(said).encode(), np.uint8))

    return spoil


def one_row_for(size: int) -> Callable[[str, bytes], bytes]:
    """Keep one row of a batch whose metadata states ``size`` rows."""

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
DEEP = 10**5

ZEROS, TAG = "/dev/zero", "!!python/object/apply:os.system ['touch executed']"
NOBODY_HAS = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"
ENDLESS = asked(
    "ALTER TABLE batches RENAME TO b",
    "CREATE VIEW batches AS WITH RECURSIVE c(audit) AS (SELECT 1 UNION ALL SELECT 1 FROM c) "
    "SELECT audit, 'x' AS name, x'' AS left_keys, x'' AS right_keys, x'' AS seen FROM c",
)
RAISES = asked('UPDATE notes SET content = CAST(\'{"raised": ["SystemExit", "x"]}\' AS BLOB)')
# Arrays of a batch that claim 16 GiB or 8 TB, or contain code.
LARGE = rezipped(lambda name, content: b"\0" * (1 << 22) if name == "left 0 numbers.npy" else content)
PROMISED = rezipped(lambda name, content: content if name == "meta.npy" else npy(NOBODY_HAS))
PICKLE = rezipped(lambda name, content: content if name == "meta.npy" else array(np.array([Pickled()], object)))


def zipped(folder: Path) -> None:
    """Write an archive with a gigabyte of zeros under the name of an array."""
    np.savez_compressed(folder / "a.npz", a=np.zeros(1 << 24))
    (folder / "a.npz").rename(folder / "inside.npy")


def on(command: str, *attacks: tuple[Any, ...], statuses: tuple[int, ...] = (2,)) -> list[Attack]:
    """Return attacks on the files that one command reads: name, change, and expected message."""
    return [Attack(name, spoil, command, statuses, *says) for name, spoil, *says in attacks]


ATTACKS = [
    *on(
        "replay kept",
        ("an override that runs code", with_(MANIFEST, "overrides", value={"runs_code": True}), "manifest"),
        ("outputs that are zeros", is_(OUTPUTS, lambda at: at.symlink_to(ZEROS)), "cannot be read"),
        ("a view that never ends", ENDLESS, "other tables"),
        ("a note that raises", RAISES),
        ("zeros of 16 GiB in an archive", kept(LARGE)),
        ("a header that promises 8 TB", kept(PROMISED)),
        ("one output that stands for 10¹⁵", kept(rezipped(one_row_for(10**15)))),
        ("fewer outputs than were asked for", kept(rezipped(one_row_for(1))), "2 outputs where 125 were drawn"),
        ("a pickle in an archive", kept(PICKLE), "allow_pickle"),
    ),
    *on(
        "replay kept",
        ("a manifest that names a file elsewhere", with_(MANIFEST, "configuration", value="../../../audit.yaml")),
        statuses=(0,),
    ),
    *on(
        f"check-proof {PROOF}",
        ("a power that fills the memory", with_(PROOF, "claim", value={"epsilon": "1e999999999"})),
        statuses=(1, 2),
    ),
    *on(
        f"check-proof --retrace {PROOF}",
        ("a retraced mechanism that is a command", with_(PROOF, "mechanism", value="os:abort")),
        statuses=(1, 2),
    ),
    *on(
        SCORES,
        ("a shape beyond the file", holds("inside.npy", npy(NOBODY_HAS)), "no whole file of numbers"),
        ("a header that is code", holds("inside.npy", npy("__import__('pathlib').Path('executed').touch()"))),
        (
            "objects",
            lambda folder: np.save(folder / "inside.npy", np.array([Pickled()], object)),
            "no whole file of numbers",
        ),
        ("an archive of a gigabyte of zeros", zipped),
    ),
    *on(CSV, ("a quote that never ends", holds("inside.csv", 'a\n"' + "1\n" * 10**5))),
    *on(
        "check audit.yaml",
        ("deep indents", holds(CONFIG, "".join(" " * i + "a:\n" for i in range(1400))), "deep"),
        ("a tag that runs a command", said(CONFIG, "samples: 500", f"samples: {TAG}"), "the tag"),
        ("a key that is a bomb", holds(CONFIG, f"? {'[' * 50}1{']' * 50}\n: 3\n"), "a key must be a word"),
        ("10 MB of YAML", holds(CONFIG, "- a\n" * 2_500_000), "bytes"),
    ),
]


HIDDEN = re.compile(r"[^\n -~\xa0-\U0010ffff]|[\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
def test_an_attack_ends_as_stated(attack: Attack, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if "check-proof" in attack.command:
        pytest.importorskip("dp_prover")
    attack.spoil(folder)
    with in_time():
        status = main(attack.command.split(" "))
    out, printed = capfd.readouterr()
    assert status in attack.statuses, printed
    assert attack.says in printed + out
    assert "Traceback" not in printed, printed
    assert status != 2 or re.fullmatch("auditor: .*\n", printed), printed
    assert not HIDDEN.search(out + printed)
    assert not executed(folder)


def test_the_honest_files_are_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """This shows that the other tests are refused for the corrupted place, and not for the file as such."""
    for command in (
        f"show {REPORT}",
        "replay kept",
        f"replay kept --check {REPORT}",
        *([f"check-proof {PROOF}"] if HAS_PROVER else []),
        SCORES,
        "check audit.yaml",
    ):
        assert main(command.split(" ")) == 0, command
    assert "Traceback" not in capsys.readouterr().err
