"""Sessions: sound ones are proved for all scripts over a list of questions, and no faulty or hostile one is."""

import copy
import functools
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hostile_sessions
import numpy as np
import pytest
from test_checker import signed

import auditor
import dp_prover
from auditor.blackbox.mechanism import PythonSource
from auditor.cli import main
from auditor.config.load import load_configuration
from auditor.report.phrases import proof_words
from auditor.sessions.session_mechanism import SessionMechanism
from dp_prover import attempt, session_proof
from dp_prover.certificates.checker.check import check_certificate
from dp_prover.certificates.retrace import retraced
from dp_prover.language import analyst
from mechanisms import adaptive_sessions, reused_objects, sessions

GROUPS = ["all", "large", "small"]
ONE = auditor.Records(choices=[1.0, 9.0], size=(0, 1))
TWO = auditor.Records(choices=[1.0, 9.0], size=(0, 2))
SWAPPED = auditor.Records(choices=[1.0, 9.0], size=(0, 1), relation="substitute")
HALF = {"epsilon": 0.5, "budget": 1.0}
STEPS = {"parts": {"epsilon": [0.25, 0.5, 1.0]}}
# A session, its questions, data sets and parameters, and the least true bound for three questions.
SOUND: list[tuple[Callable[..., Any], Any, Any, dict[str, Any], float]] = [
    (sessions.Charged, GROUPS, TWO, {"epsilon": 0.9, "budget": 1.0}, 0.9),
    (sessions.Charged, GROUPS, ONE, HALF, 1.0),
    (sessions.Remembering, ["all", "All", "ALL"], ONE, {"epsilon": 1.0, "budget": 1.0}, 1.0),
    (sessions.Remembering, GROUPS, ONE, HALF, 1.0),
    (sessions.Accounted, ["step", "epsilon"], TWO, HALF, 1.0),
    (sessions.InParallel, GROUPS, ONE, HALF, 1.0),
    (sessions.Metered, GROUPS, ONE, HALF, 1.0),
    (sessions.Priced, STEPS, ONE, {"budget": 1.0}, 1.0),
    (sessions.Priced, {"parts": {"epsilon": [-1.0, 0.5, 1.0]}}, ONE, {"budget": 1.0}, 1.0),
    (sessions.Splitting, ["split", "child", "parent"], ONE, {"budget": 1.0}, 1.0),
    (sessions.RefusingByNoise, ["all", "large"], ONE, HALF, 1.0),
    (sessions.SparseVectorSession, ["large", "small"], SWAPPED, {"epsilon": 1.0, "threshold": 1.0}, 0.75),
    (reused_objects.WarmStarted, ["own", [], [10.0]], ONE, {"epsilon": 1.0}, 0.9),
    (reused_objects.Scaled, ["own", [], [10.0]], ONE, {"epsilon": 1.0}, 0.9),
    (reused_objects.Copied, ["own", "copy", []], ONE, {"epsilon": 1.0}, 0.9),
    (adaptive_sessions.challenged, ["left", "right"], ONE, {"epsilon": 1.0, "turns": 1}, 1.0),
    (adaptive_sessions.queued, ["wait", "go on"], ONE, {"epsilon": 1.0, "waits": 1}, 1.0),
]


def proof_of(
    session: Callable[..., Any], ask: Any, data: Any = ONE, *, rounds: int | None = 3, claim: Any = None, **more: Any
) -> Any:
    parameters = more.pop("parameters", {})
    asked = auditor.Dialogues(data, ask, rounds=rounds, **more)
    return dp_prover.prove(session, claim or auditor.PureDP(1.0), asked, parameters=parameters, seconds=60)


@pytest.mark.parametrize(("session", "ask", "data", "parameters", "bound"), SOUND)
def test_a_sound_session_is_proved(session: Any, ask: Any, data: Any, parameters: Any, bound: float) -> None:
    proof = proof_of(session, ask, data, parameters=parameters)
    assert proof.proved, str(proof)
    assert proof.value == pytest.approx(bound)
    assert "all scripts of up to 3 questions, adaptive ones included" in str(proof)


@pytest.mark.parametrize("session", hostile_sessions.HOSTILE, ids=lambda one: one.__name__)
def test_no_hostile_session_is_proved(session: Any) -> None:
    questions = ["a", "more"] if issubclass_of(session, hostile_sessions.UnreleasedDraw) else ["a", "b"]
    proof = proof_of(session, questions, TWO, rounds=4 if session is hostile_sessions.AfterThree else 3)
    assert not proof.holds
    assert proof.reason


def issubclass_of(session: Any, kind: type) -> bool:
    return isinstance(session, type) and issubclass(session, kind)


def faulty_plans() -> list[Any]:
    plans = load_configuration(Path("configs/sessions.yaml")).plans
    return [plan for plan in plans if plan.expect == "violation"]


FAULTY = [plan.name for plan in faulty_plans()]


# Fixed scripts keep these claims, since the analyst has to quote an answer, which no list of questions contains.
ONLY_BY_ANSWERS = ("refund for a receipt", "validated releases", "explained noise", "bisection for nothing")


@pytest.mark.parametrize("name", ONLY_BY_ANSWERS)
def test_a_claim_that_only_a_quoted_answer_breaks_is_refused_for_such_questions(name: str) -> None:
    plan = next(each for each in faulty_plans() if each.name == name)
    proof = attempt(plan.source.drawer(), plan.claim, plan.domain, 30)
    assert "a proof needs a list of all questions" in str(proof.reason)


# --- What the scripts are ---


def test_a_range_and_the_last_answer_are_refused() -> None:
    for ask in ({"range": [0, 10]}, {"parts": {"epsilon": {"range": [0.0, 2.0]}}}):
        assert "needs a list of all questions" in str(proof_of(sessions.Priced, ask, parameters={"budget": 1.0}))
    last = [{"epsilon": {"answer": "last"}}, {"epsilon": 0.5}]
    assert "contains the last answer" in str(proof_of(sessions.Priced, last, parameters={"budget": 1.0}))


def test_too_many_scripts_are_refused_before_any_is_tried() -> None:
    proof = proof_of(sessions.Charged, GROUPS, rounds=8, parameters=HALF)
    assert "there are 6,561 scripts of 8 questions" in str(proof.reason)


def test_a_session_that_says_what_it_spent_may_also_be_asked_nothing() -> None:
    """ReadingChanges reveals the data at the sixth reading, which comes after a round without a question."""
    session = hostile_sessions.ReadingChanges
    proof = proof_of(session, ["a"], TWO, rounds=3)
    assert not proof.holds
    steps = analyst.analyst_for(
        SessionMechanism(session, "s"), auditor.Dialogues(TWO, ["a"], rounds=3), waits=True
    ).rounds
    assert [len(some) for some in steps] == [2, 2, 2]


def test_a_fixed_script_is_proved_alone_with_gaussian_noise_and_delta() -> None:
    script = {"script": [{"ask": "a"}, {"ask": "b"}]}
    claim = auditor.GaussianDP(math.sqrt(2))
    proof = proof_of(hostile_sessions.Gaussian, script, TWO, rounds=None, claim=claim)
    assert proof.proved, str(proof)
    assert "this script of 2 questions" in str(proof)
    assert not proof_of(hostile_sessions.Gaussian, ["a", "b"], TWO, rounds=2, claim=claim).holds


def test_a_script_that_looks_at_answers_is_refused_with_what_to_write() -> None:
    script = {"script": [{"ask": "all"}, {"ask": "large", "if": {"above": 1}}]}
    proof = proof_of(sessions.Charged, script, rounds=None, parameters=HALF)
    assert "list its questions" in str(proof.reason)


def test_two_sessions_on_the_same_data_cost_twice() -> None:
    one = {"epsilon": 0.5, "budget": 0.5}
    assert proof_of(sessions.Charged, ["all"], rounds=3, sessions=2, parameters=one).value == pytest.approx(1.0)
    both = proof_of(sessions.Charged, ["all"], rounds=3, sessions=2, parameters=HALF)
    assert not both.holds
    assert both.value == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("session", "proved"),
    [(sessions.Odometer, True), (sessions.OdometerOfTheLargest, False), (sessions.OdometerBySquares, False)],
)
def test_an_odometer_is_cut_by_its_meter(session: Any, proved: bool) -> None:
    assert proof_of(session, STEPS, meter={"at": 1.0}).proved is proved


def test_a_meter_adds_up_costs_of_questions() -> None:
    proof = proof_of(sessions.Odometer, STEPS, meter={"at": 1.0, "of": "epsilon"})
    assert proof.proved
    assert proof.value == pytest.approx(1.0)


def test_a_meter_that_reads_noise_is_refused() -> None:
    proof = proof_of(NoisyMeter, ["a"], meter={"at": 1.0})
    assert "the meter reads spent" in str(proof.reason)


class NoisyMeter(hostile_sessions.Base):
    """Reports its spent budget with noise."""

    @property
    def spent(self) -> Any:
        """A number with noise."""
        return self.ledger.spent + float(self.rng.laplace(0.0, 1.0))


def test_a_budget_that_raises_is_refused() -> None:
    assert "reading a session's budget raises BudgetError" in str(proof_of(RaisingMeter, ["a"]).reason)


class RaisingMeter(hostile_sessions.Base):
    """Raises an exception when its spent budget is read."""

    @property
    def spent(self) -> Any:
        """Nothing."""
        raise hostile_sessions.BudgetError("no")


# --- Pure ε against adaptive analysts, checked by hand ---


def coin_session(bit: int, rng: Any, *, epsilon: float) -> Any:
    """Answer twice with a bit that is right with odds e^ε/2. The first answer affects nothing."""
    chance = 1 / (1 + math.exp(-epsilon / 2))

    def ask(question: str) -> int:
        right = bool(rng.random() < chance)
        return bit if right else 1 - bit

    return ask


def test_the_bound_for_all_scripts_is_the_largest_loss_of_an_adaptive_analyst() -> None:
    """By exact enumeration: each analyst chooses "a" or "b" by the previous answer."""
    asked = auditor.Dialogues(auditor.Value([0, 1]), ["a", "b"], rounds=2)
    proof = dp_prover.prove(coin_session, auditor.PureDP(1.0), asked, parameters={"epsilon": 1.0})
    right = 1 / (1 + math.exp(-0.5))
    law = {0: {0: right, 1: 1 - right}, 1: {0: 1 - right, 1: right}}
    largest = max(
        math.log(law[0][one] * law[0][two] / (law[1][one] * law[1][two]))
        for one, two in itertools.product((0, 1), repeat=2)
    )
    assert proof.proved
    assert proof.rule == "masses"
    assert proof.value == pytest.approx(largest, abs=1e-9)


def test_a_claim_with_delta_gets_a_proof_of_pure_epsilon() -> None:
    proof = proof_of(
        adaptive_sessions.challenged,
        ["left", "right"],
        claim=auditor.ApproximateDP(1.0, 0.1),
        parameters={"epsilon": 1.0, "turns": 1},
    )
    assert proof.proved
    assert proof.certificate["claim"] == {"epsilon": 1.0}


def test_delta_is_not_lost_once_for_each_script() -> None:
    """A fixed script reaches the count with probability 1/2. An analyst who reads the answers always does."""
    claim = auditor.ApproximateDP(1.0, 0.5)
    session = functools.partial(proof_of, adaptive_sessions.challenged_exactly, claim=claim)
    given = {"epsilon": 1.0, "turns": 1}
    assert session({"script": ["left", "left"]}, rounds=None, parameters=given).proved
    assert not session(["left", "right"], rounds=2, parameters=given).holds


# --- Reports ---


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ONE, "for all data sets of the domain, and all scripts of up to 2 questions, adaptive ones included"),
        ([(np.zeros(1), np.zeros(2))], "for 1 pair that was listed, and all scripts of up to 2 questions"),
    ],
)
def test_a_report_says_for_which_scripts_a_claim_is_proved(data: Any, words: str) -> None:
    asked = auditor.Dialogues(data, ["all", "large"], rounds=2)
    result = auditor.audit(
        sessions.Charged, auditor.PureDP(1.0), asked, parameters=HALF, prove="only", workers=1, samples=1_000
    )
    assert words in str(proof_words(result))
    assert (result.verdict == "no_violation_found") == (data is ONE)


class ReadingSlotNames(hostile_sessions.Base):
    """Reads the attributes that Python adds to a class when one of its objects is copied."""

    def __call__(self, question: str) -> float:
        self.ledger.charge(1.0)
        return self.noisy() if len(self.__slotnames__) == 0 else self.noisy(9.0)


def test_a_copy_of_an_object_changes_no_proof_and_what_it_leaves_is_not_read() -> None:
    copy.copy(sessions.Ledger(1.0))
    assert "__slotnames__" in vars(sessions.Ledger)
    certificate_of()
    copy.copy(ReadingSlotNames(np.zeros(1), np.random.default_rng(0)))
    assert ReadingSlotNames.__dict__["__slotnames__"] == []
    assert not proof_of(ReadingSlotNames, ["a", "b"], TWO, rounds=1).proved


# --- Certificates ---


def certificate_of(**more: Any) -> Any:
    """Return a certificate and the source of its session."""
    proof = proof_of(sessions.Charged, ["all", "large"], rounds=2, parameters={"epsilon": 0.5, "budget": 1.0}, **more)
    assert proof.proved
    return json.loads(json.dumps(proof.certificate))


def test_a_certificate_says_what_is_asked_and_is_checked_again() -> None:
    certificate = certificate_of()
    assert certificate["asked"] == {"rounds": [[{"ask": "all"}, {"ask": "large"}]] * 2, "meter": None}
    check_certificate(certificate)


@pytest.mark.parametrize(
    "rounds",
    [
        [[{"ask": "all"}, {"ask": "large"}]],
        [[{"ask": "all"}, {"ask": "large"}]] * 3,
        [[{"ask": "all"}, {"ask": "large"}, {"ask": "small"}]] * 2,
        [[{"ask": "all"}]] * 2 + [[{"ask": "all"}, {"ask": "large"}]] * 3,
        [],
    ],
)
def test_the_checker_refuses_other_rounds(rounds: Any) -> None:
    """Other numbers of rounds are refused, unless they are fewer and the trace contains their scripts as well."""
    certificate = certificate_of()
    certificate["asked"]["rounds"] = rounds
    if len(rounds) == 1:
        check_certificate(signed(certificate))
    else:
        with pytest.raises((ValueError, LookupError)):
            check_certificate(signed(certificate))


def test_the_checker_refuses_a_cell_with_paths_of_two_scripts() -> None:
    certificate = certificate_of()
    for entry in certificate["pairs"]:
        entry["cells"][0]["right"] = entry["cells"][-1]["right"]
    with pytest.raises(ValueError, match=r"script|draws"):
        check_certificate(signed(certificate))


def test_the_checker_refuses_delta_for_several_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof is by the masses of all scripts together, and its δ is that of a script on average."""
    given = {"epsilon": 1.0, "turns": 1}
    claim, asked = auditor.ApproximateDP(1.0, 0.5), auditor.Dialogues(ONE, ["left", "right"], rounds=2)
    monkeypatch.setattr(session_proof, "PureDP", lambda epsilon: claim)
    proof = dp_prover.prove(adaptive_sessions.challenged_exactly, claim, asked, parameters=given)
    assert "pure ε, for an analyst who looks at answers" in str(proof.reason)


def test_a_certificate_is_that_of_the_session_read_again(tmp_path: Path, capsys: Any) -> None:
    proof = attempt(
        PythonSource(
            "mechanisms.sessions:Charged", {"epsilon": 0.5, "budget": 1.0}, through=(SessionMechanism,)
        ).drawer(),
        auditor.PureDP(1.0),
        auditor.Dialogues(ONE, ["all", "large"], rounds=2),
        60,
    )
    certificate = json.loads(json.dumps(proof.certificate))
    assert retraced(certificate) is None
    (tmp_path / "proof.json").write_text(json.dumps(proof.certificate))
    assert main(["check-proof", "--retrace", str(tmp_path / "proof.json")]) == 0
    shown = capsys.readouterr().out
    assert "asked any script of up to 2 questions, one of 2 each time; the function was read again" in shown
    certificate["asked"]["rounds"][1] = [{"ask": "all"}, {"ask": "small"}]
    assert retraced(certificate) is not None


# --- The function itself ---


def test_the_played_session_confirms_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the evaluator forgot the cost of a refusal, the session itself would show it."""
    monkeypatch.setattr("dp_prover.language.evaluator.set_attribute", lambda owner, name, value: None)
    proof = proof_of(sessions.Charged, ["all"], rounds=3, parameters=HALF)
    assert not proof.holds
    assert "on numbers" in str(proof.reason)


def test_symbols_stand_for_the_data_of_totals() -> None:
    totals = auditor.Totals(cells=2, values=(0, 100), contribution={"linf": 1})
    proof = proof_of(Tables, [0, 1], totals, rounds=3)
    assert proof.proved
    assert proof.scope == "all data sets of the domain"
    wrong = proof_of(Tables, [0, 1], totals, rounds=3, parameters={"most": 3})
    assert wrong.value == pytest.approx(1.5)
    assert wrong.pair is not None
    assert len(wrong.pair.left["ask"]) == 3


class Tables:
    """Answers up to ``most`` times with a noisy cell."""

    def __init__(self, totals: Any, rng: np.random.Generator, *, most: int = 2) -> None:
        self.totals, self.rng, self.left = totals, rng, most

    def __call__(self, cell: int) -> Any:
        if self.left == 0:
            return None
        self.left -= 1
        return self.totals[cell] + self.rng.laplace(0.0, 2.0)


def test_all_faulty_twins_are_looked_at() -> None:
    assert len(FAULTY) >= 29
