"""Formatting of numbers and tables in reports."""

import math
from collections.abc import Iterable, Sequence

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def num(value: float | str, digits: int = 3) -> str:
    """Write a number with so many significant digits.

    >>> num(0.45142), num(1.31e-5), num(12345678.0), num("Infinity"), num(0), num(1e-9, 1)
    ('0.451', '1.31·10⁻⁵', '1.23·10⁷', '∞', '0', '10⁻⁹')
    """
    value = float(value)
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    exponent = int(power)
    if -4 <= exponent < max(6, digits):
        places = max(0, digits - 1 - exponent)
        return f"{float(f'{value:.{digits - 1}e}'):,.{places}f}".replace("-", "−")
    raised = f"10{str(exponent).translate(RAISED)}"
    return raised if float(mantissa) == 1 and digits == 1 else f"{mantissa}·{raised}".replace("-", "−")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, numbers to the right.

    >>> table(["|Y|", "τ"], [["11", "7"]]).splitlines()[0]
    '| \\\\|Y\\\\| | τ |'
    """
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
