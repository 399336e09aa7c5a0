"""Plots of an audit as SVG, for a page. The plots use the page's colours, so they follow dark mode."""

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from markupsafe import Markup

from auditor.bounds.conversions import implied_delta, tradeoff_curve
from auditor.bounds.curves import Box
from auditor.claims import Claim, PrivacyClaim, Probability, QueryClaim
from auditor.errors import how_many, visible
from auditor.events.histogram import Histogram
from auditor.report.svg import BAD, CLAIM, DASHED, DOTTED, INK, LEFT, MUTED, RIGHT, Drawing, Scale, around, as_svg
from auditor.results.result import AuditResult
from auditor.verdict import refuting_side

SIDES = {"left": LEFT, "right": RIGHT}
# HEIGHT and ROW are inches.
HEIGHT, ROW = 2.5, 0.26
LONGEST_LABEL = 26
# Numbers beyond LARGE cannot be drawn, nor numbers that differ by less than the share CLOSE of themselves.
LARGE, CLOSE = 1e100, 1e-9


# --- the outputs of both sides ---


def histogram_plot(name: str, shown: Histogram) -> Markup:
    """Return both sides' outputs along a feature: as outlines over cells, and as bars for single values."""
    bars = 0.3 + ROW * len(shown.bars) if shown.bars else 0.0
    height = bars + HEIGHT if shown.edges else max(1.0, bars + 0.25)

    def draw(drawing: Drawing) -> None:
        if shown.edges:
            _draw_cells(drawing, bars + 0.45, height - 0.1, shown)
        if shown.bars:
            values = [_label(bar.label) for bar in shown.bars]
            left = max(0.68, 0.25 + 0.078 * max(map(len, values)))
            bottom, top, label = (0.3, bars, "") if shown.edges else (0.45, bars + 0.15, "share of outputs")
            _draw_bars(drawing, (bottom, top, left, label), shown, values)

    return as_svg(name, "Outputs on the two data sets", _description(shown), height, draw)


def _label(text: str) -> str:
    """Return text cut in the middle to a length that leaves room for bars."""
    shown, half = visible(text), LONGEST_LABEL // 2
    return shown if len(shown) <= LONGEST_LABEL else f"{shown[:half]}…{shown[1 - half :]}"


def _draw_cells(drawing: Drawing, bottom: float, top: float, shown: Histogram) -> None:
    edges, place = _places(shown.edges)
    step = edges[1] - edges[0] if len(edges) > 1 else 1.0
    ends = [edges[0] - step, *edges, edges[-1] + step]
    sides = [
        [count / max(1, outputs) for count in counts]
        for counts, outputs in zip((shown.left, shown.right), shown.outputs, strict=True)
    ]
    ticks = None
    if edges[-1] != shown.edges[-1]:
        ticks = [(at, f"{end:.10g}") for at, end in ((edges[0], shown.edges[0]), (edges[-1], shown.edges[-1]))]
    highest = max(itertools.chain(*sides), default=0.0) or 1.0
    across, up = Scale(ends[0], ends[-1], given=ticks), Scale(0.0, 1.05 * highest, words=_percent)
    axes = drawing.add_axes(bottom, top, 0.68, (_label(shown.feature), "share of outputs"), across, up)
    for mark in shown.marks:
        low, high = max(place(mark.low), ends[0]), min(place(mark.high), ends[-1])
        if mark.guess is not None and low < high:
            axes.bar((low, high), (0.0, up.high), SIDES[mark.guess], 0.13)
    for shares, colour in zip(sides, (LEFT, RIGHT), strict=True):
        stair = [(ends[0], 0.0)]
        for share, (start, end) in zip(shares, itertools.pairwise(ends), strict=True):
            stair += [(start, share), (end, share)]
        stair.append((ends[-1], 0.0))
        axes.area(stair, colour, 0.28)
        axes.line(stair, colour, 1.3)


def _places(edges: Sequence[float]) -> tuple[Sequence[float], Callable[[float], float]]:
    """Return where edges are drawn, and a function that places any number.

    Edges are drawn at their values, or evenly spaced if the values are too large or too close for a plot.
    """
    largest = max(map(abs, edges))
    steps = [b - a for a, b in itertools.pairwise(edges)]
    if largest < LARGE and (not steps or min(steps) > max(1 / LARGE, CLOSE * largest)):
        return edges, lambda number: number
    even = [float(number) for number in range(len(edges))]
    return even, lambda number: number if math.isinf(number) else float(bisect.bisect_left(edges, number))


def _draw_bars(drawing: Drawing, box: tuple[float, float, float, str], shown: Histogram, labels: Sequence[str]) -> None:
    bottom, top, begin, label = box
    on_left, on_right = (max(1, outputs) for outputs in shown.outputs)
    left, right = [bar.left / on_left for bar in shown.bars], [bar.right / on_right for bar in shown.bars]
    across = Scale(0.0, max(*left, *right, 1e-9) * 1.05, words=_percent)
    axes = drawing.add_axes(bottom, top, begin, (label, ""), across, _rows_of(labels))
    for place, bar in enumerate(shown.bars):
        if bar.guess is not None:
            axes.bar((0.0, across.high), (-place - 0.45, -place + 0.45), SIDES[bar.guess], 0.13)
    for shares, middle, colour in ((left, 0.18, LEFT), (right, -0.18, RIGHT)):
        for place, share in enumerate(shares):
            axes.bar((0.0, share), (middle - place - 0.16, middle - place + 0.16), colour)


def _rows_of(labels: Sequence[str]) -> Scale:
    """Return the scale of rows with labels, of which the first is on top."""
    return Scale(-(len(labels) - 0.4), 0.6, given=[(float(-place), label) for place, label in enumerate(labels)])


def _percent(value: float, _: object = None) -> str:
    return f"{100 * value:.3g} %"


def _description(shown: Histogram) -> str:
    """Describe the plot for readers who cannot see it: where most outputs lie, and the share of each value on each
    side."""

    def shares(*counts: int) -> str:
        left, right = (count / max(1, outputs) for count, outputs in zip(counts, shown.outputs, strict=True))
        return f"{_percent(left)} of the left, {_percent(right)} of the right"

    parts = [f"Shares of outputs by {shown.feature}."]
    if shown.edges:
        between = shares(sum(shown.left[1:-1]), sum(shown.right[1:-1]))
        parts.append(f"Most outputs lie between {shown.edges[0]:.4g} and {shown.edges[-1]:.4g}; {between}.")
    for bar in shown.bars:
        guessed = "" if bar.guess is None else f", where the event says {bar.guess}"
        parts.append(f"{bar.label}: {shares(bar.left, bar.right)}{guessed}.")
    return " ".join(parts)


# --- the bound against the claim ---


class _Row(NamedTuple):
    """A row of the plot: the values from ``start`` to ``end``, or a single value if the two are equal."""

    label: str
    start: float
    end: float
    colour: str

    def __str__(self) -> str:
        if self.start == self.end:
            return f"{self.label}: {self.start:.4g}"
        return f"{self.label}: " + (f"at least {self.start:.4g}" if math.isinf(self.end) else f"at most {self.end:.4g}")


def bound_plot(name: str, audit: AuditResult) -> Markup:
    """Return a plot of the claimed and the proved values of a quantity, as intervals on one line. The audit must have a bound."""
    rows = _rows(audit)
    height = 0.55 + ROW * len(rows)

    def draw(drawing: Drawing) -> None:
        low, high = _reach(audit, [end for row in rows for end in (row.start, row.end)])
        labels = (audit.claim.symbol, "")
        axes = drawing.add_axes(
            0.45, height - 0.08, 1.25, labels, Scale(low, high), _rows_of([row.label for row in rows])
        )
        axes.has_marks = False
        for place, (_, start, end, colour) in enumerate(rows):
            if start < end and start <= high:
                axes.bar((max(start, low), min(end, high)), (-place - 0.25, -place + 0.25), colour, 0.85)
            else:  # a single value, or an arrow to a value beyond the end of the line
                axes.mark(min(start, high), -place, colour, points_on=start > high)
        if audit.claim.is_stated:
            axes.upright(min(audit.claim.value, high), CLAIM, 1.2, DASHED)

    described = f"Values of {audit.claim.symbol}. {'; '.join(map(str, rows))}."
    return as_svg(name, "Bound against claim", described, height, draw)


def _rows(audit: AuditResult) -> list[_Row]:
    """Return what is claimed, what is proved, and what else is known of the quantity."""
    assert audit.bound is not None
    bound, colour, rows = audit.bound.value, _colour(audit), list[_Row]()
    if audit.claim.is_stated:
        rows.append(_from_or_to(audit.claim.value, refuting_side(audit.claim) == "lower", "claimed", CLAIM))
    if not isinstance(audit.claim, QueryClaim):
        rows.append(_from_or_to(bound, audit.bound.side == "upper", "proved", colour))
    if audit.exact is not None:
        rows.append(_Row("exact here", audit.exact.value, audit.exact.value, INK))
    if isinstance(audit.claim, QueryClaim):
        # The difference of a query on a pair is known exactly, so it is a single value and no range.
        rows.append(_Row("largest found", bound, bound, colour))
    caught = (audit.power or {}).get("95%", math.inf)
    return [*rows, _Row("would be caught", caught, caught, INK)] if caught < math.inf else rows


def _from_or_to(value: float, is_upper: bool, label: str, colour: str) -> _Row:
    """Return the row of all values up to an upper bound, or from a lower one on."""
    return _Row(label, -math.inf, value, colour) if is_upper else _Row(label, value, math.inf, colour)


def _colour(audit: AuditResult) -> str:
    return BAD if audit.verdict == "violation" else INK


def _reach(audit: AuditResult, values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the line. All finite values lie between the ends, with room for arrows."""
    finite = [value for value in values if abs(value) < LARGE] or [0.0]
    if isinstance(audit.claim, Probability):
        room = 0.25 * (max(finite) - min(finite)) or 0.1
        return max(0.0, min(finite) - room), min(1.0, max(finite) + room)
    high = 1.25 * max(finite) if max(finite) > 0 else 1.0
    # If the claim is 0, the axis starts below 0, so that 0 is visible.
    return min(-0.25 * high if isinstance(audit.claim, QueryClaim) and audit.claim.value == 0 else 0.0, *finite), high


# --- the growth of the bound ---


def growth_plot(name: str, audit: AuditResult) -> Markup:
    """Return a plot of each round's bound over its outputs, with the claim, and the exact value if known."""
    # A later round may end early with fewer outputs than an earlier one; the curve runs to the right all the same.
    growth, claimed = sorted(audit.illustration.growth), audit.claim.value
    outputs, bounds = zip(*growth, strict=True)
    is_claimed = audit.claim.is_stated
    top = max([*filter(math.isfinite, bounds), claimed if is_claimed else 0.0, 1e-9])

    def draw(drawing: Drawing) -> None:
        values, levels = (
            [min(bound, 1.1 * top) for bound in bounds],
            list[tuple[float, str, float, tuple[float, float]]](),
        )
        if is_claimed:
            levels.append((claimed, CLAIM, 1.2, DASHED))
        if audit.exact is not None and math.isfinite(audit.exact.value):
            levels.append((audit.exact.value, MUTED, 1.0, DOTTED))
        many = outputs[-1] > 100 * outputs[0]
        across = around(outputs, 0.05, is_log=True) if many else Scale(0.0, 1.05 * outputs[-1])
        across = replace(across, words=_thousands)
        heights = around([*values, *(height for height, *_ in levels)], 0.12)
        labels = ("outputs", f"proved {audit.claim.symbol}")
        axes = drawing.add_axes(0.45, HEIGHT - 0.1, 0.68, labels, across, heights)
        for level in levels:
            axes.level(*level)
        axes.line(zip(outputs, values, strict=True), _colour(audit), has_dots=True)

    (first, at_first), (last, at_last) = growth[0], growth[-1]
    described = f"From {at_first:.4g} after {how_many(first, 'output')} to {at_last:.4g} after {last:,}"
    described += f"; claimed is {claimed:.4g}." if is_claimed else "."
    return as_svg(name, "How the bound grew with outputs", described, HEIGHT, draw)


def _thousands(value: float, _: object = None) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


# --- the privacy profile ---


def profile_plot(name: str, claim: Claim, profile: Sequence[tuple[float, float]]) -> Markup:
    """Return a plot of the proved lower bound on δ over ε, and of an upper limit of the δ that the claim allows."""
    epsilons, proved = zip(*profile, strict=True)
    allowed = [implied_delta(claim, epsilon) for epsilon in epsilons]
    worst = max(zip(epsilons, proved, allowed, strict=True), key=lambda point: point[1] - point[2])
    broken = worst[1] > worst[2]

    def draw(drawing: Drawing) -> None:
        highest = max(*proved, *allowed)
        up = Scale(0.0, 1.05 * highest or 1.0)
        if 0 < max(proved) < 0.01:  # a linear axis would show a flat line
            up = Scale(max(proved) / 1000, 2 * highest, is_log=True, words="{:g}".format)
        axes = drawing.add_axes(0.45, HEIGHT - 0.1, 0.72, ("ε", "δ"), Scale(epsilons[0], epsilons[-1]), up)
        line = [*zip(epsilons, allowed, strict=True)]
        axes.area([(epsilons[0], up.low), *line, (epsilons[-1], up.low)], CLAIM, 0.18)
        axes.line(line, CLAIM, 1.2, DASHED)
        axes.line(zip(epsilons, proved, strict=True), BAD if broken else INK)

    described = (
        f"At ε = {worst[0]:.3g}, the distance is largest: δ is at least {worst[1]:.3g} and the claim allows {worst[2]:.3g}."
        if broken
        else "The proved δ is nowhere above the δ that the claim allows."
    )
    return as_svg(name, "Privacy profile: δ over ε", described, HEIGHT, draw)


# --- the trade-off curve ---


def tradeoff_plot(name: str, claim: PrivacyClaim, band: Sequence[Box]) -> Markup:
    """Return a plot of a band on the type II error over the type I error of a score's thresholds, and of the claimed curve.

    Thresholds are in the order of rising type I error. Claims are drawn as they limit tests of either side against the other.
    """
    allowed = _claimed_curve(claim)
    least_wrong, most_wrong, least_missed, most_missed = zip(*band, strict=True)
    # A test that takes one of two thresholds by chance has errors on the chord between the two.
    proved = _convex(sorted(zip(most_wrong, most_missed, strict=True)))
    gaps = [(_height(allowed, x) - y, x, y) for x, y in proved]
    gap, at, missed = max(gaps)

    def draw(drawing: Drawing) -> None:
        unit = Scale(0.0, 1.0)
        axes = drawing.add_axes(0.45, HEIGHT - 0.1, 0.68, ("type I error", "type II error"), unit, unit)
        axes.area([(allowed[0][0], 1.0), *allowed, (allowed[-1][0], 1.0)], CLAIM, 0.18)
        axes.line(allowed, CLAIM, 1.2, DASHED)
        # The lower edge is a stair: nothing is known between two thresholds but that errors rise and fall.
        stair = [(least_wrong[0], least_missed[0])]
        for x, y in zip(least_wrong[1:], least_missed[1:], strict=True):
            stair += [(stair[-1][0], y), (x, y)]
        axes.line(stair, MUTED, 1.0)
        axes.line(proved, BAD if gap > 0 else INK)

    described = (
        f"The distance is largest at a type I error of {at:.3g}: the type II error is at most {missed:.3g}, and the claim is that "
        f"it is at least {missed + gap:.3g}."
        if gap > 0
        else "The errors that the outputs prove are nowhere below those of the claimed curve."
    )
    return as_svg(name, "Trade-off curve: type II error over type I error", described, HEIGHT, draw)


def _claimed_curve(claim: PrivacyClaim) -> list[tuple[float, float]]:
    """Return the corners (type I error, type II error) of the curve that a claim allows in both directions, or one below."""
    curve = tradeoff_curve(claim)
    half = list(zip(curve.wrong.tolist(), (1 - curve.right).tolist(), strict=True))
    return sorted({*half, *((missed, wrong) for wrong, missed in half)}, key=lambda point: (point[0], -point[1]))


def _convex(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of the lower convex hull of sorted points."""
    hull = list[tuple[float, float]]()
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) >= (y - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return hull


def _height(corners: Sequence[tuple[float, float]], x: float) -> float:
    """Return the height of a polygon at x; 0 beyond its last corner."""
    place = bisect.bisect_right(corners, x, key=lambda corner: corner[0])
    if place == len(corners):
        return 0.0
    (x0, y0), (x1, y1) = corners[max(0, place - 1)], corners[place]
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0) if x1 > x0 else y1
