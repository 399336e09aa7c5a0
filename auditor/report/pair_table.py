"""A pair as one table: of two frames, with a mark on rows that only one side has, or of a dialogue."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.neighbours.pair import Pair, Relation, data_words, plain
from auditor.results.result import AuditResult, Turn

BOTH, LEFT, RIGHT, DIFFERENT = "", "left only", "right only", "differs"
DIFFERS = (LEFT, RIGHT, DIFFERENT)
MOST_LETTERS = 400
MOST_ROWS = 40
PAIR = "the pair"

_Cells = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairTable:
    """The columns' names, and lines: a mark, then a cell for each column. The mark says which side alone has the row.

    For a dialogue the mark is a question, and the cells are the answers on both sides. ``marks`` is the heading of the marks.
    """

    columns: _Cells
    lines: tuple[tuple[str, _Cells], ...]
    marks: str = "rows"

    def text(self) -> list[str]:
        """Return the table as lines of text, with a heading."""
        lines = [("", self.columns), *self.lines]
        widths = [max(len(cells[i]) for _, cells in lines) for i in range(len(self.columns))]
        first = max(len(mark) for mark, _ in lines)
        return ["  ".join([mark.ljust(first), *map(str.ljust, cells, widths)]).rstrip() for mark, cells in lines]


def pair_table(pair: Pair | None, dialogue: Sequence[Turn] = ()) -> PairTable | None:
    """Return the table of a dialogue, or of a pair whose data sets are rows with the same columns; None for any other pair."""
    if dialogue:
        numbered = enumerate(dialogue, start=1)
        lines = [(f"{number}. {turn.question}", (turn.left, turn.right)) for number, turn in numbered]
        return PairTable(("answer on the left", "answer on the right"), tuple(lines[:MOST_ROWS]), "questions")
    sides = [] if pair is None else [plain(data) for data in (pair.left, pair.right) if data is not None]
    if not all(isinstance(data, list) and all(isinstance(row, dict) for row in data) for data in sides):
        return None
    rows = [row for data in sides for row in data]
    if not rows or not rows[0] or any(row.keys() != rows[0].keys() for row in rows):
        return None
    columns = tuple(rows[0])
    left, *right = [[tuple(_cell(row[name]) for name in columns) for row in data] for data in sides]
    alone = pair is not None and pair.relation is Relation.ALONE
    compared = [*_shortened(left)] if alone or not right else [*_compared(left, right[0])]
    return PairTable(columns, tuple(compared[:MOST_ROWS]))


def any_table(pair: Pair | None, dialogue: Sequence[Turn] = ()) -> PairTable | None:
    """Return ``pair_table`` if there is one, and otherwise a table of records, of numbers by key or place, or of two values."""
    table = pair_table(pair, dialogue)
    if pair is None or table is not None:
        return table
    left, right = plain(pair.left), plain(pair.right)
    if pair.relation is Relation.ALONE or right is None:
        return PairTable(("data set",), (("", (data_words(left, MOST_LETTERS),)),), "")
    if isinstance(left, dict) and isinstance(right, dict):
        return _by_key(left, right, "key")
    if not (isinstance(left, list) and isinstance(right, list)):
        both = data_words(left, MOST_LETTERS), data_words(right, MOST_LETTERS)
        return PairTable(("left", "right"), (("", both),), "")
    if len(left) == len(right) and pair.relation is Relation.ADD_REMOVE:
        return _by_key(dict(enumerate(left, start=1)), dict(enumerate(right, start=1)), "place")
    width = max((len(row) for row in (*left, *right) if isinstance(row, list)), default=1)
    columns = ("record",) if width == 1 else tuple(f"column {i}" for i in range(1, width + 1))
    rows = [[record if isinstance(record, list) else [record] for record in side] for side in (left, right)]
    cells = [[tuple(map(_cell, (*row, *[""] * (width - len(row))))) for row in side] for side in rows]
    return PairTable(columns, tuple([*_compared(*cells)][:MOST_ROWS]), "records")


def _by_key(left: dict[Any, Any], right: dict[Any, Any], what: str) -> PairTable:
    """Return the numbers of both sides by key, with a mark on numbers that differ."""
    keys = dict.fromkeys([*left, *right])
    rows = [(str(key), _cell(left.get(key, 0)), _cell(right.get(key, 0))) for key in keys]
    lines = [(DIFFERENT if row[1] != row[2] else BOTH, row) for row in rows]
    differing = [line for line in lines if line[0] == DIFFERENT]
    return PairTable((what, "left", "right"), tuple(lines if len(lines) <= MOST_ROWS else differing[:MOST_ROWS]), "")


def pair_tables(audit: AuditResult) -> list[tuple[str, PairTable]]:
    """Return the tables of the audit's pair, and of the smallest pair if that is another, each with a caption."""
    tables = [(PAIR, pair_table(audit.pair, audit.illustration.dialogue))]
    if audit.smallest is not None and audit.smallest.pair != audit.pair:
        smallest = pair_table(audit.smallest.pair, audit.smallest.dialogue)
        tables.append(("the smallest pair that still breaks the claim", smallest))
    return [(caption, table) for caption, table in tables if table is not None]


def _cell(value: object) -> str:
    return "null" if value is None else str(value) if isinstance(value, int | float) else repr(value)


def _compared(left: Sequence[_Cells], right: Sequence[_Cells]) -> Iterator[tuple[str, _Cells]]:
    """Yield rows with their marks. If most rows stand in another order on the other side, the order is ignored."""
    blocks = difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    counts = Counter(left), Counter(right)
    gone, come = counts[0] - counts[1], counts[1] - counts[0]
    marked = sum(b - a + d - c for kind, a, b, c, d in blocks if kind != "equal")
    if marked > 2 * max(1, gone.total() + come.total()):
        yield from _shortened([*(counts[0] & counts[1]).elements()])
        yield from ((LEFT, row) for row in gone.elements())
        yield from ((RIGHT, row) for row in come.elements())
        return
    for kind, a, b, c, d in blocks:
        if kind == "equal":
            yield from _shortened(left[a:b])
        else:
            yield from ((LEFT, row) for row in left[a:b])
            yield from ((RIGHT, row) for row in right[c:d])


def _shortened(rows: Sequence[_Cells]) -> Iterator[tuple[str, _Cells]]:
    """Yield rows that both sides have. If there are more than six, the middle rows are replaced by their number."""
    if len(rows) <= 6:
        yield from ((BOTH, row) for row in rows)
        return
    yield from ((BOTH, row) for row in rows[:2])
    yield (f"… {len(rows) - 4:,} more", ("…",) * len(rows[0]))
    yield from ((BOTH, row) for row in rows[-2:])
