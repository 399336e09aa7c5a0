"""What looks like a mistake in how an audit was written, rather than in what its mechanism does to privacy.

Warnings only: no verdict and no number depends on them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from auditor.auditing.plan import Ledger, Plan
from auditor.blackbox.batches import Phase
from auditor.blackbox.host import isolated
from auditor.blackbox.repeats import shown_keys
from auditor.blackbox.sample import TRIAL, Drawer, Sample
from auditor.claims import PrivacyClaim
from auditor.errors import MechanismError
from auditor.neighbours.pair import Pair, pair_words
from auditor.neighbours.records import Records
from auditor.results.result import AuditResult

# What is kept: as what data sets arrived, and whether anything told them apart.
ARRIVE, ALIKE = "arrive", "alike"
# Pairs that a mechanism is asked about, and outputs on either side of the first: so many agree on both sides of a mechanism
# that uses its randomness alike on both with a probability of (1 − d)^MOST, where d is how far the two distributions are apart.
PAIRS, MOST = 10, 10_000


def data_arrive(plan: Plan, pair: Pair) -> str:
    """Say as what a mechanism in Python receives data sets, since one that raises may expect something else.

    A clause to be added to a sentence; nothing for a program.
    """
    if plan.source.command is not None:
        return ""
    if pair.record_shape is None:
        return f"; data sets arrive as {type(pair.left).__name__}"
    lists = " (as lists by container: list)" if isinstance(plan.domain, Records) else ""
    return f"; data sets arrive as NumPy arrays{lists}"


def always_fails(ledger: Ledger, pair: Pair, failure: str) -> str:
    """Return why there is no answer where every output was an exception."""
    return f"the mechanism failed on every call: {failure}{_arrive(ledger, pair)}"


def note_exceptions(ledger: Ledger, pair: Pair, sample: Sample) -> None:
    """Note, for the case of a violation, that there are exceptions among the outputs, if there are."""
    raised = [side.raised() for side in (sample.left, sample.right)]
    example = next((told for _, told in raised if told), "")
    if example:
        rates = " and ".join(f"{rate:.3g}" for rate, _ in raised)
        ledger.of_violations.append(
            f"on {pair_words(pair)} the mechanism raises at rates {rates}, such as “{example}”; an exception is an output, and "
            f"tells as much as another: where it is not meant, mend that first{_arrive(ledger, pair)}"
        )


def _arrive(ledger: Ledger, pair: Pair) -> str:
    # A replay does not know whether the mechanism is a program.
    return ledger.plan.store.recall(ARRIVE, lambda: data_arrive(ledger.plan, pair))


def spread(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Return PAIRS of the pairs at most, spread over them; the first of all is the first."""
    return pairs[:: -(-len(pairs) // PAIRS)]


def doubted(ledger: Ledger, result: AuditResult) -> AuditResult:
    """Return a result with a warning where nothing was proved and nothing tells any two data sets apart, randomness included.

    The outputs for that serve for nothing else. Noise as strong as one likes still differs with the data it is added to.
    """
    plan, pair = ledger.plan, result.pair
    if not isinstance(plan.claim, PrivacyClaim) or result.bound is None or result.bound.value > 0 or pair is None:
        return result
    if plan.settings.seconds is not None:  # none are left
        return result
    most = min(MOST, plan.settings.selection_outputs)

    def ask() -> str:
        try:
            return alike(plan, [pair, *spread(plan.domain.corners())], most)
        except MechanismError:  # the audit is done, and a warning must not take its verdict
            return ""

    told = plan.store.recall(ALIKE, ask)
    if not told:
        return result
    ledger.warnings.append(f"{told}, for one {pair_words(pair)}: {VAIN}")
    return replace(result, warnings=(*result.warnings, ledger.warnings[-1]))


VAIN = "see whether the mechanism returns its result, and whether the neighbours hold data that it reads"


def alike(plan: Plan, pairs: Sequence[Pair], most: int = TRIAL) -> str:
    """Say that from the same randomness come the same outputs on both sides of all pairs; nothing where they differ, or raise.

    ``most`` outputs are drawn on either side of the first pair, and TRIAL on the others.
    """
    in_this_process = plan.source.command is None and not plan.settings.execution.isolate
    drawer = plan.source.drawer() if in_this_process else isolated(plan.source, plan.settings.execution.timeout)
    for number, pair in enumerate(pairs):
        size, drawn = TRIAL, 0
        while drawn < (most if number == 0 else TRIAL):
            if not _same(
                drawer,
                pair,
                size,
                np.random.SeedSequence(plan.settings.seed, spawn_key=(Phase.CHECK, 2, number, drawn)),
            ):
                return ""
            drawn, size = drawn + size, min(4 * size, plan.settings.execution.batch, max(TRIAL, most - drawn - size))
    asked = len({pair.key() for pair in pairs})
    many = f"all {asked} pairs asked about" if asked > 1 else "the pair"
    return f"from the same randomness came the same outputs on both data sets of {many}"


def _same(drawer: Drawer, pair: Pair, size: int, seed: np.random.SeedSequence) -> bool:
    seen = []
    for label in (True, False):
        stream = np.random.Generator(np.random.PCG64(seed))
        sample = drawer.draw(pair, np.full(size, label), stream)
        if sample.raised():
            return False
        seen.append(shown_keys(sample.left if label else sample.right, size).tobytes())
    return seen[0] == seen[1]
