"""All forms by all ways: whatever the form of an output, each way to the auditor gives the same columns, or the same
refusal.

The outputs come from ``forms``, which does not depend on the auditor. An example is one pair of outputs, through all
ways. CI tries 500 examples, `HYPOTHESIS=explore` 20,000.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forms
import numpy as np
import pytest
import ways
from clusters import Cluster, cluster_in
from hypothesis import given, settings

from auditor.blackbox.host import hosted
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.process import close_idle
from auditor.blackbox.workers import workers_for
from auditor.neighbours.pair import Pair

EXAMPLES = 20_000 if os.environ.get("HYPOTHESIS") == "explore" else 500
HERE = str(Path(__file__).parent)


@pytest.fixture(autouse=True, scope="module")
def _end() -> Iterator[None]:
    yield
    close_idle("host")
    ways.program().close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from cluster_in(tmp_path_factory.mktemp("cluster"))


def pair_of(recipe: Any) -> Pair:
    return Pair(recipe, ["list", recipe, recipe])


@pytest.mark.parametrize("recipe", ways.RECIPES, ids=lambda recipe: recipe[0])
def test_a_form_is_the_same_in_every_way(recipe: Any) -> None:
    wanted = ways.expected(pair_of(recipe))
    for way, draw in ways.WAYS.items():
        assert ways.seen(draw, pair_of(recipe)) in wanted, way


def test_a_form_is_the_same_on_a_cluster(cluster: Cluster) -> None:
    workers = workers_for("dask", -1, cluster.address)
    for recipe in ways.RECIPES:
        columns = ways.seen(lambda pair: ways.in_worker(workers, pair), pair_of(recipe))
        assert columns in ways.expected(pair_of(recipe)), recipe


@pytest.mark.parametrize("recipe", [*filter(ways.is_json, ways.RECIPES)], ids=lambda recipe: recipe[0])
def test_a_form_is_the_same_from_a_program(recipe: Any) -> None:
    assert ways.fits_json(recipe)
    assert ways.seen(lambda pair: ways.drawn(ways.program(), pair), pair_of(recipe)) in ways.expected(pair_of(recipe))


@settings(max_examples=EXAMPLES)
@given(forms.recipes, forms.recipes)
def test_nested_forms_are_the_same_in_every_way(left: Any, right: Any) -> None:
    pair = Pair(left, right)
    wanted = ways.expected(pair)
    for way, draw in ways.WAYS.items():
        assert ways.seen(draw, pair) in wanted, way


def test_the_reference_says_what_is_seen_of_each_form() -> None:
    """`python docs/made.py` writes the page anew."""
    page = Path(__file__).parents[3] / "docs" / "reference" / "outputs.md"
    assert page.read_text(encoding="utf-8") == ways.table()


# --- Outputs that the mechanism changes after returning them ---


def refills(count: int, rng: np.random.Generator) -> Any:
    """Return the same array again and again, each time with another number in it."""
    BUFFER[0] += 1.0
    return BUFFER


def refills_inside(count: int, rng: np.random.Generator) -> Any:
    BUFFER[0] += 1.0
    return {"noisy": (BUFFER, "s")}


BUFFER = np.zeros(2)


@pytest.mark.parametrize("name", ["refills", "refills_inside"])
def test_an_output_is_what_it_was_when_it_was_returned(name: str) -> None:
    labels, place = np.ones(5, np.bool_), "output[0]" if name == "refills" else "output['noisy'][0][0]"
    source = PythonSource(f"test_ways:{name}", search_path=(HERE,))
    for drawer in (source.drawer(), hosted(source, None)):
        numbers = ways.drawn(drawer, Pair(0, 1), labels).left.column(place).numbers
        assert np.diff(numbers).tolist() == [1.0] * 4
