"""A pair of data sets that the claim calls neighbours."""

import copy
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, overload

import numpy as np

from auditor.errors import InvalidInputError, how_many, require_known
from auditor.neighbours.scripts import describe_script, is_dialogue
from auditor.untrusted_files import LONGEST_NUMBER

T = TypeVar("T")
Side = Literal["left", "right"]
Row = Any  # a tuple of values, which begins with the owner if rows have owners; or a single value
NO_ROW = object()  # stands for "no row on this side", since None may be a row


class Relation(StrEnum):
    """The relation between neighbours."""

    ADD_REMOVE = "add_remove"
    SUBSTITUTE = "substitute"
    AS_GIVEN = "as_given"  # explicit pairs, which are not checked
    ALONE = "alone"  # the left data set only, for claims about single data sets


def relation_named(name: str, *others: Relation) -> Relation:
    """Return the relation called ``name``. Allowed are add_remove, substitute and ``others``.

    Raises InvalidInputError for any other name.
    """
    require_known("relation is", [name], (Relation.ADD_REMOVE, Relation.SUBSTITUTE, *others))
    return Relation(name)


class DataForm(Protocol):
    """The form in which mechanisms receive the data of a pair. ``str`` describes the form in words.

    Reports write ``mark`` before data. ``is_json`` says whether programs can receive the form.
    """

    mark: ClassVar[str] = ""
    is_json: ClassVar[bool] = True

    def build(self, data: Any, other: Any) -> Any:
        """Return a new data set in this form, which the mechanism may change.

        Its types follow from both data sets of the pair, so that types do not reveal the side. ``other`` may be None.
        """

    def code(self, built: Any) -> str:
        """Return Python code for an object that ``build`` made."""
        return repr(built)

    def call(self, left: Any, right: Any) -> str:
        """Return Python code for both objects of a pair, as the ``neighbours`` of ``auditor.audit``."""
        return f"[({self.code(left)}, {self.code(right)})]"


@dataclass(frozen=True, slots=True)
class Arrays(DataForm):
    """NumPy arrays. Each record has the ``shape``. The dtype is ``kind``, or follows from the records without one."""

    mark: ClassVar[str] = "array "
    shape: tuple[int, ...] = ()
    kind: str = ""

    def __str__(self) -> str:
        return f"NumPy arrays of dtype {self.kind}" if self.kind else "NumPy arrays"

    def build(self, data: Any, other: Any) -> Any:
        # Both sides have one dtype, since the dtype of an empty array, or the width of strings, would reveal the side.
        given = () if self.kind else (records for records in (data, other) if records is not None and len(records))
        both = [*map(np.array, given)]
        kind = np.result_type(*both) if both else np.dtype(self.kind or np.float64)
        # The first is of ``data``, unless these are empty.
        built = both[0] if both and len(data) and both[0].dtype == kind else np.array(data, dtype=kind)
        return built.reshape(len(data), *self.shape)

    def code(self, built: Any) -> str:
        shape = "" if built.size else f".reshape({built.shape})"
        return f"numpy.array({built.tolist()!r}, dtype={built.dtype.str!r}){shape}"


@dataclass(frozen=True, slots=True)
class FormAround(DataForm):
    """The form of data sets that have a form of their own ``inside``, such as those of a domain within a domain."""

    inside: DataForm | None

    @property
    def mark(self) -> str:  # type: ignore[override]
        """The mark of the data set's own form."""
        return self.inside.mark if self.inside else ""

    @property
    def is_json(self) -> bool:  # type: ignore[override]
        """Whether the data set is JSON."""
        return self.inside is None or self.inside.is_json


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring data sets. Left and right are names only: an audit looks in both directions.

    Mechanisms receive the data sets in ``form``, or unchanged without one. ``grows`` says that right has one person
    more than left, for data in which this does not show. The domain that made the pair keeps in ``origin`` how it was
    made.
    """

    left: Any
    right: Any
    relation: Relation = Relation.AS_GIVEN
    form: DataForm | None = None
    grows: bool = field(default=False, compare=False)
    origin: Any = field(default=None, compare=False, repr=False)
    _texts: tuple[str, str] | None = field(default=None, init=False, compare=False, repr=False)
    _key: str | None = field(default=None, init=False, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all but the texts, which are several times as long and are made again where they are asked for."""
        return Pair, (self.left, self.right, self.relation, self.form, self.grows, self.origin)

    def to_send(self) -> "Pair":
        """Return the pair as processes of a mechanism get it: without its origin, which a domain may not be able to pickle."""
        return self if self.origin is None else Pair(self.left, self.right, self.relation, self.form, self.grows)

    def dataset(self, side: Side) -> Any:
        """Return a copy of a data set, which the mechanism may change."""
        data, other = (self.left, self.right) if side == "left" else (self.right, self.left)
        return copy.deepcopy(data) if self.form is None else self.form.build(data, other)

    def code(self, side: Side) -> str:
        """Return Python code for a data set as the mechanism receives it."""
        built = self.dataset(side)
        return self.form.code(built) if self.form else repr(built)

    def call(self) -> str:
        """Return Python code for the pair, as neighbours for ``auditor.audit``. A data set alone is on both sides."""
        sides = self.dataset("left"), self.dataset("left" if self.relation is Relation.ALONE else "right")
        return self.form.call(*sides) if self.form else f"[({sides[0]!r}, {sides[1]!r})]"

    def key(self) -> str:
        """Return a text that is the same for equal pairs, also if left and right are exchanged."""
        if self._key is None:  # a search asks for it again and again
            object.__setattr__(self, "_key", repr(sorted(self.texts())))
        assert self._key is not None
        return self._key

    def texts(self) -> tuple[str, str]:
        """Return a text for each data set, which is the same for equal data sets."""
        if self._texts is None:
            object.__setattr__(self, "_texts", (repr(plain(self.left)), repr(plain(self.right))))
        assert self._texts is not None
        return self._texts

    def to_dict(self) -> dict[str, Any]:
        """Return the pair as plain lists and numbers, as it stands in a report."""
        return {"left": plain(self.left), "right": plain(self.right), "relation": str(self.relation)}


# Values of these types are left by ``plain``, as are integers below LEAST_LONG.
SINGLE = frozenset({float, str, bool, type(None)})
LEAST_LONG = 10**LONGEST_NUMBER


def plain(data: Any) -> Any:
    """Turn arrays and tuples into lists, NumPy numbers into Python numbers, and frames into rows.

    JSON values stay. Integers too long for Python to write become hexadecimal texts, and other objects their ``repr``.

    >>> plain((np.int64(1), np.array([0.5])))
    [1, [0.5]]
    """
    if type(data) in SINGLE:
        return data
    if isinstance(data, np.ndarray | np.generic):
        listed = data.tolist()
        # ``tolist`` of a NumPy number that is longer than Python's numbers returns this number.
        return repr(listed) if isinstance(listed, np.generic) else plain(listed)
    if isinstance(data, list | tuple):
        # A search calls this for every record of thousands of pairs, and most records are single values.
        return [
            item if type(item) in SINGLE or (type(item) is int and -LEAST_LONG < item < LEAST_LONG) else plain(item)
            for item in data
        ]
    if isinstance(data, dict):
        return {str(plain(key) if type(key) is int else key): plain(item) for key, item in data.items()}
    if isinstance(data, bool | int | float | str):
        return hex(data) if isinstance(data, int) and not -LEAST_LONG < data < LEAST_LONG else data
    rows = rows_of(data)
    return rows if isinstance(rows, list) else repr(data)


def rows_of(data: Any) -> Any:
    """Return a frame of pandas, polars or Arrow as a list of rows (dicts of plain values); other data unchanged."""
    frame = data.collect() if hasattr(data, "collect_schema") and hasattr(data, "collect") else data
    if hasattr(frame, "to_dicts"):
        rows = frame.to_dicts()
    elif hasattr(frame, "to_pylist") and hasattr(frame, "schema"):
        rows = frame.to_pylist()
    else:
        rows = frame.to_dict("records") if hasattr(frame, "to_dict") and hasattr(frame, "columns") else None
    return plain(rows) if isinstance(rows, list) else frame


def pair_words(pair: Pair | None) -> str:
    """Write the two data sets. A run of equal records is written once. If the data sets are long, only the part near
    their difference is written.

    >>> pair_words(Pair([0] * 199 + [1], [0] * 199))
    '[0 × 199, 1] and [0 × 199]'
    >>> pair_words(Pair([1, 22] * 20, [1, 22] * 10 + [1, 9] + [1, 22] * 9)).partition(" and ")[2]
    '[… 1, 22, 1, 22, 1, 22, 1, 22, 1, 9, 1, 22, 1, 22, 1, 22, 1, 22 …] (40 in all)'
    """
    if pair is None:
        return "–"
    entry = pair.to_dict()
    left, right = entry["left"], entry["right"]
    if is_dialogue(left):
        other = Pair(left["data"], right["data"] if right else None, pair.relation)
        return f"{pair_words(other)}, asked {describe_script(left['ask'])}"
    if pair.relation is Relation.ALONE:
        return data_words(left)
    return f"{data_words(left, near=right)} and {data_words(right, near=left)}"


def _parts(data: list[Any]) -> list[str]:
    """Write each record. A run of four or more equal records is written once."""
    parts = list[str]()
    for words, run in itertools.groupby(map(_all_words, data)):
        times = len(list(run))
        parts += [f"{words} × {times}"] if times >= 4 else [words] * times
    return parts


def _all_words(data: object) -> str:
    if not isinstance(data, list):
        return repr(data) if isinstance(data, str) else str(data)
    return f"[{', '.join(_parts(data))}]"


def data_words(data: object, most: int = 60, near: object = None) -> str:
    """Write a data set, with the middle cut out if the text is longer than ``most``. The length of a cut list is added.

    If ``near`` is given, the part around the first record that differs from ``near`` remains. For a frame with many
    rows, the number of rows and the columns are written.

    >>> data_words([1, 22] * 20, 30)
    '[1, 22, 1, 22,  … 22, 1, 22] (40 in all)'
    """
    text = _all_words(data) if isinstance(data, list) else str(data)
    if len(text) <= most:
        return text
    cut = f"{text[: most // 2]} … {text[-most // 3 :]}"
    if not isinstance(data, list):
        return cut
    if all(isinstance(row, dict) and row.keys() == data[0].keys() for row in data):
        return f"{how_many(len(data), 'row')} of {', '.join(data[0])}"
    window = _window(data, near, most) if isinstance(near, list) else None
    return f"{window or cut} ({len(data):,} in all)"


def _window(data: list[Any], near: list[Any], most: int) -> str | None:
    """Return the records around the first difference of two data sets; None if this text is longer than ``most``."""
    parts, others = _parts(data), _parts(near)
    common = (i for i, (part, other) in enumerate(zip(parts, others, strict=False)) if part != other)
    low = next(common, min(len(parts), len(others), len(parts) - 1))
    high, grown = low + 1, True
    while grown:
        grown = False
        for before, after in ((1, 0), (0, 1)):
            start, end = max(0, low - before), min(len(parts), high + after)
            if (start, end) != (low, high) and len(", ".join(parts[start:end])) <= most:
                low, high, grown = start, end, True
    text = ", ".join(parts[low:high])
    return f"[{'… ' * (low > 0)}{text}{' …' * (high < len(parts))}]" if len(text) <= most else None


def same(a: Any, b: Any) -> bool:
    """Return whether two data sets, or two records, are equal. NaN equals NaN, and order counts.

    >>> same([1, float("nan")], (1.0, float("nan"))), same([1, 2], [2, 1])
    (True, False)
    """
    a, b = plain(a), plain(b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b or (a != a and b != b))  # noqa: PLR0124 - NaN is what differs from itself


def check_neighbours(left: Any, right: Any, relation: Relation) -> None:
    """Raise InvalidInputError unless two sequences of records are neighbours under the relation.

    The order of records counts, since mechanisms may depend on it. Under add_remove, one data set is the other with a
    single record left out. Under substitute, both have the same length and differ in a single record; two single
    values, as in the local model, are neighbours too.
    """
    if relation is Relation.AS_GIVEN:
        return
    a, b = plain(left), plain(right)
    if isinstance(a, list) and isinstance(b, list):
        may_be = relation is Relation.ADD_REMOVE or len(a) == len(b)
        neighbours = may_be and sum(not slot.common for slot in aligned(a, b, relation)) == 1
    else:
        neighbours = relation is Relation.SUBSTITUTE and list not in (type(a), type(b)) and not same(a, b)
    if not neighbours:
        rule = {
            Relation.ADD_REMOVE: "one of them must be the other without one record",
            Relation.SUBSTITUTE: "they must have the same length and differ in exactly one record",
        }[relation]
        raise InvalidInputError(f"the pair {a!r} and {b!r} is not neighbouring under {relation}: {rule}")


@dataclass(frozen=True, slots=True)
class Slot:
    """A row on both sides or on one side. A slot is ``frozen`` if a change of it could increase the sides' distance."""

    left: Row
    right: Row
    common: bool = False
    frozen: bool = False

    @property
    def rows(self) -> list[Row]:
        """The rows of this slot: one if the row is common or on one side only, else two."""
        return [row for row in ((self.left,) if self.common else (self.left, self.right)) if row is not NO_ROW]


def in_both(row: Row) -> Slot:
    """Return the slot of a row that both sides have."""
    return Slot(row, row, common=True)


def aligned(left: Sequence[Row], right: Sequence[Row], relation: Relation) -> list[Slot]:
    """Align the rows of both sides: place by place under substitute, else from both ends inwards."""
    if relation is Relation.SUBSTITUTE:
        return [Slot(a, b, common=same(a, b)) for a, b in zip(left, right, strict=True)]
    most = min(len(left), len(right))
    head = next((i for i in range(most) if not same(left[i], right[i])), most)
    tail = next((i for i in range(most - head) if not same(left[-1 - i], right[-1 - i])), most - head)
    gone, come = left[head : len(left) - tail], right[head : len(right) - tail]
    # If rows were added and others removed, some rows between may be common to both sides, so these slots are frozen.
    both = bool(gone and come)
    middle = [Slot(row, NO_ROW, frozen=both) for row in gone]
    middle += [Slot(NO_ROW, row, frozen=both) for row in come]
    return [*map(in_both, left[:head]), *middle, *map(in_both, left[len(left) - tail :])]


def distinct(pairs: Iterable[Pair | None], most: int | None = None) -> list[Pair]:
    """Return the pairs without None and without repetitions, in their order; at most ``most`` of them."""
    by_key: dict[str, Pair] = {}
    for pair in filter(None, pairs):
        if len(by_key) == most:
            break
        by_key.setdefault(pair.key(), pair)
    return list(by_key.values())


@dataclass(frozen=True, slots=True)
class Lazy(Sequence[T]):
    """A sequence whose items are made when they are read: for most paths of neighbours, only the ends are needed."""

    numbers: range
    item: Callable[[int], T]

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Self: ...

    def __getitem__(self, place: int | slice) -> T | Self:
        at_place = self.numbers[place]
        return self.item(at_place) if isinstance(at_place, int) else replace(self, numbers=at_place)

    def __len__(self) -> int:
        return len(self.numbers)


def check_differ(pairs: Iterable[Pair]) -> None:
    """Raise InvalidInputError if the sides of a pair are equal, or if a side has an integer that is too long to write.

    1 and 1.0 differ, since a mechanism may distinguish them. Objects that a report shows in part are not compared.
    """
    for pair in pairs:
        shown = _is_shown_in_full(pair.left) and _is_shown_in_full(pair.right)
        if shown and repr(plain(pair.left)) == repr(plain(pair.right)):
            raise InvalidInputError(
                f"both sides of a pair are {plain(pair.left)!r}: two equal data sets show no difference; the "
                f"right side must be a neighbour of the left side"
            )


def _is_shown_in_full(data: Any) -> bool:
    """Whether ``plain`` keeps all of the data. Raises InvalidInputError for an integer that is too long to write."""
    if isinstance(data, np.ndarray | np.generic):
        return _is_shown_in_full(data.tolist())
    if isinstance(data, dict):
        return all(isinstance(key, str) for key in data) and all(map(_is_shown_in_full, data.values()))
    if isinstance(data, list | tuple):
        return all(map(_is_shown_in_full, data))
    if isinstance(data, int) and not -LEAST_LONG < data < LEAST_LONG:
        raise InvalidInputError(f"a data set holds an integer of over {LONGEST_NUMBER:,} digits, the limit")
    return data is None or isinstance(data, bool | int | float | str)
