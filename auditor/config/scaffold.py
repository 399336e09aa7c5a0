"""A first configuration for mechanisms: data sets are tried, one kind after another, as `auditor check` does.

The text marks each guess, and says what the first outputs were.
"""

import itertools
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from auditor.auditing.check import CHECK_SECONDS, draw_once, raised_words
from auditor.blackbox.command import LONGER
from auditor.blackbox.process import TimedOut
from auditor.config.load import load_configuration
from auditor.config.mechanism_guess import MechanismGuess, guess_of_program, guess_of_python
from auditor.errors import AuditorError, InvalidInputError, NoAnswerError, visible

GUESS = "  # a guess: set it"
# Frames with other types that are tried at most; each starts a process.
MOST_TYPES = 12


@dataclass(frozen=True, slots=True)
class FirstAudit:
    """An audit of a first configuration. ``outputs`` are words for what it drew, with a ``doubt`` about these. ``problem`` says why
    it does not pass `auditor check`; it is empty if it does. ``before`` says why the first data sets that were tried did not.
    """

    found: MechanismGuess
    neighbours: tuple[str, str]
    outputs: str = ""
    doubt: str = ""
    problem: str = ""
    before: str = ""

    @property
    def name(self) -> str:
        """The name of the audit."""
        return self.found.name

    def guesses(self) -> list[str]:
        """Return the keys that are guesses."""
        found, said = self.found, self.found.adapted
        guessed = [name for name, (_, is_guess) in found.parameters.items() if is_guess]
        guessed += ["claim"] * (not found.claim and not (said and said.claim))
        return guessed + ["neighbours"] * (not (said and said.neighbours))


@dataclass(frozen=True, slots=True)
class Scaffold:
    """The text of a configuration, and its audits."""

    text: str
    audits: tuple[FirstAudit, ...]


def scaffold(words: Sequence[str], file: Path) -> Scaffold:
    """Return a configuration, to be put in ``file``, for names "file.py:function" or "module:object", or for one command of several
    words.

    Each mechanism is called a few times to see which data sets it takes. Raises InvalidInputError for a folder that does not
    exist or cannot be written to, and for names and a command together; MechanismError if a mechanism cannot be imported.
    """
    if not file.parent.is_dir():
        raise InvalidInputError(f"the folder {file.parent} for {file.name} does not exist; make it first")
    if words[0].endswith(".py") and not os.access(words[0], os.X_OK):
        raise InvalidInputError(f"{words[0]} is a file; say which function of it is the mechanism: {words[0]}:function")
    if ":" not in words[0]:
        audits = [_tried(guess_of_program(words), file)]
    else:
        for word in words:
            if ":" not in word or word.startswith("-"):
                raise InvalidInputError(
                    f'"{word}" is no function; after a function, name others only: file.py:function, or module:function'
                )
        audits = [_tried(guess_of_python(word, file), file) for word in dict.fromkeys(words)]
    return Scaffold(_text(audits), tuple(audits))


def _tried(found: MechanismGuess, file: Path) -> FirstAudit:
    """Return the first guess at the data sets that passes `auditor check`; if none does, the best known one."""
    best = FirstAudit(found, found.neighbours[0])
    frame = found.frame
    try:
        while frame is not None:
            best = _look(FirstAudit(found, frame.neighbours()), file)
            known, frame = frame, frame.after(best.problem)
            if not best.problem:
                return best
        others = [*itertools.islice(known.others(), MOST_TYPES)] if found.frame else []
        for neighbours in [*(other.neighbours() for other in others), *found.neighbours]:
            tried = _look(FirstAudit(found, neighbours), file)
            if not tried.problem:
                return replace(tried, before=best.problem)
            best = best if best.problem else tried
    except NoAnswerError as error:  # each wait costs time, and another data set is unlikely to help
        return replace(best, problem=best.problem or str(error))
    return best


def _look(audit: FirstAudit, file: Path) -> FirstAudit:
    """Return the audit with its first outputs; or with the reason why it fails `auditor check`, or why these suggest other data
    sets.
    """
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".first-", suffix=".yaml")
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            written.write(_text([audit]))
        [plan] = load_configuration(Path(name)).plans
        first = draw_once(plan)
        doubt = first.doubt()
    except NoAnswerError:
        raise
    except AuditorError as error:
        return replace(audit, problem=str(error).replace(name, str(file)))
    finally:
        Path(name).unlink()
    for failure in first.failures:
        if isinstance(failure, TimedOut):
            raise NoAnswerError(f"on a first data set the mechanism gave no answer in {CHECK_SECONDS:g} s{LONGER}")
        problem = f"on a first data set the mechanism raises {raised_words(failure)}"
        return replace(audit, problem=f"{problem}; write data sets that it takes under `neighbours`")
    pairs = ((first.left, first.pair.left), (first.right, first.pair.right))
    sizes = [(_length(output), _length(data)) for output, data in pairs]
    if all(answer == records is not None for answer, records in sizes) and len(set(sizes)) > 1:
        problem = "it returns one number for each record of the data set, which reveals their number"
        return replace(audit, problem=problem)
    return replace(audit, outputs=str(first), doubt=doubt)


def _length(data: Any) -> int | None:
    return len(data) if hasattr(data, "__len__") and not isinstance(data, str) else None


def _text(audits: Sequence[FirstAudit]) -> str:
    import jinja2

    template = files("auditor.config").joinpath("audit.yaml.jinja").read_text(encoding="utf-8")
    reader = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    return reader.from_string(template).render(audits=audits, yaml=_yaml, said=visible, claim=_claim, guess=GUESS)


def _claim(audit: FirstAudit) -> str:
    numbers = (audit.found.claim or {"epsilon": 1.0}).items()
    return f"{{{', '.join(f'{key}: {_yaml(value)}' for key, value in numbers)}}}"


def _yaml(value: Any) -> str:
    """Return a value in YAML: as JSON, which is YAML, but words without quotes."""
    if isinstance(value, str) and value.isidentifier() and value.lower() not in ("true", "false", "null"):
        return value
    return json.dumps(value, ensure_ascii=False)
