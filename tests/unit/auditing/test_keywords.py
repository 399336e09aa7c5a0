"""The keywords of a call are the settings, with their types and defaults."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_type_hints

import numpy as np
import pytest

import auditor
from auditor.auditing.plan import Settings
from auditor.blackbox.sampling import Execution
from auditor.defaults import EventKind, ObserveKind, SettingsKeywords, settings
from auditor.errors import InvalidInputError

BITS = [(0, 1)]
HALF = auditor.PureDP(0.5)


def response(bit: int, size: int, rng: np.random.Generator, lie: float = 0.25) -> Any:
    """Answer honestly three times in four: ε = ln 3."""
    return bit ^ (rng.random(size) < lie)


def audit(mechanism: Any, claim: Any = HALF, neighbours: Any = BITS, **options: Any) -> Any:
    return auditor.audit(mechanism, claim, neighbours, **{"samples": 4000, "seed": 7, "workers": 1, **options})


# --- Options ---


DECLARED = {name: about for name, _, about in settings(SettingsKeywords)}


def test_the_keywords_of_a_call_are_the_settings_and_their_types() -> None:
    declared = {**get_type_hints(Settings), **get_type_hints(Execution)}
    for within in ("execution", "lost", "ends"):
        del declared[within]
    # Other spellings that a call allows.
    declared |= {
        "events": Sequence[EventKind],
        "observe": Sequence[ObserveKind],
    }
    assert get_type_hints(SettingsKeywords) == declared


def test_the_defaults_that_are_declared_are_those_of_a_call() -> None:
    made = {field.name: field.default for of in (Settings, Execution) for field in fields(of) if field.name in DECLARED}
    assert {name: about.default for name, about in DECLARED.items()} == made


def test_a_setting_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match='there is no setting "sample"; did you mean "samples"'):
        audit(response, sample=2000)
    with pytest.raises(
        InvalidInputError, match=r'"epsilon"; .* the mechanism takes it, write parameters={"epsilon": 1.0}'
    ):
        Settings.of({"epsilon": 1.0})
    with pytest.raises(InvalidInputError, match='there is no setting "lost"'):
        audit(response, lost=True)
