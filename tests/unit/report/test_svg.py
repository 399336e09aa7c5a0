"""Plots: where a number lies, what is marked on an axis, and what a reader's browser gets."""

import itertools
import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.report.svg import DASHED, FAR, INK, LEFT, MOST_DECADES, MOST_TICKS, Drawing, Scale, around, as_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(scale_x: Scale, scale_y: Scale, draw: object = lambda axes: None) -> ElementTree.Element:
    def both(drawing: Drawing) -> None:
        draw(drawing.add_axes(0.5, 2.4, 0.7, ("x < 1", "y & z"), scale_x, scale_y))  # type: ignore[operator]

    return ElementTree.fromstring(as_svg("some", "a title", "a description", 2.5, both))


def numbers_of(plot: ElementTree.Element) -> list[float]:
    paths = " ".join(path.get("d", "") for path in plot.iter(f"{SVG}path"))
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", paths)]


@given(st.floats(-1e90, 1e90), st.floats(1e-90, 1e90))
def test_an_axis_has_a_few_ticks_at_equal_steps_of_round_numbers(low: float, length: float) -> None:
    scale = Scale(low, low + length)
    if not scale.high - scale.low > 1e-9 * max(abs(scale.low), abs(scale.high)):
        return
    values = [value for value, _ in scale.ticks()]
    assert 2 <= len(values) <= MOST_TICKS + 1
    steps = [b - a for a, b in itertools.pairwise(values)]
    assert max(steps) == pytest.approx(min(steps), rel=1e-3)
    digits = f"{min(steps):.2e}".partition("e")[0].rstrip("0.")
    assert digits in {"1", "2", "2.5", "5"}
    assert all(-1e-3 <= scale.share(value) <= 1 + 1e-3 for value in values)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0, 1, ["0", "0.25", "0.5", "0.75", "1"]),
        (0, 0.3, ["0", "0.1", "0.2", "0.3"]),
        (-3, 4, ["−2", "0", "2", "4"]),
        (0, 105_000, ["0", "50000", "100000"]),
        (2, 2, ["2"]),
    ],
)
def test_ticks_are_written_as_one_would(low: float, high: float, wanted: list[str]) -> None:
    assert [words for _, words in Scale(low, high).ticks()] == wanted


@given(st.integers(-300, 290), st.integers(1, 300))
def test_a_logarithmic_axis_has_powers_of_ten(power: int, decades: int) -> None:
    scale = Scale(0.9 * 10.0**power, 1.1 * 10.0 ** min(power + decades, 300), is_log=True, words="{:g}".format)
    values = [value for value, _ in scale.ticks()]
    assert 2 <= len(values) <= MOST_DECADES
    assert all(f"{value:e}".startswith("1.000000e") for value in values)


def test_numbers_lie_where_their_share_of_the_axis_is() -> None:
    plot = drawn(Scale(0, 10), Scale(0, 2), lambda axes: axes.line([(0, 0), (5, 2), (10, 1)], INK))
    [line] = [path for path in plot.iter(f"{SVG}path") if "--ink" in path.get("style", "")]
    # The axes are from .7 inch to 4.28 in width, and from .1 to 2 in height, with 72 units each.
    assert line.get("d") == "M50.4 144L179.28 7.2L308.16 75.6"


def test_what_is_drawn_stays_inside_the_axes_and_marks_may_be_at_their_edge() -> None:
    def draw(axes: object) -> None:
        axes.line([(-1, 0), (2, 1)], INK)  # type: ignore[attr-defined]
        axes.mark(1, 0.5, LEFT)  # type: ignore[attr-defined]

    plot = drawn(Scale(0, 1), Scale(0, 1), draw)
    [inside] = plot.findall(f"{SVG}g")
    [clip] = plot.findall(f"{SVG}clipPath")
    assert inside.get("clip-path") == f"url(#{clip.get('id')})"
    assert str(clip.get("id")).startswith("some-")
    assert ["--ink" in path.get("style", "") for path in inside] == [True]
    assert any("--left" in path.get("style", "") for path in plot.findall(f"{SVG}path"))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e300])
def test_numbers_that_cannot_be_drawn_are_cut(value: float) -> None:
    plot = drawn(Scale(0, 1), Scale(0, 1e-3), lambda axes: axes.line([(0, value), (value, 1)], INK, 1.0, DASHED))
    assert max(map(abs, numbers_of(plot))) <= FAR


def test_words_are_text_and_never_elements() -> None:
    names = Scale(0, 1, given=[(0.5, "<script>\u202e")])
    plot = drawn(names, Scale(0, 1))
    texts = [text.text for text in plot.iter(f"{SVG}text")]
    assert {"x < 1", "y & z"} <= {*texts}
    assert any(text and text.startswith("<script>") and "\u202e" not in text for text in texts)


def test_all_values_are_inside_a_scale_around_them() -> None:
    assert around([1.0, 3.0], 0.1) == Scale(0.8, 3.2)
    assert around([2.0], 0.1).low < 2 < around([2.0], 0.1).high
    assert around([0.0], 0.1) == Scale(-1.0, 1.0)
    wide = around([10.0, 1000.0], 0.5, is_log=True)
    assert (wide.low, wide.high) == (1.0, 10_000.0)
