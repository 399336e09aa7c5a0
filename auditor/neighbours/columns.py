"""A column of a frame: the values it may hold, the values to try first, random values, and simpler values.

Values are numbers, booleans, text, and None for null. Dates and times are text by ISO 8601.
"""

import calendar
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from auditor.errors import InvalidInputError, require_known, visible
from auditor.interfaces import FEW_VALUES, Values
from auditor.neighbours.limits import any_of
from auditor.neighbours.numbers import Range, spelling

WRITTEN_COLUMN = 'it must be a mapping, such as {"type": "integer", "low": 0, "high": 99}'
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = ("float64", "float32")
ColumnType = Literal["number", "integer", "categorical", "boolean", "date", "datetime", "text"]
# TYPES are the dtypes of each type of column, the default first.
TYPES: dict[ColumnType, tuple[str, ...]] = {
    "number": FLOATS,
    "integer": ("int64", *(name for name in INTEGERS if name != "int64")),
    "categorical": ("plain", "category"),
    "boolean": ("bool",),
    "date": ("date",),
    "datetime": ("us", "ns", "ms", "s"),
    "text": ("str",),
}
BOUNDED = ("number", "integer", "date", "datetime")
# HARD_TEXTS often break programs: empty, blanks, quotes, separators, one letter in two encodings, words for a missing value.
HARD_TEXTS = (
    *("", "a", "A", " ", "a ", "é", "e\u0301", "😀", "0", "1e3"),
    *("nan", "NaN", "null", "None", '"', "'", ",", "\n", "\x00"),
)
# A sum of a few floats LARGE_FLOAT still changes if 1 is added; a sum of their squares does not.
LARGE_FLOAT = 2**50


@dataclass(frozen=True, slots=True)
class Column(Values):
    """One column.

    Args:
        type: "number", "integer", "categorical", "boolean", "date", "datetime" or "text".
        low: the least number or date; by default the least of the dtype.
        high: the greatest number or date; by default the greatest of the dtype.
        choices: the values of a categorical column; for other types, the possible values instead of a range.
        null: whether values may be missing.
        nan: whether numbers may be NaN.
        infinite: whether numbers may be infinite.
        outside: whether values outside the bounds may occur too, for functions that clamp.
        dtype: float64, float32, int8 to int64, uint8 to uint64; of times s, ms, us or ns; "category" of a categorical column.

    Raises InvalidInputError if the arguments contradict each other.
    """

    type: ColumnType
    low: Any = None
    high: Any = None
    choices: tuple[Any, ...] | None = None
    null: bool = False
    nan: bool = False
    infinite: bool = False
    outside: bool = False
    dtype: str = ""

    def limits(self) -> dict[str, Any]:
        special = [name for name in ("null", "nan", "infinite", "outside") if getattr(self, name)]
        ends = {name: self._number(end) for name in ("low", "high") if (end := getattr(self, name)) is not None}
        choices = {} if self.choices is None else {"choices": any_of(self.choices)}
        return {"type": self.type, "dtype": self.stored_as, "special": special, **ends, **choices}

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> "Column":
        """Return the column that is ``given`` as a mapping; ``name`` is for errors."""
        keys = [field.name for field in fields(cls)]
        if not isinstance(given, Mapping):
            raise InvalidInputError(f'column "{name}" is {visible(repr(given), 200)}; {WRITTEN_COLUMN}')
        require_known(f'column "{name}" has the key', given, keys)
        if "type" not in given:
            raise InvalidInputError(f'column "{name}" lacks its type; allowed: {", ".join(TYPES)}')
        choices = given.get("choices")
        try:
            return cls(**{**given, "choices": None if choices is None else tuple(choices)})
        except InvalidInputError as error:
            raise InvalidInputError(f'column "{name}": {error}') from None

    def __post_init__(self) -> None:
        require_known("type is", [self.type], TYPES)
        if self.dtype:
            require_known(f"dtype of a column of type {self.type} is", [self.dtype], TYPES[self.type])
        if self.type != "number" and (self.nan or self.infinite):
            raise InvalidInputError(f"nan and infinite are for the type number only; the type is {self.type}")
        bounded = self.low is not None or self.high is not None
        if bounded and (self.type not in BOUNDED or self.choices is not None):
            raise InvalidInputError(
                f"low and high go with {', '.join(BOUNDED)}, and not with choices; this column has the type {self.type}"
            )
        if self.type == "categorical" and not self.choices:
            raise InvalidInputError("a categorical column needs choices: the values it may hold")
        if self.choices is not None and (not self.choices or len(set(map(repr, self.choices))) < len(self.choices)):
            raise InvalidInputError(
                f"choices are {list(self.choices)!r}; give at least one choice, and each choice once"
            )
        for choice in self.choices or ():
            if not isinstance(choice, bool | int | float | str):
                raise InvalidInputError(
                    f"choices hold {choice!r}; each must be a number, a boolean or text; `null: true` adds null"
                )
        if self.type in BOUNDED:
            for name, end in (("low", self.low), ("high", self.high)):
                self._must_be_value(name, end)
            limits, ends = self._limits(), self._range()
            if not (limits[0] <= ends.low <= ends.high <= limits[1]):
                raise InvalidInputError(
                    f"it goes from {self.low!r} to {self.high!r}; low must be at most high, and both must be of {self.stored_as}"
                )

    @property
    def _is_ranged(self) -> bool:
        return self.type in BOUNDED and self.choices is None

    @property
    def stored_as(self) -> str:
        """The name of the dtype with which a frame stores the column."""
        return self.dtype or TYPES[self.type][0]

    def _limits(self) -> tuple[Any, Any]:
        """Return the least and the greatest value of the dtype as numbers: dates in days, times in microseconds."""
        match self.type, self.stored_as:
            case "number", name:
                most = float(np.finfo(name).max)
                return -most, most
            case "integer", name:
                return int(np.iinfo(name).min), int(np.iinfo(name).max)
            case "date", _:
                return _days("0001-01-01"), _days("9999-12-31")
            case "datetime", "ns":
                return _microseconds("1677-09-21T00:12:43.145225"), _microseconds("2262-04-11T23:47:16.854775")
            case "datetime", _:
                return _microseconds("0001-01-01T00:00:00"), _microseconds("9999-12-31T23:59:59.999999")
        raise AssertionError(f"a column of type {self.type} has no limits")

    def _must_be_value(self, name: str, end: Any) -> None:
        try:
            if end is not None:
                self._number(end)
        except (TypeError, ValueError, OverflowError):
            such_as = {"date": ", such as 2024-02-29", "datetime": ", such as 2024-02-29T12:00:00"}.get(self.type, "")
            raise InvalidInputError(f"{name} is {end!r}; it must be of the type {self.type}{such_as}") from None

    def _range(self) -> Range:
        """Return the range of the numbers that encode the values between the bounds."""
        least, greatest = self._limits()
        low = least if self.low is None else self._number(self.low)
        high = greatest if self.high is None else self._number(self.high)
        if self.type == "number" and not math.isfinite(high - low):
            low, high = max(low, -greatest / 4), min(high, greatest / 4)
        return Range(low, high, self.type != "number")

    def _number(self, value: Any) -> Any:
        """Return the number that encodes a value. Raises ValueError or TypeError for a value of another type."""
        match self.type:
            case "date":
                return _days(str(value))
            case "datetime":
                return _microseconds(str(value))
            case "integer" if isinstance(value, bool) or value != int(value):
                raise ValueError
            case "integer":
                return int(value)
            case "number" if isinstance(value, bool) or not math.isfinite(value):
                raise ValueError
            case "number":
                return float(value)
        raise AssertionError(f"values of a column of type {self.type} are not encoded as numbers")

    def _value(self, number: Any) -> Any:
        """Return the value that a number encodes."""
        match self.type:
            case "date":
                return str(np.datetime64(int(number), "D"))
            case "datetime":
                unit = {"s": 10**6, "ms": 1000}.get(self.stored_as, 1)
                at = int(number) // unit * unit
                time = np.datetime64(at, "us")
                return str(time if at % 10**6 else time.astype("datetime64[s]"))
            case "integer":
                return int(number)
            case "number":
                return float(np.float32(number)) if self.stored_as == "float32" else float(number)
        raise AssertionError(f"values of a column of type {self.type} are not encoded as numbers")

    def first(self) -> list[Any]:
        """See Values. The plainest value comes first: 0, the day 2000-01-01 or the nearest one, or the first choice.
        Then come the ends, missing values, and values that often break programs.
        """
        return list(_first(self))

    def ordinary(self) -> list[Any]:
        """Return the values to try first, without values outside the bounds."""
        if self.choices is not None:
            return list(self.choices)
        if self.type == "boolean":
            return [False, True]
        if self.type == "text":
            return [HARD_TEXTS[1], *HARD_TEXTS]
        ends, (least, greatest) = self._range(), self._limits()
        low, high = ends.low, ends.high
        plainest = {"date": _days("2000-01-01"), "datetime": _microseconds("2000-01-01T00:00:00")}.get(self.type, 0)
        marks = [ends.nearest(plainest), high, low, ends.middle, 1, -1, low + 1, high - 1]
        marks += [LARGE_FLOAT] * (self.type in ("number", "integer")) + ends.halfway() * (self.type == "integer")
        marks += [self._number(day) for day in self._odd_days(ends)]
        # Without bounds, the range leaves out the largest floats, since the difference of its ends must be a float.
        marks += [least] * (self.low is None) + [greatest] * (self.high is None)
        return [self._value(mark) for mark in marks if low <= mark <= high or mark in (least, greatest)]

    def _odd_days(self, ends: Range) -> list[str]:
        """Return a leap day, which most years lack, and the last day of a year, whose month and day have the largest numbers: from
        2000 on or, if these are out of bounds, from ``low`` on.
        """
        if self.type not in ("date", "datetime"):
            return []
        low, high = (str(self._value(end))[:10] for end in (ends.low, ends.high))
        first = int(low[:4])
        years = [*range(2000, 2005), *range(first, min(first + 9, 10_000))]
        leap_days = (f"{year:04}-02-29" for year in years if calendar.isleap(year))
        last_days = (f"{year:04}-12-31" for year in years)
        found = (next((day for day in days if low < day < high), None) for days in (leap_days, last_days))
        return [*filter(None, found)]

    def odd(self) -> list[Any]:
        """Return −0.0, the smallest float, and, if they may occur, null, NaN, infinities and values out of bounds."""
        odd: list[Any] = [None] * self.null + [math.nan] * self.nan + [math.inf, -math.inf] * self.infinite
        if not self._is_ranged:
            return odd
        ends = self._range()
        if self.type == "number" and ends.low <= 0 <= ends.high:
            smallest = float(np.finfo(self.stored_as).smallest_subnormal)
            odd += [v for v in (-0.0, smallest) if v in ends]
        if self.outside:
            span, (least, greatest) = max(1, ends.high - ends.low), self._limits()
            steps = (1, span) if ends.integer else (math.ulp(max(abs(ends.low), abs(ends.high))), span)
            beyond = [end + way * step for step in steps for end, way in ((ends.high, 1), (ends.low, -1))]
            odd += [self._value(mark) for mark in [*beyond, greatest, least] if least <= mark <= greatest]
        return odd

    def few(self, most: int = FEW_VALUES) -> list[Any]:
        if self.choices is not None or self.type == "boolean":
            return self.first()
        # A range of dates is listed only if more than FEW_VALUES values are asked for.
        ranged = self.type == "integer" or (self.type == "date" and most > FEW_VALUES)
        few = self._range().few(most) if ranged and not self.outside else []
        return [*map(self._value, few), *[None] * self.null] if few else []

    def edges(self) -> list[Any]:
        if not self._is_ranged:
            return Values.edges(self)
        return [self._value(number) for number in self._range().edges()]

    def off_grid(self) -> list[Any]:
        if not self._is_ranged or self.type == "number":
            return []
        return [self._value(number) for number in self._range().off_grid()]

    def draw(self, rng: np.random.Generator) -> Any:
        """Draw one of the values of ``first``, or any other value, with equal probability."""
        corners = self.first()
        if self.choices is not None or self.type == "boolean" or rng.random() < 0.5:
            return corners[rng.integers(len(corners))]
        if self.type == "text":
            letters = "abcxyzABC0159 éß,"
            return "".join(letters[i] for i in rng.integers(len(letters), size=rng.integers(9)))
        return self._inside(self._range().draw(rng))

    def near(self, value: Any, rng: np.random.Generator) -> Any:
        """Change a number or a date by a random step; replace any other value by a random one."""
        if not self._is_ranged or not _is_finite(value):
            return self.draw(rng)
        ends = self._range()
        return self._inside(ends.near(ends.nearest(self._number(value)), rng))

    def _inside(self, number: Any) -> Any:
        """Return the value that a number encodes, or the usual value if rounding leaves the range."""
        value = self._value(number)
        return value if self._number(value) in self._range() else self.usual()

    def has(self, value: Any) -> bool:
        if repr(value) in map(repr, self.first()) or (self.type == "text" and not self.choices and type(value) is str):
            return True
        if not self._is_ranged or type(value) is not {"number": float, "integer": int}.get(self.type, str):
            return False
        try:
            number = self._number(value)
        except ValueError:
            return False
        return number in self._range() and repr(self._value(number)) == repr(value)

    def simpler(self, value: Any) -> list[Any]:
        tried = self.ordinary()
        if self._is_ranged and _is_finite(value):
            number = self._number(value)
            tried += (
                [self._value(number) for number in self._range().simpler(number)] if number in self._range() else []
            )
        simple = {repr(other): other for other in tried if spelling(other) < spelling(value)}
        return sorted(simple.values(), key=spelling)


@functools.lru_cache(maxsize=1024)
def _first(column: Column) -> tuple[Any, ...]:
    values = [*column.ordinary(), *column.odd()]
    return tuple({repr(value): value for value in values}.values())


def _is_finite(value: Any) -> bool:
    return value is not None and (not isinstance(value, float) or math.isfinite(value))


def _days(text: str) -> int:
    return int(np.datetime64(text, "D").astype(np.int64))


def _microseconds(text: str) -> int:
    return int(np.datetime64(text, "us").astype(np.int64))
