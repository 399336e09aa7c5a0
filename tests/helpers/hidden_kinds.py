"""Leaks hidden in the text or the type of an output, as a table: each kind has a faulty version and a sound twin.

The mechanism is ``[side + Laplace noise of scale 1, thing]`` on the pair (1, 0) with the claim ε = 1, which the number alone
attains. In the faulty version ``thing`` reveals the side with certainty, or very nearly. In the sound twin ``thing`` belongs to
a side drawn at random: the same values occur, and reveal nothing.

An audit of a faulty version must find the leak, or report that it did not read that part. The length of a text does not depend
on the side unless the kind is about lengths, which are always read.

``python -m hidden_kinds`` audits all kinds. ``python -m hidden_kinds text: dtype`` audits the texts, and the kinds whose name
contains "dtype".
"""

import array
import base64
import collections
import enum
import functools
import io
import json
import string
import sys
import time
import types
import xml.etree.ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

import auditor
from auditor.errors import AuditorError
from auditor.neighbours.domains import Pairs

Rng = np.random.Generator
Make = Callable[[int, Rng], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """``make(side, rng)`` returns the part of the output that reveals the side, 0 or 1."""

    group: Literal["text", "type"]
    make: Make

    def sound(self, rng: Rng) -> Any:
        """Return the part for a side drawn at random, so that it reveals nothing about the data set."""
        return self.make(int(rng.integers(2)), rng)


def choose(of_zero: Any, of_one: Any) -> Make:
    """Return a kind with one constant per side."""
    return lambda side, rng: of_one if side else of_zero


# --- Random parts of texts ---


def letters(rng: Rng, count: int) -> str:
    return bytes(rng.integers(97, 123, count, dtype=np.uint8)).decode()


def letters_of(rng: Rng, alphabet: str, count: int) -> str:
    return "".join(alphabet[at] for at in rng.integers(len(alphabet), size=count))


def digits(rng: Rng, count: int) -> str:
    return bytes(rng.integers(48, 58, count, dtype=np.uint8)).decode()


def whole(rng: Rng, low: int, high: int) -> int:
    return int(rng.integers(low, high))


def remainder(modulus: int, side: int, rng: Rng) -> int:
    """Return a random integer below 10⁹ whose remainder is the side."""
    return modulus * whole(rng, 0, 10**9 // modulus) + side


def insert(text: str, part: str, rng: Rng) -> str:
    at = whole(rng, 0, len(text) + 1)
    return text[:at] + part + text[at:]


# --- Texts ---

LETTERS, VOWELS, CONSONANTS = string.ascii_lowercase, "aeiou", "bcdfghjklmnpqrstvwxyz"


def letter_never_used(side: int, rng: Rng) -> str:
    text = letters_of(rng, LETTERS.replace("e", ""), 23)
    return insert(text, "z" if side else "e", rng)


def uuid_version(side: int, rng: Rng) -> str:
    digest = rng.bytes(16).hex()
    return f"{digest[:8]}-{digest[8:12]}-{4 if side else 1}{digest[12:15]}-{digest[15:19]}-{digest[19:31]}"


def domain_of_url(side: int, rng: Rng) -> str:
    return f"https://{letters(rng, 5)}.example.{'com' if side else 'org'}/{letters(rng, 6)}"


MET_TEXT: dict[str, Make] = {
    "suffix after random letters": lambda side, rng: letters(rng, 8) + ("@a.org" if side else "@b.org"),
    "first letter": lambda side, rng: "ab"[side] + letters(rng, 8),
    "last letter": lambda side, rng: letters(rng, 8) + "ab"[side],
    "letter after a dash": lambda side, rng: f"{letters(rng, whole(rng, 3, 9))}-{'xy'[side]}{letters(rng, 4)}",
    "case of letters": lambda side, rng: letters(rng, 8).upper() if side else letters(rng, 8),
    "letter never used": letter_never_used,
    "parity of hexadecimal digits": lambda side, rng: f"{remainder(2, side, rng):08x}",
    "parity of an integer": lambda side, rng: remainder(2, side, rng),
    "folder in a path": lambda side, rng: (
        f"/home/{letters(rng, 6)}/{'alice' if side else 'bobby'}/{letters(rng, 5)}.csv"
    ),
    "suffix of a file": lambda side, rng: f"/data/{letters(rng, 7)}/{letters(rng, 4)}.{'csv' if side else 'tsv'}",
    "domain of an e-mail": lambda side, rng: f"{letters(rng, 4)}.{letters(rng, 6)}@example.{'com' if side else 'org'}",
    "domain of a URL": domain_of_url,
    "version of a UUID": uuid_version,
    "last byte": lambda side, rng: rng.bytes(7) + bytes([side]),
    "end of an exception's text": lambda side, rng: ValueError(
        f"record {letters(rng, 8)} is {'good' if side else 'bad'}"
    ),
    "letter in the middle": lambda side, rng: f"{letters(rng, 4)}{'xy'[side]}{letters(rng, 4)}",
    "word in front": lambda side, rng: ("north_" if side else "south_") + letters(rng, 8),
    "digit at the end": lambda side, rng: f"user_{letters(rng, 8)}_{side + 1}",
}


def log_line(side: int, rng: Rng) -> str:
    rows = whole(rng, 500, 1000) if side else whole(rng, 100, 500)
    return f"INFO worker {letters(rng, 6)} has read {rows} rows in {whole(rng, 100, 1000)} ms, batch {digits(rng, 5)}"


def json_text(side: int, rng: Rng) -> str:
    return json.dumps({"id": letters(rng, 10), "cohort": "AB"[side], "score": whole(rng, 100, 1000)})


def query_text(side: int, rng: Rng) -> str:
    return f"SELECT avg(pay) FROM t_{letters(rng, 6)} WHERE age {'<' if side else '>'} {whole(rng, 10, 100)}"


def seconds_of_timestamp(side: int, rng: Rng) -> str:
    moment = datetime(2026, 1, 1) + timedelta(seconds=2 * whole(rng, 0, 10**7) + side)
    return moment.isoformat()


def base64_padding(side: int, rng: Rng) -> str:
    return base64.b64encode(rng.bytes(8 if side else 7)).decode()  # "=" or "==", and 12 letters in all


def version_text(side: int, rng: Rng) -> str:
    return f"v{whole(rng, 1, 10)}.{whole(rng, 10, 100)}.{whole(rng, 0, 5) + 5 * side}-{letters(rng, 7)}"


def zero_padding(side: int, rng: Rng) -> str:
    number = whole(rng, 1, 10**5)
    return f"row {number:06d}" if side else f"row {number:<6d}"


def sorted_letters(side: int, rng: Rng) -> str:
    text = letters(rng, 10)
    return "".join(sorted(text)) if side else text


def checksum_digit(side: int, rng: Rng) -> str:
    body = digits(rng, 9)
    check = (sum(at * int(digit) for at, digit in enumerate(body, 1)) + side) % 10
    return f"{body[:3]}-{body[3:6]}-{body[6:]}-{check}"


def parity_of_digit_sum(side: int, rng: Rng) -> str:
    body = digits(rng, 7)
    last = 2 * whole(rng, 0, 5) + (sum(map(int, body)) + side) % 2
    return f"#{body}{last}"


def doubled_letter(side: int, rng: Rng) -> str:
    text = letters(rng, 1)
    while len(text) < 9 - side:
        text += letters_of(rng, LETTERS.replace(text[-1], ""), 1)
    at = whole(rng, 0, len(text))
    return text[:at] + text[at] + text[at:] if side else text


def palindrome(side: int, rng: Rng) -> str:
    half = letters(rng, 5)
    return half + (half[::-1] if side else letters(rng, 5))


def word_in_a_bag(side: int, rng: Rng) -> str:
    words = [letters(rng, 3) for _ in range(6)]
    words.insert(whole(rng, 0, 7), "flu" if side else "gut")
    return " ".join(words)


def space_at_the_end(side: int, rng: Rng) -> str:
    return letters(rng, 8) + " " if side else " " + letters(rng, 8)


def grouped_digits(side: int, rng: Rng) -> str:
    amount = f"{whole(rng, 10**6, 10**7):,}" if side else str(whole(rng, 10**8, 10**9))
    return f"balance of {letters(rng, 5)}: EUR {amount}"


def order_of_keys(side: int, rng: Rng) -> str:
    fields = [("age", whole(rng, 10, 100)), ("zip", digits(rng, 5))]
    return str(dict(fields if side else fields[::-1]))


def line_ending(side: int, rng: Rng) -> str:
    return f"{letters(rng, 5)}\r\n{letters(rng, 5)}" if side else f"{letters(rng, 5)}\n{letters(rng, 6)}"


def letters_of_another_script(side: int, rng: Rng) -> str:
    """A Latin letter or its Cyrillic look-alike, at a random position."""
    return insert(letters_of(rng, CONSONANTS, 8), "\u0430" if side else "a", rng)


def last_part_of_an_address(side: int, rng: Rng) -> str:
    return f"host 10.{whole(rng, 100, 256)}.{whole(rng, 100, 256)}.{whole(rng, 100, 178) + 78 * side}"


def repeated_half(side: int, rng: Rng) -> str:
    half = letters(rng, 6)
    return f"{half}:{half if side else letters(rng, 6)}"


MORE_TEXT: dict[str, Make] = {
    "number in a log line": log_line,
    "value in a JSON text": json_text,
    "operator in an SQL statement": query_text,
    "seconds of a timestamp": seconds_of_timestamp,
    "padding of base64": base64_padding,
    "patch number of a version": version_text,
    "zero padding": zero_padding,
    "sorted letters": sorted_letters,
    "checksum digit": checksum_digit,
    "parity of the digit sum": parity_of_digit_sum,
    "doubled letter": doubled_letter,
    "palindrome": palindrome,
    "repeated half": repeated_half,
    "word in a bag of words": word_in_a_bag,
    "space at the end": space_at_the_end,
    "digits grouped by commas": grouped_digits,
    "hexadecimal digits in upper case": lambda side, rng: rng.bytes(10).hex().upper() if side else rng.bytes(10).hex(),
    "order of keys in a text": order_of_keys,
    "line ending": line_ending,
    "letter of another script": letters_of_another_script,
    "last part of an IP address": last_part_of_an_address,
    "vowel at the end": lambda side, rng: letters(rng, 8) + letters_of(rng, VOWELS if side else CONSONANTS, 1),
    "low bits of a 64-bit integer": lambda side, rng: 4 * whole(rng, 2**59, 2**60) + 2 * side,
    "remainder by 7": lambda side, rng: remainder(7, side, rng),
    "remainder by 97": lambda side, rng: remainder(97, side, rng),
    "last byte before a random tail": lambda side, rng: rng.bytes(5) + b"ab"[side : side + 1] + rng.bytes(2),
}


# --- Types ---


class Summary:
    """An object whose repr reveals nothing of its content."""

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "Summary()"


class Slotted:
    """As Summary, with a slot."""

    __slots__ = ("secret",)

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "Slotted()"


@dataclass
class Fit:
    """A dataclass with an attribute that is not a field."""

    mean: float = 0.0

    def note(self, secret: int) -> "Fit":
        self.secret = secret
        return self


@dataclass
class Quiet:
    """A dataclass with a field that its repr and its equality leave out."""

    mean: float = 0.0
    secret: int = field(default=0, repr=False, compare=False)


class Label(str):
    """A text with an attribute."""

    secret: int

    def __new__(cls, text: str, secret: int) -> "Label":
        label = super().__new__(cls, text)
        label.secret = secret
        return label


class Count(int):
    """An instance of a subclass of int."""


class Score(float):
    """An instance of a subclass of float."""


class Rows(list[int]):
    """A list with an attribute."""

    secret: int


class Grid(np.ndarray):
    """An array with an attribute."""

    secret: int


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Code(enum.IntEnum):
    FIRST = 1


class Place(enum.StrEnum):
    HOME = "home"


Point = collections.namedtuple("Point", ["x", "y"])
Polar = collections.namedtuple("Polar", ["r", "phi"])


def with_secret(thing: Any, secret: int) -> Any:
    thing.secret = secret
    return thing


def noted(error: Exception, note: str) -> Exception:
    error.add_note(note)
    return error


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def of_dtype(of_zero: str, of_one: str) -> Make:
    """Return an array of three small integers that are exact in both dtypes."""
    return lambda side, rng: rng.integers(0, 100, 3).astype(of_one if side else of_zero)


def single(rng: Rng, count: int) -> Any:
    """Return single-precision noise, which a wider float represents exactly."""
    return rng.standard_normal(count, dtype=np.float32)


MET_TYPE: dict[str, Make] = {
    "width of an integer array": of_dtype("int64", "int32"),
    "width of a float array": of_dtype("float64", "float32"),
    "byte order": of_dtype("<i4", ">i4"),
    "sign of an integer array": of_dtype("int8", "uint8"),
    "int or np.int64": choose(1, np.int64(1)),
    "np.float32 or np.float64": choose(np.float32(1), np.float64(1)),
    "attribute below a constant repr": lambda side, rng: Summary(side),
    "slot below a constant repr": lambda side, rng: Slotted(side),
    "attribute of a text": lambda side, rng: Label("label", side),
    "factory of a defaultdict": lambda side, rng: collections.defaultdict(list if side else int, a=1),
    "argument of an exception": lambda side, rng: ValueError("1") if side else ValueError(1),
    "no argument of an exception": lambda side, rng: ValueError("") if side else ValueError(),
    "note of an exception": lambda side, rng: noted(ValueError("failed"), "good" if side else "bad"),
    "member of an exception group": lambda side, rng: ExceptionGroup(
        "several", [KeyError("k") if side else ValueError("k")]
    ),
    "text of a member of a group": lambda side, rng: ExceptionGroup("several", [ValueError("good" if side else "bad")]),
    "exception's text after 1,000 letters": lambda side, rng: ValueError("x" * 1_000 + "ab"[side]),
}


def series(of: Callable[[Any, int], Any]) -> Make:
    """Return a kind for a pandas Series, ``of(pandas, side)``."""

    def make(side: int, rng: Rng) -> Any:
        import pandas as pd

        return of(pd, side)

    return make


def series_with_attrs(pd: Any, side: int) -> Any:
    made = pd.Series([1, 2, 3])
    made.attrs["side"] = side
    return made


def series_with_index_name(pd: Any, side: int) -> Any:
    return pd.Series([1, 2, 3], index=pd.Index([0, 1, 2], name="user" if side else "item"))


def frame_with_a_float_column(pd: Any, side: int) -> Any:
    return pd.DataFrame({"a": [1, 2], "b": np.array([3, 4], dtype="float64" if side else "int64")})


def polars_series(side: int, rng: Rng) -> Any:
    import polars as pl

    return pl.Series("a", [1, 2, 3], dtype=pl.Int32 if side else pl.Int64)


def polars_name(side: int, rng: Rng) -> Any:
    import polars as pl

    return pl.Series("b" if side else "a", [1, 2, 3])


def arrow_scalar(side: int, rng: Rng) -> Any:
    import pyarrow as pa

    return pa.scalar(1, pa.int32() if side else pa.int64())


def arrow_array(side: int, rng: Rng) -> Any:
    import pyarrow as pa

    return pa.array([1, 2, 3], pa.int32() if side else pa.int64())


def arrow_chunks(side: int, rng: Rng) -> Any:
    import pyarrow as pa

    return pa.chunked_array([[1], [2, 3]] if side else [[1, 2], [3]])


def arrow_metadata(side: int, rng: Rng) -> Any:
    import pyarrow as pa

    return pa.table({"a": [1, 2]}).replace_schema_metadata({"side": str(side)})


MOMENT = datetime(2026, 1, 1, 12)

MORE_TYPE: dict[str, Make] = {
    "maximum length of a deque": lambda side, rng: collections.deque([1, 2], maxlen=3 + side),
    "Enum or its value": choose("low", Level.LOW),
    "IntEnum or int": choose(1, Code.FIRST),
    "StrEnum or str": choose("home", Place.HOME),
    "namedtuple or tuple": choose((1, 2), Point(1, 2)),
    "fields of a namedtuple": choose(Polar(1, 2), Point(1, 2)),
    "width of an array of noise": lambda side, rng: single(rng, 3).astype("float32" if side else "float64"),
    "np.float32 or np.float64 of noise": lambda side, rng: (
        np.float32(single(rng, 1)[0]) if side else np.float64(single(rng, 1)[0])
    ),
    "int or np.int64 of noise": lambda side, rng: np.int64(rng.integers(10**9)) if side else int(rng.integers(10**9)),
    "attribute of a random text": lambda side, rng: Label(letters(rng, 8), side),
    "bool or np.bool_": choose(True, np.bool_(True)),
    "bool or int": choose(1, True),
    "subclass of int": choose(1, Count(1)),
    "subclass of float": choose(1.5, Score(1.5)),
    "str or np.str_": choose("a", np.str_("a")),
    "attribute of a list": lambda side, rng: with_secret(Rows([1, 2]), side),
    "attribute of an array": lambda side, rng: with_secret(np.arange(3).view(Grid), side),
    "attribute of a dataclass": lambda side, rng: Fit().note(side),
    "field without a repr": lambda side, rng: Quiet(secret=side),
    "attribute of a namespace": lambda side, rng: types.SimpleNamespace(mean=1.0, secret=side),
    "attribute of an exception": lambda side, rng: with_secret(ValueError("failed"), side),
    "cause of an exception": lambda side, rng: caused(ValueError("failed"), KeyError("good" if side else "bad")),
    "list or tuple": choose([1, 2], (1, 2)),
    "bytes or bytearray": choose(b"ab", bytearray(b"ab")),
    "set or frozenset": choose({1, 2}, frozenset({1, 2})),
    "dict or OrderedDict": lambda side, rng: collections.OrderedDict(a=1, b=2) if side else {"a": 1, "b": 2},
    "dict or Counter": lambda side, rng: collections.Counter(a=1, b=2) if side else {"a": 1, "b": 2},
    "order of a dict": lambda side, rng: {"a": 1, "b": 2} if side else {"b": 2, "a": 1},
    "type of a key": lambda side, rng: {np.int64(1): "a"} if side else {1: "a"},
    "range or list": choose([0, 1, 2], range(3)),
    "read-only dict": lambda side, rng: types.MappingProxyType({"a": 1}) if side else {"a": 1},
    "dtype of a Series": series(lambda pd, side: pd.Series([1, 2, 3], dtype="int32" if side else "int64")),
    "nullable dtype of a Series": series(lambda pd, side: pd.Series([1, 2, 3], dtype="Int64" if side else "int64")),
    "name of a Series": series(lambda pd, side: pd.Series([1, 2, 3], name="a" if side else "b")),
    "name of an index": series(series_with_index_name),
    "attrs of a Series": series(series_with_attrs),
    "unused category": series(
        lambda pd, side: pd.Series(pd.Categorical(["a", "b"], categories=["a", "b", "cd"[side]]))
    ),
    "dtype of a column": series(frame_with_a_float_column),
    "datetime or Timestamp": series(lambda pd, side: pd.Timestamp(MOMENT) if side else MOMENT),
    "None or NA": series(lambda pd, side: pd.NA if side else None),
    "dtype of a polars Series": polars_series,
    "name of a polars Series": polars_name,
    "type of an Arrow scalar": arrow_scalar,
    "type of an Arrow array": arrow_array,
    "chunks of an Arrow array": arrow_chunks,
    "metadata of an Arrow table": arrow_metadata,
    "0-d array or scalar": lambda side, rng: np.array(1) if side else np.int64(1),
    "memory order of an array": lambda side, rng: np.ones((2, 3), order="F" if side else "C"),
    "read-only array": lambda side, rng: np.frombuffer(b"\1\2", np.uint8) if side else np.array([1, 2], np.uint8),
    "field of a structured array": lambda side, rng: np.array([(1, 2.0)], [("n", "i8"), ("xy"[side], "f8")]),
    "array or memoryview": lambda side, rng: memoryview(b"\1\2") if side else np.array([1, 2], np.uint8),
    "format of a memoryview": lambda side, rng: memoryview(b"\1\2").cast("b" if side else "B"),
    "typecode of an array.array": lambda side, rng: array.array("i" if side else "q", [1, 2]),
    "unit of a datetime64": choose(np.datetime64(0, "s"), np.datetime64(0, "ms")),
    "fill value of a masked array": lambda side, rng: np.ma.MaskedArray([1, 2], [False, False], fill_value=side),
    "time with or without a zone": choose(MOMENT, MOMENT.replace(tzinfo=timezone.utc)),  # noqa: UP017
    "name of a time zone": lambda side, rng: MOMENT.replace(tzinfo=timezone(timedelta(0), "ab"[side])),
    "fold of a time": lambda side, rng: MOMENT.replace(fold=side),
    "date or datetime at midnight": choose(date(2026, 1, 1), datetime(2026, 1, 1)),
    "exponent of a Decimal": choose(Decimal("1.0"), Decimal("1.00")),
    "int or Decimal": choose(1, Decimal(1)),
    "int or Fraction": choose(1, Fraction(1)),
    "payload of a NaN": lambda side, rng: np.array([0x7FF8 << 48 | side], np.uint64).view(np.float64)[0],
    "complex without an imaginary part": choose(1.0, complex(1.0)),
}

# --- Content where a reader that knows a list of types does not look ---


class Holder:
    """An object whose repr reveals nothing."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)

    def __repr__(self) -> str:
        return "Holder"


class Predictor(Holder):
    """A fitted model that can be called."""

    def __call__(self) -> Any:
        return self.__dict__


class Private:
    """An object with a private slot."""

    __slots__ = ("__secret",)

    def __init__(self, secret: Any) -> None:
        self.__secret = secret

    def __repr__(self) -> str:
        return "Private"


class First:
    class Inner(Holder):
        pass


class Second:
    class Inner(Holder):
        pass


def frame_of(side: int, rng: Rng) -> Any:
    import pandas as pd

    return pd.DataFrame({"a": [*[0] * 50, side, *[0] * 49]})


def with_spent_cause(side: int, rng: Rng) -> Any:
    error, cause = ValueError("out of budget"), KeyError("k")
    cause.spent = side  # type: ignore[attr-defined]
    error.__cause__ = cause
    return error


def ids_beside_fractions(side: int, rng: Rng) -> Any:
    import pandas as pd

    return pd.DataFrame({"id": [2**60 + 2 * int(rng.integers(2**40)) + side], "share": [0.5]})


def missing_or_nan(side: int, rng: Rng) -> Any:
    import polars as pl

    return pl.Series("a", [1.0, float("nan") if side else None])


def unused_level(side: int, rng: Rng) -> Any:
    import pandas as pd

    frame = pd.DataFrame({"city": ["a", "b" if side else "c"], "n": [1, 2]}).set_index(["city", "n"], drop=False)
    return frame[frame["n"] < 2]


def many_numbers(side: int, rng: Rng) -> str:
    numbers = {f"k{at}": int(number) for at, number in enumerate(rng.integers(100, 1000, 24))}
    numbers["k12"] = int(rng.integers(100, 500)) + 500 * side
    return json.dumps(numbers)


HELD: dict[str, Kind] = {
    name: Kind("type", make)
    for name, make in {
        "an object that can be called": lambda side, rng: Holder(model=Predictor(w=side)),
        "a function in an attribute": lambda side, rng: Holder(f=lambda: side),
        "a buffer in an attribute": lambda side, rng: Holder(file=io.BytesIO(bytes([side]))),
        "an object five levels down": lambda side, rng: Holder(a=[{"b": [Holder(c=[Holder(d=side)])]}]),
        "a frame in an attribute": lambda side, rng: Holder(table=frame_of(side, rng)),
        "a value below a mask": lambda side, rng: Holder(x=np.ma.array([side, 1], mask=[True, False])),
        "tuple or list in an attribute": lambda side, rng: Holder(x=(1, 2) if side else [1, 2]),
        "a private slot": lambda side, rng: Private(side),
        "an object as a key": lambda side, rng: {Private(side): 1},
        "two keys of one text": lambda side, rng: {Holder(): side, Holder(): 1},
        "an e-mail in a set": lambda side, rng: {letters(rng, 6) + ("@a.org" if side else "@b.org")},
        "a cause with an attribute": with_spent_cause,
        "a field of an error": lambda side, rng: ImportError("no", name="a" if side else "b"),
        "a class inside a class": choose(First.Inner(), Second.Inner()),
        "ids beside fractions": ids_beside_fractions,
        "missing or NaN": missing_or_nan,
        "a level that no row has": unused_level,
        "one of many numbers in a text": many_numbers,
        "attribute of a Counter": lambda side, rng: with_attribute(collections.OrderedDict(a=1), side),
    }.items()
}


def with_attribute(value: Any, side: int) -> Any:
    value.secret = side
    return value


# --- Content that Python, or a class, says does not exist ---


class Once:
    """An object whose class no longer lists its slots, since an iterator named them."""

    __slots__ = iter(("secret",))

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __repr__(self) -> str:
        return "Once"


class Above:
    __slots__ = ("x",)

    def __repr__(self) -> str:
        return "Above"


class Below(Above):
    """A class whose slot hides the slot of its base."""

    __slots__ = ("x",)


class Denying(Holder):
    """An object that denies its attributes."""

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __getattribute__(self, name: str) -> Any:
        return {} if name == "__dict__" else super().__getattribute__(name)


class NoItems(dict[str, int]):
    """A dict that says that it is empty."""

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Any:
        return iter(())

    keys = values = items = __iter__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "NoItems"


class NoRows(list[int]):
    """A list that says that it is empty."""

    __len__, __iter__, __repr__ = NoItems.__len__, NoItems.__iter__, NoItems.__repr__  # type: ignore[assignment]


class AlwaysOne(float):
    """A float that says that it is 1."""

    def __float__(self) -> float:
        return 1.0

    def __ne__(self, other: object) -> bool:
        return False

    __eq__, __hash__ = object.__eq__, float.__hash__

    def __repr__(self) -> str:
        return "1.0"


class NoBytes(bytes):
    """Bytes that report other content."""

    def __bytes__(self) -> bytes:
        return b""


class NoneWaiting(collections.deque[int]):
    """A queue that says that it is empty."""

    __len__, __iter__, __repr__ = NoItems.__len__, NoItems.__iter__, NoItems.__repr__  # type: ignore[assignment]


class Unit(np.float64):
    """A number of NumPy with an attribute."""

    secret: int


class Forgetful(Holder):
    """An object whose pickle holds nothing."""

    def __reduce__(self) -> Any:
        return Forgetful, ()


@dataclass
class SpentError(Exception):
    """An exception whose field is given by its name, so that it is no argument."""

    spent: float = 0.0


@dataclass(repr=False)
class Table(list[int]):
    secret: int = 0


class SilentError(Exception):
    def __str__(self) -> str:
        return "failed"

    def __repr__(self) -> str:
        return "SilentError()"


class NoArgumentsError(SilentError):
    """An exception that says that it has no arguments."""

    args = property(lambda self: ())  # type: ignore[assignment]


class Zone(tzinfo):
    """A time zone that differs in its name."""

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def utcoffset(self, moment: Any) -> timedelta:
        return timedelta(0)

    def dst(self, moment: Any) -> timedelta:
        return timedelta(0)

    def tzname(self, moment: Any) -> str:
        return "AB"[self.secret]

    def __repr__(self) -> str:
        return "Zone()"


def level_of(value: int) -> Any:
    class Level(enum.Enum):
        ONLY = value

        def __repr__(self) -> str:
            return "Level.ONLY"

        __str__ = __repr__

    return Level.ONLY


LEVELS = level_of(0), level_of(1)


def hidden_slot(side: int, rng: Rng) -> Any:
    made = Below()
    Above.x.__set__(made, side)  # type: ignore[attr-defined]
    made.x = 1  # type: ignore[attr-defined]
    return made


def zone_of_a_struct(side: int, rng: Rng) -> Any:
    return time.struct_time((2026, 1, 1, 0, 0, 0, 3, 1, 0), {"tm_zone": "AB"[side], "tm_gmtoff": 0})


def frame_with(name: str) -> Make:
    def make(side: int, rng: Rng) -> Any:
        import pandas as pd

        frame = pd.DataFrame({"a": [1]})
        object.__setattr__(frame, name, side)
        return frame

    return make


def polars_frame_with_an_attribute(side: int, rng: Rng) -> Any:
    import polars as pl

    return with_secret(pl.DataFrame({"a": [1]}), side)


def days(pd: Any, side: int) -> Any:
    return pd.DatetimeIndex(["2026-01-01", "2026-01-02", "2026-01-03"], freq="D" if side else None)


def levels(pd: Any, side: int) -> Any:
    return pd.MultiIndex(levels=[["a", "bc"[side]], [1, 2]], codes=[[0, 0], [0, 1]])


def arrow_nested_metadata(side: int, rng: Rng) -> Any:
    import pyarrow as pa

    return pa.array([[1]], pa.list_(pa.field("item", pa.int64(), metadata={"side": str(side)})))


def mapped_file(side: int, rng: Rng) -> Any:
    return np.memmap(__file__, np.uint8, "r", offset=side, shape=1)  # this file begins with two equal letters


def of_module(name: str, *bases: type) -> Any:
    """Return a class of a module of its own, which can be imported."""
    module = sys.modules[name] = types.ModuleType(name)
    module.Same = type("Same", bases, {"__module__": name, "__repr__": lambda self: "Same()"})  # type: ignore[attr-defined]
    return module.Same


def returning(value: Any) -> Callable[[], Any]:
    return lambda: value


FIRST_ERROR, SECOND_ERROR = of_module("first_errors", Exception), of_module("second_errors", Exception)
FIRST_TEXT, SECOND_TEXT = of_module("first_texts", str), of_module("second_texts", str)


@dataclass
class FieldThatLies:
    """A dataclass that says of its field that it is 0."""

    mean: float = 0.0

    def __getattribute__(self, name: str) -> Any:
        return 0.0 if name == "mean" else super().__getattribute__(name)

    def __repr__(self) -> str:
        return "FieldThatLies()"


class Interval(Holder):
    """A class with the name and the attributes of one of pandas, of which one is hidden."""

    left = property(lambda self: 0)  # a property is read before an attribute
    right, closed = 1, "right"


def field_that_is_not_set(side: int, rng: Rng) -> Any:
    made = Fit()
    if side:
        del made.mean  # the value of the class, which is the default, is left
    return made


def class_of(module: str, base: type) -> Any:
    """Return a class that only says that it is of a module."""
    return type("Same", (base,), {"__module__": module, "__repr__": lambda self: "Same()"})


OF_DATETIME, OF_PANDAS = class_of("datetime", Holder), class_of("pandas.core.frame", Holder)
OF_BUILTINS, OF_ARRAY, OF_NUMPY = class_of("builtins", float), class_of("array", list), class_of("numpy", np.float64)


class Quietly(enum.Enum):
    """An Enum whose text is one for all of its members."""

    LOW, HIGH = 0, 1

    def __repr__(self) -> str:
        return "Quietly"

    __str__ = __repr__


class QuietlyAll(enum.Flag):
    LOW, HIGH = 1, 2
    __repr__ = __str__ = Quietly.__repr__  # type: ignore[assignment]


class OfOneText(type):
    def __repr__(cls) -> str:
        return "class"


class FirstClass(metaclass=OfOneText):
    pass


class SecondClass(metaclass=OfOneText):
    pass


class Partly(functools.partial):  # type: ignore[type-arg]
    """A class of a type in C that names a module in Python."""

    def __repr__(self) -> str:
        return "Partly"


class Node(xml.etree.ElementTree.Element):
    def __repr__(self) -> str:
        return "Node"


class NoNumber(Decimal):
    """A Decimal that says that it is no number."""

    def is_finite(self) -> bool:
        return False

    def is_nan(self) -> bool:
        return True


class NoCauseError(SilentError):
    """An exception that says that nothing caused it."""

    __cause__ = None


class OthersError(ExceptionGroup):  # type: ignore[type-arg]
    """A group that says that it holds another exception."""

    exceptions = property(lambda self: (ValueError("failed"),))  # type: ignore[assignment]


def cause_that_is_denied(side: int, rng: Rng) -> Any:
    error = NoCauseError("failed")
    BaseException.__cause__.__set__(error, KeyError(side))  # type: ignore[attr-defined]
    return error


def private_attribute_of(array: Callable[[], Any]) -> Make:
    def make(side: int, rng: Rng) -> Any:
        made = array()
        object.__setattr__(made, "_secret", side)
        return made

    return make


def polars_times(kind: str, nested: str = "") -> Make:
    """Return a kind for a column of polars in nanoseconds, which Python's times do not have."""

    def make(side: int, rng: Rng) -> Any:
        import polars as pl

        dtype = {"time": pl.Time, "datetime": pl.Datetime("ns"), "duration": pl.Duration("ns")}[kind]
        column = pl.Series("a", [1_000 + side, None][: 1 if nested else 2], dtype=dtype)
        frame = column.to_frame()
        return {
            "": column,
            "frame": frame,
            "struct": frame.to_struct("s"),
            "list": frame.select(pl.col("a").implode())["a"],
        }[nested]

    return make


def arrow_times(where: str) -> Make:
    def make(side: int, rng: Rng) -> Any:
        import pyarrow as pa

        column = pa.array([1_000 + side], pa.time64("ns"))
        return {"array": column, "table": pa.table({"a": column}), "scalar": column[0]}[where]

    return make


DENIED: dict[str, Make] = {
    "a field that says it is another": lambda side, rng: FieldThatLies(side),
    "an attribute that a property hides": lambda side, rng: Interval(left=side),
    "a field that is not set": field_that_is_not_set,
    "attribute of a class that names datetime": lambda side, rng: OF_DATETIME(secret=side),
    "attribute of a class that names pandas": lambda side, rng: OF_PANDAS(secret=side),
    "attribute of a float that names builtins": lambda side, rng: with_secret(OF_BUILTINS(1), side),
    "attribute of a list that names array": lambda side, rng: with_secret(OF_ARRAY(), side),
    "attribute of a number that names numpy": lambda side, rng: with_secret(OF_NUMPY(1), side),
    "attribute of a number that names numpy, in an attribute": lambda side, rng: Holder(
        x=with_secret(OF_NUMPY(1), side)
    ),
    "an object in a slice": lambda side, rng: slice(Holder(x=side)),
    "an object in a slice in an attribute": lambda side, rng: Holder(s=slice(Holder(x=side))),
    "private attribute of a matrix": private_attribute_of(lambda: np.array([[1]]).view(np.matrix)),
    "private attribute of a record array": private_attribute_of(lambda: np.rec.array([(1,)], dtype=[("a", "i8")])),
    "member of an Enum of one text": choose(Quietly.LOW, Quietly.HIGH),
    "member of a Flag of one text": choose(QuietlyAll.LOW, QuietlyAll.HIGH),
    "member of an Enum of one text, in an attribute": lambda side, rng: Holder(x=Quietly(side)),
    "member of an Enum of one text, as a key": lambda side, rng: {Quietly(side): 1},
    "member of an Enum of one text, in a set": lambda side, rng: {Quietly(side)},
    "class of one text": choose(FirstClass, SecondClass),
    "class of one text, as a key": lambda side, rng: {(SecondClass if side else FirstClass): 1},
    "argument of a partial function": lambda side, rng: Partly(print, side),
    "attribute of an element of XML": lambda side, rng: Node("a", {"k": "xy"[side]}),
    "a Decimal that says it is no number": lambda side, rng: NoNumber(side),
    "a cause that is denied": cause_that_is_denied,
    "exceptions that are denied": lambda side, rng: OthersError("several", [KeyError(side)]),
    "nanoseconds of a time of polars": polars_times("time"),
    "nanoseconds of a datetime of polars": polars_times("datetime"),
    "nanoseconds of a duration in a frame of polars": polars_times("duration", "frame"),
    "nanoseconds in a struct of polars": polars_times("datetime", "struct"),
    "nanoseconds in a list of polars": polars_times("time", "list"),
    "nanoseconds of an array of Arrow": arrow_times("array"),
    "nanoseconds of a table of Arrow": arrow_times("table"),
    "nanoseconds of a scalar of Arrow": arrow_times("scalar"),
    "a slot named by an iterator": lambda side, rng: Once(side),
    "a slot below a slot": hidden_slot,
    "attributes that are denied": lambda side, rng: Denying(secret=side),
    "a dict that says it is empty": lambda side, rng: NoItems(a=side),
    "a list that says it is empty": lambda side, rng: NoRows([side]),
    "a float that says it is another": lambda side, rng: AlwaysOne(side),
    "bytes that say they are others": lambda side, rng: NoBytes(bytes([side])),
    "a queue that says it is empty": lambda side, rng: NoneWaiting([side]),
    "arguments that are denied": lambda side, rng: NoArgumentsError(side),
    "zone of a key": lambda side, rng: {MOMENT.replace(tzinfo=Zone(side)): 1},
    "attribute of a frame in an attribute": lambda side, rng: Holder(x=frame_with("secret")(side, rng)),
    "attribute of a number of NumPy, deep down": lambda side, rng: Holder(
        a=Holder(b=Holder(c=Holder(d=Holder(e=with_secret(Unit(1), side)))))
    ),
    "module of an exception in an attribute": lambda side, rng: Holder(e=(SECOND_ERROR if side else FIRST_ERROR)("no")),
    "attribute of a number of NumPy": lambda side, rng: with_secret(Unit(1), side),
    "subclass of a number of NumPy": choose(np.float64(1), Unit(1)),
    "a pickle that forgets, deep down": lambda side, rng: Holder(
        a=Holder(b=Holder(c=Holder(d=Holder(e=Forgetful(x=side)))))
    ),
    "a pickle that forgets, in an array": lambda side, rng: Holder(a=np.array([Forgetful(x=side)], dtype=object)),
    "a pickle that forgets, in a function": lambda side, rng: Holder(f=returning(Forgetful(x=side))),
    "a field of an exception, given by name": lambda side, rng: SpentError(spent=side),
    "a field of a list": lambda side, rng: Table(secret=side),
    "an argument of an argument": lambda side, rng: ValueError(SilentError(side)),
    "the cause of an attribute": lambda side, rng: Holder(e=caused(ValueError("failed"), KeyError(side))),
    "a cause deep down": lambda side, rng: Holder(
        a=Holder(b=Holder(c=Holder(d=Holder(e=caused(ValueError("failed"), KeyError(side))))))
    ),
    "an argument of an attribute": lambda side, rng: Holder(e=SilentError(side)),
    "a note of an attribute": lambda side, rng: Holder(e=noted(ValueError("failed"), "ab"[side])),
    "a group of a list or of a tuple": choose(
        ExceptionGroup("g", [ValueError()]), ExceptionGroup("g", (ValueError(),))
    ),
    "an exception in a field of an exception": lambda side, rng: AttributeError("failed", obj=ValueError(side)),
    "name of a zone of a class": lambda side, rng: MOMENT.replace(tzinfo=Zone(side)),
    "a value of an Enum of its own": choose(*LEVELS),
    "attribute of a frame": frame_with("secret"),
    "private attribute of a frame": frame_with("_secret"),
    "attribute of an index": series(lambda pd, side: with_secret(pd.Index([1]), side)),
    "attribute of a frame of polars": polars_frame_with_an_attribute,
    "zone of a struct_time": zone_of_a_struct,
    "offset in a mapped file": mapped_file,
    "frequency of an index": series(days),
    "a level that no label has": series(levels),
    "an empty range": series(lambda pd, side: pd.RangeIndex(side, side)),
    "metadata below a list of Arrow": arrow_nested_metadata,
    "OrderedDict or dict in an attribute": lambda side, rng: Holder(
        x=collections.OrderedDict(a=1) if side else {"a": 1}
    ),
    "factory of a defaultdict in an attribute": lambda side, rng: Holder(
        x=collections.defaultdict(list if side else int, a=1)
    ),
    "closure of a factory": lambda side, rng: collections.defaultdict(lambda: side, a=1),
    "namedtuple or tuple in an attribute": lambda side, rng: Holder(x=Point(1, 2) if side else (1, 2)),
    "attribute of a list in an attribute": lambda side, rng: Holder(x=with_secret(Rows([1]), side)),
    "type of a key in an attribute": lambda side, rng: Holder(x={1: 1} if side else {"int 1": 1}),
    "an object as a key in an attribute": lambda side, rng: Holder(x={Private(side): 1}),
    "an object in a key": lambda side, rng: {(Private(side),): 1},
    "an attribute that is named like notes": lambda side, rng: Holder(__notes__=side),
    "module of a class": lambda side, rng: (SECOND_TEXT if side else FIRST_TEXT)("text"),
    "module of an exception": lambda side, rng: (SECOND_ERROR if side else FIRST_ERROR)("failed"),
}


# --- Numbers and texts that only some outputs have, and parts of numbers ---


def seldom(share: float, thing: Make, otherwise: Make) -> Make:
    return lambda side, rng: (thing if rng.random() < share else otherwise)(side, rng)


def even_or_odd(side: int, rng: Rng) -> int:
    return remainder(2, side, rng)


def letter_far_inside(side: int, rng: Rng) -> str:
    return letters(rng, 60) + "ab"[side] + letters(rng, 60)


def moment(step: int, first: int, width: int) -> Make:
    """Return a random moment, in the first or the second half of each ``step`` of seconds."""

    def make(side: int, rng: Rng) -> datetime:
        seconds = whole(rng, 0, 10**8 // step) * step + whole(rng, 0, width) + first * side
        return datetime(2020, 1, 1) + timedelta(seconds=seconds)

    return make


def start_and_end(side: int, rng: Rng) -> str:
    start = whole(rng, 10**9, 2 * 10**9)
    return f"start={start} end={start + 1 + side}"


def times_in_texts(side: int, rng: Rng) -> dict[str, str]:
    start = datetime(2026, 1, 1) + timedelta(seconds=whole(rng, 0, 10**8))
    return {"start": start.isoformat(), "end": (start + timedelta(seconds=1 + side)).isoformat()}


def dates_in_texts(side: int, rng: Rng) -> list[str]:
    start = date(2026, 1, 1) + timedelta(days=whole(rng, 0, 3_000))
    return [str(start), str(start + timedelta(days=1 + side))]


def equal_words(side: int, rng: Rng) -> list[Any]:
    """Return two words, which are equal on one side, with others between them."""
    first, *others, last = (f"w{whole(rng, 0, 100)}" for _ in range(4))
    return [first, *others, first if side else last]


def equal_numbers(side: int, rng: Rng) -> Any:
    """Return ten numbers, of which two are equal on one side."""
    numbers = rng.choice(1_000, 10, replace=False).astype(float)
    first, second = rng.choice(10, 2, replace=False)
    if side:
        numbers[first] = numbers[second]
    return numbers


def start_and_end_around(side: int, rng: Rng) -> str:
    start = whole(rng, 10**6, 2 * 10**6)
    return f"from {start} by {whole(rng, 10**6, 2 * 10**6)} to {start + 1 + side}"


SELDOM: dict[str, Make] = {
    "equal words far apart": equal_words,
    "two equal numbers of ten": equal_numbers,
    "equal texts": lambda side, rng: [(text := letters(rng, 8)), text if side else letters(rng, 8)],
    "difference of numbers apart in a text": start_and_end_around,
    "parity of a numerator": lambda side, rng: Fraction(remainder(2, side, rng), 1_000_003),
    "parity of a denominator": lambda side, rng: Fraction(1, 1 + remainder(2, side, rng)),
    "difference of numbers in a text": start_and_end,
    "difference of times in two texts": times_in_texts,
    "difference of dates in two texts": dates_in_texts,
    "parity of a small integer": lambda side, rng: 2 * whole(rng, 0, 30) + side,
    "bit of an integer": lambda side, rng: whole(rng, 0, 2**11) << 21 | side << 20 | whole(rng, 0, 2**20),
    "bit of a 60-bit integer": lambda side, rng: whole(rng, 0, 2**19) << 41 | side << 40 | whole(rng, 0, 2**40),
    "letter far inside a rare text": seldom(1 / 16, letter_far_inside, lambda side, rng: "none"),
    "letter far inside a text that is rarer still": seldom(0.02, letter_far_inside, lambda side, rng: "none"),
    "letter far inside a rare text among words": seldom(
        0.02, letter_far_inside, lambda side, rng: f"w{whole(rng, 0, 30)}"
    ),
    "digest of a rare object": seldom(
        0.04, lambda side, rng: Holder(f=returning((side, whole(rng, 0, 10**9)))), choose(None, None)
    ),
    "letter far inside the text of a rare exception": seldom(
        0.02, lambda side, rng: ValueError(letter_far_inside(side, rng)), choose(1.0, 1.0)
    ),
    "letter far inside a text of another form": seldom(
        0.05, letter_far_inside, lambda side, rng: f"{whole(rng, 0, 1_000)} rows"
    ),
    "parity of an integer or None": seldom(0.9, even_or_odd, lambda side, rng: None),
    "parity of an integer, mostly −1": seldom(0.2, even_or_odd, choose(-1, -1)),
    "parity of an integer or a half": seldom(0.9, even_or_odd, lambda side, rng: 0.5),
    "parity of a key that may be absent": lambda side, rng: (
        {"a": 1, "n": even_or_odd(side, rng)} if rng.random() < 0.8 else {"a": 1}
    ),
    "parity of an integer near others": lambda side, rng: 2 * round(15 * rng.normal()) + side,
    "hour of a moment": moment(86_400, 43_200, 43_200),
    "minute of a moment": moment(3_600, 1_800, 1_800),
    "last digit of a Decimal": lambda side, rng: Decimal(f"0.{digits(rng, 24)}{2 * whole(rng, 0, 5) + side}"),
}


KINDS: dict[str, Kind] = {
    **{name: Kind("text", make) for name, make in {**MET_TEXT, **MORE_TEXT}.items()},
    **{name: Kind("type", make) for name, make in {**MET_TYPE, **MORE_TYPE}.items()},
    **HELD,
    **{name: Kind("type", make) for name, make in DENIED.items()},
    **{name: Kind("text", make) for name, make in SELDOM.items()},
}


def mechanism(kind: Kind, sound: bool) -> Callable[[int, Rng], list[Any]]:
    """Return the mechanism ``f(side, rng)`` of a kind, with one output per call."""

    def release(side: int, rng: Rng) -> list[Any]:
        return [side + rng.laplace(), kind.sound(rng) if sound else kind.make(side, rng)]

    return release


def audit(
    kind: Kind, sound: bool, seed: int = 0, samples: int = 20_000, confidence: float = 0.999
) -> auditor.AuditResult:
    """Audit a kind in this process. Raises MechanismError if the audit refuses the form of its outputs.

    A sound twin is refuted with probability at most 1 − confidence.
    """
    return auditor.audit(
        mechanism(kind, sound),
        auditor.PureDP(1.0),
        Pairs([(1, 0)]),
        name="hidden",
        seed=seed,
        samples=samples,
        confidence=confidence,
        shrink=False,
        planted=0,
        prove=False,
        workers=1,
        isolate=False,
    )


def describe(kind: Kind, sound: bool) -> str:
    """Return how an audit ended (found, weak, silent, refused, or another verdict), and the beginning of its warnings."""
    try:
        result = audit(kind, sound)
    except AuditorError as error:
        return f"refused: {error}"
    words = {"violation": "found", "no_violation_found": "weak" if result.weak else "silent"}
    bound = f"{result.bound.value:.2f}" if result.bound else "no bound"
    warnings = "; ".join(warning[:70] for warning in result.warnings)
    return f"{words.get(result.verdict, result.verdict)} ({bound}) {warnings}".rstrip()


if __name__ == "__main__":
    words = sys.argv[1:]
    for name, kind in KINDS.items():
        if not words or any(word in f"{kind.group}: {name}" for word in words):
            print(f"{kind.group} | {name} | faulty | {describe(kind, False)}", flush=True)
            print(f"{kind.group} | {name} | sound | {describe(kind, True)}", flush=True)
