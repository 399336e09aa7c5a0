"""Facts about an accountant beside the verdict: what it refuses, how far above it states, and answers that contradict each other.

Two statements about one process, or a statement about less that exceeds one about more, contradict each other; yet each may be a
true bound, and the larger one merely loose. So these are facts. What an exact number contradicts is a violation, and was found
by the search.
"""

import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple, get_args

from auditor.accountants.outcome import (
    PRECISION,
    ROUNDING,
    WORDS,
    Fact,
    Statement,
    number,
    rounded_outward,
    setting,
    settings_words,
    times,
)
from auditor.accountants.points import Setting
from auditor.accountants.search import Evaluated, Search
from auditor.accountants.target import Range, Value
from auditor.errors import InvalidInputError
from auditor.exact import Composition, Process
from auditor.exact.process import ProcessRelation

# A relative difference this small between two answers that should agree is rounding.
AGREE = 1e-6
# What is stated above this multiple of the exact number is called loose.
LOOSE = 1.01
SCALES = (5.0, 0.2)
BASES = 4
# No further setting is tried for facts after this share of the time.
FACTS = 0.75


def facts_of(search: Search) -> list[Fact]:
    """Return the facts, the gravest kinds first. Asks for further settings while there is time."""
    found: list[Fact] = []
    for kind in (_unused, _units, _repeated, _ignored, _not_monotone, _negative, _infinite, _refused, _loose):
        found += kind(search)
    return found


def _all(search: Search) -> list[Evaluated]:
    return list(search.evaluated.values())


def _statements(search: Search) -> Iterator[Statement]:
    return (one.statement for one in _all(search) if one.statement is not None)


def _differ(a: float, b: float) -> bool:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return False
    return not math.isclose(a, b, rel_tol=AGREE, abs_tol=1e-12)


def _said(statement: Statement) -> float:
    """Return what the callable returned: the noise of a calibration."""
    return statement.stated if statement.noise is None else statement.noise


def _bases(search: Search) -> list[Setting]:
    """Return settings with a number: the first, the worst, and some more."""
    with_number = [one for one in _all(search) if one.statement is not None and _said(one.statement) < math.inf]
    worst = search.worst()
    chosen = [*with_number[:1], *([worst] if worst in with_number else []), *with_number[1 : 8 * BASES : 8]]
    return [dict(one.setting) for one in {id(one): one for one in chosen}.values()][:BASES]


# --- Statements that contradict each other ---


def _unused(search: Search) -> Iterator[Fact]:
    """Parameters that are no part of the process, and change what is stated about it."""
    for name in search.points.free:
        if not search.caller.uses("stated", name) or search.caller.uses("process", name) or name in _meaning(search):
            continue
        yield from _widest(search, name, lambda one: one.statement is not None)


def _meaning(search: Search) -> tuple[str, ...]:
    """Return the parameters that say where the number is stated, or the target."""
    argument = search.accountant.argument
    return ("epsilon", "delta", "mu", "rho") if search.accountant.states == "noise" else (argument,) if argument else ()


def _widest(search: Search, name: str, usable: Callable[[Evaluated], bool]) -> Iterator[Fact]:
    """Yield the largest difference between what is stated with two values of a parameter that must not matter."""
    widest: tuple[float, Statement, Statement] | None = None
    for base in _bases(search):
        if search.late(FACTS):
            break
        said = [
            one.statement for value in search.points.specials[name] if usable(one := search.at({**base, name: value}))
        ]
        numbers = [statement for statement in said if statement is not None]
        if len(numbers) < 2:
            continue
        low, high = min(numbers, key=_said), max(numbers, key=_said)
        if _differ(_said(low), _said(high)):
            factor = _said(high) / _said(low) if _said(low) > 0 else math.inf
            if widest is None or factor > widest[0]:
                widest = factor, low, high
    if widest is not None:
        _, low, high = widest
        values = [number(statement.parameters[name]) for statement in (low, high)]
        said_numbers = [number(_short(_said(statement))) for statement in (low, high)]
        yield Fact(
            "depends",
            f"{name} is no part of the process, and yet changes what is stated: {said_numbers[0]} with {values[0]}, "
            f"{said_numbers[1]} with {values[1]} (at {_without(low.parameters, name)})",
            low.parameters,
        )


def _units(search: Search) -> Iterator[Fact]:
    """Two numbers of the process that only matter by their ratio, such as noise and sensitivity, and change what is stated."""
    spaces = search.points.spaces
    names = [n for n in search.points.free if isinstance(spaces[n], Range) and search.caller.uses("process", n)]
    if search.accountant.states == "noise":
        return  # the noise that comes back has the unit, and the search compares it with the exact number
    for a, b in combinations(names, 2):
        pairs = _scaled_pairs(search, a, b)
        same = [pair for pair in pairs if pair.exactly_equal]
        if len(same) < 2 or len(same) < len(pairs):
            continue
        different = [pair for pair in same if _differ(pair.one.stated, pair.other.stated)]
        if different:
            pair = different[0]
            said = [number(_short(statement.stated)) for statement in (pair.one, pair.other)]
            yield Fact(
                "units",
                f"{a} and {b} both times {number(pair.factor)} are the same process in other units, and yet {said[0]} becomes "
                f"{said[1]} (at {setting(pair.one.parameters)})",
                pair.one.parameters,
            )


class _Scaled(NamedTuple):
    one: Statement
    other: Statement
    factor: float
    exactly_equal: bool


def _scaled_pairs(search: Search, a: str, b: str) -> list[_Scaled]:
    pairs = []
    for base in _bases(search):
        for factor in SCALES:
            scaled = {**base, **{name: _times(base[name], factor) for name in (a, b)}}
            if search.late(FACTS) or not all(scaled[name] in search.points.spaces[name] for name in (a, b)):
                continue
            one, other = search.at(base), search.at(scaled)
            alone = search.at({**base, a: scaled[a]})
            if one.statement is None or other.statement is None or alone.statement is None:
                continue
            matters = _differ(alone.statement.low, one.statement.low)  # otherwise both may just be out of use
            if matters:
                equal = not _differ(one.statement.low, other.statement.low) and not _differ(
                    one.statement.high, other.statement.high
                )
                pairs.append(_Scaled(one.statement, other.statement, factor, equal))
    return pairs


def _times(value: Value, factor: float) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    product = value * factor
    return int(product) if isinstance(value, int) and float(product).is_integer() else product


def _repeated(search: Search) -> Iterator[Fact]:
    """The same question asked again, and asked first of a process that was started anew."""
    for base in _bases(search)[:2]:
        before = search.evaluated[repr(base)].statement
        again = search.fresh(base).statement
        if before is None or again is None:
            continue
        if _differ(_said(before), _said(again)):
            yield Fact(
                "state",
                f"the same question has two answers: {number(_short(_said(before)))}, and {number(_short(_said(again)))} when it "
                f"is asked again (at {setting(base)})",
                base,
            )
            continue
        if search.late(FACTS):
            return
        search.caller.renew()
        first = search.fresh(base).statement
        if first is not None and _differ(_said(before), _said(first)):
            yield Fact(
                "state",
                f"the answer depends on earlier questions: {number(_short(_said(before)))} after others, "
                f"{number(_short(_said(first)))} if it is asked first (at {setting(base)})",
                base,
            )


def _ignored(search: Search) -> Iterator[Fact]:
    """Parameters that change the exact number, but not what is stated."""
    if search.accountant.states == "noise":
        return
    for name, line in _lines(search):
        finite = [s for s in line if s.stated < math.inf and s.high < math.inf]
        if len(finite) < 2 or any(_differ(s.stated, finite[0].stated) for s in finite):
            continue
        low, high = min(finite, key=lambda s: s.high), max(finite, key=lambda s: s.low)
        if finite[0].stated > 0 and high.low > low.high * 1.01:
            yield Fact(
                "ignores",
                f"{name} does not change what is stated, {number(_short(finite[0].stated))}, while the exact number goes from "
                f"{number(_short(low.high))} ({name} = {number(low.parameters[name])}) to {number(_short(high.low))} "
                f"({name} = {number(high.parameters[name])})",
                high.parameters,
            )


def _lines(search: Search) -> Iterator[tuple[str, list[Statement]]]:
    """Yield each parameter with the statements that differ from the centre in it alone."""
    for name, line in search.points.lines(search.points.centre()):
        known = [search.evaluated[key].statement for one in line if (key := repr(one)) in search.evaluated]
        yield name, [statement for statement in known if statement is not None]


def _not_monotone(search: Search) -> Iterator[Fact]:
    """Along a parameter, a stated number that falls where the exact one rises, or noise that rises where the target does."""
    for name, line in _lines(search):
        worst: tuple[float, Statement, Statement] | None = None
        for one, other in combinations(line, 2):
            for a, b in ((one, other), (other, one)):
                factor = _said(a) / _said(b) if _said(b) > 0 else math.inf if _said(a) > 0 else 0.0
                if factor > 1 + AGREE and _exceeds(search, name, b, a) and (worst is None or factor > worst[0]):
                    worst = factor, a, b
        if worst is not None:
            _, a, b = worst
            yield Fact(
                "not monotone",
                f"from {name} = {number(a.parameters[name])} to {number(b.parameters[name])} {_falls(search)} "
                f"from {number(_short(_said(a)))} to {number(_short(_said(b)))} (at {_without(a.parameters, name)})",
                b.parameters,
            )


def _exceeds(search: Search, name: str, b: Statement, a: Statement) -> bool:
    """Whether more must be stated at b than at a."""
    if search.accountant.states == "noise":
        if name not in ("epsilon", "delta", "mu", "rho"):
            return False
        x, y = b.parameters[name], a.parameters[name]
        assert isinstance(x, int | float) and isinstance(y, int | float)
        return x < y  # a smaller target needs more noise
    return a.high < b.low


def _falls(search: Search) -> str:
    if search.accountant.states == "noise":
        return "the target becomes smaller, and yet the noise falls"
    return f"the exact {WORDS[search.accountant.states]} rises, and yet what is stated falls"


def relations_that_fit(search: Search, shown: Evaluated) -> Iterator[Fact]:
    """Yield the relations under which a number that is too small would not be: the accountant may count another one."""
    if shown.process is None or shown.statement is None or search.accountant.states == "noise":
        return
    fits = []
    for relation in get_args(ProcessRelation):
        if relation == shown.process.relation or relation in ("add", "remove"):
            continue
        try:
            process, states = _under(shown.process, relation), search.accountant.states
            other = search.caller.exact(process, states, shown.statement.argument, PRECISION)
        except InvalidInputError:  # the noise or the sampling has no such relation
            continue
        low, high = rounded_outward(other)
        if not replace(shown.statement, low=low, high=high).is_below(search.accountant.states, search.tolerance):
            fits.append(f"{relation} (exact: {number(_short(high))})")
    if fits:
        stated = number(_short(shown.statement.stated))
        yield Fact(
            "fits",
            f"under {' and '.join(fits)} the stated {stated} would not be too small; the process is under "
            f"{shown.process.relation} (at {setting(shown.setting)})",
            shown.setting,
        )


def _under(process: Process | Composition, relation: ProcessRelation) -> Process | Composition:
    if isinstance(process, Process):
        return replace(process, relation=relation)
    return Composition(tuple(replace(part, relation=relation) for part in process.processes))


# --- Single statements ---


def _negative(search: Search) -> Iterator[Fact]:
    negative = [s for s in _statements(search) if s.stated < -ROUNDING[search.accountant.states]]
    if negative:
        least = min(negative, key=lambda s: s.stated)
        yield Fact(
            "negative",
            f"states a negative number at {settings_words(len(negative))}, such as {number(_short(least.stated))} at "
            f"{setting(least.parameters)}",
            least.parameters,
        )


def _infinite(search: Search) -> Iterator[Fact]:
    infinite = [s for s in _statements(search) if _said(s) == math.inf and s.high < math.inf]
    if infinite:
        largest = max(infinite, key=lambda s: -s.high)
        exact = (
            "where finite noise is enough"
            if largest.noise is not None
            else f"where the exact one is at most {number(_short(largest.high))}"
        )
        yield Fact(
            "infinite",
            f"states infinity at {settings_words(len(infinite))}, such as {exact} (at {setting(largest.parameters)})",
            largest.parameters,
        )


def _refused(search: Search) -> Iterator[Fact]:
    groups: dict[tuple[str, str], list[Evaluated]] = {}
    for one in _all(search):
        if one.failure is not None:
            text = re.sub(r"[0-9.e+-]+", "#", one.failure.text)[:60]
            groups.setdefault((one.failure.kind, text), []).append(one)
    for (kind, _), ones in sorted(groups.items(), key=lambda item: -len(item[1]))[:5]:
        first = ones[0]
        assert first.failure is not None
        verb = {"raises": "raises", "crashes or hangs": "crashes or hangs", "no number": "gives no number"}[kind]
        yield Fact(
            kind,
            f"{verb} at {settings_words(len(ones))} of the ranges: {first.failure.text} (at {setting(first.setting)})",
            first.setting,
        )


def _loose(search: Search) -> Iterator[Fact]:
    if search.accountant.states == "noise":
        comparable = [s for s in _statements(search) if 0 < s.high < math.inf and 0 < s.stated < math.inf]
    else:
        comparable = [s for s in _statements(search) if 1e-9 < s.high < math.inf and s.stated < math.inf]
        if search.accountant.states == "delta":
            comparable = [s for s in _statements(search) if s.high > 0 and s.stated < math.inf]
    if not comparable:
        return
    loosest = max(comparable, key=lambda s: s.looseness)
    if loosest.looseness > LOOSE:
        middle = statistics.median(s.stated / ((s.low + s.high) / 2) for s in comparable if s.low + s.high > 0)
        what = "the target is" if loosest.noise is not None else "states"
        yield Fact(
            "loose",
            f"{what} up to {times(loosest.looseness)} times the exact number: {number(_short(loosest.stated))} of "
            f"{number(_short(loosest.high))} at {setting(loosest.parameters)}; half of the settings have at most {times(middle)}",
            loosest.parameters,
        )


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _without(parameters: Mapping[str, Value], name: str) -> str:
    return setting({key: value for key, value in parameters.items() if key != name}) or "no other parameter"
