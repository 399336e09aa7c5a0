"""The limits of domains: which of two domains contains all data sets of the other, and that reports keep the facts
that decide it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_results import made

from auditor import Frame, Records, Totals, Value
from auditor.bounds.digits import round_floats
from auditor.claims import PureDP
from auditor.interfaces import Domain
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.domains import DataSets, Pairs, Valid
from auditor.neighbours.limits import MOST_LISTED, any_of, has_all
from auditor.neighbours.totals import OneNumber, TotalsByKey, groups
from auditor.report.compare import compare
from auditor.results.files import to_json
from auditor.results.result import AuditResult, OutputsSpent, RunResult
from auditor.sessions.dialogues import Dialogues
from auditor.verdict import Verdict


def records(size: tuple[int, int] = (0, 9), **more: Any) -> Records:
    given: dict[str, Any] = {"record": (0, 5), "integer": True, "relation": "add_remove", **more}
    return Records(size=size, **given)


def frame(age: dict[str, Any] | None = None, **more: Any) -> Frame:
    columns = {"age": {"type": "integer", "low": 0, "high": 99, **(age or {})}, **more.pop("columns", {})}
    return Frame(columns, **more)


def kept(value: Any) -> bool:
    return True


def cells(number: int = 3, values: tuple[float, float] = (0, 9), most: float = 2, norm: str = "l1") -> Domain:
    return Totals(cells=number, values=values, contribution={norm: most})


def keys(names: Sequence[str] = "ab", l0: int = 1, linf: int = 2, **more: Any) -> TotalsByKey:
    return TotalsByKey(names, (0, 9), contribution={"l0": l0, "linf": linf, **more})


def asked(questions: Any = ("a", "b"), base: Domain | None = None, **more: Any) -> Dialogues:
    given = list(questions) if isinstance(questions, tuple) else questions
    return Dialogues(base or records(), given, **more)


def people(vectors: Sequence[Sequence[int]] = ((1, 0), (0, 1)), most: int = 9) -> Any:
    return Totals(vectors, (0, most))


CHOSEN = Records(choices=["a", "b", "c"], size=(0, 3), relation="add_remove")
FEWER_CHOSEN = Records(choices=["a", "b", "d"], size=(0, 3), relation="add_remove")
ADDED = {"columns": {"sex": {"type": "categorical", "choices": ["f", "m"]}}}
LESS_ADDED = {"columns": {"sex": {"type": "categorical", "choices": ["f"]}}}
DATED = {"columns": {"on": {"type": "date", "low": "2024-02-01", "high": "2024-10-01"}}}
LESS_DATED = {"columns": {"on": {"type": "date", "low": "2024-02-01", "high": "2024-09-30"}}}


def pairs(one: Any, *others: Any) -> list[tuple[Any, Any]]:
    return [(one, other) for other in others]


# The first domain contains all data sets of the second, and others too.
WIDER: list[tuple[Any, Any]] = [
    *pairs(records(), records((1, 9)), records((0, 8)), records(record=(0, 4)), Valid(records(), kept)),
    *((one, records()) for one in (records(record=(-1, 5)), records(distance=2))),
    *pairs(records(columns=2), records(columns=2, record=(1, 5)), records((1, 9), columns=2)),
    (Valid(records(), kept), Valid(records((0, 8)), kept)),
    (CHOSEN, Records(choices=["a", "b"], size=(0, 3), relation="add_remove")),
    *((Value(values=[1, 2, 3]), Value(values=[3, 1])), (Value(range=(0, 9)), Value(range=(1, 9)))),
    *pairs(OneNumber((0, 9), 2), OneNumber((0, 9), 1), OneNumber((0, 8), 2)),
    (Pairs([(0, 1), (1, 2)]), Pairs([(0, 1)])),
    (Pairs([([1, 2.5], [1]), (["a"], [])]), Pairs([([], ["a"])])),
    (DataSets(records()), DataSets(records((0, 8)))),
    *pairs(frame(size=(0, 9)), frame(size=(1, 9)), frame({"low": 1}, size=(0, 9))),
    (frame({"outside": True, "null": True}), frame({"outside": True})),
    *pairs(frame(**ADDED), frame(**LESS_ADDED), frame()),
    (frame(**DATED), frame(**LESS_DATED)),
    *((one, frame()) for one in (frame({"null": True}), frame(order="shuffled"), frame(distance=2))),
    (frame(id="who", rows_per_person=(1, 3)), frame(id="who", rows_per_person=(1, 2))),
    *pairs(people(), people(most=8), groups(people(), 2)[1]),
    (people(((1, 0), (0, 1), (1, 1))), people()),
    *pairs(cells(), cells(values=(0, 8)), cells(most=1)),
    *((keys("abc"), keys("ab")), (keys(), keys(linf=1))),
    *pairs(keys(l0=2), keys(), keys(l0=2, l1=3)),
    *((one, asked()) for one in (asked(("a", "b", "c")), asked(sessions=2))),
    (asked(rounds=4), asked(rounds=3)),
    (asked({"range": [0, 9]}), asked({"range": [0, 8]})),
    (asked(), asked(base=records((1, 9)))),
    (Canaries([1, 2, 3], "a:b"), Canaries([4, 5], "a:b")),
    *((Canaries([1, 2, 3], "a:b", **more), Canaries([1, 2, 3], "a:b")) for more in ({"runs": 2}, {"records": [1]})),
]
# Neither domain contains all data sets of the other.
OTHERS: list[tuple[Any, Any]] = [
    (records((0, 9)), records((1, 10))),
    (records((0, 9), record=(0, 4)), records((0, 8))),
    *pairs(records(), records(integer=False), records(relation="substitute"), records(columns=1), CHOSEN),
    *pairs(records(), Value(range=(0, 9)), Pairs([([], [0])])),
    *((CHOSEN, FEWER_CHOSEN), (records(columns=2), records(columns=3))),
    *pairs(frame(), frame(relation="substitute"), frame({"dtype": "int32"})),
    *((frame(**ADDED), frame({"low": -1})), (frame(id="who"), frame(id="whose"))),
    *pairs(people(), Totals(((1, 0), (0, 1)), (0, 9), relation="substitute"), people(((1, 1), (0, 1)))),
    *((Pairs([([0], [])], "add_remove"), Pairs([([0], [])])), (Pairs([(0, 1)]), Pairs([(0, 2)]))),
    (Valid(records(), kept), Valid(records(), len)),
    *((cells(3), cells(4)), (cells(norm="l1"), cells(norm="l2"))),
    (asked({"script": ["a"]}), asked({"script": ["b"]})),
    (asked(meter={"at": 1}), asked(meter={"at": 2})),
]


def limits(domain: Any) -> Any:
    """Return the limits as a report stores them."""
    return json.loads(to_json(round_floats(domain.limits())))


@pytest.mark.parametrize(("wide", "narrow"), WIDER, ids=[f"{one} / {other}" for one, other in WIDER])
def test_a_wider_domain_has_all_data_sets_and_a_narrower_one_has_not(wide: Any, narrow: Any) -> None:
    assert has_all(limits(wide), limits(narrow))
    assert not has_all(limits(narrow), limits(wide))
    assert has_all(limits(wide), limits(wide))


@pytest.mark.parametrize(("one", "other"), OTHERS, ids=[f"{one} / {other}" for one, other in OTHERS])
def test_of_two_that_differ_otherwise_neither_has_all(one: Any, other: Any) -> None:
    assert not has_all(limits(one), limits(other))
    assert not has_all(limits(other), limits(one))


def test_texts_are_those_of_another_process_and_of_any_length() -> None:
    class Own:
        pass

    assert any_of([Own()]) == any_of([Own()])
    assert any_of(["x" * 99]) != any_of(["x" * 98 + "y"])
    assert all(len(text) <= 60 for text in any_of(["x" * 99, np.zeros(99)]))
    many = [any_of(range(MOST_LISTED + extra)) for extra in (1, 2, 2)]
    assert many[0] != many[1] == many[2]
    assert len(many[0]) == MOST_LISTED + 1


class Described(Pairs):
    """A user's domain, which does not state its limits."""

    limits = Domain.limits

    def __init__(self) -> None:
        super().__init__([(0, 1)])

    def __str__(self) -> str:
        return "data sets of somebody"


def test_a_domain_of_ones_own_is_compared_by_its_words() -> None:
    described = Described()
    assert has_all(limits(described), limits(Described()))
    assert not has_all(limits(records()), limits(described))


def of(domain: Any) -> RunResult:
    audit: AuditResult = made(
        name="one",
        mechanism="module:function",
        claim=PureDP(1),
        verdict=Verdict.NO_VIOLATION_FOUND,
        expected=Verdict.NO_VIOLATION_FOUND,
        outputs=OutputsSpent(0, 20_000, 200_000),
        stop_reason="all drawn",
        seconds=1.0,
        reproducible=True,
        seed=7,
    )
    tried = replace(audit.tried, neighbours=str(domain), limits=limits(domain))
    return RunResult("run", 0.999, [replace(audit, provenance=replace(audit.provenance, tried=tried))])


@pytest.mark.parametrize(("wide", "narrow"), WIDER[::4])
def test_fewer_data_sets_are_worse_and_more_are_a_note(wide: Any, narrow: Any) -> None:
    [change] = compare(of(wide), of(narrow))
    assert (change.kind, ": there are fewer, by " in change.what) == ("worse", True)
    [change] = compare(of(narrow), of(wide))
    assert (change.kind, ": there are more, by " in change.what) == ("note", True)
    assert compare(of(wide), of(wide)) == []


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_other_data_sets_are_worse_unless_pairs_gave_way_to_a_domain(one: Any, other: Any) -> None:
    [change] = compare(of(one), of(other))
    assert (change.kind, change.what.endswith("; not comparable")) == ("worse", True)
    [change] = compare(of(other), of(one))
    gave_way = isinstance(other, Pairs) and not isinstance(one, Pairs)
    assert change.kind == ("not compared" if gave_way else "worse")


def test_a_report_without_limits_is_compared_by_words() -> None:
    old, new = of(records()), of(records((0, 8)))
    before = old.audits[0]
    tried = replace(before.tried, limits={})
    old = replace(old, audits=[replace(before, provenance=replace(before.provenance, tried=tried))])
    for other in (new, of(records())):
        [change] = compare(old, other)
        assert change.kind == "not compared"
