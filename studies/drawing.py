"""The look of figures: one style, colours that everybody can distinguish, the same bytes for the same numbers."""

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# Okabe & Ito's colours: distinct for every kind of colour vision, and in grey.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
)
STYLE: dict[str, Any] = {
    "svg.hashsalt": "studies",
    "font.size": 9,
    "axes.titlesize": 9,
    "legend.fontsize": 8,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
}
# Legends and texts take their style when they are made, not when the figure is.
mpl.rcParams.update(STYLE)  # type: ignore[arg-type]


def panels(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """Return a figure with a grid of axes, always an array of shape (rows, columns); sizes in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def shades(count: int) -> list[Any]:
    """Return colours from dark to light, for ordered categories."""
    ramp = mpl.colormaps["viridis"]
    return [ramp(0.9 * i / max(1, count - 1)) for i in range(count)]


def to_svg(figure: Figure) -> str:
    """Return the figure as SVG without a date."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    # matplotlib ends some lines with blanks.
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"
