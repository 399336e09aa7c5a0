"""An event: a fixed rule that guesses from one output the side it came from, or abstains; and rules as plain data."""

import math
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from auditor.blackbox.outputs import OutputColumn
from auditor.blackbox.sample import Sample, part_ends
from auditor.bounds.digits import round_significant
from auditor.bounds.evidence import Counts, GuessCounts
from auditor.errors import InvalidInputError
from auditor.events import cells, features, logistic, related, text
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells, count_rules
from auditor.events.features import EvidenceSum, LowestBit, WhereLargest
from auditor.events.histogram import Histogram, histogram
from auditor.events.logistic import LogisticScore
from auditor.events.observed import Guessed, LooksAt, ObservedRule, SideCounts
from auditor.interfaces import Feature


@dataclass(frozen=True, slots=True)
class Event:
    """Guesses LEFT or RIGHT, or abstains: ``rule`` maps the value of ``feature`` at an output to the guess."""

    feature: Feature
    rule: Cells

    @classmethod
    def of(cls, observed: ObservedRule) -> "Event":
        """Return the event that was reported. Raises InvalidInputError if the report lacks its rule."""
        return cls(*read_rule(observed.rule or {}, "feature", "cells"))

    def count(self, sample: Sample) -> GuessCounts:
        """Count the guesses left, and the guesses right, on the outputs of each side."""
        return self.count_parts(sample, 1)[0]

    def count_parts(self, sample: Sample, number: int) -> list[GuessCounts]:
        """See Test."""
        return [counts for (counts,) in count_events([self], sample, number)]

    @property
    def is_one_tailed(self) -> bool:
        """Whether the rule never guesses one of the sides."""
        return not {LEFT, RIGHT} <= self.rule.worths

    def occurs_in(self, sample: Sample) -> bool:
        """Whether the rule guesses on any output of either side."""
        both = self.count(sample)
        return any(counts.hits_left or counts.hits_right for counts in (both.left, both.right))

    def decided(self) -> "Event":
        """Return the rule that guesses LEFT where this one abstains."""
        rule = self.rule
        values = tuple(LEFT if worth == ABSTAIN else worth for worth in rule.values)
        return Event(self.feature, Cells(rule.edges, values, rule.atoms, LEFT))

    def describe(self, side: float) -> str:
        """Say in words on which outputs the rule guesses ``side``."""
        feature, rule, longest = self.feature, self.rule, 400
        if isinstance(feature, WhereLargest) and feature.places[0] != "output[0]":
            guessed = rule.look_up(OutputColumn("", np.arange(len(feature.places), dtype=np.float64))) == side
            keys = dict.fromkeys(np.asarray(feature.places)[guessed].tolist(), side)
            return Cells((), (ABSTAIN,), {**keys, **rule.atoms}).describe(feature.name, side, longest=longest)
        at_end = rule.edges and rule.values.count(side) == 1 and side in (rule.values[0], rule.values[-1])
        if self._looks_at() == "score" and at_end:
            # A score is ln of P[left]/P[right].
            edge = rule.edges[0 if rule.values[0] == side else -1]
            how = "more" if (rule.values[0] == side) == (edge <= 0) else "less"
            odds = round_significant(math.exp(min(abs(edge), 700.0)), 3)
            return f"{feature.name} for the {'left' if edge > 0 else 'right'} data set is {odds:,.10g} to 1 or {how}"
        return rule.describe(feature.name, side, longest=longest)

    def report(self, counts: GuessCounts) -> ObservedRule:
        """Return the event of left guesses, with that of right guesses as its ``opposite``; a one-tailed event has no opposite."""
        sides = [self._side(LEFT, counts.left), self._side(RIGHT, counts.right)]
        if counts.one_tailed:
            sides = [side for side in sides if side.description != "never"]
        first, opposite = sides if len(sides) > 1 else (sides[0], None)
        shared = first.description, first.guess, first.counts, first.looks_at, first.form
        return ObservedRule(*shared, opposite, written(feature=self.feature, cells=self.rule))

    def _side(self, side: float, counts: Counts) -> Guessed:
        return Guessed(
            self.describe(side),
            "left" if side == LEFT else "right",
            SideCounts((counts.hits_left, counts.trials_left), (counts.hits_right, counts.trials_right)),
            self._looks_at(),
            self.rule.describe(self.feature.name, side, threshold="#"),
        )

    def _looks_at(self) -> LooksAt:
        if isinstance(self.feature, LowestBit):
            return "bits"
        return "score" if isinstance(self.feature, EvidenceSum | LogisticScore) else "values"

    def histograms(self, sample: Sample) -> tuple[Histogram, ...]:
        columns = [*map(self.feature.extract, (sample.left, sample.right))]
        return (histogram(self.feature.name, columns, self.rule),)


def count_events(events: Sequence[Event], sample: Sample, parts: int = 1) -> list[tuple[GuessCounts, ...]]:
    """Count events in each of ``parts`` parts of a sample (see ``Sample.parts``). Each feature is computed once.

    The parts are cut afterwards, since the value of a feature at an output depends on that output only.
    """
    sides = sample.left, sample.right
    guesses = dict[int, list[list[list[int]]]]()  # of each event: for each side and part, the guesses left and right
    for event in events:
        same = [at for at, other in enumerate(events) if other.feature == event.feature]
        if same[0] in guesses:
            continue
        rules = [events[at].rule for at in same]
        counted = [count_rules(rules, event.feature.extract(side), (LEFT, RIGHT), parts) for side in sides]
        guesses |= {at: [[of_rules[i] for of_rules in side] for side in counted] for i, at in enumerate(same)}
    sizes = [[end - start for start, end in part_ends(side.size, parts)] for side in sides]

    def of_event(at: int, part: int) -> GuessCounts:
        (nl, nr), ((ll, lr), (rl, rr)) = (size[part] for size in sizes), (side[part] for side in guesses[at])
        return GuessCounts(Counts(ll, nl, rl, nr), Counts(lr, nl, rr, nr), events[at].is_one_tailed)

    return [tuple(of_event(at, part) for at in range(len(events))) for part in range(parts)]


# --- Rules as plain data, and back: features with all that was learned, cells with their edges at full precision ---


def _kind_of(record: type) -> str:
    """Return the name of a class in a report: its Python name as lower-case words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", record.__name__.lstrip("_")).lower()


# RECORDS holds the classes that a rule is made of, by their names in a report.
RECORDS: dict[str, type] = {
    _kind_of(record): record
    for module in (cells, features, logistic, related, text)
    for record in vars(module).values()
    if isinstance(record, type) and is_dataclass(record) and record.__module__ == module.__name__
}


def written(**parts: Any) -> dict[str, Any] | None:
    """Return the parts of a rule as plain data. Return None if the class of a part is not in RECORDS."""
    try:
        return {name: _plain(part) for name, part in parts.items()}
    except KeyError:
        return None


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        kind = _kind_of(type(value))
        if RECORDS[kind] is not type(value):
            raise KeyError(kind)
        return {"kind": kind, **{field.name: _plain(getattr(value, field.name)) for field in fields(value)}}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def read_rule(rule: Mapping[str, Any], *names: str) -> list[Any]:
    """Return the named parts of a rule that ``written`` returned. Raises InvalidInputError that names a spoilt part.

    >>> from auditor.events.features import Place
    >>> read_rule(written(feature=Place("output[0]")), "feature")
    [Place(name='output[0]')]
    """
    missing = [name for name in names if name not in rule]
    if missing:
        raise InvalidInputError(f'the rule lacks "{missing[0]}"')
    return [_value(rule[name], name) for name in names]


def _value(data: Any, name: str) -> Any:
    if isinstance(data, list):
        return tuple(_value(item, name) for item in data)
    if not isinstance(data, dict) or "kind" not in data:
        return data
    kind = data["kind"]
    record = RECORDS.get(kind) if isinstance(kind, str) else None
    if record is None:
        raise InvalidInputError(f'"{name}" of the rule is of kind {kind!r}; this auditor knows {", ".join(RECORDS)}')
    hints = typing.get_type_hints(record)
    try:
        return record(
            **{key: _typed(_value(value, key), hints.get(key)) for key, value in data.items() if key != "kind"}
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f'"{name}" of the rule, of kind {kind!r}, is spoilt: {error}') from None


def _typed(value: Any, hint: Any) -> Any:
    """Return a value, as float if the field is of floats: JSON writes an infinity as text."""
    if hint is float:
        return float(value)
    return tuple(map(float, value)) if hint == tuple[float, ...] else value
