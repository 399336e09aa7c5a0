"""The flow for mechanisms that run once or a few times: coins choose canaries, and their scores guess the coins."""

import functools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor.auditing.evidence import CanaryEvidence
from auditor.auditing.ledger import Ledger
from auditor.auditing.outcome import Audit
from auditor.auditing.plan import Plan
from auditor.auditing.sizes import OF_LAST
from auditor.auditing.warnings import uneven
from auditor.blackbox.batches import COIN, NOISE, Batch, Phase, stream
from auditor.blackbox.host import isolated
from auditor.blackbox.mechanism import PythonSource
from auditor.blackbox.process import ProcessFailure
from auditor.blackbox.sample import Stream
from auditor.bounds.intervals import Floats
from auditor.bounds.one_run import OneRunGuesses, count_right_guesses
from auditor.claims import PrivacyClaim
from auditor.errors import MechanismError
from auditor.interfaces import Source
from auditor.neighbours.canaries import Canaries
from auditor.neighbours.pair import Pair, Relation


def audit_one_run(ledger: Ledger) -> Audit:
    """Audit a claim by guessing from scores which canaries were in the data, in all runs together.

    The coins of different runs are independent, so several runs count as one run with more canaries. After 1, 2, 4 …
    runs the guesses are tested at a share of the level, and the audit ends if they refute the claim. The shares add up
    to at most 1, so all bounds hold together. Raises MechanismError if the mechanism or the score cannot be loaded.
    """
    plan, domain = ledger.plan, ledger.plan.neighbours
    assert isinstance(domain, Canaries)
    runs, reason, shares, share = list[Run](), "", {} if plan.settings.sharpen else shares_of_looks(domain.runs), 1.0
    for number in range(domain.runs):
        if number and ledger.time_is_up(None, number):
            reason = f"{plan.settings.seconds:g} seconds were over: {number:,} of {domain.runs:,} runs done"
            break
        run = Run(**plan.store.recall(f"run {number}", functools.partial(_run, plan, domain, number)))
        ledger.spend(Phase.BOUND, 1)
        if run.failure:
            # Whether a run fails may depend on its coins. So leaving out this run would bias the guesses.
            return Audit.without_answer(ledger, f"run {number + 1} failed: {run.failure}")
        runs.append(run)
        ledger.report(Phase.BOUND, number + 1, domain.runs)
        look = shares.get(number + 1)
        if look and evidence(plan, domain, runs, "", look).refutes(plan.alpha):
            reason, share = f"refuted after {number + 1:,} of {domain.runs:,} runs", look
            break
        share -= look or 0.0  # the last look has all that is left
    reason = reason or ("the run done" if len(runs) == 1 else f"all {len(runs):,} runs done")
    audit = Audit(ledger, evidence(plan, domain, runs, reason, share))
    if not domain.apart or len(runs) == 1:
        return audit
    counted = [count_right_guesses(*_arrays([run]), len(run.scores)) for run in runs]
    return audit.warn(*uneven([(each.wins, each.guesses - each.wins) for each in counted]))


def _run(plan: Plan, domain: Canaries, number: int) -> dict[str, Any]:
    return asdict(run_once(plan, domain, number))


def shares_of_looks(runs: int) -> dict[int, float]:
    """Return the share of the level for each early test of the guesses, by the number of runs before the test.

    >>> {number: round(share, 3) for number, share in shares_of_looks(5).items()}
    {1: 0.05, 2: 0.05, 4: 0.05}
    """
    numbers = [1 << i for i in range((runs - 1).bit_length())]
    return {number: (1 - OF_LAST) / len(numbers) for number in numbers}


# --- One run: the output is made and scored in one process, and only the scores travel ---


@dataclass(frozen=True, slots=True)
class Scored:
    """A mechanism and a score together, as a mechanism that returns the list of the canaries' scores."""

    mechanism: Source
    score: PythonSource
    canaries: Any
    limit: float | None

    def __call__(self, dataset: Any, rng: Stream) -> list[float]:
        """Run the mechanism and score its output. Raises any exception of the mechanism or the score."""
        pair, source = Pair(dataset, None, Relation.ALONE), self.mechanism
        [output] = source.drawer(self.limit).each(pair, np.ones(1, bool), rng)
        if isinstance(output, BaseException):
            raise output
        score = self.score.load()
        return [float(score(output, canary)) for canary in self.canaries]


@dataclass(frozen=True, slots=True)
class Run:
    """The scores of one run's canaries, and which canaries were in the data. ``failure`` is why a run failed."""

    scores: list[float]
    inside: list[bool]
    failure: str = ""


def run_once(plan: Plan, domain: Canaries, number: int) -> Run:
    """Toss the coins of a run, run the mechanism on the canaries inside, and score.

    The address of the run gives two streams, one for the coins and one for the mechanism. Raises MechanismError if the
    mechanism or the score cannot be loaded.
    """
    source, how = plan.source, plan.settings.execution
    batch = Batch(Pair(None, None, Relation.ALONE), 1, Phase.BOUND, (number,))
    coins, noise = (stream(plan.settings.seed, plan.name, batch, use) for use in (COIN, NOISE))
    inside = coins.random(len(domain.canaries)) < 0.5
    pair = Pair(domain.dataset(inside), None, Relation.ALONE)
    score = domain.score
    attack = (
        PythonSource(score, {}, domain.search_path) if isinstance(score, str) else PythonSource("score", function=score)
    )
    scored = PythonSource(source.name, function=Scored(source, attack, domain.canaries, how.timeout))
    # A program has a process of its own anyway, so its score runs in this process.
    apart = how.isolate and not source.is_program
    drawer = isolated(scored, how.timeout, how.ends) if apart else scored.drawer()
    output = drawer.call_once(pair, "left", noise)
    if isinstance(output, MechanismError):
        raise output
    if isinstance(output, BaseException):
        why = output.message() if isinstance(output, ProcessFailure) else f"{type(output).__name__}: {output}"
        return Run([], inside.tolist(), why)
    if np.isnan(output).any():
        return Run([], inside.tolist(), f"the score of canary {int(np.argmax(np.isnan(output)))} is NaN")
    return Run(output, inside.tolist())


# --- The evidence of the guesses of all runs ---


def _arrays(runs: Sequence[Run]) -> tuple[Floats, NDArray[np.bool_]]:
    return np.concatenate([run.scores for run in runs]), np.concatenate([run.inside for run in runs]).astype(bool)


def evidence(plan: Plan, domain: Canaries, runs: list[Run], reason: str, share: float) -> CanaryEvidence:
    """Count the right guesses among the surest guesses, in all runs, for a bound at a share of the level."""
    assert isinstance(plan.claim, PrivacyClaim)
    scores, inside = _arrays(runs)
    numbers = sorted({min(number, len(scores)) for number in domain.guesses}, reverse=True)
    tallies = tuple(count_right_guesses(scores, inside, number) for number in numbers)
    return CanaryEvidence(
        plan.claim, OneRunGuesses(tallies, domain.apart), len(domain.canaries), len(runs), reason, share
    )
