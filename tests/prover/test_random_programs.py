"""Random small programs: every proved bound is at least the exact ε, which is computed by enumeration.

`benchmarks/random_proofs.py` compares thousands, chunk by chunk.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks._random_programs import exact_epsilon, load, program
from benchmarks.random_proofs import PAIRS, compared, without_a_template


def test_what_is_proved_is_never_below_the_exact_value() -> None:
    counts = compared(range(60))
    assert counts["proved above 0"] >= 12
    assert counts["finite: sharp"] >= 0.9 * counts["finite: proved"] > 0


@pytest.mark.parametrize(
    ("body", "cut_off", "exact"),
    [
        ("return x[0] + rng.geometric(0.5) - rng.geometric(0.5)", True, math.log(2)),
        ("return rng.random() < 0.25 * (1 + x[0])", False, math.log(2)),
        ("return x[0] if rng.random() < 0.5 else rng.integers(0, 3)", False, math.log(4)),
        ("return bool(x[0] + rng.laplace(0.0, 2.0) > 1)", False, 0.5),
        ("y = [0, 1, 2]\n    rng.shuffle(y)\n    return y[x[0]]", False, 0.0),
        ("return sorted(rng.choice(3, size=2, replace=False)) == [0, 1] or x[0] > 5", False, 0.0),
        ("return rng.binomial(2, 0.25 + 0.25 * x[0])", False, math.log(4)),
        ("assert x[0] < 2\n    return 1", False, math.inf),
    ],
)
def test_the_exact_value_of_programs_that_are_easy(body: str, cut_off: bool, exact: Any, tmp_path: Path) -> None:
    function = load(f"def f(x, rng):\n    {body}\n", tmp_path, "easy")
    assert exact_epsilon(function, PAIRS["l1"], cut_off) == pytest.approx(exact, abs=1e-3)


def test_programs_have_every_construct_that_is_modelled() -> None:
    assert without_a_template() == set()


def test_a_program_is_the_same_each_time() -> None:
    assert program(7) == program(7)
    assert program(7) != program(7, seed=1)
