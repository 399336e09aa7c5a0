"""Data as JSON, and files written as a whole: a temporary file replaces the old one."""

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from auditor.untrusted_files import floats_as_words

# Control characters, characters that turn the direction of text or have no width, and halves of surrogate pairs.
_OBEYED = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def to_json(data: Any) -> str:
    """Return standard JSON. Infinities and NaN are strings, and a list of plain values is one line.

    Characters that a terminal obeys, or that no file can hold, are written as escapes.
    """
    text = json.dumps(floats_as_words(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    # No string of JSON holds a line break. So line breaks in an innermost list stand between its values.
    text = re.sub(r"\[\n\s*([^\[\]{}]*?)\n\s*\]", lambda match: "[" + re.sub(r"\n\s*", " ", match[1]) + "]", text)
    # A reader of JSON turns escapes back into characters.
    text = text.replace("##[", "##\\u005b")  # which GitHub obeys wherever it stands in a log
    return _OBEYED.sub(lambda match: json.dumps(match[0])[1:-1], text)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new, never a part; to a device or pipe directly."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
