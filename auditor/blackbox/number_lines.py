"""Numbers in JSON, one a line: checked by NumPy and read by SciPy's Matrix Market reader, several times as fast as by json.

That reader is as exact as Python's own, but forgives what is no JSON; hence the check of every byte.
"""

import io

import numpy as np
from numpy.typing import NDArray

from auditor.blackbox.outputs import EXACT

END, DIGIT, POINT, EXPONENT, MINUS, PLUS, OTHER = range(7)
_CHARACTERS = {END: b"\n", DIGIT: b"0123456789", POINT: b".", EXPONENT: b"eE", MINUS: b"-", PLUS: b"+"}
_KINDS = bytes(next((kind for kind, some in _CHARACTERS.items() if code in some), OTHER) for code in range(256))
_FIRST = bytes(8 * kind for kind in _KINDS)
# Which kind of character may follow which: with one point and one exponent at most, in this order, and no leading zero, a
# line that starts after an END and ends with one is a number in JSON.
_FOLLOWS = {
    END: (DIGIT, MINUS),
    MINUS: (DIGIT,),
    PLUS: (DIGIT,),
    DIGIT: (DIGIT, POINT, EXPONENT, END),
    POINT: (DIGIT,),
    EXPONENT: (DIGIT, MINUS, PLUS),
}
_ALLOWED = bytes(8 * first + then for first, thens in _FOLLOWS.items() for then in thens)


def read_numbers(answer: bytes, size: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Return the numbers on ``size`` lines, and which are written as integers; None where that is for json to read.

    That is where a line is anything else than one JSON number, or a number is an integer of which float64 has no exact value,
    or out of its range.
    """
    is_int = _written_as_integers(answer, size)
    if is_int is None:
        return None
    from scipy.io import mmread

    try:
        numbers = mmread(io.BytesIO(b"%%%%MatrixMarket matrix array real general\n%d 1\n" % size + answer))[:, 0]
    except (ValueError, OverflowError):
        return None
    if not np.isfinite(numbers).all() or np.any(is_int & (np.abs(numbers) > EXACT)):
        return None
    return numbers, is_int


def _written_as_integers(answer: bytes, size: int) -> NDArray[np.bool_] | None:
    """Return which lines are integers; None where not every line is one JSON number."""
    text = b"\n" + answer
    kinds = np.frombuffer(text.translate(_KINDS), np.uint8)
    pairs = np.frombuffer(text.translate(_FIRST), np.uint8)[:-1] + kinds[1:]
    ends = np.flatnonzero(kinds == END)
    if kinds[-1] != END or len(ends) != size + 1 or pairs.tobytes().translate(None, _ALLOWED):
        return None
    starts = ends[:-1] + 1
    digits = starts + (kinds[starts] == MINUS)
    leading_zero = (np.frombuffer(text, np.uint8)[digits] == ord("0")) & (kinds[digits + 1] == DIGIT)
    point_at, exponent_at = np.zeros(size, np.int64), np.full(size, len(text))
    twice = False
    for kind, at in ((POINT, point_at), (EXPONENT, exponent_at)):
        found = np.flatnonzero(kinds == kind)
        if len(found) == size and np.all((ends[:-1] < found) & (found < ends[1:])):  # one on each line, as a rule
            at[:] = found
            continue
        lines = np.searchsorted(ends, found) - 1
        twice = twice or bool(np.any(lines[1:] == lines[:-1]))
        at[lines] = found
    if twice or leading_zero.any() or np.any(point_at > exponent_at):
        return None
    is_int: NDArray[np.bool_] = (point_at == 0) & (exponent_at == len(text))
    return is_int
