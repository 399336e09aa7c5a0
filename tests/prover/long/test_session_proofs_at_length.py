"""No faulty twin of a session is proved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import auditor
from auditor.config.load import load_configuration
from auditor.sessions.dialogues import Dialogues
from dp_prover import attempt


def faulty_plans() -> list[Any]:
    plans = load_configuration(Path("configs/sessions.yaml")).plans
    return [plan for plan in plans if plan.expect == "violation"]


# On small domains each faulty session breaks its claim: with its audit's questions or, if there are infinitely many,
# with some of them.
OTHERS = {
    "whole units": [{"epsilon": 0.5}, {"epsilon": 0.9}],
    "negative cost": [{"epsilon": -1.0}, {"epsilon": 1.0}],
    "refund for a receipt": [{"do": "count"}, {"do": "refund", "answer": [0.5, 1.0]}],
    "validated releases": [{"do": "count"}, {"do": "is it less", "than": 1.0}],
    "explained noise": [{"do": "count"}, {"do": "explain", "answer": 1.0}],
    "bisection for nothing": [{"above": 0.0}, {"above": 1.0}],
}
# Fixed scripts keep these claims, since the analyst has to quote an answer, which no list of questions contains.
ONLY_BY_ANSWERS = ("refund for a receipt", "validated releases", "explained noise", "bisection for nothing")


# Fewer turns with the number of questions that then break the claim; other sizes.
SHORTER = {"challenge": {"turns": 1}, "queue": {"waits": 1}}
ROUNDS = {"challenge": 2, "queue": 2, "history by pop": 4}
SIZES = {"refusal of small groups": (1, 2)}


def on_few(plan: Any) -> tuple[Any, Dialogues]:
    """Return the mechanism of an audit, and a small domain on which it breaks its claim with few questions."""
    source, asked = plan.source, plan.domain
    shorter = replace(source, parameters={**source.parameters, **SHORTER.get(plan.name, {})})
    data = auditor.Records(choices=[1.0, 9.0], size=SIZES.get(plan.name, (0, 1)), relation=str(asked.base.relation))
    questions = OTHERS.get(plan.name) or asked.questions.first()
    meter = asked.meter and asked.meter.to_data()
    return shorter.drawer(), Dialogues(data, questions, rounds=ROUNDS.get(plan.name, 3), meter=meter)


@pytest.mark.parametrize("plan", faulty_plans(), ids=lambda plan: plan.name)
def test_no_faulty_twin_is_proved_as_its_audit_has_it(plan: Any) -> None:
    assert not attempt(plan.source.drawer(), plan.claim, plan.domain, 10).holds


@pytest.mark.parametrize(
    "plan", [one for one in faulty_plans() if one.name not in ONLY_BY_ANSWERS], ids=lambda plan: plan.name
)
def test_no_faulty_twin_is_proved_on_few_data_sets(plan: Any) -> None:
    mechanism, domain = on_few(plan)
    proof = attempt(mechanism, plan.claim, domain, 120)
    assert not proof.holds
    assert "time for a proof" not in str(proof.reason)
