"""Sessions: a short dialogue exposes each fault, and the sound twin passes it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from auditor.neighbours.scripts import LAST_ANSWER, IfAnswer, Script, ScriptedData, ScriptStep, read_script
from auditor.sessions.transcript import play_script
from mechanisms import adaptive_sessions as adaptive
from mechanisms import sessions

DATA = np.array([1.0, 9.0, 9.0])
HALF = {"epsilon": 0.5, "budget": 1.0}


def answers(factory: Any, parameters: dict[str, Any], script: Script, seed: int = 0, data: Any = DATA) -> list[Any]:
    said = play_script(lambda: factory(data, np.random.default_rng(seed), **parameters), ScriptedData(None, script))
    return list(said["answers"]) if isinstance(said, dict) else said


def fresh(result: Sequence[Any]) -> int:
    """Return the number of different answers: each needs its own noise."""
    return len({answer for answer in result if isinstance(answer, float)})


def count(*questions: Any) -> Script:
    return read_script(list(questions))


LEFT_OR_RIGHT = ScriptStep("right", IfAnswer("above", 0.5), "left")
GO = ScriptStep("wait", IfAnswer("refused"), "go on")
# The sound session, the faulty one, its parameters, the dialogue, and what it shows of the faulty session and not of the sound one.
TWINS: dict[str, tuple[Any, Any, dict[str, Any], Script, Callable[[list[Any]], bool]]] = {
    "too late": (
        sessions.Charged,
        sessions.ChargedTooLate,
        {"epsilon": 0.6, "budget": 1.0},
        count("all", "all"),
        lambda a: fresh(a) == 2,
    ),
    "refund": (sessions.Charged, sessions.Refunding, HALF, count("all", "all", "all", "all"), lambda a: fresh(a) == 3),
    "number": (
        sessions.Charged,
        sessions.CountingRefusals,
        HALF,
        count("all", "all", "all"),
        lambda a: "3 rows" in str(a[-1]),
    ),
    "noise": (
        sessions.Charged,
        sessions.Correlated,
        HALF,
        count("all", "large"),
        lambda a: math.isclose(a[0] - a[1], 1),
    ),
    "words": (sessions.Remembering, sessions.RememberingWords, HALF, count("all", "ALL"), lambda a: fresh(a) == 2),
    "last": (
        sessions.Remembering,
        sessions.RememberingTheLast,
        HALF,
        count("all", "large", "all"),
        lambda a: fresh(a) == 3,
    ),
    "pop": (
        sessions.Accounted,
        sessions.AccountedByPop,
        HALF,
        count("step", "epsilon", "step", "step"),
        lambda a: fresh(a) == 4,
    ),
    "parallel": (
        sessions.InParallel,
        sessions.InParallelByName,
        {"epsilon": 1.0, "budget": 1.0},
        count("all", "large"),
        lambda a: fresh(a) == 2,
    ),
    "small": (
        sessions.RefusingByNoise,
        sessions.RefusingSmallGroups,
        {"epsilon": 0.1, "budget": 1.0},
        count("all"),
        lambda a: fresh(a) == 1,
    ),
    "units": (
        sessions.Priced,
        sessions.PricedInUnits,
        {"budget": 1.0},
        count({"ask": {"epsilon": 0.9}}, {"ask": {"epsilon": 0.9}}),
        lambda a: fresh(a) == 2,
    ),
    "negative": (
        sessions.Priced,
        sessions.PricedUnchecked,
        {"budget": 1.0},
        count({"ask": {"epsilon": -1.0}}, {"ask": {"epsilon": 2.0}}),
        lambda a: fresh(a) == 1,
    ),
    "split": (
        sessions.Splitting,
        sessions.SplittingUnshared,
        {"budget": 1e9},
        count("split", "child", "parent"),
        lambda a: math.isclose(a[2], 3, abs_tol=1.2e-8),
    ),
    "endless": (
        sessions.SparseVectorSession,
        sessions.SparseVectorWithoutEnd,
        {"epsilon": 100.0, "threshold": 1},
        count("all", "all"),
        lambda a: a == [1, 1],
    ),
    "value": (
        sessions.SparseVectorSession,
        sessions.SparseVectorWithValue,
        {"epsilon": 100.0, "threshold": 1},
        count("small", "all"),
        lambda a: fresh(a) >= 1,
    ),
    "receipt": (
        adaptive.Receipts,
        adaptive.ReceiptsRefunded,
        {"epsilon": 1.0, "budget": 1.0},
        count(
            {"ask": {"do": "count", "answer": 0}},
            {"ask": {"do": "refund", "answer": LAST_ANSWER}},
            {"ask": {"do": "count", "answer": 0}},
        ),
        lambda a: isinstance(a[2], list),
    ),
    "validated": (
        adaptive.Validating,
        adaptive.ValidatingReleases,
        {"epsilon": 1e-9, "budget": 1.0},
        count({"ask": {"do": "count", "than": 0}}, {"ask": {"do": "is it less", "than": LAST_ANSWER}}),
        lambda a: isinstance(a[1], bool) and a[1] == (a[0] > 3),
    ),
    "explained": (
        adaptive.Explaining,
        adaptive.ExplainingNoise,
        {"epsilon": 1.0},
        count({"ask": {"do": "count", "answer": 0}}, {"ask": {"do": "explain", "answer": LAST_ANSWER}}),
        lambda a: math.isclose(a[0] - a[1], 3),
    ),
    "bisection": (
        adaptive.Bisecting,
        adaptive.BisectingForNothing,
        {"epsilon": 1.0, "budget": 1.0},
        count({"ask": {"above": 0.0}}, {"ask": {"above": LAST_ANSWER}}),
        lambda a: fresh(a) == 2,
    ),
    "challenge": (
        adaptive.challenged,
        adaptive.challenged_exactly,
        {"epsilon": 0.01, "turns": 4},
        (ScriptStep("left"), *(LEFT_OR_RIGHT,) * 4),
        lambda a: a[-1] == 3,
    ),
    "queue": (
        adaptive.queued,
        adaptive.queued_exactly,
        {"epsilon": 0.01, "waits": 4},
        (ScriptStep("wait"), *(GO,) * 4),
        lambda a: a[-1] == 3,
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_a_short_dialogue_shows_the_fault_and_the_sound_twin_does_not(name: str) -> None:
    sound, faulty, parameters, script, shows = TWINS[name]
    assert len(script) <= 6
    seeds = range(30)
    assert all(shows(answers(faulty, parameters, script, seed)) for seed in seeds)
    assert not all(shows(answers(sound, parameters, script, seed)) for seed in seeds)


def test_a_sound_ledger_never_answers_more_than_the_budget_allows() -> None:
    long = count(*["all", "large", "small"] * 4)
    for factory in (sessions.Charged, sessions.InParallel, sessions.Metered):
        assert fresh(answers(factory, HALF, long)) <= (4 if factory is sessions.InParallel else 2)
    assert fresh(answers(sessions.Remembering, HALF, count("all", "All", "large", "ALL", "small", "all"))) == 2


def test_a_meter_by_rows_says_whether_there_are_any() -> None:
    for data, spent in (([9.0], 0.0), ([1.0], 0.5)):
        session = sessions.MeteredByRows(np.array(data), np.random.default_rng(0), **HALF)
        session("small")
        assert session.spent == spent


@pytest.mark.parametrize(
    ("factory", "right", "wrong"),
    [
        (adaptive.challenged_exactly, LEFT_OR_RIGHT, ScriptStep("left")),
        (adaptive.queued_exactly, GO, ScriptStep("wait")),
    ],
)
def test_without_a_look_at_answers_the_end_comes_as_rarely_as_the_claim_allows(
    factory: Any, right: ScriptStep, wrong: ScriptStep
) -> None:
    """Each fixed question is right with probability 1/2, and all four with 1/16; 4,000 dialogues each, false failures
    below 1e-9."""
    parameters = {"epsilon": 1.0, "turns" if factory is adaptive.challenged_exactly else "waits": 4}
    first = ScriptStep("wait" if factory is adaptive.queued_exactly else "left")
    for step, rate in ((right, 1.0), (wrong, 1 / 16)):
        ends = sum(answers(factory, parameters, (first, *(step,) * 4), seed)[-1] == 3 for seed in range(4_000))
        assert abs(ends / 4_000 - rate) <= 6.5 * math.sqrt(rate * (1 - rate) / 4_000)


ADAPTIVE = read_script(
    [{"ask": {"epsilon": 0.3}}, {"ask": {"epsilon": 0.7}, "if": {"above": 0.5}, "else": {"epsilon": 0.1}}]
)
THREE = read_script([{"ask": {"epsilon": 0.5}}] * 3)


def exact(factory: Any, script: Script, budget: float) -> tuple[Any, float]:
    pair = factory.__truth__(ScriptedData(0, script), ScriptedData(1, script), budget=budget)
    return pair, pair.epsilon(0.0).value


def test_the_loss_of_an_adaptive_script_is_the_largest_sum_on_its_ways() -> None:
    assert math.isclose(exact(adaptive.answering, ADAPTIVE, 1.0)[1], 1.0)
    assert math.isclose(exact(adaptive.answering, ADAPTIVE[:1], 1.0)[1], 0.3)
    assert math.isclose(exact(adaptive.answering, THREE, 1.0)[1], 1.0)
    assert math.isclose(exact(adaptive.answering_no_for_nothing, THREE, 1.0)[1], 1.5)
    # For the other side, after the first answer: at most 0.3 + 0.1.
    assert exact(adaptive.answering, ADAPTIVE, 0.3)[1] == pytest.approx(0.3)


@pytest.mark.parametrize("factory", [adaptive.answering, adaptive.answering_no_for_nothing])
@pytest.mark.parametrize("script", [ADAPTIVE, THREE])
@pytest.mark.parametrize("bit", [0, 1])
def test_dialogues_come_as_often_as_enumeration_says(factory: Any, script: Script, bit: int) -> None:
    """20,000 dialogues; each of at most 12 kinds is within 6.5 standard deviations, except with probability 1e-9 in all."""
    rng, n = np.random.default_rng(11 + bit), 20_000
    pair, _ = exact(factory, script, 1.0)
    masses = (pair.left, pair.right)[bit].log_masses
    counts: dict[Any, int] = {}
    for _ in range(n):
        said = play_script(lambda: factory(bit, rng, budget=1.0), ScriptedData(bit, script))
        key = tuple("refused" if answer is None else answer for answer in said)
        counts[key] = counts.get(key, 0) + 1
    assert counts.keys() <= masses.keys()
    for key, log_mass in masses.items():
        mass = math.exp(log_mass)
        assert abs(counts.get(key, 0) - n * mass) <= 6.5 * math.sqrt(n * mass * (1 - mass)) + 1, key
