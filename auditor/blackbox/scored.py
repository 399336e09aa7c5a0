"""A mechanism that runs once: its output is made and scored in one process, and only the scores travel."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from auditor.blackbox.batches import COIN, NOISE, Batch, Phase, stream
from auditor.blackbox.host import isolated
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import Stream
from auditor.blackbox.sampling import Execution, audit_key
from auditor.errors import MechanismError
from auditor.interfaces import Source
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.pair import Pair, Relation


@dataclass(frozen=True, slots=True)
class Scored:
    """A mechanism and a score, as a mechanism whose output is the list of the canaries' scores."""

    mechanism: Source
    score: PythonSource
    canaries: Any
    limit: float | None

    def __call__(self, dataset: Any, rng: Stream) -> list[float]:
        """Run the mechanism and score its output. Raises what either raises."""
        pair, source = Pair(dataset, None, Relation.ALONE), self.mechanism
        [output] = source.drawer(self.limit).each(pair, np.ones(1, bool), rng)
        if isinstance(output, BaseException):
            raise output
        score = self.score.load()
        return [float(score(output, canary)) for canary in self.canaries]


@dataclass(frozen=True, slots=True)
class Run:
    """The scores of one run's canaries, and which canaries were in the data. For a failed run, the reason."""

    scores: list[float]
    inside: list[bool]
    failure: str = ""


def run_once(source: Source, domain: Canaries, address: tuple[str, int, int], how: Execution) -> Run:
    """Toss the coins of a run, run the mechanism on the canaries inside, and score.

    ``address`` is the audit's name, the seed, and the number of the run. From it come two streams, one for the coins and one
    for the mechanism. Raises MechanismError if the mechanism or the score cannot be had.
    """
    name, seed, number = address
    batch = Batch(Pair(None, None, Relation.ALONE), 1, Phase.BOUND, (number,))
    coins, noise = (stream(seed, audit_key(name), batch, use) for use in (COIN, NOISE))
    inside = coins.random(len(domain.canaries)) < 0.5
    pair = Pair(domain.dataset(inside), None, Relation.ALONE)
    score = domain.score
    attack = (
        PythonSource(score, {}, domain.search_path) if isinstance(score, str) else PythonSource("score", function=score)
    )
    scored = PythonSource(source.name, function=Scored(source, attack, domain.canaries, how.timeout))
    # A program has a process of its own. Its score runs here, as an import of the auditor's.
    apart = how.isolate and not source.is_program
    drawer = isolated(scored, how.timeout) if apart else scored.drawer()
    output = drawer.call_once(pair, "left", noise)
    if isinstance(output, MechanismError):
        raise output
    if isinstance(output, BaseException):
        why = output.message() if isinstance(output, ProcessFailure) else f"{type(output).__name__}: {output}"
        return Run([], inside.tolist(), why)
    if np.isnan(output).any():
        return Run([], inside.tolist(), f"the score of canary {int(np.argmax(np.isnan(output)))} is NaN")
    return Run(output, inside.tolist())
