"""Plots of an audit as SVG, for a page. The plots use the page's colours, so they follow dark mode."""

import bisect
import functools
import io
import itertools
import logging
import math
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from auditor.bounds.conversions import implied_delta, tradeoff_curve
from auditor.bounds.curves import Box
from auditor.claims import Claim, PrivacyClaim, Probability, QueryClaim
from auditor.errors import how_many, visible
from auditor.events.histogram import Histogram
from auditor.results.result import AuditResult
from auditor.verdict import refuting_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# INK to BAD are colours for matplotlib to write. In the SVG, the page's VARIABLES replace these.
INK, MUTED, LEFT, RIGHT, CLAIM, BAD = (f"#0000{number:02x}" for number in range(1, 7))
VARIABLES = {INK: "ink", MUTED: "muted", LEFT: "left", RIGHT: "right", CLAIM: "claim", BAD: "bad"}
SIDES = {"left": LEFT, "right": RIGHT}
CLAIMED: dict[str, Any] = {"color": CLAIM, "lw": 1.2, "dashes": (4, 2)}

# WIDTH, HEIGHT and ROW are inches, so that two plots stand side by side on a screen, and one fills a phone.
WIDTH, HEIGHT, ROW = 4.4, 2.5, 0.26
LONGEST_LABEL = 26
# Matplotlib cannot draw numbers beyond LARGE, nor numbers that differ by less than the share CLOSE of themselves.
LARGE, CLOSE = 1e100, 1e-9
STYLE = {
    "svg.hashsalt": "auditor",
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def can_draw() -> bool:
    """Whether matplotlib is installed. It is imported when the first plot is drawn."""
    return find_spec("matplotlib") is not None


def svg(name: str, title: str, description: str, height: float, draw: Callable[["Figure"], None]) -> Markup:
    """Return an SVG element drawn by matplotlib, WIDTH by ``height`` inches, with its text alternative.

    The element's identifiers begin with ``name``, so that they differ from those of other plots on the page.
    """
    matplotlib = load_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user may have set other values for plots of their own
        matplotlib.rcParams.update(STYLE)
        figure = matplotlib.figure.Figure(figsize=(WIDTH, height))
        draw(figure)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _embedded(written.getvalue(), name, title, description)


@functools.cache
def load_matplotlib() -> Any:
    """Import matplotlib without its messages about its caches, which are of no use to the reader of a report."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib
        import matplotlib.backends.backend_svg
        import matplotlib.figure
    finally:
        logger.setLevel(level)
    return matplotlib


def _embedded(text: str, name: str, title: str, description: str) -> Markup:
    """Turn a file that matplotlib wrote into an element of the page."""
    start = text.index("<svg")
    box = re.search(r'viewBox="[^"]*"', text[start:])
    assert box is not None
    inner = text[text.index(">", start) + 1 : text.rindex("</svg>")]
    inner = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", inner, flags=re.DOTALL)
    used = set(re.findall(r"#([A-Za-z]\w*)", inner))
    inner = re.sub(r' id="([^"]*)"', lambda match: f' id="{name}-{match[1]}"' if match[1] in used else "", inner)
    inner = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", inner)
    # Leave out the font family, since the page sets it. Keep the size, which stands before the family.
    inner = re.sub(r"font: ([0-9.]+px)[^;\"]*'DejaVu Sans'[^;\"]*;? ?", r"font-size: \1; ", inner)
    inner = re.sub(r"font(-family)?: [^;\"]*'DejaVu Sans'[^;\"]*;? ?", "", inner)
    for colour, variable in VARIABLES.items():
        inner = inner.replace(colour, f"var(--{variable})")
    inner = re.sub(r"\s*\n\s*", " ", inner)
    texts = Markup('<title id="{0}-title">{1}</title><desc id="{0}-desc">{2}</desc>')
    texts = texts.format(name, visible(title), visible(description))
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box[0]} role="img" '
        f'aria-labelledby="{name}-title {name}-desc">{texts}{inner}</svg>'
    )


def _axes(figure: "Figure", bottom: float, top: float, left: float, labels: tuple[str, str]) -> "Axes":
    """Return axes between two heights, and from ``left`` on, in inches, with few ticks. ``labels`` name x and y."""
    from matplotlib.ticker import MaxNLocator

    height = figure.get_figheight()
    axes = figure.add_axes((left / WIDTH, bottom / height, (WIDTH - left - 0.12) / WIDTH, (top - bottom) / height))
    for axis, label in zip((axes.xaxis, axes.yaxis), labels, strict=True):
        axis.set_major_locator(MaxNLocator(4))
        axis.set_label_text(label)
    return axes


# --- the outputs of both sides ---


def histogram_plot(name: str, shown: Histogram) -> Markup:
    """Return both sides' outputs along a feature: as outlines over cells, and as bars for single values."""
    bars = 0.3 + ROW * len(shown.bars) if shown.bars else 0.0
    height = bars + HEIGHT if shown.edges else max(1.0, bars + 0.25)

    def draw(figure: "Figure") -> None:
        if shown.edges:
            labels = _label(shown.feature), "share of outputs"
            _draw_cells(_axes(figure, bars + 0.45, height - 0.1, 0.68, labels), shown)
        if shown.bars:
            values = [_label(bar.label) for bar in shown.bars]
            left = max(0.68, 0.25 + 0.078 * max(map(len, values)))
            bottom, top, label = (0.3, bars, "") if shown.edges else (0.45, bars + 0.15, "share of outputs")
            _draw_bars(_axes(figure, bottom, top, left, (label, "")), shown, values)

    return svg(name, "Outputs on the two data sets", _description(shown), height, draw)


def _label(text: str) -> str:
    """Return text that the font can measure, cut in the middle to a length that leaves room for bars."""
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))
    shown = "".join(c if font.get_char_index(ord(c)) else c.encode("unicode_escape").decode() for c in visible(text))
    half = LONGEST_LABEL // 2
    return shown if len(shown) <= LONGEST_LABEL else f"{shown[:half]}…{shown[1 - half :]}"


def _draw_cells(axes: "Axes", shown: Histogram) -> None:
    edges, place = _places(shown.edges)
    step = edges[1] - edges[0] if len(edges) > 1 else 1.0
    ends = [edges[0] - step, *edges, edges[-1] + step]
    for mark in shown.marks:
        low, high = max(place(mark.low), ends[0]), min(place(mark.high), ends[-1])
        if mark.guess is not None and low < high:
            axes.axvspan(low, high, color=SIDES[mark.guess], alpha=0.13, lw=0)
    for counts, outputs, colour in zip((shown.left, shown.right), shown.outputs, (LEFT, RIGHT), strict=True):
        shares = [count / max(1, outputs) for count in counts]
        axes.stairs(shares, ends, fill=True, color=colour, alpha=0.28, lw=0)
        axes.stairs(shares, ends, color=colour, lw=1.3)
    axes.set_xlim(ends[0], ends[-1])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(_percent)
    if edges[-1] != shown.edges[-1]:
        axes.set_xticks([edges[0], edges[-1]], [f"{end:.10g}" for end in (shown.edges[0], shown.edges[-1])])


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


def _draw_bars(axes: "Axes", shown: Histogram, labels: Sequence[str]) -> None:
    for place, bar in enumerate(shown.bars):
        if bar.guess is not None:
            axes.axhspan(place - 0.45, place + 0.45, color=SIDES[bar.guess], alpha=0.13, lw=0)
    on_left, on_right = (max(1, outputs) for outputs in shown.outputs)
    left, right = [bar.left / on_left for bar in shown.bars], [bar.right / on_right for bar in shown.bars]
    places = range(len(shown.bars))
    axes.barh([place - 0.18 for place in places], left, 0.32, color=LEFT)
    axes.barh([place + 0.18 for place in places], right, 0.32, color=RIGHT)
    axes.set_yticks(places, labels)
    axes.set_ylim(len(shown.bars) - 0.4, -0.6)
    axes.set_xlim(0, max(*left, *right, 1e-9) * 1.05)
    axes.xaxis.set_major_formatter(_percent)


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

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, height - 0.08, 1.25, (audit.claim.symbol, ""))
        low, high = _reach(audit, [end for row in rows for end in (row.start, row.end)])
        for place, (_, start, end, colour) in enumerate(rows):
            if start < end and start <= high:
                left = max(start, low)
                axes.barh(place, min(end, high) - left, 0.5, left=left, color=colour, alpha=0.85)
            else:  # a single value, or an arrow to a value beyond the end of the line
                sign, at = (">", high) if start > high else ("D", start)
                axes.plot([at], [place], marker=sign, color=colour, markersize=5, lw=0, clip_on=False)
        if audit.claim.is_stated:
            axes.axvline(min(audit.claim.value, high), **CLAIMED)
        axes.set_yticks(range(len(rows)), [row.label for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(low, high)
        axes.tick_params(axis="y", length=0)

    described = f"Values of {audit.claim.symbol}. {'; '.join(map(str, rows))}."
    return svg(name, "Bound against claim", described, height, draw)


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

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, HEIGHT - 0.1, 0.68, ("outputs", f"proved {audit.claim.symbol}"))
        if is_claimed:
            axes.axhline(claimed, **CLAIMED)
        if audit.exact is not None and math.isfinite(audit.exact.value):
            axes.axhline(audit.exact.value, color=MUTED, lw=1.0, dashes=(1, 2))
        values = [min(bound, 1.1 * top) for bound in bounds]
        axes.plot(outputs, values, color=_colour(audit), lw=1.6, marker="o", markersize=3)
        if outputs[-1] > 100 * outputs[0]:
            axes.set_xscale("log")
            axes.minorticks_off()  # minor ticks take as long to draw as all else
        else:
            axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(_thousands)
        axes.margins(y=0.12)

    (first, at_first), (last, at_last) = growth[0], growth[-1]
    described = f"From {at_first:.4g} after {how_many(first, 'output')} to {at_last:.4g} after {last:,}"
    described += f"; claimed is {claimed:.4g}." if is_claimed else "."
    return svg(name, "How the bound grew with outputs", described, HEIGHT, draw)


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

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, HEIGHT - 0.1, 0.72, ("ε", "δ"))
        axes.fill_between(epsilons, allowed, color=CLAIM, alpha=0.18, lw=0)
        axes.plot(epsilons, allowed, **CLAIMED)
        axes.plot(epsilons, proved, color=BAD if broken else INK, lw=1.6)
        axes.set_xlim(epsilons[0], epsilons[-1])
        if 0 < max(proved) < 0.01:  # a linear axis would show a flat line
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
            axes.set_ylim(max(proved) / 1000, 2 * max(*proved, *allowed))
        else:
            axes.set_ylim(bottom=0)

    described = (
        f"At ε = {worst[0]:.3g}, the distance is largest: δ is at least {worst[1]:.3g} and the claim allows {worst[2]:.3g}."
        if broken
        else "The proved δ is nowhere above the δ that the claim allows."
    )
    return svg(name, "Privacy profile: δ over ε", described, HEIGHT, draw)


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

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, HEIGHT - 0.1, 0.68, ("type I error", "type II error"))
        colour = BAD if gap > 0 else INK
        wrong, claimed = zip(*allowed, strict=True)
        axes.fill_between(wrong, claimed, 1.0, color=CLAIM, alpha=0.18, lw=0)
        axes.plot(wrong, claimed, **CLAIMED)
        # The lower edge is a stair: nothing is known between two thresholds but that errors rise and fall.
        axes.step(least_wrong, least_missed, where="pre", color=MUTED, lw=1.0)
        axes.plot(*zip(*proved, strict=True), color=colour, lw=1.6)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)

    described = (
        f"The distance is largest at a type I error of {at:.3g}: the type II error is at most {missed:.3g}, and the claim is that "
        f"it is at least {missed + gap:.3g}."
        if gap > 0
        else "The errors that the outputs prove are nowhere below those of the claimed curve."
    )
    return svg(name, "Trade-off curve: type II error over type I error", described, HEIGHT, draw)


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
