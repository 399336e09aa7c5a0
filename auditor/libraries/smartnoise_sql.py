"""A smartnoise-sql private reader with a query. The output is the answer on a frame that the metadata allow.

The metadata state the columns and their bounds, which column identifies the person, and how many rows of a person count.
The reader states what a query costs. Neighbours differ by a person who is added or removed, or with `row_privacy` by a row.
"""

import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from auditor.adapters import Adapted
from auditor.errors import InvalidInputError
from auditor.libraries.adapting import DEFAULT_REACH, DEFAULT_SIZE, dp_claim, note_chosen_values
from auditor.neighbours.frames import Frame
from auditor.neighbours.totals import OneNumber

DEFAULT_RANGE, DEFAULT_TEXTS = (0, DEFAULT_REACH), ("a", "b")
TIME_RANGE = {"low": "2024-01-01T00:00:00", "high": "2024-12-31T00:00:00"}


def from_smartnoise_sql(
    thing: Any,
    *,
    query: str | None = None,
    size: Sequence[int] | None = None,
    range: Sequence[float] | None = None,
    choices: Sequence[str] | None = None,
) -> Adapted:
    """Adapt a private reader, or a mechanism that adds noise.

    Args:
        thing: the reader, whose metadata have one table. The data that it reads are not used.
        query: the question in SQL.
        size: [low, high], how many rows there are.
        range: [low, high], the numbers of columns without bounds, or those that a mechanism adds noise to.
        choices: the texts of the columns that hold texts.

    Raises InvalidInputError for anything else, for metadata of several tables, and for a query that the library refuses.
    """
    if hasattr(thing, "release") and hasattr(thing, "sensitivity"):
        apart = float(thing.sensitivity * thing.max_contrib)
        chosen = dict[str, Any]()
        far = max(DEFAULT_REACH, 10 * apart)
        low, high = range or chosen.setdefault("range", (-far, far))
        domain = OneNumber((float(low), float(high)), apart)
        claim = dp_claim(thing.epsilon, thing.delta)
        return Adapted(NoisyRelease(thing), claim, domain, note_chosen_values("smartnoise-sql", chosen))
    if not hasattr(thing, "get_privacy_cost"):
        raise InvalidInputError(
            f"{type(thing).__name__} of smartnoise-sql is not a private reader or a mechanism that adds noise"
        )
    tables = thing.metadata.tables()
    if len(tables) != 1:
        raise InvalidInputError(f"the metadata of the reader have {len(tables)} tables; they must have one")
    mechanism = QueryAnswer(thing.metadata, thing.privacy, query or "")
    if query is None:
        return Adapted(mechanism, wanting="a reader does not say what it is asked; say `query`")
    try:
        cost, groups = thing.get_privacy_cost(query), _groups(thing.parse_query_string(query))
    except Exception as error:  # of the library
        raise InvalidInputError(f"smartnoise-sql refuses the query {query!r}: {error}") from None
    chosen = {}
    neighbours = _frames_of_table(tables[0], size, range, choices, chosen)
    assumptions = note_chosen_values("smartnoise-sql", chosen)
    if groups and not tables[0].censor_dims:
        assumptions += ("`censor_dims` is false, so the query shows which groups have rows",)
    return Adapted(mechanism, dp_claim(*cost), neighbours, assumptions)


@dataclass(frozen=True, slots=True)
class NoisyRelease:
    """A mechanism as a function of one number."""

    wrapped: Any

    def __call__(self, value: float) -> Any:
        return self.wrapped.release([value])[0]


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """A query as a function of a frame. Each answer has the whole budget."""

    metadata: Any
    privacy: Any
    query: str

    def __call__(self, frame: Any, size: int) -> list[Any]:
        library, privacy = import_module("snsql"), copy.deepcopy(self.privacy)
        kinds = privacy.mechanisms.classes
        kinds.update({name: functools.partial(_find_scale_once, kind) for name, kind in kinds.items()})
        reader = library.from_df(frame, privacy=privacy, metadata=self.metadata)
        groups = _groups(reader.parse_query_string(self.query))
        return [_group_rows(reader.execute(self.query), groups) for _ in range(size)]


def _find_scale_once(kind: Any, epsilon: float, **keywords: Any) -> Any:
    """Return a smartnoise-sql mechanism. The search for its scale is slow, so it is done once for equal arguments."""
    # A copy, since the library changes the δ of a mechanism.
    return copy.copy(_find_scale(kind, epsilon, tuple(sorted(keywords.items()))))


@functools.cache
def _find_scale(kind: Any, epsilon: float, keywords: tuple[tuple[str, Any], ...]) -> Any:
    return kind(epsilon, **dict(keywords))


def _groups(query: Any) -> set[str]:
    return {str(column.name) for column in query.agg.groupedColumns()} if query.agg else set()


def _group_rows(answer: Sequence[Any], groups: set[str]) -> Any:
    """Return the rows of an answer: a dict by group if the answer shows the columns of the groups, otherwise a list."""
    names, *rows = answer
    shown = [place for place, name in enumerate(names) if name in groups]
    if not groups or len(shown) < len(groups):
        return [list(row) for row in rows]
    rest = [place for place in range(len(names)) if place not in shown]
    return {
        ", ".join(str(row[place]) for place in shown): {str(names[place]): row[place] for place in rest} for row in rows
    }


def _frames_of_table(
    table: Any,
    size: Sequence[int] | None,
    range: Sequence[float] | None,
    choices: Sequence[str] | None,
    chosen: dict[str, Any],
) -> Frame:
    """Return the frames that a table's metadata allow."""
    owner = next((column.name for column in table.key_cols()), None)
    columns = dict[str, dict[str, Any]]()
    for column in table.columns():
        kind = column.typename()
        if column.name == owner or kind == "unknown":
            continue
        description: dict[str, Any] = {
            "type": {"int": "integer", "float": "number", "string": "categorical"}.get(kind, kind)
        }
        if kind in ("int", "float"):
            low, high = column.lower, column.upper
            if low is None or high is None:
                low, high = range or chosen.setdefault("range", DEFAULT_RANGE)
            # Numbers beyond the bounds are tried if the library clamps them.
            description |= {"low": low, "high": high, "outside": bool(table.clamp_columns) and not column.unbounded}
        elif kind == "string":
            description["choices"] = choices or chosen.setdefault("choices", DEFAULT_TEXTS)
        elif kind == "datetime":
            description |= TIME_RANGE
        columns[column.name] = description | {"null": bool(column.nullable or column.missing_value is not None)}
    # A person may have one row more than are counted, which shows whether extra rows are dropped.
    rows = (1, table.max_ids + bool(table.sample_max_ids)) if owner else None
    return Frame(
        columns, size=size or chosen.setdefault("size", DEFAULT_SIZE), id=owner, rows_per_person=rows, form="pandas"
    )
