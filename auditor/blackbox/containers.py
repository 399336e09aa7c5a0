"""Leaves and parts of dicts, lists, sets and arrays of NumPy."""

import itertools
import math
from collections import deque
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from auditor.blackbox.digests import digest_of
from auditor.blackbox.known_types import is_key_spelled_whole
from auditor.blackbox.number_text import Leaves
from auditor.blackbox.spelling import spell, without_address
from auditor.errors import MechanismError

LARGEST = 8  # bytes of NumPy's largest integers and floats, without long doubles


def is_number_array(value: Any) -> bool:
    """Whether a value is an array of booleans, integers or floats, without long doubles."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.dtype.itemsize <= LARGEST


def require_unmasked(value: Any) -> None:
    """Raise MechanismError if a value is a masked array, since the values below the mask are unknown."""
    if isinstance(value, np.ma.MaskedArray):
        raise MechanismError(
            "the mechanism returned a masked array; return an array, with NaN or None for missing values"
        )


def array_forms(arrays: Sequence[Any]) -> Sequence[Hashable]:
    """Return the form of each array. Raises MechanismError if the first is a masked array."""
    require_unmasked(arrays[0])
    return [(array.dtype, array.shape, _is_fortran(array)) for array in arrays]


def array_leaves(place: str, value: Any) -> Leaves:
    """Return the shape of an array, the width of its texts, and its order in memory unless it is C's."""
    leaves: Leaves = {f"shape of {place}": str(value.shape)}
    if value.dtype.kind in "US":
        leaves[f"width of {place}"] = float(value.dtype.itemsize)
    if _is_fortran(value):
        leaves[f"order of {place} in memory"] = "Fortran"
    return leaves


def _is_fortran(value: Any) -> bool:
    return bool(value.flags.f_contiguous and not value.flags.c_contiguous)


def array_places(place: str, array: Any) -> list[str]:
    """Return the places of an array's items."""
    return [f"{place}[{','.join(map(str, index))}]" for index in np.ndindex(array.shape)]


def array_items(arrays: Sequence[Any]) -> Iterable[Any]:
    """Return the items of arrays, one array after the other."""
    return itertools.chain.from_iterable(np.asarray(array).flat for array in arrays)


def _length(place: str, value: Any) -> Leaves:
    return {f"length of {place}": float(len(value))}


def list_leaves(place: str, value: Any) -> Leaves:
    """Return the length of a list, and the most items that a deque may have."""
    leaves = _length(place, value)
    if isinstance(value, deque) and value.maxlen is not None:
        leaves[f"most items of {place}"] = float(value.maxlen)
    return leaves


def key_orders(values: Sequence[Mapping[Any, Any]]) -> Sequence[Hashable]:
    """Return the form of each dict: its keys in order."""
    # Equal strings have one text, and so have equal integers. Other equal keys, such as 1 and True, may have two.
    plain = set(map(type, itertools.chain.from_iterable(values))) <= {str, int}
    return [*map(tuple, values)] if plain else range(len(values))


def dict_leaves(place: str, value: Mapping[Any, Any]) -> Leaves:
    """Return the length of a dict, its keys that are fractions, and the positions of its keys unless they are sorted
    (by number, or by text).
    """
    keys = list(value)
    words = [spell(key) for key in keys]
    are_numbers = all(isinstance(key, int) or (isinstance(key, float) and not math.isnan(key)) for key in keys)
    own = keys if are_numbers else words
    order = [] if sorted(own) == own else words
    fractions = sorted(key for key in keys if isinstance(key, float | np.floating) and not math.isnan(key))
    leaves = _length(place, value)
    leaves.update({f"fraction {at} among the keys of {place}": float(key) for at, key in enumerate(fractions)})
    # A key that is an object may hold more than its text, and two keys of one text have one place.
    if len(set(words)) < len(words) or not all(map(is_key_spelled_whole, keys)):
        leaves[f"rest of {place}"] = digest_of(list(value.items()))
    leaves.update({f"position of {place}[{name}]": float(at) for at, name in enumerate(order)})
    return leaves


def set_items(value: Collection[Any]) -> list[tuple[str, Any]]:
    """Return the items of a set with the words for their places: numbers in rising order, then others in that of their
    texts. A set has no order of its own. NaN comes last of the numbers.
    """
    numbers, others = list[Any](), list[Any]()
    for item in value:
        is_number = isinstance(item, int | float | np.integer | np.floating | np.bool_)
        (numbers if is_number else others).append(item)
    numbers.sort(key=lambda item: (item != item, item))  # noqa: PLR0124 - only a NaN differs from itself
    others.sort(key=without_address)
    return [
        *((f"number {at}", item) for at, item in enumerate(numbers)),
        *((f"item {at}", item) for at, item in enumerate(others)),
    ]


def set_leaves(place: str, value: Collection[Any]) -> Leaves:
    """Return the length of a set, and a leaf for each item that is a word or a small integer."""
    items = [
        item
        for item in value
        if (isinstance(item, int) and abs(item) < 1_000) or (isinstance(item, str) and len(item) < 30)
    ]
    return {**_length(place, value), **{f"{word} in {place}": "yes" for word in sorted(map(spell, items))}}
