"""Random small programs: whatever is proved of them is at least their exact ε, which enumeration gives.

`benchmarks/random_proofs.py` compares thousands, chunk by chunk.
"""

import pytest

from benchmarks.random_proofs import compared


def test_what_is_proved_is_never_below_the_exact_value() -> None:
    seen = compared(60)
    assert seen["proved above 0"] >= 3


@pytest.mark.slow
def test_what_is_proved_of_5000_programs_is_never_below_the_exact_value() -> None:
    seen = compared(5_000)
    assert seen["proved above 0"] >= 500 and seen["sharp"] >= seen["proved"] / 2
