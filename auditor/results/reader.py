"""Read report.json back into results: the one way from a stored report to whatever shows it or compares it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from auditor.bounds.evidence import Bound
from auditor.claims import Claim, Probability, QueryClaim, claim_from_dict
from auditor.errors import InvalidInputError, did_you_mean
from auditor.events.histogram import Bar, Histogram, Mark
from auditor.neighbours.pair import Pair, Relation
from auditor.results.result import (
    FORMAT,
    AuditResult,
    ExactValue,
    Illustration,
    Judgement,
    OutputsSpent,
    Provenance,
    RunResult,
    Smallest,
    Subject,
    Tried,
)
from auditor.verdict import Verdict

_SPELLED = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def read_report(file: str | Path) -> RunResult:
    """Return the run that a report.json holds; written again, it gives the same file.

    Raises InvalidInputError, which names the file and the place in it, where it cannot be read, is not a report, or is one of
    another version.
    """
    try:
        data = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{file} is not a report of this program: it is not JSON ({error})") from None
    try:
        return _run(_Entry(data, "the file"))
    except InvalidInputError as error:
        raise InvalidInputError(f"{file} is not a report of this program: {error}") from None


class _Entry:
    """An object of the file, and its place there for errors."""

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, dict):
            raise InvalidInputError(f"{place} is {_short(data)}; it must be an object")
        self.data: dict[str, Any] = data
        self.place = place

    def get(self, key: str, *kinds: type, default: Any = ...) -> Any:
        """Return a value of one of the kinds; the default, if there is one, where it is null or missing."""
        if (key not in self.data or self.data[key] is None) and default is not ...:
            return default
        if key not in self.data:
            raise InvalidInputError(f'{self.place} lacks "{key}"')
        value = self.data[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise InvalidInputError(f'"{key}" of {self.place} is {_short(value)}; it must be {names}')
        return value

    def text(self, key: str) -> str:
        return str(self.get(key, str))

    def number(self, key: str) -> float:
        return _number(self.get(key, int, float, str), f'"{key}" of {self.place}')

    def named(self, key: str, kind: Any) -> Any:
        """Return a member of an enumeration of strings."""
        name = self.text(key)
        if name not in {str(member) for member in kind}:
            raise InvalidInputError(f'"{key}" of {self.place} is "{name}"; {did_you_mean(name, map(str, kind))}')
        return kind(name)

    def part(self, key: str) -> "_Entry":
        return _Entry(self.get(key, dict), f"{key} of {self.place}")

    def part_if_any(self, key: str) -> "_Entry | None":
        return None if self.data.get(key) is None else self.part(key)

    def numbers(self) -> dict[str, float]:
        """Return all values, which must be numbers, by name."""
        return {key: self.number(key) for key in self.data}

    def rows(self, key: str, width: int | None = None) -> Iterator[list[Any]]:
        """Yield the lists in a list, each of ``width`` entries."""
        for row in self.get(key, list):
            if not isinstance(row, list) or (width is not None and len(row) != width):
                raise InvalidInputError(
                    f'"{key}" of {self.place} holds {_short(row)}; each must be a list of {width or "any number of"} entries'
                )
            yield row


def _short(value: Any) -> str:
    told = json.dumps(value)
    return told if len(told) <= 40 else f"{told[:40]}…"


def _number(value: Any, place: str) -> float:
    """Return a number, which may be spelled as a word; integers stay what they are."""
    if isinstance(value, str):
        value = _SPELLED.get(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInputError(f'{place} must be a number, "Infinity", "-Infinity" or "NaN"')
    return value


def _integer(value: Any, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInputError(f"{place} holds {_short(value)}; it must be a number of outputs")
    return value


def _run(entry: _Entry) -> RunResult:
    if "audits" in entry.data and entry.get("version", int) != FORMAT:
        raise InvalidInputError(f"it has version {entry.data['version']}; this auditor reads version {FORMAT}")
    audits = entry.get("audits", list)
    return RunResult(
        name=entry.text("name"),
        confidence=entry.number("confidence"),
        audits=[_audit(_Entry(audit, f"audit {number}")) for number, audit in enumerate(audits, start=1)],
        seconds=entry.number("seconds"),
        auditor=entry.text("auditor"),
    )


def _audit(entry: _Entry) -> AuditResult:
    budget, exact, smallest = entry.part("budget"), entry.part_if_any("exact"), entry.part_if_any("smallest")
    tried, illustration, power = (entry.part_if_any(key) for key in ("tried", "illustration", "power"))
    bound, pair, event = (entry.part_if_any(key) for key in ("bound", "pair", "event"))
    claim = claim_from_dict(entry.get("claim", dict))
    return AuditResult(
        Subject(entry.text("name"), entry.text("mechanism"), claim, entry.named("expected", Verdict)),
        Judgement(
            entry.named("verdict", Verdict),
            entry.text("stop_reason"),
            bound=_bound(bound) if bound else None,
            event=_event(event, claim) if event else None,
            power=power.numbers() if power else None,
            p_value=budget.get("p_value", int, float, default=None),
            alpha=budget.get("allowed_error", int, float, default=None),
            illustration=_illustration(illustration) if illustration else Illustration(),
        ),
        Provenance(
            _outputs(entry.part("outputs")),
            entry.number("seconds"),
            entry.get("reproducible", bool),
            entry.get("seed", int),
            drawn_by=entry.get("drawn_by", str, default=""),
            reproduce=entry.get("reproduce", str, default=None),
            tried=_tried(tried) if tried else None,
        ),
        pair=_pair(pair) if pair else None,
        exact=ExactValue(exact.number("value"), exact.number("error")) if exact else None,
        smallest=_smallest(smallest, claim) if smallest else None,
        warnings=[str(warning) for warning in entry.get("warnings", list, default=[])],
    )


def _outputs(entry: _Entry) -> OutputsSpent:
    return OutputsSpent(**{phase: entry.get(phase, int, default=0) for phase in OutputsSpent.__slots__})


def _bound(entry: _Entry) -> Bound:
    also = entry.part_if_any("also")
    return Bound(
        entry.text("quantity"),
        entry.number("value"),
        entry.number("confidence"),
        entry.text("method"),
        also.numbers() if also else {},
    )


def _pair(entry: _Entry) -> Pair:
    if "left" not in entry.data or "right" not in entry.data:
        raise InvalidInputError(f'{entry.place} lacks "left" or "right"')
    return Pair(_data(entry.data["left"]), _data(entry.data["right"]), entry.named("relation", Relation))


def _data(value: Any) -> Any:
    """Return data with words that stand for numbers JSON has not as those numbers."""
    if isinstance(value, list):
        return [_data(item) for item in value]
    if isinstance(value, dict):
        return {key: _data(item) for key, item in value.items()}
    return _SPELLED.get(value, value) if isinstance(value, str) else value


def _event(entry: _Entry, claim: Claim) -> dict[str, Any]:
    """Return an event as it stands in the file, after a look at what is told in words of such a claim's events."""
    entry.text("description")
    if isinstance(claim, QueryClaim):
        values = entry.part("values")
        return {**entry.data, "values": {side: _data(values.data.get(side)) for side in ("left", "right")}}
    if isinstance(claim, Probability):
        _check_counts(entry, "left")
        entry.get("confirmed", bool)
    elif "points" in entry.data:
        for point in entry.get("points", list):
            _check_guesses(_Entry(point, f"a point of {entry.place}"))
    elif "opposite" in entry.data:
        _check_guesses(entry)
    return entry.data


def _check_guesses(entry: _Entry) -> None:
    for part in (entry, entry.part_if_any("opposite")):
        if part is not None:
            part.text("description")
            _check_counts(part, "left", "right")


def _check_counts(entry: _Entry, *sides: str) -> None:
    counts = entry.part("counts")
    for side in sides:
        seen = [_integer(n, counts.place) for n in counts.get(side, list)]
        if len(seen) != 2:
            raise InvalidInputError(f'"{side}" of {counts.place} is {_short(seen)}; it must be [hits, trials]')


def _smallest(entry: _Entry, claim: Claim) -> Smallest:
    return Smallest(_pair(entry.part("pair")), _event(entry.part("event"), claim), _bound(entry.part("bound")))


def _tried(entry: _Entry) -> Tried:
    return Tried(
        entry.text("neighbours"),
        entry.get("pairs", int),
        [str(kind) for kind in entry.get("events", list)],
        entry.get("search", int, default=None),
    )


def _illustration(entry: _Entry) -> Illustration:
    here = f"growth or profile of {entry.place}"
    return Illustration(
        tuple(
            _histogram(_Entry(one, f"a histogram of {entry.place}"))
            for one in entry.get("histograms", list, default=[])
        ),
        [(_integer(outputs, here), _number(bound, here)) for outputs, bound in entry.rows("growth", 2)],
        [(_number(epsilon, here), _number(delta, here)) for epsilon, delta in entry.rows("profile", 2)],
    )


def _histogram(entry: _Entry) -> Histogram:
    here = entry.place
    edges = tuple(_number(edge, here) for edge in entry.get("edges", list))
    left, right = (tuple(_integer(n, here) for n in entry.get(side, list)) for side in ("left", "right"))
    outputs = [_integer(n, here) for n in entry.get("outputs", list)]
    if not len(left) == len(right) == (len(edges) + 1 if edges else 0) or len(outputs) != 2:
        raise InvalidInputError(f"{here} must hold outputs of two sides, and one more cell than edges on each")
    marks = [
        Mark(_guess(guess, here), _number(low, here), _number(high, here))
        for guess, low, high in entry.rows("marks", 3)
    ]
    bars = [
        Bar(str(label), _integer(a, here), _integer(b, here), _guess(guess, here))
        for label, a, b, guess in entry.rows("bars", 4)
    ]
    return Histogram(entry.text("feature"), outputs[0], outputs[1], edges, left, right, tuple(marks), tuple(bars))


def _guess(value: Any, place: str) -> Any:
    if value not in ("left", "right", None):
        raise InvalidInputError(f'a guess in {place} is {_short(value)}; it must be "left", "right" or null')
    return value
