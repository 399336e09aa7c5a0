"""All hidden leaks: each is found or the unread part is named; no sound twin is refuted.

A sound twin is refuted with probability at most 1e-9, so all of them together with less than 1e-6.
"""

import hidden_kinds
import pytest

from auditor.errors import MechanismError
from auditor.verdict import Verdict

# Documented as not read, in docs/reference/outputs.md.
NOT_READ = {"read-only array", "chunks of an Arrow array", "payload of a NaN"}


@pytest.mark.parametrize("name", sorted(hidden_kinds.KINDS.keys() - NOT_READ))
def test_a_hidden_leak_is_found_or_named(name: str) -> None:
    kind = hidden_kinds.KINDS[name]
    try:
        faulty, sound = (hidden_kinds.audit(kind, is_sound, confidence=1 - 1e-9) for is_sound in (False, True))
    except MechanismError as refusal:
        assert "masked array" in str(refusal)
        return
    assert faulty.verdict is Verdict.VIOLATION or any("not read as a" in text for text in faulty.warnings)
    assert sound.verdict is Verdict.NO_VIOLATION_FOUND
