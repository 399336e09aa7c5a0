"""Leaves of numbers, times and texts: the nearest float, and what it lacks of the value."""

import functools
import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from auditor.blackbox.digests import digest_of
from auditor.blackbox.known_types import is_known_zone
from auditor.blackbox.number_text import EXACT, MINUS_ZERO, SEPARATORS, JsonNumber, Leaves, number_leaves
from auditor.blackbox.spelling import spell
from auditor.foreign_code import result_or_error


def leaves_of_number(place: str, number: Any) -> Leaves:
    """Return the nearest float, the rounding error of a large integer or long double, and the sign of −0."""
    rounded = f"rounded off {place}"
    if isinstance(number, int | float):  # a subclass may say that it is another number
        number = int.__pos__(number) if isinstance(number, int) else float.__pos__(number)
    if isinstance(number, int) and abs(number) > EXACT:
        try:
            nearest = float(number)
        except OverflowError:
            return {
                place: math.inf if number > 0 else -math.inf,
                rounded: hex(number),
            }  # Python refuses to write more than 4300 decimal digits
        left_over = number - int(nearest)
        return {place: nearest, rounded: float(left_over) if abs(left_over) <= EXACT else hex(number)}
    value = float(number)
    if math.isnan(value):
        return {place: "NaN"}
    leaves: Leaves = {place: value + 0.0}
    if value != number:
        leaves[rounded] = repr(number)
    if value == 0 and math.copysign(1.0, value) < 0:
        leaves[f"sign of {place}"] = MINUS_ZERO
    return leaves


def complex_parts(values: Sequence[Any]) -> list[Any]:
    """Return the real and the imaginary part of each complex number, whatever a subclass says of them."""
    numbers = [complex.__pos__(value) if isinstance(value, complex) else value for value in values]
    return [part for number in numbers for part in (number.real, number.imag)]


def exact_leaves(place: str, value: Fraction | Decimal) -> Leaves:
    """Return the nearest float; of a Decimal the digits that it lacks, the exponent and the sign of −0; of a Fraction that is
    not whole the numerator and the denominator.
    """
    if isinstance(value, Decimal):
        value = Decimal(value)  # exactly; a subclass may say that it is another number
        if not value.is_finite():
            return {place: "NaN" if value.is_nan() else float(value)}
    try:
        leaves: Leaves = {place: float(value) + 0.0}
        left_over = Fraction(value) - Fraction(leaves[place])
    except OverflowError:
        return {place: math.inf if value > 0 else -math.inf, f"rounded off {place}": repr(value)}
    if left_over and isinstance(value, Decimal):  # its digits say more than the difference to a float
        sign, digits, _ = value.as_tuple()
        leaves[f"rounded off {place}"] = "-" * sign + "".join(map(str, digits))
    if isinstance(value, Fraction) and value.denominator != 1:
        leaves.update(leaves_of_number(f"numerator of {place}", value.numerator))
        leaves.update(leaves_of_number(f"denominator of {place}", value.denominator))
    if isinstance(value, Decimal):
        leaves[f"exponent of {place}"] = float(value.as_tuple().exponent)
        if value.is_signed() and not value:
            leaves[f"sign of {place}"] = MINUS_ZERO
    return leaves


def time_leaves(place: str, value: Any) -> Leaves:
    """Return a date in days since 1970, a time in microseconds (NumPy: in its unit), zone, fold and nanoseconds."""
    if str(value) == "NaT":
        return {place: "NaT"}
    leaves: Leaves = {}
    day = 86_400 * 10**6  # microseconds
    match value:
        case np.datetime64() | np.timedelta64():
            number = int(value.astype(np.int64))
        case timedelta():
            number = value.days * day + value.seconds * 10**6 + value.microseconds
        case _:
            number = value.toordinal() - date(1970, 1, 1).toordinal() if isinstance(value, date) else 0
            if isinstance(value, datetime | time):
                seconds = (value.hour * 60 + value.minute) * 60 + value.second
                number = number * day + seconds * 10**6 + value.microsecond
                if value.tzinfo is not None:
                    leaves[f"time zone of {place}"] = f"{spell(value.tzinfo)}, {value.utcoffset()}"
                    if not is_known_zone(value.tzinfo):
                        leaves[f"rest of the time zone of {place}"] = digest_of(value.tzinfo)
                if value.fold:
                    leaves[f"fold of {place}"] = float(value.fold)
    leaves.update(leaves_of_number(place, number))
    # Times of pandas have nanoseconds, which those of the standard library lack.
    if nanoseconds := getattr(value, "nanosecond", getattr(value, "nanoseconds", 0)):
        leaves[f"nanoseconds of {place}"] = float(nanoseconds)
    if isinstance(unit := getattr(value, "unit", None), str):
        leaves[f"unit of {place}"] = unit
    return leaves


def text_leaves(place: str, text: str | bytes | bytearray) -> Leaves:
    """Return the leaves of a text: a number and how it is written, or each field of a line, or the text itself; and the
    time that it spells, if it does.
    """
    if isinstance(text, JsonNumber):
        # A number that is longer than LONGEST, or beyond the floats, is a code as well.
        return number_leaves(place, text) or {place: float(text), f"text of {place}": repr(str(text))}
    if not isinstance(text, str):
        text = memoryview(text).tobytes()  # its type says if it was a bytearray
    elif type(text) is not str:
        text = str.__str__(text)  # a subclass may say something else
    leaves = _parsed(place, text) if isinstance(text, str) else {}
    return {**(leaves or {place: spell(text)}), f"length of {place}": float(len(text))}


def is_word(text: str) -> bool:
    """Whether a text is neither a number nor a time, and no field of the text is a number."""
    return not (_parsed_once(text) if len(text) <= 64 else _parsed("", text))


def _parsed(place: str, text: str) -> Leaves:
    return number_leaves(place, text) or _field_leaves(place, text) or _moment_leaves(place, text)


# A date, or a date and a time, as ISO 8601 and JSON write it.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII)


def _moment_leaves(place: str, text: str) -> Leaves:
    """Return a text that spells a time, and the time in microseconds since 1970, so that times can be compared. Return no
    leaves for any other text.
    """
    moment = result_or_error(datetime.fromisoformat, text) if _MOMENT.fullmatch(text) else None
    if not isinstance(moment, datetime):  # such as the 30th of February
        return {}
    since = moment - datetime(1970, 1, 1, tzinfo=None if moment.tzinfo is None else UTC)
    return {place: spell(text), f"time of {place}": float(since // timedelta(microseconds=1))}


_parsed_once = functools.lru_cache(maxsize=1 << 16)(functools.partial(_parsed, ""))


def _field_leaves(place: str, text: str) -> Leaves:
    """Return the leaves of a line of fields, such as a line of CSV. Return no leaves if no field is a number."""
    for separator in SEPARATORS:
        parts = text.split(separator)
        numbers = [number_leaves(f"{place} field {at}", part) for at, part in enumerate(parts)]
        if len(parts) > 1 and any(numbers):
            leaves: Leaves = {place: f"fields between {separator!r}", f"fields of {place}": float(len(parts))}
            for at, (part, number) in enumerate(zip(parts, numbers, strict=True)):
                leaves.update(number or {f"{place} field {at}": repr(part)})
            return leaves
    return {}
