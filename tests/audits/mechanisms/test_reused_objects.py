"""Objects that processed another data set before: given equal releases, only the faulty ones reveal which data set it was."""

from typing import Any

import numpy as np
import pytest

import auditor
from auditor.neighbours.scripts import ScriptedData, read_script
from auditor.sessions.transcript import play_script
from mechanisms import reused_objects as reused

TWINS: dict[str, tuple[Any, Any, list[Any]]] = {
    "length": (reused.Cached, reused.CachedByLength, ["own", [3.0]]),
    "warm start": (reused.WarmStarted, reused.WarmStartedExactly, ["own", []]),
    "memo": (reused.Imputing, reused.ImputingExactly, ["own", []]),
    "running": (reused.Scaled, reused.ScaledTogether, ["own", []]),
    "copy": (reused.Copied, reused.CopiedWithItsLedger, ["own", "copy", "own"]),
    "text": (reused.Shown, reused.ShownWithItsSize, ["own", "repr"]),
}


class Noise:
    """Stands for a generator that draws the given noise."""

    def __init__(self, *drawn: float) -> None:
        self.drawn = iter(drawn)

    def laplace(self, centre: float, scale: float) -> float:
        return centre + next(self.drawn)


def answers(factory: Any, questions: list[Any], data: list[float], first: float) -> list[str]:
    """Return the answers if the first noise is as given, and all later noise is equal."""
    noise = Noise(first, 0.25, 0.5)
    return [
        repr(answer)
        for answer in play_script(
            lambda: factory(np.array(data), noise, epsilon=1.0),
            ScriptedData(data, read_script([{"ask": q} for q in questions])),
        )
    ]


@pytest.mark.parametrize("name", TWINS)
def test_after_equal_releases_only_the_faulty_twin_tells_the_data_sets_apart(name: str) -> None:
    """The noise of the first release offsets the difference of the data sets, so that both releases are 15."""
    sound, faulty, questions = TWINS[name]
    for factory, is_faulty in ((sound, False), (faulty, True)):
        # A cache keyed by length reveals a data set of the same length; a text that states the size, one of another size.
        others = [10.0, 4.0] if name == "text" else [4.0]
        one, other = (answers(factory, questions, data, 15.0 - sum(data)) for data in ([10.0], others))
        assert one[0] == other[0] == "15.0"
        assert (one != other) == is_faulty


@pytest.mark.parametrize("factory", [reused.CachedByLength])
def test_a_search_finds_the_other_data_set_to_ask(factory: Any) -> None:
    """The bound on the faulty twin exceeds the claim by more than six standard errors; the sound twin is refuted with
    probability 0.1 %.

    The search finds it with all of six seeds; from 20,000 outputs, with five.
    """
    people = auditor.Records((0, 10), size=(0, 2))
    asked = auditor.Dialogues(people, ["own", [], [0.0], [10.0]], rounds=4)
    options: dict[str, Any] = {
        "samples": 40_000,
        "shrink": False,
        "seed": 1,
        "workers": 1,
        "isolate": False,
        "planted": 0,
    }
    result = auditor.audit(factory, auditor.PureDP(1.0), asked, parameters={"epsilon": 1.0}, **options)
    assert (result.verdict == "violation") == (factory is reused.CachedByLength)
