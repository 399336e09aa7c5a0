"""All forms by all ways: whatever the form of an output, each way to the auditor gives the same columns, or the same
refusal.

The outputs come from ``forms``, which does not depend on the auditor. An example is one pair of outputs, through all
ways. CI tries 500 examples, `HYPOTHESIS=explore` 20,000.
"""

import functools
import itertools
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forms
import numpy as np
import pytest
import strangers
import ways
from clusters import Cluster, cluster_in
from hypothesis import given, settings

from auditor.blackbox.canonical import from_list, row_of
from auditor.blackbox.host import Hosted, hosted
from auditor.blackbox.journal import Journal
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.outputs import concatenate
from auditor.blackbox.process import ProcessEnded, close_idle
from auditor.blackbox.sample import PIECE, Patience, join_samples, sample_of
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


# --- Mechanisms as strangers write them ---

STRANGE = np.random.default_rng(0).random(96) < 0.5
TOKENS = itertools.count()


@pytest.mark.parametrize("name", strangers.FORMS)
def test_a_stranger_is_read_the_same_in_every_way(name: str) -> None:
    """Each output is what it was when it was returned, whatever the mechanism makes of the object later."""
    made = strangers.wanted(name, len(STRANGE))
    wanted = [from_list([*itertools.compress(made, side)]) for side in (STRANGE, ~STRANGE)]
    for drawer in (
        ways.source(strangers.output, "strangers").drawer(),
        strange_host("output"),
        strange_host("output_without_rng"),
    ):
        case = [name, next(TOKENS)]
        sample = ways.drawn(drawer, Pair(case, case), STRANGE)
        for side, of_side in zip((sample.left, sample.right), wanted, strict=True):
            assert repr(list(ways.cells(side).items())) == repr(list(ways.cells(of_side).items()))


@pytest.mark.parametrize("name", strangers.FORMS)
def test_the_row_of_a_stranger_does_not_depend_on_the_others(name: str) -> None:
    """Outputs that are flattened together, or once for many equal ones, have the leaves that each has alone."""
    made = strangers.wanted(name, 60)
    table = ways.cells(from_list(made * 2))
    table["type of output"] = table.pop("type")
    for n, output in enumerate(made * 2):
        row = {
            place: repr(cells[n] if isinstance(cells[n], str) else float(cells[n])) for place, cells in table.items()
        }
        assert {place: cell for place, cell in row.items() if cell != "'absent'"} == {
            place: repr(leaf) for place, leaf in row_of(output).items()
        }


@functools.cache
def strange_host(name: str) -> Hosted:
    return hosted(ways.source(getattr(strangers, name), "strangers"), None)


@pytest.mark.parametrize("name", ["numbers and lists of them", "a list in a list again", "many texts"])
def test_pieces_follow_one_another(name: str) -> None:
    """Of more outputs than a piece has, none is lost, and none comes twice."""
    size = 2 * PIECE + 9
    case, made = [name, next(TOKENS)], strangers.wanted(name, size)
    left = ways.drawn(strange_host("output"), Pair(case, case), np.ones(size, np.bool_)).left
    assert repr(ways.cells(left)) == repr(
        ways.cells(concatenate([from_list(made[at : at + PIECE]) for at in range(0, size, PIECE)]))
    )


@pytest.mark.parametrize(
    ("function", "made", "rate", "size", "seed"),
    [
        (strangers.ends_now_and_then, strangers.of_many_forms, strangers.ENDS, 5 * PIECE, 13),
        (strangers.large_or_ends, strangers.large, 0.05, 60, 1),
        (strangers.large_without_end, strangers.large, 0.0, 60, 1),
    ],
)
def test_outputs_before_and_after_a_failure_are_those_that_were_drawn(
    function: Any, made: Any, rate: float, size: int, seed: int
) -> None:
    """Every failure is one output, in its place, and a new stream goes on. The noise of no output is used again, and outputs
    that are too large to wait are not lost.
    """
    labels = np.random.default_rng(0).random(size) < 0.5
    rng, later, outputs, ends = np.random.default_rng(seed), np.random.default_rng(seed), list[Any](), list[int]()
    while len(outputs) < size:
        if (u := rng.random()) < rate:
            ends.append(len(outputs))
            outputs.append(ended := ProcessEnded("ended with exit status 3"))
            ended.standard_error = ""
            rng = np.random.default_rng(later.integers(2**32, size=8))
        else:
            outputs.append(made(u))
    # Of the first, two ends have more than three pieces between them, and two lie in one piece.
    assert len(ends) > 1 or not rate
    wanted = join_samples(
        [sample_of(outputs[at : at + PIECE], labels[at : at + PIECE]) for at in range(0, size, PIECE)]
    )
    drawer = hosted(ways.source(function, "strangers"), None)
    sample = drawer.draw(Pair(0, 0), labels, np.random.default_rng(seed))
    assert sample.failures == len(ends)
    for side in ("left", "right"):
        drawn, of_side = (ways.cells(getattr(each, side)) for each in (sample, wanted))
        assert repr(drawn) == repr(of_side)


def test_each_output_has_the_time_limit_for_itself() -> None:
    """Twenty outputs take longer together than the limit of one."""
    size, seed = 20, 12
    numbers = np.random.default_rng(seed).random(size)
    [at] = np.flatnonzero(numbers < 0.1)
    assert 8 < at < 19
    drawer = hosted(ways.source(strangers.takes_its_time, "strangers"), 1.0)
    labels = np.arange(size) <= at + 1
    patience = Patience(1)
    sample = drawer.draw(Pair(0, 0), labels, np.random.default_rng(seed), patience=patience)
    column = sample.left.column("output")
    assert column.numbers[:at].tolist() == numbers[:at].tolist()
    assert sample.size == at + 1, "the late output is the last"
    assert sample.left.raised() == (1 / (at + 1), "raises TimedOut: 'no answer within the time limit'")


def test_the_time_to_read_outputs_is_not_that_of_the_mechanism() -> None:
    """A piece of these outputs takes over a second to read."""
    drawer = hosted(ways.source(strangers.is_soon_drawn, "strangers"), 0.5)
    assert drawer.draw(Pair(0, 0), np.ones(PIECE, np.bool_), np.random.default_rng(0)).failures == 0


def test_a_mechanism_that_hangs_after_a_message_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The auditor may look at the clock before the host has gone on to the next outputs, while it still stands at infinity."""
    looks, progress = itertools.count(), Journal.progress
    monkeypatch.setattr(
        Journal,
        "progress",
        property(lambda journal: (0, math.inf) if next(looks) < 2 else progress.__get__(journal)),
    )
    source = ways.source(strangers.hangs, "strangers")
    drawer = hosted(source, 0.2, time.monotonic() + 60)  # the end of the audit, which would be an OverdueError
    sample = drawer.draw(Pair(0, 0), np.ones(1, np.bool_), np.random.default_rng(0))
    assert sample.left.failure() == "raises TimedOut: 'no answer within the time limit'"
