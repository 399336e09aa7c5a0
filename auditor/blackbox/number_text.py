"""Text that spells a number: its value, and how it is written. Both together determine the text."""

import math
import re
from fractions import Fraction

Leaf = float | str
Leaves = dict[str, Leaf]  # the leaves of a value, by their places

EXACT = 2.0**53 - 1  # up to here each integer is a float, and no other integer rounds to it
MINUS_ZERO = "-0.0"
# Prefixes of the leaves that say how a value is written, such as the sign of a zero.
WRITTEN = (
    "position of ",
    "sign of ",
    "decimals of ",
    "exponent of ",
    "form of ",
    "rounded off ",
    "numerator of ",
    "denominator of ",
)
# A longer text of digits is a code, not a number.
LONGEST = 60
# Spaces, sign, digits, point, decimals, perhaps an exponent (e, its sign and its digits), spaces.
_NUMBER = re.compile(r"( *)([+-]?)([0-9]*)(\.?)([0-9]*)(?:([eE][+-]?)([0-9]{1,3}))?( *)")
_PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?")
SEPARATORS = (",", ";", "\t")


class JsonNumber(str):
    """A number of a program's answer that is not written as Python writes it, such as ``1.50`` or ``1E3``."""

    __slots__ = ()


def json_number(text: str) -> float | JsonNumber:
    """Return the number that a JSON text spells, or the text as a JsonNumber if Python writes the number differently.

    >>> json_number("1.5"), json_number("1.50"), json_number("-0"), json_number("1e400")
    (1.5, '1.50', '-0', '1e400')
    """
    value = float(text)
    return value if repr(value) == text else JsonNumber(text)


def json_integer(text: str) -> int | JsonNumber:
    """Return the integer that a JSON text spells, or the text as a JsonNumber if it is −0."""
    return JsonNumber(text) if text == "-0" else int(text)


def plain_number(text: str) -> tuple[float, int] | None:
    """Return the value and the number of decimals of a text if Python writes this text for them. Otherwise return None.

    >>> plain_number("2.50"), plain_number("+2.5"), plain_number("1e3")
    ((2.5, 2), None, None)
    """
    if _PLAIN.fullmatch(text) is None or len(text) > LONGEST:
        return None
    value, decimals = float(text), len(text) - 1 - text.find(".") if "." in text else 0
    return (value, decimals) if f"{value:.{decimals}f}" == text else None


def number_leaves(place: str, text: str) -> dict[str, Leaf] | None:
    """Return the leaves of a text that spells a finite number. Return None for any other text.

    The value stands at the place. ``decimals`` is the number of digits after the point. If the text is not what Python
    writes for both, ``form`` is the rest of the text, with 0 for each digit: leading zeros, a plus sign, an exponent.
    ``rounded off`` is the text minus the float, in units of the last decimal if there is no exponent.

    >>> number_leaves("output", "2.50")
    {'output': 2.5, 'decimals of output': 2.0}
    >>> number_leaves("output", "+1E6")
    {'output': 1000000.0, 'decimals of output': 0.0, 'form of output': '+0E0', 'exponent of output': 6.0}
    """
    match = _NUMBER.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None
    before, sign, whole, point, fraction, e, exponent, after = match.groups()
    if not whole and not fraction:
        return None
    value, decimals = float(text), len(fraction)
    if math.isinf(value) or (value == 0 and (whole + fraction).strip("0")):
        return None  # too large or too small for a float
    leaves: dict[str, Leaf] = {place: value + 0.0, f"decimals of {place}": float(decimals)}
    if value == 0 and sign == "-":
        leaves[f"sign of {place}"] = MINUS_ZERO
    written = f"{value:.{decimals}{'e' if e else 'f'}}"
    if written == text:
        if e:
            leaves[f"form of {place}"] = "scientific"
        return leaves
    zeros = whole if whole.strip("0") == "" else whole[: len(whole) - len(whole.lstrip("0"))] + "0"
    decimal, power = point + ("0" if fraction else ""), (e or "") + "0" * len(exponent or "")
    leaves[f"form of {place}"] = f"{before}{sign.replace('-', '')}{zeros}{decimal}{power}{after}"
    if e:
        leaves[f"exponent of {place}"] = float(int(exponent) * (-1 if "-" in e else 1))
    left_over = Fraction(text) - Fraction(repr(value)) if e else (Fraction(text) - Fraction(written)) * 10**decimals
    if left_over:
        is_float = left_over.denominator == 1 and abs(left_over) <= EXACT
        leaves[f"rounded off {place}"] = float(left_over) if is_float else str(left_over)
    return leaves
