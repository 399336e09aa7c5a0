"""Plots as SVG: axes with ticks, and lines, areas, bars and marks on them, in the colours of the page."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from auditor.errors import visible

# WIDTH is in inches, as are the heights of plots, so that two stand side by side on a screen, and one fills a phone.
WIDTH = 4.4
# Units of a drawing in an inch, and the size of its letters.
INCH, LETTERS = 72.0, 9.0
# Coordinates beyond FAR are cut: no drawing is as large, and some browsers draw nothing where numbers are too large.
FAR = 1e4
# The names of the page's colours.
INK, MUTED, LEFT, RIGHT, CLAIM, BAD = "ink", "muted", "left", "right", "claim", "bad"
DASHED, DOTTED = (4.0, 2.0), (1.0, 2.0)
# The steps between ticks, and the most ticks on an axis. More decades than MOST_DECADES leave some out.
STEPS, MOST_TICKS, MOST_DECADES = (1.0, 2.0, 2.5, 5.0, 10.0), 5, 7

Labels = Callable[[float], str]


def plain_number(value: float) -> str:
    """Write the number of a tick."""
    return f"{'−' if value < 0 else ''}{abs(value):.10g}"


@dataclass(frozen=True, slots=True)
class Scale:
    """What an axis shows: the numbers from ``low`` to ``high``, and the words at its ticks.

    The ticks are those given, or else round numbers, on a logarithmic axis the powers of ten.
    """

    low: float
    high: float
    is_log: bool = False
    words: Labels = plain_number
    given: Sequence[tuple[float, str]] | None = None

    def share(self, value: float) -> float:
        """Return how far along the axis a number is: 0 at ``low``, 1 at ``high``."""
        if self.is_log:
            return self._along(math.log10(max(value, 1e-300)), math.log10(self.low), math.log10(self.high))
        return self._along(value, self.low, self.high)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the numbers that are marked on the axis, each with its words."""
        if self.given is not None:
            return list(self.given)
        return [(value, self.words(value)) for value in (self._decades() if self.is_log else self._round())]

    @staticmethod
    def _along(value: float, low: float, high: float) -> float:
        return (value - low) / (high - low) if high > low else 0.5

    def _round(self) -> list[float]:
        if not self.high > self.low:
            return [self.low]
        rough = (self.high - self.low) / (MOST_TICKS - 1)
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * step for step in STEPS if power * step >= rough * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-6), math.floor(self.high / step + 1e-6)
        return [round(place * step, 12 - math.floor(math.log10(step))) for place in range(first, last + 1)]

    def _decades(self) -> list[float]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = max(1, math.ceil((last - first + 1) / MOST_DECADES))
        return [float(f"1e{power}") for power in range(first, last + 1, every)]


def around(values: Iterable[float], margin: float, *, is_log: bool = False, words: Labels = plain_number) -> Scale:
    """Return a scale of all values, with the share ``margin`` of their range beyond either end."""
    inside = [*values]
    low, high = min(inside), max(inside)
    if is_log:
        room = (high / low) ** margin
        return Scale(low / room, high * room, is_log, words)
    room = margin * (high - low) or 0.05 * abs(high) or 1.0
    return Scale(low - room, high + room, is_log, words)


@dataclass(slots=True)
class Axes:
    """Two scales, and what is drawn on them. ``box`` is the left, top, right and bottom end in units of the drawing."""

    name: str
    box: tuple[float, float, float, float]
    labels: tuple[str, str]
    x: Scale
    y: Scale
    inside: list[str] = field(default_factory=list)
    above: list[str] = field(default_factory=list)
    has_marks: bool = True  # whether there is a short line at each tick of y

    def line(
        self,
        points: Iterable[tuple[float, float]],
        colour: str,
        width: float = 1.6,
        dashes: Sequence[float] = (),
        *,
        has_dots: bool = False,
    ) -> None:
        """Draw a line through points."""
        placed = [self._place(*point) for point in points]
        style = f"fill: none; stroke: var(--{colour}); stroke-width: {_short(width)}; stroke-linejoin: round"
        if dashes:
            style += f"; stroke-dasharray: {' '.join(_short(width * part) for part in dashes)}"
        self.inside.append(f'<path d="{_path(placed)}" style="{style}"/>')
        if has_dots:
            self.inside += [
                f'<circle cx="{_short(x)}" cy="{_short(y)}" r="1.5" style="fill: var(--{colour})"/>' for x, y in placed
            ]

    def level(self, y: float, colour: str, width: float, dashes: Sequence[float]) -> None:
        """Draw a line across at a height."""
        self.line([(self.x.low, y), (self.x.high, y)], colour, width, dashes)

    def upright(self, x: float, colour: str, width: float, dashes: Sequence[float]) -> None:
        """Draw a line from the bottom to the top."""
        self.line([(x, self.y.low), (x, self.y.high)], colour, width, dashes)

    def area(self, points: Iterable[tuple[float, float]], colour: str, opacity: float) -> None:
        """Fill the polygon of points."""
        placed = _path([self._place(*point) for point in points])
        self.inside.append(f'<path d="{placed}Z" style="fill: var(--{colour}); opacity: {_short(opacity)}"/>')

    def bar(self, x: tuple[float, float], y: tuple[float, float], colour: str, opacity: float = 1.0) -> None:
        """Fill the rectangle between two numbers of either axis."""
        self.area([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])], colour, opacity)

    def mark(self, x: float, y: float, colour: str, *, points_on: bool = False) -> None:
        """Draw a diamond, or a triangle that points on to the right, even at the edge of the axes."""
        (at, height), size = self._place(x, y), 3.5
        corners = [(at - size, height), (at, height - size), (at + size, height), (at, height + size)]
        if points_on:
            corners = [(at - size, height - size), (at + size, height), (at - size, height + size)]
        self.above.append(f'<path d="{_path(corners)}Z" style="fill: var(--{colour})"/>')

    def write(self) -> str:
        """Return the axes as elements of SVG."""
        left, top, right, bottom = self.box
        clip = f"{self.name}-inside"
        box = f'x="{_short(left)}" y="{_short(top)}" width="{_short(right - left)}" height="{_short(bottom - top)}"'
        parts = [f'<clipPath id="{clip}"><rect {box}/></clipPath><g clip-path="url(#{clip})">', *self.inside, "</g>"]
        edges, texts = [f"M{_short(left)} {_short(top)}V{_short(bottom)}H{_short(right)}"], list[str]()
        for value, words in _on_axis(self.x):
            x = self._place(value, self.y.low)[0]
            edges.append(f"M{_short(x)} {_short(bottom)}v3.5")
            texts.append(_text(x, bottom + 6 + 0.75 * LETTERS, words, "middle"))
        for value, words in _on_axis(self.y):
            y = self._place(self.x.low, value)[1]
            if self.has_marks:
                edges.append(f"M{_short(left)} {_short(y)}h-3.5")
            texts.append(_text(left - 6, y + 0.35 * LETTERS, words, "end"))
        axis = "fill: none; stroke: var(--muted); stroke-width: 0.8"
        parts += [f'<path d="{"".join(edges)}" style="{axis}"/>', *texts, *self.above]
        below, beside = self.labels
        if below:
            parts.append(_text((left + right) / 2, bottom + 7 + 2.1 * LETTERS, below, "middle"))
        if beside:
            middle = (top + bottom) / 2
            parts.append(
                _text(LETTERS, middle, beside, "middle", f' transform="rotate(-90 {LETTERS:g} {_short(middle)})"')
            )
        return "".join(parts)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is in units of the drawing, whose heights grow downwards."""
        left, top, right, bottom = self.box
        return _cut(left + self.x.share(x) * (right - left)), _cut(bottom - self.y.share(y) * (bottom - top))


@dataclass(slots=True)
class Drawing:
    """A plot of some axes. ``height`` is in inches. Identifiers begin with ``name``."""

    name: str
    height: float
    axes: list[Axes] = field(default_factory=list)

    def add_axes(self, bottom: float, top: float, left: float, labels: tuple[str, str], x: Scale, y: Scale) -> Axes:
        """Return axes between two heights above the lower edge, and from ``left`` on, in inches. ``labels`` name x and y."""
        box = (left * INCH, (self.height - top) * INCH, (WIDTH - 0.12) * INCH, (self.height - bottom) * INCH)
        self.axes.append(Axes(f"{self.name}-{len(self.axes)}", box, labels, x, y))
        return self.axes[-1]


def as_svg(name: str, title: str, description: str, height: float, draw: Callable[[Drawing], None]) -> Markup:
    """Return an SVG element, WIDTH by ``height`` inches, with its text alternative.

    The element's identifiers begin with ``name``, so that they differ from those of other plots on the page.
    """
    drawing = Drawing(name, height)
    draw(drawing)
    inner = "".join(axes.write() for axes in drawing.axes)
    return element(name, title, description, f"0 0 {_short(WIDTH * INCH)} {_short(height * INCH)}", inner)


def element(name: str, title: str, description: str, box: str, inner: str) -> Markup:
    """Return an SVG element with a text alternative."""
    texts = Markup('<title id="{0}-title">{1}</title><desc id="{0}-desc">{2}</desc>')
    texts = texts.format(name, visible(title), visible(description))
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">{texts}{inner}</svg>'
    )


def _on_axis(scale: Scale) -> list[tuple[float, str]]:
    return [(value, words) for value, words in scale.ticks() if -1e-6 <= scale.share(value) <= 1 + 1e-6]


def _text(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    style = f"font-size: {LETTERS:g}px; text-anchor: {anchor}; fill: var(--ink)"
    return f'<text x="{_short(x)}" y="{_short(y)}" style="{style}"{more}>{escape(visible(words))}</text>'


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)


def _cut(value: float) -> float:
    return 0.0 if math.isnan(value) else min(max(value, -FAR), FAR)


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
