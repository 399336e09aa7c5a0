"""A domain recognises its own pairs in a report, which may be forged, and accepts no others."""

import copy
import json
import math
from typing import Any

import pytest
from pairs_of_domains import with_simpler

from auditor import Frame, Pairs, Records, Valid, Value
from auditor.neighbours.pair import Relation, Side
from auditor.results.files import to_json
from auditor.untrusted_files import words_as_floats

COLUMNS: dict[str, Any] = {
    "age": {"type": "integer", "low": 0, "high": 90, "null": True},
    "pay": {"type": "number", "low": 0, "high": 10, "nan": True, "infinite": True, "outside": True},
    "small": {"type": "number", "low": -1, "high": 1, "dtype": "float32"},
    "day": {"type": "date", "low": "2020-01-01", "high": "2024-12-31"},
    "at": {"type": "datetime"},
    "kind": {"type": "categorical", "choices": ["a", "b", "c"]},
    "is": {"type": "boolean"},
    "note": {"type": "text"},
}
DOMAINS = {
    "numbers": Records((0, 10), size=(0, 6)),
    "integers": Records((0, 10), size=(2, 6), integer=True, relation="substitute"),
    "choices": Records(choices=["a", "b"], size=(0, 4), container="list"),
    "columns": Records(columns=[{"low": 0, "high": 1}, {"choices": ["x", "y"]}], size=(0, 4)),
    "far apart": Records((0, 10), size=(0, 6), distance=3),
    "rows": Frame(COLUMNS, size=(0, 5)),
    "rows replaced": Frame(COLUMNS, size=(1, 5), relation="substitute", form="pandas"),
    "persons": Frame(COLUMNS, size=(0, 8), id="id", rows_per_person=(1, 3)),
    "persons replaced": Frame(COLUMNS, size=(1, 8), id="id", rows_per_person=(1, 3), relation="substitute"),
    "rows of persons": Frame(COLUMNS, size=(0, 8), id="id", rows_per_person=(1, 3), unit="row"),
    "values": Value(["a", "b", "c"]),
    "a range": Value(range=[0.0, 5.0]),
    "whole numbers": Value(range=[0, 500]),
    "pairs": Pairs([([1], [1, 2]), ([2], [])], relation="add_remove"),
    "valid": Valid(Records((0, 10), size=(0, 6)), lambda data: len(data) > 0),
}


SIDES: tuple[Side, Side] = ("left", "right")


def read_back(data: Any) -> Any:
    return words_as_floats(json.loads(to_json(data)))


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=list(DOMAINS))
def test_a_domain_knows_its_own_pairs_as_a_report_has_them(domain: Any) -> None:
    # One walk may have 29 of 250 pairs whose moves meet, and eight walks together fewer than one in ten.
    walks = 8 if getattr(domain, "distance", 1) > 1 else 1
    pairs = domain.corners()
    if len(pairs) > 2:
        pairs = [pair for seed in range(walks) for pair in with_simpler(domain, seed)]
    recognised = 0
    for pair in pairs:
        written = pair.to_dict()
        own = domain.own(read_back(written["left"]), read_back(written["right"]))
        if own is None:
            continue
        recognised += 1
        assert own.texts() == pair.texts()
        assert (own.relation, own.form) == (pair.relation, pair.form)
        if recognised % 8 == 1:  # frames of pandas take long to write
            assert [repr(own.dataset(side)) for side in SIDES] == [repr(pair.dataset(side)) for side in SIDES]
    # Infinities in text columns, and moves that meet, may be refused, which only costs a second search.
    assert recognised > 0.9 * len(pairs)


NOT_OWN: list[tuple[str, Any, Any]] = [
    ("numbers", [], [1.0, 2.0]),
    ("numbers", [1.0], [1.0]),
    ("numbers", [1.0], [2.0]),
    ("numbers", [], [11.0]),
    ("numbers", [], [1]),
    ("numbers", [], [math.nan]),
    ("numbers", [], [True]),
    ("numbers", [0.0] * 6, [0.0] * 7),
    ("numbers", [0.0, 0.0], [-0.0, -0.0, 1.0]),
    ("numbers", [1.0, 2.0], [2.0, 1.0, 3.0]),
    ("numbers", "ab", "abc"),
    ("numbers", None, [1.0]),
    ("numbers", {"a": 1.0}, {}),
    ("numbers", [], [[1.0]]),
    ("integers", [1, 2], [3, 4]),
    ("integers", [1], [2]),
    ("integers", [1, 2], [1, 2, 3]),
    ("choices", [], ["c"]),
    ("columns", [], [[0.5, "x", 1]]),
    ("columns", [], ["xy"]),
    ("far apart", [], [1.0] * 4),
    ("values", "a", "d"),
    ("values", "a", "a"),
    ("a range", 0.0, 5.5),
    ("a range", 0.0, 1),
    ("whole numbers", 0, 501),
    ("pairs", [1, 2], [1]),
    ("pairs", [1], [1, 2, 3]),
    ("valid", [], [1.0]),
]


@pytest.mark.parametrize(("name", "left", "right"), NOT_OWN)
def test_a_domain_takes_no_other_pair(name: str, left: Any, right: Any) -> None:
    assert DOMAINS[name].own(left, right) is None


def row(number: int, **changes: Any) -> dict[str, Any]:
    usual = {
        "age": 1,
        "pay": 1.0,
        "small": 0.5,
        "day": "2020-01-01",
        "at": "2000-01-01T00:00:00",
        "kind": "a",
        "is": True,
    }
    return {"id": number, **usual, "note": "", **changes}


@pytest.mark.parametrize(
    ("left", "right", "is_own"),
    [
        ([], [row(1)], True),
        ([], [row(1), row(1)], True),
        ([row(1)], [row(1), row(2), row(2, age=None)], True),
        ([], [row(1), row(2)], False),
        ([], [row(1)] * 4, False),
        ([row(1)], [row(1), row(1)], False),
        ([row(1), row(2)], [row(2), row(1), row(3)], False),
        ([], [row(0)], False),
        ([], [row(True)], False),
        *[
            ([], [row(1, **{name: value})], False)
            for name, value in (
                ("age", 91),
                ("age", 1.0),
                ("pay", "x"),
                ("pay", 1),
                ("small", 0.1),
                ("day", "2019-12-31"),
                ("day", 1),
                ("at", "now"),
                ("kind", "d"),
                ("kind", None),
                ("is", 1),
                ("note", 1),
                ("other", 1),
            )
        ],
    ],
)
def test_of_frames_only_persons_who_may_come_are_taken(left: Any, right: Any, is_own: bool) -> None:
    assert (DOMAINS["persons"].own(left, right) is not None) == is_own
    # Whatever may be added may be removed.
    assert (DOMAINS["persons"].own(copy.deepcopy(right), left) is not None) == is_own


def test_who_is_replaced_stays_the_same_person() -> None:
    domain: Any = DOMAINS["persons replaced"]
    assert domain.own([row(1)], [row(1, age=2)]).relation is Relation.SUBSTITUTE
    assert domain.own([row(1)], [row(2)]) is None
    assert domain.own([row(1), row(2)], [row(1, age=2), row(2, age=2)]) is None
