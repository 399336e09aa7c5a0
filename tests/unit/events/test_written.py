"""Rules of every kind survive the conversion to plain data and back."""

import importlib
import inspect
import json
import pkgutil
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import auditor.events
from auditor.blackbox.canonical import from_list
from auditor.events.cells import Cells
from auditor.events.event import RECORDS, read_rule, written
from auditor.events.features import (
    Decimals,
    Difference,
    EvidenceSum,
    HowMany,
    LowestBit,
    OrderStatistic,
    Place,
    WhereLargest,
    Whole,
)
from auditor.events.logistic import LogisticScore, _Terms
from auditor.events.text import (
    TEXT_COUNTERS,
    Letter,
    NumberInText,
    Remainder,
    Template,
    TextCount,
    TextPart,
    features_of_texts,
)
from auditor.results.files import to_json

CELLS = Cells((-float("inf"), 0.1 + 0.2), (1.0, 0.0, -1.0), {"NaN": 1.0, "'Infinity'": -1.0}, 0.5)


@pytest.mark.parametrize(
    "feature",
    [
        Place("NaN"),
        Whole(("output", "type")),
        LowestBit("output"),
        Decimals("output"),
        Difference("output[1]", "output[0]"),
        OrderStatistic(("a", "b"), 1),
        WhereLargest(("a", "b")),
        HowMany(("a", "b"), float("inf")),
        EvidenceSum(((Place("a"), CELLS), (Difference("a", "b"), CELLS)), "sum"),
        LogisticScore((_Terms("a", (0.1, 1e300), ("NaN",)), _Terms("b", (), ())), ((0, 1),), -0.1, (1 / 3, 2.0)),
        *(TextCount("output", of=kind) for kind in TEXT_COUNTERS),
        *(TextCount("output", letter=letter) for letter in ("b", "\0", "\ud800", "::")),
        *(TextCount("output", word=word) for word in ("kind", "Infinity", "NaN")),
        Letter("output", -1),
        TextPart("output", 0, ("kind", "NaN")),
        NumberInText("output", 1),
        Template("output", ("a#", "Infinity")),
        Remainder("output", 7),
    ],
    ids=lambda feature: type(feature).__name__,
)
def test_a_rule_is_read_as_it_was(feature: Any) -> None:
    rule = written(feature=feature, cells=CELLS)
    assert rule is not None
    assert read_rule(json.loads(to_json(rule)), "feature", "cells") == [feature, CELLS]


def test_no_field_of_a_record_hides_what_the_record_is() -> None:
    """A report writes the class of a record under "kind", so no field may have this name."""
    assert {name for name, record in RECORDS.items() if "kind" in {field.name for field in fields(record)}} == set()


def test_every_feature_of_texts_is_read_as_it_was() -> None:
    texts = [f"{letter} {number:05} end-{number % 7}" for number, letter in zip(range(3000), "abc" * 1000, strict=True)]
    outputs = from_list(texts)
    features = [*features_of_texts(outputs, ["output"])]
    assert len({type(feature) for feature in features}) > 3
    for feature in features:
        rule = written(feature=feature)
        assert rule is not None
        assert read_rule(json.loads(to_json(rule)), "feature") == [feature]


def test_every_feature_of_the_room_can_be_written() -> None:
    modules = [
        importlib.import_module(f"auditor.events.{m.name}") for m in pkgutil.iter_modules(auditor.events.__path__)
    ]
    features = {
        record
        for module in modules
        for _, record in inspect.getmembers(module, inspect.isclass)
        if is_dataclass(record) and hasattr(record, "extract")
    }
    assert len(features) >= 10
    assert features <= {*RECORDS.values()}


def test_what_is_not_known_is_not_written() -> None:
    class Foreign(Place):
        pass

    assert written(feature=Foreign("output")) is None
