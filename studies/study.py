"""The parts of a study: ``numbers`` computes, ``figures`` draws, and report.md.jinja is the text; nothing is typed twice.

The report is made from numbers.json alone: ``report`` computes the values and tables that the template names, so that
no sentence can contradict its number.
"""

import importlib
import json
import math
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from auditor.results.files import to_json, write_whole
from studies.words import num

STUDIES = ("larger_groups", "private_ratios", "mean", "shifted_inverse", "detection")
REPORTS = Path(__file__).parent.parent / "reports" / "studies"

# Beyond this many digits, numbers differ between machines.
DIGITS = 10


def write(name: str) -> None:
    """Recompute a study, and write its numbers, figures and report."""
    folder = REPORTS / name
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "numbers.json", to_json(tidy(importlib.import_module(f"studies.{name}.numbers").measure())))
    publish(name)


def publish(name: str) -> None:
    """Draw the figures and write the report from the stored numbers."""
    # matplotlib takes half a second to import.
    from studies.drawing import to_svg

    numbers, folder = read(name), REPORTS / name
    for figure, drawn in importlib.import_module(f"studies.{name}.figures").draw(numbers).items():
        write_whole(folder / f"{figure}.svg", to_svg(drawn))
    write_whole(folder / "README.md", report(name, numbers))


def read(name: str) -> Any:
    """Return the stored numbers of a study."""
    return json.loads((REPORTS / name / "numbers.json").read_text(encoding="utf-8"))


def report(name: str, numbers: Any) -> str:
    """Return the report of a study, made from its numbers."""
    values = importlib.import_module(f"studies.{name}.report").values(numbers)
    template = (Path(__file__).parent / name / "report.md.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(template, {"num": num}).render(values, numbers=numbers)


def truth_of(mechanism: Any, left: Any, right: Any, **parameters: Any) -> tuple[Any, Any]:
    """Return the exact output distributions of a specimen on two data sets."""
    pair = mechanism.__truth__(left, right, **parameters)
    return pair.left, pair.right


def tidy(data: Any) -> Any:
    """Return the data with numpy's numbers as Python's, rounded to DIGITS significant digits.

    >>> tidy({"x": (1 / 3, 2)})
    {'x': [0.3333333333, 2]}
    """
    if isinstance(data, dict):
        return {str(key): tidy(value) for key, value in data.items()}
    if isinstance(data, np.ndarray | np.generic):
        data = data.tolist()
    if isinstance(data, list | tuple):
        return [tidy(item) for item in data]
    return float(f"{data:.{DIGITS}g}") if isinstance(data, float) and math.isfinite(data) else data
