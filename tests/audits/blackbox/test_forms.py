"""A leak through every form of output is found and its sound twin passes, or the form is refused with a message.

A sound twin is refuted with probability at most 1e-9, so all of them together with less than 1e-7.
"""

from collections.abc import Callable
from typing import Any

import forms
import hidden_kinds
import numpy as np
import pytest

import auditor
from auditor.errors import MechanismError
from auditor.neighbours.domains import Pairs
from auditor.verdict import Verdict

REFUSED = {"masked array"}
# Forms that cannot hold the number: they round it too coarsely, or truncate it.
WRITTEN_COARSELY = {"date": 20.0}
# These kinds are audited every time; tests/long audits all of them.
EVERY_TIME = (
    "suffix after random letters",
    "letter never used",
    "number in a log line",
    "parity of an integer",
    "dtype of a Series",
    "attribute of a text",
    "an object that can be called",
    "an object five levels down",
    "an object as a key",
    "an e-mail in a set",
    "a cause with an attribute",
    "one of many numbers in a text",
    "letter far inside a rare text",
    "letter far inside a text of another form",
    "letter far inside a text that is rarer still",
    "letter far inside a rare text among words",
    "digest of a rare object",
    "letter far inside the text of a rare exception",
    "parity of an integer or None",
    "parity of an integer, mostly −1",
    "parity of an integer near others",
    "hour of a moment",
    "last digit of a Decimal",
    "difference of numbers in a text",
    "difference of times in two texts",
    "difference of dates in two texts",
    "parity of a small integer",
    "equal words far apart",
    "two equal numbers of ten",
    "equal texts",
    "difference of numbers apart in a text",
    "parity of a numerator",
    "parity of a denominator",
    "bit of an integer",
    "bit of a 60-bit integer",
)


def audited(mechanism: Callable[..., Any]) -> auditor.AuditResult:
    settings: dict[str, Any] = {"samples": 2_000, "shrink": False, "planted": 0, "prove": False, "confidence": 1 - 1e-9}
    return auditor.audit(mechanism, auditor.PureDP(1.0), Pairs([(1, 0)]), workers=1, isolate=False, **settings)


def mechanism_of(form: Callable[[float], Any], moves: float, scale: float) -> Callable[..., Any]:
    """Return the form in a list, since a mechanism that returns only exceptions counts as one that always fails."""
    return lambda side, rng: [form(scale * (moves * side + rng.laplace()))]


@pytest.mark.parametrize("name", sorted(forms.OF_A_NUMBER))
def test_a_leak_in_a_form_is_found_and_its_twin_passes(name: str) -> None:
    form, scale = forms.OF_A_NUMBER[name], WRITTEN_COARSELY.get(name, 1.0)
    if name in REFUSED:
        with pytest.raises(MechanismError, match="masked array"):
            audited(mechanism_of(form, 10.0, scale))
        return
    assert audited(mechanism_of(form, 10.0, scale)).verdict is Verdict.VIOLATION
    assert audited(mechanism_of(form, 0.0, scale)).verdict is Verdict.NO_VIOLATION_FOUND


@pytest.mark.parametrize("part", [np.float64, lambda v: np.array([v, v])], ids=["float64", "array"])
@pytest.mark.parametrize(
    "name", sorted(forms.CONTAINERS.keys() - {"Counter", "frozenset"})
)  # they do not hold the number unchanged
def test_a_leak_in_a_container_is_found(name: str, part: Callable[[float], Any]) -> None:
    """The number is a NumPy number, as in most mechanisms."""
    make = forms.CONTAINERS[name]
    assert audited(lambda side, rng: [make(part(10.0 * side + rng.laplace()), 1)]).verdict is Verdict.VIOLATION


@pytest.mark.parametrize("name", EVERY_TIME)
def test_a_hidden_leak_is_found_or_the_part_is_named(name: str) -> None:
    kind = hidden_kinds.KINDS[name]
    faulty, sound = (
        hidden_kinds.audit(kind, is_sound, samples=3_000, confidence=1 - 1e-9) for is_sound in (False, True)
    )
    assert faulty.verdict is Verdict.VIOLATION or any("not read as a" in text for text in faulty.warnings)
    assert sound.verdict is Verdict.NO_VIOLATION_FOUND
