"""Mechanisms that misbehave in ways that have fooled audits: no false alarm, and no silent pass."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.errors import MechanismError

PURE = auditor.PureDP(1.0)


def too_large(value: float, size: int, rng: np.random.Generator) -> Any:
    """ε = 4, but only batches up to 500 can be had."""
    if size > 500:
        raise MemoryError("too large a batch")
    return rng.laplace(value, 0.25, size)


@pytest.mark.parametrize("method", ["fixed", "two-intervals", "sequential"])
def test_batches_that_raise_do_not_hide_a_violation(method: str) -> None:
    result = auditor.audit(too_large, PURE, [(0, 1)], samples=5000, seed=1, workers=1, method=method)
    assert result.verdict == "violation"


def test_a_generator_of_its_own_is_not_copied_to_the_workers() -> None:
    """Honest Laplace noise, α = 0.001: copies of one stream would be refuted in half of the runs."""
    own = np.random.default_rng(5)

    def honest(value: float, size: int) -> Any:
        return own.laplace(value, 1.0, size)

    results = [auditor.audit(honest, PURE, [(0, 1)], samples=4000, seed=s, workers=2, batch=200) for s in range(8)]
    assert [result.verdict for result in results] == ["no_violation_found"] * 8
    assert not any(result.reproducible for result in results)


def rarely_a_float(value: int, size: int, rng: np.random.Generator) -> Any:
    """ε = 1 exactly: one output in a thousand is 0.5 instead of 1, e times as often on one side."""
    rare = rng.random(size) < (1e-3 * np.e if value else 1e-3)
    return np.array([0.5 if r else 1 for r in rare])


def rarely_a_text(value: int, size: int, rng: np.random.Generator) -> Any:
    rare = rng.random(size) < (1e-3 * np.e if value else 1e-3)
    return np.array(["none" if r else 1.0 for r in rare])


@pytest.mark.parametrize("method", ["fixed", "sequential"])
def test_one_rare_output_does_not_give_away_its_batch(method: str) -> None:
    """Chance of a single false alarm in 20 audits at α = 0.001: 2 %, seeded; before, 2 to 8 of them raised one."""
    verdicts = [
        auditor.audit(rarely_a_float, PURE, [(0, 1)], samples=2000, seed=s, workers=1, method=method).verdict
        for s in range(20)
    ]
    assert "violation" not in verdicts


def test_batches_of_changing_form_are_an_error_with_a_name() -> None:
    with pytest.raises(MechanismError, match=r"an array of numbers .* for one batch and an array of str"):
        for seed in range(20):
            auditor.audit(rarely_a_text, PURE, [(0, 1)], samples=2000, seed=seed, workers=1)


# --- Outputs that are not independent ---


def seeds_itself(value: float, size: int, rng: np.random.Generator) -> Any:
    return np.random.default_rng(0).laplace(value, 1.0, size)


def one_noise_for_all(value: float, size: int, rng: np.random.Generator) -> Any:
    return np.full(size, value + rng.laplace())


@pytest.mark.parametrize("mechanism", [seeds_itself, one_noise_for_all])
@pytest.mark.parametrize("method", ["fixed", "sequential"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_mechanism_that_repeats_itself_is_refused(mechanism: Any, method: str, workers: int) -> None:
    with pytest.raises(MechanismError, match="repeats itself"):
        auditor.audit(
            mechanism,
            auditor.PureDP(3.0),
            [(0, 1)],
            samples=20_000,
            batch=1_000,
            seed=1,
            workers=workers,
            method=method,
        )


shared = np.random.default_rng(5)


def ignores_its_rng(value: float, size: int, rng: np.random.Generator) -> Any:
    return shared.laplace(value, 1.0, size)


def test_a_mechanism_that_ignores_its_rng_is_run_by_one_worker() -> None:
    """Otherwise each worker would have a copy of its generator; see the test on a generator of its own, above."""
    result = auditor.audit(ignores_its_rng, PURE, [(0, 1)], samples=4000, seed=1, workers=2, batch=200)
    assert (result.verdict, result.reproducible) == ("no_violation_found", False)


def test_this_file_would_notice_copies_of_one_state_in_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it not asked beforehand, and run by two workers, the copies themselves would be seen."""
    monkeypatch.setattr("auditor.blackbox.sampling.Sampler.repeats_itself", lambda *_: True)
    with pytest.raises(MechanismError, match="repeats itself"):
        for seed in range(5):
            auditor.audit(ignores_its_rng, PURE, [(0, 1)], samples=8000, seed=seed, workers=2, batch=200)


class Drifting:
    """ε = 1 at any time; the noise is shifted once 20,000 outputs were drawn."""

    def __init__(self, after: int) -> None:
        self.drawn, self.after = 0, after

    def __call__(self, value: float, size: int, rng: np.random.Generator) -> Any:
        self.drawn += size
        return rng.laplace(value, 1.0, size) + (self.drawn > self.after)


def test_a_batch_that_raises_is_no_drift() -> None:
    """One batch of 100 raises, and none before; its outputs all abstain, which no single output did."""
    calls = 0

    def seldom(value: float, size: int, rng: np.random.Generator) -> Any:
        nonlocal calls
        calls += 1
        if calls == 50:
            raise ValueError("once")
        return rng.laplace(value, 0.2, size)

    result = auditor.audit(seldom, PURE, [(0, 1)], samples=30_000, batch=1_000, workers=1, isolate=False)
    assert calls > 50
    assert result.warnings == ()


@pytest.mark.parametrize(("after", "warnings"), [(20_000, 1), (1_000_000, 0)])
@pytest.mark.parametrize("method", ["fixed", "sequential"])
def test_drift_is_a_warning_and_no_false_alarm(after: int, warnings: int, method: str) -> None:
    """False-failure rate below 1e-6: α = 1e-7 for an alarm, and 1e-9 for a warning without drift; the drift is 30 errors wide."""
    result = auditor.audit(
        Drifting(after),
        auditor.PureDP(1.0),
        [(0, 1)],
        samples=30_000,
        batch=1_000,
        workers=1,
        isolate=False,
        confidence=1 - 1e-7,
        method=method,
    )
    assert result.verdict == "no_violation_found"
    assert len(result.warnings) == warnings
    assert all("early and late" in warning for warning in result.to_dict()["warnings"])


# --- All of it at once, as a person runs it ---

IN_PYTHON = """
import ctypes, os, subprocess, sys, time
import numpy as np

own = np.random.default_rng(1)
drawn = 0


def raises(value, rng):
    raise LookupError("no such column")


def exits(value, size, rng):
    print("a reason", file=sys.stderr, flush=True)
    os._exit(0)


def crashes(value, rng):
    return ctypes.string_at(0)


def hangs(value, rng):
    while True:
        pass


def raises_on_the_left(value, rng):
    return rng.random() if value else raises(value, rng)


def crashes_on_the_left(value, rng):
    return rng.random() if value else crashes(value, rng)


def hangs_on_the_left(value, rng):
    return rng.random() if value else hangs(value, rng)


def nan_on_the_left(value, size, rng):
    return rng.random(size) if value else np.full(size, np.nan)


def infinite_on_the_left(value, size, rng):
    return rng.random(size) * (1 if value else np.inf)


def none_on_the_left(value, rng):
    return rng.random() if value else None


def too_few(value, size, rng):
    return rng.random(size - 1)


def seeds_itself(value, size, rng):
    return np.random.default_rng(0).laplace(value, 1.0, size)


def shares_a_state(value, size):
    return own.laplace(value, 1.0, size)


def changes_its_type(value, size, rng):
    outputs = rng.random(size)
    return outputs if rng.random() < 0.5 else np.where(outputs < 0.5, "low", "high")


def drifts(value, size, rng):
    global drawn
    drawn += size
    return rng.laplace(value, 1.0, size) + 100 * (drawn > 1500)


def leaves_a_child(value, rng):
    subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os._exit(3)
"""
# Answers each request with as many lines as are asked for: what it does first, and what stands on each line.
IN_SHELL = (
    "while read -r line; do n=${line#*'\"size\": '}; n=${n%%%%,*}; %s; "
    'while [ "$n" -gt 0 ]; do echo %s; n=$((n - 1)); done; done'
)
SEEDED = "s=${line#*'\"seed\": '}; s=$((${s%%[,\\}]*} % 4294967296))"
ON_THE_LEFT = "case $line in *'\"dataset\": 0'*) %s;; esac"


def in_shell(first: str, output: str = "1") -> dict[str, list[str]]:
    return {"command": ["sh", "-c", IN_SHELL % (first, output)]}


NONE, FOUND, NOT_FOUND = "inconclusive", "violation", "no_violation_found"
# By name: the mechanism, the verdict, and what the reason for it says.
MISBEHAVIOURS: dict[str, tuple[Any, str, str]] = {
    "raises": ("m.py:raises", NONE, "failed on every call: raises LookupError: 'no such column'"),
    "exits": ("m.py:exits", NONE, "failed on every call: ended with exit status 0; standard error ends: a reason"),
    "crashes": ("m.py:crashes", NONE, "failed on every call: killed by SIGSEGV"),
    "hangs": ("m.py:hangs", NONE, "failed on every call: no answer within the time limit"),
    "leaves a child": ("m.py:leaves_a_child", NONE, "failed on every call: ended with exit status 3"),
    "raises on the left": ("m.py:raises_on_the_left", FOUND, ""),
    "crashes on the left": ("m.py:crashes_on_the_left", FOUND, ""),
    "hangs on the left": ("m.py:hangs_on_the_left", FOUND, ""),
    "NaN on the left": ("m.py:nan_on_the_left", FOUND, ""),
    "infinite on the left": ("m.py:infinite_on_the_left", FOUND, ""),
    "None on the left": ("m.py:none_on_the_left", FOUND, ""),
    "a batch too small": ("m.py:too_few", NONE, "outputs for a batch of"),
    "seeds itself": ("m.py:seeds_itself", NONE, "the mechanism repeats itself"),
    "shares a state": ("m.py:shares_a_state", NOT_FOUND, ""),
    "changes its type": ("m.py:changes_its_type", NONE, "for one batch and an array of"),
    "drifts": ("m.py:drifts", NOT_FOUND, ""),
    "program exits": (
        in_shell("echo mistyped >&2; exit 3"),
        NONE,
        "failed on every call: ended with exit status 3; standard error ends: mistyped",
    ),
    "program crashes": (in_shell("kill -s SEGV $$"), NONE, "failed on every call: killed by SIGSEGV"),
    "program hangs": (
        in_shell("trap : TERM; while :; do :; done"),
        NONE,
        "failed on every call: no answer within the time limit",
    ),
    "program leaves a child": (
        in_shell("sleep 1000 >/dev/null 2>&1 & exit 3"),
        NONE,
        "failed on every call: ended with exit status 3",
    ),
    "program dies on the left": (in_shell(ON_THE_LEFT % "exit 3"), FOUND, ""),
    "program hangs on the left": (in_shell(ON_THE_LEFT % "sleep 1000"), FOUND, ""),
    "program behaves": (in_shell(SEEDED, "$(((s = (s * 69069 + 1) % 4294967296) / 65536 % 4))"), NOT_FOUND, ""),
    "program always says the same": (in_shell(":"), NONE, "are identical on both data sets"),
    "not JSON": (in_shell("echo hello; n=$((n - 1))"), NONE, "line 1 of the program's answer is not JSON: 'hello'"),
    "a line too many": (in_shell("echo 1"), NONE, "answered two requests of size 32 with 66 lines"),
    "a line too few": (in_shell("n=$((n - 1))"), NONE, "answered two requests of size 32 with 62 lines"),
    "a line too many, on the right": (
        in_shell("case $line in *'\"dataset\": 1'*) echo 1;; esac"),
        NONE,
        "lines for a request of that size: '1'",
    ),
    "program repeats itself": (in_shell(":", "$n"), NONE, "the mechanism repeats itself"),
}


def alive(mark: str) -> list[str]:
    """Return the processes that have the mark in their environment, as all that a run starts."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue  # it has ended meanwhile
    return found


def left_behind(mark: str, seconds: float = 10.0) -> list[str]:
    """Return what is alive after a moment, in which what watches over processes ends them and itself."""
    until = time.monotonic() + seconds
    while (found := alive(mark)) and time.monotonic() < until:
        time.sleep(0.1)
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_each_misbehaviour_has_its_verdict_and_leaves_nothing_behind(
    backend: str, workers: int, tmp_path: Path
) -> None:
    audits = [
        {
            "name": name,
            "mechanism": mechanism,
            "claim": {"epsilon": 1.0},
            "neighbours": {"pairs": [{"left": 0, "right": 1}]},
            "expect": FOUND if verdict == FOUND else NOT_FOUND,
            "samples": 100 if verdict == FOUND else 4000,  # each failure takes a new process
            "execution": {"backend": backend, "workers": workers, "timeout": 0.3 if "hangs" in name else 20.0},
        }
        for name, (mechanism, verdict, _) in MISBEHAVIOURS.items()
    ]
    file = tmp_path / "audits.yaml"
    file.write_text(json.dumps({"version": 1, "seed": 1, "shrink": False, "audits": audits}))
    (tmp_path / "m.py").write_text(IN_PYTHON)
    mark = f"MISBEHAVIOURS={uuid.uuid4()}"
    ended = subprocess.run(
        [sys.executable, "-m", "auditor", "run", str(file), "--out", str(tmp_path)],
        env={**os.environ, **dict([mark.split("=")])},
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parent.parent,
    )
    assert left_behind(mark) == []
    assert ended.returncode == 3  # some have no answer, and all others what is expected
    report = json.loads((tmp_path / "audits" / "report.json").read_text())
    told = {audit["name"]: (audit["verdict"], audit["stop_reason"]) for audit in report["audits"]}
    assert {name: verdict for name, (verdict, _) in told.items()} == {
        name: verdict for name, (_, verdict, _) in MISBEHAVIOURS.items()
    }
    assert [(name, told[name][1]) for name, (_, _, why) in MISBEHAVIOURS.items() if why not in told[name][1]] == []
    fails = {f"{what} on the left" for what in ("raises", "crashes", "hangs", "program dies", "program hangs")}
    # The program that behaves gives the same outputs on both data sets.
    assert {audit["name"] for audit in report["audits"] if audit["warnings"]} == {"drifts", "program behaves", *fails}
    assert [a["reproducible"] for a in report["audits"] if a["name"] == "shares a state"] == [False]
