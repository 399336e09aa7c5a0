"""Plots of an audit as SVG, to stand in a page: its colours are the page's, so that they follow dark mode."""

import bisect
import functools
import io
import itertools
import logging
import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from auditor.bounds.conversions import implied_delta
from auditor.claims import Claim, Probability, QueryClaim
from auditor.events.histogram import Bar, Histogram
from auditor.report.markup import Markup, joined, tag, visible
from auditor.results.result import AuditResult
from auditor.verdict import refuting_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that matplotlib writes, and the page's variables that stand in their places.
INK, MUTED, LEFT, RIGHT, CLAIM, BAD = (f"#0000{number:02x}" for number in range(1, 7))
VARIABLES = {INK: "ink", MUTED: "muted", LEFT: "left", RIGHT: "right", CLAIM: "claim", BAD: "bad"}
SIDES = {"left": LEFT, "right": RIGHT}

# Inches. Two plots stand beside each other on a screen, and one fills a phone.
WIDTH, HEIGHT, ROW = 4.4, 2.5, 0.26
LONGEST_LABEL = 26
# Numbers beyond LARGE, and those that differ by less than CLOSE of themselves, are too much for matplotlib's arithmetic.
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
    "axes.unicode_minus": True,
}


def svg(name: str, title: str, description: str, height: float, draw: Callable[["Figure"], None]) -> Markup:
    """Return an SVG element drawn by matplotlib, WIDTH by ``height`` inches, with its text alternative.

    ``name`` sets its identifiers apart from those of other plots on the page.
    """
    matplotlib = _matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user has set for plots of their own
        matplotlib.rcParams.update(STYLE)
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH, height))
        draw(figure)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _embedded(written.getvalue(), name, title, description)


@functools.cache
def _matplotlib() -> Any:
    """Import matplotlib without what it has to say of its caches, which is nobody's business here."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        import matplotlib
        import matplotlib.font_manager
    finally:
        logger.setLevel(level)
    return matplotlib


def _embedded(text: str, name: str, title: str, description: str) -> Markup:
    """Turn a file of matplotlib's into an element of the page."""
    start = text.index("<svg")
    box = re.search(r'viewBox="[^"]*"', text[start:])
    assert box is not None
    inner = text[text.index(">", start) + 1 : text.rindex("</svg>")]
    inner = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", inner, flags=re.DOTALL)
    used = set(re.findall(r"#([A-Za-z]\w*)", inner))
    inner = re.sub(r' id="([^"]*)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", inner)
    inner = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{name}-", inner)
    inner = re.sub(r"font(-family)?: [^;\"]*'DejaVu Sans'[^;\"]*;? ?", _size_only, inner)
    for colour, variable in VARIABLES.items():
        inner = inner.replace(colour, f"var(--{variable})")
    inner = re.sub(r"\s*\n\s*", " ", inner)
    texts = joined(tag("title", title, id=f"{name}-title"), tag("desc", description, id=f"{name}-desc"))
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box[0]} role="img" '
        f'aria-labelledby="{name}-title {name}-desc">{texts}{inner}</svg>'
    )


def _size_only(found: re.Match[str]) -> str:
    """Leave of a font what is not its family, which is the page's."""
    size = re.search(r"font: ([0-9.]+px)", found[0])
    return f"font-size: {size[1]}; " if size else ""


def _axes(figure: "Figure", bottom: float, top: float, left: float = 0.55) -> "Axes":
    """Return axes between two heights, and from ``left`` on, in inches."""
    height = figure.get_figheight()
    return figure.add_axes((left / WIDTH, bottom / height, (WIDTH - left - 0.12) / WIDTH, (top - bottom) / height))


def _few_ticks(*axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(4))


# --- the outputs of both sides ---


def histogram_plot(name: str, shown: Histogram) -> Markup:
    """Return both sides' outputs along a feature: as outlines over cells, and as bars for single values."""
    bars = 0.3 + ROW * len(shown.bars) if shown.bars else 0.0
    cells = HEIGHT if shown.edges else 0.0
    height = max(1.0, bars + cells + (0.25 if not cells else 0.0))

    def draw(figure: "Figure") -> None:
        if shown.edges:
            _draw_cells(_axes(figure, bars + 0.45, height - 0.1, 0.68), shown)
        if shown.bars:
            labels = [_label(bar.label) for bar in shown.bars]
            left = max(0.68, 0.25 + 0.078 * max(map(len, labels)))
            _draw_bars(
                _axes(figure, 0.45 if not cells else 0.3, bars + (0.15 if not cells else 0.0), left), shown, labels
            )

    return svg(name, "Outputs on the two data sets", _description(shown), height, draw)


def _label(text: str) -> str:
    """Return text that the font can measure, cut in the middle to a length that leaves room for bars."""
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont("DejaVu Sans"))
    shown = "".join(c if font.get_char_index(ord(c)) else c.encode("unicode_escape").decode() for c in visible(text))
    half = LONGEST_LABEL // 2
    return shown if len(shown) <= LONGEST_LABEL else f"{shown[:half]}…{shown[1 - half :]}"


def _share(count: int, outputs: int) -> float:
    return count / outputs if outputs else 0.0


def _draw_cells(axes: "Axes", shown: Histogram) -> None:
    edges, place = _places(shown.edges)
    step = edges[1] - edges[0] if len(edges) > 1 else 1.0
    ends = [edges[0] - step, *edges, edges[-1] + step]
    for mark in shown.marks:
        low, high = max(place(mark.low), ends[0]), min(place(mark.high), ends[-1])
        if mark.guess is not None and low < high:
            axes.axvspan(low, high, color=SIDES[mark.guess], alpha=0.13, lw=0)
    for counts, outputs, colour in ((shown.left, shown.outputs[0], LEFT), (shown.right, shown.outputs[1], RIGHT)):
        shares = [_share(count, outputs) for count in counts]
        axes.stairs(shares, ends, fill=True, color=colour, alpha=0.28, lw=0)
        axes.stairs(shares, ends, color=colour, lw=1.3)
    axes.set_xlim(ends[0], ends[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(_label(shown.feature))
    axes.set_ylabel("share of outputs")
    axes.yaxis.set_major_formatter(_percent)
    _few_ticks(axes.xaxis, axes.yaxis)
    if edges[-1] != shown.edges[-1]:
        axes.set_xticks([edges[0], edges[-1]], [f"{end:.10g}" for end in (shown.edges[0], shown.edges[-1])])


def _places(edges: Sequence[float]) -> tuple[Sequence[float], Callable[[float], float]]:
    """Return where edges are drawn, and where any number is: at themselves, unless they are too large or close for a plot."""
    largest = max(map(abs, edges))
    steps = [b - a for a, b in itertools.pairwise(edges)]
    if largest < LARGE and (not steps or min(steps) > max(1 / LARGE, CLOSE * largest)):
        return edges, lambda number: number
    even = [float(number) for number in range(len(edges))]

    def place(number: float) -> float:
        return number if math.isinf(number) else float(bisect.bisect_left(edges, number))

    return even, place


def _draw_bars(axes: "Axes", shown: Histogram, labels: Sequence[str]) -> None:
    places = range(len(shown.bars))
    for place, bar in zip(places, shown.bars, strict=True):
        if bar.guess is not None:
            axes.axhspan(place - 0.45, place + 0.45, color=SIDES[bar.guess], alpha=0.13, lw=0)
    left = [_share(bar.left, shown.outputs[0]) for bar in shown.bars]
    right = [_share(bar.right, shown.outputs[1]) for bar in shown.bars]
    axes.barh([place - 0.18 for place in places], left, 0.32, color=LEFT)
    axes.barh([place + 0.18 for place in places], right, 0.32, color=RIGHT)
    axes.set_yticks(list(places), labels)
    axes.set_ylim(len(shown.bars) - 0.4, -0.6)
    axes.set_xlim(0, max(*left, *right, 1e-9) * 1.05)
    if not shown.edges:
        axes.set_xlabel("share of outputs")
    axes.xaxis.set_major_formatter(_percent)
    _few_ticks(axes.xaxis)


def _percent(value: float, _: object = None) -> str:
    return f"{100 * value:.3g} %"


def _description(shown: Histogram) -> str:
    """Describe the plot for those who do not see it: where most outputs lie, and where the sides differ most."""
    parts = []
    if shown.edges:
        parts.append(
            f"Most outputs lie between {shown.edges[0]:.4g} and {shown.edges[-1]:.4g}; "
            f"{_shares(sum(shown.left[1:-1]), sum(shown.right[1:-1]), shown)}."
        )
    for bar in shown.bars:
        parts.append(f"{bar.label}: {_shares(bar.left, bar.right, shown)}{_guessed(bar)}.")
    return f"Shares of outputs by {shown.feature}. {' '.join(parts)}"


def _shares(left: int, right: int, shown: Histogram) -> str:
    return f"{_percent(_share(left, shown.outputs[0]))} of the left, {_percent(_share(right, shown.outputs[1]))} of the right"


def _guessed(bar: Bar) -> str:
    return "" if bar.guess is None else f", where the event says {bar.guess}"


# --- the bound against the claim ---


def bound_plot(name: str, audit: AuditResult) -> Markup:
    """Return what is claimed and what is proved of a quantity, as intervals on one line; the audit must have a bound."""
    assert audit.bound is not None
    symbol = audit.claim.symbol
    spans, points = _spans(audit), _points(audit)
    labels = [label for label, *_ in spans] + [label for label, *_ in points]
    rows = len(labels)
    height = 0.55 + ROW * rows

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, height - 0.08, 1.25)
        low, high = _reach(audit, [end for _, *ends, _ in spans for end in ends] + [at for _, at, _ in points])
        for row, (_, start, end, colour) in enumerate(spans):
            if start > high:
                _draw_point(axes, row, start, high, colour)
            else:
                left = max(start, low)
                axes.barh(row, min(end, high) - left, 0.5, left=left, color=colour, alpha=0.85)
        for row, (_, at, colour) in enumerate(points, start=len(spans)):
            _draw_point(axes, row, at, high, colour)
        axes.axvline(min(audit.claim.value, high), color=CLAIM, lw=1.2, dashes=(4, 2))
        axes.set_yticks(range(rows), labels)
        axes.set_ylim(rows - 0.4, -0.6)
        axes.set_xlim(low, high)
        axes.set_xlabel(symbol)
        axes.tick_params(axis="y", length=0)
        _few_ticks(axes.xaxis)

    described = [f"{what}: {_interval(start, end)}" for what, start, end, _ in spans]
    described += [f"{what}: {at:.4g}" for what, at, _ in points]
    return svg(name, "Bound against claim", f"Values of {symbol}. {'; '.join(described)}.", height, draw)


def _draw_point(axes: "Axes", row: int, at: float, high: float, colour: str) -> None:
    """Draw a point, or an arrow to where it lies beyond the end of the line."""
    axes.plot([min(at, high)], [row], marker=">" if at > high else "D", color=colour, markersize=5, lw=0, clip_on=False)


def _spans(audit: AuditResult) -> list[tuple[str, float, float, str]]:
    """Return what is claimed, and what is proved: in words, from, to, colour."""
    assert audit.bound is not None
    claim, bound = audit.claim, audit.bound
    allowed = (claim.value, math.inf) if refuting_side(claim) == "upper" else (-math.inf, claim.value)
    proved = (-math.inf, bound.value) if bound.side == "upper" else (bound.value, math.inf)
    spans = [("claimed", *allowed, CLAIM)]
    # What a query does on a pair is one number, and not at least that.
    return spans if isinstance(claim, QueryClaim) else [*spans, ("proved", *proved, _colour(audit))]


def _colour(audit: AuditResult) -> str:
    return BAD if audit.verdict == "violation" else INK


def _points(audit: AuditResult) -> list[tuple[str, float, str]]:
    """Return single values: in words, where, colour."""
    points = [] if audit.exact is None else [("exact here", audit.exact.value, INK)]
    if isinstance(audit.claim, QueryClaim) and audit.bound is not None:
        points.append(("largest found", audit.bound.value, _colour(audit)))
    caught = (audit.power or {}).get("95%", math.inf)
    return points + ([("would be caught", caught, INK)] if caught < math.inf else [])


def _reach(audit: AuditResult, values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the line: all finite values, and room for what lies beyond them."""
    finite = [value for value in values if abs(value) < LARGE] or [0.0]
    if isinstance(audit.claim, Probability):
        room = 0.25 * (max(finite) - min(finite)) or 0.1
        return max(0.0, min(finite) - room), min(1.0, max(finite) + room)
    high = 1.25 * max(finite) if max(finite) > 0 else 1.0
    # Where nothing at all is allowed, that must be seen too.
    return min(-0.25 * high if isinstance(audit.claim, QueryClaim) and audit.claim.value == 0 else 0.0, *finite), high


def _interval(start: float, end: float) -> str:
    return f"at most {end:.4g}" if start == -math.inf else f"at least {start:.4g}"


# --- the growth of the bound ---


def growth_plot(name: str, audit: AuditResult) -> Markup:
    """Return the bound after each part of the outputs, with the claim and, where it is known, the exact value."""
    assert audit.bound is not None
    symbol = audit.claim.symbol
    outputs = [n for n, _ in audit.illustration.growth]
    finite = [value for _, value in audit.illustration.growth if math.isfinite(value)]
    top = max([*finite, audit.claim.value, 1e-9])
    values = [min(value, 1.1 * top) for _, value in audit.illustration.growth]
    colour = BAD if audit.verdict == "violation" else INK

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, HEIGHT - 0.1, 0.68)
        axes.axhline(audit.claim.value, color=CLAIM, lw=1.2, dashes=(4, 2))
        if audit.exact is not None and math.isfinite(audit.exact.value):
            axes.axhline(audit.exact.value, color=MUTED, lw=1.0, dashes=(1, 2))
        axes.plot(outputs, values, color=colour, lw=1.6, marker="o", markersize=3)
        if outputs[-1] > 100 * outputs[0]:
            axes.set_xscale("log")
            axes.xaxis.set_minor_formatter("")
        else:
            axes.set_xlim(left=0)
            _few_ticks(axes.xaxis)
        axes.xaxis.set_major_formatter(_thousands)
        axes.set_xlabel("outputs")
        axes.set_ylabel(f"proved {symbol}")
        axes.margins(y=0.12)
        _few_ticks(axes.yaxis)

    (first, at_first), (last, at_last) = audit.illustration.growth[0], audit.illustration.growth[-1]
    described = f"From {at_first:.4g} after {first:,} outputs to {at_last:.4g} after {last:,}; claimed is {audit.claim.value:.4g}."
    return svg(name, "How the bound grew with outputs", described, HEIGHT, draw)


def _thousands(value: float, _: object = None) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g}"


# --- the privacy profile ---


def profile_plot(name: str, claim: Claim, profile: Sequence[tuple[float, float]]) -> Markup:
    """Return the proved lower bound on δ over ε, and the largest δ that the claim allows at each ε, or an upper limit of it."""
    epsilons, proved = [epsilon for epsilon, _ in profile], [delta for _, delta in profile]
    allowed = [implied_delta(claim, epsilon) for epsilon in epsilons]
    broken = any(found > most for found, most in zip(proved, allowed, strict=True))

    def draw(figure: "Figure") -> None:
        axes = _axes(figure, 0.45, HEIGHT - 0.1, 0.72)
        axes.fill_between(epsilons, allowed, color=CLAIM, alpha=0.18, lw=0)
        axes.plot(epsilons, allowed, color=CLAIM, lw=1.2, dashes=(4, 2))
        axes.plot(epsilons, proved, color=BAD if broken else INK, lw=1.6)
        axes.set_xlim(epsilons[0], epsilons[-1])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("ε")
        axes.set_ylabel("δ")
        _few_ticks(axes.xaxis, axes.yaxis)

    worst = max(zip(epsilons, proved, allowed, strict=True), key=lambda point: point[1] - point[2])
    described = (
        f"At ε = {worst[0]:.3g}, where they are furthest apart, δ is at least {worst[1]:.3g} and the claim allows {worst[2]:.3g}."
        if broken
        else "At no ε is the proved δ above what the claim allows."
    )
    return svg(name, "Privacy profile: δ over ε", described, HEIGHT, draw)
