"""Outputs as they were when the mechanism returned them, readable in any process.

A mechanism may go on to change an object that it returned, and only its own process may know the object's class. So
each output is sealed in the mechanism's process before the next one is drawn. All ways from a mechanism to the table of
its outputs begin here, so all of them see the same.
"""

import io
import pickle
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from auditor.blackbox.canonical import row_of
from auditor.blackbox.known_types import library_of

# Values of these types never change, and are their own seal.
UNCHANGING = frozenset(
    (*(float, int, bool, str, bytes, complex, type(None)), *(np.dtype(code).type for code in "?bBhHiIlLqQefdgFDG"))
)
# What a pickle may hold besides Python's own numbers, texts and containers, and the values of NumPy. Pickling one of
# these gives an equal object of the same type. A subclass may pickle as it likes, so types must be exact.
_FAITHFUL = frozenset((Fraction, Decimal, date, time, datetime, timedelta, timezone))
_MODULES = frozenset(("builtins", "numpy", *(kind.__module__ for kind in _FAITHFUL)))


class _NotFaithful(Exception):  # noqa: N818 - a signal, and no error
    pass


class _Faithful(pickle.Pickler):
    """Pickles a value only if what is read back is the same in every respect that an output is read by."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, pickle.HIGHEST_PROTOCOL)

    def pickle(self, value: Any) -> bytes:
        """Return the pickle of a value, whatever was pickled before. Raises what the value raises, and _NotFaithful."""
        self._file.seek(0)
        self._file.truncate()
        self.clear_memo()
        self.dump(value)
        return self._file.getvalue()

    def reducer_override(self, value: Any) -> Any:
        """Let pickle go on with a value, or raise _NotFaithful. Not asked about exact types of Python itself."""
        kind = type(value)
        if kind in _FAITHFUL or library_of(kind) == "numpy":
            if not isinstance(value, np.ndarray) or kind is np.ndarray:
                return NotImplemented
        # Pickle asks about the functions and classes, too, by which it will make the values again.
        elif callable(value) and str(getattr(value, "__module__", "")).partition(".")[0] in _MODULES:
            return NotImplemented
        raise _NotFaithful


_IDLE = list[_Faithful]()  # taking one and giving it back are atomic


class Pickled(bytes):
    """The pickle of an output."""

    __slots__ = ()


def seal(output: Any) -> Any:
    """Return an output that nothing can change. ``unseal`` gives an output, or a Row, with the same leaves.

    The seal is the output itself, a copy, its pickle, or its ``Row``. Raises MechanismError as ``row_of`` does.
    """
    kind = type(output)
    if kind is np.ndarray and output.dtype.kind in "biuf":
        return output.copy("A")
    if kind in UNCHANGING:
        return output
    if kind is list or kind is tuple:
        if UNCHANGING.issuperset(map(type, output)):
            return kind(output)
    elif (
        kind is dict and UNCHANGING.issuperset(map(type, output.values())) and UNCHANGING.issuperset(map(type, output))
    ):
        return output.copy()
    # A pickler is made in the time of two pickles. None is used by two threads, or again while it asks an object how to pickle it.
    pickler = _IDLE.pop() if _IDLE else _Faithful()
    try:
        return Pickled(pickler.pickle(output))
    except Exception:  # of a class of its own, or something that cannot be read at all, which row_of says in words
        return row_of(output)
    finally:
        _IDLE.append(pickler)


def unseal(sealed: Any) -> Any:
    """Return the output of a seal. It shares nothing with the object that the mechanism returned."""
    return pickle.loads(sealed) if type(sealed) is Pickled else sealed


# --- Seals on their way to another process: pickling NumPy's numbers themselves would take four times as long ---


def to_wire(sealed: Any) -> Any:
    """Return a seal as it is sent to another process: itself, or a tuple for what has to be made again."""
    if isinstance(sealed, np.ndarray):
        order: Literal["F", "C"] = "F" if sealed.flags.f_contiguous else "C"
        return "array", sealed.dtype.str, sealed.tobytes(order), sealed.shape, order
    if isinstance(sealed, np.generic):
        return "scalar", sealed.dtype.str, sealed.tobytes()
    if type(sealed) is Pickled:
        return "pickle", bytes(sealed)
    return ("tuple", list(sealed)) if type(sealed) is tuple else sealed


def from_wire(sent: Any) -> Any:
    """Return the output, or the Row, that ``to_wire`` wrote."""
    if type(sent) is not tuple:
        return sent
    match sent:
        case "pickle", pickled:
            return pickle.loads(pickled)
        case "tuple", items:
            return tuple(items)
        case "scalar", kind, number:
            return np.frombuffer(number, kind)[0]
        case _, kind, numbers, shape, order:
            return np.frombuffer(numbers, kind).reshape(shape, order=order)
