"""Programs that look private and are not: none is proved."""

import builtins
import itertools
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import deceptions_behind_a_gate
import deceptions_of_batches
import deceptions_of_language
import deceptions_of_numbers
import deceptions_of_readers
import deceptions_of_rounding
import numpy as np
import pytest
from test_checker import signed

import auditor
import dp_prover
from auditor.blackbox.mechanism import PythonSource
from dp_prover.certificates import certificate as written
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.interfaces import Names
from dp_prover.language.trace import numbers, trace

FILES = (deceptions_of_batches, deceptions_of_language, deceptions_of_numbers, deceptions_of_rounding)
DECEPTIONS = [one for file in FILES for one in file.DECEPTIONS]
SHARES = 16  # the number of tests that share the programs, so that a failure names few of them
# The reason why a mechanism is not proved is at least a sentence.
FEWEST_LETTERS = 20
COUNTS = auditor.Totals(cells=3, values=(0, 100), contribution={"l1": 1})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_none_is_proved(share: int) -> None:
    wrong = []
    for deception in itertools.islice(DECEPTIONS, share, None, SHARES):
        proof = dp_prover.prove(deception.mechanism, deception.claim, deception.domain, seconds=5)
        if proof.proved or str(proof).startswith("proved:"):
            wrong.append((deception.kind, deception.name, str(proof)))
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_a_proof_for_pairs_does_not_hold_a_pair_that_breaks_the_claim(share: int) -> None:
    """Each is attempted on the pair that breaks it, given alone, and is not proved even for this pair."""
    wrong = []
    for deception in itertools.islice(DECEPTIONS, share, None, SHARES):
        proof = dp_prover.prove(deception.mechanism, deception.claim, [_as_given(deception)], seconds=2)
        if proof.holds and deception.kind not in getattr(deceptions_of_numbers, "FLOATING", ()):
            wrong.append((deception.kind, deception.name, str(proof)))
    assert wrong == []


def test_code_that_is_not_in_its_file_is_not_read() -> None:
    [deception] = [deception for deception in DECEPTIONS if deception.name == "replaced_code"]
    assert "is not what runs" in str(dp_prover.prove(deception.mechanism, deception.claim, deception.domain).reason)


def _as_given(deception: Any) -> tuple[Any, Any]:
    left, right = deception.pair
    dtype = (
        np.asarray(deception.domain.corners()[0].dataset("left")).dtype
        if hasattr(deception.domain, "corners")
        else None
    )
    if isinstance(left, list | tuple) and dtype is not None and dtype.kind in "if":
        return np.array(left, dtype=dtype), np.array(right, dtype=dtype)
    return left, right


@pytest.mark.parametrize("mechanism", deceptions_behind_a_gate.GATED, ids=lambda one: one.__name__)
def test_a_fault_that_no_run_meets_is_refused(mechanism: Any) -> None:
    domain = auditor.Totals(cells=3, values=(0, 100), contribution={"l1": 1})
    assert not dp_prover.prove(mechanism, auditor.PureDP(1.0), domain, seconds=5).proved


def test_the_time_limit_is_kept() -> None:
    """A histogram of 400 cells has large linear programs. An attempt of five times the limit would contain a loop that
    never checks the time."""

    def histogram(x: Any, rng: Any) -> Any:
        return x + rng.laplace(0.0, 1.0, len(x))

    domain = auditor.Totals(cells=400, values=(0, 100), contribution={"linf": 1})
    begun = time.thread_time()
    dp_prover.prove(histogram, auditor.PureDP(1.0), domain, seconds=2)
    assert time.thread_time() - begun < 10


def is_proved(function: Any, claim: Any, domain: Any, seconds: float = 5, **parameters: Any) -> bool:
    proof = dp_prover.prove(function, claim, domain, parameters=parameters, seconds=seconds)
    return bool(proof.proved) or str(proof).startswith("proved:")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", deceptions_of_readers.READERS, ids=lambda one: one.mechanism.__name__)
def test_readers_are_not_deceived(one: Any) -> None:
    assert not is_proved(one.mechanism, one.claim, one.domain, **one.parameters)
    assert not dp_prover.prove(one.mechanism, one.claim, [one.pair], parameters=one.parameters, seconds=5).holds


@pytest.mark.filterwarnings("ignore")
def test_readers_look_at_what_numpy_raises() -> None:
    with np.errstate(all="raise"):
        assert not is_proved(deceptions_of_readers.divides_by_zero, auditor.PureDP(1.0), COUNTS)


def test_readers_look_at_what_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    real, other = builtins.__import__, types.ModuleType("other")
    monkeypatch.setattr(other, "e", 0.001, raising=False)

    def imports(name: str, names: Any = None, *rest: Any) -> Any:
        of_readers = names is not None and names.get("__name__") == deceptions_of_readers.__name__
        return other if of_readers and name == "math" else real(name, names, *rest)

    monkeypatch.setattr(builtins, "__import__", imports)
    found = is_proved(deceptions_of_readers.imports_math, auditor.PureDP(1.0), COUNTS)
    monkeypatch.undo()
    assert not found


# Programs that need a process of their own: Python's options, and the source text.
ALONE = {
    "numpy_patched_before_the_import": (
        [],
        """import numpy as np
clip = np.clip
np.clip = lambda a, low, high: a if low == 400 else clip(a, low, high)
import auditor


def told(totals, rng):
    y = totals[0] + rng.laplace(0.0, 1.0)
    if y > 300:
        return totals[0] * 0.0 + np.clip(totals[0], 400, 400)
    return y
""",
    ),
    "lambdas_of_a_line_without_columns": (
        ["-X", "no_debug_ranges"],
        """import numpy as np
import auditor

first, told = lambda x, rng: x + rng.laplace(0.0, 1.0, len(x)), lambda x, rng: x + rng.laplace(0.0, 0.000001, len(x))
""",
    ),
}
ASKED = """import dp_prover
domain = auditor.Totals(cells=3, values=(0, 100), contribution={"l1": 1})
pair = np.array([50, 1, 1]), np.array([51, 1, 1])
for asked in (domain, [pair]):
    print(dp_prover.prove(told, auditor.PureDP(1.0), asked, seconds=5).holds)
"""


@pytest.mark.parametrize("name", ALONE)
def test_readers_in_a_process_of_their_own(name: str, tmp_path: Path) -> None:
    options, text = ALONE[name]
    (tmp_path / "alone.py").write_text(text + ASKED)
    command = [sys.executable, *options, str(tmp_path / "alone.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", ["large_factorial", "insert_while_reading"])
def test_readers_keep_the_time_limit(name: str) -> None:
    begun = time.thread_time()
    proof = dp_prover.prove(getattr(deceptions_of_readers, name), auditor.PureDP(1.0), COUNTS, seconds=2)
    assert time.thread_time() - begun < 10
    assert not proof.holds
    assert len(str(proof.reason)) >= FEWEST_LETTERS


def test_readers_refuse_a_parameter_that_holds_itself() -> None:
    endless: list[Any] = [0]
    endless.append(endless)
    asked = deceptions_of_readers.takes_a_list
    proof = dp_prover.prove(asked, auditor.PureDP(1.0), COUNTS, parameters={"a": endless}, seconds=5)
    assert not proof.holds
    assert len(str(proof.reason)) >= FEWEST_LETTERS


def test_readers_do_not_take_a_small_delta_for_zero() -> None:
    domain = auditor.Totals(cells=1, values=(0, 100), contribution={"l1": 1})
    assert not is_proved(deceptions_of_readers.hardly_any_delta, auditor.ApproximateDP(0.0, 1e-30), domain)


def test_readers_of_certificates_tell_an_integer_from_a_float() -> None:
    """A statement about 1 and 2 says nothing about 1 and 1.0, which are equal."""
    asked, claim = deceptions_of_readers.coin_of_an_integer, auditor.PureDP(0.5)
    assert not dp_prover.prove(asked, claim, auditor.Value(values=[1, 1.0])).holds
    proof: Any = dp_prover.prove(asked, claim, auditor.Value(values=[1, 2])).certificate
    check_certificate(proof)
    changes = {"domain": proof["domain"] | {"values": [1, 1.0]}, "data": [{"value": 1}, {"value": 1}]}
    with pytest.raises((ValueError, LookupError, TypeError, ArithmeticError)):
        check_certificate(signed({**proof, **changes}))


@pytest.mark.parametrize("one", deceptions_of_readers.BETWEEN, ids=lambda one: one[0].__name__)
def test_readers_are_not_deceived_between_the_numbers_that_are_tried(one: Any) -> None:
    mechanism, claim, domain = one
    assert not dp_prover.prove(mechanism, claim, domain, seconds=5).proved


@pytest.mark.parametrize(
    "one", deceptions_of_readers.SHOWN + deceptions_of_readers.COLUMNS, ids=lambda one: f"{one[0].__name__} {one[1]}"
)
def test_readers_see_draws_that_decide_and_are_shown(one: Any) -> None:
    mechanism, claim, domain = one
    assert not dp_prover.prove(mechanism, claim, domain, seconds=5).holds


def test_readers_of_certificates_rename_draws_and_no_words() -> None:
    """The traces are those of the function, whose words differ by a letter that looks like the name of a draw."""
    asked, names = deceptions_of_readers.word_and_noise, Names()
    source = PythonSource("word_and_noise", {}, function=asked)
    traces = [written.TraceWriter(trace(source.drawer(), numbers(value), names)).trace() for value in (0, 1)]
    shift = {"left": [0], "right": [0], "shifts": [[{}]], "rows": [[], []], "implied": [[]], "excluded": {}}
    pairs = [
        {"sides": sides, "traces": sides, "part": 0, "linear": False, "cells": [shift], "assumed": [], "names": renamed}
        for sides, renamed in (([0, 1], {"n1": "n0"}), ([1, 0], {"n0": "n1"}))
    ]
    content = {
        **{"format": 4, "rule": "alignment", "mechanism": "m.py:f", "parameters": {}, "functions": dict(names.read)},
        **{"data": [{"value": 0}, {"value": 1}], "claim": {"epsilon": 0.1}, "bound": "0", "listed": True},
        **{"domain": {"values": [0, 1], "forms": ["value"]}, "noise": written.noise(names)},
        **{"traces": traces, "pairs": pairs},
    }
    with pytest.raises(ValueError, match="a shift"):
        check_certificate(signed(content))


def test_readers_of_certificates_want_integers_for_geometric_noise() -> None:
    domain = auditor.Totals(cells=1, values=(0, 10), contribution={"l1": 1})
    proof: Any = dp_prover.prove(
        deceptions_of_readers.count_and_geometric_noise, auditor.PureDP(0.7), domain
    ).certificate
    check_certificate(proof)
    with pytest.raises(ValueError, match="a relation"):
        check_certificate(signed({**proof, "domain": proof["domain"] | {"integer": False}}))


def test_readers_see_an_array_that_an_object_holds_as_well() -> None:
    """A value written into the array is read from the object, and vice versa."""

    def shared(x: Any, rng: Any, buffer: Any, model: Any) -> Any:
        buffer[0] = x[0]
        return 1e9 + (model.weights[0] + rng.laplace(0, 0.01))

    weights = np.zeros(2)
    parameters = {"buffer": weights, "model": types.SimpleNamespace(weights=weights)}
    assert not dp_prover.prove(shared, auditor.PureDP(1.0), deceptions_of_readers.COUNT, parameters=parameters).holds
