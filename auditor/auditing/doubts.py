"""What looks like a mistake in how an audit was written, rather than in what its mechanism does to privacy.

Warnings only: no verdict and no number depends on them.
"""

from auditor.auditing.plan import Ledger, Plan
from auditor.blackbox.mechanism import Sample
from auditor.neighbours.pair import Pair
from auditor.neighbours.records import Records
from auditor.report.words import pair_words

ARRIVE = "arrive"  # a note of a recording: as what data sets arrived


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
    # A replay knows neither mechanism nor program, and says what was said then.
    return str(ledger.recorded(ARRIVE, data_arrive(ledger.plan, pair)) or "")
