"""The first sentence of an audit's card in HTML: what a person changes, the effect on the outputs, and the loss.

``phrases.run_headline`` is the first sentence of the HTML page, above the table of audits. ``phrases.finding`` is what
the terminal, Markdown, JUnit and pytest say of an audit.
"""

import bisect
import math
from collections import Counter
from itertools import accumulate
from typing import Any

from auditor.claims import PrivacyClaim
from auditor.events.histogram import Histogram
from auditor.events.observed import Observed, ObservedCanaries, ObservedReport, ObservedRule, QueryAnswers
from auditor.neighbours.pair import Pair, Relation, data_words, plain
from auditor.report.guess_words import in_words
from auditor.report.phrases import bound_words, canary_words, finding, is_proved, number, relation_words
from auditor.results.result import AuditResult
from auditor.verdict import Verdict

# The sentence shows at most this number of letters of a value or of a row.
MOST = 60
# The sentence shows at most this number of columns of a row, and of records.
MOST_COLUMNS = 3
_PERSONS = (
    *("id", "user", "person", "patient", "customer", "client", "member", "household", "student", "voter", "owner"),
    *("device", "account", "name"),
)


def first_sentence(audit: AuditResult) -> str:
    """Say what an audit found, in a sentence or two.

    The sentence is about the pair, the event and the bound on which the verdict rests, as are the table and the plots.
    """
    if audit.bound is None or audit.event is None:
        return finding(audit)
    if audit.verdict is Verdict.INCONCLUSIVE:
        return f"No answer: {audit.stop_reason}."
    proved = bound_words(audit).replace("≥", "is at least").replace("≤", "is at most")
    claim = str(audit.claim)
    claim = claim if len(claim) <= 2 * MOST else f"{claim[:MOST]} …"
    cause = _cause(audit, audit.event)
    if audit.verdict is Verdict.VIOLATION:
        return f"{cause}: {proved}, claimed {claim}."
    if audit.verdict is Verdict.MEASURED:
        return f"{cause}: {proved}."
    caught = (audit.power or {}).get("95%", math.inf) if isinstance(audit.claim, PrivacyClaim) else math.inf
    would = f" There, {audit.claim.symbol} = {number(caught)} would be noticed." if math.isfinite(caught) else ""
    seen = f"{cause[:1].lower()}{cause[1:]}; {proved}.{would}"
    if is_proved(audit):
        return f"{claim} is proved, over the reals, and no violation was found. Nearest to one: {seen}"
    return f"No violation of {claim} found. Nearest to one: {seen}"


def unit_words(pair: Pair) -> str:
    """Say whose privacy the claim protects: the person who owns all rows that differ, or one record or person."""
    left, right = plain(pair.left), plain(pair.right)
    are_lists = isinstance(left, list) and isinstance(right, list)
    how = {Relation.ADD_REMOVE: "added or removed", Relation.SUBSTITUTE: "replaced by another"}.get(pair.relation)
    if how is None or not are_lists or not all(isinstance(row, dict) for row in (*left, *right)):
        return relation_words(pair.relation)
    gone = _alone(left, right)
    rows = max(gone, _alone(right, left), key=len)
    owner = _owner(rows, [row for row in left if row not in gone]) if rows else None
    return f"one {owner} with all rows, {how}" if owner else relation_words(pair.relation)


def _cause(audit: AuditResult, event: Observed) -> str:
    if isinstance(event, ObservedCanaries):
        return canary_words(event)[0]
    pair = audit.pair
    assert pair is not None  # only canaries have no pair
    if isinstance(event, ObservedReport):
        hits, trials = event.counts.left
        return f"On {data_words(plain(pair.left))} the event happens in {hits:,} of {trials:,} trials"
    words, is_right = _change(pair)
    if isinstance(event, QueryAnswers):
        left, right = _shown(plain(event.values.left)), _shown(plain(event.values.right))
        before, after = (left, right) if is_right else (right, left)
        moved = f"moves the answer from {before} to {after}" if left != right else f"leaves the answer at {left}"
        return f"{words} {moved}"
    if shift := _shift(audit, is_right):
        return f"{words} {shift}"
    if not isinstance(event, ObservedRule) or "evidence" in event.description:
        return f"{words} shows in the outputs, in many parts together"
    return f"{words} {_odds(event, is_right)}"


def _odds(event: ObservedRule, is_right: bool) -> str:
    """Say how the change moves the rate of an event: of the rule's events, the one whose rate rises most."""
    rates = []
    for side in event.sides:
        before, after = (hits / max(1, trials) for hits, trials in (side.counts.left, side.counts.right))
        rates.append((side.description, *((before, after) if is_right else (after, before))))
    what, before, after = max(rates, key=lambda each: each[2] - each[1])
    shown = f"“{what if len(what) <= MOST else what[:MOST] + ' …'}”"
    if min(before, after) == 0:
        return f"makes {shown} {'appear, never seen otherwise' if after else 'disappear'}"
    ratio = max(before, after) / min(before, after)
    if ratio < 1.005:
        return "hardly changes the outputs"
    return f"makes {shown} {ratio:,.3g} times {'as' if after >= before else 'less'} likely"


def _shift(audit: AuditResult, is_right: bool) -> str:
    """Say by how much the change moves the median output along the event's feature; "" if unknown or below a cell."""
    shown = audit.illustration.histograms
    # Other features, such as sums of many columns, have no unit that a reader knows.
    if not shown or not shown[0].edges or not shown[0].feature.startswith("output"):
        return ""
    histogram = shown[0]
    low, high = (_median(histogram, side) for side in (histogram.left, histogram.right))
    step = histogram.edges[1] - histogram.edges[0] if len(histogram.edges) > 1 else math.inf
    moved = (high - low) * (1 if is_right else -1)
    if not math.isfinite(moved) or abs(moved) < step:
        return ""
    return f"shifts {histogram.feature} by about {moved:.2g}".replace("-", "−")


def _median(histogram: Histogram, counts: tuple[int, ...]) -> float:
    """Return the median of one side's outputs; NaN if there are no outputs, or if the median lies in an open cell."""
    half, reached = sum(counts) / 2, list(accumulate(counts))
    cell = bisect.bisect_left(reached, half)
    if cell in (0, len(histogram.edges)):
        return math.nan
    low, high = histogram.edges[cell - 1 : cell + 1]
    return low + (high - low) * (half - reached[cell - 1]) / counts[cell]


# --- The change ---


def _change(pair: Pair) -> tuple[str, bool]:
    """Say what one side has in addition to the other, or in place of it, and whether that is the right side."""
    left, right = plain(pair.left), plain(pair.right)
    if isinstance(left, dict) and isinstance(right, dict):
        return _moved(left, right)
    if not (isinstance(left, list) and isinstance(right, list)):
        return f"The value {_shown(right)} in place of {_shown(left)}", True
    if len(left) == len(right) and pair.relation is Relation.ADD_REMOVE:
        return _moved(dict(enumerate(left)), dict(enumerate(right)))
    return _records_changed(left, right)


def _records_changed(left: list[Any], right: list[Any]) -> tuple[str, bool]:
    gone, come = _alone(left, right), _alone(right, left)
    is_right = len(come) >= len(gone)
    more, fewer, others = (come, gone, left) if is_right else (gone, come, right)
    if not more:
        return "Another order of the records", True
    if not fewer:
        return _added(more, others), is_right
    if all(isinstance(row, dict) for row in (*more, *fewer)):
        return _replaced(more, fewer, [row for row in others if row not in fewer]), is_right
    records = "record" if len(more) == 1 else "records"
    return f"A change of {in_words(len(more))} {records} ({_values(more)} in place of {_values(fewer)})", is_right


def _moved(left: dict[Any, Any], right: dict[Any, Any]) -> tuple[str, bool]:
    """Say by how much a person changes which numbers, and whether the right side has the larger sum."""
    keys = [key for key in {**left, **right} if left.get(key, 0) != right.get(key, 0)]
    steps = [_number(right.get(key, 0)) - _number(left.get(key, 0)) for key in keys]
    is_right = sum(steps) >= 0
    are_places = all(isinstance(key, int) for key in keys)
    names = [f"number {key + 1}" if are_places else _shown(key) for key in keys]
    parts = [f"{name} by {step if is_right else -step:g}" for name, step in zip(names, steps, strict=True)]
    return f"One person, who changes {_listed(parts)},", is_right


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _alone(side: list[Any], other: list[Any]) -> list[Any]:
    """Return the records of a side that the other side lacks, whatever their order."""
    more, found = Counter(map(repr, side)) - Counter(map(repr, other)), []
    for record in side:
        if more[repr(record)] > 0:
            more[repr(record)] -= 1
            found.append(record)
    return found


def _added(rows: list[Any], others: list[Any]) -> str:
    if all(isinstance(row, dict) for row in rows):
        words = _rows(rows, others)
        if words.startswith("one row"):
            return f"One more{words[3:]}"
        return f"O{words[1:]}" if words.startswith("one ") else f"Adding {words}"
    if len(rows) == 1:
        return f"One more record ({_shown(rows[0])})"
    return f"Adding {in_words(len(rows))} records ({_values(rows)})"


def _rows(rows: list[dict[str, Any]], others: list[Any]) -> str:
    """Say what the rows are: the rows of one owner, a single row, or several rows."""
    if owner := _owner(rows, others):
        return f"one {owner} with {in_words(len(rows))} {'row' if len(rows) == 1 else 'rows'}"
    if len(rows) > 1:
        return f"{in_words(len(rows))} rows"
    cells = [f"{name} {_shown(value)}" for name, value in rows[0].items()]
    return f"one row ({', '.join(cells[:MOST_COLUMNS])}{' …' * (len(cells) > MOST_COLUMNS)})"


def _replaced(more: list[dict[str, Any]], fewer: list[dict[str, Any]], others: list[Any]) -> str:
    if len(more) == len(fewer) == 1:
        new, old = more[0], fewer[0]
        names = [name for name in new if new[name] != old.get(name)]
        cells = [f"{name} {_shown(new[name])} in place of {_shown(old.get(name))}" for name in names[:MOST_COLUMNS]]
        return f"A change of one row ({', '.join(cells)}{' …' * (len(names) > MOST_COLUMNS)})"
    words = _rows(more, others)
    return f"{words[:1].upper()}{words[1:]} in place of {_rows(fewer, others)}"


def _values(records: list[Any]) -> str:
    if all(record == records[0] for record in records):
        return f"{'all ' * (len(records) > 1)}{_shown(records[0])}"
    return _listed([_shown(record) for record in records[:MOST_COLUMNS]]) + " …" * (len(records) > MOST_COLUMNS)


def _owner(rows: list[dict[str, Any]], others: list[Any]) -> str | None:
    """Return the column that names the person who owns these rows and no others; None if there is none."""
    for name in rows[0]:
        value = rows[0][name]
        elsewhere = any(isinstance(row, dict) and row.get(name) == value for row in others)
        is_one = value is not None and all(row.get(name) == value for row in rows)
        if is_one and not elsewhere and name.lower().endswith(_PERSONS):
            return name
    return None


def _shown(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.6g}"
    return data_words(value, MOST) if not isinstance(value, str) else repr(data_words(value, MOST))


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
