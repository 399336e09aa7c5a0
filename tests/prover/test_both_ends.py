"""Proofs beside audits: a lower and an upper bound in one result, and no proof that hides a violation."""

import functools
import os
import types
from typing import Any

import numpy as np
import pytest

import auditor
from auditor.auditing import proof_job
from auditor.report.ci import to_junit
from auditor.report.compare import ChangeKind, compare
from auditor.report.html import to_html
from auditor.report.markdown import to_markdown
from auditor.results.result import RunResult

ONE = auditor.Totals(cells=1, values=(0, 1000), contribution={"l1": 1})


def sound(x: Any, size: int, rng: Any) -> Any:
    return x + rng.laplace(0.0, 1.0, (size, 1))


def faulty(x: Any, size: int, rng: Any) -> Any:
    return x + rng.laplace(0.0, 0.5, (size, 1))


def ratio(x: Any, rng: Any) -> Any:
    return (x[0] + rng.laplace(0.0, 0.5)) / (1 + abs(x[0] + rng.laplace(0.0, 1e6)))


def audited(mechanism: Any = sound, **settings: Any) -> Any:
    options = {"samples": 20_000, "seed": 7, "workers": 1, "name": "one"} | settings
    return auditor.audit(mechanism, auditor.PureDP(1.0), ONE, **options)


# An audit that several tests look at.
shared = functools.cache(audited)


def run_of(*audits: Any) -> RunResult:
    return RunResult("run", 0.999, audits)


def test_an_audit_has_both_ends() -> None:
    result = shared(prove=True)
    assert result.verdict == "no_violation_found" and 0.5 < result.bound.value < result.proof.bound == 1.0
    assert result.proof.proved and "Proved: ε ≤ 1.0000, over the reals" in str(result)


def test_a_proof_alone_draws_nothing() -> None:
    result = shared(prove="only")
    assert (result.verdict, result.outputs.bound, result.bound) == ("no_violation_found", 0, None)
    assert "No answer" not in str(result) and "Proved: ε ≤ 1.0000" in str(result)


def test_a_proof_alone_that_fails_is_no_answer_or_a_violation() -> None:
    """Half the noise is refuted; a ratio of noisy numbers is one that nothing is calculated of."""
    result = shared(faulty, prove="only")
    assert (result.verdict, result.proof.status, result.proof.bound) == ("violation", "refuted", 2.0)
    assert 1.99 < result.bound.value <= 2.0 and "Weaker bound proved: ε ≤ 2.0000" in str(result)
    result = audited(ratio, prove="only")
    assert (result.verdict, result.proof.status, result.proof.bound) == ("inconclusive", "not_proved", 2.000001)
    assert "Weaker bound proved: ε ≤ 2.0001" in str(result)


def test_a_program_cannot_be_proved_alone() -> None:
    result = auditor.audit(auditor.Command(["cat"]), auditor.PureDP(1.0), ONE, prove="only")
    assert result.verdict == "inconclusive" and "only privacy claims of Python mechanisms" in result.stop_reason


def test_a_violation_beside_a_proof_is_shown_with_a_warning() -> None:
    """Over the reals the claim holds, but floating-point bits break it (Mironov 2012)."""
    result = audited(prove=True, events=["bits"], samples=50_000)
    assert result.verdict == "violation" and result.proof.proved
    assert any("one of the two is wrong" in warning for warning in result.warnings)


def test_every_form_of_a_report_shows_both_ends() -> None:
    result = run_of(shared(prove=True), audited(faulty, prove=True, name="other"))
    for text in (to_html(result), to_markdown(result), to_junit(result)):
        assert "Proved: ε ≤ 1.0000" in text and "Weaker bound proved: ε ≤ 2.0000" in text
    assert "by proof" in to_markdown(result)


def test_a_proof_that_is_lost_is_a_change_for_the_worse() -> None:
    with_proof, without = run_of(shared(prove="only")), run_of(shared(faulty, prove="only"))
    untried = run_of(audited(faulty))
    lost = [change for change in compare(with_proof, without) if "the proof is lost" in change.what]
    assert [change.kind for change in lost] == [ChangeKind.WORSE]
    assert any(change.what == "the claim is proved now" for change in compare(without, with_proof))
    assert [change.kind for change in compare(with_proof, untried) if "no proof now" in change.what] == [
        ChangeKind.NOTE
    ]


@pytest.mark.parametrize("prove", ["yes", 2, None])
def test_prove_is_a_choice_of_three(prove: Any) -> None:
    with pytest.raises(auditor.InvalidInputError, match='must be true, false, "only" or "briefly"'):
        audited(prove=prove)


@pytest.mark.parametrize("prove", [True, "only"])
def test_a_proof_that_fails_on_lists_of_different_lengths_costs_no_audit(prove: Any) -> None:
    def leaks(data: Any, rng: Any) -> float:
        return (len(data) if len(data) != 1 else 5) + rng.laplace(0.0, 0.1)

    domain = auditor.Records((0, 10), integer=True, size=(0, 2), relation="add_remove")
    result = auditor.audit(leaks, auditor.PureDP(1.0), domain, prove=prove, samples=2_000, workers=1, seed=1)
    assert result.proof is not None and (result.proof.status, result.proof.bound) == ("refuted", 50.0)
    assert result.verdict == "violation"


@pytest.mark.parametrize(
    "error", [ValueError("odd"), auditor.MechanismError("odd"), RecursionError("odd"), SystemExit(0)]
)
@pytest.mark.parametrize("prove", [True, "only", "briefly"])
def test_an_error_in_a_proof_costs_no_audit(prove: Any, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any) -> Any:
        raise error

    plain = shared(samples=2_000, planted=0).to_dict()
    broken = types.SimpleNamespace(CLAIMS=(auditor.PureDP,), attempt=fails)
    monkeypatch.setattr(proof_job, "prover", lambda: broken)
    result = audited(samples=2_000, planted=0, prove=prove, isolate=prove == "briefly")
    if prove == "briefly":
        assert result.to_dict() == plain
        return
    reason = f"the attempt ended in an error, {type(error).__name__}: {error}"
    assert result.proof.status == "not_proved" and result.proof.reason.startswith(reason)
    if prove == "only":
        assert (result.verdict, result.stop_reason) == ("inconclusive", f"not proved: {result.proof.reason}")
    else:
        assert {key: value for key, value in result.to_dict().items() if key != "proof"} == plain


# Automatic attempts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "prove", "workers", "bound"),
    [(faulty, True, 1, 2.0), (faulty, "briefly", 1, 2.0), (sound, "briefly", 1, 1.0), (sound, "briefly", 2, 1.0)],
)
def test_an_attempt_adds_a_proof_at_most(mechanism: Any, prove: Any, workers: int, bound: float | None) -> None:
    """The pair of a failed attempt does not go to the search; its message depends on the clock, and is shown only on request."""
    settings = {"workers": workers, "samples": 2_000, "planted": 0}  # a proved pass is never weak
    plain, tried = (audited(mechanism, prove=one, **settings).to_dict() for one in (False, prove))
    assert tried.pop("proof", {}).get("bound") == bound and tried == plain


def on_symbols(then: Any) -> Any:
    """Return a sound mechanism that behaves differently on symbolic data."""

    def mechanism(x: Any, rng: Any) -> Any:
        if np.asarray(x).dtype == object:
            then()
        return x[0] + rng.laplace(0.0, 1.0)

    return mechanism


def loop() -> None:
    while True:
        pass


def leave() -> None:
    raise SystemExit


@pytest.mark.parametrize("then", [loop, leave, lambda: os._exit(1), lambda: os._exit(0), lambda: print("\x00" * 10**6)])
@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_mechanism_does_with_symbols_cannot_break_its_audit(
    then: Any, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_job, "LATE", 0.3)
    settings = {"samples": 2_000, "workers": workers, "planted": 0}
    plain, tried = (audited(on_symbols(then), prove=prove, **settings).to_dict() for prove in (False, "briefly"))
    tried.pop("proof", None)
    assert tried == plain


def test_a_brief_attempt_leaves_no_symbol_in_the_memory_of_a_mechanism() -> None:
    """With one worker, outputs are drawn in the process that forks for the attempt."""
    recorded: list[Any] = []

    def remembers(x: Any, rng: Any) -> Any:
        recorded[:] = [*recorded[-1:], x[0]]
        assert all(isinstance(value, float | int | np.number) for value in recorded)
        return x[0] + rng.laplace(0.0, 1.0)

    settings = {"samples": 2_000, "prove": "briefly", "planted": 0}
    first, second = (audited(remembers, **settings).to_dict() for _ in range(2))
    assert first == second and first["verdict"] == "no_violation_found"


@pytest.mark.parametrize("settings", [{"seconds": 60.0}, {"isolate": False}])
def test_no_attempt_is_made_unasked_where_time_is_short_or_no_process_is_to_be_used(settings: Any) -> None:
    assert audited(prove="briefly", samples=2_000, **settings).proof is None
