"""Read third-party files and texts, within limits on size and nesting."""

import itertools
import json
import math
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

from auditor.errors import InvalidInputError

# JSON is nested at most DEEPEST deep, since readers recurse. An integer has at most LONGEST_NUMBER digits.
DEEPEST, LONGEST_NUMBER = 100, 4_300
_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def require_file(path: Path) -> None:
    """Raise InvalidInputError unless a path is a regular file. A pipe might never end.

    A path below /dev is allowed too, since a shell hands over the output of another command under such a path.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise _unread(path, getattr(error, "strerror", None) or error) from None
    if not (stat.S_ISREG(mode) or path.is_relative_to("/dev")):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"
        raise _unread(path, f"it is {kind}; name a file")


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a file. Raises InvalidInputError if the file is unreadable or has over ``most`` bytes."""
    require_file(path)
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise _unread(path, error.strerror) from None
    if len(content) > most:
        raise _unread(path, f"it has more than {most:,} bytes, the limit for such a file")
    return content


def read_text(path: Path, most: int) -> str:
    """Return the text of a file. Raises InvalidInputError as ``read_bytes``, and with the place of a byte that is not UTF-8."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unread(path, f"byte {error.start + 1} is not text in UTF-8") from None


def read_json(path: Path, most: int, what: str) -> Any:
    """Return the data of a JSON file. Raises InvalidInputError as ``read_text``, and says "not ``what``" if it is not JSON."""
    text = read_text(path, most)
    try:
        return parse_json(text)
    except ValueError as error:
        raise InvalidInputError(f"{path} is not {what}: it is not JSON ({error})") from None


def parse_json(text: str) -> Any:
    """Return the data of a JSON text.

    Raises ValueError, with the place or the limit, if the text is not JSON, is nested too deeply, repeats a key in one
    object, or has a number with too many digits.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    require_shallow(text.encode("utf-8", "replace"))
    return json.loads(text, object_pairs_hook=with_unique_keys, parse_int=_integer)


def require_shallow(text: bytes, deepest: int = DEEPEST) -> None:
    """Raise ValueError if lists and objects of a JSON text are nested more than ``deepest`` deep."""
    if text.count(b"[") + text.count(b"{") > deepest:
        without_texts = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text)
        steps = (1 if bracket in b"[{" else -1 for bracket in re.findall(rb"[\[\]{}]", without_texts))
        if max(itertools.accumulate(steps), default=0) > deepest:
            raise ValueError(f"lists and objects are nested more than {deepest} deep")


def with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dict of keys and values. Raises ValueError if a key appears twice, since readers disagree on its value."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f'the key "{twice}" appears twice in one object')
    return mapping


def floats_as_words(value: Any) -> Any:
    """Return plain data with the words "Infinity", "-Infinity" and "NaN" for the numbers that JSON lacks."""
    if isinstance(value, dict):
        return {key: floats_as_words(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [floats_as_words(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return next(word for word, number in _WORDS.items() if str(number) == str(value))
    return value


def words_as_floats(value: Any) -> Any:
    """Return data with numbers in place of the words of ``in_words``."""
    if isinstance(value, list):
        return [words_as_floats(item) for item in value]
    if isinstance(value, dict):
        return {key: words_as_floats(item) for key, item in value.items()}
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"a number has {len(digits):,} digits, and {LONGEST_NUMBER:,} are the limit")
    return int(digits)


def _unread(path: Path, why: object) -> InvalidInputError:
    return InvalidInputError(f"{path} cannot be read: {why}")
