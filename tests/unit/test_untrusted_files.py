"""Untrusted files: what is refused before anything is built, and with which message."""

import json
import os
import re
import socket
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.errors import AuditorError, InvalidInputError, visible
from auditor.untrusted_files import DEEPEST, LONGEST_NUMBER, parse_json, read_bytes, read_json, require_shallow

MOST = 10_000


def reading(path: Path) -> str:
    """Return why a file is not read."""
    with pytest.raises(InvalidInputError) as caught:
        read_json(path, MOST, "a list of names")
    return str(caught.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a list of names: it is not JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"[1,\xff]", "cannot be read: byte 4 is not text in UTF-8"),
        (b" " * (MOST + 1), "cannot be read: it has more than 10,000 bytes, the limit for such a file"),
        (b"[" * MOST, "is not a list of names: it is not JSON (lists and objects are nested more than 100 deep)"),
        (
            b'{"a": {"b": 1, "b": 2}}',
            'is not a list of names: it is not JSON (the key "b" appears twice in one object)',
        ),
        (b"9" * 4301, "is not a list of names: it is not JSON (a number has 4,301 digits, and 4,300 are the limit)"),
    ],
)
def test_each_error_names_the_file_the_place_and_the_limit(content: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content)
    assert reading(tmp_path / "a.json") == f"FILE {why}"


def test_what_is_not_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert reading(tmp_path / "gone") == "there is no file FILE"
    assert reading(tmp_path) == "FILE cannot be read: it is a folder; name a file"
    assert reading(tmp_path / "pipe") == "FILE cannot be read: it is a pipe, a socket or a device; name a file"
    assert reading(Path("a\0b")) == "FILE cannot be read: embedded null byte"
    assert reading(tmp_path / ("a" * 300)) == "FILE cannot be read: File name too long"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        assert reading(tmp_path / "s") == "FILE cannot be read: it is a pipe, a socket or a device; name a file"


def test_a_device_is_read_up_to_the_limit() -> None:
    assert read_bytes(Path("/dev/null"), 10) == b""
    assert reading(Path("/dev/zero")) == "FILE cannot be read: it has more than 10,000 bytes, the limit for such a file"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_what_json_holds_is_read_as_it_is(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value


def test_brackets_in_a_text_are_not_counted() -> None:
    text = '["' + "[" * 500 + '\\"{", "]"]'
    assert parse_json(text) == ["[" * 500 + '"{', "]"]
    require_shallow(b"[" * DEEPEST + b"]" * DEEPEST)
    require_shallow(b"[1], " * 1000)
    with pytest.raises(ValueError, match="more than 100"):
        require_shallow(b"[" * (DEEPEST + 1) + b'"]"')


def test_the_largest_numbers_are_read() -> None:
    assert parse_json("9" * LONGEST_NUMBER) == 10**LONGEST_NUMBER - 1
    assert parse_json("1e999999999") == float("inf")


def test_texts_are_looked_at_in_time_in_proportion_to_their_length() -> None:
    begun = time.perf_counter()
    for text in (b"[" * 10**6, b'"\\' * 10**6, b'"[' * 10**6, b'["' + b"\\" * 10**6, b"[]" * 10**6):
        try:
            parse_json(text.decode())
        except ValueError:
            continue
        raise AssertionError
    assert time.perf_counter() - begun < 20


@given(st.text())
def test_shown_text_is_one_line_without_what_cannot_be_seen(text: str) -> None:
    shown = visible(text)
    assert re.sub(r"\s", " ", shown).isprintable()
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    assert visible(shown) == shown


def test_each_argument_of_an_error_is_a_line() -> None:
    assert str(AuditorError("one", "two")) == "one\ntwo"
