"""Events in plain words: the plainest of equivalent events is chosen, and exceptions are described as such."""

import math
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_list
from auditor.blackbox.outputs import ABSENT, OutputColumn, Outputs
from auditor.blackbox.sample import Sample
from auditor.claims import PureDP
from auditor.events.cells import ABSTAIN, LEFT, RIGHT, Cells
from auditor.events.features import Difference, Place, Whole, plainness, vector_features
from auditor.events.selection import frequent_rules
from auditor.methods.guessing import Guesses

NONE = (ABSTAIN,)


@pytest.mark.parametrize(
    ("name", "cells", "left", "right"),
    [
        ("output", ((), NONE, {"raises KeyError": LEFT, ABSENT: RIGHT}), "it raises KeyError", "the mechanism answers"),
        ("output", ((), (RIGHT,), {"raises KeyError": LEFT}), "it raises KeyError", "the mechanism answers"),
        ("output", ((), NONE, {"raises KeyError": LEFT, "'a'": RIGHT}), "it raises KeyError", "the mechanism answers"),
        (
            "output",
            ((3.0,), (RIGHT, ABSTAIN), {"raises A": LEFT, "raises B": LEFT}),
            "it raises A or it raises B",
            "output ≤ 3",
        ),
        # Some answers do not occur on this side.
        (
            "output",
            ((), NONE, {"raises A": LEFT, "None": ABSTAIN, "'a'": RIGHT}),
            "it raises A",
            "output is 'a'",
        ),
        ("output", ((), NONE, {"None": LEFT, ABSENT: RIGHT}), "output is None", "output is a collection"),
        (
            "output[1]",
            ((), NONE, {"raises KeyError": LEFT, ABSENT: RIGHT}),
            "output[1] raises KeyError",
            "output[1] is absent",
        ),
        (
            "message of output",
            ((), NONE, {"'no data'": LEFT, ABSENT: RIGHT}),
            "it raises an exception that says 'no data'",
            "the mechanism answers",
        ),
        ("length of output", ((), (LEFT,), {ABSENT: RIGHT}), "length of output is any number", "output has no length"),
        (
            "shape of output",
            ((), NONE, {"(2,)": LEFT, ABSENT: RIGHT}),
            "shape of output is (2,)",
            "output has no shape",
        ),
        (
            "output",
            ((), NONE, {"{output: raises A, message of output: 'x'}": LEFT, "[1, 2]": RIGHT}),
            "it raises A: 'x'",
            "output is [1, 2]",
        ),
    ],
)
def test_each_side_of_a_rule_is_a_sentence(name: str, cells: Any, left: str, right: str) -> None:
    rule = Cells(*cells)
    assert (rule.describe(name, LEFT), rule.describe(name, RIGHT)) == (left, right)


def test_the_output_itself_is_plainer_than_what_is_said_of_it() -> None:
    features = [
        *map(Place, ("output", "output[3]", "length of output", "type of output")),
        Difference("output[0]", "output[1]"),
        Whole(("output",)),
    ]
    assert [plainness(feature) for feature in features] == [0, 1, 2, 3, 4, 4]


def column(name: str, values: list[Any]) -> OutputColumn:
    atoms = tuple(dict.fromkeys(value for value in values if isinstance(value, str)))
    codes = np.array([atoms.index(value) if isinstance(value, str) else -1 for value in values], np.int32)
    numbers = np.array([0.0 if isinstance(value, str) else value for value in values])
    return OutputColumn(name, numbers, codes if atoms else None, atoms)


def sides(columns: dict[str, tuple[list[Any], list[Any]]], outputs: int = 2_000) -> Sample:
    """Each side gives two kinds of outputs, alternately."""
    left, right = (
        Outputs(outputs, tuple(column(name, values[side] * (outputs // 2)) for name, values in columns.items()))
        for side in (0, 1)
    )
    return Sample(left, right)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        # Lengths say as much as the text, and are numbers, whose threshold is learned from both halves.
        (
            {
                "length of output": ([3.0, 3.0], [2.0, 2.0]),
                "message of output": ([ABSENT, ABSENT], [ABSENT, ABSENT]),
                "output": (["'yes'", "'yes'"], ["'no'", "'no'"]),
            },
            "output is 'yes'",
        ),
        (
            {
                "length of output": ([2.0, 2.0], [ABSENT, ABSENT]),
                "shape of output": (["(2,)", "(2,)"], [ABSENT, ABSENT]),
                "output": ([ABSENT, ABSENT], ["raises ZeroDivisionError", "raises ZeroDivisionError"]),
                "output[0]": ([1.5, 2.5], [ABSENT, ABSENT]),
                "type of output": (["array", "array"], ["exception", "exception"]),
            },
            "the mechanism answers",
        ),
        # No value reveals the length of a list.
        (
            {
                "length of output": ([1.0, 1.0], [2.0, 2.0]),
                "output[0]": ([1.0, 2.0], [1.0, 2.0]),
                "output[1]": ([ABSENT] * 2, [3.0, 4.0]),
            },
            "length of output ≤ 1",
        ),
    ],
)
def test_of_events_that_count_the_same_the_plainest_is_reported(columns: Any, words: str) -> None:
    sample = sides(columns)
    careful, _ = frequent_rules(sample, Guesses(PureDP(1.0), 1e-3, 2_000))
    assert careful.test.describe(LEFT) == words
    counts = careful.test.count(sample)
    assert counts.wins == counts.guesses == 4_000


def test_a_text_of_which_some_are_rare_is_no_event_instead_of_a_length() -> None:
    """A rule on texts would abstain on texts that were not in its sample, and prove less."""
    texts = [f"'{letter}{other}'" for letter in "abcdefghijklm" for other in "abcdefghijklmnopqrstuvwxyz"]
    rng = np.random.default_rng(1)
    left = [texts[i] for i in np.minimum(rng.geometric(0.02, 1_000), len(texts) - 1)]
    columns = {
        "length of output": column("length of output", [2.0] * 1_000),
        "output": column("output", left),
    }
    other = {
        "length of output": column("length of output", [5.0] * 1_000),
        "output": column("output", ["'other'"] * 1_000),
    }
    sample = Sample(Outputs(1_000, tuple(columns.values())), Outputs(1_000, tuple(other.values())))
    careful, _ = frequent_rules(sample, Guesses(PureDP(1.0), 1e-3, 2_000))
    assert careful.test.feature.name == "length of output"
    assert math.isfinite(careful.forecast)


@pytest.mark.parametrize(
    "make",
    [
        lambda i: [2**60 + i, float(i)],  # the nearest float is up to 128 away
        lambda i: [np.longdouble(i) / 7, 1.0 * i],
        lambda i: {"a": "0" * (i % 3 + 1), "b": [i] * (i % 4 + 1), "c": i / 3},
        lambda i: ([i, -i], f"{i / 7:.20f}"),
        lambda i: [float(i), i / 2.0],
    ],
)
def test_what_is_called_a_number_of_the_output_is_one(make: Any) -> None:
    """ "Smallest number of the output ≤ -506" once referred to the rounding of a large integer, and could refer to a length."""
    outputs = from_list([make(i) for i in range(1, 400)])
    places = [column.name for column in outputs.columns]
    several = [feature for feature in vector_features(outputs, places) if hasattr(feature, "places")]
    for feature in several:
        assert all(place.startswith("output") for place in feature.places), feature
    assert not any("rounded off" in feature.name for feature in vector_features(outputs, places))


def test_of_two_numbers_the_smaller_one_is_the_smallest_and_not_the_length() -> None:
    outputs = from_list([[50.0 + i, 60.0 + i] for i in range(100)])
    [least] = [
        feature
        for feature in vector_features(outputs, [column.name for column in outputs.columns])
        if feature.name == "smallest number of the output"
    ]
    assert least.extract(outputs).numbers.min() == 50.0
