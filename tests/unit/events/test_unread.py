"""What an audit reports about the parts of outputs that it did not read in full."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from auditor.blackbox.canonical import from_list
from auditor.events.text import NumberInText, features_of_texts, unread

AMOUNTS = np.random.default_rng(0).integers(10_000, 10_000_000, 2_000).tolist()


@pytest.mark.parametrize(
    "outputs",
    [
        [Decimal(amount) / 100 for amount in AMOUNTS],
        [None if amount % 3 == 0 else f"{amount} units" for amount in AMOUNTS],
        [{"a": 1} if amount % 3 == 0 else {"a": 1, "b": f"{amount} units"} for amount in AMOUNTS],
        [f"{amount} units" if amount % 3 else "no units" for amount in AMOUNTS],
    ],
    ids=["a Decimal that may be a float", "a text or None", "a text that may be absent", "a text without a number"],
)
def test_numbers_in_texts_that_only_some_outputs_have_are_read(outputs: Sequence[Any]) -> None:
    table = from_list(outputs)
    assert unread(table) == []
    names = [column.name for column in table.columns]
    assert any(isinstance(feature, NumberInText) for feature in features_of_texts(table, names))


def test_numbers_that_move_are_named_beside_texts_without_any() -> None:
    table = from_list([None if amount % 3 == 0 else " ".join(str(amount)) for amount in AMOUNTS])
    assert unread(table) == ["the text of `output` differs from call to call and was not read as a whole"]


@pytest.mark.parametrize("others", [["none"], [f"w{at}" for at in range(40)]], ids=["one", "words"])
def test_a_long_text_that_a_hundredth_of_the_outputs_has_to_itself_is_named_beside_categories(
    others: Sequence[str],
) -> None:
    rng = np.random.default_rng(0)
    long = ["".join(map(chr, rng.integers(97, 123, 121))) for _ in range(20)]
    words = [others[at % len(others)] for at in range(1_980)]
    assert unread(from_list([*words, *long])) == [
        "the text of `output` differs from call to call and was not read as a whole"
    ]
    assert unread(from_list([*words, *(text[:40] for text in long)])) == []  # letters are read from either end
    assert unread(from_list([*words, *(f"{'no answer ' * 9}{at}" for at in range(20))])) == []  # a text with a number
    assert unread(from_list([*words, *long[:1] * 20])) == []  # one more category
