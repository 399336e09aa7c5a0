"""Numbers of an output that are correlated: which are combined, and what their sum or difference is."""

import numpy as np
import pytest

from auditor.blackbox.canonical import from_batch, from_list
from auditor.blackbox.outputs import Outputs
from auditor.events.cells import Cells
from auditor.events.event import read_rule, written
from auditor.events.features import Place
from auditor.events.related import ENOUGH, MOST_NUMBERS_IN_LOOKS, MOST_RELATED, Combined, related_numbers
from auditor.events.text import NumberInText, features_of_texts

ROWS = 400


def columns(numbers: np.ndarray) -> Outputs:
    return from_batch(numbers, len(numbers))


def suggested(outputs: Outputs) -> list[str]:
    places = [Place(column.name) for column in outputs.columns if column.name.startswith("output")]
    return [feature.name for feature in related_numbers(outputs, places)]


@pytest.fixture
def noise() -> np.ndarray:
    return np.random.default_rng(1).standard_cauchy((ROWS, 6))


def test_noise_that_is_used_twice_is_subtracted_or_added(noise: np.ndarray) -> None:
    """Heavy tails do not hide it. Of independent noise nothing is combined: six correlations of .8 have a chance below 1e-50."""
    assert suggested(columns(noise)) == []
    again, against = noise.copy(), noise.copy()
    again[:, 4] = noise[:, 1] + (np.arange(ROWS) % 2)
    against[:, 5] = (np.arange(ROWS) % 3) - noise[:, 0]
    assert suggested(columns(again)) == ["output[4] − output[1]"]
    assert suggested(columns(against)) == ["output[5] + output[0]"]


def test_a_number_that_is_repeated_as_it_is_says_nothing(noise: np.ndarray) -> None:
    noise[:, 3] = noise[:, 0]
    assert suggested(columns(noise)) == []


def test_what_differs_between_the_sides_only_is_seen(noise: np.ndarray) -> None:
    """The outputs of one side come first, and on each the difference is constant."""
    many = np.concatenate([noise] * 6)
    many[:, 5] = many[:, 2] + (np.arange(len(many)) >= len(many) // 2)
    assert suggested(columns(many)) == ["output[5] − output[2]"]


def test_few_outputs_and_many_numbers_are_not_compared(noise: np.ndarray) -> None:
    noise[:, 1] = noise[:, 0] + (np.arange(ROWS) % 2)
    assert suggested(columns(noise[: ENOUGH - 1])) == []
    assert suggested(columns(noise[:ENOUGH])) == ["output[1] − output[0]"]
    wide = np.random.default_rng(2).laplace(size=(ROWS, MOST_NUMBERS_IN_LOOKS + 1))
    wide[:, -1] = wide[:, 0] + (np.arange(ROWS) % 2)
    assert suggested(columns(wide)) == []
    sums = np.cumsum(np.random.default_rng(3).laplace(size=(ROWS, 40)), axis=1)
    assert len(suggested(columns(sums))) == MOST_RELATED


def test_numbers_of_different_texts_are_compared_and_a_missing_one_is_none() -> None:
    rng = np.random.default_rng(4)
    made = [(round(float(z), 2), round(float(w), 2)) for z, w in rng.laplace(size=(ROWS, 2))]
    outputs = from_list([{"a": f"total {z}", "b": f"of {w} and {z + i % 2:.2f}"} for i, (z, w) in enumerate(made)])
    features = [*features_of_texts(outputs, [column.name for column in outputs.columns])]
    [combined] = [feature for feature in related_numbers(outputs, features) if "b" in feature.name]
    assert isinstance(combined, Combined)
    assert np.allclose(combined.extract(outputs).numbers, np.arange(ROWS) % 2)
    other = from_list([{"a": "total 3", "b": "none"}, {"a": "total 3", "b": "of 1 and 5"}])
    column = combined.extract(other)
    assert column.codes is not None and column.codes.tolist() == [0, -1] and column.numbers[1] == 2


def test_a_combined_number_is_written_and_read_back() -> None:
    feature = Combined(NumberInText("output", 6), Place("output[1]"), -1.0)
    rule = written(feature=feature, cells=Cells((0.5,), (1.0, -1.0), {}))
    assert rule is not None
    assert read_rule(rule, "feature") == [feature]
