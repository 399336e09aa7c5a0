"""Random small programs: whatever is proved of them is at least their exact ε, which enumeration gives.

`benchmarks/random_proofs.py` compares thousands, chunk by chunk. `test_measured.py` looks at its figures.
"""

from benchmarks.random_proofs import compared


def test_what_is_proved_is_never_below_the_exact_value() -> None:
    seen = compared(60)
    assert seen["proved above 0"] >= 3
