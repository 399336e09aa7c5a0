"""Digests: what stands for a value that is not read in full, made of all that pickle sees of it."""

import functools
import hashlib
import io
import pickle
from typing import Any

import numpy as np

from auditor.blackbox.attributes import exception_arguments, read_attributes, read_exception
from auditor.blackbox.known_types import (
    PLAIN,
    has_own_pickle,
    is_numpy_scalar,
    is_of_python,
    is_spelled_whole,
    library_of,
)
from auditor.blackbox.spelling import without_address
from auditor.foreign_code import result_or_error

# In attributes, arrays and lists of more items are known by a digest: a model may hold millions of numbers.
MOST_ITEMS = 1_000
# The words for what cannot be read, nor pickled for a digest.
UNREADABLE = "cannot be read"
DIGEST = "digest "


def digest_of(value: Any) -> str:
    """Return a digest of all that pickle sees of a value, or UNREADABLE if it cannot be pickled."""
    # Without a memo the pickle does not depend on which equal texts are one object. What holds itself needs a memo.
    for fast in (True, False):
        pickled = result_or_error(_pickle, value, fast)
        if isinstance(pickled, bytes):
            return DIGEST + hashlib.sha256(pickled).hexdigest()[:16]
    return UNREADABLE


def is_plain(value: Any) -> bool:
    """Whether a value is plain data: a number, a text or a time of Python or NumPy, or an array of MOST_ITEMS of them."""
    kind = type(value)
    return (
        kind in PLAIN
        or is_numpy_scalar(value)
        or (kind is np.ndarray and value.dtype.kind in "biufcUSMm" and value.size <= MOST_ITEMS)
    )


def summarize(value: Any) -> Any:
    """Return plain data as they are, and of any other value a text: its type with its repr, if that shows all of it, or with
    its digest.
    """
    if is_plain(value):
        return value
    return f"{type(value).__name__} {without_address(value) if is_spelled_whole(value) else digest_of(value)}"


def _pickle(value: Any, fast: bool) -> bytes:
    file = io.BytesIO()
    pickler = _pickler()(file)
    pickler.fast = fast
    pickler.dump(value)
    return file.getvalue()


def _summarize_exception(error: BaseException) -> dict[str, Any]:
    """Return what an exception holds besides its arguments, with a summary of each note and each field."""
    parts = read_exception(error)
    parts.pop("arguments", None)
    if "notes" in parts:
        parts["notes"] = summarize(parts["notes"])
    if "fields" in parts:
        parts["fields"] = {name: summarize(part) for name, part in parts["fields"].items()}
    return parts


@functools.cache
def _pickler() -> Any:
    """Return a class of picklers whose pickles of a value do not depend on what else the process has imported."""
    import cloudpickle

    registered = cloudpickle.CloudPickler.dispatch_table

    def as_dict(parts: dict[str, Any]) -> tuple[Any, ...]:
        return dict, (), None, None, iter(parts.items())  # pickle then knows the object when it meets it in a part

    def can_be_pickled(part: Any) -> bool:
        return isinstance(result_or_error(cloudpickle.dumps, part), bytes)

    class Reductions:
        """Of the ways to pickle types, those of cloudpickle, and those that Python or a type's own library registered.
        Others, such as loky and tblib, register theirs for the types of Python, in processes that import them.
        """

        def __getitem__(self, kind: type) -> Any:
            reduction = registered[kind]
            library = str(getattr(reduction, "__module__", "")).partition(".")[0]
            if library not in ("copyreg", "cloudpickle", library_of(kind)):
                raise KeyError(kind)
            return reduction

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        dispatch_table = Reductions()

        def reducer_override(self, value: Any) -> Any:
            """Return how to make a value again, by what it holds and nothing else.

            A class may say how it is pickled, and leave something out. Long doubles, and fields that are aligned, have
            bytes between them that mean nothing.
            """
            kind: Any = type(value)
            if isinstance(value, BaseException):
                parts = {"args": exception_arguments(value), **_summarize_exception(value)}
                return as_dict({"kind": kind, **parts, "": read_attributes(value)})
            if not isinstance(value, type) and not is_spelled_whole(value) and has_own_pickle(kind):
                rest = None if is_of_python(kind) else value.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
                kept = {n: part if can_be_pickled(part) else type(part) for n, part in read_attributes(value).items()}
                return as_dict({"kind": kind, "rest": rest, "": kept})
            if isinstance(value, np.ndarray | np.generic) and (value.dtype.char in "gG" or value.dtype.names):
                items = value.tolist() if isinstance(value, np.ndarray) or value.dtype.names else repr(value)
                return type(value), (str(value.dtype), value.shape, items)
            made = super().reducer_override(value)
            if self.fast and isinstance(made, tuple) and any(setter is not None for setter in made[5:]):
                # A class or function by value is filled once it is made, when pickle meets it again: without a memo this
                # would never end, and pickle would notice only after five thousand rounds.
                raise pickle.PicklingError("it refers to itself")
            if not (isinstance(value, type) and isinstance(made, tuple) and len(made[1]) > 2):
                return made
            # cloudpickle gives a class that cannot be imported a random name in each process, as its last text.
            function, arguments, *state = made
            return function, (*arguments[:-2], "", arguments[-1]), *state

    return Pickler
