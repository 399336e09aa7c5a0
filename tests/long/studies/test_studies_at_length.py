"""Figures of the studies are those that are committed."""

import importlib

import pytest

from studies.drawing import to_svg
from studies.study import REPORTS, STUDIES, read


def drawn(name: str) -> dict[str, str]:
    figures = importlib.import_module(f"studies.{name}.figures").draw(read(name))
    return {f"{figure}.svg": to_svg(drawing) for figure, drawing in figures.items()}


@pytest.mark.parametrize("name", STUDIES)
def test_figures_are_those_of_the_study(name: str) -> None:
    assert set(drawn(name)) == {file.name for file in (REPORTS / name).glob("*.svg")}
