"""The width of a text array is that of its longest entry or of its input: programs that depend on it are not proved."""

from collections.abc import Callable
from typing import Any

import pytest

import auditor
import dp_prover

TEXTS = auditor.Records(choices=["a", "bb"], size=(0, 2))


def by_size(data: Any, rng: Any) -> Any:
    return 1 if data.dtype.itemsize == 8 else 0


def by_format(data: Any, rng: Any) -> Any:
    return f"{data.dtype}"


def by_what_is_cut(data: Any, rng: Any) -> Any:
    if len(data) == 0:
        return 0
    out = data.copy()
    out[0] = "zz"
    return 0 if out[0] == "zz" else 0 * len(out)


@pytest.mark.parametrize("mechanism", [by_size, by_format, by_what_is_cut])
def test_the_width_of_texts_is_never_read(mechanism: Callable[..., Any]) -> None:
    proof = dp_prover.prove(mechanism, auditor.PureDP(0.5), TEXTS, seconds=5)
    assert not proof.holds
    assert "width" in str(proof)


def test_texts_that_are_only_compared_are_proved() -> None:
    def is_there(data: Any, rng: Any) -> Any:
        present = len(data) > 0 and data[0] == "bb"
        return present ^ (rng.random() < 0.25)

    assert dp_prover.prove(is_there, auditor.PureDP(1.1), TEXTS).proved
