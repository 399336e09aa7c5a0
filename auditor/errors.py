"""The errors of the package. Every message gives the name, the value, what is allowed and what to do."""

import difflib
import hashlib
import math
import re
import shutil
import textwrap
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from typing import TextIO


class AuditorError(Exception):
    """The root of every error this package raises on purpose. The message has a line for each argument."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


class InvalidInputError(AuditorError, ValueError):
    """A claim, domain, pair, option or configuration that is not valid."""


class MechanismError(AuditorError):
    """A mechanism that cannot be imported, called or understood. An exception that a mechanism raises is an output, not this."""


class CodeError(InvalidInputError, MechanismError):
    """Foreign code that raised at a place where an exception is not an output."""


class NoAnswerError(MechanismError):
    """A mechanism that did not respond."""


class WorkerLostError(MechanismError):
    """A worker died in a mechanism. With ``isolate``, the audit restarts and gives each mechanism its own process."""


class OverdueError(MechanismError):
    """The time limit of an audit passed while a call had not answered. The call was ended, and is no output."""


class MachineError(AuditorError):
    """The machine cannot keep the data of an audit: the disk is full, a limit is reached, or a folder cannot be written."""


def visible(text: object, most: int | None = None) -> str:
    """Replace characters that are invisible, or cannot be written to a file, by escapes, and line breaks by spaces.

    Text from outside passes through here before a person or another program reads it. It is cut to ``most`` letters.

    >>> visible("a\\x00b\\nc\\ud800"), visible("abc", most=1)
    ('a\\\\x00b c\\\\ud800', 'a… (3 letters)')
    """
    # Unicode's categories of control, format, surrogate, private and unassigned characters, and of separators.
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    whole = str(text)
    shown = "".join(
        " " if c in "\n\t" else c.encode("unicode_escape").decode() if unicodedata.category(c) in hidden else c
        for c in whole[:most]
    )
    return shown if most is None or len(whole) <= most else f"{shown}… ({len(whole):,} letters)"


# What GitHub removes from the start of a line, and the colours of a terminal.
BLANK = r"(?:\s|\x1b\[[0-9;]*m?)*"
_COMMAND = re.compile(rf"((?:^|[\r\n]){BLANK}:):|(##)\[")


def without_commands(text: str) -> str:
    r"""Return text without lines that GitHub obeys: the letter that makes a line a command is written as an escape.

    >>> print(without_commands("a::b\n  ::warning::x\n##[group]c"))
    a::b
      :\x3awarning::x
    ##\x5bgroup]c
    """
    return _COMMAND.sub(lambda match: f"{match[1]}\\x3a" if match[1] else f"{match[2]}\\x5b", text)


def how_many(number: float, what: str) -> str:
    """Write a number of things.

    >>> how_many(1, "row"), how_many(1_000, "output"), how_many(0, "canary"), how_many(2, "process")
    ('1 row', '1,000 outputs', '0 canaries', '2 processes')
    """
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"


def short(text: str) -> str:
    """Return a text without addresses in memory, which differ from run to run. Texts over 60 characters are hashed."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    return text if len(text) <= 60 else hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def false_alarms(error: float, of: str) -> str:
    """Say how rare false alarms are, if each run (or what ``of`` names) has one with probability at most ``error``.

    >>> false_alarms(1 - 0.999, "run"), false_alarms(0.03, "session")
    ('a false alarm in at most 1 of 1,000 runs', 'a false alarm in at most 1 of 33 sessions')
    """
    # Rounded down, so that the sentence is true. A double just below a whole number counts as that number.
    return f"a false alarm in at most 1 of {how_many(math.floor(round(1 / error, 6)), of)}"


def duration(seconds: float) -> str:
    """Write a time in seconds, minutes or hours.

    >>> duration(0.2), duration(200.4), duration(39_398)
    ('1 s', '200 s', '11 h')
    """
    size, unit = (3600, "h") if seconds >= 7200 else (60, "min") if seconds >= 600 else (1, "s")
    return f"{max(1, seconds / size):,.0f} {unit}"


def fitted(text: str, stream: TextIO) -> str:
    """Wrap a line to the width of the terminal. Leave it whole if the stream is a file or another program."""
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return a sentence with the allowed names. If one of them is near ``name``, the sentence suggests it first.

    >>> did_you_mean("epsilom", ["epsilon", "delta"])
    'did you mean "epsilon"? Allowed: delta, epsilon'
    >>> did_you_mean("zzz", ["epsilon", "delta"])
    'allowed: delta, epsilon'
    """
    names = sorted(allowed)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    listing = ", ".join(names)
    return f'did you mean "{near[0]}"? Allowed: {listing}' if near else f"allowed: {listing}"


def require_known(said: str, names: Iterable[object], allowed: Collection[str]) -> None:
    """Raise InvalidInputError for the first name that is not known: what is ``said`` of it, and the names that are allowed."""
    for name in names:
        if name not in allowed:
            raise InvalidInputError(f'{said} "{name}"; {did_you_mean(str(name), allowed)}')


def require_keywords(said: str, given: Mapping[str, object], allowed: Collection[str]) -> None:
    """Raise InvalidInputError as ``require_known``, and say how such an argument is passed on to the mechanism."""
    for name, value in given.items():
        if name not in allowed:
            passed = f'If the mechanism takes it, write parameters={{"{name}": {visible(repr(value), 60)}}}'
            raise InvalidInputError(f'{said} "{name}"; {did_you_mean(name, allowed)}. {passed}')


def require_number(
    name: str, value: object, low: float, high: float, *, low_open: bool = False, high_open: bool = False
) -> float:
    """Return ``value`` as a float in [low, high], without the ends that are open, or raise InvalidInputError.

    NaN, infinities and booleans are refused in any range.

    >>> require_number("epsilon", 1, 0, math.inf)
    1.0
    """
    allowed = "a finite number"
    if low > -math.inf:
        allowed += f" {'above' if low_open else 'of at least'} {low:g}"
    if high < math.inf:
        allowed += f" and {'below' if high_open else 'at most'} {high:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        instead = "; write float(…)" if isinstance(value, Real) and not isinstance(value, bool) else ""
        raise InvalidInputError(f"{name} is {value!r}; it must be {allowed}{instead}")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond every float
        number = math.inf
    is_inside = low <= number <= high and not (low_open and number == low) and not (high_open and number == high)
    if not (math.isfinite(number) and is_inside):
        raise InvalidInputError(f"{name} is {value!r}; it must be {allowed}")
    return number
