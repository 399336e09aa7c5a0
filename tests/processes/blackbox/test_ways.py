"""The net of forms by ways: whatever form an output has, each way to the auditor gives the same columns, or one refusal.

The outputs are those of ``forms``, which know nothing of the auditor. An example is one pair of outputs, through all
ways. CI looks at 500 examples, `HYPOTHESIS=explore` at 20,000.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import forms
import numpy as np
import pytest
from hypothesis import given, settings

from auditor.blackbox.batches import Batch, Phase, draw_all
from auditor.blackbox.canonical import from_list
from auditor.blackbox.host import Hosted, hosted
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.outputs import Outputs
from auditor.blackbox.process import close_idle
from auditor.blackbox.sample import Drawer, Sample
from auditor.blackbox.store import decode, encode, packed
from auditor.blackbox.workers import processes, workers_for
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair

EXAMPLES = 20_000 if os.environ.get("HYPOTHESIS") == "explore" else 500
LABELS = np.array([True, False, False, True, True, False])
RECIPES = [
    *([name, "1.5"] for name in forms.OF_A_NUMBER),
    *([name] for name in forms.CONSTANTS),
    *([name, ["float", "1.5"], ["numpy.float64", "2.5"], ["array of float64", "0.5"]] for name in forms.CONTAINERS),
]


def released(recipe: Any, rng: np.random.Generator) -> Any:
    return forms.build(recipe)


def released_without_rng(recipe: Any) -> Any:
    return forms.build(recipe)


def released_together(recipe: Any, size: int, rng: np.random.Generator) -> Any:
    return [forms.build(recipe) for _ in range(size)]


def source(function: Callable[..., Any]) -> PythonSource:
    return PythonSource(f"test_ways:{function.__name__}", search_path=(str(Path(__file__).parent), *sys.path))


@functools.cache
def host(name: str) -> Hosted:
    return hosted(source(globals()[name]), None)


def drawn(drawer: Drawer, pair: Pair, labels: Any = LABELS) -> Sample:
    return drawer.draw(pair, labels, np.random.default_rng(1))


def in_a_worker(pair: Pair) -> Sample:
    batch = Batch(pair, 6, Phase.SEARCH, (0,))
    task = draw_all, (source(released), 1, "ways", itself, [batch])
    [(batches, error, _)] = workers_for("loky", processes(-1)).run(iter([task]), 1)
    if error is not None:
        raise error
    return batches[0].seen  # type: ignore[no-any-return]


def itself(sample: Sample) -> Sample:
    return sample


# Each way from a mechanism to the columns of its outputs.
WAYS: dict[str, Callable[[Pair], Sample]] = {
    "in this process": lambda pair: drawn(source(released).drawer(), pair),
    "many a call": lambda pair: drawn(source(released_together).drawer(), pair),
    "host, one a call": lambda pair: drawn(host("released"), pair),
    "host, without rng": lambda pair: drawn(host("released_without_rng"), pair),
    "host, many a call": lambda pair: drawn(host("released_together"), pair),
    "worker": in_a_worker,
    "resumed run": lambda pair: decode(encode(WAYS["in this process"](pair))),
    "recording": lambda pair: decode(packed(WAYS["in this process"](pair), np.savez_compressed)),
}


def cells(outputs: Outputs) -> dict[str, list[Any]]:
    return {
        column.name: column.numbers.tolist()
        if column.codes is None
        else [n if code < 0 else column.atoms[code] for code, n in zip(column.codes, column.numbers, strict=True)]
        for column in outputs.columns
    }


def seen(way: str, pair: Pair) -> Any:
    """Return the columns of both sides in order, or the words of the refusal."""
    try:
        sample = WAYS[way](pair)
    except MechanismError as error:
        return refusal(error)
    return [list(cells(side)) for side in (sample.left, sample.right)], cells(sample.left), cells(sample.right)


def refusal(error: MechanismError) -> str:
    """Return the words of a refusal. Only masked arrays, and objects that show nothing, are refused, and in words."""
    assert "masked array" in str(error) or "does not show what it holds" in str(error)
    return str(error)


def expected(pair: Pair) -> Any:
    """Return the same without any way: the outputs are made here, and made canonical."""
    counts = int(LABELS.sum()), int((~LABELS).sum())
    try:
        sides = [
            from_list([forms.build(r) for _ in range(n)]) for r, n in zip((pair.left, pair.right), counts, strict=True)
        ]
    except MechanismError as error:
        return refusal(error)
    return [list(cells(side)) for side in sides], *map(cells, sides)


@pytest.fixture(autouse=True, scope="module")
def _end() -> Iterator[None]:
    yield
    close_idle("host")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe[0])
def test_a_form_is_the_same_in_every_way(recipe: Any, way: str) -> None:
    pair = Pair(recipe, ["list", recipe, recipe])
    assert seen(way, pair) == expected(pair)


@settings(max_examples=EXAMPLES)
@given(forms.recipes, forms.recipes)
def test_nested_forms_are_the_same_in_every_way(left: Any, right: Any) -> None:
    pair = Pair(left, right)
    wanted = expected(pair)
    for way in WAYS:
        assert seen(way, pair) == wanted, way


# --- Outputs that the mechanism changes after it returned them ---


def refills(count: int, rng: np.random.Generator) -> Any:
    """Return one array again and again, with another number in it."""
    BUFFER[0] += 1.0
    return BUFFER


def refills_inside(count: int, rng: np.random.Generator) -> Any:
    BUFFER[0] += 1.0
    return {"noisy": (BUFFER, "s")}


BUFFER = np.zeros(2)


@pytest.mark.parametrize("name", ["refills", "refills_inside"])
def test_an_output_is_what_it_was_when_it_was_returned(name: str) -> None:
    labels, place = np.ones(5, np.bool_), "output[0]" if name == "refills" else "output['noisy'][0][0]"
    for drawer in (source(globals()[name]).drawer(), hosted(source(globals()[name]), None)):
        numbers = drawn(drawer, Pair(0, 1), labels).left.column(place).numbers
        assert np.diff(numbers).tolist() == [1.0] * 4
