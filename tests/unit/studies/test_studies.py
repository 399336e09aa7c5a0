"""Every study: the report agrees with the numbers, the figures exist, and equal numbers give equal bytes."""

import importlib
import re
from typing import Any

import pytest

from studies.drawing import to_svg
from studies.study import REPORTS, STUDIES, read, report, tidy
from studies.words import num


@pytest.mark.parametrize("name", STUDIES)
def test_the_report_is_made_from_the_numbers_that_are_committed(name: str) -> None:
    assert (REPORTS / name / "README.md").read_text(encoding="utf-8") == report(name, read(name))


@pytest.mark.parametrize("name", STUDIES)
def test_every_figure_is_shown_and_every_link_leads_somewhere(name: str) -> None:
    text = (REPORTS / name / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)#:]+)\)", text))
    assert {link for link in linked if not (REPORTS / name / link).exists()} == set()
    assert {file.name for file in (REPORTS / name).glob("*.svg")} <= linked


def drawn(name: str) -> dict[str, str]:
    figures = importlib.import_module(f"studies.{name}.figures").draw(read(name))
    return {f"{figure}.svg": to_svg(drawing) for figure, drawing in figures.items()}


def test_figures_do_not_change_between_drawings() -> None:
    assert drawn("detection") == drawn("detection")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-0.51, "−0.510"),
        (999999.0, "1.00·10⁶"),
        (0.00010001, "0.000100"),
        (1e-5, "1.00·10⁻⁵"),
        ("Infinity", "∞"),
        (-2e-7, "−2.00·10⁻⁷"),
    ],
)
def test_numbers_are_written_with_their_digits(value: Any, written: str) -> None:
    assert num(value) == written


def test_numbers_are_kept_to_the_same_digits_everywhere() -> None:
    import numpy as np

    kept = tidy(
        {"a": np.float64(2 / 3), "b": np.arange(2), "c": (True, None, "x", float("inf")), "d": np.array([[0.1]])}
    )
    assert kept == {"a": 0.6666666667, "b": [0, 1], "c": [True, None, "x", float("inf")], "d": [[0.1]]}
